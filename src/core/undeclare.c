#include "bulk.h"
#include "declare.h"
#include "world.h"

/* The component that has a field made of this one, or NULL. */
static const struct component *user_of(const ecs_world *world,
                                       const struct component *component) {
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *other = world->registry.components[i];
    for (uint32_t j = 0; other && j < other->field_count; j++)
      if (other->fields[j].nested == component) return other;
  }
  return NULL;
}

static void leave_registry(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t at = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  uint32_t first = map_get(&registry->names, hash);
  registry->components[at] = NULL;
  if (first != at) {
    while (registry->next[first] != at) first = registry->next[first];
    registry->next[first] = registry->next[at];
  } else if (registry->next[at] == NONE) {
    map_remove(&registry->names, hash);
  } else {
    map_put(&registry->names, hash, registry->next[at]);
  }
}

static void release_nested(const struct component *component) {
  for (uint32_t i = 0; i < component->field_count; i++)
    if (component->fields[i].nested) component->fields[i].nested->uses--;
}

ecs_status declare_remove(ecs_world *world, struct component *component) {
  const struct component *user = user_of(world, component);
  if (user)
    return world_fail(world, ECS_EINVAL, "'%s' is part of component '%s'; undeclare that first",
                      component->name, user->name);
  ecs_id id = component->id;
  struct id_record *record = graph_record(world, id);
  if (record) {
    ecs_status status =
        bulk_change(world, &record->tables, record->table_count, id, false);
    if (status != ECS_OK) return status;
  }
  query_break(world, id);
  graph_forget(world, id);
  world->last_count = NONE;
  leave_registry(world, component);
  release_nested(component);
  component_free(world, component);
  entity_kill(world, ecs_id_index(id));
  return ECS_OK;
}

ecs_status ecs_undeclare(ecs_world *world, ecs_id id) {
  struct component *component;
  ecs_status status = world_not_busy(world, "undeclare");
  if (status == ECS_OK && staging_is_open(&world->staging))
    status = world_fail(world, ECS_EBUSY, "undeclare is not possible inside a loop");
  if (status == ECS_OK) status = component_need_id(world, id, &component);
  return status == ECS_OK ? declare_remove(world, component) : status;
}
