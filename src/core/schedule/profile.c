#include "core/schedule/schedule.h"

/* What updates take. Counters of systems are always kept: they are increments on data that a run
** touches anyway. While a world is profiled, each update adds a frame to a ring of fixed length,
** and each system has an array with its part of each frame at the same place, so nothing is
** allocated once every system has its array. None of it is state of the world: images, snapshots
** and digests ignore it. */

#define LONG_RUN 50e-6         /* seconds; once a run took that long, the CPU clock is read, too */

ecs_status profile_switch(ecs_world *world, bool on) {
  struct schedule *schedule = world->schedule;
  if (on == (schedule->profile != NULL)) return ECS_OK;
  if (on) {
    struct profile *profile = memory_array(&world->memory, 1, sizeof *profile);
    if (!profile) return world_nomem(world);
    profile->has_cpu = clock_thread_seconds() >= 0;
    for (uint32_t i = 0; i < schedule->system_count; i++)
      schedule->systems[i]->history_ticks = schedule->systems[i]->total_ticks;
    schedule->profile = profile;
    return ECS_OK;
  }
  memory_free(&world->memory, schedule->profile, sizeof *schedule->profile);
  schedule->profile = NULL;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    profile_drop_history(world, schedule->systems[i]);
    schedule->systems[i]->cpu = 0;
  }
  return ECS_OK;
}

void profile_drop_history(ecs_world *world, ecs_system *system) {
  if (system->history)
    FREE_LIST(&world->memory, system->history, PROFILE_FRAMES);
  system->history = NULL;
}

bool profile_is_long(const struct schedule *schedule, const ecs_system *system) {
  double seconds = (double)system->peak_ticks * stopwatch_tick(&schedule->stopwatch);
  return schedule->profile->has_cpu && seconds >= LONG_RUN;
}

void profile_add_update(ecs_world *world, uint64_t start) {
  struct schedule *schedule = world->schedule;
  struct profile *profile = schedule->profile;
  uint64_t ticks = stopwatch_between(start, stopwatch_read(&schedule->stopwatch));
  double tick = stopwatch_tick(&schedule->stopwatch);
  uint32_t at = (uint32_t)(profile->count++ % PROFILE_FRAMES);
  profile->frames[at] = (struct profile_frame){(double)ticks * tick, world->entities.alive};
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    if (UNLIKELY(!system->history))
      system->history = memory_array(&world->memory, PROFILE_FRAMES, sizeof *system->history);
    if (LIKELY(system->history))
      system->history[at] = (double)(system->total_ticks - system->history_ticks) * tick;
    system->history_ticks = system->total_ticks;
  }
}

void profile_reset(ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    system->runs = system->rows = system->all_rows = 0;
    system->last_ticks = system->total_ticks = system->peak_ticks = system->history_ticks = 0;
    system->cpu = 0;
  }
}
