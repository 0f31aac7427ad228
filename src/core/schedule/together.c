#include "core/schedule/together.h"

#include "core/base/pool.h"
#include "core/schedule/due.h"
#include "core/command/watch.h"

/* ---- who is in it ---- */

enum joining { PASSES, STOPS, JOINS };

/* Whether it is due for a run when its turn comes. */
static bool is_to_run(const ecs_system *system, const struct tempo *tempo) {
  if (system->removed || !system->enabled || system->parked) return false;
  if (tempo->once && system->has_run) return false;
  return system->every <= 0 || system->timer + tempo->dt >= system->every;
}

/* Whether there can be a batch that is worth it among those of the phase that runs: most phases of
** few rows are known by this, at little cost, to have none. */
bool together_is_worth(const ecs_world *world, const struct tempo *tempo) {
  const struct schedule *schedule = world->schedule;
  struct prospect prospect;
  uint64_t work = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < schedule->running_count; i++) {
    ecs_system *system = schedule->running[i];
    system->abreast = 0;
    if (schedule->running_count < 2 || !is_to_run(system, tempo)) continue;
    beside_weigh(world, system, &prospect);
    if (prospect.alone) continue;
    work += prospect.work;
    count++;
  }
  return count > 1 && pool_is_worth(world->pool, work);
}

/* What a system does behind those of a batch; in *side what it is if it joins. Those of the batch
** leave all as it is that this goes by. */
static enum joining joining_of(const ecs_world *world, const ecs_system *system,
                               const struct tempo *tempo, const struct together *batch,
                               struct side *side) {
  struct access at;
  if (!is_to_run(system, tempo)) return PASSES;
  if (system->when || batch->count == BESIDE_MOST) return STOPS;
  if (system->needs_rows && reads_nothing(system)) return PASSES;
  side->system = system;
  beside_look(world, system, &side->prospect);
  if (side->prospect.alone) return STOPS;
  for (uint32_t i = 0; i < batch->count; i++)
    if (beside_clash(world, &batch->sides[i], side, &at) != CLASH_NONE) return STOPS;
  return JOINS;
}

/* Returns the place behind the last that it has looked at. */
static uint32_t parallel_gather(const ecs_world *world, uint32_t from, const struct tempo *tempo,
                                struct together *batch) {
  const struct schedule *schedule = world->schedule;
  uint32_t at = from;
  batch->count = batch->ended = 0;
  batch->work = 0;
  for (; at < schedule->running_count; at++) {
    ecs_system *system = schedule->running[at];
    struct side *side = &batch->sides[batch->count % BESIDE_MOST];
    system->abreast = 0;
    enum joining joining = joining_of(world, system, tempo, batch, side);
    if (joining == STOPS) break;
    if (joining == PASSES) continue;
    batch->work += side->prospect.work;
    batch->places[batch->count++] = at;
  }
  return at > from ? at : from + 1;
}

/* ---- what they do ---- */

static ecs_system *parallel_member(const ecs_world *world, const struct together *batch,
                                   uint32_t i) {
  return world->schedule->running[batch->places[i]];
}

/* An ecs_run_fn, of those whose run is done. */
static ecs_status end_member(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct schedule *schedule = world->schedule;
  struct together *batch = schedule->together;
  ecs_system *system = schedule->current;
  (void)query;
  (void)dt;
  (void)ud;
  assert(batch->ended < batch->count && batch->sides[batch->ended].system == system);
  system->run = batch->run[batch->ended];
  schedule->companions->end(system, batch->ended++);
  return ECS_OK;
}

/* As its own step would find it. */
static bool parallel_add(ecs_world *world, ecs_system *system, const struct tempo *tempo,
                         const ecs_system *first) {
  const struct companions *companions = world->schedule->companions;
  double elapsed = system->elapsed;
  world->chance = stream_of(world, system, streams_before(world, system));
  system->elapsed += tempo->dt;
  double dt = dt_of(system, tempo);
  system->elapsed = elapsed;
  return companions->add(system, dt, first);
}

/* Takes as many as can be prepared. Returns the place behind the last system that is before all
** others. */
static uint32_t parallel_add_all(ecs_world *world, const struct tempo *tempo,
                                 struct together *batch, uint32_t end) {
  uint64_t work = 0;
  for (uint32_t i = 0; i < batch->count; i++) {
    if (!parallel_add(world, parallel_member(world, batch, i), tempo, batch->sides[0].system)) {
      end = i ? batch->places[i] : batch->places[0] + 1;
      batch->count = i;
      break;
    }
    work += batch->sides[i].prospect.work;
  }
  batch->work = work;
  return end;
}

/* A step of a member fails by what it does alone: all else that could is ruled out here. */
static bool steps_are_sound(const ecs_world *world) {
  const struct staging *staging = &world->staging;
  bool clean = !(staging->command_count | staging->emission_count | world->watching->note_count);
  return staging->scope_count == 0 && staging->scope_capacity > 0 && clean &&
         staging->refused == ECS_OK && world->watching->due == 0;
}

uint32_t together_begin(ecs_world *world, uint32_t from, const struct tempo *tempo,
                     struct together *batch) {
  struct schedule *schedule = world->schedule;
  uint32_t end = parallel_gather(world, from, tempo, batch);
  bool worth = batch->count > 1 && pool_is_worth(world->pool, batch->work);
  if (!worth || !steps_are_sound(world)) batch->count = 0;
  if (batch->count == 0) return end;
  uint64_t start = stopwatch_start(&schedule->stopwatch);
  end = parallel_add_all(world, tempo, batch, end);
  if (batch->count < 2 || !schedule->companions->run(parallel_member(world, batch, 0)))
    batch->count = 0;
  schedule->clock = stopwatch_read(&schedule->stopwatch);
  batch->ticks = stopwatch_between(start, schedule->clock);
  for (uint32_t i = 0; i < batch->count; i++) {
    ecs_system *system = parallel_member(world, batch, i);
    batch->run[i] = system->run;
    system->run = end_member;
    system->abreast = (uint8_t)batch->count;
  }
  schedule->together = batch;
  return end;
}

/* They share the time by what each has done. */
void together_end(ecs_world *world, struct together *batch) {
  assert(batch->ended == batch->count && batch->count > 1);
  world->schedule->together = NULL;
  for (uint32_t i = 0; i < batch->count; i++) {
    ecs_system *system = parallel_member(world, batch, i);
    double work = (double)batch->sides[i].prospect.work;
    double part = batch->work ? work / (double)batch->work : 0;
    uint64_t ticks = (uint64_t)((double)batch->ticks * part);
    system->last_ticks += ticks;
    system->total_ticks += ticks;
  }
}
