/* The events of an image, and what systems have seen of them. */
#include <math.h>

#include "core/image/load.h"
#include "core/run/timetable.h"
#include "core/store/event.h"
#include "core/store/event_rows.h"
#include "core/store/fields.h"
#include "core/store/later.h"
#include "core/store/world.h"

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
  ecs_status status = load_beside(loader, component, later->table, count);
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
  ecs_status status = load_beside(loader, component, event->table, count);
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
