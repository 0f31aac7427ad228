/* Copies of a world's resources and arrays in memory, for snapshots. */
#ifndef ECS_CORE_IMAGE_RESOURCE_COPY_H
#define ECS_CORE_IMAGE_RESOURCE_COPY_H

#include "core/store/cells.h"

struct arena;

/* The columns of a resource or an array, one behind the other, each padded. */
struct resource_copy {
  ecs_id component;
  char *data;
};

/* A copy for each one, in an arena. */
ecs_status resource_copy_take(ecs_world *world, struct arena *arena,
                              struct resource_copy **copies, uint32_t *count);

/* The cells of a type in a copy, as cells_each: false when `visit` ended it. */
bool resource_copy_each(const ecs_world *world, const struct resource_copy *copy, ecs_type type,
                        cells_fn visit, void *ud);

/* One that was not there has its defaults. Cannot fail. */
void resource_copy_restore(ecs_world *world, const struct resource_copy *copies, uint32_t count);

#endif
