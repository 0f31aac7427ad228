#include "core/query/passage.h"

#include "core/ids/world.h"

#define BATCH_ROWS 64u

/* ---- beginning ---- */

/* Whether what is written on the way decides nothing: entity fields do, but for those of events,
** ties and sparse components change when the scope ends. */
static bool may_look_ahead(const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    bool field = term->form == TERM_PATH && term->through_leaf != NONE;
    if (field && !terms->event) return false;
  }
  return matches_suit(query);
}

/* Which step is about a term. */
static uint32_t step_of(const struct query_terms *terms, uint32_t term) {
  for (uint32_t i = 0; i < terms->step_count; i++)
    if (terms->steps[i] == term) return i;
  return NONE;
}

static void begin_batches(struct passage *passage, ecs_query *query) {
  struct matches *batch = &passage->batch;
  passage->terms = (struct passage_term *)(void *)(passage + 1);
  passage->term_count = query->terms.count;
  batch->count = 0;
  for (uint32_t i = 0; i < passage->term_count; i++)
    passage->terms[i] = (struct passage_term){.step = step_of(&query->terms, i)};
  matches_begin(batch, &passage->walk, query);
  matches_lay_out(batch, passage->terms + passage->term_count, BATCH_ROWS);
  for (uint32_t i = 0; i < batch->step_count; i++)
    batch->steps[i].gives = batch->steps[i].term->slot != NONE;
}

static size_t passage_room_of(const ecs_query *query) {
  return query->terms.count * sizeof(struct passage_term) + matches_room(query, BATCH_ROWS);
}

struct passage *passage_new(ecs_query *query) {
  struct memory *memory = &query->world->memory;
  bool batched = may_look_ahead(query);
  size_t size = sizeof(struct passage) + (batched ? passage_room_of(query) : 0);
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
  if (batched) begin_batches(passage, query);
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

/* Whether a step has cells to give in the batch. */
static bool passage_gives(const struct matches *batch, uint32_t step) {
  return batch->steps[step].gives && !(batch->absent >> step & 1);
}

/* Comes to a spot's part of the next match; returns where its next one begins. */
static uint32_t enter_part(const struct passage *passage, const struct matches_spot *spot,
                           uint32_t *part) {
  uint32_t next = *part + 1;
  assert(*part < spot->part_count && passage->at < passage->batch.count);
  if (next < spot->part_count && spot->parts[next].at == passage->at) *part = next++;
  return next < spot->part_count ? spot->parts[next].at : passage->batch.count;
}

static void find_cells(const struct passage *passage, uint32_t at, struct passage_term *cells) {
  const struct matches *batch = &passage->batch;
  const struct term *term = &passage->walk.query->terms.terms[at];
  uint32_t step = cells->step;
  bool own = step == NONE;
  cells->leaves = cells->plain_leaves = 0;
  if (term->slot == NONE || !(own || passage_gives(batch, step))) return;
  const struct matches_spot *spot = own ? &batch->own : &batch->spots[step];
  const struct matches_part *part = &spot->parts[own ? passage->part : passage->parts[step]];
  uint32_t first = part->first;
  if (own) first = query_columns(passage->walk.query, first)[term->slot];
  if (first == NONE) return;
  cells->rows = spot->rows;
  cells->table = part->table;
  cells->marks = part->table->mark_count && !term->read_only;
  cells->columns = part->table->columns + first;
  cells->leaves = term->leaf == NONE ? term->component->leaf_count : 1;
  cells->plain_leaves = cells->marks ? 0 : cells->leaves;
}

/* Where parts end, and when a batch begins. */
static APART void enter_parts(struct passage *passage) {
  const struct matches *batch = &passage->batch;
  passage->turn = enter_part(passage, &batch->own, &passage->part);
  for (uint32_t i = 0; i < batch->step_count; i++) {
    if (!passage_gives(batch, i)) continue;
    uint32_t turn = enter_part(passage, &batch->spots[i], &passage->parts[i]);
    if (turn < passage->turn) passage->turn = turn;
  }
  const struct matches_part *part = &batch->own.parts[passage->part];
  passage->match = part->first;
  passage->listed = false;
  passage->entities = passage->walk.query->terms.event ? NULL : part->table->rows;
  for (uint32_t i = 0; i < passage->term_count; i++)
    find_cells(passage, i, &passage->terms[i]);
}

static APART bool begin_batch(struct passage *passage) {
  struct matches *batch = &passage->batch;
  passage->at = passage->end = passage->part = passage->turn = 0;
  memset(passage->parts, 0, sizeof passage->parts);
  for (uint32_t i = 0; i < passage->term_count; i++)
    passage->terms[i].leaves = passage->terms[i].plain_leaves = 0;
  if (!matches_next(batch)) return false;
  passage->list_count = 0;
  passage->lists[passage->list_count++] = batch->own.rows;
  for (uint32_t i = 0; i < batch->step_count; i++)
    if (passage_gives(batch, i)) passage->lists[passage->list_count++] = batch->spots[i].rows;
  return true;
}

/* ---- runs ---- */

/* The walk's next match, as a run of its own. */
static bool next_of_walk(struct passage *passage) {
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
  if (!passage->batched) return next_of_walk(passage);
  passage->at = passage->end;
  if (passage->at == passage->batch.count && !begin_batch(passage)) return false;
  enter_parts(passage);
  assert(passage->at < passage->turn);
  passage->end = passage_run_end(passage, passage->at);
  return true;
}

bool passage_take_part(struct passage *passage) {
  if (!passage->batched) return next_of_walk(passage);
  if (passage->end < passage->turn)
    passage->at = passage->end;
  else if (!passage_turn(passage))
    return false;
  passage->end = passage->turn;
  passage->listed = true;
  for (uint32_t i = 0; i < passage->term_count; i++) passage->terms[i].plain_leaves = 0;
  return true;
}

/* What must not be there is not. */
bool passage_has(const struct passage *passage, uint32_t term) {
  enum term_kind kind = passage->walk.query->terms.terms[term].kind;
  uint32_t step = passage->terms[term].step;
  assert(passage->batched && term < passage->term_count && step != NONE);
  if (kind != TERM_OPTIONAL) return kind == TERM_WITH;
  return !(passage->batch.absent >> step & 1);
}
