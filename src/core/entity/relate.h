/* Tying entities to each other: what entity.h does for components, with a target. Inside a scope
** these stage. */
#ifndef ECS_CORE_ENTITY_RELATE_H
#define ECS_CORE_ENTITY_RELATE_H

#include "core/base/base.h"

struct component;
struct write;

struct table;

/* Ties the entity to a living target and sets leaves of the relation; an exclusive one leaves its
** former target in the same step and keeps its other fields. `writes` do not name the target. */
ecs_status relate_add(ecs_world *world, ecs_id id, struct component *component, ecs_id target,
                      const struct write *writes, uint32_t count);

/* Unties it from one target, or, with ECS_NULL, from all. No effect when it is not tied. */
ecs_status relate_remove(ecs_world *world, ecs_id id, struct component *component,
                         ecs_id target);

/* "say to whom": for a call that ties without naming a target. Returns ECS_EINVAL. */
ecs_status relate_no_target(const ecs_world *world, const struct component *component);

/* Whether relate_set can be done for n entities: with ECS_OK it can for all. */
ecs_status relate_check_set(const ecs_world *world, const ecs_id *ids, size_t n,
                            const struct component *component, const struct write *writes,
                            uint32_t count);

/* entity_set of an exclusive relation, whose writes may name the target (ECS_NULL removes it).
** ECS_EINVAL for other relations, and when there is no target yet and none is given. */
ecs_status relate_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count);

/* Adds a pair by its id. One of an exclusive relation, where there is nothing but the tie to
** change, takes half of the time that it takes where there is more. */
ecs_status relate_add_pair(ecs_world *world, ecs_id id, ecs_id pair);

/* Adds or removes by an id: a pair's, or, to remove all, the relation's. */
ecs_status relate_change(ecs_world *world, ecs_id id, ecs_id relation, bool adds);

/* Whether it is tied to the target, or, with ECS_NULL, to any. */
bool relate_has(const ecs_world *world, ecs_id id, const struct component *component,
                ecs_id target);

/* The first target by its id; ECS_NULL for none. The next one behind `after`. */
ecs_id relate_target(const ecs_world *world, ecs_id id, const struct component *component);
ecs_id relate_next_target(const ecs_world *world, ecs_id id, const struct component *component,
                          ecs_id after);

/* Whether a table has pairs of a relation of several targets. O(log of its ids). */
bool relate_table_has(const struct table *table, const struct component *component);

/* The only pair of such a relation that a table has; ECS_NULL when it has none, or more. */
ecs_id relate_only_pair(const struct table *table, const struct component *component);

/* The target that writes give an exclusive relation; false, and nothing, when they give none. */
bool relate_given_target(const struct write *writes, uint32_t count, ecs_id *target);

/* Writes the sources of a target, at most `room` of them: by an exclusive relation in the order in
** which they were tied, else in query order. Prefabs are listed as children alone. Returns how many
** there are. */
size_t relate_sources(const ecs_world *world, ecs_id target, const struct component *component,
                      ecs_id *ids, size_t room);

#endif
