/* Operations about events: declared, emitted, put off, gone through. */
#include <stdio.h>

#include "../c/content.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "operations_state.h"

#define MOST_EVENTS 500u

/* An event where there is one, at times any component. */
static ecs_id take_event(struct machine *m) {
  const struct events *events = &m->world->events;
  uint8_t byte = take_byte(&m->in);
  if (byte < 250 && events->count) return events->list[byte % events->count]->component->id;
  m->in.at -= m->in.at < m->in.end;
  return take_component(m);
}

ecs_status do_event(struct machine *m) {
  struct fields fields;
  const char *name = take_name(m);
  take_fields(m, &fields);
  ecs_component_desc desc = {.name = name, .fields = fields.list, .field_count = fields.count,
                             .was = fields.was, .was_count = fields.was_count};
  ecs_id id;
  ecs_status status = ecs_event(m->world, &desc, &id);
  m->changes += status == ECS_OK;
  return status;
}

static bool is_full(const struct machine *m, ecs_id id) {
  const struct component *component = component_of(m->world, id);
  const struct event *event = component ? component->event : NULL;
  return event && event->table->count + event->later.table->count > MOST_EVENTS;
}

/* Up to 16 of a value, so that cells move while loops show them. */
ecs_status do_emit(struct machine *m) {
  ecs_id event = take_event(m);
  const void *value = take_value(m, event);
  uint32_t count = 1 + take_below(&m->in, 16);
  ecs_status status = ECS_OK;
  if (!value || is_full(m, event)) return ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    status = ecs_emit(m->world, event, value);
    if (status == ECS_OK) m->digest = world_digest(m->world);
  }
  return status;
}

ecs_status do_after(struct machine *m) {
  ecs_id event = take_event(m);
  double seconds = ((int)take_below(&m->in, 20) - 1) * 0.05;
  const void *value = take_value(m, event);
  return value && !is_full(m, event) ? ecs_after(m->world, seconds, event, value) : ECS_OK;
}

/* A query over an event, alone or with what its field leads to. */
ecs_status do_event_query(struct machine *m) {
  static const char *const ends[] = {"", ".x", ".of->A", ".to->B?", ".of->C"};
  const struct component *event = component_of(m->world, take_event(m));
  uint32_t at = take_below(&m->in, QUERIES), form = take_below(&m->in, 5);
  char text[64];
  ecs_query *made;
  if (!event || is_looped(m, m->queries[at])) return ECS_OK;
  snprintf(text, sizeof text, "%s%s%s%s", event->name, form > 1 ? form == 4 ? ", !" : ", " : "",
           form > 1 ? event->name : "", ends[form]);
  ecs_status status = ecs_query_new(m->world, text, &made);
  if (status != ECS_OK) return status;
  ecs_query_free(m->queries[at]);
  m->queries[at] = made;
  return ECS_OK;
}
