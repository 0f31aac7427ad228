/* Rows of tables that are added, removed and moved: see row.c. Operations on one entity are inline,
** since a call would cost as much as the work. */
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

/* Called before a table gets rows. An empty table has no place in the order of tables; its first
** row puts it last. */
static inline void world_arrive(ecs_world *world, struct table *table, uint32_t rows) {
  struct graph *graph = &world->graph;
  if (LIKELY(rows)) return;
  world->arrivals++;
  if (table->order + 1 == graph->next_order) return;
  table->order = graph->next_order++;
  graph->placings++;
}

/* ---- coming ---- */

/* Appends a row with defaults in reserved room; the caller records where it is. */
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

/* Gives a bare entity a row; after table_reserve. */
INLINE void row_enter(ecs_world *world, struct table *table, uint32_t entity,
                      struct record *record) {
  assert(record->table == RECORD_BARE && table->index != NONE);
  world_arrive(world, table, table->count);
  *record = (struct record){table->index, row_append(world, table, entity)};
}

/* ---- leaving and moving ---- */

/* Removes a row from the list, where the last one takes its place, and appends it to `to` unless
** that is NULL; cells follow later. `set` is the sparse set whose table this is, or NULL: it, or
** the record, says where a row is. */
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
  record->table = to->index;   /* not with the row: a joint store delays the next read */
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

/* Brings the cells of one column to another column, or to none if that is NULL. */
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

/* Brings the cells of all columns, which both tables have in the order of ids; those that only `to`
** has get defaults. `places` lists the rows that were removed, in order, while the last rows took
** their places. `words`: every cell has 4 bytes; a constant here takes 13 % off adding or removing
** one of 4 columns. */
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

/* Whether rows have bits besides their cells: toggles or marks. */
INLINE bool rows_have_bits(const struct table *from, const struct table *to) {
  return (from->off | from->mark_count | (to ? to->mark_count : 0)) != 0;
}

/* Brings the toggles and marks of a row, and those of the last row to its place. */
void row_bring_bits(const ecs_world *world, struct table *from, uint32_t row, uint32_t last,
                    struct table *to, uint32_t to_row);

/* As row_go; `words` says that both tables are plain. */
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

/* As row_go, if a table is not plain. */
void row_go_general(ecs_world *world, struct table *from, uint32_t row, const struct sparse *set,
                    struct table *to, struct record *record);

/* Moves a row to `to`, which has room, or removes it if that is NULL. Releases the any slots that
** it leaves behind. Does not change the record. */
INLINE void row_go(ecs_world *world, struct table *from, uint32_t row, const struct sparse *set,
                   struct table *to, struct record *record) {
  if (LIKELY(from->plain && (!to || to->plain)))
    row_go_known(world, from, row, set, to, record, true);
  else
    row_go_general(world, from, row, set, to, record);
}

/* Removes a row from its table for good. */
INLINE void row_leave(ecs_world *world, struct table *table, uint32_t row) {
  row_go(world, table, row, NULL, NULL, NULL);
}

/* Kills an entity with a low index whose death affects nothing outside its table. Returns false if
** it cannot. */
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

/* Moves an entity along an edge to a table with room; both tables are plain. */
void row_go_packed(ecs_world *world, struct record *record, struct table *from,
                   const struct edge *edge);
INLINE void row_follow(ecs_world *world, struct record *record, struct table *from,
                       const struct edge *edge) {
  if (UNLIKELY(from->packed) && edge->table->packed)
    row_go_packed(world, record, from, edge);
  else
    row_go_known(world, from, record->row, NULL, edge->table, record, true);
}

/* Moves an entity to a table with room, from its table or from none. A component without any
** components becomes bare. */
void row_move(ecs_world *world, uint32_t entity, struct table *to);

/* ---- many ---- */

/* Many rows at once: the same result, in the same order, as one by one. */

#define ROWS_TOGETHER 256u     /* rows that move column by column together */

/* Moves entities of one table, each once and in the given order, to another table with room, or
** removes their rows if that is NULL. */
void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count);

/* Moves all rows of a table in order. */
void rows_move_all(ecs_world *world, struct table *from, struct table *to);

/* Kills entities of one table, each once and in the given order, that have no ties and no sparse
** components. */
void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count);

/* Whether any of these entities is a component, which can have rows like an entity. */
bool rows_have_component(const uint32_t *entities, uint32_t count);

#endif
