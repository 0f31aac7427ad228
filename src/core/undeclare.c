#include "declare.h"
#include "migrate.h"
#include "world.h"

static void leave_registry(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t at = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  uint32_t first = map_get(&registry->names, hash);
  registry->components[at] = NULL;
  registry->version++;
  if (first != at) {
    while (registry->next[first] != at) first = registry->next[first];
    registry->next[first] = registry->next[at];
  } else if (registry->next[at] == NONE) {
    map_remove(&registry->names, hash);
  } else {
    map_put(&registry->names, hash, registry->next[at]);
  }
}

void declare_forget(ecs_world *world, struct component *component) {
  ecs_id id = component->id;
  query_break(world, id);
  graph_forget(world, id);
  world->last_count = NONE;
  leave_registry(world, component);
  component_free(world, component);
  entity_kill(world, ecs_id_index(id));
}

ecs_status ecs_undeclare(ecs_world *world, ecs_id id) {
  struct component *component;
  struct migration migration;
  migration_begin(&migration, world);
  ecs_status status = component_need_id(world, id, &component);
  if (status == ECS_OK) status = migration_add(&migration, component, NULL);
  if (status == ECS_OK) status = migration_run(&migration, "undeclare");
  migration_end(&migration);
  return status;
}
