#include "core/image/snapshot.h"

#include "core/base/memory.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

/* ---- rows ---- */

static size_t table_copy_padded(size_t size) { return (size + 63) / 64 * 64; }

static size_t table_copy_size_of_rows(const struct table *table, uint32_t count) {
  size_t size = table_copy_padded(count * sizeof *table->rows);
  for (uint32_t i = 0; i < table->column_count; i++)
    size += table_copy_padded((size_t)count * table->columns[i].size);
  return size + table->toggle_count * table_copy_padded(toggle_words(count) * sizeof(uint64_t));
}

/* Copies between a table and its copy. */
static void table_copy_copy_rows(struct table *table, char *data, uint32_t count, bool out) {
  size_t size = count * sizeof *table->rows;
  if (count == 0) return;
  memcpy(out ? (void *)data : table->rows, out ? (void *)table->rows : data, size);
  data += table_copy_padded(size);
  for (uint32_t i = 0; i < table->column_count; i++) {
    void *column = table->columns[i].data;
    size = (size_t)count * table->columns[i].size;
    memcpy(out ? data : column, out ? column : data, size);
    data += table_copy_padded(size);
  }
  size = toggle_words(count) * sizeof(uint64_t);
  for (uint32_t i = 0; i < table->toggle_count; i++, data += table_copy_padded(size)) {
    uint64_t *bits = table->toggles[i].bits;
    memcpy(out ? (void *)data : bits, out ? (void *)bits : data, size);
  }
}

/* ---- marks ---- */

#define HEAD 2u              /* before an id's marks: the id, and whether it is tracked */

static size_t table_copy_count_numbers(uint32_t rows, bool tracked) {
  return HEAD + mark_groups(rows) + (tracked ? 2 * (size_t)rows : 0);
}

/* Copies some numbers. Returns the end. */
static uint64_t *copy_some(uint64_t *marks, uint64_t *data, size_t count, bool out) {
  if (count) memcpy(out ? data : marks, out ? marks : data, count * sizeof *marks);
  return data + count;
}

static uint64_t *copy_marks(const struct marks *marks, uint64_t *data, uint32_t rows, bool out) {
  data = copy_some(marks->groups, data, mark_groups(rows), out);
  if (!marks->tracked) return data;
  data = copy_some(marks->rows, data, rows, out);
  return copy_some(marks->added, data, rows, out);
}

/* The numbers copied from an id's marks; NULL if it was not watched, or tracked differently. */
static uint64_t *table_copy_find_marks(const struct table_copy *copy, const struct marks *marks) {
  const uint64_t *data = copy->marks;
  for (size_t at = 0; at < copy->mark_count;
       at += table_copy_count_numbers(copy->count, data[at + 1] != 0))
    if (data[at] == marks->id && data[at + 1] == (uint64_t)marks->tracked)
      return copy->marks + at + HEAD;
  return NULL;
}

/* ---- the whole table ---- */

ecs_status table_copy_take(ecs_world *world, struct arena *arena, struct table *table,
                           struct table_copy *out) {
  struct memory *memory = &world->memory;
  size_t size = table_copy_size_of_rows(table, table->count), marks = 0;
  for (uint32_t i = 0; i < table->mark_count; i++)
    marks += table_copy_count_numbers(table->count, table->marks[i].tracked);
  *out = (struct table_copy){.index = table->index, .serial = table->serial,
                             .order = table->order, .id_count = table->id_count,
                             .count = table->count};
  out->ids = arena_take(memory, arena, table->id_count * sizeof *out->ids + 1);
  out->data = size ? memory_resize(memory, NULL, 0, size) : NULL;
  if (out->data) out->size = size;
  out->marks = marks ? memory_array(memory, marks, sizeof *out->marks) : NULL;
  if (out->marks) out->mark_count = marks;
  if (!out->ids || out->size != size || out->mark_count != marks) return world_nomem(world);
  if (table->id_count) memcpy(out->ids, table->ids, table->id_count * sizeof *out->ids);
  table_copy_copy_rows(table, out->data, table->count, true);
  uint64_t *data = out->marks;
  for (uint32_t i = 0; i < table->mark_count; i++) {
    assert(data);
    *data++ = table->marks[i].id;
    *data++ = table->marks[i].tracked;
    data = copy_marks(&table->marks[i], data, table->count, true);
  }
  return ECS_OK;
}

void table_copy_free(ecs_world *world, const struct table_copy *copy) {
  memory_free(&world->memory, copy->data, copy->size);
  FREE_LIST(&world->memory, copy->marks, copy->mark_count);
}

bool table_copy_each(const ecs_world *world, const struct table_copy *copy, ecs_type type,
                     cells_fn visit, void *ud) {
  char *data = copy->data + table_copy_padded(copy->count * sizeof(uint32_t));
  for (uint32_t i = 0; i < copy->id_count && copy->count; i++) {
    const struct component *component = component_of(world, copy->ids[i]);
    for (uint32_t j = 0; j < component->leaf_count; j++) {
      const struct leaf *leaf = &component->leaves[j];
      struct cells cells = {data, copy->count, component, leaf};
      if (leaf->type == type && !visit(&cells, ud)) return false;
      data += table_copy_padded((size_t)copy->count * leaf->size);
      assert(data <= copy->data + copy->size);
    }
  }
  return true;
}

ecs_status table_copy_reserve(ecs_world *world, struct table_copy *copy, struct table *table) {
  copy->table = table;
  if (copy->count <= table->capacity) return ECS_OK;
  return table_reserve(world, table, copy->count - table->count);
}

void table_copy_restore(const ecs_world *world, const struct table_copy *copy) {
  struct table *table = copy->table;
  assert(copy->count <= table->capacity && table->id_count == copy->id_count);
  table_copy_copy_rows(table, copy->data, copy->count, false);
  table->count = copy->count;
  toggles_count(table);
  for (uint32_t i = 0; i < copy->table->mark_count; i++) {
    struct marks *marks = &copy->table->marks[i];
    uint64_t *data = table_copy_find_marks(copy, marks);
    assert(marks->groups || copy->count == 0);
    if (data)
      copy_marks(marks, data, copy->count, false);
    else
      marks_arrive_of(marks, world->now, 0, copy->count);
  }
}
