/* Prefabs: templates of entities, by name. A prefab is an entity, and so is each of its children,
** that queries pass over: it has the pair (Prefab, Prefab), which its table knows
** (table.hidden), and a pair (Prefab, C) for each component that it shares. What is made of it
** is tied to it by IsA. All that is said of it is so in its row, in ties and in names, and goes
** wherever these go. */
#ifndef ECS_CORE_ENTITY_PREFAB_H
#define ECS_CORE_ENTITY_PREFAB_H

#include "core/base/base.h"

struct part;

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

/* The same of the components that a node shares, but for those that its entity shares already. */
ecs_status prefab_mark_shared(ecs_world *world, ecs_id entity, const struct prefab_node *node);

/* That it cannot be despawned. Returns ECS_EINVAL. */
ecs_status prefab_refuse(const ecs_world *world, uint32_t entity);

#endif
