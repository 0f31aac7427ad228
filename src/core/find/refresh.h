/* Bringing an index up to date, and keeping it for those who go through it. */
#ifndef ECS_CORE_FIND_REFRESH_H
#define ECS_CORE_FIND_REFRESH_H

#include "core/find/edition.h"

/* Brings it up to date; inside a system that has done so already: nothing. With an error it has no
** rows. */
ecs_status index_refresh(ecs_index *index);

/* Whether it is what the system that runs has to look into. */
bool index_is_fresh(const ecs_index *index);

/* Where the rows of its query have their places, and how many numbers each has. ECS_EINVAL,
** ECS_ENAME say what is missing. */
ecs_status index_source(const ecs_index *index, struct grid_source *out, uint32_t *axes);

#endif
