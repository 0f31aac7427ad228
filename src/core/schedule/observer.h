/* Observers are called: in rounds, each for what the one before has changed. */
#ifndef ECS_CORE_SCHEDULE_OBSERVER_H
#define ECS_CORE_SCHEDULE_OBSERVER_H

#include "core/base/base.h"

#define ROUND_LIMIT 64

/* Calls the observers of what has been applied and nobody has been told of (watching.due), until
** nothing changes any more; no effect when there is nothing, or inside a scope. Returns what the
** first one that failed did, after all others; ECS_ENOMEM with watching.due still set: nobody was
** called. */
ecs_status observers_run(ecs_world *world);

#endif
