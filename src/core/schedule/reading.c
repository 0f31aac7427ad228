#include "core/schedule/reading.h"

#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/event.h"

/* The event that a system reads, or NULL. If it reads another one than before, it begins with those
** that exist. */
static struct event *reading_of(ecs_system *system) {
  const ecs_query *query = system->reads;
  if (LIKELY(!query || query->broken || !query->terms.event)) return NULL;
  const struct component *component = query->terms.event;
  if (system->event != component->id) {
    system->event = component->id;
    system->seen = system->awaited = 0;
  }
  return component->event;
}

void reading_begin(ecs_world *world, ecs_system *system) {
  const struct event *event = reading_of(system);
  if (LIKELY(!event)) return;
  assert(!world->events.read_by);
  world->events.read_by = system->reads;
  world->events.from = system->seen;
  world->events.until = event_end(event);
  system->seen = system->awaited = event_end(event);
}

void reading_end(ecs_world *world) { world->events.read_by = NULL; }

/* While the system runs, the query continues from the system's place; its own is kept. */
ecs_status news_begin(ecs_system *system) {
  ecs_query *query = system->reads;
  if (LIKELY(!query || !query->terms.changes)) return ECS_OK;
  uint64_t own = query->seen;
  if (query->uses == 0) query->seen = system->news;
  ecs_status status = changes_open(query);
  if (status == ECS_OK)
    query->kept_seen = own;
  else
    query->seen = own;
  return status;
}

/* The system may have been replaced, or have lost its query, while it ran. */
void news_end(const ecs_world *world, ecs_system *system) {
  ecs_query *query = system->reads;
  if (LIKELY(!query || !query->terms.changes || query->uses == 0)) return;
  assert(query->uses == 1 && query->kept_seen < world->now);
  changes_close(query);
  ecs_system *now = system->removed ? schedule_system(world, system->name, strlen(system->name))
                                    : system;
  system->news = query->seen;
  if (now && now->reads && strcmp(now->reads->text, query->text) == 0) now->news = query->seen;
  changes_keep(query, query->kept_seen);
}

uint64_t reading_is_due(ecs_system *system) {
  const struct event *event = reading_of(system);
  uint64_t before = system->awaited;
  if (UNLIKELY(event != NULL)) system->awaited = event_end(event);
  return before;
}

void reading_join(ecs_system *system, ecs_query *query) {
  system->reads = query;
  if (!query) return;
  system->next_reader = query->readers;
  query->readers = system;
}

void reading_leave(ecs_system *system) {
  if (!system->reads) return;
  ecs_system **at = &system->reads->readers;
  while (*at != system) at = &(*at)->next_reader;
  *at = system->next_reader;
  system->reads = NULL;
  system->barren = 0;
}

void reading_forget(ecs_query *query) {
  struct events *events = &query->world->events;
  if (events->read_by == query) events->read_by = NULL;
  while (query->readers) reading_leave(query->readers);
}

static bool reading_is_waited_for(const ecs_system *system) {
  const struct phase *phase = system->phase;
  if (!system->enabled || system->parked || !phase->enabled) return false;
  if (phase->fixed <= 0 && system->every <= 0) return false;
  return !system->has_run || !phase_runs_once(phase);
}

void reading_drop(ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  const struct events *events = &world->events;
  assert(!staging_is_open(&world->staging));
  for (uint32_t i = 0; i < events->count; i++) events->list[i]->leaving = events->list[i]->aged;
  for (uint32_t i = 0; events->count && i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    struct event *event = reading_of(system);
    if (event && reading_is_waited_for(system) && system->awaited < event->leaving)
      event->leaving = system->awaited;
  }
  for (uint32_t i = 0; i < events->count; i++) {
    struct event *event = events->list[i];
    event_drop(world, event, event->leaving);
    event->aged = event_end(event);
  }
}
