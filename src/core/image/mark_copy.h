/* The marks of a table in one block, as snapshots keep them. */
#ifndef ECS_CORE_IMAGE_MARK_COPY_H
#define ECS_CORE_IMAGE_MARK_COPY_H

#include "core/base/base.h"

struct table;

struct mark_copy {
  uint64_t *data;
  size_t count;              /* of numbers */
};

/* ECS_ENOMEM: nothing is to be freed. */
ecs_status mark_copy_take(ecs_world *world, const struct table *table, struct mark_copy *out);
void mark_copy_free(ecs_world *world, struct mark_copy *copy);

/* Gives them to the table, which has the rows that it had then. What has come to be watched since
** counts as written now. */
void mark_copy_restore(const ecs_world *world, const struct table *table,
                       const struct mark_copy *copy);

#endif
