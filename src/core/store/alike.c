#include "core/store/alike.h"

#include "core/store/command.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "core/store/graph.h"
#include "core/store/some_rows.h"
#include "core/store/table.h"
#include "core/store/world.h"

/* From how many tables entities may come. */
#define LANES 8u

/* What rows of one table do. */
struct lane {
  struct table *from, *to;     /* the same one where they stay */
  uint32_t rows;
};

struct lanes {
  struct lane list[LANES];
  uint32_t count;
};

static struct lane *find_lane(struct lanes *lanes, uint32_t table) {
  for (uint32_t i = 0; i < lanes->count; i++)
    if (lanes->list[i].from->index == table) return &lanes->list[i];
  return NULL;
}

/* *lane stays NULL where there are too many. */
static ecs_status need_lane(ecs_world *world, struct lanes *lanes, uint32_t table,
                            struct lane **lane) {
  const struct queue *queue = &world->staging.queue;
  struct table *from = world_table(world, table), *to = NULL;
  *lane = find_lane(lanes, table);
  if (*lane || lanes->count == LANES) return ECS_OK;
  ecs_status status = (queue->kind == COMMAND_ADD ? graph_with : graph_without)(
      world, from, queue->component, &to);
  if (status != ECS_OK) return status;
  *lane = &lanes->list[lanes->count++];
  **lane = (struct lane){from, to, 0};
  return ECS_OK;
}

/* Counts the rows of each lane; *plain is whether all entities have one, and lanes are few. */
static ecs_status count_rows(ecs_world *world, struct lanes *lanes, bool *plain) {
  const struct queue *queue = &world->staging.queue;
  struct lane *lane = NULL;
  uint32_t table = NONE;
  *plain = false;
  for (uint32_t i = 0; i < queue->count; i++) {
    const struct record *record = entity_find_near(&world->entities, queue->entities[i]);
    if (UNLIKELY(!record)) return ECS_OK;
    if (UNLIKELY(record->table != table)) {
      table = record->table;
      ecs_status status = need_lane(world, lanes, table, &lane);
      if (status != ECS_OK || !lane) return status;
    }
    lane->rows++;
  }
  *plain = true;
  return ECS_OK;
}

static ecs_status reserve(ecs_world *world, const struct lanes *lanes) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < lanes->count && status == ECS_OK; i++) {
    const struct lane *lane = &lanes->list[i];
    if (lane->to != lane->from) status = table_reserve(world, lane->to, lane->rows);
  }
  return status;
}

/* Entities of one table that follow each other in the queue. */
struct batch {
  uint32_t entities[ROWS_TOGETHER], places[ROWS_TOGETHER];
  uint32_t table, count;
};

/* Takes what is next of the queue from one on, up to one of another table or without a row; returns
** the number of that one. */
static uint32_t fill(const ecs_world *world, struct batch *batch, uint32_t at) {
  const struct queue *queue = &world->staging.queue;
  batch->count = 0;
  for (; at < queue->count && batch->count < ROWS_TOGETHER; at++) {
    ecs_id entity = queue->entities[at];
    const struct record *record = entity_find_near(&world->entities, entity);
    if (UNLIKELY(!record)) break;
    if (batch->count == 0) batch->table = record->table;
    if (UNLIKELY(record->table != batch->table)) break;
    batch->entities[batch->count++] = ecs_id_index(entity);
  }
  return at;
}

static void move(ecs_world *world, struct lanes *lanes) {
  struct batch batch;
  for (uint32_t at = 0; at < world->staging.queue.count;) {
    at = fill(world, &batch, at);
    assert(batch.count > 0);
    const struct lane *lane = find_lane(lanes, batch.table);
    assert(lane && !lane->to->has_ties);
    if (lane->to == lane->from) continue;
    if (batch.count == 1)
      entity_move(world, batch.entities[0], lane->to);
    else
      rows_move(world, lane->from, lane->to, batch.entities, batch.count, batch.places);
  }
}

/* Whether the one component is such a one. */
static bool is_plain(const ecs_world *world, const struct queue *queue) {
  if (queue->count == 0 || queue->kind == COMMAND_DESPAWN) return false;
  const struct component *component = component_of(world, queue->component);
  return component && component->id == queue->component && !component->relation &&
         !component->sparse && !world->registry.requires;
}

/* Half of the time that applying them one by one takes. */
ecs_status alike_apply(ecs_world *world, bool *applied) {
  struct lanes lanes = {.count = 0};
  *applied = false;
  if (!is_plain(world, &world->staging.queue)) return ECS_OK;
  bool plain;
  ecs_status status = count_rows(world, &lanes, &plain);
  if (status != ECS_OK || !plain) return status;
  status = reserve(world, &lanes);
  if (status != ECS_OK) return status;
  move(world, &lanes);
  *applied = true;
  return ECS_OK;
}

void alike_end(ecs_world *world) {
  const struct queue *queue = &world->staging.queue;
  struct batch batch;
  for (uint32_t at = 0; at < queue->count;) {
    at = fill(world, &batch, at);
    if (batch.count) {
      rows_end(world, world_table(world, batch.table), batch.entities, batch.count);
      continue;
    }
    ecs_id entity = queue->entities[at++];   /* dead, without a row, or far away */
    if (entity_find(&world->entities, entity)) entity_kill(world, ecs_id_index(entity));
  }
}
