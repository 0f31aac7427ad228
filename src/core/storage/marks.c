#include "core/storage/marks.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/sparse.h"

/* ---- the marks of one id ---- */

void marks_write(struct marks *marks, uint64_t now, uint32_t row, uint32_t count) {
  if (count == 0) return;
  assert(now > 0 && marks->groups);
  for (uint32_t group = row / MARK_ROWS; group < mark_groups(row + count); group++)
    marks->groups[group] = now;
  for (uint32_t i = row; marks->tracked && i < row + count; i++) marks->rows[i] = now;
}

void marks_write_bits(struct marks *marks, uint64_t now, uint32_t row, uint64_t bits) {
  uint32_t past = row % 64;
  assert(marks->groups);
  if (past) marks_write_bits(marks, now, row - past + 64, bits >> (64 - past));
  row -= past;
  bits <<= past;
  if (bits == 0) return;
  marks->groups[row / MARK_ROWS] = now;
  for (; marks->tracked && bits; bits &= bits - 1) marks->rows[row + bits_first(bits)] = now;
}

/* Takes a row's marks from its old place; if that was not tracked, from its group. */
static void bring_mark(struct marks *to, uint32_t to_row, const struct marks *from, uint32_t row) {
  assert(to->tracked == from->tracked);
  uint64_t mark = from->tracked ? from->rows[row] : from->groups[row / MARK_ROWS];
  uint64_t *group = &to->groups[to_row / MARK_ROWS];
  assert(mark > 0);
  if (*group < mark) *group = mark;
  if (!to->tracked) return;
  to->rows[to_row] = from->rows[row];
  to->added[to_row] = from->added[row];
}

void marks_arrive_of(struct marks *marks, uint64_t now, uint32_t row, uint32_t count) {
  assert(!marks->tracked || count == 0 || (marks->rows && marks->added));
  marks_write(marks, now, row, count);
  for (uint32_t i = row; marks->tracked && i < row + count; i++) marks->added[i] = now;
}

/* The sign bit of a difference tells which is greater: run numbers are far below 2^63. */
LOOPS uint64_t marks_later(const uint64_t *runs, uint64_t run) {
  uint8_t later[64];
  uint64_t bits = 0;
  assert(run < UINT64_MAX / 2);
  for (uint32_t i = 0; i < 64; i++) later[i] = (uint8_t)((run - runs[i]) >> 63);
  for (uint32_t i = 0; i < 64; i += 8) bits |= bits_of_bytes(later + i) << i;
  return bits;
}

LOOPS uint64_t marks_since(const struct marks *marks, uint64_t run, bool added, uint32_t word) {
  assert(marks->groups && (!marks->tracked || (marks->rows && marks->added)));
  if (marks->groups[word * 64 / MARK_ROWS] <= run) return 0;
  if (!marks->tracked) return UINT64_MAX;
  const uint64_t *rows = (added ? marks->added : marks->rows) + (size_t)word * 64;
  uint64_t differences = 0;
  for (uint32_t i = 0; i < 64; i++) differences |= run - rows[i];
  return differences >> 63 ? marks_later(rows, run) : 0;
}

/* ---- rows ---- */

void marks_note_rows(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                     uint32_t count) {
  struct marks *marks = marks_of(table, id);
  assert(row + count <= table->count);
  if (marks) marks_write(marks, world->now, row, count);
}

void marks_lend(const ecs_world *world, const struct table *table, ecs_id id, uint32_t row,
                uint32_t count) {
  struct marks *marks = marks_of(table, id);
  if (marks) marks->lent = world->staging.epoch;
  marks_note_rows(world, table, id, row, count);
}

bool marks_are_lent(const ecs_world *world, const struct marks *marks) {
  return staging_is_open(&world->staging) && marks->lent == world->staging.epoch;
}

void marks_arrive(const ecs_world *world, const struct table *table, uint32_t row,
                  uint32_t count) {
  assert(row + count <= table->capacity);
  for (uint32_t i = 0; i < table->mark_count; i++)
    marks_arrive_of(&table->marks[i], world->now, row, count);
}

void marks_cut(const struct table *table, uint32_t row, uint32_t last) {
  assert(row <= last && last < table->capacity);
  for (uint32_t i = 0; i < table->mark_count; i++) {
    struct marks *marks = &table->marks[i];
    assert(marks->groups[last / MARK_ROWS] > 0);
    if (row != last) bring_mark(marks, row, marks, last);
    /* The group may have lost its only row. */
    if (last % MARK_ROWS == 0) marks->groups[last / MARK_ROWS] = 0;
  }
}

void marks_bring(const ecs_world *world, const struct table *from, uint32_t row,
                 const struct table *to, uint32_t to_row, uint32_t count) {
  assert(from != to && to_row + count <= to->count);
  for (uint32_t i = 0; i < to->mark_count; i++) {
    struct marks *marks = &to->marks[i];
    const struct marks *had = marks_of(from, marks->id);
    if (!had) marks_arrive_of(marks, world->now, to_row, count);
    for (uint32_t j = 0; had && j < count; j++) bring_mark(marks, to_row + j, had, row + j);
  }
}

void marks_clear(const struct table *table) {
  for (uint32_t i = 0; i < table->mark_count; i++) {
    const struct marks *marks = &table->marks[i];
    if (marks->groups)
      memset(marks->groups, 0, mark_groups(table->capacity) * sizeof *marks->groups);
  }
}

/* ---- room ---- */

/* Rows are examined 64 at a time. */
static size_t marks_row_room(uint32_t rows) { return round_up(rows, 64); }

static bool marks_make_room(struct memory *memory, struct marks *marks, uint32_t capacity,
                            uint32_t rows) {
  if (rows == 0) return true;
  if (!buffer_grow_words(memory, &marks->group_buffer, &marks->groups, mark_groups(capacity),
                         mark_groups(rows)))
    return false;
  size_t used = marks_row_room(capacity), need = marks_row_room(rows);
  return !marks->tracked ||
         (buffer_grow_words(memory, &marks->row_buffer, &marks->rows, used, need) &&
          buffer_grow_words(memory, &marks->added_buffer, &marks->added, used, need));
}

static void marks_give_back(struct memory *memory, struct marks *marks) {
  buffer_free(memory, &marks->group_buffer);
  buffer_free(memory, &marks->row_buffer);
  buffer_free(memory, &marks->added_buffer);
  marks->groups = marks->rows = marks->added = NULL;
}

/* Makes sure that cells of an id are no longer handed out unmarked. */
static void marks_lend_marked(struct table *table, ecs_id id) {
  struct layout *layout = table_layouts(table) + (table_find(table, id) - table_layouts(table));
  assert(layout->taken && layout->id == id);
  layout->lends = 0;
}

ecs_status marks_make(ecs_world *world, struct table *table, const struct component *only) {
  uint32_t count = 0;
  assert(!table->marks && table->count == 0);
  for (uint32_t i = 0; i < table->id_count; i++)
    count += (only ? only : component_of(world, table->ids[i]))->watched;
  if (count == 0) return ECS_OK;
  table->marks = memory_array(&world->memory, count, sizeof *table->marks);
  if (!table->marks) return world_nomem(world);
  table->mark_capacity = count;
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = only ? only : component_of(world, table->ids[i]);
    if (!component->watched) continue;
    table->marks[table->mark_count++] =
        (struct marks){.id = table->ids[i], .tracked = component->track};
    marks_lend_marked(table, table->ids[i]);
  }
  table->plain = false;
  return ECS_OK;
}

bool marks_grow(struct memory *memory, struct table *table, uint32_t rows) {
  for (uint32_t i = 0; i < table->mark_count; i++)
    if (!marks_make_room(memory, &table->marks[i], table->capacity, rows)) return false;
  return true;
}

void marks_shrink(struct memory *memory, struct table *table) {
  for (uint32_t i = 0; i < table->mark_count; i++) marks_give_back(memory, &table->marks[i]);
}

void marks_free(struct memory *memory, struct table *table) {
  marks_shrink(memory, table);
  FREE_LIST(memory, table->marks, table->mark_capacity);
  table->marks = NULL;
  table->mark_count = table->mark_capacity = 0;
}

size_t marks_bytes(const struct table *table) {
  size_t bytes = table->mark_capacity * sizeof *table->marks;
  for (uint32_t i = 0; i < table->mark_count; i++) {
    const struct marks *marks = &table->marks[i];
    bytes += marks->group_buffer.size + marks->row_buffer.size + marks->added_buffer.size;
  }
  return bytes;
}

/* ---- beginning ---- */

/* Whether an id of a table belongs to the component. */
static bool marks_is_of(const struct component *component, ecs_id id) {
  if (id == component->id) return true;
  return id_is_pair(id) && pair_relation(id) == ecs_id_index(component->id);
}

/* Makes room after a table's marks for those of the component's ids; they are not in use yet. */
static bool marks_prepare(struct memory *memory, struct table *table,
                          const struct component *component) {
  uint32_t count = table->mark_count, old = table->mark_capacity;
  for (uint32_t i = 0; i < table->id_count; i++) count += marks_is_of(component, table->ids[i]);
  if (count == table->mark_count) return true;
  if (!GROW(memory, table->marks, table->mark_capacity, count)) return false;
  struct marks *marks = table->marks;
  memset(marks + old, 0, (table->mark_capacity - old) * sizeof *marks);
  uint32_t at = table->mark_count;
  for (uint32_t i = 0; i < table->id_count; i++) {
    if (!marks_is_of(component, table->ids[i])) continue;
    marks[at] = (struct marks){.id = table->ids[i], .tracked = component->track};
    if (!marks_make_room(memory, &marks[at++], 0, table->capacity)) return false;
  }
  return true;
}

/* Puts the marks from marks_prepare to use. */
static void marks_enter(ecs_world *world, struct table *table) {
  while (table->mark_count < table->mark_capacity && table->marks[table->mark_count].id) {
    struct marks *marks = &table->marks[table->mark_count++];
    assert(marks_of(table, marks->id) == marks && table_has(table, marks->id));
    if (table->count) marks_arrive_of(marks, world->now, 0, table->count);
    marks->lent = world->staging.epoch;
    marks_lend_marked(table, marks->id);
    table->plain = false;
  }
  if (!table->plain) graph_slow_edges(table);
}

ecs_status marks_begin(ecs_world *world, struct component *component) {
  if (component->watched) return ECS_OK;
  const struct id_record *all = graph_all(world);
  struct memory *memory = &world->memory;
  struct table *packed = component->sparse ? component->sparse->table : NULL;
  uint32_t count = packed ? 1 : all->table_count;
  bool ready = true;
  for (uint32_t i = 0; ready && i < count; i++)
    ready = marks_prepare(memory, packed ? packed : world_table(world, all->tables[i]), component);
  for (uint32_t i = 0; i < count; i++) {
    struct table *table = packed ? packed : world_table(world, all->tables[i]);
    if (ready) marks_enter(world, table);
    for (uint32_t j = table->mark_count; !ready && j < table->mark_capacity; j++) {
      marks_give_back(memory, &table->marks[j]);
      table->marks[j].id = ECS_NULL;
    }
  }
  if (!ready) return world_nomem(world);
  component->watched = true;
  world->registry.version++;
  return ECS_OK;
}

void marks_take(const ecs_world *world, struct table *table, struct table *old) {
  assert(old != table && table->count <= table->capacity);
  for (uint32_t i = 0; i < table->mark_count; i++) {
    struct marks *marks = &table->marks[i], *had = marks_of(old, marks->id), own = *marks;
    if (had && had->tracked == marks->tracked) {
      *marks = *had;
      *had = own;
    } else {
      marks_arrive_of(marks, world->now, 0, table->count);
    }
  }
}

/* ---- the check ---- */

static ecs_status marks_check_rows(const ecs_world *world, const struct table *table,
                                   const struct marks *marks) {
  for (uint32_t row = 0; row < table->count; row++) {
    uint64_t group = marks->groups[row / MARK_ROWS];
    if (group == 0 || group > world->now)
      return world_corrupt(world, "a group of rows is marked with a future run");
    if (!marks->tracked) continue;
    if (marks->rows[row] > group || marks->rows[row] < marks->added[row])
      return world_corrupt(world, "a row's mark is newer than its group's, or older than the row");
  }
  for (uint32_t i = mark_groups(table->count); i < mark_groups(table->capacity); i++)
    if (marks->groups[i]) return world_corrupt(world, "a group without rows is marked");
  return ECS_OK;
}

ecs_status marks_check(const ecs_world *world, const struct table *table) {
  uint32_t count = 0;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < table->id_count; i++) {
    const struct component *component = component_of(world, table->ids[i]);
    const struct marks *marks = marks_of(table, table->ids[i]);
    if (!marks == component->watched || (marks && marks->tracked != component->track))
      return world_corrupt(world, "a table's marks do not match what is watched");
    const struct layout *layout = table_find(table, table->ids[i]);
    if (layout->lends != (marks ? 0 : layout->words))
      return world_corrupt(world, "cells are handed out without a mark, or withheld for no "
                           "reason");
    if (!marks) continue;
    count++;
    if (table->capacity && !marks->groups)
      return world_corrupt(world, "a table lacks room for marks");
    if (status == ECS_OK && table->capacity) status = marks_check_rows(world, table, marks);
  }
  if (status != ECS_OK) return status;
  if (count && table->plain) return world_corrupt(world, "a table with marks is flagged as plain");
  return count == table->mark_count
             ? ECS_OK
             : world_corrupt(world, "a table's marks are miscounted");
}
