/* The invariants of what a world stores. */
#ifndef ECS_CORE_WORLD_CHECK_H
#define ECS_CORE_WORLD_CHECK_H

#include "core/base/base.h"

/* Walks every invariant that other code relies on: ECS_OK, or ECS_ECORRUPT with what is wrong as
** the message. */
ecs_status store_check(const ecs_world *world);

/* In a build with ECS_PARANOID, at the beginning and the end of public calls: asserts that every
** invariant holds. */
#ifdef ECS_PARANOID
void world_be_sure(ecs_world *world);
#else
static inline void world_be_sure(ecs_world *world) { (void)world; }
#endif

#endif
