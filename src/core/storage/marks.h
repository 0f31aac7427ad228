/* Marks record when cells were last written, in runs of the world. They exist for components that
** are watched, for instance by queries with `:changed`: one mark for each group of 1,024 rows, and
** with `track` also one for each row, and when its entity got the component. A table without marks
** pays nothing. */
#ifndef ECS_CORE_STORAGE_MARKS_H
#define ECS_CORE_STORAGE_MARKS_H

#include "core/storage/cells.h"
#include "core/storage/table.h"

#define MARK_ROWS 1024u        /* rows of a group */

/* The marks of one of a table's ids. */
struct marks {
  ecs_id id;
  bool tracked;
  uint64_t lent;               /* epoch of scopes in which a host was handed cells to write to */
  uint64_t *groups;            /* at least the newest mark of the group's rows; 0 without rows */
  uint64_t *rows;              /* tracked: when each row was written, */
  uint64_t *added;             /* and when it got the component */
  struct column_buffer group_buffer, row_buffer, added_buffer;
};

/* The marks of one of a table's ids; NULL if it is not watched. */
static inline struct marks *marks_of(const struct table *table, ecs_id id) {
  for (uint32_t i = 0; i < table->mark_count; i++)
    if (table->marks[i].id == id) return &table->marks[i];
  return NULL;
}

/* The number of groups that hold that many rows. */
static inline uint32_t mark_groups(uint32_t rows) {
  return rows / MARK_ROWS + (rows % MARK_ROWS != 0);
}

/* Marks rows as written in run `now`. */
void marks_write(struct marks *marks, uint64_t now, uint32_t row, uint32_t count);

/* Marks those of 64 rows, from `row` on, whose bits are set. */
void marks_write_bits(struct marks *marks, uint64_t now, uint32_t row, uint64_t bits);

/* Marks rows of one of a table's ids, if it is watched. */
void marks_note_rows(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                     uint32_t count);
INLINE void marks_note(const ecs_world *world, const struct table *table, ecs_id id,
                       uint32_t row) {
  if (UNLIKELY(table->mark_count)) marks_note_rows(world, table, id, row, 1);
}

/* Marks cells that a host is handed and may write to while a scope is open. */
void marks_lend(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                uint32_t count);

/* Whether the host may still write to them. */
bool marks_are_lent(const ecs_world *world, const struct marks *marks);

/* Writes cells, possibly none, of an entity's component, and marks them as written. */
INLINE void marks_write_cells(ecs_world *world, const struct cells_row *cells, ecs_id id,
                              const struct write *writes, uint32_t count) {
  if (count) table_write(world, cells->columns, cells->row, writes, count);
  marks_note(world, cells->table, id, cells->row);
}

/* Marks cells that were added in run `now`. */
void marks_arrive_of(struct marks *marks, uint64_t now, uint32_t row, uint32_t count);

/* Marks rows of entities that were in no table. */
void marks_arrive(const ecs_world *world, const struct table *table, uint32_t row,
                  uint32_t count);

/* Moves the last row's marks to the place of a removed row, as its cells are. */
void marks_cut(const struct table *table, uint32_t row, uint32_t last);

/* Brings the marks of rows that move to another table, for ids that both have. */
void marks_bring(const ecs_world *world, const struct table *from, uint32_t row,
                 const struct table *to, uint32_t to_row, uint32_t count);

/* Clears the marks when no row is left. */
void marks_clear(const struct table *table);

/* A bit for each of 64 run numbers: whether it is above `run`. */
uint64_t marks_later(const uint64_t *runs, uint64_t run);

/* A bit for each of 64 rows from row 64 * word on: whether it was written, or added, after a run;
** untracked rows count as added when written. Bits after the last row are undefined. */
uint64_t marks_since(const struct marks *marks, uint64_t run, bool added, uint32_t word);

/* Makes the marks of a new table's watched ids. `only`, unless NULL, is the component of all its
** ids. */
ecs_status marks_make(ecs_world *world, struct table *table, const struct component *only);

/* Grows marks to that many rows; false when out of memory. */
bool marks_grow(struct memory *memory, struct table *table, uint32_t rows);

/* Frees the marks of all rows, and the marks themselves. */
void marks_shrink(struct memory *memory, struct table *table);
void marks_free(struct memory *memory, struct table *table);
size_t marks_bytes(const struct table *table);

/* Starts watching a component: everything of it counts as written now. With ECS_ENOMEM it is not
** watched. */
ecs_status marks_begin(ecs_world *world, struct component *component);

/* Takes the marks of a table that this one replaces, with the same rows; ids that had none get new
** marks. */
void marks_take(const ecs_world *world, struct table *table, struct table *old);

/* Checks a table's marks. ECS_OK, or ECS_ECORRUPT with the broken invariant. */
ecs_status marks_check(const ecs_world *world, const struct table *table);

#endif
