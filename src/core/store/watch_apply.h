/* What observers are to be told of commands that are about to apply. */
#ifndef ECS_CORE_STORE_WATCH_APPLY_H
#define ECS_CORE_STORE_WATCH_APPLY_H

#include "core/base/base.h"

/* Once all commands are planned: a new round; notes down whom they change, in the order of their
** first commands, and who is given values. */
ecs_status watch_changes(ecs_world *world);

/* Then, while everything is what it was, ties too: notes down what of these matches. From then on
** nothing is missing, and watching.due says that somebody is to be told. */
ecs_status watch_matches(ecs_world *world);

#endif
