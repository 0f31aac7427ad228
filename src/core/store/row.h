/* Rows of tables coming, going and moving, together with their entities' records. What is
** done for one entity at a time is inline: a call is as dear as the work. */
#ifndef ECS_CORE_STORE_ROW_H
#define ECS_CORE_STORE_ROW_H

#include "core/store/world.h"

/* ---- cells ---- */

/* What the next two do in tables that have other cells than those of 4 bytes. */
void row_default_mixed(const struct column *columns, uint32_t count, uint32_t row);
void row_close_mixed(const struct column *columns, uint32_t count, uint32_t row,
                     uint32_t last);

INLINE void row_default_words(const struct column *column, uint32_t count, uint32_t row) {
  for (; count > 0; count--, column++) ((uint32_t *)column->data)[row] = column->value.u32;
}

INLINE void row_close_words(const struct column *column, uint32_t count, uint32_t row,
                            uint32_t last) {
  for (; count > 0; count--, column++) {
    uint32_t *cells = column->data;
    cells[row] = cells[last];
  }
}

/* Defaults in a row's cells. */
INLINE void row_default_cells(const struct table *table, uint32_t row) {
  if (LIKELY(table->words))
    row_default_words(table->columns, table->column_count, row);
  else
    row_default_mixed(table->columns, table->column_count, row);
}

/* The last row's cells take the places of the row's. */
INLINE void row_close_cells(const struct table *table, uint32_t row, uint32_t last) {
  if (LIKELY(table->words))
    row_close_words(table->columns, table->column_count, row, last);
  else
    row_close_mixed(table->columns, table->column_count, row, last);
}

/* The row's cells go along an edge that adds and is not slow; the cells behind `from`'s last
** row take their places. */
INLINE void row_gain_cells(const struct table *from, uint32_t row, const struct edge *edge,
                           uint32_t to_row) {
  uint32_t last = from->count;
  const struct column *source = from->columns, *target = edge->table->columns;
  const struct column *end = target + edge->table->column_count;
  const struct column *stop = edge->columns, *join = stop + edge->count;
  for (;; stop = end) {
    for (; target < stop; source++, target++) {
      uint32_t *cells = source->data;
      ((uint32_t *)target->data)[to_row] = cells[row];
      cells[row] = cells[last];
    }
    if (stop == end) return;
    for (; target < join; target++)
      ((uint32_t *)target->data)[to_row] = target->value.u32;
  }
}

/* The same along one that takes away. */
INLINE void row_lose_cells(const struct table *from, uint32_t row, const struct edge *edge,
                           uint32_t to_row) {
  uint32_t last = from->count;
  const struct column *source = from->columns, *target = edge->table->columns;
  const struct column *end = source + from->column_count;
  const struct column *stop = edge->columns, *join = stop + edge->count;
  for (;; stop = end) {
    for (; source < stop; source++, target++) {
      uint32_t *cells = source->data;
      ((uint32_t *)target->data)[to_row] = cells[row];
      cells[row] = cells[last];
    }
    if (stop == end) return;
    for (; source < join; source++) {
      uint32_t *cells = source->data;
      cells[row] = cells[last];
    }
  }
}

/* ---- rows ---- */

/* The last row's entity takes the place of the row's in the list of rows; its cells are to
** follow. It may be the entity that goes: that one's own record is written after this. */
INLINE void row_close(ecs_world *world, struct table *table, uint32_t row) {
  uint32_t last = table->count - 1;
  uint32_t moved = table->rows[last];
  table->rows[row] = moved;
  table->count = last;
  entity_record(&world->entities, moved)->row = row;
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, table);
}

/* After table_reserve. Appends an entity with defaults in every column. */
INLINE void row_append(struct table *table, uint32_t entity, struct record *record) {
  assert(table->count < table->capacity);
  uint32_t row = table->count++;
  table->rows[row] = entity;
  record->table = table->index;
  record->row = row;
  row_default_cells(table, row);
}

/* Takes a row without any slots out, by moving the last one into its place. The record of
** the entity that goes is left as it was. */
INLINE void row_cut(ecs_world *world, struct table *table, uint32_t row) {
  uint32_t last = table->count - 1;
  assert(row <= last);
  table->count = last;
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, table);
  if (row == last) return;
  uint32_t moved = table->rows[last];
  table->rows[row] = moved;
  entity_record(&world->entities, moved)->row = row;
  row_close_cells(table, row, last);
}

/* The same of any row. */
static inline void row_remove(ecs_world *world, struct table *table, uint32_t row) {
  if (UNLIKELY(table->has_any)) table_release_row(world, table, row);
  row_cut(world, table, row);
}

/* Moves an entity's row, after table_reserve on `to`: shared columns are carried, new ones
** get defaults, lost ones go (any slots are released). */
void row_move(ecs_world *world, struct record *record, struct table *from,
              struct table *to);

/* The entity leaves `from`, whose count is its last row then, and is last in `to`: cells are
** to follow. Returns its row there. */
INLINE uint32_t row_change(ecs_world *world, struct record *record, struct table *from,
                           struct table *to) {
  uint32_t row = record->row, to_row = to->count;
  assert(from != to && row < from->count && to_row < to->capacity);
  to->rows[to_row] = from->rows[row];
  to->count = to_row + 1;
  record->table = to->index;
  row_close(world, from, row);
  record->row = to_row;
  return to_row;
}

#endif
