/* What the declaration of a prefab comes to while it is staged: whose node is about whom, and of
** what that will be made. */
#ifndef ECS_CORE_ENTITY_PREFAB_PLAN_H
#define ECS_CORE_ENTITY_PREFAB_PLAN_H

#include "core/entity/prefab.h"

/* How a node's entity comes about: it is made as its node says; it came as a copy with what its
** parent is made of; or it was there. */
enum plan_way { PLAN_MADE, PLAN_COPIED, PLAN_CHANGED };

/* A copy that is staged of a child of another prefab. */
struct prefab_copy {
  ecs_id id, parent;
  uint32_t source;
};

/* A node's entity, and what that will be made of; ECS_NULL for nothing. */
struct plan_made {
  ecs_id id, base;
  enum plan_way way;
};

/* The nodes, first the given ones, then children that are not said. */
struct prefab_plan {
  struct prefab_node *nodes;
  struct plan_made *made;    /* of each */
  uint32_t given;            /* how many of the nodes were given */
  uint32_t count, node_capacity, made_capacity;
  struct prefab_copy *copies;
  uint32_t copy_count, copy_capacity;
};

/* One node more, of which only that is known. */
ecs_status plan_add(ecs_world *world, struct prefab_plan *plan, const struct prefab_node *node);

/* The node of a child by its name; NONE. */
uint32_t plan_named(const struct prefab_plan *plan, uint32_t parent, ecs_string name);

/* For clone_find_but: that a node is to be made of another entity, whose children it gets but for
** those whose counterparts are said to be made of something else. */
struct plan_taking {
  const struct prefab_plan *plan;
  uint32_t at, base;         /* the node, and the entity */
};
bool plan_leaves_out(const ecs_world *world, uint32_t child, const void *taking);

/* What a node says of a component that is no relation; NULL. */
const struct part *plan_part(const struct prefab_node *node, ecs_id id);

/* Whether a list names an id. */
bool plan_lists(const ecs_id *ids, size_t count, ecs_id id);

/* Notes down what clone_make has staged, the root's copy under a parent. */
ecs_status plan_note_copies(ecs_world *world, struct prefab_plan *plan, ecs_id parent);

/* The node that is about an entity; NONE. */
uint32_t plan_find(const struct prefab_plan *plan, ecs_id entity);

/* Whom an entity leads to where what it will be made of leads to somebody: as in copies, to the one
** of its own that will be made of that; to the same where it has none. */
ecs_id plan_led_to(const ecs_world *world, const struct prefab_plan *plan, ecs_id entity,
                   ecs_id id);

void plan_free(ecs_world *world, struct prefab_plan *plan);

#endif
