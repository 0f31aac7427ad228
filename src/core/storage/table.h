/* How tables come and go, get rows, and have cells written: see layout.h for what they are. */
#ifndef ECS_CORE_STORAGE_TABLE_H
#define ECS_CORE_STORAGE_TABLE_H

#include "core/storage/layout.h"

/* A table without rows; it is in no list yet. ids are sorted and alive. */
ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out);

/* The same of one component alone, which will have that id. */
ecs_status table_new_alone(ecs_world *world, ecs_id id, const struct component *component,
                           struct table **out);
void table_free(ecs_world *world, struct table *table);

/* Room for `more` rows, more than the columns have now. */
ecs_status table_grow(ecs_world *world, struct table *table, uint64_t more);

/* Room for `more` rows: ECS_ENOMEM, ECS_ELIMIT. */
static inline ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more) {
  assert(table);
  bool ready = more <= table->capacity - table->count;
  return LIKELY(ready) ? ECS_OK : table_grow(world, table, more);
}

/* count rows with defaults, entities already in table->rows. */
void table_fill_defaults(const ecs_world *world, struct table *table, uint32_t row,
                         uint32_t count);

/* Moves all rows, after table_reserve on `to`: shared columns are carried, new ones get
** defaults, lost ones go (any slots are released). The entities' records follow. */
void table_move_all(ecs_world *world, struct table *from, struct table *to);

/* Writes cells of one component's row, whose columns begin at `columns`; replaced any slots are
** released. */
void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count);
void table_write_defaults(ecs_world *world, const struct layout *layout, uint32_t row);

/* Lets go of the any slots in the columns of one id. */
void table_release_any(ecs_world *world, const struct layout *layout, uint32_t row,
                       uint32_t count);
/* The same of a whole row. */
void table_release_row(ecs_world *world, const struct table *table, uint32_t row);

/* The same of cells that a move from one table to the other leaves behind. */
void table_release_lost(ecs_world *world, const struct table *from, const struct table *to,
                        uint32_t row, uint32_t count);

/* Gives column memory back when there are no rows. */
void table_shrink(ecs_world *world, struct table *table);

size_t table_bytes(const struct table *table);

#endif
