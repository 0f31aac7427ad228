#include "core/storage/registry.h"

#include "core/base/text.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/fields.h"
#include "core/ids/entity_index.h"
#include "core/ids/record.h"
#include "core/relation/relation.h"
#include "core/storage/sparse_rows.h"
#include "core/ids/world.h"

void component_enter_name(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  assert(index < registry->next_capacity);
  registry->next[index] = map_get(&registry->names, hash);
  map_put(&registry->names, hash, index);
}

void component_leave_name(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  uint32_t first = map_get(&registry->names, hash);
  assert(first != NONE);
  if (first != index) {
    while (registry->next[first] != index) {
      first = registry->next[first];
      assert(first != NONE);
    }
    registry->next[first] = registry->next[index];
  } else if (registry->next[index] == NONE) {
    map_remove(&registry->names, hash);
  } else {
    map_put(&registry->names, hash, registry->next[index]);
  }
}

ecs_status registry_reserve(ecs_world *world, uint32_t index) {
  struct registry *registry = &world->registry;
  uint64_t count = index + 1ull;
  struct component **components =
      memory_grow(&world->memory, registry->components, &registry->capacity, count,
                  sizeof *components);
  if (!components) return world_nomem(world);
  registry->components = components;
  uint32_t *next = memory_grow(&world->memory, registry->next, &registry->next_capacity,
                               count, sizeof *next);
  if (!next) return world_nomem(world);
  registry->next = next;
  uint64_t names = 1ull + registry->renaming;
  return map_reserve(&world->memory, &registry->names, names) ? ECS_OK : world_nomem(world);
}

void registry_enter(ecs_world *world, struct component *component, uint32_t index) {
  struct registry *registry = &world->registry;
  assert(index < registry->capacity && index < FIRST_ENTITY);
  component->id = entity_id(&world->entities, index);
  while (registry->count <= index) registry->components[registry->count++] = NULL;
  assert(!registry->components[index]);
  registry->components[index] = component;
  component_enter_name(world, component);
  if (component->relation) relation_enter(world, component);
  if (component->sparse) sparse_enter(world, component->sparse);
  if (component->event) event_enter(world, component->event);
}

ecs_status registry_equip(ecs_world *world, struct component *component, ecs_id id) {
  if (component->ties.relation) return relation_new(world, component);
  if (component->is_event) return event_new(world, component, id);
  return component->is_sparse ? sparse_new(world, component, id) : ECS_OK;
}

ecs_status registry_add(ecs_world *world, struct component *component) {
  struct range *range = &world->entities.components;
  ecs_status status = entity_reserve(&world->entities, &world->memory, range, 1);
  if (status == ECS_ELIMIT)
    return world_fail(world, status, "all 65535 ids of components and tags are in use");
  if (status != ECS_OK) return world_nomem(world);
  uint32_t next = range->free_head ? range->free_head : range->next;
  status = registry_reserve(world, next);
  if (status == ECS_OK)
    status = registry_equip(world, component, entity_id(&world->entities, next));
  if (status != ECS_OK) return status;
  registry_enter(world, component, entity_take(&world->entities, range));
  return ECS_OK;
}

void registry_take_back(ecs_world *world, struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  assert(registry->components[index] == component);
  component_leave_name(world, component);
  registry->components[index] = NULL;
  if (index + 1 == registry->count) registry->count--;
  component_free(world, component);
  entity_untake_wholly(&world->entities, &world->entities.components, index);
}

void registry_free(ecs_world *world) {
  struct registry *registry = &world->registry;
  for (uint32_t i = 0; i < registry->count; i++)
    if (registry->components[i]) component_free(world, registry->components[i]);
  memory_free(&world->memory, registry->components,
              registry->capacity * sizeof *registry->components);
  memory_free(&world->memory, registry->next,
              registry->next_capacity * sizeof *registry->next);
  map_free(&world->memory, &registry->names);
}
