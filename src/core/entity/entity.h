/* The public verbs, by ids and cells: spawn, set, add, remove, relate and so on. Both ecs.h and the
** binding call them. Inside a scope they are staged. */
#ifndef ECS_CORE_ENTITY_ENTITY_H
#define ECS_CORE_ENTITY_ENTITY_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/storage/table.h"

/* Spawns. Parts may repeat a component; later writes win. With ECS_OK any slots in the writes
** belong to the world; a slot serves one entity, so several entities need a stride. */
ecs_status entity_spawn(ecs_world *world, const struct part *parts, uint32_t count,
                        ecs_id *out);
ecs_status entity_spawn_at(ecs_world *world, ecs_id id, const struct part *parts,
                           uint32_t count);
ecs_status entity_spawn_many(ecs_world *world, uint64_t n, const struct part *parts,
                             uint32_t count, ecs_id *ids);

/* Sets leaves of a component, adding it with defaults if it is absent. */
ecs_status entity_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count);

/* Sets cells of n living entities, inside a scope: all of them or, on failure, none, even if that
** scope is the last one and ends with an error. The next entity's writes are `stride` further; 0
** shares them, which any slots do not allow. */
ecs_status entity_set_many(ecs_world *world, const ecs_id *ids, size_t n,
                           struct component *component, const struct write *writes,
                           uint32_t count, uint32_t stride);
ecs_status entity_despawn(ecs_world *world, ecs_id id);

/* Kills an entity at once, even inside a scope. Cannot fail. */
void entity_kill(ecs_world *world, uint32_t index);

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component);

/* Add and remove a component. Inside a scope these are staged. */

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component);
ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component);

/* What spawning shares with copying. */

/* Reserves `count` ids in the range: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status spawn_reserve_ids(ecs_world *world, uint64_t count);

/* The number of commands, and of writes, that staging these parts takes. */
uint64_t spawn_commands(const struct part *parts, uint32_t count);
uint64_t spawn_writes(const struct part *parts, uint32_t count);

/* Stages the spawn of the nth entity with parts, in a scope with room for its id and commands
** (spawn_reserve_ids, command_reserve). */
ecs_id spawn_reserved(ecs_world *world, const struct part *parts, uint32_t count, uint64_t nth);

/* Finds or makes the table of entities with these parts. */
ecs_status spawn_table_of(ecs_world *world, const struct part *parts, uint32_t count,
                          struct table **out);

/* Stages a part of an entity whose spawn is staged: a component, a pair, or an exclusive relation
** with its target given like that of a pair. */
ecs_status spawn_stage_part(ecs_world *world, ecs_id entity, const struct part *part,
                            const struct write *writes);

/* The table of an entity, if spawning another with the same components takes nothing but a row in
** it; otherwise NULL. */
const struct table *spawn_table(const ecs_world *world, ecs_id id);

/* Spawns an entity with defaults in the last row of such a table, known by index and serial.
** Returns NULL and does nothing if that is gone, the spawn would be deferred, or memory is
** short. */
struct table *spawn_again(ecs_world *world, uint32_t index, uint32_t serial, ecs_id *out);

/* Makes a part without values from an id; for a pair of an exclusive relation, its target is a
** value. */
ecs_status spawn_part_of(ecs_world *world, ecs_id id, struct part *part);

/* The target that a part ties to. */
ecs_id part_target(const struct part *part);

/* Makes parts without values from a list of ids, in the world's memory. */
ecs_status spawn_parts_of(ecs_world *world, const ecs_id *ids, size_t n, struct part **parts);

/* Ties: as for components, with a target. Inside a scope these are staged. */

/* Ties the entity to a living target and sets leaves of the relation. An exclusive one leaves its
** former target in the same step and keeps its other fields. `writes` do not name the target. */
ecs_status relate_add(ecs_world *world, ecs_id id, struct component *component, ecs_id target,
                      const struct write *writes, uint32_t count);

/* Unties it from one target or, for ECS_NULL, from all. Has no effect if it is not tied. */
ecs_status relate_remove(ecs_world *world, ecs_id id, struct component *component,
                         ecs_id target);

/* Fails for a call that ties without a target. Returns ECS_EINVAL. */
ecs_status relate_no_target(const ecs_world *world, const struct component *component);

/* Whether relate_set is possible for n entities: with ECS_OK it is for all. */
ecs_status relate_check_set(const ecs_world *world, const ecs_id *ids, size_t n,
                            const struct component *component, const struct write *writes,
                            uint32_t count);

/* entity_set for an exclusive relation, whose writes may name the target (ECS_NULL removes it).
** ECS_EINVAL for other relations, and if there is neither an old nor a new target. */
ecs_status relate_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count);

/* Adds a pair by its id. Takes half the time for an exclusive relation if only the tie changes. */
ecs_status relate_add_pair(ecs_world *world, ecs_id id, ecs_id pair);

/* Adds or removes by the id of a pair or, to remove all, of the relation. */
ecs_status relate_change(ecs_world *world, ecs_id id, ecs_id relation, bool adds);

/* Whether it is tied to the target or, for ECS_NULL, to any. */
bool relate_has(const ecs_world *world, ecs_id id, const struct component *component,
                ecs_id target);

/* The target with the lowest id, or ECS_NULL. The second: the next one after `after`. */
ecs_id relate_target(const ecs_world *world, ecs_id id, const struct component *component);
ecs_id relate_next_target(const ecs_world *world, ecs_id id, const struct component *component,
                          ecs_id after);

/* Whether a table has pairs of a relation with several targets. O(log of its ids). */
bool relate_table_has(const struct table *table, const struct component *component);

/* The only pair of such a relation in a table; ECS_NULL if there is none, or more. */
ecs_id relate_only_pair(const struct table *table, const struct component *component);

/* The target in the writes of an exclusive relation; false if there is none. */
bool relate_given_target(const struct write *writes, uint32_t count, ecs_id *target);

/* Lists at most `room` sources of a target: by an exclusive relation in the order in which they
** were tied, otherwise in query order. Prefabs are listed only as children. Returns their
** number. */
size_t relate_sources(const ecs_world *world, ecs_id target, const struct component *component,
                      ecs_id *ids, size_t room);

/* Between native structs, of hosts in C, and cells. */

/* Reads a component's native struct into a write for each leaf, in memory that the next call
** reuses. */
ecs_status component_read_native(ecs_world *world, const struct component *component,
                                 const void *native, const struct write **out);

/* Writes the cell of one leaf into a native struct. */
void component_write_native(const ecs_world *world, const struct component *component,
                            uint32_t leaf, ecs_cell cell, void *native);

#endif
