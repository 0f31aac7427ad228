#include "core/ids/world.h"

#include "core/command/cascade.h"
#include "core/storage/cells.h"
#include "core/entity/clone.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/ids/entity_index.h"
#include "core/query/passage.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/sparse_rows.h"
#include "core/command/watch.h"
#include "core/storage/registry.h"
#include "ecs_world.h"

ecs_status world_init(ecs_world *world, uint32_t tag, uint64_t seed) {
  world->seed = seed;
  world->now = 1;
  world->chance = chance_outermost(seed);
  entity_index_init(&world->entities, tag);
  ecs_status status = watching_init(world);
  return status == ECS_OK ? graph_init(world) : status;
}

void world_clear(ecs_world *world) {
  passages_free(world);
  while (world->first_query) query_free(world->first_query);
  struct memory *memory = &world->memory;
  staging_free(world);
  watching_free(world);
  graph_free(world);
  relations_clear(world);
  cascade_free(world);
  clone_free(world);
  memory_free(memory, world->declared.prefabs,
              world->declared.capacity * sizeof *world->declared.prefabs);
  registry_free(world);
  relations_free(world);
  name_table_free(world);
  intern_free(&world->strings, memory);
  sparses_free(world);
  events_free(world);
  any_free(&world->any, memory);
  entity_index_free(&world->entities, memory);
  memory_free(memory, world->scratch, world->scratch_capacity * sizeof *world->scratch);
  memory_free(memory, world->writes, world->write_capacity * sizeof *world->writes);
  memory_free(memory, world->parts, world->part_capacity * sizeof *world->parts);
  memory_free(memory, world->tie_writes,
              world->tie_write_capacity * sizeof *world->tie_writes);
  scratch_free(memory, &world->binding);
}

const char *ecs_message(const ecs_world *world) { return world->message; }
size_t ecs_bytes(const ecs_world *world) { return world->memory.bytes; }
uint32_t ecs_world_tag(const ecs_world *world) { return world->entities.tag; }
size_t ecs_alive_count(const ecs_world *world) { return world->entities.alive; }

ecs_status ecs_entity_status(const ecs_world *world, ecs_id id) { return entity_need(world, id); }

bool ecs_alive(const ecs_world *world, ecs_id id) {
  return entity_find(&world->entities, id) != NULL;
}

ecs_status ecs_entity_range(ecs_world *world, uint32_t first, uint32_t last) {
  if (entity_set_range(&world->entities, first, last) == ECS_OK) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "entity range %u to %u is not within %u to %u", first, last,
                    FIRST_ENTITY, INDEX_LIMIT - 1);
}

/* ---- any values ---- */

static bool world_release(const struct cells *cells, void *ud) {
  uint32_t *slots = cells->data;
  for (uint32_t i = 0; i < cells->count; i++) {
    any_release(ud, slots[i]);
    slots[i] = 0;
  }
  return true;
}

void world_release_any(ecs_world *world, struct any_slots *any) {
  cells_each(world, ECS_ANY, CELLS_STORED, world_release, any);
}

/* ---- references to entities ---- */

static bool clear_dead(const struct cells *cells, void *ud) {
  const ecs_world *world = ud;
  uint64_t *ids = cells->data;
  for (uint32_t i = 0; i < cells->count; i++)
    if (ids[i] && !ecs_alive(world, ids[i])) ids[i] = ECS_NULL;
  return true;
}

ecs_status ecs_recycle_retired(ecs_world *world, size_t *count) {
  ecs_status status = world_is_idle(world, "recycle_retired");
  if (status != ECS_OK) return status;
  cells_each(world, ECS_ENTITY, CELLS_STORED, clear_dead, world);
  *count = entity_unretire(&world->entities);
  return ECS_OK;
}
