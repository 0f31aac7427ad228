#include "core/entity/entity.h"

#include "core/base/column.h"
#include "core/entity/name.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"

bool rows_are_whole(const struct query_terms *terms) {
  return !terms->step_count && !terms->event && !terms->toggled && !terms->changes;
}

LOOPS bool rows_have_component(const struct table *table) {
  const uint32_t *rows = table->rows;
  uint32_t found = 0;
  for (uint32_t row = 0; row < table->count; row++) found |= rows[row] < FIRST_ENTITY;
  return found;
}

/* ---- moving ---- */

/* In the order given each leaves its row to the one that is last then; notes which row that was. */
static void move_entities(ecs_world *world, struct table *from, struct table *to,
                          const uint32_t *entities, uint32_t count, uint32_t *places) {
  struct entity_index *index = &world->entities;
  uint32_t *rows = from->rows, last = from->count;
  for (uint32_t i = 0; i < count; i++) {
    struct record *record = entity_record(index, entities[i]);
    uint32_t row = record->row, moved = rows[--last];
    assert(record->table == from->index && rows[row] == entities[i] && row <= last);
    places[i] = row;
    rows[row] = moved;
    entity_record(index, moved)->row = row;
    if (!to) continue;
    to->rows[to->count + i] = entities[i];
    *record = (struct record){to->index, to->count + i};
  }
}

/* The cells of one column likewise; `to` is where they come to, or NULL. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define CARRY(type)                                                  \
  do {                                                               \
    type *cells = from->data, *taken = to;                           \
    for (uint32_t i = 0; i < count; i++) {                           \
      if (taken) taken[i] = cells[places[i]];                        \
      cells[places[i]] = cells[last - 1 - i];                        \
    }                                                                \
  } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

static void rows_carry(const struct column *from, void *to, uint32_t last, const uint32_t *places,
                       uint32_t count) {
  switch (from->size) {
    case 1: CARRY(uint8_t); break;
    case 2: CARRY(uint16_t); break;
    case 4: CARRY(uint32_t); break;
    default: CARRY(uint64_t); break;
  }
}

/* Both tables' columns are in the order of ids. */
static void carry_columns(const struct table *from, const struct table *to, const uint32_t *places,
                          uint32_t count) {
  const struct column *a = from->columns, *a_end = a + from->column_count;
  const struct column *b = to ? to->columns : a_end, *b_end = b + (to ? to->column_count : 0);
  while (a < a_end || b < b_end) {
    if (b < b_end && b->id < a->id) {
      cell_fill(b->data, b->size, to->count, count, b->value);
      b++;
      continue;
    }
    bool goes = b < b_end && b->id == a->id;
    void *there = goes ? (char *)b->data + (size_t)to->count * b->size : NULL;
    assert(!goes || (a->leaf == b->leaf && a->size == b->size));
    rows_carry(a++, there, from->count, places, count);
    b += goes;
  }
}

/* Where rows have more. */
static void move_one_by_one(ecs_world *world, struct table *from, struct table *to,
                            const uint32_t *entities, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct record *record = entity_record(&world->entities, entities[i]);
    if (to)
      row_move(world, record, from, to);
    else
      row_remove(world, from, record->row);
  }
}

void rows_move(ecs_world *world, struct table *from, struct table *to, const uint32_t *entities,
               uint32_t count, uint32_t *places) {
  assert(from != to && count <= from->count && (!to || count <= to->capacity - to->count));
  if (count == 0) return;
  if (table_has_more(from) || (to && table_has_more(to))) {
    move_one_by_one(world, from, to, entities, count);
    return;
  }
  move_entities(world, from, to, entities, count, places);
  carry_columns(from, to, places, count);
  from->count -= count;
  if (to) {
    world_arrive(world, to, to->count);
    to->count += count;
  }
  if (from->count == 0) graph_note_empty(&world->graph, from);
}

/* ---- all rows, and rows that end ---- */

/* Components without any components are bare: they leave the rows that came last. */
static void unrow_components(ecs_world *world, struct table *empty, uint32_t first) {
  for (uint32_t row = empty->count; row-- > first;) {
    uint32_t at = empty->rows[row];
    if (at >= FIRST_ENTITY || sparse_has_any(world, at)) continue;
    row_remove(world, empty, row);
    *entity_record(&world->entities, at) = (struct record){RECORD_BARE, 0};
  }
}

void rows_move_all(ecs_world *world, struct table *from, struct table *to) {
  uint32_t first = to->count;
  table_move_all(world, from, to);
  if (to->id_count == 0) unrow_components(world, to, first);
}

void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count) {
  uint32_t places[ROWS_TOGETHER];
  assert(count <= ROWS_TOGETHER);
  rows_move(world, from, NULL, entities, count, places);
  for (uint32_t i = 0; world->names.by_entity.count && i < count; i++) {
    assert(entities[i] >= FIRST_ENTITY);
    name_forget(world, entities[i]);
  }
  entity_release_all(&world->entities, entities, count);
}
