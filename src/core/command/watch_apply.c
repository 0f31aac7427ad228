#include "core/command/watch.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/command/cascade.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "ecs_world.h"

/* ---- entities that commands change ---- */

/* Lists the observers whose queries rows of a table may match, once for each table. */
static APART ecs_status watch_apply_list_watchers(ecs_world *world, struct table *table) {
  struct graph_keys keys = graph_keys(table->ids, table->id_count);
  for (ecs_id key; graph_next_key(&keys, &key);) {
    const struct id_record *record = graph_record(world, key);
    for (uint32_t i = 0; i < record->query_count; i++) {
      const ecs_query *query = record->queries[i];
      if (!query->watch || !query_terms_match(&query->terms, table)) continue;
      if (!GROW(&world->memory, table->watchers, table->watcher_capacity,
                table->watcher_count + 1ull))
        return world_nomem(world);
      table->watchers[table->watcher_count++] = query->watch;
    }
  }
  return ECS_OK;
}

/* Sets `watched` if any observer watches the table. */
static ecs_status watch_apply_ask_watchers(ecs_world *world, struct table *table, bool *watched) {
  uint64_t stamp = ((uint64_t)world->watching->version << 32) + (uint32_t)world->registry.version;
  if (!table) return ECS_OK;
  if (UNLIKELY(table->watch_stamp != stamp)) {
    table->watch_stamp = table->watcher_count = 0;
    ecs_status status = watch_apply_list_watchers(world, table);
    if (status != ECS_OK) return status;
    table->watch_stamp = stamp;
  }
  *watched |= table->watcher_count != 0;
  return ECS_OK;
}

static struct change_of *watch_apply_add_change(ecs_world *world, ecs_id entity, uint64_t order) {
  struct watching *watching = world->watching;
  if (!GROW(&world->memory, watching->changes, watching->change_capacity,
            watching->change_count + 1ull))
    return NULL;
  if (watching->note_count && !map_reserve(&world->memory, &watching->change_at, 1)) return NULL;
  uint32_t at = watching->change_count++;
  watching->changes[at] = (struct change_of){.entity = entity, .order = order, .chain = NONE,
                                             .target = NONE, .note = NONE, .last_note = NONE};
  if (watching->note_count) map_put(&watching->change_at, entity, at);
  return &watching->changes[at];
}

/* The order of a command, after the notes that stand before it. */
static uint64_t watch_apply_order_of(uint32_t command) {
  return (uint64_t)command << 32 | UINT32_MAX;
}

static ecs_status watch_apply_note_chain(ecs_world *world, uint32_t at) {
  const struct staging *staging = &world->staging;
  const struct chain *chain = &staging->chains[at];
  if (chain->skip && !cascade_takes(&world->cascade, ecs_id_index(chain->entity))) return ECS_OK;
  if (!ecs_alive(world, chain->entity)) return ECS_OK;
  struct table *from = world_table_of(world, chain->entity);
  struct table *to = chain->target == NONE ? NULL : world_table(world, chain->target);
  bool watched = false;
  ecs_status status = watch_apply_ask_watchers(world, from, &watched);
  if (status == ECS_OK) status = watch_apply_ask_watchers(world, to, &watched);
  if (status != ECS_OK || !watched) return status;
  uint32_t first = chain->first != NONE ? chain->first : chain->last;
  struct change_of *change =
      watch_apply_add_change(world, chain->entity, watch_apply_order_of(first));
  if (!change) return world_nomem(world);
  change->chain = at;
  change->target = chain->target;
  change->dies = !to;
  change->quiet = from == to && !chain->sparse && !from->has_ties;
  for (at = chain->first; at != NONE; at = staging->commands[at].next)
    change->quiet &= !command_is_switch(&staging->commands[at]);
  return ECS_OK;
}

/* Records the entities that die with others, without a command of their own. */
static ecs_status watch_apply_note_dying(ecs_world *world) {
  const struct cascade *cascade = &world->cascade;
  for (uint32_t i = 0, cause = 0; i < cascade->count; i++) {
    while (cause + 1 < cascade->cause_count && cascade->causes[cause + 1].first <= i) cause++;
    ecs_id entity = entity_id(&world->entities, cascade->dying[i]);
    struct table *table = world_table_of(world, entity);
    bool watched = false;
    ecs_status status = watch_apply_ask_watchers(world, table, &watched);
    if (status != ECS_OK) return status;
    if (!watched || command_find_chain(&world->staging, entity)) continue;
    assert(cause < cascade->cause_count && cascade->causes[cause].first <= i);
    struct change_of *change =
        watch_apply_add_change(world, entity, watch_apply_order_of(cascade->causes[cause].command));
    if (!change) return world_nomem(world);
    change->dies = true;
  }
  return ECS_OK;
}

/* Links a note to its entity's change, creating that if there is no command. */
static ecs_status watch_apply_link_note(ecs_world *world, uint32_t at) {
  struct watching *watching = world->watching;
  struct gift_note *note = &watching->notes[at];
  struct table *table = world_table_of(world, note->entity);
  uint32_t place = map_get(&watching->change_at, note->entity);
  bool watched = false;
  ecs_status status = watch_apply_ask_watchers(world, table, &watched);
  if (status != ECS_OK || (place == NONE && !watched)) return status;
  uint64_t order = (uint64_t)note->before << 32 | at;
  struct change_of *change = place == NONE ? watch_apply_add_change(world, note->entity, order)
                                           : &watching->changes[place];
  if (!change) return world_nomem(world);
  if (place == NONE) change->quiet = true;
  if (place == NONE) change->target = table->index;
  if (change->order > order) change->order = order;
  note->next = NONE;
  *(change->note == NONE ? &change->note : &watching->notes[change->last_note].next) = at;
  change->last_note = at;
  return ECS_OK;
}

/* ---- which entities are given values ---- */

static void watch_apply_take_gift(struct watching *watching, struct change_of *change, ecs_id id) {
  for (uint32_t i = change->first_gift; i < watching->gift_count; i++)
    if (watching->gifts[i] == id) return;
  assert(watching->gift_count < watching->gift_capacity);
  watching->gifts[watching->gift_count++] = id;
}

/* Removes notes of values whose component was removed later; a relation removes those of its
** pairs. */
static void watch_apply_drop_gifts(const ecs_world *world, struct watching *watching,
                                   const struct change_of *change, const struct command *command) {
  const struct relation *relation = relation_of(world, command->component);
  ecs_id id = command->component;
  if (relation && relation->exclusive && command->ties) return;
  if (relation && relation->exclusive) id = relation->component->id;
  bool all = relation && !relation->exclusive && !id_is_pair(id);
  uint32_t kept = change->first_gift;
  for (uint32_t i = kept; i < watching->gift_count; i++) {
    ecs_id gift = watching->gifts[i];
    bool of_all = all && id_is_pair(gift) && pair_relation(gift) == ecs_id_index(id);
    if (gift != id && !of_all) watching->gifts[kept++] = gift;
  }
  watching->gift_count = kept;
}

/* Collects the gifts of an entity from notes and commands, in order. */
static ecs_status watch_apply_find_gifts(ecs_world *world, struct change_of *change) {
  struct watching *watching = world->watching;
  const struct staging *staging = &world->staging;
  uint32_t at = change->chain == NONE ? NONE : staging->chains[change->chain].first;
  uint32_t note = change->note;
  uint64_t most = watching->gift_count;
  for (uint32_t i = at; i != NONE; i = staging->commands[i].next) most++;
  for (uint32_t i = note; i != NONE; i = watching->notes[i].next) most++;
  if (!GROW(&world->memory, watching->gifts, watching->gift_capacity, most))
    return world_nomem(world);
  change->first_gift = watching->gift_count;
  while (at != NONE || note != NONE) {
    if (note != NONE && (at == NONE || watching->notes[note].before <= at)) {
      watch_apply_take_gift(watching, change, watching->notes[note].id);
      note = watching->notes[note].next;
    } else {
      const struct command *command = &staging->commands[at];
      if (!command->dropped && command->kind == COMMAND_SET && command->write_count)
        watch_apply_take_gift(watching, change, command->component);
      if (!command->dropped && command->kind == COMMAND_REMOVE)
        watch_apply_drop_gifts(world, watching, change, command);
      at = command->next;
    }
  }
  change->gift_count = watching->gift_count - change->first_gift;
  return ECS_OK;
}

static bool watch_apply_comes_before(const void *a, const void *b) {
  return ((const struct change_of *)a)->order < ((const struct change_of *)b)->order;
}

static ecs_status watch_apply_put_in_order(ecs_world *world) {
  struct watching *watching = world->watching;
  uint32_t count = watching->change_count;
  bool sorted = true;
  if (!GROW(&world->memory, watching->order, watching->order_capacity, merge_sort_room(count)))
    return world_nomem(world);
  const struct change_of **order = watching->order;
  for (uint32_t i = 0; i < count; i++) {
    order[i] = &watching->changes[i];
    sorted &= i == 0 || !watch_apply_comes_before(order[i], order[i - 1]);
  }
  if (!sorted) merge_sort((const void **)order, count, watch_apply_comes_before);
  return ECS_OK;
}

ecs_status watch_changes(ecs_world *world) {
  struct watching *watching = world->watching;
  ecs_status status = ECS_OK;
  watch_forget_changes(world);
  watching->round++;
  for (uint32_t i = 0; i < world->staging.chain_count && status == ECS_OK; i++)
    status = watch_apply_note_chain(world, i);
  if (status == ECS_OK) status = watch_apply_note_dying(world);
  for (uint32_t i = 0; i < watching->note_count && status == ECS_OK; i++)
    status = watch_apply_link_note(world, i);
  for (uint32_t i = 0; watching->sets && i < watching->change_count && status == ECS_OK; i++)
    if (!watching->changes[i].dies) status = watch_apply_find_gifts(world, &watching->changes[i]);
  return status == ECS_OK ? watch_apply_put_in_order(world) : status;
}

/* ---- copies ---- */

static ecs_status watch_apply_make_copy(ecs_world *world, const struct term *term,
                                        struct copy *copy) {
  uint32_t width = term_cell_count(term), first = term->leaf == NONE ? 0 : term->leaf;
  if (width == 0) return ECS_OK;
  copy->columns = memory_array(&world->memory, width, sizeof *copy->columns);
  if (!copy->columns) return world_nomem(world);
  copy->width = width;
  for (uint32_t i = 0; i < width; i++) {
    const struct leaf *leaf = &term->component->leaves[first + i];
    copy->columns[i] = (struct column){.id = term->component->id, .size = leaf->size,
                                       .leaf = first + i, .component = term->component};
  }
  return ECS_OK;
}

/* Reserves columns for copies of what the query yields now; they have no rows. */
static ecs_status watch_apply_need_copies(ecs_world *world, struct watch *watch) {
  const struct query_terms *terms = &watch->query->terms;
  uint64_t version = world->registry.version;
  if (watch->version == version && watch->copy_count == terms->slots) return ECS_OK;
  watch_free_copies(world, watch);
  if (terms->slots == 0) return ECS_OK;
  watch->copies = memory_array(&world->memory, terms->slots, sizeof *watch->copies);
  if (!watch->copies) return world_nomem(world);
  watch->copy_count = terms->slots;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < terms->count && status == ECS_OK; i++)
    if (terms->terms[i].slot != NONE)
      status = watch_apply_make_copy(world, &terms->terms[i], &watch->copies[terms->terms[i].slot]);
  if (status == ECS_OK)
    watch->version = version;
  else
    watch_free_copies(world, watch);
  return status;
}

/* Reserves one more row. Room is counted by buffer, since some may have grown before memory ran
** out. */
static bool watch_apply_grow_copy(ecs_world *world, struct copy *copy) {
  uint32_t capacity = copy->capacity ? copy->capacity * 2 : 8;
  if (copy->rows < copy->capacity) return true;
  if (copy->capacity > INDEX_LIMIT) return false;
  for (uint32_t i = 0; i < copy->width; i++) {
    struct column *column = &copy->columns[i];
    size_t size = (size_t)capacity * column->size;
    if (size <= column->buffer.size) continue;
    void *data = memory_resize(&world->memory, column->data, column->buffer.size, size);
    if (!data) return false;
    column->data = data;
    column->buffer.size = size;
  }
  copy->capacity = capacity;
  return true;
}

/* Copies a term's cells for this match. The place is NONE if they are absent. A dead entity reads
** as null, whether or not its id is still in the cell. */
static bool watch_apply_copy_cells(ecs_world *world, const struct walk *walk,
                                   const struct term *term, struct copy *copy,
                                   uint32_t *place) {
  struct walk_end end = walk_cells(walk, term);
  *place = NONE;
  if (!end.table) return true;
  *place = 0;
  if (copy->width == 0) return true;
  if (!watch_apply_grow_copy(world, copy)) return false;
  *place = copy->rows++;
  for (uint32_t i = 0; i < copy->width; i++) {
    const struct column *from = &end.table->columns[end.first + i], *to = &copy->columns[i];
    assert(from->size == to->size && from->leaf == to->leaf);
    cell_copy(to->data, *place, from->data, end.row, from->size);
    if (to->component->leaves[to->leaf].type != ECS_ENTITY) continue;
    ecs_id *id = (ecs_id *)to->data + *place;
    *id = entity_target(world, *id);
  }
  return true;
}

static ecs_status watch_apply_copy_match(ecs_world *world, struct watch *watch,
                                         const struct walk *walk) {
  const struct query_terms *terms = &watch->query->terms;
  ecs_status status = watch_apply_need_copies(world, watch);
  if (status != ECS_OK) return status;
  if (!GROW(&world->memory, watch->places, watch->place_capacity,
            watch->place_count + (uint64_t)terms->slots))
    return world_nomem(world);
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE) continue;
    assert(term->slot < watch->copy_count);
    if (!watch_apply_copy_cells(world, walk, term, &watch->copies[term->slot],
                                &watch->places[watch->place_count + term->slot]))
      return world_nomem(world);
  }
  watch->place_count += terms->slots;
  return ECS_OK;
}

/* ---- matches ---- */

static ecs_status watch_apply_add_sighting(ecs_world *world, struct watch *watch, uint32_t change,
                                           const ecs_id *values) {
  uint32_t variables = watch->query->terms.variable_count;
  if (!GROW(&world->memory, watch->sightings, watch->capacity, watch->count + 1ull))
    return world_nomem(world);
  if (!GROW(&world->memory, watch->values, watch->value_capacity,
            watch->value_count + (uint64_t)variables))
    return world_nomem(world);
  watch->sightings[watch->count++] =
      (struct sighting){change, watch->value_count, watch->place_count};
  if (variables)
    memcpy(watch->values + watch->value_count, values, variables * sizeof *watch->values);
  watch->value_count += variables;
  return ECS_OK;
}

/* Records all matches of an entity. */
static ecs_status watch_apply_sight_matches(ecs_world *world, struct watch *watch,
                                            struct walk *walk, uint32_t change,
                                            bool copies) {
  uint32_t entity = ecs_id_index(watch_change(world->watching, change).entity);
  ecs_status status = ECS_OK;
  for (bool more = walk_match(walk, entity, false); more && status == ECS_OK;
       more = walk_match(walk, entity, true)) {
    status = watch_apply_add_sighting(world, watch, change, walk->values);
    if (status == ECS_OK && copies) status = watch_apply_copy_match(world, watch, walk);
  }
  return status;
}

/* Records each way in which an entity has the first term. */
static ecs_status watch_apply_sight_first(ecs_world *world, struct watch *watch, uint32_t change) {
  const struct term *term = watch->query->terms.terms;
  ecs_id entity = watch_change(world->watching, change).entity, values[QUERY_VARIABLES] = {0};
  if (!watch_finds_values(&watch->query->terms))
    return watch_has_first(world, &watch->query->terms, entity, values)
               ? watch_apply_add_sighting(world, watch, change, values) : ECS_OK;
  ecs_status status = ECS_OK;
  for (ecs_id to = relate_target(world, entity, term->component); to && status == ECS_OK;
       to = relate_next_target(world, entity, term->component, to)) {
    values[term->variable] = to;
    status = watch_apply_add_sighting(world, watch, change, values);
  }
  return status;
}

static ecs_status watch_apply_sight(ecs_world *world, struct watch *watch, struct walk *walk,
                                    struct change_span span) {
  bool copies = watch->kind <= WATCH_DESPAWN;
  ecs_status status = ECS_OK;
  for (uint32_t i = span.first; i < span.end && status == ECS_OK; i++) {
    const struct change_of change = watch_change(world->watching, i);
    bool skip = change.dies ? !copies : watch->kind == WATCH_DESPAWN;
    if (change.quiet || skip) continue;
    status = watch->kind == WATCH_ADD ? watch_apply_sight_first(world, watch, i)
                                      : watch_apply_sight_matches(world, watch, walk, i, copies);
  }
  return status;
}

/* ---- which observers a round concerns ---- */

/* Adds changes to an observer's spans, some of which may be there already. */
static ecs_status watch_apply_add_span(ecs_world *world, struct watch *watch,
                                       struct change_span span) {
  uint32_t count = watch->span_count;
  if (count && watch->spans[count - 1].end >= span.first) {
    watch->spans[count - 1].end = span.end;
    return ECS_OK;
  }
  if (!GROW(&world->memory, watch->spans, watch->span_capacity, count + 1ull))
    return world_nomem(world);
  watch->spans[watch->span_count++] = span;
  return ECS_OK;
}

/* Tells a table's observers of rows that enter or leave it, except observers created in the scope
** that ends or is open. */
static ecs_status watch_apply_concern(ecs_world *world, const struct table *table, bool leaves,
                                      struct change_span span) {
  const struct staging *staging = &world->staging;
  struct watching *watching = world->watching;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; table && i < table->watcher_count && status == ECS_OK; i++) {
    struct watch *watch = table->watchers[i];
    bool scoped = staging_is_open(staging) || !watching->together;
    if ((scoped && watch->born == staging->epoch) ||
        (watch->kind <= WATCH_DESPAWN) != leaves)
      continue;
    if (watch->round != watching->round) {
      if (!GROW(&world->memory, watching->concerned, watching->concerned_capacity,
                merge_sort_room(watching->concerned_count + 1)))
        return world_nomem(world);
      watching->concerned[watching->concerned_count++] = watch;
      watch_begin_round(watch);
      watch->round = watching->round;
    }
    status = watch_apply_add_span(world, watch, span);
  }
  return status;
}

static bool watch_apply_is_called_before(const void *a, const void *b) {
  const struct watch *x = a, *y = b;
  return x->kind != y->kind ? x->kind < y->kind : x->place < y->place;
}

static void watch_apply_order_concerned(const struct watching *watching) {
  merge_sort((void *)watching->concerned, watching->concerned_count, watch_apply_is_called_before);
}

ecs_status watch_matches(ecs_world *world) {
  struct watching *watching = world->watching;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < world->watching->change_count && status == ECS_OK; i++) {
    const struct change_of change = watch_change(world->watching, i);
    const struct change_span span = {i, i + 1};
    status = watch_apply_concern(world, world_table_of(world, change.entity), true, span);
    if (status == ECS_OK && change.target != NONE)
      status = watch_apply_concern(world, world_table(world, change.target), false, span);
  }
  watch_apply_order_concerned(watching);
  for (uint32_t i = 0; i < watching->concerned_count; i++) {
    struct watch *watch = watching->concerned[i];
    struct walk walk;
    walk_begin(&walk, watch->query);
    for (uint32_t j = 0; j < watch->span_count && watch->kind != WATCH_SET; j++)
      if (status == ECS_OK) status = watch_apply_sight(world, watch, &walk, watch->spans[j]);
  }
  watching->due = status == ECS_OK ? watching->change_count : 0;
  return status;
}

/* ---- rows that change alike ---- */

/* Changes of rows form a round, too, for which a scope is reserved. */
ecs_status watch_rows_begin(ecs_world *world) {
  struct watching *watching = world->watching;
  assert(world->staging.command_count == world->staging.batch.count);
  assert(watching->note_count == 0 && watching->due == 0);
  watch_forget_changes(world);
  watching->round++;
  watching->together = true;
  return scope_reserve(world);
}

static ecs_status watch_apply_list_moved(ecs_world *world, const struct table *from,
                                         const uint64_t *bits) {
  struct watching *watching = world->watching;
  uint32_t count = watching->change_count;
  if (!GROW(&world->memory, watching->moved, watching->moved_capacity,
            (uint64_t)count + from->count))
    return world_nomem(world);
  for (uint32_t row = 0; row < from->count; row++)
    if (!bits || bits[row / 64] >> row % 64 & 1)
      watching->moved[count++] = entity_id(&world->entities, from->rows[row]);
  watching->change_count = count;
  return ECS_OK;
}

/* Records what the table's concerned observers see of these rows before they move. */
static ecs_status watch_apply_sight_rows(ecs_world *world, const struct table *table,
                                         const struct table *from, struct change_span span) {
  ecs_status status = watch_apply_concern(world, table, table == from, span);
  for (uint32_t i = 0; table && i < table->watcher_count && status == ECS_OK; i++) {
    struct watch *watch = table->watchers[i];
    const struct term *term = watch->query->terms.terms;
    struct walk walk;
    if ((watch->kind <= WATCH_DESPAWN) != (table == from) || watch->kind == WATCH_SET ||
        watch->round != world->watching->round)
      continue;
    bool matched = watch->kind == WATCH_ADD ? term->form != TERM_OWN || table_has(from, term->id)
                                            : query_terms_match(&watch->query->terms, from);
    if (!matched) continue;
    walk_begin(&walk, watch->query);
    status = watch_apply_sight(world, watch, &walk, span);
  }
  return status;
}

ecs_status watch_rows(ecs_world *world, struct table *from, struct table *to,
                      const uint64_t *bits) {
  struct watching *watching = world->watching;
  struct change_span span = {watching->change_count, 0};
  bool watched = false;
  assert(watching->together && from->count && from != to);
  watching->dying = !to;
  ecs_status status = watch_apply_ask_watchers(world, from, &watched);
  if (status == ECS_OK) status = watch_apply_ask_watchers(world, to, &watched);
  if (status == ECS_OK && watched) status = watch_apply_list_moved(world, from, bits);
  if (status != ECS_OK || !watched) return status;
  span.end = watching->change_count;
  status = watch_apply_sight_rows(world, from, from, span);
  return status == ECS_OK ? watch_apply_sight_rows(world, to, from, span) : status;
}

ecs_status watch_rows_end(ecs_world *world, ecs_status status) {
  watch_apply_order_concerned(world->watching);
  if (status == ECS_OK)
    world->watching->due = world->watching->change_count;
  else
    watch_forget_changes(world);
  return status;
}
