/* The invariants of what a world stores. */
#ifndef ECS_CORE_STORE_CHECK_H
#define ECS_CORE_STORE_CHECK_H

#include "core/base/base.h"

/* Walks every invariant that other code relies on: ECS_OK, or ECS_ECORRUPT with what is wrong as
** the message. */
ecs_status store_check(const ecs_world *world);

#endif
