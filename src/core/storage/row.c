/* A row is one entity's position in a table: its entity in the list of rows, and a cell at that
** position in each column. Rows are contiguous and in no meaningful order, so loops and kernels run
** over columns as over arrays. An entity's record says where its row is; for a sparse component, a
** page of its set does. Between calls both agree: `table->rows[record->row]` is the record's
** entity.
**
** A row is removed by swap-removal: the last row takes its place in the list (row_unlist), in the
** columns (columns_bring), and in slots, toggles and marks where the table has them. A move does
** the same and adds the row elsewhere. Many rows leave the list one by one, but their cells follow
** column by column, since contiguous data copies best; if all rows leave, none has to be swapped.
** Between two packed tables that differ in one id, columns need not be examined: the edge says
** which differ, so fewer cache lines are loaded. Nothing here can fail: callers have reserved
** room. */
#include "core/storage/row.h"

#include "core/entity/name.h"
#include "core/storage/toggle.h"

/* ---- one ---- */

void row_bring_bits(const ecs_world *world, struct table *from, uint32_t row, uint32_t last,
                    struct table *to, uint32_t to_row) {
  if (to && from->off) toggles_bring(from, row, to, to_row, 1);
  if (from->off) toggles_cut(from, row, last);
  if (to && to->mark_count) marks_bring(world, from, row, to, to_row, 1);
  if (from->mark_count) marks_cut(from, row, last);
}

void row_go_general(ecs_world *world, struct table *from, uint32_t row, const struct sparse *set,
                    struct table *to, struct record *record) {
  row_go_known(world, from, row, set, to, record, false);
}

/* Copies columns of one packed table to consecutive columns of another. */
static void row_bring_packed(uint32_t *from, uint32_t *to, uint32_t count, uint32_t row,
                             uint32_t last, uint32_t to_row) {
  assert(row < PACKED_ROWS && last < PACKED_ROWS && to_row < PACKED_ROWS);
  for (; count > 0; count--) {
    to[to_row] = from[row];
    from[row] = from[last];
    from += PACKED_ROWS;
    to += PACKED_ROWS;
  }
}

void row_go_packed(ecs_world *world, struct record *record, struct table *from,
                   const struct edge *edge) {
  struct table *to = edge->table;
  bool adds = edge->kind == EDGE_ADDS;
  uint32_t *x = packed_cells(from), *y = packed_cells(to), *changed = adds ? y : x;
  uint32_t first = edge->first, behind = first + edge->count;
  uint32_t row = record->row, last = from->count - 1, to_row = to->count;
  uint32_t columns = adds ? to->column_count : from->column_count;
  row_unlist(world, from, row, NULL, to, record);
  row_bring_packed(x, y, first, row, last, to_row);
  for (uint32_t i = first; i < behind; i++) {
    uint32_t *cells = changed + (size_t)i * PACKED_ROWS;
    cells[adds ? to_row : row] = adds ? to->columns[i].value.u32 : cells[last];
  }
  x += (size_t)(adds ? first : behind) * PACKED_ROWS;
  y += (size_t)(adds ? behind : first) * PACKED_ROWS;
  row_bring_packed(x, y, columns - behind, row, last, to_row);
}

void row_move(ecs_world *world, uint32_t entity, struct table *to) {
  struct record *record = entity_record(&world->entities, entity);
  struct table *from = record_table(world, record);
  bool bare = entity < FIRST_ENTITY && to->id_count == 0 &&
              !sparse_next_id(world, entity, ECS_NULL);
  if (from == to && !bare) return;
  if (from && bare)
    row_leave(world, from, record->row);
  else if (from)
    row_go(world, from, record->row, NULL, to, record);
  if (bare)
    *record = (struct record){RECORD_BARE, 0};
  else if (!from)
    row_enter(world, to, entity, record);
}

/* ---- many ---- */

LOOPS bool rows_have_component(const uint32_t *entities, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) found |= entities[i] < FIRST_ENTITY;
  return found;
}

/* Moves up to ROWS_TOGETHER rows, column by column. */
static void row_move_together(ecs_world *world, struct table *from, struct table *to,
                              const uint32_t *entities, uint32_t count) {
  uint32_t places[ROWS_TOGETHER], last = from->count - 1, base = to ? to->count : 0;
  for (uint32_t i = 0; from->has_any && i < count; i++)
    table_release(world, from, to, entity_record(&world->entities, entities[i])->row, 1);
  for (uint32_t i = 0; i < count; i++) {
    struct record *record = entity_record(&world->entities, entities[i]);
    places[i] = record->row;
    assert(record->table == from->index && from->rows[record->row] == entities[i]);
    row_unlist(world, from, record->row, NULL, to, record);
  }
  columns_bring(from, to, base, last, places, count, false);
  for (uint32_t i = 0; rows_have_bits(from, to) && i < count; i++)
    row_bring_bits(world, from, places[i], last - i, to, base + i);
}

/* Components without any components leave the table as bare ones, and other rows take their
** places. */
void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count) {
  bool bare = to && to->id_count == 0 && rows_have_component(entities, count);
  assert(from != to && count <= from->count);
  for (uint32_t i = 0, some; i < count; i += some) {
    some = bare ? 1 : count - i < ROWS_TOGETHER ? count - i : ROWS_TOGETHER;
    if (some == 1 && to)
      row_move(world, entities[i], to);
    else
      row_move_together(world, from, to, entities + i, some);
  }
}

/* ---- all ---- */

/* Appends all rows of `from` in order; `from` still has them. */
static void row_bring_all(ecs_world *world, const struct table *from, struct table *to) {
  uint32_t base = to->count, count = from->count;
  const struct column *a = from->columns;
  const struct column *b = to->columns, *b_end = b + to->column_count;
  assert(from != to && to->capacity - base >= count);
  for (; b < b_end; b++) {
    while (a->id < b->id) a++;
    if (a->id != b->id) {
      cell_fill(b->data, b->size, base, count, b->value);
      continue;
    }
    assert(a->size == b->size && a->leaf == b->leaf);
    memcpy((char *)b->data + (size_t)base * b->size, a++->data, (size_t)count * b->size);
  }
  memcpy(to->rows + base, from->rows, count * sizeof *from->rows);
  to->count += count;
  world_arrive(world, to, base);
  if (UNLIKELY(from->off)) toggles_bring(from, 0, to, base, count);
  if (UNLIKELY(to->mark_count)) marks_bring(world, from, 0, to, base, count);
  for (uint32_t row = base; row < to->count; row++) {
    assert(entity_record(&world->entities, to->rows[row])->row == row - base);
    *entity_record(&world->entities, to->rows[row]) = (struct record){to->index, row};
  }
}

void rows_move_all(ecs_world *world, struct table *from, struct table *to) {
  uint32_t base = to ? to->count : 0;
  if (from->count == 0) return;
  if (UNLIKELY(from->has_any)) table_release(world, from, to, 0, from->count);
  if (to) row_bring_all(world, from, to);
  toggles_clear(from);
  marks_clear(from);
  from->count = 0;
  graph_note_empty(&world->graph, from);
  if (!to || to->id_count) return;
  for (uint32_t row = to->count; row-- > base;)    /* components without any components are bare */
    if (to->rows[row] < FIRST_ENTITY) row_move(world, to->rows[row], to);
}

void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count) {
  if (from->count == count)
    rows_move_all(world, from, NULL);
  else
    rows_move(world, from, NULL, entities, count);
  for (uint32_t i = 0; world->names.by_entity.count && i < count; i++)
    name_forget(world, entities[i]);
  entity_release_all(&world->entities, entities, count);
}
