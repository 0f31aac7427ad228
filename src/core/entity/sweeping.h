/* Texts that nothing names any more. */
#ifndef ECS_CORE_ENTITY_SWEEPING_H
#define ECS_CORE_ENTITY_SWEEPING_H

#include "core/base/base.h"

/* Sweeps the string table when that is due; called at the end of what stores strings. */
void world_settle(ecs_world *world);

#endif
