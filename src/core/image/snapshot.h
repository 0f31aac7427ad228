/* Snapshots: a world's content copied aside, column by column. */
#ifndef ECS_CORE_IMAGE_SNAPSHOT_H
#define ECS_CORE_IMAGE_SNAPSHOT_H

#include "core/base/base.h"
#include "core/storage/cells.h"
#include "ecs_image.h"

struct arena;

/* Says whom a snapshot belongs to; frees all that belong to somebody. */
void snapshot_set_owner(ecs_snapshot *snapshot, void *owner);
void snapshots_free_of(ecs_world *world, const void *owner);

/* Snapshots of layouts before a number cannot be restored any more: their texts and tables are not
** this world's. */
void snapshots_outdate(ecs_world *world, uint64_t number);

/* A table's rows, columns, toggles and marks copied aside, as snapshots keep them: of entities, of
** a sparse component or of an event. */

struct table_copy {
  struct table *table;       /* while restoring */
  uint32_t index, serial;
  uint64_t order;
  uint32_t id_count, count;
  ecs_id *ids;
  char *data;                /* the entities, then the columns and toggles, each padded */
  size_t size;
  uint64_t *marks;
  size_t mark_count;         /* of numbers */
};

/* What it takes is to be freed, be it that memory runs out; the list of ids is the arena's. */
ecs_status table_copy_take(ecs_world *world, struct arena *arena, struct table *table,
                           struct table_copy *out);
void table_copy_free(ecs_world *world, const struct table_copy *copy);

/* The cells of a type, as cells_each: false when `visit` ended it. */
bool table_copy_each(const ecs_world *world, const struct table_copy *copy, ecs_type type,
                     cells_fn visit, void *ud);

/* Room in the table that is to have the rows again, then gives them to it. What has come to be
** watched since counts as written now. */
ecs_status table_copy_reserve(ecs_world *world, struct table_copy *copy, struct table *table);
void table_copy_restore(const ecs_world *world, const struct table_copy *copy);

#endif
