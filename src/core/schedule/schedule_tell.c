/* What is odd about how systems and phases were registered, though it is allowed. */
#include "core/base/nearest.h"
#include "core/schedule/schedule.h"
#include "core/schedule/timetable.h"
#include "core/ids/world.h"
#include "core/base/text.h"

static uint32_t schedule_length(const char *const *names) {
  uint32_t count = 0;
  while (names && names[count]) count++;
  return count;
}

static void schedule_offer(struct nearest *nearest, const char *name) {
  nearest_offer(nearest, name, strlen(name));
}

/* The nearest name of a system of that phase. */
static const char *nearest_system(const struct schedule *schedule, const struct phase *phase,
                                  const char *name, char *hint, size_t size) {
  struct nearest nearest;
  nearest_begin(&nearest, name, strlen(name));
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (schedule->systems[i]->phase == phase) schedule_offer(&nearest, schedule->systems[i]->name);
  return nearest_hint(&nearest, hint, size);
}

static void tell_system(const ecs_world *world, const ecs_system *system, const char *option,
                        const char *name, char *text, size_t size) {
  const ecs_system *other = schedule_system(world, name, strlen(name));
  char hint[96];
  if (other)
    text_format(text, size, "system '%s': '%s' in %s is of the phase '%s', this one of '%s'; it "
                "is ignored", system->name, name, option, other->phase->name,
                system->phase->name);
  else
    text_format(text, size, "system '%s': '%s' in %s names no system%s; it is ignored",
                system->name, name, option,
                nearest_system(world->schedule, system->phase, name, hint, sizeof hint));
}

/* False when all names of the system have been looked at. */
static bool look_at_system(const ecs_world *world, ecs_system *system, char *text,
                           size_t size) {
  uint32_t before = schedule_length(system->before),
           count = before + schedule_length(system->after);
  while (system->told < count) {
    uint32_t at = system->told++;
    const char *name = at < before ? system->before[at] : system->after[at - before];
    if (!schedule_is_ignored(world, system, name)) continue;
    tell_system(world, system, at < before ? "before" : "after", name, text, size);
    return true;
  }
  return false;
}

static bool look_at_phase(const ecs_world *world, struct phase *phase, char *text,
                          size_t size) {
  const struct schedule *schedule = world->schedule;
  while (phase->told < 2) {
    const char *option = phase->told ? "before" : "after";
    const char *name = phase->told++ ? phase->before : phase->after;
    if (!name || !phase_is_ignored(world, name)) continue;
    struct nearest nearest;
    char hint[96];
    nearest_begin(&nearest, name, strlen(name));
    for (uint32_t i = 0; i < schedule->phase_count; i++)
      schedule_offer(&nearest, schedule->phases[i]->name);
    text_format(text, size, "phase '%s': '%s' in %s names no phase%s; it is ignored",
                phase->name, name, option, nearest_hint(&nearest, hint, sizeof hint));
    return true;
  }
  return false;
}

bool schedule_tell(ecs_world *world, char *text, size_t size) {
  struct schedule *schedule = world->schedule;
  if (LIKELY(!schedule->untold)) return false;
  for (uint32_t i = 0; i < schedule->phase_count; i++)
    if (look_at_phase(world, schedule->phases[i], text, size)) return true;
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (look_at_system(world, schedule->systems[i], text, size)) return true;
  schedule->untold = false;
  return false;
}
