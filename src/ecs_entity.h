/* Entities, their components, ties and names; scopes, which keep structural changes. */
#ifndef ECS_ENTITY_H
#define ECS_ENTITY_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Components get their defaults. Inside a scope (see below) the entity is alive at once
** and gets its components when the scope ends. */
ECS_API ecs_status ecs_spawn(ecs_world *world, const ecs_id *components, size_t n,
                             ecs_id *out);

/* count entities at once; ids may be NULL or room for count ids. */
ECS_API ecs_status ecs_spawn_many(ecs_world *world, size_t count, const ecs_id *components,
                                  size_t n, ecs_id *ids);

/* Adopts an id decided elsewhere. ECS_ETAKEN when its slot is in use. */
ECS_API ecs_status ecs_spawn_at(ecs_world *world, ecs_id id, const ecs_id *components,
                                size_t n);
/* Copies an entity with its children by ChildOf, theirs, and so on: values, ties to others, what is
** switched off; the copies' references to each other, by ties and entity fields, are like those of
** their sources. Others' ties to the sources are not copied. The copy of `entity`, which is *out,
** has no name, the others keep theirs. It gets the components, too, with defaults where it lacks
** them. Copies have no values in `any` fields, which only scripts know. What is staged is not
** looked at; all is copied, or nothing. */
ECS_API ecs_status ecs_clone(ecs_world *world, ecs_id entity, const ecs_id *components, size_t n,
                             ecs_id *out);

/* An entity of a prefab's declaration. */
typedef struct ecs_prefab_desc {
  const char *name;            /* of a child it may be NULL */
  ecs_id is_a;                 /* another prefab, whose components and children it has, too */
  const ecs_id *components;    /* what it has, shared ones and pairs among them */
  const void *const *values;   /* their structs; NULL, as each of them may be, for defaults */
  uint32_t component_count;
  const ecs_id *shared;        /* components that what is made of it reads by paths along IsA */
  uint32_t shared_count;
  uint32_t parent;             /* of a child: whose, by its place in the list, before its own */
} ecs_prefab_desc;

/* Declares a prefab, a template that queries do not see and that cannot be despawned, by its name:
** list[0] is the prefab itself, the others are its children. Declared again, it changes: what is
** made of it follows in fields that still have the old value, and gets components that were added;
** ties, children in their order and what is dropped hold for what is made from now on. Nothing else
** becomes a child of it (ECS_EINVAL). All of it, or nothing.
** ECS_ETAKEN when an entity has the name, ECS_EBUSY inside scopes unless the name is new. */
ECS_API ecs_status ecs_prefab(ecs_world *world, const ecs_prefab_desc *list, size_t count,
                              ecs_id *out);

/* Copies a prefab, as ecs_clone copies entities: each copy is tied by IsA to what it is a copy of,
** and does not have what that one shares. ECS_EINVAL for an entity that is no prefab. */
ECS_API ecs_status ecs_instantiate(ecs_world *world, ecs_id prefab, const ecs_id *components,
                                   size_t n, ecs_id *out);
ECS_API ecs_status ecs_despawn(ecs_world *world, ecs_id entity);

/* No effect when it is there already. What it requires comes with it, with defaults, as in all
** that adds. */
ECS_API ecs_status ecs_add(ecs_world *world, ecs_id entity, ecs_id component);
/* No effect when it is absent. ECS_EINVAL, naming both, while a component that the entity has
** requires it; inside a scope that is told by what ends it (see below). */
ECS_API ecs_status ecs_remove(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API bool ecs_has(const ecs_world *world, ecs_id entity, ecs_id component);

/* Switches a component on or off that is declared with `toggle`. Its value stays, and ecs_has,
** ecs_get and ecs_set see it as before; to queries an entity that has it off is without it, unless
** they ask for `C:off` or `C:any`. What is added is on. No effect on an entity without it. */
ECS_API ecs_status ecs_enable(ecs_world *world, ecs_id entity, ecs_id component);
ECS_API ecs_status ecs_disable(ecs_world *world, ecs_id entity, ecs_id component);

/* Whether the entity has it, and not off. */
ECS_API bool ecs_enabled(const ecs_world *world, ecs_id entity, ecs_id component);

/* value points to the component's struct: the host's own, or laid out by C's rules. Adds
** the component when it is absent. ECS_ERANGE names an enum or id that is none. */
ECS_API ecs_status ecs_set(ecs_world *world, ecs_id entity, ecs_id component,
                           const void *value);
/* Fills the struct. ECS_EABSENT when the entity does not have it. */
ECS_API ecs_status ecs_get(const ecs_world *world, ecs_id entity, ecs_id component,
                           void *value);

/* One cell of a column, or NULL; valid until the next structural change. To ask for it counts as
** writing to it (`:changed`); ecs_get does not. leaf counts the component's fields with arrays and
** nested components flattened. */
ECS_API void *ecs_cell_of(const ecs_world *world, ecs_id entity, ecs_id component,
                          uint32_t leaf);

/* The component and the leaf that a path names: "Position.x", "Body.m[2]", "Body.at.x".
** ECS_ENAME says what to write instead. Other fields (a migration) may have other leaves. */
ECS_API ecs_status ecs_leaf(const ecs_world *world, const char *path, ecs_id *component,
                            uint32_t *leaf);

/* ecs_cell_of by a path; NULL with a message that says why. Loops do better with ecs_leaf
** before them. */
ECS_API void *ecs_cell_named(const ecs_world *world, ecs_id entity, const char *path);

/* The target of an exclusive relation, the first one by its index of another; ECS_NULL when there
** is none. ecs_next_target gives the one behind `after`. */
ECS_API ecs_id ecs_target(const ecs_world *world, ecs_id source, ecs_id relation);
ECS_API ecs_id ecs_next_target(const ecs_world *world, ecs_id source, ecs_id relation,
                               ecs_id after);

/* Those that are tied to the target, prefabs as children alone: of an exclusive relation as they
** were tied, else in query order. Writes at most `room` of them; returns how many there are. */
ECS_API size_t ecs_sources(const ecs_world *world, ecs_id target, ecs_id relation, ecs_id *ids,
                           size_t room);

/* The relation ChildOf, of which every world has one: exclusive, without circles; children keep
** their order and die with their parent. ecs_children gives those of an entity as ecs_sources
** does. */
ECS_API ecs_status ecs_child_of(ecs_world *world, ecs_id *out);
ECS_API size_t ecs_children(const ecs_world *world, ecs_id parent, ecs_id *ids, size_t room);

/* Names are unique among the children of one parent, and among those without one; NULL clears. In a
** scope a name is kept, and checked against the parent that the entity has when it applies. */
ECS_API ecs_status ecs_name(ecs_world *world, ecs_id entity, const char *name);
ECS_API const char *ecs_name_of(const ecs_world *world, ecs_id entity);
ECS_API ecs_id ecs_lookup(const ecs_world *world, const char *name);

/* While a scope is open, structural changes are kept and applied in order when the outermost
** one ends, several on one entity as one move. Systems and iterations open one themselves.
** ecs_commit on ECS_ENOMEM leaves the scope open; ecs_cancel drops its changes, and does the same
** when what others left to be applied by it finds no memory. A change that turns out to be
** impossible (removing what the entity, with all its changes, still requires; a taken name) is
** dropped, the others are applied, and the first such failure is what ecs_commit, ecs_iter_close or
** the system returns; the scope has ended then. */
ECS_API ecs_status ecs_defer(ecs_world *world);
ECS_API ecs_status ecs_commit(ecs_world *world);
ECS_API ecs_status ecs_cancel(ecs_world *world);

#ifdef __cplusplus
}
#endif

#endif
