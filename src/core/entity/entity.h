/* Spawning, setting, moving entities, by ids and cells; ecs.h's functions and the binding
** both come through here. Inside a scope these stage. */
#ifndef ECS_CORE_ENTITY_ENTITY_H
#define ECS_CORE_ENTITY_ENTITY_H

#include "core/ids/world.h"
#include "core/base/base.h"

struct component;
struct table;

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

/* The same for n living entities, within a scope: all of them or, when it fails, none, also when
** that scope is the last one and its end fails. The next entity's writes are `stride` further;
** 0 shares them, which any slots do not allow. */
ecs_status entity_set_many(ecs_world *world, const ecs_id *ids, size_t n,
                           struct component *component, const struct write *writes,
                           uint32_t count, uint32_t stride);
ecs_status entity_despawn(ecs_world *world, ecs_id id);

/* Adds a component that is no relation and that the entity lacks, or removes one: at once, scope
** or not, and nobody is told. */
ecs_status entity_add_now(ecs_world *world, ecs_id id, struct component *component);
ecs_status entity_remove_now(ecs_world *world, ecs_id id, struct component *component);

/* Ends an entity at once, scope or not. Cannot fail. */
void entity_kill(ecs_world *world, uint32_t index);

/* Ends all that have rows in a table, in the order of these; nothing is tied or sparse. */
void entity_kill_all(ecs_world *world, struct table *table);

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component);

/* Brings an entity into a table that has room for it. Components without any components go
** back to being bare. Cannot fail. */
void entity_move(ecs_world *world, uint32_t index, struct table *to);

#endif
