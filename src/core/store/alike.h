/* What is in the queue of staged commands is applied by rows, without being written as commands. */
#ifndef ECS_CORE_STORE_ALIKE_H
#define ECS_CORE_STORE_ALIKE_H

#include "core/base/base.h"

/* Applies the queue, where nothing is tied and nobody is told, if it adds or removes what is kept
** in tables and requires nothing, and entities come from few tables. *applied is whether that is
** so; else nothing has changed. ECS_ENOMEM, ECS_ELIMIT likewise. */
ecs_status alike_apply(ecs_world *world, bool *applied);

/* Ends those in the queue, where that is about nothing but their rows, in their order. */
void alike_end(ecs_world *world);

#endif
