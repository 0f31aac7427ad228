/* Failing: a status, and the world's message that says why. */
#ifndef ECS_CORE_IDS_FAIL_H
#define ECS_CORE_IDS_FAIL_H

#include "core/base/base.h"

/* Sets the message and returns the status. */
FORMAT(3, 4)
ecs_status world_fail(const ecs_world *world, ecs_status status, const char *format, ...);
ecs_status world_nomem(const ecs_world *world);

/* ECS_EBUSY naming the operation when a system, function form or defer is open. */
ecs_status world_not_busy(const ecs_world *world, const char *operation);

/* The same, and no loop is open either. */
ecs_status world_is_idle(const ecs_world *world, const char *operation);

/* "65536v0@1 is dead" and the like as the message. */
ecs_status entity_need(const ecs_world *world, ecs_id id);

/* A cell of an entity field as it reads: ECS_NULL once the target is dead. */
ecs_id entity_target(const ecs_world *world, ecs_id id);

/* The sorted id set being computed; room for `count`. NULL when out of memory. */
ecs_id *world_scratch(ecs_world *world, uint64_t count);

#endif
