/* The events of an image, and what systems have seen of them. */
#include <math.h>

#include "core/image/load.h"
#include "core/run/timetable.h"
#include "core/store/event.h"
#include "core/store/event_rows.h"
#include "core/store/fields.h"
#include "core/store/later.h"
#include "core/store/world.h"

#define PIECE 65536u

/* Rows of no entity; memory grows with what has been read. */
static ecs_status read_rows(struct loader *loader, struct table *table, uint32_t count) {
  while (table->count < count) {
    uint32_t piece = count - table->count < PIECE ? count - table->count : PIECE;
    size_t used = table->count * sizeof *table->rows, bytes = piece * sizeof *table->rows;
    if (!buffer_grow(&loader->world->memory, &table->row_buffer, used + bytes, used))
      return ECS_ENOMEM;
    table->rows = table->row_buffer.data;
    uint32_t *rows = table->rows + table->count;
    read_numbers(&loader->in, rows, sizeof *rows, piece);
    for (uint32_t i = 0; i < piece && !loader->in.failed; i++)
      if (rows[i]) return load_damaged(loader, "an event is an entity's");
    ecs_status status = load_state(loader);
    if (status != ECS_OK) return status;
    table->count += piece;
  }
  table->capacity = table->count;
  return ECS_OK;
}

static ecs_status read_column(struct loader *loader, const struct component *component,
                              const struct table *table, struct column *column) {
  if (read_u32(&loader->in) != column->size)
    return load_damaged(loader, "a column has another size");
  if (table->count == 0) return ECS_OK;
  size_t bytes = (size_t)table->count * column->size;
  if (!buffer_grow(&loader->world->memory, &column->buffer, bytes, 0)) return ECS_ENOMEM;
  column->data = column->buffer.data;
  return load_cells(loader, component, column->leaf, column->data, table->count);
}

static ecs_status read_table(struct loader *loader, const struct component *component,
                             struct table *table, uint32_t count) {
  ecs_status status = read_rows(loader, table, count);
  for (uint32_t i = 0; i < table->column_count && status == ECS_OK; i++) {
    status = read_column(loader, component, table, &table->columns[i]);
    if (status == ECS_OK) status = load_state(loader);
  }
  return status;
}

static ecs_status read_reader(struct loader *loader, const struct component *component) {
  ecs_system *system;
  ecs_status status = load_timing(loader, &loader->timings.systems, &system);
  if (status != ECS_OK) return status;
  const struct event *event = component->event;
  uint32_t seen = read_u32(&loader->in), awaited = read_u32(&loader->in);
  if (loader->in.failed) return load_state(loader);
  if (seen > event->table->count || awaited > event->table->count)
    return load_damaged(loader, "a system has seen events that are none");
  system->event = component->id;
  system->seen = event->first + seen;
  system->awaited = event->first + awaited;
  return ECS_OK;
}

/* What is put off, and until when. */
static ecs_status read_later(struct loader *loader, const struct component *component) {
  struct later *later = &component->event->later;
  uint32_t count = read_u32(&loader->in);
  if (loader->in.failed || count == 0) return load_state(loader);
  if (count > ROW_LIMIT) return load_damaged(loader, "an event has too many rows");
  ecs_status status = read_table(loader, component, later->table, count);
  if (status == ECS_OK) status = later_reserve(loader->world, component->event);
  if (status != ECS_OK) return status;
  later->clock = read_f64(&loader->in);
  bool sound = later->clock >= 0 && isfinite(later->clock);
  for (uint32_t i = 0; i < count && !loader->in.failed; i++) {
    later->due[i] = read_f64(&loader->in);
    sound &= later->due[i] >= later->clock && isfinite(later->due[i]);
  }
  if (loader->in.failed) return load_state(loader);
  return sound ? ECS_OK : load_damaged(loader, "an event is put off until no time");
}

ecs_status load_event(struct loader *loader, const struct component *component) {
  struct event *event = component->event;
  uint32_t count = read_u32(&loader->in);
  if (loader->in.failed) return load_state(loader);
  if (count > ROW_LIMIT)
    return load_damaged(loader, "an event has too many rows");
  ecs_status status = read_table(loader, component, event->table, count);
  if (status != ECS_OK) return status;
  event->aged = read_u32(&loader->in);
  if (event->aged > count) {
    event->aged = 0;
    return load_damaged(loader, "an event is older than it is");
  }
  while (status == ECS_OK && read_u8(&loader->in) == 1) status = read_reader(loader, component);
  if (status == ECS_OK) status = load_state(loader);
  return status == ECS_OK ? read_later(loader, component) : status;
}
