#include "core/command/emission.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/table.h"

static bool emission_goes_on(const struct staging *staging, ecs_id event, uint32_t scope,
                             bool later) {
  if (staging->emission_count == 0) return false;
  const struct emission *last = &staging->emissions[staging->emission_count - 1];
  return last->event == event && last->scope == scope && last->later == later && !last->dropped;
}

ecs_status emissions_reserve(ecs_world *world, uint32_t more) {
  struct staging *staging = &world->staging;
  if (!GROW(&world->memory, staging->emissions, staging->emission_capacity,
            (uint64_t)staging->emission_count + more))
    return world_nomem(world);
  return ECS_OK;
}

/* Reserves room to record one more emission in the open scopes. */
static ecs_status emission_reserve(ecs_world *world, const struct event *event, bool later) {
  const struct staging *staging = &world->staging;
  if (!staging_is_open(staging)) return ECS_OK;
  if (emission_goes_on(staging, event->component->id, scope_innermost(staging), later))
    return ECS_OK;
  return emissions_reserve(world, 1);
}

static void emission_note(ecs_world *world, const struct event *event, bool later,
                          uint32_t count) {
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

uint32_t emission_append_many(ecs_world *world, struct event *event, uint32_t count) {
  struct table *table = event->table;
  uint32_t row = table->count;
  assert(count > 0 && count <= table->capacity - row);
  table->count += count;
  memset(table->rows + row, 0, count * sizeof *table->rows);
  table_fill_defaults(world, table, row, count);
  emission_note(world, event, false, count);
  return row;
}

void emission_append(ecs_world *world, struct event *event, const struct write *writes,
                     uint32_t count) {
  event_append(world, event->table, writes, count);
  emission_note(world, event, false, 1);
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

/* Cuts the rows of dropped emissions, which are the last rows of their type, in list order. An
** undeclared event has none. */
static void emission_cut_dropped(ecs_world *world) {
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
    struct later *later = &event->later;
    uint32_t *cursor = &event->cursors[emission->later], behind = *cursor;
    assert(*cursor >= emission->count);
    *cursor -= emission->count;
    if (!emission->dropped || emission->count == 0) continue;
    if (emission->later)
      memmove(later->due + *cursor, later->due + behind,
              (later->table->count - behind) * sizeof *later->due);
    event_cut_from(world, emission->later ? later->table : event->table, *cursor, emission->count);
    if (later->table->count == 0) later->clock = 0;
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
  if (any && !scope_has_loops_behind(staging, scope)) emission_cut_dropped(world);
}

void emissions_settle(ecs_world *world) {
  struct staging *staging = &world->staging;
  bool any = false;
  assert(!staging_is_open(staging));
  for (uint32_t i = 0; i < staging->emission_count; i++)
    any |= staging->emissions[i].dropped && staging->emissions[i].count;
  if (any) emission_cut_dropped(world);
  staging->emission_count = 0;
  if (world->events.retired_count) events_forget_retired(world);
}

/* ---- later ---- */

ecs_status later_reserve(ecs_world *world, struct event *event) {
  struct later *later = &event->later;
  uint32_t need = later->table->capacity;
  bool room = GROW(&world->memory, later->due, later->capacity, need) &&
              GROW(&world->memory, later->order, later->order_capacity, need);
  return room ? ECS_OK : world_nomem(world);
}

ecs_status later_add(ecs_world *world, struct event *event, double seconds,
                     const struct write *writes, uint32_t count) {
  struct later *later = &event->later;
  ecs_status status = table_reserve(world, later->table, 1);
  if (status == ECS_OK) status = later_reserve(world, event);
  if (status == ECS_OK) status = emission_reserve(world, event, true);
  if (status != ECS_OK) return status;
  later->due[later->table->count] = later->clock + seconds;
  event_append(world, later->table, writes, count);
  emission_note(world, event, true, 1);
  return ECS_OK;
}

void later_free(ecs_world *world, struct event *event) {
  struct later *later = &event->later;
  FREE_LIST(&world->memory, later->due, later->capacity);
  FREE_LIST(&world->memory, later->order, later->order_capacity);
  later->due = NULL;
  later->order = NULL;
  later->capacity = later->order_capacity = 0;
}

/* ---- time ---- */

/* Whether a row comes after another. */
static bool emission_is_behind(const struct later *later, uint32_t a, uint32_t b) {
  if (later->due[a] != later->due[b]) return later->due[a] > later->due[b];
  return a > b;
}

/* Sifts the entry at a place down the heap. */
static void emission_later_sink(const struct later *later, uint32_t at, uint32_t count) {
  uint32_t *order = later->order, row = order[at];
  for (uint32_t below; (below = 2 * at + 1) < count; at = below) {
    if (below + 1 < count && emission_is_behind(later, order[below + 1], order[below])) below++;
    if (!emission_is_behind(later, order[below], row)) break;
    order[at] = order[below];
  }
  order[at] = row;
}

/* Sorts the rows that are due, by heapsort (Knuth, TAOCP 5.2.3). */
static uint32_t emission_arrange_due(const struct later *later) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < later->table->count; i++)
    if (later->due[i] <= later->clock) later->order[count++] = i;
  for (uint32_t i = count / 2; i-- > 0;) emission_later_sink(later, i, count);
  for (uint32_t left = count; left > 1;) {
    uint32_t last = later->order[--left];
    later->order[left] = later->order[0];
    later->order[0] = last;
    emission_later_sink(later, 0, left);
  }
  return count;
}

/* Copies a row; any slots move with their cells. */
static void emission_copy_row(const struct table *from, uint32_t row, const struct table *to,
                              uint32_t to_row) {
  assert(from->column_count == to->column_count && to_row < to->capacity);
  for (uint32_t i = 0; i < to->column_count; i++)
    cell_copy(to->columns[i].data, to_row, from->columns[i].data, row, to->columns[i].size);
}

static void emission_emit_due(struct event *event) {
  struct later *later = &event->later;
  struct table *table = event->table;
  uint32_t count = emission_arrange_due(later), kept = 0;
  if (count == 0) return;
  for (uint32_t i = 0; i < count; i++, table->count++) {
    emission_copy_row(later->table, later->order[i], table, table->count);
    table->rows[table->count] = 0;
  }
  for (uint32_t row = 0; row < later->table->count; row++) {
    if (later->due[row] <= later->clock) continue;
    if (row != kept) emission_copy_row(later->table, row, later->table, kept);
    later->due[kept++] = later->due[row];
  }
  later->table->count = kept;
  if (kept == 0) later->clock = 0;
}

ecs_status later_pass(ecs_world *world, double dt) {
  const struct events *events = &world->events;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < events->count && status == ECS_OK; i++) {
    const struct later *later = &events->list[i]->later;
    uint32_t count = 0;
    for (uint32_t j = 0; j < later->table->count; j++) count += later->due[j] <= later->clock + dt;
    status = count ? table_reserve(world, events->list[i]->table, count) : ECS_OK;
  }
  for (uint32_t i = 0; i < events->count && status == ECS_OK; i++) {
    struct later *later = &events->list[i]->later;
    if (later->table->count == 0) continue;
    later->clock += dt;
    emission_emit_due(events->list[i]);
  }
  return status;
}
