/* Prefabs for hosts in C: descriptions become nodes. */
#include "core/store/clone.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/fields.h"
#include "core/store/native.h"
#include "core/store/prefab.h"
#include "core/store/spawn.h"
#include "core/store/world.h"
#include "ecs_entity.h"

/* What a list of descriptions comes to. */
struct nodes {
  struct prefab_node *list;
  struct part *parts;
  struct write *writes;
  size_t count, part_count, write_count;
};

static const void *value_of(const ecs_prefab_desc *desc, uint32_t i) {
  return desc->values ? desc->values[i] : NULL;
}

/* How much there is; what the ids are is known then. */
static ecs_status measure(ecs_world *world, const ecs_prefab_desc *list, struct nodes *nodes) {
  for (size_t i = 0; i < nodes->count; i++) {
    if (i && list[i].parent >= i)
      return world_fail(world, ECS_EINVAL, "child %u of a prefab stands before its parent",
                        (uint64_t)i);
    for (uint32_t j = 0; j < list[i].component_count; j++) {
      struct component *component;
      ecs_status status = component_need_id(world, list[i].components[j], &component);
      if (status != ECS_OK) return status;
      if (component->relation && value_of(&list[i], j))
        return world_fail(world, ECS_EINVAL, "relation '%s' of a prefab takes no value here",
                          component->name);
      nodes->write_count += value_of(&list[i], j) ? component->leaf_count : 0;
    }
    nodes->part_count += list[i].component_count;
  }
  return ECS_OK;
}

static bool allocate(struct memory *memory, struct nodes *nodes) {
  nodes->list = memory_array(memory, nodes->count, sizeof *nodes->list);
  nodes->parts = memory_array(memory, nodes->part_count + 1, sizeof *nodes->parts);
  nodes->writes = memory_array(memory, nodes->write_count + 1, sizeof *nodes->writes);
  return nodes->list && nodes->parts && nodes->writes;
}

static void release(struct memory *memory, const struct nodes *nodes) {
  if (nodes->list) memory_free(memory, nodes->list, nodes->count * sizeof *nodes->list);
  if (nodes->parts)
    memory_free(memory, nodes->parts, (nodes->part_count + 1) * sizeof *nodes->parts);
  if (nodes->writes)
    memory_free(memory, nodes->writes, (nodes->write_count + 1) * sizeof *nodes->writes);
}

/* Appends the parts of one description. */
static ecs_status fill_parts(ecs_world *world, const ecs_prefab_desc *desc, struct nodes *nodes) {
  for (uint32_t i = 0; i < desc->component_count; i++) {
    struct part *part = &nodes->parts[nodes->part_count++];
    ecs_status status = spawn_part_of(world, desc->components[i], part);
    const struct write *writes;
    if (status == ECS_OK && value_of(desc, i))
      status = component_read_native(world, part->component, desc->values[i], &writes);
    if (status != ECS_OK) return status;
    if (!value_of(desc, i)) continue;
    part->write_count = part->component->leaf_count;
    part->writes = nodes->writes + nodes->write_count;
    if (part->write_count)
      memcpy(nodes->writes + nodes->write_count, writes, part->write_count * sizeof *writes);
    nodes->write_count += part->write_count;
  }
  return ECS_OK;
}

static ecs_status check_shared(const ecs_world *world, const ecs_prefab_desc *desc) {
  for (uint32_t i = 0; i < desc->shared_count; i++) {
    struct component *component;
    ecs_status status = component_need_id(world, desc->shared[i], &component);
    if (status != ECS_OK) return status;
    if (component->relation)
      return world_fail(world, ECS_EINVAL, "relation '%s' cannot be shared", component->name);
  }
  return ECS_OK;
}

static ecs_status fill(ecs_world *world, const ecs_prefab_desc *list, struct nodes *nodes) {
  nodes->part_count = nodes->write_count = 0;
  for (size_t i = 0; i < nodes->count; i++) {
    const char *name = list[i].name ? list[i].name : "";
    struct prefab_node *node = &nodes->list[i];
    *node = (struct prefab_node){list[i].parent, {name, strlen(name)}, list[i].is_a,
                                 nodes->parts + nodes->part_count, list[i].component_count,
                                 list[i].shared, list[i].shared_count, false, false};
    ecs_status status = check_shared(world, &list[i]);
    if (status == ECS_OK) status = fill_parts(world, &list[i], nodes);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

ecs_status ecs_prefab(ecs_world *world, const ecs_prefab_desc *list, size_t count, ecs_id *out) {
  struct nodes nodes = {NULL, NULL, NULL, count, 0, 0};
  if (!list || count == 0 || count > INDEX_LIMIT)
    return world_fail(world, ECS_EINVAL, "a prefab is declared by a list of it and its children");
  ecs_status status = measure(world, list, &nodes);
  if (status != ECS_OK) return status;
  const struct nodes all = nodes;
  bool ready = allocate(&world->memory, &nodes);
  status = ready ? fill(world, list, &nodes) : world_nomem(world);
  if (status == ECS_OK) status = prefab_declare(world, nodes.list, (uint32_t)count, out);
  nodes.part_count = all.part_count;
  nodes.write_count = all.write_count;
  release(&world->memory, &nodes);
  return status;
}

ecs_status ecs_instantiate(ecs_world *world, ecs_id prefab, const ecs_id *components, size_t n,
                           ecs_id *out) {
  struct part *parts = NULL;
  if (!entity_find(&world->entities, prefab)) return entity_need(world, prefab);
  if (!prefab_is(world, ecs_id_index(prefab)))
    return world_fail(world, ECS_EINVAL, "%e is no prefab: copy it with clone", prefab);
  ecs_status status = clone_find(world, prefab, CLONE_INSTANCE);
  if (status == ECS_OK) status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  clone_without_any(world);
  return clone_make(world, parts, (uint32_t)n, out);
}
