#include "core/storage/event.h"

#include "core/command/emission.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "core/storage/table.h"
#include "ecs_component.h"

/* ---- finding an event ---- */

ecs_status event_check_desc(const ecs_world *world, const ecs_component_desc *desc) {
  bool plain = !desc->relation && !desc->toggle && !desc->track && !desc->sparse &&
               !desc->required_count && !desc->length;
  if (!desc->event || plain) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "event '%s' takes only fields, `doc` and `was`, not a "
                    "component's other options", desc->name);
}

ecs_status event_need(const ecs_world *world, ecs_id id, struct component **out) {
  ecs_status status = component_need_any(world, id, out);
  return status == ECS_OK && !(*out)->is_event ? component_not_kind(world, *out, "event") : status;
}

ecs_status event_need_name(const ecs_world *world, const char *name, size_t size,
                           struct component **out) {
  *out = component_find(world, name, size);
  if (*out) return (*out)->is_event ? ECS_OK : component_not_kind(world, *out, "event");
  return component_unknown_kind(world, name, size, "event");
}

/* ---- the world's list ---- */

ecs_status event_new(ecs_world *world, struct component *component, ecs_id id) {
  ecs_status status = OWNED_RESERVE(world, &world->events, 1);
  if (status != ECS_OK) return status;
  struct event *event = memory_array(&world->memory, 1, sizeof *event);
  if (!event) return world_nomem(world);
  status = table_new_of_one(world, id, component, &event->table);
  if (status == ECS_OK) status = table_new_of_one(world, id, component, &event->later.table);
  if (status != ECS_OK) {
    if (event->table) table_free(world, event->table);
    memory_free(&world->memory, event, sizeof *event);
    return status;
  }
  event->table->index = event->later.table->index = NONE;
  event->component = component;
  component->event = event;
  return ECS_OK;
}

void event_leave_list(ecs_world *world, const struct event *event) {
  OWNED_LEAVE(&world->events, event);
}

static void event_release(ecs_world *world, const struct table *table, uint32_t row,
                          uint32_t count) {
  if (table->has_any && count)
    table_release_any(world, table_find(table, table->ids[0]), row, count);
}

void event_free(ecs_world *world, struct component *component) {
  struct event *event = component->event;
  event_leave_list(world, event);
  event_release(world, event->table, 0, event->table->count);
  event_release(world, event->later.table, 0, event->later.table->count);
  table_free(world, event->table);
  table_free(world, event->later.table);
  later_free(world, event);
  memory_free(&world->memory, event, sizeof *event);
  component->event = NULL;
}

void events_free(ecs_world *world) {
  struct events *events = &world->events;
  assert(events->count == 0);
  events_forget_retired(world);
  FREE_LIST(&world->memory, events->retired, events->retired_capacity);
  FREE_LIST(&world->memory, events->list, events->capacity);
  *events = (struct events){.list = NULL};
}

/* ---- rows ---- */

void events_forget_retired(ecs_world *world) {
  struct events *events = &world->events;
  while (events->retired_count)
    buffer_free(&world->memory, &events->retired[--events->retired_count]);
}

/* Copies a column to a larger buffer, and keeps the old one. */
static bool event_move_cells(ecs_world *world, struct column_buffer *buffer, size_t bytes,
                             size_t used) {
  struct events *events = &world->events;
  struct column_buffer roomy = {NULL, NULL, 0};
  if (!buffer_grow(&world->memory, &roomy, bytes, 0)) return false;
  if (used) memcpy(roomy.data, buffer->data, used);
  assert(events->retired_count < events->retired_capacity && used <= bytes);
  if (buffer->data) events->retired[events->retired_count++] = *buffer;
  *buffer = roomy;
  return true;
}

/* If one allocation fails, columns that have already moved stay valid. */
static bool event_move_all(ecs_world *world, struct table *table, size_t rows) {
  for (uint32_t i = 0; i < table->column_count; i++) {
    struct column *column = &table->columns[i];
    size_t used = (size_t)table->count * column->size;
    if (!event_move_cells(world, &column->buffer, rows * column->size, used)) return false;
    column->data = column->buffer.data;
  }
  size_t used = table->count * sizeof *table->rows;
  if (!event_move_cells(world, &table->row_buffer, rows * sizeof *table->rows, used)) return false;
  table->rows = table->row_buffer.data;
  table->capacity = (uint32_t)rows;
  return true;
}

static ecs_status event_grow_in_scope(ecs_world *world, struct table *table, uint32_t more) {
  struct events *events = &world->events;
  uint64_t rows = table->capacity ? table->capacity * 2ull : 16, most = table->column_count + 1ull;
  uint64_t need = (uint64_t)table->count + more;
  if (rows < need) rows = need;
  if (rows > ROW_LIMIT) rows = ROW_LIMIT;
  if (rows < need)
    return world_fail(world, ECS_ELIMIT, "there are already %u events of this type, which is the "
                      "limit", ROW_LIMIT);
  if (!GROW(&world->memory, events->retired, events->retired_capacity,
            events->retired_count + most))
    return world_nomem(world);
  return event_move_all(world, table, (size_t)rows) ? ECS_OK : world_nomem(world);
}

ecs_status event_reserve(ecs_world *world, struct event *event, uint32_t more) {
  struct table *table = event->table;
  if (LIKELY(more <= table->capacity - table->count)) return ECS_OK;
  if (staging_is_open(&world->staging)) return event_grow_in_scope(world, table, more);
  if (world->events.retired_count) events_forget_retired(world);
  return table_reserve(world, table, more);
}

void event_append(ecs_world *world, struct table *table, const struct write *writes,
                  uint32_t count) {
  uint32_t row = table->count++;
  assert(row < table->capacity);
  table->rows[row] = 0;
  table_fill_defaults(world, table, row, 1);
  if (count) table_write(world, table->columns, row, writes, count);
}

void event_cut_from(ecs_world *world, struct table *table, uint32_t row, uint32_t count) {
  uint32_t behind = row + count, left = table->count - behind;
  assert(behind <= table->count);
  if (count == 0) return;
  event_release(world, table, row, count);
  for (uint32_t i = 0; i < table->column_count; i++) {
    const struct column *column = &table->columns[i];
    char *data = column->data;
    memmove(data + (size_t)row * column->size, data + (size_t)behind * column->size,
            (size_t)left * column->size);
  }
  table->count = row + left;
}

void event_drop(ecs_world *world, struct event *event, uint64_t number) {
  uint32_t gone = event_row(event, number);
  event_cut_from(world, event->table, 0, gone);
  event->first += gone;
}

void event_clear(struct event *event) {
  event->table->count = event->later.table->count = 0;
  event->later.clock = 0;
  event->aged = event->first;
}

/* ---- the check ---- */

static ecs_status event_corrupt(const ecs_world *world, const struct component *component,
                                const char *what) {
  return world_fail(world, ECS_ECORRUPT, "event '%s' %s", component->name, what);
}

static ecs_status event_check_table(const ecs_world *world, const struct component *component,
                                    const struct table *table) {
  if (table->index != NONE || table->id_count != 1 || table->ids[0] != component->id ||
      table->count > table->capacity || table->column_count != component->leaf_count)
    return event_corrupt(world, component, "has a wrong table");
  for (uint32_t row = 0; row < table->count; row++)
    if (table->rows[row]) return event_corrupt(world, component, "has a row of an entity");
  return ECS_OK;
}

static ecs_status event_check_times(const ecs_world *world, const struct component *component) {
  const struct later *later = &component->event->later;
  uint32_t count = later->table->count;
  if (count > later->capacity || count > later->order_capacity || (count == 0 && later->clock != 0))
    return event_corrupt(world, component, "has delayed events without times");
  for (uint32_t row = 0; row < count; row++)
    if (!(later->due[row] >= 0))
      return event_corrupt(world, component, "has an event delayed to an invalid time");
  return ECS_OK;
}

ecs_status event_check(const ecs_world *world, const struct component *component) {
  const struct event *event = component->event;
  if (!event || event->component != component || component->resource || component->sparse ||
      component->ties.relation)
    return event_corrupt(world, component, "is invalid");
  ecs_status status = event_check_table(world, component, event->table);
  if (status == ECS_OK) status = event_check_table(world, component, event->later.table);
  if (status == ECS_OK) status = event_check_times(world, component);
  if (status != ECS_OK) return status;
  if (event->aged > event_end(event)) return event_corrupt(world, component, "has an invalid age");
  return ECS_OK;
}

struct event *event_of(const struct component *component) {
  assert(component->event);
  return component->event;
}
