/* Rows of tables coming, leaving and moving: see row.c. What is done for one entity at a time is
** inline, as a call is as dear as the work. */
#ifndef ECS_CORE_STORAGE_ROW_H
#define ECS_CORE_STORAGE_ROW_H

#include "core/base/column.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/storage/marks.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"

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

/* ---- coming ---- */

/* Appends a row with defaults, for which there is room; the caller notes where it is. */
INLINE uint32_t row_append(const ecs_world *world, struct table *table, uint32_t entity) {
  uint32_t row = table->count++;
  assert(row < table->capacity);
  table->rows[row] = entity;
  const struct column *end = table->columns + table->column_count;
  for (const struct column *column = table->columns; column < end; column++)
    cell_store(column->data, column->size, row, column->value);
  if (UNLIKELY(table->mark_count)) marks_arrive(world, table, row, 1);
  return row;
}

/* After table_reserve. The row of an entity that is bare. */
INLINE void row_enter(ecs_world *world, struct table *table, uint32_t entity,
                      struct record *record) {
  assert(record->table == RECORD_BARE && table->index != NONE);
  world_arrive(world, table, table->count);
  *record = (struct record){table->index, row_append(world, table, entity)};
}

/* ---- leaving and moving ---- */

/* A row leaves the list of rows, in which the last one takes its place, and comes behind the rows
** of `to`, which is NULL for none; cells are to follow. `set` is what keeps a sparse component, of
** whose table the row is, else NULL. Where a row is stands in its set, or in its record. */
INLINE void row_unlist(ecs_world *world, struct table *from, uint32_t row,
                       const struct sparse *set, struct table *to, struct record *record) {
  uint32_t last = from->count - 1, entity = from->rows[row], moved = from->rows[last];
  assert(row <= last && from != to && (!to || to->count < to->capacity));
  assert(set ? *sparse_place(set, moved) == last + 1
             : row == last || entity_record(&world->entities, moved)->row == last);
  from->rows[row] = moved;
  from->count = last;
  if (set) {
    *sparse_place(set, moved) = row + 1;
    *sparse_place(set, entity) = 0;
    return;
  }
  if (to || row != last) entity_record(&world->entities, moved)->row = row;
  if (UNLIKELY(last == 0)) graph_note_empty(&world->graph, from);
  if (!to) return;
  uint32_t to_row = to->count;
  world_arrive(world, to, to_row);
  record->table = to->index;   /* not with the row: one store of both delays what reads it next */
  to->count = to_row + 1;
  to->rows[to_row] = entity;
  record->row = to_row;
}

/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define BRING(type)                                                  \
  do {                                                               \
    type *cells = from->data, *taken = to ? to->data : NULL;         \
    for (uint32_t i = 0; i < count; i++) {                           \
      if (to) taken[base + i] = cells[places[i]];                    \
      cells[places[i]] = cells[last - i];                            \
    }                                                                \
  } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

/* The cells of one column follow, to another column unless that is NULL. */
INLINE void column_bring(const struct column *from, const struct column *to, uint32_t base,
                         uint32_t last, const uint32_t *places, uint32_t count, bool words) {
  uint32_t size = words ? 4 : from->size;
  assert(size == from->size && (!to || (size == to->size && from->leaf == to->leaf)));
  if (LIKELY(size == 4))
    BRING(uint32_t);
  else if (size == 8)
    BRING(uint64_t);
  else if (size == 1)
    BRING(uint8_t);
  else
    BRING(uint16_t);
}

#undef BRING

INLINE void column_default(const struct column *column, uint32_t row, uint32_t count, bool words) {
  if (count == 1)
    cell_store(column->data, words ? 4 : column->size, row, column->value);
  else
    cell_fill(column->data, column->size, row, count, column->value);
}

/* The cells of all columns follow, which both tables have in the order of ids: what only `to` has
** gets defaults. `places` says which rows were left, one after the other, while the `last` one and
** those before it took their places. `words`: every cell has 4 bytes; known beforehand that takes
** 13 % off adding or removing a component among 4 columns. */
INLINE void columns_bring(const struct table *from, const struct table *to, uint32_t base,
                          uint32_t last, const uint32_t *places, uint32_t count, bool words) {
  const struct column *a = from->columns, *a_end = a + from->column_count;
  const struct column *b = to ? to->columns : NULL, *b_end = to ? b + to->column_count : NULL;
  for (; !to && a < a_end; a++) column_bring(a, NULL, base, last, places, count, words);
  while (a < a_end) {
    assert(b);
    if (LIKELY(b->id == a->id))
      column_bring(a++, b++, base, last, places, count, words);
    else if (b->id < a->id)
      column_default(b++, base, count, words);
    else
      column_bring(a++, NULL, base, last, places, count, words);
  }
  for (; b < b_end; b++) column_default(b, base, count, words);
}

/* Whether rows have bits beside their cells: what is off, or marked. */
INLINE bool rows_have_bits(const struct table *from, const struct table *to) {
  return (from->off | from->mark_count | (to ? to->mark_count : 0)) != 0;
}

/* These of a row follow, and those of the last row to its place. */
void row_bring_bits(const ecs_world *world, struct table *from, uint32_t row, uint32_t last,
                    struct table *to, uint32_t to_row);

/* row_go, where `words` says that both tables are plain. */
INLINE void row_go_known(ecs_world *world, struct table *from, uint32_t row,
                         const struct sparse *set, struct table *to, struct record *record,
                         bool words) {
  uint32_t last = from->count - 1, base = to ? to->count : 0;
  assert(!words || (from->plain && (!to || to->plain)));
  if (!words && UNLIKELY(from->has_any)) table_release(world, from, to, row, 1);
  row_unlist(world, from, row, set, to, record);
  if (to || row != last) columns_bring(from, to, base, last, &row, 1, words);
  if (!words && UNLIKELY(rows_have_bits(from, to)))
    row_bring_bits(world, from, row, last, to, base);
}

/* row_go where a table is not plain. */
void row_go_general(ecs_world *world, struct table *from, uint32_t row, const struct sparse *set,
                    struct table *to, struct record *record);

/* One row leaves for the rows of `to`, where there is room, or, where that is NULL, for none: any
** slots that it leaves behind are released, and its record stays as it was. */
INLINE void row_go(ecs_world *world, struct table *from, uint32_t row, const struct sparse *set,
                   struct table *to, struct record *record) {
  if (LIKELY(from->plain && (!to || to->plain)))
    row_go_known(world, from, row, set, to, record, true);
  else
    row_go_general(world, from, row, set, to, record);
}

/* Takes a row out of its table for good. */
INLINE void row_leave(ecs_world *world, struct table *table, uint32_t row) {
  row_go(world, table, row, NULL, NULL, NULL);
}

/* Ends an entity whose death is about nothing outside its table, if its slot is near. */
INLINE bool row_end(ecs_world *world, ecs_id id) {
  const struct record *record = entity_find_row(&world->entities, id);
  if (UNLIKELY(!record)) return false;
  struct table *table = world_table(world, record->table);
  uint32_t row = record->row;
  assert(table->rows[row] == ecs_id_index(id) && !table->has_ties);
  entity_release(&world->entities, ecs_id_index(id));
  row_leave(world, table, row);
  return true;
}

/* Moves an entity along an edge of its table to one that has room, where both are plain. */
void row_go_packed(ecs_world *world, struct record *record, struct table *from,
                   const struct edge *edge);
INLINE void row_follow(ecs_world *world, struct record *record, struct table *from,
                       const struct edge *edge) {
  if (UNLIKELY(from->packed) && edge->table->packed)
    row_go_packed(world, record, from, edge);
  else
    row_go_known(world, from, record->row, NULL, edge->table, record, true);
}

/* Brings an entity into a table that has room for it, be it in none yet. Components without any
** components go back to being bare. */
void row_move(ecs_world *world, uint32_t entity, struct table *to);

/* ---- many ---- */

/* What comes out is the same as one by one, in the same order. */

#define ROWS_TOGETHER 256u     /* as many go column by column */

/* Moves entities of one table, each once and in the order given, to another one, where there is
** room, or, where that is NULL, takes them out of it. */
void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count);

/* Moves all rows of a table, which keep their order. */
void rows_move_all(ecs_world *world, struct table *from, struct table *to);

/* Ends entities of one table, each once and in the order given, about whom nothing is tied or
** sparse. */
void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count);

/* Whether some of a table's rows are of components, which have rows as entities have. */
bool rows_have_component(const struct table *table);

#endif
