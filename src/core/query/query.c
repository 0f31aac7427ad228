#include "core/query/query.h"

#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "ecs_query.h"
#include "ecs_world.h"

/* Whether a table may have rows in which a term is present; true if that depends on the row. */
static bool query_may_have(const struct term *term, const struct table *table) {
  switch (term->form) {
    case TERM_OWN: return table_has(table, term->id);
    case TERM_PAIR:
      if (term_is_known(term) || term->component->ties.exclusive)
        return table_has(table, term->component->ties.exclusive ? term->component->id : term->id);
      return relate_table_has(table, term->component);
    case TERM_PATH:
      return term->nearest || term->through->is_sparse || table_has(table, term->through->id);
    default: return true;
  }
}

bool query_sees_prefabs(const struct term *term) {
  return term->form == TERM_PATH && term->through_leaf == NONE &&
         strcmp(term->through->name, IS_A) == 0;
}

bool query_terms_match(const struct query_terms *terms, const struct table *table) {
  if (UNLIKELY(table->hidden)) return false;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    switch (term->kind) {
      case TERM_WITH:
        if (!query_may_have(term, table)) return false;
        break;
      case TERM_WITHOUT:
        /* The component is in every row. */
        if (term->form == TERM_OWN && !term->toggled && table_has(table, term->id)) return false;
        break;
      case TERM_OPTIONAL: break;
      case TERM_OR: {
        uint32_t group = term->group;
        bool any = query_may_have(term, table);
        for (; i + 1 < terms->count && terms->terms[i + 1].group == group; i++)
          any |= query_may_have(&terms->terms[i + 1], table);
        if (!any) return false;
        break;
      }
    }
  }
  return true;
}

struct table *query_table(const ecs_query *query, uint32_t match) {
  assert(match < query->count);
  if (UNLIKELY(query->terms.event)) return query->terms.event->event->table;
  return world_table(query->world, query->tables[match]);
}

static ecs_status query_reserve_tables(ecs_query *query, uint64_t tables, uint32_t slots) {
  struct memory *memory = &query->world->memory;
  bool room = GROW(memory, query->tables, query->capacity, tables) &&
              GROW(memory, query->columns, query->column_capacity, tables * slots);
  return room ? ECS_OK : world_nomem(query->world);
}

ecs_status query_room(ecs_query *query, uint64_t need) {
  return query_reserve_tables(query, need, query->terms.slots);
}

/* Adds a table; after query_room. */
static void query_take_in(ecs_query *query, const struct table *table) {
  uint32_t slots = query->terms.slots;
  assert(query->count < query->capacity);
  assert((query->count + (uint64_t)1) * slots <= query->column_capacity);
  uint32_t *columns = slots ? query->columns + (size_t)query->count * slots : NULL;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    assert(columns || term->slot == NONE);
    if (term->slot != NONE) columns[term->slot] = term_column(term, table);
  }
  query->tables[query->count++] = table->index;
}

/* Finds the columns of its tables again, from a given table on. */
static void query_bind_columns(ecs_query *query, uint32_t first) {
  uint32_t count = query->count;
  query->count = first;
  for (uint32_t i = first; i < count; i++)
    query_take_in(query, world_table(query->world, query->tables[i]));
}

ecs_status query_join_reserve(const struct id_record *record, const struct table *table) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < record->query_count && status == ECS_OK; i++)
    if (query_terms_match(&record->queries[i]->terms, table))
      status = query_room(record->queries[i], record->queries[i]->count + 1ull);
  return status;
}

void query_join(const struct id_record *record, const struct table *table) {
  for (uint32_t i = 0; i < record->query_count; i++)
    if (query_terms_match(&record->queries[i]->terms, table))
      query_take_in(record->queries[i], table);
}

void query_leave(ecs_query *query) {
  if (!query->dirty) return;
  query->dirty = false;
  uint32_t kept = 0, slots = query->terms.slots;
  for (uint32_t i = 0; i < query->count; i++) {
    if (world_table(query->world, query->tables[i])->doomed) continue;
    query->tables[kept] = query->tables[i];
    for (uint32_t j = 0; j < slots; j++)
      query->columns[(size_t)kept * slots + j] = query->columns[(size_t)i * slots + j];
    kept++;
  }
  query->count = kept;
}

/* The component index's key of all tables that a term can match; ECS_NULL if there is none. */
static ecs_id query_term_key(const struct term *term) {
  if (term->kind != TERM_WITH) return ECS_NULL;
  switch (term->form) {
    case TERM_OWN: return term->id;
    case TERM_PAIR:
      if (term->component->ties.exclusive) return term->component->id;
      return term->target ? term->id : pair_make(ecs_id_index(term->component->id), 0);
    case TERM_PATH: return term->nearest || term->through->is_sparse ? ECS_NULL : term->through->id;
    default: return ECS_NULL;
  }
}

/* The rarest key that the query cannot match without, so that new tables are compared with few
** queries: by the number of existing tables, then by how many queries have it. */
static ecs_id query_key_of(const ecs_world *world, const struct query_terms *terms) {
  ecs_id rarest = ECS_NULL;
  uint64_t least = UINT64_MAX;
  for (uint32_t i = 0; i < terms->count; i++) {
    ecs_id key = query_term_key(&terms->terms[i]);
    if (key == ECS_NULL) continue;
    const struct id_record *record = graph_record(world, key);
    uint64_t rarity = record ? (uint64_t)record->table_count << 32 | record->query_count : 0;
    if (rarity >= least) continue;
    rarest = key;
    least = rarity;
  }
  return rarest;
}

ecs_status query_key_room(ecs_world *world, ecs_id key, uint32_t more,
                          struct id_record **out) {
  ecs_status status = graph_need_record(world, key, out);
  if (status != ECS_OK) return status;
  if (!GROW(&world->memory, (*out)->queries, (*out)->query_capacity,
            (uint64_t)(*out)->query_count + more))
    return world_nomem(world);
  return ECS_OK;
}

/* A query about an event has that event's table, which is in no graph, as its only match. */
static ecs_status query_join_all(ecs_query *query) {
  if (query->terms.event) {
    ecs_status status = query_room(query, 1);
    if (status == ECS_OK) query_take_in(query, query->terms.event->event->table);
    return status;
  }
  const struct id_record *record = graph_tables(query->world, query->key);
  query->arranged = record->arranged;
  for (uint32_t i = 0; i < record->table_count; i++) {
    const struct table *table = world_table(query->world, record->tables[i]);
    if (!query_terms_match(&query->terms, table)) continue;
    ecs_status status = query_room(query, query->count + 1ull);
    if (status != ECS_OK) return status;
    query_take_in(query, table);
  }
  return ECS_OK;
}

/* Forgets the order of rows, which was for other tables or terms. */
static void query_forget_lineup(ecs_query *query) {
  lineup_release(query->world, query->lineup);
  query->lineup = NULL;
}

static void query_release(ecs_query *query) {
  if (query->world->events.read_by == query) query->world->events.read_by = NULL;
  struct memory *memory = &query->world->memory;
  query_forget_lineup(query);
  query_terms_free(query->world, &query->terms);
  FREE_LIST(memory, query->tables, query->capacity);
  FREE_LIST(memory, query->columns, query->column_capacity);
  memory_free(memory, query->text, query->text_size + 1);
  memory_free(memory, query, sizeof *query);
}

static void query_enter(ecs_query *query, struct id_record *record) {
  ecs_world *world = query->world;
  assert(record->query_count < record->query_capacity && record->id == query->key);
  assert(!world->last_query || !world->last_query->next);
  record->queries[record->query_count++] = query;
  query->previous = world->last_query;
  if (world->last_query)
    world->last_query->next = query;
  else
    world->first_query = query;
  world->last_query = query;
}

static ecs_status query_fill(ecs_query *query, const char *text, size_t size,
                             const ecs_variable *given, uint32_t given_count) {
  ecs_world *world = query->world;
  query->text = memory_array(&world->memory, size + 1, 1);
  if (!query->text) return world_nomem(world);
  query->text_size = size;
  memcpy(query->text, text, size);
  ecs_status status = query_parse(world, (ecs_string){query->text, size}, given, given_count,
                                  &query->terms);
  if (status != ECS_OK) return status;
  query->key = query_key_of(world, &query->terms);
  struct id_record *record;
  status = query_key_room(world, query->key, 1, &record);
  if (status == ECS_OK) status = query_join_all(query);
  if (status == ECS_OK && !query->fresh) status = changes_watch(query);
  if (status == ECS_OK) query_enter(query, record);
  return status;
}

ecs_status ecs_query_new(ecs_world *world, const char *text, ecs_query **out) {
  return ecs_query_with(world, text, NULL, 0, out);
}

static ecs_status query_make(ecs_world *world, ecs_string text, const ecs_variable *variables,
                             uint32_t count, ecs_query **out) {
  ecs_query *query = memory_array(&world->memory, 1, sizeof *query);
  if (!query) return world_nomem(world);
  query->world = world;
  query->fresh = world->registry.shown;
  ecs_status status = query_fill(query, text.data, text.size, variables, count);
  if (status == ECS_OK)
    *out = query;
  else
    query_release(query);
  return status;
}

ecs_status ecs_query_with(ecs_world *world, const char *text, const ecs_variable *variables,
                          uint32_t count, ecs_query **out) {
  if (!text) return world_fail(world, ECS_EINVAL, "a query needs a text");
  return query_make(world, (ecs_string){text, strlen(text)}, variables, count, out);
}

static void query_leave_record(ecs_query *query) {
  struct id_record *record = graph_record(query->world, query->key);
  uint32_t at = 0;
  while (record->queries[at] != query) {
    at++;
    assert(at < record->query_count);
  }
  record->query_count--;
  memmove(record->queries + at, record->queries + at + 1,
          (record->query_count - at) * sizeof *record->queries);
}

void query_free(ecs_query *query) {
  ecs_world *world = query->world;
  if (query->watch) watching_remove(world, query->watch);
  if (!query->broken) query_leave_record(query);
  assert(query == (query->previous ? query->previous->next : world->first_query));
  assert(query == (query->next ? query->next->previous : world->last_query));
  *(query->previous ? &query->previous->next : &world->first_query) = query->next;
  *(query->next ? &query->next->previous : &world->last_query) = query->previous;
  query_release(query);
}

void ecs_query_free(ecs_query *query) {
  if (query && !query->kept && !query->shared) query_free(query);
}

#define SHARED_MOST 256u

/* Whether its text still names the same components and fields: renames may have changed that. */
static bool query_means_same(ecs_query *query) {
  ecs_world *world = query->world;
  struct query_terms now = {0};
  if (query->named == world->registry.version) return true;
  ecs_status status =
      query_parse(world, (ecs_string){query->text, query->text_size}, NULL, 0, &now);
  bool same = status == ECS_OK && now.count == query->terms.count;
  for (uint32_t i = 0; same && i < now.count; i++) {
    const struct term *term = &now.terms[i], *was = &query->terms.terms[i];
    same = term->id == was->id && term->leaf == was->leaf && term->target == was->target &&
           term->through_id == was->through_id && term->through_leaf == was->through_leaf;
  }
  if (status == ECS_OK) query_terms_free(world, &now);
  if (same) query->named = world->registry.version;
  return same;
}

bool query_is_shared(ecs_query *query) {
  query->shared = query->shared && !query->broken && query_means_same(query);
  return query->shared;
}

ecs_status query_share(ecs_world *world, ecs_string text, const void *owner, ecs_query **out) {
  uint32_t count = 0;
  for (ecs_query *query = world->first_query; query; query = query->next) {
    count += query->shared;
    if (query->owner != owner) continue;
    if (query->text_size != text.size || memcmp(query->text, text.data, text.size) != 0)
      continue;
    if (!query_is_shared(query)) continue;
    *out = query;
    return ECS_OK;
  }
  ecs_query *query = NULL;
  ecs_status status = query_make(world, text, NULL, 0, &query);
  if (status != ECS_OK) return status;
  assert(query);
  query->owner = (void *)(uintptr_t)owner;
  query->named = world->registry.version;
  query->shared = count < SHARED_MOST && !query->fresh && !query->terms.changes &&
                  !query->terms.event;
  *out = query;
  return ECS_OK;
}

static void query_join_again(ecs_query *query) {
  query_forget_lineup(query);
  const struct id_record *all = graph_all(query->world);
  query->count = 0;
  query->arranged = all->arranged;
  if (query->terms.event) query_take_in(query, query->terms.event->event->table);
  for (uint32_t i = 0; i < all->table_count && !query->terms.event; i++) {
    const struct table *table = world_table(query->world, all->tables[i]);
    if (query_terms_match(&query->terms, table)) query_take_in(query, table);
  }
}

void query_rejoin(ecs_query *query) {
  if (query->broken) return;
  ecs_world *world = query->world;
  struct id_record *record = graph_record(world, query->key);
  assert(record && record->query_count < record->query_capacity);
  record->queries[record->query_count++] = query;
  query_join_again(query);
}

void query_retire(ecs_query *query) {
  if (query->broken) return;
  query_forget_lineup(query);
  query_leave_record(query);
  query->broken = true;
  query->terms.event = NULL;
  query->count = 0;
  for (uint32_t i = 0; i < query->terms.count; i++) query->terms.terms[i].component = NULL;
}

void query_break(ecs_world *world, ecs_id component) {
  for (ecs_query *query = world->first_query; query; query = query->next)
    for (uint32_t i = 0; i < query->terms.count && !query->broken; i++) {
      const struct term *term = &query->terms.terms[i];
      if ((term->component && term->component->id == component) || term->target == component ||
          (term->through && term->through->id == component))
        query_retire(query);
    }
}

/* Counts the terms that yield something, as the registry shows their components now. */
static uint32_t query_count_slots(const ecs_query *query) {
  uint32_t slots = 0;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    const struct component *component = component_of(query->world, term->component->id);
    slots += component && term_gives(term, component);
  }
  return slots;
}

/* Whether a term's component is now toggled and was not before, or the reverse. */
static bool query_switches(const ecs_query *query) {
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    const struct component *component = component_of(query->world, term->component->id);
    bool own = term->form == TERM_OWN && term->state == TERM_ON;
    if (own && component && component->toggle != term->toggled) return true;
  }
  return false;
}

ecs_status query_refresh_reserve(ecs_query *query) {
  if (query->broken) return ECS_OK;
  uint64_t count = query_switches(query) ? graph_all(query->world)->table_count : query->count;
  return query_reserve_tables(query, count, query_count_slots(query));
}

void query_refresh(ecs_query *query) {
  if (query->broken) return;
  query_forget_lineup(query);
  query->terms.slots = 0;
  for (uint32_t i = 0; i < query->terms.count; i++) {
    struct term *term = &query->terms.terms[i];
    term->slot = term_gives(term, term->component) ? query->terms.slots++ : NONE;
  }
  if (query_note_toggles(&query->terms) || query->terms.event)
    query_join_again(query);
  else
    query_bind_columns(query, 0);
}

/* A key that query_term_key may return, however components are stored. */
static ecs_id query_any_key(const struct term *term) {
  if (term->kind != TERM_WITH || term->nearest) return ECS_NULL;
  if (term_is_own(term)) return term->id;
  return term->form == TERM_PATH ? term->through->id : query_term_key(term);
}

/* Reserves the keys of a tie: to one target, to a known one of several, or to any. */
static ecs_status query_reserve_tie_keys(ecs_world *world, const struct term *term,
                                         uint32_t queries) {
  ecs_id relation = term->component->id;
  uint32_t index = ecs_id_index(relation);
  const ecs_id keys[] = {relation, pair_make(index, 0),
                         pair_make(index, ecs_id_index(term->target))};
  struct id_record *record;
  ecs_status status = ECS_OK;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && status == ECS_OK; i++)
    status = query_key_room(world, keys[i], queries, &record);
  return status;
}

static ecs_status query_reserve_keys(const ecs_query *query) {
  ecs_world *world = query->world;
  struct id_record *record;
  uint32_t queries = 0;
  for (const ecs_query *other = world->first_query; other; other = other->next) queries++;
  ecs_status status = query_key_room(world, ECS_NULL, queries, &record);
  for (uint32_t i = 0; i < query->terms.count && status == ECS_OK; i++)
    status = query->terms.terms[i].form == TERM_PAIR
                 ? query_reserve_tie_keys(world, &query->terms.terms[i], queries)
                 : query_key_room(world, query_any_key(&query->terms.terms[i]), queries, &record);
  return status;
}

/* ECS_ELIMIT if too many terms would be decided row by row, as the registry shows their
** components. */
static ecs_status query_try_steps(const ecs_query *query) {
  ecs_world *world = query->world;
  struct query_terms terms = query->terms;
  const ecs_string text = {query->text, query->text_size};
  terms.capacity = terms.count ? terms.count : 1;
  terms.terms = memory_array(&world->memory, terms.capacity, sizeof *terms.terms);
  if (!terms.terms) return world_nomem(world);
  for (uint32_t i = 0; i < terms.count; i++) {
    terms.terms[i] = query->terms.terms[i];
    terms.terms[i].picks = NULL;
    terms.terms[i].known = (struct map){.entries = NULL};
    struct component *shown = component_of(world, terms.terms[i].component->id);
    if (shown) terms.terms[i].component = shown;
  }
  ecs_status status = query_order_steps(world, &text, &terms);
  query_terms_free(world, &terms);
  return status;
}

ecs_status query_rearrange_reserve(ecs_query *query) {
  if (query->broken) return ECS_OK;
  ecs_world *world = query->world;
  uint32_t tables = graph_all(world)->table_count;   /* at least one, the empty one */
  ecs_status status = query_room(query, tables);
  if (status != ECS_OK) return status;
  status = query_reserve_tables(query, tables, query_count_slots(query));
  if (status == ECS_OK) status = query_reserve_keys(query);
  return status == ECS_OK ? query_try_steps(query) : status;
}

void query_rearrange(ecs_query *query) {
  if (query->broken) return;
  const ecs_string text = {query->text, query->text_size};
  query_leave_record(query);
  ecs_status status = query_order_steps(query->world, &text, &query->terms);
  assert(status == ECS_OK);
  (void)status;
  query->key = query_key_of(query->world, &query->terms);
  query->count = 0;
  query_refresh(query);
  query_rejoin(query);
}

static RARE uint32_t query_reach_by_targets(const ecs_query *query) {
  for (uint32_t i = 0; i < query->terms.count; i++) {
    const struct term *term = &query->terms.terms[i];
    if (term_is_known(term) && !ecs_alive(query->world, term->target)) return 0;
  }
  return query->count;
}

static RARE void query_sort_tables(ecs_query *query) {
  if (!query->terms.event)
    query_bind_columns(query, graph_arrange(query->world, query->tables, query->count));
  query->arranged = query->world->graph.placings;
}

void query_arrange(const ecs_query *query) {
  if (LIKELY(query->arranged == query->world->graph.placings)) return;
  query_sort_tables((ecs_query *)(uintptr_t)query);
}

uint32_t query_reach(const ecs_query *query) {
  query_arrange(query);
  if (UNLIKELY(query->broken)) return 0;
  return LIKELY(!query->terms.targets) ? query->count : query_reach_by_targets(query);
}

bool query_is_barren(const ecs_query *query) {
  assert(!query->broken && !query->terms.event);
  for (uint32_t i = query_reach(query); i-- > 0;)
    if (world_table(query->world, query->tables[i])->count) return false;
  return true;
}

bool query_count_within(const ecs_query *query, size_t most, size_t *count) {
  *count = 0;
  if (query->broken) return true;
  if (terms_walk(&query->terms)) return walk_count(query, most, count);
  for (uint32_t i = 0; i < query_reach(query); i++)
    *count += query_count_rows(&query->terms, query_table(query, i));
  return true;
}

size_t query_count_all(const ecs_query *query) {
  size_t count;
  (void)query_count_within(query, SIZE_MAX, &count);
  return count;
}

/* Counting does not change when the query was last used. */
size_t ecs_query_count(const ecs_query *query) {
  size_t count = query_count_all(query);
  changes_use((ecs_query *)(uintptr_t)query);
  return count;
}

static size_t count_rows(const ecs_world *world, const struct query_terms *terms) {
  const struct id_record *record = graph_record(world, query_key_of(world, terms));
  size_t count = 0;
  for (uint32_t i = 0; record && i < record->table_count; i++) {
    const struct table *table = world_table(world, record->tables[i]);
    if (table->count && query_terms_match(terms, table)) count += query_count_rows(terms, table);
  }
  return count;
}

/* Terms that are decided row by row need a query. */
ecs_status query_count_with(ecs_world *world, const char *text, const ecs_variable *variables,
                            uint32_t count, size_t *out) {
  struct query_terms terms;
  ecs_query *query = NULL;
  ecs_status status = query_parse(world, (ecs_string){text, strlen(text)}, variables, count,
                                  &terms);
  if (status == ECS_OK && terms.changes)
    status = world_fail(world, ECS_EINVAL, "'%s' has ':changed' or ':added', which need a query "
                        "that remembers what it has seen: create one with world:query and count "
                        "that", text);
  if (status != ECS_OK) {
    query_terms_free(world, &terms);
    return status;
  }
  bool by_rows = terms_walk(&terms) || terms.targets;
  if (!by_rows) *out = count_rows(world, &terms);
  query_terms_free(world, &terms);
  if (by_rows) status = ecs_query_with(world, text, variables, count, &query);
  if (!by_rows || status != ECS_OK) return status;
  assert(query);
  *out = query_count_all(query);
  query_free(query);
  return ECS_OK;
}

ecs_status ecs_count(ecs_world *world, const char *text, size_t *out) {
  if (!text) return world_fail(world, ECS_EINVAL, "a query needs a text");
  return query_count_with(world, text, NULL, 0, out);
}

/* ---- query steps ---- */

/* Decides which terms are decided row by row, in which order, and where variables get their values.
** The first term in that order with an unset variable finds its values; the others compare. */

struct ordering {
  ecs_world *world;
  const ecs_string *text;
  struct query_terms *terms;
  bool bound[QUERY_VARIABLES];
};

/* Whether the term can find values for its variable. */
static bool query_can_bind(const struct term *term) {
  return term->form == TERM_PAIR && term->kind != TERM_OR &&
         (term->kind == TERM_WITH || term->kind == TERM_OPTIONAL);
}

bool variable_is_anonymous(const struct query_terms *terms, uint32_t variable) {
  return terms->variables[variable].name.size == 0;
}

bool term_repeats(const struct query_terms *terms, const struct term *term) {
  return term->binds && (!term->filters || !variable_is_anonymous(terms, term->variable));
}

/* A group of alternatives is one step, that of its first term. */
static bool query_is_step(const struct query_terms *terms, uint32_t at) {
  const struct term *term = &terms->terms[at];
  if (term->group == NONE) return term_is_by_row(term);
  if (at > 0 && terms->terms[at - 1].group == term->group) return false;
  for (uint32_t i = at; i < terms->count && terms->terms[i].group == term->group; i++)
    if (term_is_by_row(&terms->terms[i])) return true;
  return false;
}

/* Whether everything the step compares with is known at this point. */
static bool order_is_ready(const struct ordering *o, uint32_t at) {
  const struct query_terms *terms = o->terms;
  uint32_t group = terms->terms[at].group;
  for (uint32_t i = at; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (i > at && (group == NONE || term->group != group)) break;
    if (term->variable == NONE || o->bound[term->variable]) continue;
    bool anonymous = variable_is_anonymous(terms, term->variable);
    if (term->kind == TERM_WITHOUT && term->form == TERM_PAIR && anonymous) continue;
    if (!query_can_bind(term)) return false;
    if (term->kind == TERM_OPTIONAL && !anonymous) return false;
  }
  return true;
}

static ecs_status order_take(struct ordering *o, uint32_t at) {
  struct query_terms *terms = o->terms;
  struct term *term = &terms->terms[at];
  term->binds = term->variable != NONE && !o->bound[term->variable] && query_can_bind(term);
  if (term->binds) o->bound[term->variable] = true;
  if (terms->step_count == QUERY_STEPS)
    return world_fail(o->world, ECS_ELIMIT, "query '%.*s': at most 16 terms can be about ties, "
                      "other entities and sparse components", SHOW(*o->text));
  terms->steps[terms->step_count++] = (uint16_t)at;
  return ECS_OK;
}

/* Orders the steps as in the text, except those that wait for a variable. */
static ecs_status order_order(struct ordering *o) {
  struct query_terms *terms = o->terms;
  uint64_t taken[(TERM_LIMIT + 63) / 64] = {0};
  for (uint32_t at = 0; at < terms->count;) {
    bool open = query_is_step(terms, at) && !(taken[at / 64] >> at % 64 & 1);
    if (!open || !order_is_ready(o, at)) {
      at++;
      continue;
    }
    ecs_status status = order_take(o, at);
    if (status != ECS_OK) return status;
    taken[at / 64] |= UINT64_C(1) << at % 64;
    at = 0;
  }
  return ECS_OK;
}

/* Fails for a variable that no term gives a value. */
static ecs_status query_check_bound(const struct ordering *o) {
  const struct query_terms *terms = o->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->variable == NONE || o->bound[term->variable]) continue;
    if (variable_is_anonymous(o->terms, term->variable)) {
      if (term->kind == TERM_WITHOUT) continue;
      return world_fail(o->world, ECS_EINVAL, "query '%.*s': '*' cannot stand in A|B",
                        SHOW(*o->text));
    }
    const ecs_string *name = &terms->variables[term->variable].name;
    return world_fail(o->world, ECS_EINVAL, "query '%.*s': nothing gives $%.*s a value: pass one "
                      "with the query, or use it in a term that must match, as in '(Relation, "
                      "$%.*s)'", SHOW(*o->text), SHOW(*name), SHOW(*name));
  }
  return ECS_OK;
}

static bool query_has_own(const struct query_terms *terms, ecs_id id) {
  for (uint32_t i = 0; i < terms->count; i++)
    if (term_is_own(&terms->terms[i]) && terms->terms[i].id == id &&
        terms->terms[i].kind != TERM_WITHOUT)
      return true;
  return false;
}

/* The relation along which parents come first: of `:cascade`, or ChildOf to what the row has. */
static struct component *query_find_cascade(const struct ordering *o) {
  const struct query_terms *terms = o->terms;
  const struct relation *child_of = o->world->relations.child_of;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->form != TERM_PATH || term->through_leaf != NONE) continue;
    bool child = child_of && term->through == child_of->component;
    if (term->cascade || (child && query_has_own(terms, term->id))) return term->through;
  }
  return NULL;
}

bool query_note_toggles(struct query_terms *terms) {
  bool changed = false;
  terms->toggled = false;
  for (uint32_t i = 0; i < terms->count; i++) {
    struct term *term = &terms->terms[i];
    bool off = term->state == TERM_OFF || (term->state == TERM_ON && term->component->toggle);
    bool toggled = (term->form == TERM_OWN && off) || (term->news && !term_is_by_row(term));
    changed |= toggled != term->toggled;
    term->toggled = toggled;
    terms->toggled |= toggled;
  }
  terms->plain = !terms->toggled && !terms->targets && !terms_walk(terms);
  return changed;
}

ecs_status query_order_steps(ecs_world *world, const ecs_string *text, struct query_terms *terms) {
  struct ordering o = {world, text, terms, {false}};
  terms->step_count = terms->values = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    struct term *term = &terms->terms[i];
    if (term_is_own(term)) term->form = term->component->is_sparse ? TERM_SPARSE : TERM_OWN;
  }
  ecs_status status = order_order(&o);
  if (status == ECS_OK) status = query_check_bound(&o);
  for (uint32_t i = 0; i < terms->variable_count; i++) {
    bool given = false;
    for (uint32_t j = 0; j < terms->count && !given; j++)
      given = terms->terms[j].variable == i && term_repeats(terms, &terms->terms[j]);
    terms->variables[i].output = given ? terms->values++ : NONE;
  }
  for (uint32_t i = 0; i < terms->count; i++) terms->targets |= term_is_known(&terms->terms[i]);
  query_note_toggles(terms);
  terms->cascade = query_find_cascade(&o);
  const struct term *first = terms->terms;
  terms->sources = terms->count && first->form == TERM_PAIR && first->kind == TERM_WITH &&
                   first->component->ties.exclusive && first->target != ECS_NULL;
  terms->packed = terms->count && first->form == TERM_SPARSE && first->kind == TERM_WITH;
  return status;
}
