#include "core/command/emission.h"

#include "core/command/command.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/event_rows.h"
#include "core/storage/fields.h"
#include "core/command/later.h"
#include "core/ids/staging.h"
#include "core/storage/table.h"
#include "core/ids/world.h"

static bool emission_goes_on(const struct staging *staging, ecs_id event, uint32_t scope,
                             bool later) {
  if (staging->emission_count == 0) return false;
  const struct emission *last = &staging->emissions[staging->emission_count - 1];
  return last->event == event && last->scope == scope && last->later == later && !last->dropped;
}

ecs_status emissions_reserve(ecs_world *world, uint32_t more) {
  struct staging *staging = &world->staging;
  struct emission *grown = memory_grow(&world->memory, staging->emissions,
                                       &staging->emission_capacity,
                                       (uint64_t)staging->emission_count + more, sizeof *grown);
  if (!grown) return world_nomem(world);
  staging->emissions = grown;
  return ECS_OK;
}

ecs_status emission_reserve(ecs_world *world, const struct event *event, bool later) {
  const struct staging *staging = &world->staging;
  if (!staging_is_open(staging)) return ECS_OK;
  if (emission_goes_on(staging, event->component->id, scope_innermost(staging), later))
    return ECS_OK;
  return emissions_reserve(world, 1);
}

static void note_many(ecs_world *world, const struct event *event, bool later, uint32_t count) {
  struct staging *staging = &world->staging;
  ecs_id id = event->component->id;
  if (!staging_is_open(staging)) return;
  uint32_t scope = scope_innermost(staging);
  if (!emission_goes_on(staging, id, scope, later)) {
    assert(staging->emission_count < staging->emission_capacity);
    staging->emissions[staging->emission_count++] = (struct emission){id, 0, scope, later, false};
  }
  staging->emissions[staging->emission_count - 1].count += count;
}

void emission_note(ecs_world *world, const struct event *event, bool later) {
  note_many(world, event, later, 1);
}

uint32_t emission_append_many(ecs_world *world, struct event *event, uint32_t count) {
  struct table *table = event->table;
  uint32_t row = table->count;
  assert(count > 0 && count <= table->capacity - row);
  table->count += count;
  memset(table->rows + row, 0, count * sizeof *table->rows);
  table_fill_defaults(world, table, row, count);
  note_many(world, event, false, count);
  return row;
}

void emission_append(ecs_world *world, struct event *event, const struct write *writes,
                     uint32_t count) {
  event_append(world, event, writes, count);
  emission_note(world, event, false);
}

ecs_status emission_add(ecs_world *world, struct event *event, const struct write *writes,
                        uint32_t count) {
  assert(!world->shared);
  ecs_status status = event_reserve(world, event, 1);
  if (status == ECS_OK) status = emission_reserve(world, event, false);
  if (status != ECS_OK) return status;
  emission_append(world, event, writes, count);
  return ECS_OK;
}

void emission_put(ecs_world *world, struct event *event, const struct write *writes,
                  uint32_t count) {
  struct table *table = event->table;
  assert(table->count > 0);
  if (count) table_write(world, table->columns, table->count - 1, writes, count);
}

/* What was emitted in open scopes is behind all other rows of its type, in the order of the list.
** An event that was undeclared meanwhile has none. */
static void cut_dropped(ecs_world *world) {
  struct staging *staging = &world->staging;
  for (uint32_t i = 0; i < world->events.count; i++) {
    struct event *event = world->events.list[i];
    event->cursors[0] = event->table->count;
    event->cursors[1] = event->later.table->count;
  }
  for (uint32_t i = staging->emission_count; i-- > 0;) {
    struct emission *emission = &staging->emissions[i];
    const struct component *component = component_of(world, emission->event);
    if (!component) continue;
    struct event *event = component->event;
    uint32_t *cursor = &event->cursors[emission->later];
    assert(*cursor >= emission->count);
    *cursor -= emission->count;
    if (!emission->dropped) continue;
    (emission->later ? later_cut : event_cut)(world, event, *cursor, emission->count);
    emission->count = 0;
  }
}

void emissions_drop(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  bool any = false;
  for (uint32_t i = 0; i < staging->emission_count; i++) {
    struct emission *emission = &staging->emissions[i];
    if (scope != NONE && scope_holder(staging, emission->scope) != scope) continue;
    any |= emission->count > 0;
    emission->dropped = true;
  }
  if (any && !scope_has_loops_behind(staging, scope)) cut_dropped(world);
}

void emissions_settle(ecs_world *world) {
  struct staging *staging = &world->staging;
  bool any = false;
  assert(!staging_is_open(staging));
  for (uint32_t i = 0; i < staging->emission_count; i++)
    any |= staging->emissions[i].dropped && staging->emissions[i].count;
  if (any) cut_dropped(world);
  staging->emission_count = 0;
  if (world->events.retired_count) events_forget_retired(world);
}
