/* Marks: when cells were written last, counted in runs of the world. They are kept beside the
** columns of components that somebody watches, as queries with `:changed` do: one for each group
** of 1,024 rows of a table, and where the component is declared with `track` one for each row, too,
** with when the row's entity got it. A table without any pays for none. */
#ifndef ECS_CORE_STORAGE_MARKS_H
#define ECS_CORE_STORAGE_MARKS_H

#include "core/storage/cells.h"
#include "core/storage/table.h"

#define MARK_ROWS 1024u        /* of a group */

/* Of one of a table's ids. */
struct marks {
  ecs_id id;
  bool tracked;
  uint64_t lent;               /* in which epoch of scopes a host was given cells to write to */
  uint64_t *groups;            /* the newest mark of its rows, or newer; 0 without rows */
  uint64_t *rows;              /* tracked: when written, */
  uint64_t *added;             /* and since when it is there */
  struct column_buffer group_buffer, row_buffer, added_buffer;
};

/* Of one of a table's ids; NULL when nobody watches it. */
static inline struct marks *marks_of(const struct table *table, ecs_id id) {
  for (uint32_t i = 0; i < table->mark_count; i++)
    if (table->marks[i].id == id) return &table->marks[i];
  return NULL;
}

/* Groups that so many rows make. */
static inline uint32_t mark_groups(uint32_t rows) {
  return rows / MARK_ROWS + (rows % MARK_ROWS != 0);
}

/* Cells of some rows have been written, as of run `now`. */
void marks_write(struct marks *marks, uint64_t now, uint32_t row, uint32_t count);

/* Marks those of 64 rows, from one on, whose bits are set. */
void marks_write_bits(struct marks *marks, uint64_t now, uint32_t row, uint64_t bits);

/* Marks rows of one of a table's ids, if it is watched. */
void marks_note_rows(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                     uint32_t count);
INLINE void marks_note(const ecs_world *world, const struct table *table, ecs_id id,
                       uint32_t row) {
  if (UNLIKELY(table->mark_count)) marks_note_rows(world, table, id, row, 1);
}

/* Marks cells that a host is given, and may write to as long as a scope is open. */
void marks_lend(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                uint32_t count);

/* Whether it still may. */
bool marks_are_lent(const ecs_world *world, const struct marks *marks);

/* Writes cells of a component of an entity, be they none, and marks them as written. */
INLINE void marks_write_cells(ecs_world *world, const struct cells_row *cells, ecs_id id,
                              const struct write *writes, uint32_t count) {
  if (count) table_write(world, cells->columns, cells->row, writes, count);
  marks_note(world, cells->table, id, cells->row);
}

/* Cells have come, as of run `now`. */
void marks_arrive_of(struct marks *marks, uint64_t now, uint32_t row, uint32_t count);

/* Rows have come that were in no table. */
void marks_arrive(const ecs_world *world, const struct table *table, uint32_t row,
                  uint32_t count);

/* The last row's marks take the place of a row's, as its cells do. */
void marks_cut(const struct table *table, uint32_t row, uint32_t last);

/* Rows come to another table, where they keep the marks of what `from` has, too. */
void marks_bring(const ecs_world *world, const struct table *from, uint32_t row,
                 const struct table *to, uint32_t to_row, uint32_t count);

/* No row is left. */
void marks_clear(const struct table *table);

/* Which of 64 numbers, of the runs in which something was written, are above that of a run. */
uint64_t marks_later(const uint64_t *runs, uint64_t run);

/* Which of 64 rows, from row 64 * word on, were written, or came, after a run; what is not tracked
** came when it was written. What is said of rows behind the last one means nothing. */
uint64_t marks_since(const struct marks *marks, uint64_t run, bool added, uint32_t word);

/* Marks of a new table's ids: those of components that are watched. `only`, unless NULL, is the
** component of all of them. */
ecs_status marks_make(ecs_world *world, struct table *table, const struct component *only);

/* Room for so many rows; false when out of memory. */
bool marks_grow(struct memory *memory, struct table *table, uint32_t rows);

/* The room of all rows, and of the marks themselves, goes. */
void marks_shrink(struct memory *memory, struct table *table);
void marks_free(struct memory *memory, struct table *table);
size_t marks_bytes(const struct table *table);

/* From now on a component is watched: all that there is of it counts as written now. ECS_ENOMEM: it
** is not. */
ecs_status marks_begin(ecs_world *world, struct component *component);

/* Takes the marks of a table that is to be replaced by one with the same rows; those of an id that
** it had none for are new. */
void marks_take(const ecs_world *world, struct table *table, struct table *old);

/* ECS_OK, or the invariant that a table's marks break. */
ecs_status marks_check(const ecs_world *world, const struct table *table);

#endif
