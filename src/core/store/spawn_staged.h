/* Spawns of many entities, one by one, in an open scope where there is room for all of them: their
** commands are written down without looking for a chain that a new entity cannot have. */
#ifndef ECS_CORE_STORE_SPAWN_STAGED_H
#define ECS_CORE_STORE_SPAWN_STAGED_H

#include "core/base/base.h"

struct part;

/* Stages the spawn of an entity with parts, none of which ties. There is room: for an id, for a
** command more than parts, for their writes and for the entity. */
ecs_id spawn_stage_reserved(ecs_world *world, const struct part *parts, uint32_t count);

#endif
