/* Entities, their components, ties and names; scopes, which defer structural changes. */
#ifndef ECS_ENTITY_H
#define ECS_ENTITY_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Components get their defaults. Inside a scope (see below) the entity is alive at once and gets
** its components when the scope ends. */
ECS_API ecs_status ecs_spawn(ecs_world *world, const ecs_id *components, size_t n,
                             ecs_id *out);

/* Spawns count entities at once; ids is NULL or has room for count ids. */
ECS_API ecs_status ecs_spawn_many(ecs_world *world, size_t count, const ecs_id *components,
                                  size_t n, ecs_id *ids);

/* Spawns an entity with an id chosen elsewhere. ECS_ETAKEN if its slot is in use. */
ECS_API ecs_status ecs_spawn_at(ecs_world *world, ecs_id id, const ecs_id *components,
                                size_t n);
/* Copies an entity with all its descendants by ChildOf: values, ties to others, what is switched
** off. References among the sources, by ties and entity fields, become references among the copies.
** Others' ties to the sources are not copied. The copy of `entity`, *out, has no name; the others
** keep theirs. It also gets the given components, with defaults for those it lacks. Copies have no
** values in `any` fields, which only scripts know. Deferred changes are not considered; everything
** is copied, or nothing. */
ECS_API ecs_status ecs_clone(ecs_world *world, ecs_id entity, const ecs_id *components, size_t n,
                             ecs_id *out);

/* One entity in the declaration of a prefab. */
typedef struct ecs_prefab_desc {
  const char *name;            /* NULL is allowed for a child */
  ecs_id is_a;                 /* another prefab, whose components and children it gets too */
  const ecs_id *components;    /* its components, shared ones and pairs included */
  const void *const *values;   /* their structs; NULL, for all or for one, means defaults */
  uint32_t component_count;
  const ecs_id *shared;        /* components that its instances read by paths along IsA */
  uint32_t shared_count;
  uint32_t parent;             /* for a child: its parent's place in the list, before its own */
} ecs_prefab_desc;

/* Declares a prefab, a template that queries do not see and that cannot be despawned: list[0] is
** the prefab itself, known by its name, the others are its children. When it is declared again, its
** instances follow in fields that still have the old value, and gain added components; changes of
** ties, of the order of children and removals apply only to later instances. Nothing else can
** become a child of it (ECS_EINVAL). ECS_ETAKEN if an entity has the name, ECS_EBUSY inside scopes
** unless the name is new. A call that fails changes nothing. */
ECS_API ecs_status ecs_prefab(ecs_world *world, const ecs_prefab_desc *list, size_t count,
                              ecs_id *out);

/* Copies a prefab, as ecs_clone copies entities: each copy is tied by IsA to its source and does
** not have the components that the source shares. ECS_EINVAL if the entity is not a prefab. */
ECS_API ecs_status ecs_instantiate(ecs_world *world, ecs_id prefab, const ecs_id *components,
                                   size_t n, ecs_id *out);
ECS_API ecs_status ecs_despawn(ecs_world *world, ecs_id entity);

/* Does nothing if the entity has it already. What it requires is added too, with defaults, as by
** every function that adds. */
ECS_API ecs_status ecs_add(ecs_world *world, ecs_id entity, ecs_id component);
/* Does nothing if the entity lacks it. ECS_EINVAL, naming both, while a component of the entity
** requires it; inside a scope, the call that ends the scope reports this (see below). */
ECS_API ecs_status ecs_remove(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API bool ecs_has(const ecs_world *world, ecs_id entity, ecs_id component);

/* Switches a component that is declared with `toggle` on or off. Its value stays, and ecs_has,
** ecs_get and ecs_set work as before; queries treat the entity as if it lacked the component,
** unless they ask for `C:off` or `C:any`. A component is on when it is added. Does nothing if the
** entity lacks it. */
ECS_API ecs_status ecs_enable(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API ecs_status ecs_disable(ecs_world *world, ecs_id entity, ecs_id component);

/* Whether the entity has the component, switched on. */
ECS_API bool ecs_enabled(const ecs_world *world, ecs_id entity, ecs_id component);

/* value points to the component's struct: the host's own, or laid out by C's rules. Adds the
** component if the entity lacks it. ECS_ERANGE if an enum or id in it is not valid. */
ECS_API ecs_status ecs_set(ecs_world *world, ecs_id entity, ecs_id component,
                           const void *value);
/* Fills the struct. ECS_EABSENT if the entity does not have the component. */
ECS_API ecs_status ecs_get(const ecs_world *world, ecs_id entity, ecs_id component,
                           void *value);

/* One cell of a column, or NULL; valid until the next structural change. Calling it counts as a
** write (`:changed`); ecs_get does not. leaf counts the component's fields with arrays and nested
** components flattened. */
ECS_API void *ecs_cell_of(const ecs_world *world, ecs_id entity, ecs_id component,
                          uint32_t leaf);

/* The component and the leaf that a path names: "Position.x", "Body.m[2]", "Body.at.x". ECS_ENAME
** says what to write instead. A migration may renumber the leaves. */
ECS_API ecs_status ecs_leaf(const ecs_world *world, const char *path, ecs_id *component,
                            uint32_t *leaf);

/* ecs_cell_of by a path; NULL with a message on failure. In loops, call ecs_leaf once
** beforehand. */
ECS_API void *ecs_cell_named(const ecs_world *world, ecs_id entity, const char *path);

/* The target of an exclusive relation, or the first target, by index, of any other; ECS_NULL if
** there is none. ecs_next_target gives the one after `after`. */
ECS_API ecs_id ecs_target(const ecs_world *world, ecs_id source, ecs_id relation);
ECS_API ecs_id ecs_next_target(const ecs_world *world, ecs_id source, ecs_id relation,
                               ecs_id after);

/* The entities tied to the target (prefabs only as children): for an exclusive relation in the
** order in which they were tied, otherwise in query order. Writes at most `room` of them and
** returns how many there are. */
ECS_API size_t ecs_sources(const ecs_world *world, ecs_id target, ecs_id relation, ecs_id *ids,
                           size_t room);

/* The relation ChildOf, which every world has: exclusive and acyclic; children keep their order and
** die with their parent. ecs_children gives the children of an entity as ecs_sources does. */
ECS_API ecs_status ecs_child_of(ecs_world *world, ecs_id *out);
ECS_API size_t ecs_children(const ecs_world *world, ecs_id parent, ecs_id *ids, size_t room);

/* A name is unique among the children of one parent, or among entities without a parent; NULL
** clears it. Inside a scope the name is deferred, and checked against the parent that the entity
** has when the scope ends. */
ECS_API ecs_status ecs_name(ecs_world *world, ecs_id entity, const char *name);
ECS_API const char *ecs_name_of(const ecs_world *world, ecs_id entity);
ECS_API ecs_id ecs_lookup(const ecs_world *world, const char *name);

/* While a scope is open, structural changes are deferred; when the outermost scope ends they are
** applied in order, several on one entity as a single move. Systems and iterations open a scope
** themselves. If ecs_commit returns ECS_ENOMEM the scope stays open; ecs_cancel drops its changes,
** and likewise leaves it open if there is no memory to apply changes that others left in it. A
** change that turns out to be impossible (removing what the entity, with all its changes, still
** requires; a name in use) is dropped and the others are applied; ecs_commit, ecs_iter_close or the
** system returns the first such failure, and the scope has ended. */
ECS_API ecs_status ecs_defer(ecs_world *world);
ECS_API ecs_status ecs_commit(ecs_world *world);
ECS_API ecs_status ecs_cancel(ecs_world *world);

#ifdef __cplusplus
}
#endif

#endif
