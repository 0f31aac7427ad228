/* Requirements: what an entity has because it has something else. The ids of every table include
** all that its components require, so that who goes along an edge of the graph need not ask. */
#ifndef ECS_CORE_STORAGE_REQUIRE_H
#define ECS_CORE_STORAGE_REQUIRE_H

#include "core/base/base.h"

struct table;

/* Why a relation cannot be required; to be formatted with its name. */
#define REQUIRES_RELATION \
  "'%s' is a relation, and nobody would say to whom: require components and tags"

/* Room for a set of `count` ids that others may be put into: `more`, and what those bring. */
uint64_t require_room(const ecs_world *world, uint64_t count, uint64_t more);

/* Puts an id into a set with room for `room` ids, what require_room says. Unless it is
** there, it brings what it requires. Returns how many there are then. */
uint32_t require_insert(const ecs_world *world, ecs_id *ids, uint32_t count, uint64_t room,
                        ecs_id id);

/* What is missing, and the component that requires it. */
struct gap {
  ecs_id missing, by;
};

/* Whether something in a set requires what is not in it. */
bool require_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, struct gap *gap);

/* The same of a table's ids: its rows may have sparse components beside. */
bool require_table_gap(const ecs_world *world, const ecs_id *ids, uint32_t count, struct gap *gap);

/* The same of all that a living entity has. */
bool require_entity_gap(const ecs_world *world, ecs_id entity, struct gap *gap);

/* A component of the table that requires the id; ECS_NULL when there is none. */
ecs_id require_holder(const ecs_world *world, const struct table *table, ecs_id id);

/* That it cannot be removed, from an entity unless that is ECS_NULL. Returns ECS_EINVAL. */
ecs_status require_refuse(const ecs_world *world, ecs_id entity, struct gap gap);

/* ECS_ECYCLE, with the path, when a component would require itself. */
ecs_status require_check_cycles(ecs_world *world);

#endif
