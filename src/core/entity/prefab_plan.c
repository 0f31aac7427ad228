#include "core/entity/prefab.h"

#include "core/base/text.h"
#include "core/entity/clone.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"

static uint32_t prefab_plan_parent_of(const ecs_world *world, uint32_t entity) {
  return ties_target(&world->relations.child_of->ties, entity);
}

ecs_status plan_add(ecs_world *world, struct prefab_plan *plan, const struct prefab_node *node) {
  struct memory *memory = &world->memory;
  uint64_t count = plan->count + 1ull;
  if (!GROW(memory, plan->nodes, plan->node_capacity, count) ||
      !GROW(memory, plan->made, plan->made_capacity, count))
    return world_nomem(world);
  plan->nodes[plan->count] = *node;
  plan->made[plan->count++] = (struct plan_made){ECS_NULL, ECS_NULL, PLAN_MADE};
  return ECS_OK;
}

void plan_free(ecs_world *world, struct prefab_plan *plan) {
  struct memory *memory = &world->memory;
  FREE_LIST(memory, plan->nodes, plan->node_capacity);
  FREE_LIST(memory, plan->made, plan->made_capacity);
  FREE_LIST(memory, plan->copies, plan->copy_capacity);
}

uint32_t plan_named(const struct prefab_plan *plan, uint32_t parent, ecs_string name) {
  for (uint32_t i = 1; i < plan->count && name.size; i++) {
    const struct prefab_node *node = &plan->nodes[i];
    if (node->parent == parent && text_same(node->name, name)) return i;
  }
  return NONE;
}

/* Whether the path down from the node has the same names as that from the entity. */
static bool prefab_plan_is_counterpart(const ecs_world *world, const struct plan_taking *taking,
                                       uint32_t node, uint32_t child) {
  const struct prefab_plan *plan = taking->plan;
  while (node != taking->at && child != taking->base) {
    ecs_string name = name_of(world, entity_id(&world->entities, child));
    if (!node || !child || name.size == 0 || !text_same(name, plan->nodes[node].name))
      return false;
    node = plan->nodes[node].parent;
    child = prefab_plan_parent_of(world, child);
  }
  return node == taking->at && child == taking->base;
}

bool plan_leaves_out(const ecs_world *world, uint32_t child, const void *ud) {
  const struct plan_taking *taking = ud;
  const struct prefab_plan *plan = taking->plan;
  for (uint32_t i = 1; i < plan->count; i++)
    if (plan->nodes[i].is_a != ECS_NULL && ecs_id_index(plan->nodes[i].is_a) != child &&
        prefab_plan_is_counterpart(world, taking, i, child))
      return true;
  return false;
}

const struct part *plan_part(const struct prefab_node *node, ecs_id id) {
  for (uint32_t i = 0; i < node->part_count; i++)
    if (node->parts[i].component->id == id) return &node->parts[i];
  return NULL;
}

bool plan_lists(const ecs_id *ids, size_t count, ecs_id id) {
  for (size_t i = 0; i < count; i++)
    if (ids[i] == id) return true;
  return false;
}

ecs_status plan_note_copies(ecs_world *world, struct prefab_plan *plan, ecs_id parent) {
  const struct clone *clone = world->clone;
  if (!GROW(&world->memory, plan->copies, plan->copy_capacity,
            plan->copy_count + (uint64_t)clone->count))
    return world_nomem(world);
  for (uint32_t i = 0; i < clone->count; i++) {
    uint32_t source = clone->sources[i];
    ecs_id above =
        i ? clone->ids[map_get(&clone->places, prefab_plan_parent_of(world, source))]
          : parent;
    plan->copies[plan->copy_count++] = (struct prefab_copy){clone->ids[i], above, source};
  }
  return ECS_OK;
}

uint32_t plan_find(const struct prefab_plan *plan, ecs_id entity) {
  for (uint32_t i = 0; i < plan->count; i++)
    if (plan->made[i].id == entity) return i;
  return NONE;
}

static const struct prefab_copy *prefab_plan_find_copy(const struct prefab_plan *plan,
                                                       ecs_id entity) {
  for (uint32_t i = 0; i < plan->copy_count; i++)
    if (plan->copies[i].id == entity) return &plan->copies[i];
  return NULL;
}

/* The future base of an entity, or 0. */
static uint32_t prefab_plan_base_of(const ecs_world *world,
                                    const struct prefab_plan *plan, ecs_id entity) {
  uint32_t node = plan_find(plan, entity);
  const struct prefab_copy *copy = prefab_plan_find_copy(plan, entity);
  if (node != NONE) return ecs_id_index(plan->made[node].base);
  return copy ? copy->source : ties_target(&world->relations.is_a->ties, ecs_id_index(entity));
}

/* Whether a node exists because of its parent's base: that has a child of the same name, or one
** without a name that is made again. */
static bool prefab_plan_is_inherited(const ecs_world *world, const struct prefab_plan *plan,
                                     uint32_t at) {
  const struct prefab_node *node = &plan->nodes[at];
  return node->is_a == ECS_NULL || text_same(node->name, name_of(world, node->is_a));
}

/* The future parent of an entity that is a child's counterpart in a base; or ECS_NULL. */
static ecs_id prefab_plan_parent_to_be(const ecs_world *world, const struct prefab_plan *plan,
                                       ecs_id entity) {
  uint32_t node = plan_find(plan, entity);
  const struct prefab_copy *copy = prefab_plan_find_copy(plan, entity);
  if (node != NONE)
    return node && prefab_plan_is_inherited(world, plan, node)
               ? plan->made[plan->nodes[node].parent].id
               : ECS_NULL;
  return copy ? copy->parent : ECS_NULL;
}

/* The child whose future base is another entity; or ECS_NULL. */
static ecs_id prefab_plan_child_for(const ecs_world *world, const struct prefab_plan *plan,
                                    ecs_id parent, uint32_t source) {
  for (uint32_t i = 1; i < plan->count; i++)
    if (plan->made[plan->nodes[i].parent].id == parent &&
        ecs_id_index(plan->made[i].base) == source && prefab_plan_is_inherited(world, plan, i))
      return plan->made[i].id;
  for (uint32_t i = 0; i < plan->copy_count; i++)
    if (plan->copies[i].parent == parent && plan->copies[i].source == source)
      return plan->copies[i].id;
  uint32_t child = prefab_child_made_of(world, ecs_id_index(parent), source);
  ecs_id id = child ? entity_id(&world->entities, child) : ECS_NULL;
  return plan_find(plan, id) == NONE ? id : ECS_NULL;
}

ecs_id plan_led_to(const ecs_world *world, const struct prefab_plan *plan, ecs_id entity,
                   ecs_id id) {
  const struct ties *child_of = &world->relations.child_of->ties;
  uint32_t top = prefab_plan_base_of(world, plan, entity), above;
  ecs_id target = entity_target(world, id), parent;
  if (target == ECS_NULL) return id;
  while ((above = prefab_plan_parent_of(world, top)) != 0 &&
         (parent = prefab_plan_parent_to_be(world, plan, entity)) != ECS_NULL &&
         prefab_plan_base_of(world, plan, parent) == above) {
    entity = parent;
    top = above;
  }
  uint32_t depth = ties_steps(child_of, ecs_id_index(target), top);
  if (depth == NONE) return id;
  for (; depth > 0 && entity != ECS_NULL; depth--)
    entity = prefab_plan_child_for(world, plan, entity,
                                   ties_walk(child_of, ecs_id_index(target), depth - 1));
  return entity != ECS_NULL ? entity : id;
}
