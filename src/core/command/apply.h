/* What staged commands do when the outermost scope ends: entity by entity, each moving once. */
#ifndef ECS_CORE_COMMAND_APPLY_H
#define ECS_CORE_COMMAND_APPLY_H

#include "core/base/base.h"

/* Applies all staged commands, and forgets them. With an error nothing is applied and all of them
** are kept. Those that cannot apply are dropped (staging_refuse); where staging.whole is on, they
** are such an error. */
ecs_status commands_apply(ecs_world *world);

#endif
