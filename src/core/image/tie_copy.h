/* Copies of a world's ties in memory, for snapshots: the order in which sources were tied. The
** targets are in the cells. */
#ifndef ECS_CORE_IMAGE_TIE_COPY_H
#define ECS_CORE_IMAGE_TIE_COPY_H

#include "core/base/base.h"

struct arena;

/* The sources of an exclusive relation, by targets and then in their order. */
struct tie_copy {
  ecs_id component;
  uint32_t *sources;
  uint32_t count;
};

/* A copy for each relation, in an arena. */
ecs_status tie_copy_take(ecs_world *world, struct arena *arena, struct tie_copy **copies,
                         uint32_t *count);

/* Once the cells are back. There are pages for all ties, as there were before. Cannot fail. */
void tie_copy_restore(ecs_world *world, const struct tie_copy *copies, uint32_t count);

#endif
