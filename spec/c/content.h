/* The content of a world as a number: entities by id with names, components and cells;
** components with their fields; events, resources, systems and phases in order. It does not depend
** on tables, rows, capacities or what was tried in between. Cells and names are read through
** ecs.h; lists that it has no function for are looked up inside. Takes no memory. */
#ifndef SPEC_DIGEST_H
#define SPEC_DIGEST_H

#include "ecs.h"

uint64_t world_digest(ecs_world *world);

/* The same without ids: what equals when the same was spawned under other generations. */
uint64_t world_content(ecs_world *world);

#endif
