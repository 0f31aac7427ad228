#include "core/image/mark_copy.h"

#include "core/store/marks.h"
#include "core/store/world.h"

#define HEAD 2u              /* before the marks of an id: that, and whether it is tracked */

static size_t numbers(uint32_t rows, bool tracked) {
  return HEAD + mark_groups(rows) + (tracked ? 2 * (size_t)rows : 0);
}

/* Copies some numbers, and comes behind them. */
static uint64_t *copy_some(uint64_t *marks, uint64_t *data, size_t count, bool out) {
  if (count) memcpy(out ? data : marks, out ? marks : data, count * sizeof *marks);
  return data + count;
}

static uint64_t *copy_all(const struct marks *marks, uint64_t *data, uint32_t rows, bool out) {
  data = copy_some(marks->groups, data, mark_groups(rows), out);
  if (!marks->tracked) return data;
  data = copy_some(marks->rows, data, rows, out);
  return copy_some(marks->added, data, rows, out);
}

ecs_status mark_copy_take(ecs_world *world, const struct table *table, struct mark_copy *out) {
  *out = (struct mark_copy){NULL, 0};
  size_t count = 0;
  for (uint32_t i = 0; i < table->mark_count; i++)
    count += numbers(table->count, table->marks[i].tracked);
  if (count == 0) return ECS_OK;
  uint64_t *data = memory_array(&world->memory, count, sizeof *data);
  if (!data) return world_nomem(world);
  *out = (struct mark_copy){data, count};
  for (uint32_t i = 0; i < table->mark_count; i++) {
    *data++ = table->marks[i].id;
    *data++ = table->marks[i].tracked;
    data = copy_all(&table->marks[i], data, table->count, true);
  }
  assert(data == out->data + count);
  return ECS_OK;
}

void mark_copy_free(ecs_world *world, struct mark_copy *copy) {
  memory_free(&world->memory, copy->data, copy->count * sizeof *copy->data);
}

/* Where the numbers of some marks are; NULL for what was not watched. */
static uint64_t *find(const struct mark_copy *copy, const struct marks *marks, uint32_t rows) {
  for (size_t at = 0; at < copy->count; at += numbers(rows, copy->data[at + 1] != 0))
    if (copy->data[at] == marks->id && copy->data[at + 1] == (uint64_t)marks->tracked)
      return copy->data + at + HEAD;
  return NULL;
}

void mark_copy_restore(const ecs_world *world, const struct table *table,
                       const struct mark_copy *copy) {
  for (uint32_t i = 0; i < table->mark_count; i++) {
    struct marks *marks = &table->marks[i];
    uint64_t *data = find(copy, marks, table->count);
    assert(marks->groups || table->count == 0);
    if (data)
      copy_all(marks, data, table->count, false);
    else
      marks_arrive_of(marks, world->now, 0, table->count);
  }
}
