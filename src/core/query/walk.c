#include "core/query/cursor.h"

#include "core/base/sets.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/event.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"
#include "ecs_world.h"

/* ---- terms about the row ---- */

ecs_id walk_entity(const struct walk *walk) {
  return entity_id(&walk->query->world->entities, walk->table->rows[walk->row]);
}

static ecs_id walk_value_of(const struct walk *walk, const struct term *term) {
  return term->target != ECS_NULL ? term->target : walk->values[term->variable];
}

/* Finds the cells of a component or pair of a row, in the state that the term asks for. */
static bool walk_end_in(const struct table *table, uint32_t row, const struct term *term, ecs_id id,
                        struct walk_end *end) {
  const struct component *component = term->component;
  uint32_t leaf = term->leaf;
  if (UNLIKELY(component->sparse)) {
    uint32_t first = component->leaf_count == 0 ? NONE : leaf == NONE ? 0 : leaf;
    row = sparse_row(component->sparse, table->rows[row]);
    *end = (struct walk_end){component->sparse->table, row, first};
    return row != NONE && term_shows(term, end->table, row);
  }
  if (UNLIKELY(term->news) && !picks_row(term, table, row)) return false;
  const struct layout *layout = table_find(table, id);
  if (!layout->taken) return false;
  if (term->state != TERM_ANY && toggle_is_off(table, id, row) != (term->state == TERM_OFF))
    return false;
  uint32_t first = layout->count ? (uint32_t)(layout->columns - table->columns) : NONE;
  if (first != NONE && leaf != NONE) first += leaf;
  *end = (struct walk_end){table, row, first};
  return true;
}

/* Finds the cells that a path or variable ends at, in a living entity. */
static bool walk_end_of(const ecs_world *world, uint32_t index, const struct term *term,
                        struct walk_end *end) {
  const struct record *record = entity_record(&world->entities, index);
  if (record->table >= RECORD_BARE) return false;
  const struct table *table = record_table(world, record);
  if (UNLIKELY(table->hidden) && !query_sees_prefabs(term)) return false;
  return walk_end_in(table, record->row, term, term->id, end);
}

static bool walk_end_at(const struct walk *walk, ecs_id entity, const struct term *term,
                        struct walk_end *end) {
  const struct record *record = entity_find(&walk->query->world->entities, entity);
  return record && walk_end_of(walk->query->world, ecs_id_index(entity), term, end);
}

/* The id under which the row holds its tie to a target. */
static ecs_id walk_id_of_tie(const struct term *term, ecs_id target) {
  uint32_t relation = ecs_id_index(term->component->id);
  return term->component->ties.exclusive ? term->component->id
                                         : pair_make(relation, ecs_id_index(target));
}

/* Finds a tie to a known target. */
static bool walk_tied_to(struct walk *walk, const struct term *term, ecs_id target,
                         struct walk_end *end) {
  const struct component *component = term->component;
  uint32_t index = ecs_id_index(target);
  if (component->ties.exclusive &&
      ties_target(&component->relation->ties, walk->table->rows[walk->row]) != index)
    return false;
  return ecs_alive(walk->query->world, target) &&
         walk_end_in(walk->table, walk->row, term, walk_id_of_tie(term, target), end);
}

/* Finds the first target, or the one after the variable's current value. */
static bool walk_tied_next(struct walk *walk, const struct term *term, bool again,
                           struct walk_end *end) {
  const ecs_world *world = walk->query->world;
  ecs_id entity = walk_entity(walk), *value = &walk->values[term->variable];
  ecs_id target = again ? relate_next_target(world, entity, term->component, *value)
                        : relate_target(world, entity, term->component);
  if (target == ECS_NULL) return false;
  *value = target;
  return walk_end_in(walk->table, walk->row, term, walk_id_of_tie(term, target), end);
}

/* The target of an entity field of the row. */
static ecs_id walk_through_field(const struct walk *walk, const struct term *term) {
  const struct sparse *sparse = term->through->sparse;
  const struct table *table = sparse ? sparse->table : walk->table;
  uint32_t row = sparse ? sparse_row(sparse, walk->table->rows[walk->row]) : walk->row;
  if (row == NONE) return ECS_NULL;
  const struct layout *layout = table_find(table, term->through->id);
  if (!layout->taken || toggle_is_off(table, term->through->id, row)) return ECS_NULL;
  assert(term->through_leaf < layout->count);
  const ecs_id *ids = layout->columns[term->through_leaf].data;
  return entity_target(walk->query->world, ids[row]);
}

#define SHORT_WAY 8u           /* most steps of a path that is not recorded */

/* Starts at the row itself. A relation may form a cycle, so the number of ties limits the steps.
** Other rows reuse what a long path recorded, so a chain of n rows takes O(n). */
bool walk_nearest(const ecs_query *query, const struct term *term, uint32_t from,
                  struct walk_end *end) {
  const struct query_terms *terms = &query->terms;
  const struct ties *ties = &term->through->relation->ties;
  struct map *known = &terms->terms[term - terms->terms].known;
  uint32_t at = from, steps = 0, to = NONE;
  const ecs_world *world = query->world;
  bool found = false, all = LIKELY(!world->relations.prefab) || query_sees_prefabs(term);
  for (; at && steps <= ties->count && to == NONE; steps++) {
    if (steps >= SHORT_WAY) to = map_get(known, at);
    if (to != NONE) at = to;
    found = at && walk_end_of(world, at, term, end);
    if (found || (UNLIKELY(!all) && at && prefab_is(world, at))) break;
    at = ties_target(ties, at);
  }
  /* Records where the steps of a long path lead (0: nowhere), except for the first ones. */
  if (steps > SHORT_WAY && map_reserve(&query->world->memory, known, steps))
    for (uint32_t i = 0; i < steps; i++, from = ties_target(ties, from))
      if (i >= SHORT_WAY) map_put(known, from, found ? at : 0);
  return found;
}

/* Recorded paths belong to one walk, during which no row moves. */
static void walk_forget_ways(const struct walk *walk) {
  const struct query_terms *terms = &walk->query->terms;
  for (uint32_t i = 0; i < terms->count; i++)
    if (UNLIKELY(terms->terms[i].known.count))
      map_free(&walk->query->world->memory, &terms->terms[i].known);
}

static bool walk_path_ends(const struct walk *walk, const struct term *term, struct walk_end *end) {
  if (term->nearest) return walk_nearest(walk->query, term, walk->table->rows[walk->row], end);
  if (term->through_leaf != NONE) {
    ecs_id to = walk_through_field(walk, term);
    return to != ECS_NULL && walk_end_at(walk, to, term, end);
  }
  bool lined_up = walk->lineup && term->through == walk->query->terms.cascade;
  uint32_t to = lined_up ? walk->lineup->targets[walk->next_in_lineup - 1]
                         : ties_target(&term->through->relation->ties,
                                       walk->table->rows[walk->row]);
  return to && walk_end_of(walk->query->world, to, term, end);
}

/* Whether the term is present, for the first time or, if it finds targets, again. */
static bool walk_is_there(struct walk *walk, const struct term *term, bool again,
                          struct walk_end *end) {
  switch (term->form) {
    case TERM_PAIR:
      if (term->binds) return walk_tied_next(walk, term, again, end);
      if (term->target == ECS_NULL &&
          variable_is_anonymous(&walk->query->terms, term->variable))
        return walk_tied_next(walk, term, false, end);
      return walk_tied_to(walk, term, walk_value_of(walk, term), end);
    case TERM_PATH: return walk_path_ends(walk, term, end);
    case TERM_OF: return walk_end_at(walk, walk_value_of(walk, term), term, end);
    default: return walk_end_in(walk->table, walk->row, term, term->id, end);
  }
}

/* ---- steps ---- */

/* Finds the first or next solution of a step in the row; false if there is none. */
static bool walk_enter(struct walk *walk, uint32_t step, bool again) {
  const struct query_terms *terms = &walk->query->terms;
  const struct term *term = &terms->terms[terms->steps[step]];
  struct walk_end *end = &walk->ends[step];
  if (again && (!term_repeats(terms, term) || walk->done[step])) return false;
  if (term->group != NONE) {
    /* walk_cells finds again which of the alternatives are present. */
    struct walk_end other;
    uint32_t group = term->group;
    for (; term < terms->terms + terms->count && term->group == group; term++)
      if (walk_is_there(walk, term, false, &other)) return true;
    return false;
  }
  if (terms->sources && step == 0) {
    end->row = walk->row;
    return end->table == walk->table || walk_end_in(walk->table, walk->row, term, term->id, end);
  }
  end->table = NULL;
  bool there = walk_is_there(walk, term, again, end);
  if (term->kind == TERM_WITHOUT) return !there;
  if (there) {
    walk->done[step] = false;
    return true;
  }
  if (again || term->kind != TERM_OPTIONAL) return false;
  end->table = NULL;
  walk->done[step] = true;
  if (term->binds) walk->values[term->variable] = ECS_NULL;
  return true;
}

/* The row's first or next match: the last step changes fastest. */
static bool walk_solve(struct walk *walk, bool again) {
  uint32_t count = walk->query->terms.step_count, at = again ? count : 0;
  for (;;) {
    if (again) {
      if (at == 0) return false;
      at--;
    } else if (at == count) {
      return true;
    }
    again = !walk_enter(walk, at, again);
    at += !again;
  }
}

/* ---- rows ---- */

void walk_begin(struct walk *walk, const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  memset(walk, 0, sizeof *walk);
  walk->query = query;
  walk_forget_ways(walk);
  walk->even = !terms->sources && !terms->packed && !terms->toggled && !terms->cascade;
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    walk->repeats |= term_repeats(terms, term);
    /* Even: a step that finds its cells once finds them in all rows of a table alike. */
    walk->even &=
        term->form == TERM_PAIR && term->kind == TERM_WITH && term->group == NONE && term->binds;
  }
  walk->reach = query_reach(query);
  if (terms->event && walk->reach) {
    /* Starts at the current events; in a running system, at those it has not seen. */
    const struct event *event = terms->event->event;
    const struct events *events = &query->world->events;
    bool by_system = events->read_by == query;
    walk->even = false;
    walk->next_row = walk->run_end = by_system ? event_row(event, events->from) : 0;
    walk->limit = by_system ? event_row(event, events->until) : event->table->count;
  }
  if (!query->terms.sources || query->broken) return;
  const struct term *first = query->terms.terms;
  if (ecs_alive(query->world, first->target))
    walk->next_source = ties_first(&first->component->relation->ties,
                                   ecs_id_index(first->target));
}

/* Whether the table has more rows that match, as far as toggles decide. */
static bool walk_find_run(struct walk *walk) {
  uint32_t count;
  if (UNLIKELY(walk->query->terms.event)) {
    count = walk->table->count < walk->limit ? walk->table->count : walk->limit;
    walk->run_end = walk->next_row < count ? count : walk->next_row;
    return walk->next_row < count;
  }
  walk->next_row = query_next_run(&walk->query->terms, walk->table, walk->next_row, &count);
  walk->run_end = walk->next_row + count;
  return count > 0;
}

static bool walk_next_by_tables(struct walk *walk) {
  const ecs_query *query = walk->query;
  for (;; walk->next_match++, walk->next_row = walk->run_end = 0) {
    if (walk->next_match >= walk->reach) return false;
    assert(walk->next_match < query->count);
    walk->match = walk->next_match;
    walk->table = query_table(query, walk->match);
    if (walk->next_row == walk->run_end && !walk_find_run(walk)) continue;
    walk->row = walk->next_row++;
    return true;
  }
}

/* Tables are in the order in which they were created. */
uint32_t walk_match_of(const struct walk *walk, const struct table *table) {
  const ecs_query *query = walk->query;
  uint32_t low = 0;
  BISECT(low, walk->reach, middle, query_table(query, middle)->order < table->order);
  return low < walk->reach && query->tables[low] == table->index ? low : NONE;
}

/* The next entity is often in the same table, which then needs no search. */
bool walk_come_to(struct walk *walk, uint32_t entity) {
  const ecs_world *world = walk->query->world;
  const struct record *record = entity_record(&world->entities, entity);
  if (record->table >= RECORD_BARE) return false;
  const struct table *table = record_table(world, record);
  if (table != walk->table) walk->match = walk_match_of(walk, table);
  walk->table = table;
  walk->row = record->row;
  return walk->match != NONE && query_takes_row(&walk->query->terms, table, record->row);
}

/* ---- parents first ---- */

static bool walk_next_unordered(struct walk *walk) {
  const struct query_terms *terms = &walk->query->terms;
  if (terms->packed) {
    if (walk->reach == 0) return false;
    const struct table *packed = terms->terms[0].component->sparse->table;
    while (walk->next_row < packed->count)
      if (walk_come_to(walk, packed->rows[walk->next_row++])) return true;
    return false;
  }
  if (!terms->sources) return walk_next_by_tables(walk);
  while (walk->next_source) {
    uint32_t source = walk->next_source;
    walk->next_source = ties_next(&terms->terms[0].component->relation->ties, source);
    if (walk_come_to(walk, source)) return true;
  }
  return false;
}

ecs_status walk_begin_ordered(struct walk *walk, ecs_query *query) {
  walk_begin(walk, query);
  if (LIKELY(!query->terms.cascade)) return ECS_OK;
  walk->lineup = lineup_by_depth(query, walk);
  return walk->lineup ? ECS_OK : world_nomem(query->world);
}

void walk_end(struct walk *walk) {
  walk_forget_ways(walk);
  if (walk->lineup) lineup_release(walk->query->world, walk->lineup);
  walk->lineup = NULL;
}

#define AHEAD 16u              /* rows between prefetching a record and using it */

static bool walk_next_in_lineup(struct walk *walk) {
  const struct lineup *lineup = walk->lineup;
  uint32_t at = walk->next_in_lineup;
  if (at == lineup->count) return false;
  walk->next_in_lineup++;
  /* Prefetches the record of a target, which may lie anywhere: half of a path's time. */
  uint32_t ahead = LIKELY(at + AHEAD < lineup->count) ? lineup->targets[at + AHEAD] : 0;
  if (ahead) FETCH(entity_record(&walk->query->world->entities, ahead));
  if (at == lineup->runs[walk->run].end) walk->run++;
  assert(walk->run < lineup->run_count && at < lineup->runs[walk->run].end);
  walk->match = lineup->runs[walk->run].match;
  walk->row = lineup->rows[at];
  walk->table = query_table(walk->query, walk->match);
  return true;
}

bool walk_next_row(struct walk *walk) {
  return walk->lineup ? walk_next_in_lineup(walk) : walk_next_unordered(walk);
}

/* Tries what comes next: another match of the row, or the next row; false when there is none. */
static inline bool walk_try(struct walk *walk, bool *found) {
  *found = walk->inside && walk_solve(walk, true);
  bool comes = *found || walk_next_row(walk);
  if (comes && !*found) *found = walk_solve(walk, false);
  walk->inside = *found && walk->repeats;
  return comes;
}

bool walk_next(struct walk *walk) {
  bool found = false;
  while (!found && walk_try(walk, &found)) {}
  return found;
}

bool walk_match(struct walk *walk, uint32_t entity, bool again) {
  if (again) return walk->repeats && walk_solve(walk, true);
  return walk_come_to(walk, entity) && walk_solve(walk, false);
}

/* Whether the step finds the same in all rows of the table, which it has entered: its own cells and
** nothing else. Rows differ in the targets of an exclusive relation. */
static bool walk_is_even(const struct walk *walk, uint32_t step) {
  const struct query_terms *terms = &walk->query->terms;
  const struct term *term = &terms->terms[terms->steps[step]];
  const struct component *component = term->component;
  if (term->form != TERM_PAIR || term->group != NONE) return false;
  if (component->ties.exclusive)
    return term->target == ECS_NULL && variable_is_anonymous(terms, term->variable);
  if (!term_repeats(terms, term)) return true;
  /* The row, and so all of its table, may be tied to one target. */
  const ecs_world *world = walk->query->world;
  ecs_id entity = walk_entity(walk), first = relate_target(world, entity, component);
  return first == ECS_NULL || relate_next_target(world, entity, component, first) == ECS_NULL;
}

bool walk_take_table(struct walk *walk) {
  const struct query_terms *terms = &walk->query->terms;
  if (walk->lineup || terms->sources || terms->event || walk->row != 0) return false;
  if (walk->run_end != walk->table->count) return false;
  for (uint32_t i = 0; i < terms->step_count; i++)
    if (!walk_is_even(walk, i)) return false;
  walk->next_row = walk->table->count;
  walk->inside = false;
  return true;
}

uint32_t walk_take_events(struct walk *walk) {
  assert(walk->query->terms.event && !walk->query->terms.step_count);
  assert(walk->row < walk->run_end);
  walk->next_row = walk->run_end;
  return walk->run_end - walk->row;
}

/* The pair that holds a step's cells in the walk's table. */
static ecs_id walk_pair_in_table(const struct walk *walk, const struct component *component) {
  return component->ties.exclusive ? component->id : relate_only_pair(walk->table, component);
}

static bool walk_is_single(const struct walk *walk) {
  const struct query_terms *terms = &walk->query->terms;
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    if (!term->component->ties.exclusive && term_repeats(terms, term) &&
        !walk->table->has_pair_alone && walk_pair_in_table(walk, term->component) == ECS_NULL)
      return false;
  }
  return true;
}

bool walk_next_table(struct walk *walk) {
  const ecs_query *query = walk->query;
  if (!walk->even || walk->inside) return false;
  for (; walk->next_match < walk->reach; walk->next_match++, walk->next_row = walk->run_end = 0) {
    walk->table = query_table(query, walk->next_match);
    if (walk->next_row < walk->table->count) break;
  }
  walk->match = walk->next_match;
  walk->row = 0;
  if (walk->match == walk->reach || walk->next_row || !walk_is_single(walk)) return false;
  walk->next_match++;
  assert(!walk->lineup && walk->run_end == 0);
  return true;
}

void walk_table_columns(const struct walk *walk, uint32_t *first) {
  const struct query_terms *terms = &walk->query->terms;
  assert(walk->row == 0);
  if (terms->slots)
    memcpy(first, query_columns(walk->query, walk->match), terms->slots * sizeof *first);
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    if (term->slot == NONE) continue;
    if (!walk->even) {
      first[term->slot] = walk->ends[i].table ? walk->ends[i].first : NONE;
      continue;
    }
    first[term->slot] = table_column(walk->table, walk_pair_in_table(walk, term->component));
    if (term->leaf != NONE && first[term->slot] != NONE) first[term->slot] += term->leaf;
  }
}

struct walk_later walk_prefetch(const struct walk *walk) {
  const ecs_world *world = walk->query->world;
  const uint32_t *tables = walk->query->tables + walk->match;
  if (walk->match + 3 >= walk->reach) return (struct walk_later){NULL, NULL, 0};
  const struct table *next = world_table(world, tables[1]), *second = world_table(world, tables[2]);
  FETCH(&world_table(world, tables[3])->rows);
  uint32_t count = next->column_count;
  if (second->column_count < count) count = second->column_count;
  return (struct walk_later){next->columns, second->columns, count};
}

/* ---- the content of a match ---- */

uint32_t walk_step_of(const struct walk *walk, const struct term *term) {
  const struct query_terms *terms = &walk->query->terms;
  for (uint32_t i = 0; i < terms->step_count; i++)
    if (term == &terms->terms[terms->steps[i]] && term->group == NONE) return i;
  return NONE;
}

struct walk_end walk_cells(const struct walk *walk, const struct term *term) {
  struct walk_end end = {NULL, 0, NONE};
  if (term->slot != NONE && !term_is_by_row(term)) {
    uint32_t first = query_columns(walk->query, walk->match)[term->slot];
    bool there = first != NONE && (!term->toggled || term_shows(term, walk->table, walk->row));
    return (struct walk_end){there ? walk->table : NULL, walk->row, first};
  }
  uint32_t step = walk_step_of(walk, term);
  if (step != NONE) return walk->ends[step];
  struct walk now = *walk;
  if (!walk_is_there(&now, term, false, &end)) end.table = NULL;
  return end;
}

uint32_t walk_depth(const struct walk *walk) {
  return walk->lineup ? walk->lineup->runs[walk->run].depth : 0;
}

ecs_id walk_value(const struct walk *walk, uint32_t n) {
  const struct query_terms *terms = &walk->query->terms;
  for (uint32_t i = 0; i < terms->variable_count; i++)
    if (terms->variables[i].output == n) return walk->values[i];
  return ECS_NULL;
}

bool walk_count(const ecs_query *query, size_t most, size_t *count) {
  struct walk walk;
  size_t tries = 0;
  *count = 0;
  bool found;
  for (walk_begin(&walk, query); tries < most; tries++) {
    if (!walk_try(&walk, &found)) return true;
    *count += found;
  }
  return false;
}

ecs_status walk_first(ecs_query *query, ecs_id *first) {
  struct walk walk;
  ecs_status status = walk_begin_ordered(&walk, query);
  *first = status == ECS_OK && walk_next(&walk) ? walk_entity(&walk) : ECS_NULL;
  walk_end(&walk);
  return status;
}
