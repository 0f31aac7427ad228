/* The life of a world as a whole: what it stores, and its schedule. */
#ifndef ECS_CORE_WORLD_LIFETIME_H
#define ECS_CORE_WORLD_LIFETIME_H

#include "core/base/base.h"

/* Frees a world with all it holds, and returns its account of memory, which now counts what it took
** and somebody else has. */
struct memory world_end(ecs_world *world);

#endif
