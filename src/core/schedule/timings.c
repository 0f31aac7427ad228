#include "core/schedule/timings.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "core/schedule/timetable.h"
#include "core/query/query.h"
#include "core/ids/world.h"

static const ecs_system fresh = {.enabled = true};

const char *timings_query(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return query && query->terms.changes ? query->text : system->asked;
}

static bool ask_alike(const ecs_system *a, const ecs_system *b) {
  const char *one = timings_query(a), *other = timings_query(b);
  return one && other && strcmp(one, other) == 0;
}

void timings_copy(ecs_system *to, const ecs_system *from) {
  to->enabled = from->enabled;
  to->switched = from->switched;
  to->has_run = from->has_run;
  to->timer = from->timer;
  to->elapsed = from->elapsed;
  to->streams = from->streams;
  to->streams_tick = from->streams_tick;
  to->event = from->event;
  to->seen = from->seen;
  to->awaited = from->awaited;
  if (ask_alike(to, from)) to->news = from->news;
}

/* ---- lists ---- */

ecs_status timings_need(ecs_world *world, struct timing_list *list, const char *name, size_t size,
                        ecs_system **out) {
  struct memory *memory = &world->memory;
  *out = system_names_find(&list->names, name, size);
  if (*out) return ECS_OK;
  ecs_system **items = memory_grow(memory, list->items, &list->capacity, list->count + 1ull,
                                   sizeof *items);
  if (!items) return world_nomem(world);
  list->items = items;
  if (!system_names_reserve(memory, &list->names, list->count + 1ull)) return world_nomem(world);
  struct arena arena = {NULL};
  ecs_system *made = arena_take(memory, &arena, sizeof *made);
  const char *copy = made ? arena_copy(memory, &arena, name, size) : NULL;
  if (!copy) {
    arena_free(memory, &arena);
    return world_nomem(world);
  }
  made->arena = arena;
  made->name = copy;
  made->chance = text_hash64(name, size);
  made->enabled = true;
  made->registered = list->count;
  items[list->count++] = made;
  system_names_put(&list->names, made);
  *out = made;
  return ECS_OK;
}

static void free_one(ecs_world *world, const ecs_system *system) {
  struct arena arena = system->arena;
  arena_free(&world->memory, &arena);
}

static void timings_drop(ecs_world *world, struct timing_list *list, const ecs_system *system) {
  uint32_t at = (uint32_t)system->registered;
  assert(at < list->count && list->items[at] == system);
  system_names_drop(&list->names, system);
  list->items[at] = list->items[--list->count];
  list->items[at]->registered = at;
  free_one(world, system);
}

static void free_list(ecs_world *world, struct timing_list *list) {
  while (list->count) free_one(world, list->items[--list->count]);
  memory_free(&world->memory, list->items, list->capacity * sizeof *list->items);
  system_names_free(&world->memory, &list->names);
  memset(list, 0, sizeof *list);
}

void timings_free(ecs_world *world, struct timings *timings) {
  free_list(world, &timings->phases);
  free_list(world, &timings->systems);
}

/* ---- taking ---- */

/* Of one that is in the list no more than what another query of its name knows. */
static ecs_status timings_copy_system(ecs_world *world, struct timing_list *list,
                                      const ecs_system *from) {
  ecs_system *to;
  uint32_t count = list->count;
  ecs_status status = timings_need(world, list, from->name, strlen(from->name), &to);
  if (status != ECS_OK) return status;
  if (list->count > count) {
    timings_copy(to, from);
    to->parked = from->parked;
  }
  const char *query = timings_query(from);
  if (!query || from->news == 0 || to->asked) return ECS_OK;
  to->news = from->news;
  to->asked = arena_copy(&world->memory, &to->arena, query, strlen(query));
  return to->asked ? ECS_OK : world_nomem(world);
}

static ecs_status timings_add_all(ecs_world *world, struct timing_list *to, ecs_system *const *from,
                                  uint32_t count) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = timings_copy_system(world, to, from[i]);
  return status;
}

ecs_status timings_add(ecs_world *world, struct timings *to, const struct timings *from) {
  ecs_status status = timings_add_all(world, &to->phases, from->phases.items, from->phases.count);
  if (status != ECS_OK) return status;
  return timings_add_all(world, &to->systems, from->systems.items, from->systems.count);
}

ecs_status timings_take(ecs_world *world, struct timings *out) {
  const struct schedule *schedule = world->schedule;
  ecs_status status =
      timings_add_all(world, &out->systems, schedule->systems, schedule->system_count);
  for (uint32_t i = 0; i < schedule->phase_count && status == ECS_OK; i++) {
    const struct phase *phase = schedule->phases[i];
    const ecs_system system = {.name = phase->name, .timer = phase->accumulator,
                               .enabled = phase->enabled, .switched = !phase->enabled};
    status = timings_copy_system(world, &out->phases, &system);
  }
  return status == ECS_OK ? timings_add(world, out, &schedule->absent) : status;
}

/* ---- giving ---- */

static void give_phase(ecs_world *world, struct timing_list *list, struct phase *phase) {
  const ecs_system *known = system_names_find(&list->names, phase->name, strlen(phase->name));
  if (!known) return;
  phase->accumulator = known->timer;
  phase->enabled = known->enabled;
  timings_drop(world, list, known);
}

/* What another query knows of changes stays. False when nothing is known. */
static bool timings_take_out(ecs_world *world, struct timing_list *list, ecs_system *system) {
  ecs_system *known = system_names_find(&list->names, system->name, strlen(system->name));
  if (!known) return false;
  timings_copy(system, known);
  system->parked = known->parked;
  if (known->asked && !ask_alike(system, known))
    timings_copy(known, &fresh);
  else
    timings_drop(world, list, known);
  return true;
}

void timings_give(ecs_world *world, struct timings *timings) {
  struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    schedule->phases[i]->accumulator = 0;
    schedule->phases[i]->enabled = true;
    give_phase(world, &timings->phases, schedule->phases[i]);
  }
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    timings_copy(system, &fresh);
    system->enabled = !system->disabled;
    system->parked = false;
    system->news = 0;
    timings_take_out(world, &timings->systems, system);
  }
  timings_free(world, &schedule->absent);
  schedule->absent = *timings;
  memset(timings, 0, sizeof *timings);
  schedule_relist(world);
}

void timings_give_phase(ecs_world *world, struct phase *phase) {
  give_phase(world, &world->schedule->absent.phases, phase);
}

/* Registered again it is no longer parked. */
void timings_give_system(ecs_world *world, ecs_system *system) {
  if (!timings_take_out(world, &world->schedule->absent.systems, system)) return;
  system->parked = false;
  if (system->watch) schedule_relist(world);
}
