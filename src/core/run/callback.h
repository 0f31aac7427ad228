/* What surrounds calls of functions that a schedule has: what they leave open, what they fail with,
** what time they take. */
#ifndef ECS_CORE_RUN_CALLBACK_H
#define ECS_CORE_RUN_CALLBACK_H

#include "core/base/base.h"

/* Before a callback: what has failed earlier is not its reason. Returns what comes back, behind it,
** when it has nothing to say. */
char callback_begin(const ecs_world *world);
void callback_end(const ecs_world *world, ecs_status status, char first);

/* Ends what was left open inside a scope. */
void callback_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* The same of whoever runs in no scope of its own, conditions and who handles errors: it is
** committed, or cancelled where they fail. */
ecs_status callback_end_left(ecs_world *world, ecs_status status);

/* Parks the system when someone handles errors, else passes the failure on, with its name. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status);

/* The time counts for whoever has the system's place now: it may have been replaced, or gone, while
** it ran. */
void callback_add_time(ecs_world *world, ecs_system *system, double seconds);

#endif
