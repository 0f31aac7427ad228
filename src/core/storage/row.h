/* Rows of tables coming, going and moving, together with their entities' records. What is
** done for one entity at a time is inline: a call is as dear as the work. */
#ifndef ECS_CORE_STORAGE_ROW_H
#define ECS_CORE_STORAGE_ROW_H

#include "core/base/column.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/storage/marks.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

/* Remembers a table that has just lost its last row. */
static inline void graph_note_empty(struct graph *graph, struct table *table) {
  assert(table->count == 0 && graph->tables[table->index] == table);
  if (table == graph->empty) return;
  table->was_empty = false;
  if (table->in_empties) return;
  assert(graph->empty_count < graph->empty_capacity);
  table->in_empties = true;
  graph->empties[graph->empty_count++] = table->index;
}

/* Before a table gets rows, behind those that it has. One without rows has no place in the order of
** tables: with its first row it comes behind all others. */
static inline void world_arrive(ecs_world *world, struct table *table, uint32_t rows) {
  struct graph *graph = &world->graph;
  if (LIKELY(rows)) return;
  world->arrivals++;
  if (table->order + 1 == graph->next_order) return;
  table->order = graph->next_order++;
  graph->placings++;
}

/* Whether an entity's record says that it is in a row of a table: for asserts. */
static inline bool row_is_of(const ecs_world *world, uint32_t entity, const struct table *table,
                             uint32_t row) {
  const struct record *record = entity_record(&world->entities, entity);
  return record->table == table->index && record->row == row;
}

/* The last row's entity takes the place of the row's in the list of rows; its cells are to
** follow. It may be the entity that goes: that one's own record is written after this. */
INLINE void row_close(ecs_world *world, struct table *table, uint32_t row) {
  uint32_t last = table->count - 1;
  uint32_t moved = table->rows[last];
  assert(row <= last);
  assert(row == last || row_is_of(world, moved, table, last));
  table->rows[row] = moved;
  table->count = last;
  entity_record(&world->entities, moved)->row = row;
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, table);
}

/* Defaults in a row's cells. `words`: every cell has 4 bytes, which takes 6 % off a spawn where it
** is known beforehand. */
INLINE void row_default(const struct table *table, uint32_t row, bool words) {
  const struct column *end = table->columns + table->column_count;
  for (const struct column *column = table->columns; column < end; column++)
    cell_store(column->data, words ? 4 : column->size, row, column->value);
}

/* The last row's cells take the places of the row's. */
INLINE void row_fill(const struct table *table, uint32_t row, uint32_t last, bool words) {
  const struct column *end = table->columns + table->column_count;
  for (const struct column *column = table->columns; column < end; column++)
    cell_copy(column->data, row, column->data, last, words ? 4 : column->size);
}

/* After table_reserve. Appends an entity with defaults in every column. */
INLINE void row_append(ecs_world *world, struct table *table, uint32_t entity,
                       struct record *record) {
  assert(table->count < table->capacity && record->table == RECORD_BARE);
  uint32_t row = table->count++;
  world_arrive(world, table, row);
  table->rows[row] = entity;
  record->table = table->index;
  record->row = row;
  if (LIKELY(table->plain)) {
    row_default(table, row, true);
    return;
  }
  row_default(table, row, false);
  if (UNLIKELY(table->mark_count)) marks_arrive(world, table, row, 1);
}

INLINE void row_cut_from(ecs_world *world, struct table *table, uint32_t row, bool plain) {
  uint32_t last = table->count - 1;
  assert(row <= last);
  table->count = last;
  if (!plain && UNLIKELY(table->off)) toggles_cut(table, row, last);
  if (!plain && UNLIKELY(table->mark_count)) marks_cut(table, row, last);
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, table);
  if (row == last) return;
  uint32_t moved = table->rows[last];
  assert(row_is_of(world, moved, table, last));
  table->rows[row] = moved;
  entity_record(&world->entities, moved)->row = row;
  row_fill(table, row, last, plain);
}

/* Takes a row without any slots out, by moving the last one into its place. The record of
** the entity that goes is left as it was. */
INLINE void row_cut(ecs_world *world, struct table *table, uint32_t row) {
  if (LIKELY(table->plain))
    row_cut_from(world, table, row, true);
  else
    row_cut_from(world, table, row, false);
}

/* The same of any row. */
static inline void row_remove(ecs_world *world, struct table *table, uint32_t row) {
  if (UNLIKELY(table->has_any)) table_release_row(world, table, row);
  row_cut(world, table, row);
}

/* Ends an entity whose death is about nothing outside its table, if that has no any values and its
** slot is near. */
INLINE bool row_end(ecs_world *world, ecs_id id) {
  const struct record *record = entity_find_near(&world->entities, id);
  if (UNLIKELY(!record)) return false;
  struct table *table = world_table(world, record->table);
  uint32_t row = record->row;
  assert(table->rows[row] == ecs_id_index(id) && !table->has_ties);
  if (UNLIKELY(table->has_any)) return false;
  entity_release(&world->entities, ecs_id_index(id));
  row_cut(world, table, row);
  return true;
}

/* The entity leaves `from`, whose count is its last row then, and is last in `to`: cells are
** to follow. Returns its row there. */
INLINE uint32_t row_change(ecs_world *world, struct record *record, struct table *from,
                           struct table *to) {
  uint32_t row = record->row, to_row = to->count;
  assert(from != to && row < from->count && to_row < to->capacity);
  assert(record->table == from->index);
  assert(entity_record(&world->entities, from->rows[row]) == record);
  world_arrive(world, to, to_row);
  to->rows[to_row] = from->rows[row];
  to->count = to_row + 1;
  record->table = to->index;
  row_close(world, from, row);
  record->row = to_row;
  return to_row;
}

/* Brings a row's cells to a row of another table: what only that one has gets defaults. In
** `from` the cells behind its last row take their places. Both tables' columns are in the order
** of ids. `words`: every cell has 4 bytes; known beforehand that takes 9 % off adding or removing
** a component among 4 columns, 16 % among 24. */
INLINE void row_carry(const struct table *from, uint32_t row, const struct table *to,
                      uint32_t to_row, bool words) {
  const struct column *a = from->columns, *a_end = a + from->column_count;
  const struct column *b = to->columns, *b_end = b + to->column_count;
  uint32_t last = from->count;
  while (a < a_end) {
    uint32_t size = words ? 4 : a->size;
    if (LIKELY(b->id == a->id)) {
      assert(a->size == b->size && a->leaf == b->leaf);
      cell_copy(b->data, to_row, a->data, row, size);
      cell_copy(a->data, row, a->data, last, size);
      a++, b++;
    } else if (b->id < a->id) {
      cell_store(b->data, words ? 4 : b->size, to_row, b->value);
      b++;
    } else {
      cell_copy(a->data, row, a->data, last, size);
      a++;
    }
  }
  for (; b < b_end; b++) cell_store(b->data, words ? 4 : b->size, to_row, b->value);
}

/* Moves an entity's row, after table_reserve on `to`: shared columns are carried, new ones
** get defaults, lost ones go (any slots are released). */
INLINE void row_move(ecs_world *world, struct record *record, struct table *from,
                     struct table *to) {
  if (UNLIKELY(from->has_any)) table_release_lost(world, from, to, record->row, 1);
  uint32_t row = record->row, to_row = row_change(world, record, from, to);
  if (LIKELY(from->plain && to->plain)) {
    row_carry(from, row, to, to_row, true);
    return;
  }
  row_carry(from, row, to, to_row, false);
  if (UNLIKELY(from->off)) toggles_leave(from, row, to, to_row);
  if (UNLIKELY(from->mark_count | to->mark_count)) marks_leave(world, from, row, to, to_row);
}

#endif
