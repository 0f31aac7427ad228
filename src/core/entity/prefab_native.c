/* Prefabs for hosts in C: converts descriptions to nodes. */
#include "core/base/memory.h"
#include "core/entity/clone.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "ecs_entity.h"

/* Reads a component of a description with its values; relations take none. */
static ecs_status prefab_native_read_part(ecs_world *world, struct arena *arena,
                                          const ecs_prefab_desc *desc, uint32_t at,
                                          struct part *part) {
  const void *value = desc->values ? desc->values[at] : NULL;
  const struct write *writes;
  struct component *component;
  ecs_status status = component_need_id(world, desc->components[at], &component);
  if (status == ECS_OK && component->relation && value)
    status = world_fail(world, ECS_EINVAL, "relation '%s' of a prefab takes no value here",
                        component->name);
  if (status == ECS_OK) status = spawn_part_of(world, desc->components[at], part);
  if (status == ECS_OK && value)
    status = component_read_native(world, component, value, &writes);
  if (status != ECS_OK || !value || component->leaf_count == 0) return status;
  size_t size = component->leaf_count * sizeof *writes;
  struct write *own = arena_take(&world->memory, arena, size);
  if (!own) return world_nomem(world);
  memcpy(own, writes, size);
  part->writes = own;
  part->write_count = component->leaf_count;
  return ECS_OK;
}

static ecs_status prefab_native_check_shared(const ecs_world *world, const ecs_prefab_desc *desc) {
  for (uint32_t i = 0; i < desc->shared_count; i++) {
    struct component *component;
    ecs_status status = component_need_id(world, desc->shared[i], &component);
    if (status != ECS_OK) return status;
    if (component->relation)
      return world_fail(world, ECS_EINVAL, "relation '%s' cannot be shared", component->name);
  }
  return ECS_OK;
}

static ecs_status prefab_native_read_node(ecs_world *world, struct arena *arena,
                                          const ecs_prefab_desc *desc,
                                          struct prefab_node *node) {
  const char *name = desc->name ? desc->name : "";
  uint64_t size = desc->component_count * (uint64_t)sizeof(struct part);
  struct part *parts = NULL;
  if (size <= SIZE_MAX / 2) parts = arena_take(&world->memory, arena, (size_t)size);
  if (!parts) return world_nomem(world);
  *node = (struct prefab_node){desc->parent, {name, strlen(name)}, desc->is_a, parts,
                               desc->component_count, desc->shared, desc->shared_count, false,
                               false};
  ecs_status status = prefab_native_check_shared(world, desc);
  for (uint32_t i = 0; i < desc->component_count && status == ECS_OK; i++)
    status = prefab_native_read_part(world, arena, desc, i, &parts[i]);
  return status;
}

ecs_status ecs_prefab(ecs_world *world, const ecs_prefab_desc *list, size_t count, ecs_id *out) {
  struct arena arena = {NULL};
  struct prefab_node *nodes;
  if (!list || count == 0 || count > INDEX_LIMIT || count > SIZE_MAX / 2 / sizeof *nodes)
    return world_fail(world, ECS_EINVAL, "a prefab needs a list of itself and its children");
  nodes = arena_take(&world->memory, &arena, count * sizeof *nodes);
  if (!nodes) return world_nomem(world);
  ecs_status status = ECS_OK;
  for (size_t i = 0; i < count && status == ECS_OK; i++) {
    status = prefab_native_read_node(world, &arena, &list[i], &nodes[i]);
    if (status == ECS_OK && i && list[i].parent >= i)
      status = world_fail(world, ECS_EINVAL, "child %zu of a prefab comes before its parent", i);
  }
  if (status == ECS_OK) status = prefab_declare(world, nodes, (uint32_t)count, out);
  arena_free(&world->memory, &arena);
  return status;
}

ecs_status ecs_instantiate(ecs_world *world, ecs_id prefab, const ecs_id *components, size_t n,
                           ecs_id *out) {
  struct part *parts = NULL;
  ecs_status status = prefab_need_id(world, prefab);
  if (status == ECS_OK) status = clone_find(world, prefab, CLONE_INSTANCE);
  if (status == ECS_OK) status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  clone_without_any(world);
  return clone_make(world, parts, (uint32_t)n, out);
}
