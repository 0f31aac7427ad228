/* Prefabs: templates of entities, by name. A prefab is an entity, and so is each of its children,
** that queries pass over: it has the pair (Prefab, Prefab), which its table knows
** (table.hidden), and a pair (Prefab, C) for each component that it shares. What is made of it
** is tied to it by IsA. All that is said of it is so in its row, in ties and in names, and goes
** wherever these go. */
#ifndef ECS_CORE_ENTITY_PREFAB_H
#define ECS_CORE_ENTITY_PREFAB_H

#include "core/base/base.h"

struct part;
struct relation;

/* One of the entities that a declaration says: the prefab itself first, then its children, each
** behind its parent. */
struct prefab_node {
  uint32_t parent;           /* among the nodes; of the first one nothing */
  ecs_string name;           /* of a child: may be empty */
  ecs_id is_a;               /* the prefab that it is made of; ECS_NULL for none */
  const struct part *parts;  /* no component twice, but for pairs */
  uint32_t part_count;
  const ecs_id *shared;      /* components that what is made of it does not have copies of */
  uint32_t shared_count;
  bool partial;              /* its any values, entities and ties to entities are not known: those
                             ** that there are stay */
  bool keeps_base;           /* nor is what it is made of */
};

/* Declares a prefab. One that there is already changes: what is made of it follows in fields that
** still have the old value, and gets components that were added; ties, any values, children and
** what is dropped hold for what is made from now on. Children are found again by their names, those
** without one by their order. All of it, or, when it fails, nothing. Inside scopes only a new name
** can be declared (ECS_EBUSY). On ECS_OK any slots in the writes are the world's. */
ecs_status prefab_declare(ecs_world *world, const struct prefab_node *nodes, uint32_t count,
                          ecs_id *out);

/* The prefab, or child of one, at the end of a path, with "there is no prefab 'x' (did you mean
** 'y'?)" on failure. And whether an id is that of one. */
ecs_status prefab_need(const ecs_world *world, const char *path, size_t size, ecs_id *out);
ecs_status prefab_need_id(const ecs_world *world, ecs_id id);

/* Whether the living entity is a prefab, or a child of one. */
bool prefab_is(const ecs_world *world, uint32_t entity);

/* Whether an entity is one, or will be at the end of a scope; false for the dead. */
bool prefab_is_or_comes(const ecs_world *world, ecs_id entity);

/* Whether a prefab's child came with what its parent is made of. */
bool prefab_inherits(const ecs_world *world, uint32_t child);

/* Whether what is made of a prefab reads the component along IsA. */
bool prefab_shares(const ecs_world *world, uint32_t entity, ecs_id component);

/* Stages that an entity is a prefab; there is room. */
ecs_status prefab_mark(ecs_world *world, ecs_id entity);

/* Stages that a node shares its components, but for those that its entity shares already. */
ecs_status prefab_mark_shared(ecs_world *world, ecs_id entity, const struct prefab_node *node);

/* That it cannot be despawned. Returns ECS_EINVAL. */
ecs_status prefab_refuse(const ecs_world *world, uint32_t entity);

/* What the declaration of a prefab comes to while it is staged: whose node is about whom, and of
** what that will be made. */

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

/* Ties of a prefab that is declared again: those that it says, and those that what it is made of
** has, which lead as they would in copies. */

/* Whether a node's entity, which has the tie, is to have it. */
bool prefab_keeps_tie(const ecs_world *world, const struct prefab_plan *plan, uint32_t at,
                      const struct relation *relation, ecs_id id);

/* Stages the end of its exclusive ties that are to lead elsewhere, what it is made of among them:
** all of these end before any is made, so that none goes in a circle on the way. */
ecs_status prefab_end_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Stages the ties that it is to have. */
ecs_status prefab_stage_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Lets the ties of a copy that is staged lead as the whole of what it is copied from leads, or, by
** an exclusive relation, as its node says. */
ecs_status prefab_lead_ties(ecs_world *world, const struct prefab_plan *plan,
                            const struct prefab_copy *copy);

/* A prefab that is declared again, and what is made of it. */

/* Stages what brings a prefab that there is to what its node says, and what it is made of from now
** on has; and, of the first node, all that are made of it: in fields that have the value which the
** prefab they are made of had, while that one follows, too; and with components that were added.
** What leads from one of its tree to another leads so in theirs. All nodes have their entities. */
ecs_status prefab_update(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Lets copies that are staged lead as the whole of what they are copied from leads; then what their
** nodes say is to come. */
ecs_status prefab_lead_copies(ecs_world *world, const struct prefab_plan *plan);

/* The child that is made of another entity; 0 for none. */
uint32_t prefab_child_made_of(const ecs_world *world, uint32_t parent, uint32_t source);

/* Texts that nothing names any more. */

/* Sweeps the string table when that is due; called at the end of what stores strings. */
void world_settle(ecs_world *world);

#endif
