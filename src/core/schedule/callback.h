/* What surrounds calls of functions that a schedule has: what they leave open, what they fail with,
** what time they take. */
#ifndef ECS_CORE_SCHEDULE_CALLBACK_H
#define ECS_CORE_SCHEDULE_CALLBACK_H

#include "core/schedule/timetable.h"
#include "core/ids/world.h"

/* Before a callback: what has failed earlier is not its reason. Returns what comes back, behind it,
** when it has nothing to say. */
static inline char callback_begin(const ecs_world *world) {
  char first = world->message[0];
  world->message[0] = '\0';
  return first;
}

static inline void callback_end(const ecs_world *world, ecs_status status, char first) {
  if (status == ECS_OK && !world->message[0]) world->message[0] = first;
}

/* What kind of function runs, and the name of its system or observer; NULL for none. */
const char *callback_running(const ecs_world *world, const char **kind);

/* Ends what was left open inside a scope. */
void callback_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* Ends all that is open, as of conditions and handlers of errors, which run in no scope of their
** own: it is committed, or cancelled where they fail. */
ecs_status callback_end_left(ecs_world *world, ecs_status status);

/* Parks the system when someone handles errors, else passes the failure on, with its name. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status);

/* The time counts for whoever has the system's place now: it may have been replaced, or gone, while
** it ran. */
void callback_add_time_anew(ecs_world *world, ecs_system *system, uint64_t ticks);

static inline void system_add_time(ecs_system *system, uint64_t ticks) {
  system->last_ticks = ticks;
  system->total_ticks += ticks;
}

static inline void callback_add_time(ecs_world *world, ecs_system *system, uint64_t ticks) {
  if (LIKELY(!system->removed))
    system_add_time(system, ticks);
  else
    callback_add_time_anew(world, system, ticks);
}

#endif
