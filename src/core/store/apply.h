/* What staged commands do when the outermost scope ends: entity by entity, each moving once. */
#ifndef ECS_CORE_STORE_APPLY_H
#define ECS_CORE_STORE_APPLY_H

#include "core/base/base.h"

/* Applies all staged commands, and forgets them. With an error nothing is applied and all of them
** are kept; those that cannot apply are dropped otherwise (staging_refuse). */
ecs_status commands_apply(ecs_world *world);

#endif
