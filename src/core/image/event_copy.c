#include "core/image/event_copy.h"

#include "core/base/arena.h"
#include "core/image/row_copy.h"
#include "core/store/component.h"
#include "core/store/event.h"
#include "core/store/event_rows.h"
#include "core/store/fields.h"
#include "core/store/later.h"
#include "core/store/table.h"
#include "core/store/world.h"

/* ---- taking ---- */

static ecs_status take_rows(ecs_world *world, struct table *table, struct event_rows *rows) {
  size_t size = row_copy_size(table, table->count);
  rows->count = table->count;
  if (size == 0) return ECS_OK;
  rows->data = memory_resize(&world->memory, NULL, 0, size);
  if (!rows->data) return world_nomem(world);
  rows->size = size;
  row_copy_columns(table, rows->data, rows->count, true);
  return ECS_OK;
}

static ecs_status take_event(ecs_world *world, struct arena *arena, const struct event *event,
                             struct event_copy *copy) {
  const struct later *later = &event->later;
  *copy = (struct event_copy){.id = event->component->id, .first = event->first,
                              .aged = event->aged, .clock = later->clock};
  ecs_status status = take_rows(world, event->table, &copy->rows);
  if (status == ECS_OK) status = take_rows(world, later->table, &copy->later);
  if (status != ECS_OK || copy->later.count == 0) return status;
  copy->due = arena_take(&world->memory, arena, copy->later.count * sizeof *copy->due);
  if (!copy->due) return world_nomem(world);
  memcpy(copy->due, later->due, copy->later.count * sizeof *copy->due);
  return ECS_OK;
}

ecs_status event_copy_take(ecs_world *world, struct arena *arena, struct event_copy **list,
                           uint32_t *count) {
  const struct events *events = &world->events;
  ecs_status status = ECS_OK;
  *count = 0;
  *list = arena_take(&world->memory, arena, events->count * sizeof **list + 1);
  if (!*list) return world_nomem(world);
  for (uint32_t i = 0; i < events->count && status == ECS_OK; i++) {
    ++*count;
    status = take_event(world, arena, events->list[i], &(*list)[i]);
  }
  return status;
}

void event_copy_free(ecs_world *world, const struct event_copy *list, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    memory_free(&world->memory, list[i].rows.data, list[i].rows.size);
    memory_free(&world->memory, list[i].later.data, list[i].later.size);
  }
}

/* ---- cells ---- */

static bool each_in_rows(const struct component *component, const struct event_rows *rows,
                         ecs_type type, cells_fn visit, void *ud) {
  char *data = rows->data + row_copy_padded(rows->count * sizeof(uint32_t));
  for (uint32_t i = 0; rows->count && i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    struct cells cells = {data, rows->count, component, leaf};
    if (leaf->type == type && !visit(&cells, ud)) return false;
    data += row_copy_padded((size_t)rows->count * leaf->size);
    assert(data <= rows->data + rows->size);
  }
  return true;
}

bool event_copy_each(const ecs_world *world, const struct event_copy *copy, ecs_type type,
                     cells_fn visit, void *ud) {
  const struct component *component = component_of(world, copy->id);
  return each_in_rows(component, &copy->rows, type, visit, ud) &&
         each_in_rows(component, &copy->later, type, visit, ud);
}

/* ---- restoring ---- */

static ecs_status reserve_rows(ecs_world *world, struct table *table,
                               const struct event_rows *rows) {
  if (rows->count <= table->capacity) return ECS_OK;
  return table_reserve(world, table, rows->count - table->count);
}

ecs_status event_copy_reserve(ecs_world *world, const struct event_copy *list, uint32_t count) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct event *event = component_of(world, list[i].id)->event;
    status = reserve_rows(world, event->table, &list[i].rows);
    if (status == ECS_OK) status = reserve_rows(world, event->later.table, &list[i].later);
    if (status == ECS_OK) status = later_reserve(world, event);
  }
  return status;
}

static void restore_rows(struct table *table, const struct event_rows *rows) {
  assert(rows->count <= table->capacity);
  row_copy_columns(table, rows->data, rows->count, false);
  table->count = rows->count;
}

void event_copy_restore(const ecs_world *world, const struct event_copy *list, uint32_t count) {
  for (uint32_t i = 0; i < world->events.count; i++) event_clear(world->events.list[i]);
  for (uint32_t i = 0; i < count; i++) {
    struct event *event = component_of(world, list[i].id)->event;
    size_t times = list[i].later.count * sizeof *list[i].due;
    restore_rows(event->table, &list[i].rows);
    restore_rows(event->later.table, &list[i].later);
    event->first = list[i].first;
    event->aged = list[i].aged;
    event->later.clock = list[i].clock;
    if (times) memcpy(event->later.due, list[i].due, times);
  }
}
