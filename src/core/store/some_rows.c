#include "core/store/some_rows.h"

#include "core/base/many.h"
#include "core/store/bits.h"
#include "core/store/bulk.h"
#include "core/store/component.h"
#include "core/store/entity.h"
#include "core/store/graph.h"
#include "core/store/index.h"
#include "core/store/query.h"
#include "core/store/row.h"
#include "core/store/watch.h"
#include "core/store/watch_apply.h"

bool rows_are_plain(const ecs_world *world, enum rows_change change, ecs_id id) {
  const struct watching *watching = world->watching;
  if (world->staging.command_count || world->registry.requires) return false;
  if (world->staging.watched && (watching->due || watching->note_count)) return false;
  if (change == ROWS_DESPAWN)
    return !world->relations.tied && !world->graph.pair_tables && !world->sparses.rows;
  const struct component *component = component_of(world, id);
  return component && component->id == id && !component->relation && !component->sparse;
}

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

static void carry(const struct column *from, void *to, uint32_t last, const uint32_t *places,
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
    carry(a++, there, from->count, places, count);
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

/* ---- changing ---- */

static uint32_t count_rows(const struct table *table, const uint64_t *bits) {
  uint32_t count = 0;
  if (!bits) return table->count;
  for (uint32_t word = 0; word < (table->count + 63) / 64; word++) count += bits_count(bits[word]);
  assert(count <= table->count);
  return count;
}

static void list_entities(const struct table *table, const uint64_t *bits, uint32_t *entities) {
  uint32_t count = 0;
  for (uint32_t word = 0; word < (table->count + 63) / 64; word++)
    for (uint64_t left = bits[word]; left; left &= left - 1)
      entities[count++] = table->rows[word * 64 + bits_first(left)];
}

/* Whether rows of a table stay where they are. Others may come to it meanwhile, of which bits say
** nothing. */
static bool stays(const struct table *table, enum rows_change change, ecs_id id) {
  return change != ROWS_DESPAWN && table_has(table, id) == (change == ROWS_ADD);
}

static ecs_status destination(ecs_world *world, enum rows_change change, ecs_id id,
                              struct table *from, struct table **to) {
  *to = NULL;
  if (change == ROWS_DESPAWN) return ECS_OK;
  return change == ROWS_ADD ? graph_with(world, from, id, to) : graph_without(world, from, id, to);
}

/* Room for all of them; most is how many there are in one table. */
static ecs_status reserve(ecs_world *world, enum rows_change change, ecs_id id,
                          const struct some_rows *list, uint32_t count, uint32_t *most) {
  ecs_status status = ECS_OK;
  struct table *to;
  uint32_t done = 0;
  *most = 0;
  for (; done < count && status == ECS_OK; done++) {
    struct table *from = world_table(world, list[done].table);
    uint32_t rows = stays(from, change, id) ? 0 : count_rows(from, list[done].bits);
    if (rows == 0) continue;
    if (rows > *most) *most = rows;
    status = destination(world, change, id, from, &to);
    if (status != ECS_OK) break;
    assert(to != from);
    if (!to) continue;
    to->incoming += rows;
    status = table_reserve(world, to, to->incoming);
  }
  for (uint32_t i = 0; i < done; i++) {
    struct table *from = world_table(world, list[i].table);
    if (stays(from, change, id) || count_rows(from, list[i].bits) == 0) continue;
    if (destination(world, change, id, from, &to) == ECS_OK && to) to->incoming = 0;
  }
  return status;
}

/* Notes down what observers are to be told of rows that are about to move. */
static APART ecs_status note_rows(ecs_world *world, enum rows_change change, ecs_id id,
                                  const struct some_rows *list, uint32_t count) {
  ecs_status status = watch_rows_begin(world);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct table *from = world_table(world, list[i].table), *to;
    if (stays(from, change, id) || count_rows(from, list[i].bits) == 0) continue;
    status = destination(world, change, id, from, &to);
    if (status == ECS_OK) status = watch_rows(world, from, to, list[i].bits);
  }
  return watch_rows_end(world, status);
}

static void end_entities(ecs_world *world, const uint32_t *entities, uint32_t count) {
  for (uint32_t i = 0; world->names.by_entity.count && i < count; i++) {
    assert(entities[i] >= FIRST_ENTITY);
    name_forget(world, entities[i]);
  }
  entity_release_all(&world->entities, entities, count);
}

void rows_end(ecs_world *world, struct table *from, const uint32_t *entities, uint32_t count) {
  uint32_t places[ROWS_TOGETHER];
  assert(count <= ROWS_TOGETHER);
  rows_move(world, from, NULL, entities, count, places);
  end_entities(world, entities, count);
}

/* Rows that have components in them may be left with none: they go one by one. */
static void move_some(ecs_world *world, struct table *from, struct table *to,
                      const uint32_t *entities, uint32_t count, uint32_t *places) {
  if (to && to->id_count == 0 && rows_have_component(from)) {
    for (uint32_t i = 0; i < count; i++) entity_move(world, entities[i], to);
    return;
  }
  rows_move(world, from, to, entities, count, places);
  if (!to) end_entities(world, entities, count);
}

/* There is room, in the list of entities for all of one table and as many places. */
static void change_table(ecs_world *world, enum rows_change change, ecs_id id,
                         struct some_rows some, uint32_t *entities) {
  struct table *from = world_table(world, some.table), *to;
  uint32_t count = stays(from, change, id) ? 0 : count_rows(from, some.bits);
  if (count == 0) return;
  ecs_status status = destination(world, change, id, from, &to);
  assert(status == ECS_OK && entities && from != to);
  (void)status;
  if (count == from->count && to) {
    bulk_move(world, from, to);
  } else if (count == from->count) {
    entity_kill_all(world, from);
  } else {
    list_entities(from, some.bits, entities);
    move_some(world, from, to, entities, count, entities + count);
  }
}

ecs_status rows_change(ecs_world *world, enum rows_change change, ecs_id id,
                       const struct some_rows *list, uint32_t count) {
  uint32_t most;
  assert(rows_are_plain(world, change, id));
  ecs_status status = reserve(world, change, id, list, count, &most);
  uint32_t *entities = status == ECS_OK ? (uint32_t *)(void *)world_scratch(world, most) : NULL;
  if (status == ECS_OK && !entities) status = world_nomem(world);
  if (status == ECS_OK && UNLIKELY(world->staging.watched))
    status = note_rows(world, change, id, list, count);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    change_table(world, change, id, list[i], entities);
  return status;
}

/* ---- writing ---- */

/* Whether each table has columns of the component, in which any cell may be written. */
static bool have_columns(const ecs_query *query, const struct component *component) {
  if (component->has_any || component->relation || component->sparse) return false;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count && !table_find(table, component->id)->count) return false;
  }
  return true;
}

/* From one row on to the last. */
static void fill_table(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                       const struct write *writes, uint32_t count) {
  const struct layout *layout = table_find(table, id);
  assert(layout->taken && row < table->count);
  for (uint32_t i = 0; i < count; i++) {
    const struct column *column = &layout->columns[writes[i].leaf];
    assert(column->leaf == writes[i].leaf);
    cell_fill(column->data, column->size, row, table->count - row, writes[i].cell);
  }
  marks_note_rows(world, table, id, row, table->count - row);
}

bool rows_fill(const ecs_query *query, const struct component *component,
               const struct write *writes, uint32_t count) {
  const ecs_world *world = query->world;
  const struct staging *staging = &world->staging;
  assert(rows_are_whole(&query->terms));
  if (staging->open > 1 || staging->command_count || world->watching->sets ||
      !have_columns(query, component))
    return false;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    if (table->count) fill_table(world, table, component->id, 0, writes, count);
  }
  return true;
}

/* All rows of a table; there is room for them where they come to. */
static void give_table(ecs_world *world, struct table *from, ecs_id id, const struct write *writes,
                       uint32_t count) {
  struct table *to = from;
  uint32_t row = 0;
  ecs_status status = graph_with(world, from, id, &to);
  assert(status == ECS_OK);
  (void)status;
  if (to != from) {
    row = to->count;
    bulk_move(world, from, to);
  }
  fill_table(world, to, id, row, writes, count);
}

bool rows_give(ecs_query *query, const struct component *component, const struct write *writes,
               uint32_t count) {
  ecs_world *world = query->world;
  if (staging_is_open(&world->staging) || world->staging.watched || component->has_any ||
      !rows_are_whole(&query->terms) || !rows_are_plain(world, ROWS_ADD, component->id))
    return false;
  uint32_t tables = query_reach(query);
  if (query_usable(query) != ECS_OK ||
      bulk_reserve(world, &query->tables, tables, component->id, true) != ECS_OK)
    return false;
  for (uint32_t i = 0; i < tables; i++) {
    struct table *table = query_table(query, i);
    if (table->count) give_table(world, table, component->id, writes, count);
  }
  return true;
}
