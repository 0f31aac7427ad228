/* Tables of few rows. One whose cells have 4 bytes, and that has not had more rows than these yet,
** has its list of rows and its columns in the one buffer of the list, PACKED_BYTES each: moving a
** row waits for less memory. It is packed then; a column without a buffer of its own is there. */
#ifndef ECS_CORE_STORAGE_PACKED_H
#define ECS_CORE_STORAGE_PACKED_H

#include "core/storage/layout.h"

#define PACKED_ROWS 16u
#define PACKED_BYTES 64u

/* Where a packed table has the cells of its first column; those of the next follow. */
static inline uint32_t *packed_cells(const struct table *table) {
  assert(table->packed && table->plain && table->capacity == PACKED_ROWS);
  return table->rows + PACKED_BYTES / sizeof(uint32_t);
}

/* Where a column's cells are, by the column's number: where the table is packed, its columns need
** not be looked at. */
static inline void *packed_column(const struct table *table, uint32_t at) {
  assert(at < table->column_count);
  if (!table->packed) return table->columns[at].data;
  char *cells = (char *)table->rows + (at + (size_t)1) * PACKED_BYTES;
  assert(cells == table->columns[at].data);
  return cells;
}

/* Brings a row to as many columns of another packed table; in `from` the cells behind the last row
** take their places. */
INLINE void row_bring_packed(uint32_t *from, uint32_t *to, uint32_t count, uint32_t row,
                             uint32_t last, uint32_t to_row) {
  assert(row < PACKED_ROWS && last < PACKED_ROWS && to_row < PACKED_ROWS);
  for (; count > 0; count--) {
    to[to_row] = from[row];
    from[row] = from[last];
    from += PACKED_ROWS;
    to += PACKED_ROWS;
  }
}

#endif
