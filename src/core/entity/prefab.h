/* Prefabs: templates of entities, by name. A prefab is an entity hidden from queries, and so is
** each of its children: it has the pair (Prefab, Prefab), which marks its table (table.hidden), and
** a pair (Prefab, C) for each component that it shares. Instances are tied to it by IsA. Everything
** about a prefab is in rows, ties and names, and is saved, copied and undone with them. */
#ifndef ECS_CORE_ENTITY_PREFAB_H
#define ECS_CORE_ENTITY_PREFAB_H

#include "core/base/hash_map.h"

struct part;
struct relation;

/* An entity of a declaration: the prefab first, then its children, each after its parent. */
struct prefab_node {
  uint32_t parent;           /* a node; unused in the first one */
  ecs_string name;           /* of a child; may be empty */
  ecs_id is_a;               /* its base, a prefab; or ECS_NULL */
  const struct part *parts;  /* no component twice, except in pairs */
  uint32_t part_count;
  const ecs_id *shared;      /* components that instances do not get copies of */
  uint32_t shared_count;
  bool partial;              /* its any values, entities and ties are unknown: existing ones stay */
  bool keeps_base;           /* its base stays, too */
};

/* Declares a prefab. An existing one changes: its instances follow in fields that still have the
** old value, and get added components; ties, any values, children and removed components apply only
** to later instances. Children are matched by name or, without one, by order. Applies as a whole
** or, on failure, not at all. Inside scopes only a new name can be declared (ECS_EBUSY). With
** ECS_OK, any slots in the writes belong to the world. */
ecs_status prefab_declare(ecs_world *world, const struct prefab_node *nodes, uint32_t count,
                          ecs_id *out);

/* Finds the prefab, or child of one, at the end of a path, or fails with "there is no prefab 'x'
** (did you mean 'y'?)". The second checks whether an id is that of one. */
ecs_status prefab_need(const ecs_world *world, const char *path, size_t size, ecs_id *out);
ecs_status prefab_need_id(const ecs_world *world, ecs_id id);

/* Whether the living entity is a prefab, or a child of one. */
bool prefab_is(const ecs_world *world, uint32_t entity);

/* Whether an entity is a prefab, or will be at the end of a scope; false for the dead. */
bool prefab_is_or_comes(const ecs_world *world, ecs_id entity);

/* Whether a prefab's child was inherited from its parent's base. */
bool prefab_inherits(const ecs_world *world, uint32_t child);

/* Whether instances of a prefab read the component along IsA. */
bool prefab_shares(const ecs_world *world, uint32_t entity, ecs_id component);

/* Stages the mark of a prefab in reserved room. */
ecs_status prefab_mark(ecs_world *world, ecs_id entity);

/* Stages the marks of a node's shared components, except those that are there. */
ecs_status prefab_mark_shared(ecs_world *world, ecs_id entity, const struct prefab_node *node);

/* Fails because it cannot be despawned. Returns ECS_EINVAL. */
ecs_status prefab_refuse(const ecs_world *world, uint32_t entity);

/* The state of a declaration while it is staged: the entity and base of each node. */

/* How a node's entity comes about: made as its node says, copied with its parent's base, or already
** there. */
enum plan_way { PLAN_MADE, PLAN_COPIED, PLAN_CHANGED };

/* A staged copy of a child of another prefab. */
struct prefab_copy {
  ecs_id id, parent;
  uint32_t source;
};

/* A node's entity, and its base or ECS_NULL. */
struct plan_made {
  ecs_id id, base;
  enum plan_way way;
  uint32_t alike, led;       /* the node that was found by the same key before: see names */
  uint32_t last;             /* the last existing child without a name that a node has got */
};

/* The nodes: first the given ones, then implied children. */
struct prefab_plan {
  struct prefab_node *nodes;
  struct plan_made *made;    /* for each node */
  uint32_t given;            /* number of given nodes */
  uint32_t count, node_capacity, made_capacity;
  struct map names;          /* the last node of a name and parent; of those with is_a, of a name */
  struct map ids;            /* the node of an entity */
  struct prefab_copy *copies;
  uint32_t copy_count, copy_capacity;
};

/* Adds a node described by `node` alone. */
ecs_status plan_add(ecs_world *world, struct prefab_plan *plan, const struct prefab_node *node);

/* The node of a child by its name, or NONE. */
uint32_t plan_named(const struct prefab_plan *plan, uint32_t parent, ecs_string name);

/* Whether an earlier node has the same name and parent. */
bool plan_is_named_again(const struct prefab_plan *plan, uint32_t at);

/* For clone_find_but: a node that gets another base, and with it the children of that base, except
** those whose counterparts have another base. */
struct plan_taking {
  const struct prefab_plan *plan;
  uint32_t at, base;         /* the node and its base */
};
bool plan_leaves_out(const ecs_world *world, uint32_t child, const void *taking);

/* Records what clone_make has staged, with the root's copy under a parent. */
ecs_status plan_note_copies(ecs_world *world, struct prefab_plan *plan, ecs_id parent);

/* Gives a node its entity, unless that is ECS_NULL. */
void plan_give(struct prefab_plan *plan, uint32_t at, ecs_id entity);

/* The node of an entity, or NONE. */
uint32_t plan_find(const struct prefab_plan *plan, ecs_id entity);

void plan_free(ecs_world *world, struct prefab_plan *plan);

/* The ties of a redeclared prefab: those of its nodes, and those of its base, which lead as they
** would in copies. */

/* Stages the end of a node's exclusive ties that will lead elsewhere, IsA among them. All of them
** end before any is made, so that none forms a cycle on the way. */
ecs_status prefab_end_ties(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Redeclared prefabs and their instances. */

/* Stages what turns an existing prefab into what its node and its new base say. For the first node
** also updates all instances: they get added components, and new values in fields that still equal
** those of the entity they were made from, if these change. References inside its tree lead the
** same way in theirs. All nodes must have their entities. */
ecs_status prefab_update(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Redirects references of staged copies inside their tree, as in the sources; what their nodes say
** is set later. */
ecs_status prefab_lead_copies(ecs_world *world, const struct prefab_plan *plan);

/* The parent's child whose base is `source`; 0 if there is none. */
uint32_t prefab_child_made_of(const ecs_world *world, uint32_t parent, uint32_t source);

/* Unused strings. */

/* Sweeps the string table if that is due; called at the end of everything that stores strings. */
void world_settle(ecs_world *world);

#endif
