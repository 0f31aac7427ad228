/* Snapshots: copies of a world's content, column by column. */
#ifndef ECS_CORE_IMAGE_SNAPSHOT_H
#define ECS_CORE_IMAGE_SNAPSHOT_H

#include "core/base/base.h"
#include "core/storage/cells.h"
#include "ecs_image.h"

struct arena;

/* Sets the owner of a snapshot; the second frees all snapshots of an owner. */
void snapshot_set_owner(ecs_snapshot *snapshot, void *owner);
void snapshots_free_of(ecs_world *world, const void *owner);

/* Snapshots of layouts before a number can no longer be restored: their strings and tables belong
** to another world. */
void snapshots_outdate(ecs_world *world, uint64_t number);

/* A copy of a table's rows, columns, toggles and marks: of entities, of a sparse component or of an
** event. */

struct table_copy {
  struct table *table;       /* while restoring */
  uint32_t index, serial;
  uint64_t order;
  uint32_t id_count, count;
  ecs_id *ids;
  char *data;                /* the entities, then columns and toggles, each padded */
  size_t size;
  uint64_t *marks;
  size_t mark_count;         /* of numbers */
};

/* What it takes must be freed, even if memory runs out; the list of ids belongs to the arena. */
ecs_status table_copy_take(ecs_world *world, struct arena *arena, struct table *table,
                           struct table_copy *out);
void table_copy_free(ecs_world *world, const struct table_copy *copy);

/* Visits the cells of a type, as cells_each does: false if `visit` ended it. */
bool table_copy_each(const ecs_world *world, const struct table_copy *copy, ecs_type type,
                     cells_fn visit, void *ud);

/* Reserves room in the table that gets the rows back, then restores them. Components watched since
** then count as written now. */
ecs_status table_copy_reserve(ecs_world *world, struct table_copy *copy, struct table *table);
void table_copy_restore(const ecs_world *world, const struct table_copy *copy);

#endif
