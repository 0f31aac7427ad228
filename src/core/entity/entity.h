/* Spawning, setting, moving entities, by ids and cells; ecs.h's functions and the binding
** both come through here. Inside a scope these stage. */
#ifndef ECS_CORE_ENTITY_ENTITY_H
#define ECS_CORE_ENTITY_ENTITY_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/storage/table.h"

/* Parts may name a component twice; later writes win. On ECS_OK any slots in the writes
** belong to the world; an any slot serves one entity, so many need a stride. */
ecs_status entity_spawn(ecs_world *world, const struct part *parts, uint32_t count,
                        ecs_id *out);
ecs_status entity_spawn_at(ecs_world *world, ecs_id id, const struct part *parts,
                           uint32_t count);
ecs_status entity_spawn_many(ecs_world *world, uint64_t n, const struct part *parts,
                             uint32_t count, ecs_id *ids);

/* Sets leaves of a component, adding it with defaults when it is absent. */
ecs_status entity_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count);

/* Sets cells of n living entities, within a scope: all of them or, when it fails, none, also when
** that scope is the last one and its end fails. The next entity's writes are `stride` further;
** 0 shares them, which any slots do not allow. */
ecs_status entity_set_many(ecs_world *world, const ecs_id *ids, size_t n,
                           struct component *component, const struct write *writes,
                           uint32_t count, uint32_t stride);
ecs_status entity_despawn(ecs_world *world, ecs_id id);

/* Ends an entity at once, scope or not. Cannot fail. */
void entity_kill(ecs_world *world, uint32_t index);

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component);

/* Adding a component to an entity, and removing one. Inside a scope these stage. */

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component);
ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component);

/* What spawning shares with copying. */

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

/* Tying entities to each other: what entity.h does for components, with a target. Inside a scope
** these stage. */

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

/* Between native structs, which hosts in C have, and cells. */

/* Reads a component's native struct into a write for each of its leaves, in memory of the world's
** that is used again by the next call. */
ecs_status component_read_native(ecs_world *world, const struct component *component,
                                 const void *native, const struct write **out);

/* Puts the cell of one leaf into a native struct. */
void component_write_native(const ecs_world *world, const struct component *component,
                            uint32_t leaf, ecs_cell cell, void *native);

#endif
