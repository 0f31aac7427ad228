#include "core/image/event_copy.h"

#include "core/base/arena.h"
#include "core/store/component.h"
#include "core/store/event.h"
#include "core/store/event_rows.h"
#include "core/store/fields.h"
#include "core/store/later.h"
#include "core/store/table.h"
#include "core/store/world.h"

/* ---- taking ---- */

static ecs_status take_event(ecs_world *world, struct arena *arena, const struct event *event,
                             struct event_copy *copy) {
  const struct later *later = &event->later;
  *copy = (struct event_copy){.id = event->component->id, .first = event->first,
                              .aged = event->aged, .clock = later->clock};
  ecs_status status = table_copy_take(world, arena, event->table, &copy->rows);
  if (status == ECS_OK) status = table_copy_take(world, arena, later->table, &copy->later);
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
    table_copy_free(world, &list[i].rows);
    table_copy_free(world, &list[i].later);
  }
}

bool event_copy_each(const ecs_world *world, const struct event_copy *copy, ecs_type type,
                     cells_fn visit, void *ud) {
  return table_copy_each(world, &copy->rows, type, visit, ud) &&
         table_copy_each(world, &copy->later, type, visit, ud);
}

/* ---- restoring ---- */

ecs_status event_copy_reserve(ecs_world *world, struct event_copy *list, uint32_t count) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct event *event = component_of(world, list[i].id)->event;
    status = table_copy_reserve(world, &list[i].rows, event->table);
    if (status == ECS_OK) status = table_copy_reserve(world, &list[i].later, event->later.table);
    if (status == ECS_OK) status = later_reserve(world, event);
  }
  return status;
}

void event_copy_restore(const ecs_world *world, const struct event_copy *list, uint32_t count) {
  for (uint32_t i = 0; i < world->events.count; i++) event_clear(world->events.list[i]);
  for (uint32_t i = 0; i < count; i++) {
    struct event *event = component_of(world, list[i].id)->event;
    size_t times = list[i].later.count * sizeof *list[i].due;
    table_copy_restore(world, &list[i].rows);
    table_copy_restore(world, &list[i].later);
    event->first = list[i].first;
    event->aged = list[i].aged;
    event->later.clock = list[i].clock;
    if (times) memcpy(event->later.due, list[i].due, times);
  }
}
