/* What spawning shares with copying. */
#ifndef ECS_CORE_ENTITY_SPAWN_H
#define ECS_CORE_ENTITY_SPAWN_H

#include "core/base/base.h"

struct part;
struct table;
struct write;

/* After this, `count` entities can be taken from the range of ids: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status spawn_reserve_ids(ecs_world *world, uint64_t count);

/* How many commands, and how many writes, staging these parts takes. */
uint64_t spawn_commands(const struct part *parts, uint32_t count);
uint64_t spawn_writes(const struct part *parts, uint32_t count);

/* Stages the spawn of the nth entity with parts in a scope where there is room for all of it: for
** its id and for its commands (spawn_reserve_ids, command_reserve). */
ecs_id spawn_reserved(ecs_world *world, const struct part *parts, uint32_t count, uint64_t nth);

/* The table of entities with these parts, which may have to be made. */
ecs_status spawn_table_of(ecs_world *world, const struct part *parts, uint32_t count,
                          struct table **out);

/* Stages a part of an entity whose spawn is staged: a component, a pair, or an exclusive relation
** whose target is given as that of a pair. */
ecs_status spawn_stage_part(ecs_world *world, ecs_id entity, const struct part *part,
                            const struct write *writes);

/* The table where an entity has its row, if whoever is spawned with the same components needs
** nothing but a row of it; else NULL. */
const struct table *spawn_table(const ecs_world *world, ecs_id id);

/* Spawns an entity with defaults in the last row of such a table, known by index and serial. NULL
** when that is gone, when the spawn waits for the end of a scope, and when there is no memory:
** nothing is done then. */
struct table *spawn_again(ecs_world *world, uint32_t index, uint32_t serial, ecs_id *out);

/* A part without values from an id; what that of an exclusive relation's pair says is a value. */
ecs_status spawn_part_of(ecs_world *world, ecs_id id, struct part *part);

/* To whom a part ties by a relation. */
ecs_id part_target(const struct part *part);

/* Parts without values from a list of ids, in the world's own memory. */
ecs_status spawn_parts_of(ecs_world *world, const ecs_id *ids, size_t n, struct part **parts);

#endif
