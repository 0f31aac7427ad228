/* The end of those who die by the commands of a scope, and of what was decided about it. */
#ifndef ECS_CORE_COMMAND_CASCADE_END_H
#define ECS_CORE_COMMAND_CASCADE_END_H

#include "core/base/base.h"

/* After the rows have moved: ends those who die, in their order. Cannot fail. */
void cascade_finish(ecs_world *world);

/* The same where nothing is tied, so that nothing had to be decided. */
void cascade_none(ecs_world *world);

/* The same where every command is that an entity dies, and none was looked at. */
void cascade_ends(ecs_world *world);

#endif
