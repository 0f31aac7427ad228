/* Phases and their order: the five built-in ones, and those that users place between them. */
#include "core/base/text.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/schedule/schedule.h"

static const char *const builtin[] = {"startup", "pre_update", "update", "post_update",
                                      "render"};
#define BUILTIN_COUNT (sizeof builtin / sizeof *builtin)

static uint64_t phase_hash_of(const char *name) {
  return name ? text_hash64(name, strlen(name)) : 0;
}

static uint32_t phase_position(struct phase *const *phases, uint32_t count, const char *name,
                               uint64_t hash) {
  for (uint32_t i = 0; name && i < count; i++)
    if (phases[i]->hash == hash && strcmp(phases[i]->name, name) == 0) return i;
  return NONE;
}

struct phase *schedule_phase(const ecs_world *world, const char *name, uint32_t *at) {
  const struct schedule *schedule = world->schedule;
  uint32_t place = phase_position(schedule->phases, schedule->phase_count, name,
                                  phase_hash_of(name));
  if (place == NONE) return NULL;
  if (at) *at = place;
  return schedule->phases[place];
}

/* Where a phase goes among those already placed; NONE while its anchors are missing. Phases after
** the same anchor stay in the order of declaration. */
static uint32_t phase_place_of(struct phase *const *placed, uint32_t count,
                               const struct phase *phase) {
  uint32_t after = phase_position(placed, count, phase->after, phase->after_hash);
  if (after != NONE) {
    uint32_t at = after + 1;
    while (at < count && placed[at]->after_hash == phase->after_hash) at++;
    return at;
  }
  return phase_position(placed, count, phase->before, phase->before_hash);
}

static void phase_insert(struct phase **placed, uint32_t count, uint32_t at, struct phase *phase) {
  assert(at <= count && !phase->placed);
  memmove(placed + at + 1, placed + at, (count - at) * sizeof *placed);
  placed[at] = phase;
  phase->placed = true;
}

/* Goes once over the phases without a place, in order of declaration. */
static uint32_t phase_place_round(const ecs_world *world, uint32_t count, bool at_end) {
  const struct schedule *schedule = world->schedule;
  for (uint64_t last = 0;;) {
    struct phase *next = NULL;
    for (uint32_t i = 0; i < schedule->phase_count; i++) {
      struct phase *phase = schedule->phases[i];
      if (!phase->placed && phase->declared > last &&
          (!next || phase->declared < next->declared))
        next = phase;
    }
    if (!next) return count;
    last = next->declared;
    uint32_t at = phase_place_of(schedule->placed, count, next);
    bool anchored = (next->after && !phase_is_ignored(world, next->after)) ||
                    (next->before && !phase_is_ignored(world, next->before));
    if (at == NONE && at_end && !anchored) at = count;
    if (at != NONE) phase_insert(schedule->placed, count++, at, next);
  }
}

bool phase_runs_once(const struct phase *phase) { return strcmp(phase->name, "startup") == 0; }

bool phase_is_builtin(const char *name) {
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
    if (strcmp(builtin[i], name) == 0) return true;
  return false;
}

bool phase_is_ignored(const ecs_world *world, const char *name) {
  return !schedule_phase(world, name, NULL);
}

ecs_status phase_sort(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  uint32_t count = 0, rounds = 0, ends = 0, before;
  schedule->placed_in_turn = false;
  for (uint32_t i = 0; i < schedule->phase_count; i++) schedule->phases[i]->placed = false;
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
    struct phase *phase = schedule_phase(world, builtin[i], NULL);
    if (phase) phase_insert(schedule->placed, count++, i, phase);
  }
  do {
    before = count;
    count = phase_place_round(world, count, false);
    rounds += count != before ? 1 + ends : 0;   /* one placed after an at_end round has waited */
    if (count != before) continue;
    count = phase_place_round(world, count, true);
    ends += count != before;
  } while (count != before);
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    struct phase *phase = schedule->phases[i];
    uint32_t limit = phase_position(schedule->placed, count, phase->before, phase->before_hash);
    uint32_t at = phase_position(schedule->placed, count, phase->name, phase->hash);
    if (phase->placed && (limit == NONE || at <= limit)) continue;
    ecs_status status =
        world_fail(world, ECS_ECYCLE,
                   "phases cannot be ordered: '%s' would come after '%s' and before '%s'",
                   phase->name, phase->after ? phase->after : phase->name,
                   phase->before ? phase->before : phase->name);
    world_blame(world, world_blame(world, status, phase->name), phase->after);
    return world_blame(world, status, phase->before);
  }
  assert(count == schedule->phase_count);
  schedule->placed_in_turn = rounds <= 1 && ends <= 1;
  memcpy(schedule->phases, schedule->placed, count * sizeof *schedule->phases);
  return ECS_OK;
}

/* Places the phase declared last where phase_sort would, if no phase has waited for a later one and
** none waits for this one; false if all must be sorted. */
static bool phase_place_last(struct schedule *schedule, struct phase *phase) {
  struct phase **phases = schedule->phases;
  uint32_t count = schedule->phase_count, at = phase_place_of(phases, count, phase);
  bool there = schedule->placed_in_turn;
  for (uint32_t i = 0; i < count && there; i++)
    there = phases[i]->after_hash != phase->hash && phases[i]->before_hash != phase->hash;
  if (at == NONE) at = count;
  there = there && at <= phase_position(phases, count, phase->before, phase->before_hash);
  if (there) phase_insert(phases, schedule->phase_count++, at, phase);
  return there;
}

static bool phase_copy(ecs_world *world, struct phase *phase, const char *text, const char **out) {
  *out = text ? arena_copy(&world->memory, &phase->arena, text, strlen(text)) : NULL;
  return !text || *out;
}

ecs_status phase_build(ecs_world *world, const ecs_phase_desc *desc, struct phase **out) {
  if (!desc->name || !*desc->name)
    return world_fail(world, ECS_EINVAL, "a phase needs a name");
  if ((desc->after && strcmp(desc->after, desc->name) == 0) ||
      (desc->before && strcmp(desc->before, desc->name) == 0))
    return world_fail(world, ECS_ECYCLE,
                      "phase '%s' cannot come before or after itself: name another phase",
                      desc->name);
  if (!(desc->fixed >= 0 && desc->fixed < 1e18))
    return world_fail(world, ECS_EINVAL, "phase '%s': fixed = %g is not a step in seconds",
                      desc->name, desc->fixed);
  struct arena arena = {NULL};
  struct phase *phase = arena_take(&world->memory, &arena, sizeof *phase);
  if (!phase) return world_nomem(world);
  phase->arena = arena;
  world->schedule->untold = true;
  phase->fixed = desc->fixed;
  phase->enabled = true;
  phase->hash = phase_hash_of(desc->name);
  phase->after_hash = phase_hash_of(desc->after);
  phase->before_hash = phase_hash_of(desc->before);
  if (phase_copy(world, phase, desc->name, &phase->name) &&
      phase_copy(world, phase, desc->after, &phase->after) &&
      phase_copy(world, phase, desc->before, &phase->before)) {
    *out = phase;
    return ECS_OK;
  }
  phase_free(world, phase);
  return world_nomem(world);
}

void phase_free(ecs_world *world, struct phase *phase) {
  struct arena arena = phase->arena;
  arena_free(&world->memory, &arena);
}

/* Replaces a phase's description. */
static ecs_status phase_replace(ecs_world *world, struct phase *phase, struct phase *old) {
  struct schedule *schedule = world->schedule;
  uint32_t at = 0;
  while (schedule->phases[at] != old) {
    at++;
    assert(at < schedule->phase_count);
  }
  phase->declared = old->declared;
  phase->enabled = old->enabled;
  phase->accumulator = phase->fixed > 0 ? old->accumulator : 0;
  schedule->phases[at] = phase;
  ecs_status status = phase_sort(world);
  if (status != ECS_OK) {
    schedule->phases[at] = old;
    return status;
  }
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (schedule->systems[i]->phase == old) schedule->systems[i]->phase = phase;
  phase_free(world, old);
  return ECS_OK;
}

ecs_status ecs_phase(ecs_world *world, const ecs_phase_desc *desc) {
  struct schedule *schedule = world->schedule;
  ecs_status status = world_not_busy(world, "declaring a phase");
  if (status != ECS_OK) return status;
  struct phase *phase = NULL;
  status = phase_build(world, desc, &phase);
  if (status != ECS_OK) return status;
  assert(phase);
  struct phase *old = schedule_phase(world, desc->name, NULL);
  uint64_t need = schedule->phase_count + 1ull;
  if (!GROW(&world->memory, schedule->phases, schedule->phase_capacity, need) ||
      !GROW(&world->memory, schedule->placed, schedule->placed_capacity, need))
    status = world_nomem(world);
  if (status == ECS_OK && old) {
    status = phase_replace(world, phase, old);
  } else if (status == ECS_OK) {
    phase->declared = ++schedule->next_declared * PLACES;
    assert(schedule->phase_count < schedule->phase_capacity);
    schedule->counted = false;
    bool placed = phase_place_last(schedule, phase);
    if (!placed) schedule->phases[schedule->phase_count++] = phase;
    if (!placed) status = phase_sort(world);
    if (status != ECS_OK) schedule->phase_count--;   /* it is the last: nothing has been sorted */
    if (status == ECS_OK) timings_give_phase(world, phase);
    if (placed) return ECS_OK;
  }
  if (status != ECS_OK) {
    phase_free(world, phase);
    return status;
  }
  status = schedule_sort(world);
  assert(status == ECS_OK);
  return status;
}

ecs_status schedule_init(ecs_world *world) {
  struct phase *reacting = NULL;
  ecs_status made = phase_build(world, &(ecs_phase_desc){.name = "observers"}, &reacting);
  if (made != ECS_OK) return made;
  world->schedule->reacting = reacting;
  world->schedule->stopwatch = stopwatch_new();
  world->watching->tell = observers_run;
  world->callback_running = callback_running;
  for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
    ecs_status status = ecs_phase(world, &(ecs_phase_desc){.name = builtin[i]});
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

ecs_status ecs_alpha(ecs_world *world, const char *name, double *out) {
  const struct schedule *schedule = world->schedule;
  const struct phase *phase = NULL;
  if (name) {
    phase = schedule_phase(world, name, NULL);
    if (!phase) return schedule_no_phase(world, name);
  }
  for (uint32_t i = 0; !phase && i < schedule->phase_count; i++)
    if (schedule->phases[i]->fixed > 0) phase = schedule->phases[i];
  if (!phase || phase->fixed <= 0)
    return world_fail(world, ECS_EINVAL, "%s%s", name ? name : "no phase",
                      name ? " is not a fixed phase" : " is fixed");
  double alpha = phase->accumulator / phase->fixed;
  *out = alpha < 1 ? alpha : 1;   /* above 1 if an error has delayed steps */
  return ECS_OK;
}
