/* Relations: components that tie an entity, the source, to another one, the target. A pair of a
** relation with several targets is an id that is in the source's table like a component. An
** exclusive relation, with at most one target, is a component whose first field is the target, and
** also lists the sources of each target (ties.h); it never splits tables by target. */
#ifndef ECS_CORE_RELATION_RELATION_H
#define ECS_CORE_RELATION_RELATION_H

#include "core/base/base.h"
#include "core/relation/ties.h"

struct component;

#define CHILD_OF "ChildOf"
#define IS_A "IsA"
#define PREFAB "Prefab"

struct relation {
  struct component *component;
  bool exclusive;
  bool acyclic;
  ecs_policy policy;
  struct ties ties;            /* of an exclusive relation */
};

/* ---- ids of pairs ---- */

static inline bool id_is_pair(ecs_id id) { return (id & PAIR_BIT) != 0; }

static inline uint32_t pair_relation(ecs_id pair) {
  return (uint32_t)(pair >> INDEX_BITS) & 0xFFFF;
}

static inline uint32_t pair_target(ecs_id pair) { return ecs_id_index(pair); }

/* Makes a pair's id from indices; in records of the graph, 0 stands for any. */
static inline ecs_id pair_make(uint32_t relation, uint32_t target) {
  assert(relation < FIRST_ENTITY && target < INDEX_LIMIT);
  return PAIR_BIT | (ecs_id)relation << INDEX_BITS | target;
}

/* ---- declared ---- */

/* Makes a component that will be registered a relation. Once it has an id it enters the list of
** relations, which then has room. */
ecs_status relation_new(ecs_world *world, struct component *component);
void relation_enter(ecs_world *world, struct component *component);

/* Removes the relation from the list: its component moves to another world. */
void relation_leave(ecs_world *world, const struct component *component);

/* Frees the relation before its component, which nothing has any longer. It may not have entered
** the list. */
void relation_free(ecs_world *world, struct component *component);

/* Unties everything; the second function then frees all relations and the list. */
void relations_clear(ecs_world *world);
void relations_free(ecs_world *world);

/* The relation of a pair's or component's id; NULL if it is not one. */
struct relation *relation_of(const ecs_world *world, ecs_id id);

/* Finds the component as a relation, or fails with "'Position' is not a relation, ...". */
ecs_status relation_need(const ecs_world *world, ecs_id id, struct relation **out);

/* ---- ties ---- */

/* The id of the target of an exclusive relation, or ECS_NULL. */
ecs_id relation_target(const ecs_world *world, const struct relation *relation, uint32_t source);

/* Whether the source may be tied to the target or, for 0, to none. ECS_ECYCLE, with the path in the
** message, if an acyclic relation would lead from the target back to the source; ECS_ETAKEN if
** another child has its name. */
ecs_status relation_check_way(const ecs_world *world, const struct relation *relation,
                              uint32_t source, uint32_t target);

/* The first writes an entity as messages show it: its id, and its name if that is short. The second
** writes a path from a source to a target that leads back: "a -> b -> ... -> a". They return the
** size of the whole text, which is cut where there is no room. */
size_t relation_tell_step(const ecs_world *world, uint32_t entity, char *text, size_t room);
void relation_tell_circle(const ecs_world *world, const struct relation *relation,
                          uint32_t source, uint32_t target, char *way, size_t room);

/* ties_link, ties_link_behind, ties_unlink and ties_retie for one relation of the world. */
void relation_link(ecs_world *world, struct relation *relation, uint32_t source,
                   uint32_t target);
void relation_link_behind(ecs_world *world, struct relation *relation, uint32_t source,
                          uint32_t target, uint32_t previous);
void relation_unlink(ecs_world *world, struct relation *relation, uint32_t source);
void relation_retie(ecs_world *world, struct relation *relation, uint32_t source,
                    uint32_t target);

/* Whether the entity is a source of any exclusive relation, or the target of any relation. */
bool relation_concerns(const ecs_world *world, uint32_t entity);

/* Whether any entity is tied to this one. */
bool relation_has_sources(const ecs_world *world, uint32_t target);

/* Unties all sources of one relation. */
void relation_clear(ecs_world *world, struct relation *relation);

/* Unties entities that die together with all their sources and targets; ties to and from others
** have been removed. */
void relation_drop(ecs_world *world, const uint32_t *entities, uint32_t count);

/* Unties the entity, whose row is about to be removed, from its targets. */
void relation_leave_row(ecs_world *world, uint32_t entity);

/* The invariants of relations. */

/* Part of ecs_check: ties go both ways, between living entities, and agree with the cells. */
ecs_status relations_check(const ecs_world *world);

/* The built-in relations: ChildOf for hierarchies, IsA for instances of prefabs, and Prefab, which
** marks prefabs and cannot be named by users (see entity/prefab.h). Each is declared when it is
** first named, so a world without them is as if they did not exist. */

/* Whether the name is that of a built-in relation, which users cannot declare. */
bool builtin_is(const char *name, size_t size);

/* Finds or declares the built-in relation of that name. ECS_ENAME for other names, with the message
** unchanged. */
ecs_status builtin_need(ecs_world *world, const char *name, size_t size, struct component **out);

/* Finds or declares the relation that marks prefabs. */
ecs_status builtin_prefab(ecs_world *world, struct component **out);

/* component_need for a text from a user, which may be the first to name a built-in relation. */
ecs_status component_need_or_builtin(ecs_world *world, const char *name, size_t size,
                                     struct component **out);

#endif
