/* One row of a sparse component coming or going, inline: a call is as dear as the work. */
#ifndef ECS_CORE_STORAGE_SPARSE_ROW_H
#define ECS_CORE_STORAGE_SPARSE_ROW_H

#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/sparse_rows.h"

INLINE bool sparse_has_page(const struct sparse *sparse, uint32_t entity) {
  uint32_t page = entity >> SPARSE_PAGE_BITS;
  return page < sparse->page_capacity && sparse->pages[page];
}

/* Where an entity's row stands, counted from 1; 0: it has none. There is a page for it. */
INLINE uint32_t *sparse_place(const struct sparse *sparse, uint32_t entity) {
  assert(sparse_has_page(sparse, entity));
  return &sparse->pages[entity >> SPARSE_PAGE_BITS][entity & (SPARSE_PAGE_SIZE - 1)];
}

/* sparse_put, by the place. */
INLINE uint32_t sparse_put_at(ecs_world *world, struct sparse *sparse, uint32_t entity,
                              uint32_t *place) {
  struct table *table = sparse->table;
  uint32_t row = table->count++;
  assert(*place == 0 && row < table->capacity);
  table->rows[row] = entity;
  *place = row + 1;
  world->sparses.rows++;
  if (LIKELY(table->plain)) {
    row_default(table, row, true);
    return row;
  }
  row_default(table, row, false);
  if (UNLIKELY(table->mark_count)) marks_arrive(world, table, row, 1);
  return row;
}

/* sparse_cut, by the place. */
INLINE void sparse_cut_at(ecs_world *world, struct sparse *sparse, uint32_t *place) {
  struct table *table = sparse->table;
  uint32_t row = *place - 1, last = table->count - 1, moved = table->rows[last];
  assert(row <= last && *sparse_place(sparse, table->rows[row]) == row + 1);
  assert(*sparse_place(sparse, moved) == last + 1);
  *sparse_place(sparse, moved) = row + 1;
  *place = 0;
  table->rows[row] = moved;
  table->count = last;
  world->sparses.rows--;
  if (LIKELY(table->plain))
    row_fill(table, row, last, true);
  else
    sparse_fill_slowly(world, table, row, last);
}

#endif
