/* Relations: components that tie an entity, the source, to another one, the target. A pair of a
** relation with several targets is an id that stands in the source's table like a component. An
** exclusive relation, of one target at most, is a component whose first field is the target, and
** keeps the way back (ties.h); it never splits tables by target. */
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
  struct ties ties;            /* of an exclusive one */
};

/* ---- ids of pairs ---- */

static inline bool id_is_pair(ecs_id id) { return (id & PAIR_BIT) != 0; }

static inline uint32_t pair_relation(ecs_id pair) {
  return (uint32_t)(pair >> INDEX_BITS) & 0xFFFF;
}

static inline uint32_t pair_target(ecs_id pair) { return ecs_id_index(pair); }

/* By indices; 0 stands for any, in the records of the graph. */
static inline ecs_id pair_make(uint32_t relation, uint32_t target) {
  assert(relation < FIRST_ENTITY && target < INDEX_LIMIT);
  return PAIR_BIT | (ecs_id)relation << INDEX_BITS | target;
}

/* ---- declared ---- */

/* Makes a component that is to be registered a relation. Once it has an id it enters the list of
** relations, for which there is room then. */
ecs_status relation_new(ecs_world *world, struct component *component);
void relation_enter(ecs_world *world, struct component *component);

/* Room in the list for more relations than there are. */
ecs_status relations_reserve(ecs_world *world, uint32_t more);

/* Takes the relation off the list: its component goes to another world. */
void relation_leave(ecs_world *world, const struct component *component);

/* Before the component goes; nothing has it any more. It may not have entered. */
void relation_free(ecs_world *world, struct component *component);

/* Unties everybody; then no relation is left and the list goes, too. */
void relations_clear(ecs_world *world);
void relations_free(ecs_world *world);

/* The relation that a pair's id, or a component's, is of; NULL for what is none. */
struct relation *relation_of(const ecs_world *world, ecs_id id);

/* The component as a relation, or "'Position' is not a relation; ...". */
ecs_status relation_need(const ecs_world *world, ecs_id id, struct relation **out);

/* ---- ties ---- */

/* The id of the exclusive target, ECS_NULL for none. */
ecs_id relation_target(const ecs_world *world, const struct relation *relation, uint32_t source);

/* Whether the source may be tied to the target, or, with 0, to nobody. ECS_ECYCLE with the way in
** the message when an acyclic relation would lead from the target back to the source; ECS_ETAKEN
** when another child has its name. */
ecs_status relation_check_way(const ecs_world *world, const struct relation *relation,
                              uint32_t source, uint32_t target);

/* An entity as messages show it: its id, and its name where that is a short one. And a way from a
** source to a target, which leads back: "a -> b -> ... -> a". The text is whole where there is
** room, and returned is its size. */
size_t relation_tell_step(const ecs_world *world, uint32_t entity, char *text, size_t room);
void relation_tell_circle(const ecs_world *world, const struct relation *relation,
                          uint32_t source, uint32_t target, char *way, size_t room);

/* ties_link, ties_link_behind, ties_unlink and ties_retie of one relation of the world. */
void relation_link(ecs_world *world, struct relation *relation, uint32_t source,
                   uint32_t target);
void relation_link_behind(ecs_world *world, struct relation *relation, uint32_t source,
                          uint32_t target, uint32_t previous);
void relation_unlink(ecs_world *world, struct relation *relation, uint32_t source);
void relation_retie(ecs_world *world, struct relation *relation, uint32_t source,
                    uint32_t target);

/* Whether the entity is anybody's source by an exclusive relation, or anybody's target. */
bool relation_concerns(const ecs_world *world, uint32_t entity);

/* Whether anybody is tied to the entity. */
bool relation_has_sources(const ecs_world *world, uint32_t target);

/* Unties all sources of one relation. */
void relation_clear(ecs_world *world, struct relation *relation);

/* Unties entities that die together, with all their sources and targets: ties to and from others
** are gone. */
void relation_drop(ecs_world *world, const uint32_t *entities, uint32_t count);

/* Unties the entity, whose row is about to go, from its targets. */
void relation_leave_row(ecs_world *world, uint32_t entity);

/* The invariants of relations. */

/* Part of ecs_check: ties go both ways, between living entities, and are what cells say. */
ecs_status relations_check(const ecs_world *world);

/* Whether no way along it leads back to where it began. */
bool relation_is_acyclic(const struct relation *relation);

/* The relations that every world has: ChildOf, for hierarchies, IsA, for what is made of prefabs,
** and Prefab, which marks these and which nobody else can name (see prefab.h). They are declared
** when they are first named, so that a world without them is as it would be if they did not
** exist. */

/* Whether the name is one of theirs: nobody else can declare it. */
bool builtin_is(const char *name, size_t size);

/* The relation of that name, declared if it is not yet. ECS_ENAME for other names, with the
** message untouched. */
ecs_status builtin_need(ecs_world *world, const char *name, size_t size, struct component **out);

/* What marks prefabs, declared if it is not yet. */
ecs_status builtin_prefab(ecs_world *world, struct component **out);

/* component_need for a text that somebody has written: it may name one of these for the first
** time. */
ecs_status component_need_or_builtin(ecs_world *world, const char *name, size_t size,
                                     struct component **out);

#endif
