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

#endif
