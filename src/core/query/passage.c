#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"

#define BATCH_ROWS 64u

/* ---- beginning ---- */

/* Whether writes during the iteration cannot change later matches. Those to entity fields can,
** except in events; ties and sparse components change only when the scope ends. */
static bool passage_can_match_in_groups(const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    bool field = term->form == TERM_PATH && term->through_leaf != NONE;
    if (field && !terms->event) return false;
  }
  return matches_suit(query, false);
}

static void passage_begin_batches(struct passage *passage, ecs_query *query) {
  struct matches *batch = &passage->batch;
  passage->terms = (struct passage_term *)(void *)(passage + 1);
  passage->term_count = query->terms.count;
  batch->count = 0;
  for (uint32_t i = 0; i < passage->term_count; i++)
    passage->terms[i] = (struct passage_term){.step = NONE};
  matches_begin(batch, &passage->walk, query, true);
  matches_lay_out(batch, passage->terms + passage->term_count, BATCH_ROWS);
  for (uint32_t i = 0; i < batch->step_count; i++) {
    passage->terms[query->terms.steps[i]].step = i;
    batch->steps[i].gives = batch->steps[i].term->slot != NONE;
  }
}

struct passage *passage_new(ecs_query *query) {
  struct memory *memory = &query->world->memory;
  bool batched = passage_can_match_in_groups(query);
  size_t size =
      sizeof(struct passage) + (batched ? (query->terms.count * sizeof(struct passage_term) +
                                           matches_room(query, BATCH_ROWS))
                                        : 0);
  struct passage *passage = memory_resize(memory, NULL, 0, size);
  if (!passage) return NULL;
  passage->next = query->world->passages;
  query->world->passages = passage;
  passage->size = size;
  passage->batched = batched;
  passage->listed = false;
  passage->at = passage->end = passage->turn = passage->term_count = 0;
  if (walk_begin_ordered(&passage->walk, query) != ECS_OK) {
    passage_free(query->world, passage);
    return NULL;
  }
  if (batched) passage_begin_batches(passage, query);
  return passage;
}

void passage_free(ecs_world *world, struct passage *passage) {
  struct passage **at = &world->passages;
  while (*at != passage) at = &(*at)->next;
  *at = passage->next;
  walk_end(&passage->walk);
  memory_free(&world->memory, passage, passage->size);
}

void passages_free(ecs_world *world) {
  while (world->passages) passage_free(world, world->passages);
}

/* ---- parts ---- */

/* Moves to a spot's part of the next match. Returns where its next part begins. */
static uint32_t passage_enter_part(const struct passage *passage, const struct matches_spot *spot,
                                   uint32_t *part) {
  uint32_t next = *part + 1;
  assert(*part < spot->part_count && passage->at < passage->batch.count);
  if (next < spot->part_count && spot->parts[next].at == passage->at) *part = next++;
  return next < spot->part_count ? spot->parts[next].at : passage->batch.count;
}

static void passage_find_cells(const struct passage *passage, uint32_t at,
                               struct passage_term *cells) {
  const struct matches *batch = &passage->batch;
  const struct term *term = &passage->walk.query->terms.terms[at];
  uint32_t step = cells->step;
  bool own = step == NONE;
  cells->leaves = cells->plain_leaves = 0;
  if (term->slot == NONE || !(own || batch->steps[step].gives)) return;
  const struct matches_spot *spot = own ? &batch->own : &batch->spots[step];
  const struct matches_part *part = &spot->parts[own ? passage->part : passage->parts[step]];
  uint32_t first = part->table ? part->first : NONE;
  if (own) first = query_columns(passage->walk.query, first)[term->slot];
  if (first == NONE) return;
  assert(part->table);
  cells->rows = spot->rows;
  cells->table = part->table;
  cells->marks = part->table->mark_count && !term->read_only;
  cells->columns = part->table->columns + first;
  cells->leaves = term->leaf == NONE ? term->component->leaf_count : 1;
  cells->plain_leaves = cells->marks ? 0 : cells->leaves;
}

/* Called where parts end and a batch begins. */
static APART void passage_enter_parts(struct passage *passage) {
  const struct matches *batch = &passage->batch;
  passage->turn = passage_enter_part(passage, &batch->own, &passage->part);
  for (uint32_t i = 0; i < batch->step_count; i++) {
    if (!batch->steps[i].gives) continue;
    uint32_t turn = passage_enter_part(passage, &batch->spots[i], &passage->parts[i]);
    if (turn < passage->turn) passage->turn = turn;
  }
  const struct matches_part *part = &batch->own.parts[passage->part];
  passage->match = part->first;
  passage->listed = false;
  passage->entities = passage->walk.query->terms.event ? NULL : part->table->rows;
  for (uint32_t i = 0; i < passage->term_count; i++)
    passage_find_cells(passage, i, &passage->terms[i]);
}

static APART bool passage_begin_batch(struct passage *passage) {
  struct matches *batch = &passage->batch;
  passage->at = passage->end = passage->part = passage->turn = 0;
  memset(passage->parts, 0, sizeof passage->parts);
  for (uint32_t i = 0; i < passage->term_count; i++)
    passage->terms[i].leaves = passage->terms[i].plain_leaves = 0;
  if (!matches_next(batch)) return false;
  passage->list_count = 0;
  passage->lists[passage->list_count++] = batch->own.rows;
  for (uint32_t i = 0; i < batch->step_count; i++)
    if (batch->steps[i].gives) passage->lists[passage->list_count++] = batch->spots[i].rows;
  return true;
}

/* ---- runs ---- */

/* The walk's next match, as a run of its own. */
static bool passage_next_of_walk(struct passage *passage) {
  const struct walk *walk = &passage->walk;
  if (!walk_next(&passage->walk)) return false;
  const struct table *table = walk->table;
  passage->match = walk->match;
  passage->entities = walk->query->terms.event ? NULL : table->rows;
  passage->at = 0;
  passage->end = passage->turn = 1;
  return true;
}

bool passage_turn(struct passage *passage) {
  if (!passage->batched) return passage_next_of_walk(passage);
  passage->at = passage->end;
  if (passage->at == passage->batch.count && !passage_begin_batch(passage)) return false;
  passage_enter_parts(passage);
  assert(passage->at < passage->turn);
  passage->end = passage_run_end(passage, passage->at);
  return true;
}

bool passage_take_part(struct passage *passage) {
  if (!passage->batched) return passage_next_of_walk(passage);
  if (passage->end < passage->turn)
    passage->at = passage->end;
  else if (!passage_turn(passage))
    return false;
  passage->end = passage->turn;
  passage->listed = true;
  for (uint32_t i = 0; i < passage->term_count; i++) passage->terms[i].plain_leaves = 0;
  return true;
}

/* An absent term has no cells. */
bool passage_has(const struct passage *passage, uint32_t term) {
  enum term_kind kind = passage->walk.query->terms.terms[term].kind;
  uint32_t step = passage->terms[term].step;
  assert(passage->batched && term < passage->term_count && step != NONE);
  if (kind != TERM_OPTIONAL) return kind == TERM_WITH;
  return passage->batch.spots[step].parts[passage->parts[step]].table != NULL;
}

/* ---- sight ---- */

void sight_begin(struct ecs_sight *sight, const ecs_world *world, struct watch *watch) {
  *sight = (struct ecs_sight){.world = world, .watch = watch};
  walk_begin(&sight->walk, watch->query);
  sight->values = sight->walk.values;
  sight->moved = world->watching->together && !world->watching->dying && watch->count == 0 &&
                 (watch->kind == WATCH_ADD || watch->kind == WATCH_ENTER) &&
                 watch->query->terms.plain;
}

/* ---- the same match ---- */

/* Whether two matches of an entity have the same values. */
static bool passage_same_values(const struct query_terms *terms, const ecs_id *a, const ecs_id *b) {
  for (uint32_t i = 0; i < terms->variable_count; i++)
    if (terms->variables[i].output != NONE && a[i] != b[i]) return false;
  return true;
}

static const ecs_id *passage_sight_values_of(const struct watch *watch,
                                             const struct sighting *sighting) {
  return watch->values + sighting->values;
}

/* ---- ended matches ---- */

/* An entity's matches mostly come in the order in which they were recorded, so the search goes on
** after the last one found. */
static bool passage_still_matches(struct ecs_sight *sight, ecs_id entity, const ecs_id *values) {
  uint32_t index = ecs_id_index(entity);
  const struct query_terms *terms = &sight->watch->query->terms;
  for (int turn = sight->inside ? 0 : 1; turn < 2; turn++)
    for (bool more = walk_match(&sight->walk, index, turn == 0); more;
         more = walk_match(&sight->walk, index, true)) {
      sight->inside = passage_same_values(terms, sight->walk.values, values);
      if (sight->inside) return true;
    }
  sight->inside = false;
  return false;
}

static bool passage_has_gone(struct ecs_sight *sight, const struct change_of *change,
                             const ecs_id *values) {
  const struct query_terms *terms = &sight->watch->query->terms;
  if (change->dies) return true;
  if (sight->watch->kind == WATCH_REMOVE)
    return !watch_has_first(sight->world, terms, change->entity, values);
  assert(sight->watch->kind == WATCH_EXIT);
  return !passage_still_matches(sight, change->entity, values);
}

static bool passage_next_gone(struct ecs_sight *sight) {
  const struct watch *watch = sight->watch;
  while (sight->sighting < watch->count) {
    const struct sighting *sighting = &watch->sightings[sight->sighting++];
    const struct change_of change = watch_change(sight->world->watching, sighting->change);
    sight->inside &= sighting->change == sight->change;
    sight->change = sighting->change;
    if (!passage_has_gone(sight, &change, passage_sight_values_of(watch, sighting))) continue;
    sight->entity = change.entity;
    sight->values = passage_sight_values_of(watch, sighting);
    sight->places = watch->places + sighting->places;
    return true;
  }
  return false;
}

/* ---- new matches ---- */

/* Finds the sightings of the current change. */
static void passage_come_to_sightings(struct ecs_sight *sight) {
  const struct watch *watch = sight->watch;
  uint32_t at = sight->sighting;
  if (at < sight->last_sighting && watch->sightings[at].change == sight->change) return;
  while (at < watch->count && watch->sightings[at].change < sight->change) at++;
  sight->sighting = sight->next_sighting = at;
  while (at < watch->count && watch->sightings[at].change == sight->change) at++;
  sight->last_sighting = at;
}

/* Whether the changed entity had this match before. Searches as passage_still_matches does. */
static bool passage_was_there(struct ecs_sight *sight) {
  const struct watch *watch = sight->watch;
  const struct query_terms *terms = &watch->query->terms;
  if (watch->count == 0) return false;
  passage_come_to_sightings(sight);
  for (uint32_t left = sight->last_sighting - sight->sighting; left > 0; left--) {
    if (sight->next_sighting == sight->last_sighting) sight->next_sighting = sight->sighting;
    const ecs_id *values =
        passage_sight_values_of(watch, &watch->sightings[sight->next_sighting++]);
    uint32_t first = terms->terms[0].variable;
    if (watch->kind == WATCH_ADD
            ? !watch_finds_values(terms) || values[first] == sight->walk.values[first]
            : passage_same_values(terms, values, sight->walk.values))
      return true;
  }
  return false;
}

/* Whether an id, whose values were set, is that of the first term in this match. */
static bool passage_is_of_first(const struct ecs_sight *sight, ecs_id id) {
  const struct query_terms *terms = &sight->watch->query->terms;
  const struct term *term = terms->terms;
  if (term->form != TERM_PAIR || term->component->ties.exclusive) return id == term->component->id;
  uint32_t relation = ecs_id_index(term->component->id);
  if (!id_is_pair(id) || pair_relation(id) != relation) return false;
  ecs_id target = term->target;
  if (target == ECS_NULL && !watch_finds_values(terms)) return true;
  if (target == ECS_NULL) target = sight->walk.values[term->variable];
  return pair_target(id) == ecs_id_index(target);
}

static bool passage_sight_is_given(const struct ecs_sight *sight, const struct change_of *change) {
  const ecs_id *gifts = sight->world->watching->gifts;
  for (uint32_t i = 0; i < change->gift_count; i++)
    if (passage_is_of_first(sight, gifts[change->first_gift + i])) return true;
  return false;
}

/* walk_match where each row of a table matches once. The next row is often in the same table and
** then needs no search, which takes a fifth off a call. */
INLINE bool passage_comes_to(struct ecs_sight *sight, ecs_id entity) {
  struct walk *walk = &sight->walk;
  uint32_t index = ecs_id_index(entity);
  const struct record *record = entity_record(&sight->world->entities, index);
  if (!walk->table || record->table != walk->table->index) return walk_match(walk, index, false);
  walk->row = record->row;
  return walk->match != NONE;
}

/* Moves to the first change from the current one on that concerns the watch; false if none. */
static bool passage_comes_to_change(struct ecs_sight *sight) {
  const struct watch *watch = sight->watch;
  for (; sight->span < watch->span_count; sight->span++) {
    const struct change_span *span = &watch->spans[sight->span];
    if (sight->change < span->first) sight->change = span->first;
    if (sight->change < span->end) return true;
  }
  return false;
}

static bool passage_next_there(struct ecs_sight *sight) {
  const struct watching *watching = sight->world->watching;
  while (passage_comes_to_change(sight)) {
    const struct change_of change = watch_change(watching, sight->change);
    /* The entity may have come to match, or been given values. */
    bool concerns = sight->watch->kind == WATCH_SET ? change.gift_count > 0 : !change.quiet;
    bool more = concerns && !change.dies &&
                walk_match(&sight->walk, ecs_id_index(change.entity), sight->inside);
    sight->inside = more;
    if (!more) {
      sight->change++;
      continue;
    }
    if (sight->watch->kind == WATCH_SET ? !passage_sight_is_given(sight, &change)
                                        : passage_was_there(sight))
      continue;
    sight->entity = change.entity;
    sight->values = sight->walk.values;
    return true;
  }
  return false;
}

bool sight_next(struct ecs_sight *sight) {
  if (UNLIKELY(!sight->moved))
    return sight->watch->kind <= WATCH_DESPAWN ? passage_next_gone(sight)
                                               : passage_next_there(sight);
  /* The next of the rows that moved together, none of which matched before. */
  while (passage_comes_to_change(sight)) {
    sight->entity = sight->world->watching->moved[sight->change++];
    if (LIKELY(passage_comes_to(sight, sight->entity))) return true;
  }
  return false;
}

/* ---- the content of a match ---- */

struct sight_cells sight_find(const struct ecs_sight *sight, const struct term *term) {
  assert(term->slot != NONE);
  if (sight->places) {
    uint32_t place = sight->places[term->slot];
    bool there = place != NONE;
    const struct column *columns = there ? sight->watch->copies[term->slot].columns : NULL;
    return (struct sight_cells){NULL, columns, there ? place : 0, there};
  }
  struct walk_end end = walk_cells(&sight->walk, term);
  if (!end.table) return (struct sight_cells){NULL, NULL, 0, false};
  bool cells = term_has_cells(term, term->component);
  const struct column *columns = cells ? &end.table->columns[end.first] : NULL;
  return (struct sight_cells){end.table, columns, end.row, true};
}

ecs_id sight_value(const struct ecs_sight *sight, uint32_t n) {
  const struct query_terms *terms = &sight->watch->query->terms;
  for (uint32_t i = 0; i < terms->variable_count; i++)
    if (terms->variables[i].output == n) return sight->values[i];
  return ECS_NULL;
}
