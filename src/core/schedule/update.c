#include <math.h>

#include "core/base/text.h"
#include "core/command/command.h"
#include "core/command/emission.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/query/changes.h"
#include "core/query/query.h"
#include "core/schedule/parallel.h"
#include "core/schedule/schedule.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"

/* Running systems: phases in order, fixed steps, intervals, errors. Each function runs in a scope
** of its own, whose commands are applied, or dropped on failure, when it ends. */

/* ---- what systems read ---- */

/* The event that a system reads, or NULL. If that event is new to it, it begins with the existing
** rows. */
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

void reading_end(ecs_world *world) { world->events.read_by = NULL; }

/* While a system runs, its query sees the changes since the system's last run, whatever else uses
** the query, whose own place is kept. The system's own writes are not new to it. ECS_ENOMEM: the
** system must not run. */
static ecs_status news_begin(ecs_system *system) {
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

/* At the end of an update, drops the events of the update before, except those that systems in
** fixed phases or with an interval still await. */
static void reading_drop(ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  const struct events *events = &world->events;
  assert(!staging_is_open(&world->staging));
  for (uint32_t i = 0; i < events->count; i++) events->list[i]->leaving = events->list[i]->aged;
  for (uint32_t i = 0; events->count && i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    const struct phase *phase = system->phase;
    struct event *event = reading_of(system);
    bool awaits = event && system->enabled && !system->parked && phase->enabled &&
                  (phase->fixed > 0 || system->every > 0) &&
                  (!system->has_run || !phase_runs_once(phase));
    if (awaits && system->awaited < event->leaving) event->leaving = system->awaited;
  }
  for (uint32_t i = 0; i < events->count; i++) {
    struct event *event = events->list[i];
    event_drop(world, event, event->leaving);
    event->aged = event_end(event);
  }
}

/* ---- running systems ---- */

/* Calls in a scope of its own; its commands are applied or dropped afterwards. */
INLINE ecs_status update_call(ecs_world *world, ecs_system *system, double dt) {
  uint32_t scope = 0;
  ecs_status status = ECS_OK;
  if (!scope_open_first(&world->staging, SCOPE_SYSTEM))
    status = scope_open(world, SCOPE_SYSTEM, &scope);
  if (UNLIKELY(status != ECS_OK)) return status;
  char first = callback_begin(world);
  status = system->run(world, system->query, dt, system->ud);
  callback_end(world, status, first);
  if (UNLIKELY(world->staging.scope_count > scope + 1))
    callback_end_inner(world, scope, status == ECS_OK);
  if (LIKELY(status == ECS_OK)) {
    if (LIKELY(scope_end_first(&world->staging, world->watching->note_count))) return ECS_OK;
    status = scope_commit(world, scope);
    if (!scope_stays_open(status)) return status;
  }
  scope_cancel(world, scope);
  return status;
}

/* Counts a run in this tick. Returns how many came before. */
static inline uint64_t update_count_stream(const ecs_world *world, ecs_system *system) {
  uint64_t opened = streams_before(world, system);
  system->streams_tick = world->tick;
  system->streams = opened + 1;
  return opened;
}

/* The random stream of the system's next run in this tick, which is counted unless the run
** fails. */
static inline struct chance update_next_stream(const ecs_world *world, ecs_system *system) {
  return stream_of(world, system, update_count_stream(world, system));
}

INLINE ecs_status update_call_once(ecs_world *world, ecs_system *system, double dt) {
  world_turn(world);
  world->running = true;
  ecs_status status = update_call(world, system, dt);
  world->running = false;
  world_turn(world);
  return status;
}

/* update_call_once for a system that reads events or changes. */
static RARE ecs_status update_call_with_news(ecs_world *world, ecs_system *system, double dt) {
  uint64_t seen = system->seen, awaited = system->awaited, news = system->news;
  world->schedule->news = true;
  /* Its query yields the events that it has not seen, which then count as seen. */
  const struct event *event = reading_of(system);
  if (event) {
    assert(!world->events.read_by);
    world->events.read_by = system->reads;
    world->events.from = system->seen;
    world->events.until = system->seen = system->awaited = event_end(event);
  }
  ecs_status status = news_begin(system);
  if (LIKELY(status == ECS_OK)) {
    status = update_call_once(world, system, dt);
    news_end(world, system);
  }
  reading_end(world);
  world->schedule->news = false;
  if (status == ECS_ENOMEM) {
    system->seen = seen;
    system->awaited = awaited;
    system->news = news;
  }
  return status;
}

/* A run that runs out of memory has changed nothing and does not count. */
INLINE ecs_status update_run_system(ecs_world *world, ecs_system *system, double dt) {
  struct schedule *schedule = world->schedule;
  uint64_t start = schedule->clock ? schedule->clock : stopwatch_start(&schedule->stopwatch);
  double elapsed = system->elapsed;
  bool had_run = system->has_run;
  assert(world->updating && !schedule->current);
  schedule->current = system;
  system->has_run = true;
  system->runs++;
  system->elapsed = 0;
  world->chance = update_next_stream(world, system);
  uint64_t rows = world->rows_run;
  bool timed = UNLIKELY(schedule->profile != NULL) && profile_is_long(schedule, system);
  double cpu = UNLIKELY(timed) ? clock_thread_seconds() : 0;
  ecs_status status = reads_news(system) ? update_call_with_news(world, system, dt)
                                         : update_call_once(world, system, dt);
  schedule->current = NULL;
  system->rows = world->rows_run - rows;
  system->all_rows += system->rows;
  if (UNLIKELY(timed)) system->cpu += clock_thread_seconds() - cpu;
  if (UNLIKELY(status != ECS_OK)) system->streams--;
  if (UNLIKELY(status == ECS_ENOMEM)) {
    system->has_run = had_run;
    system->elapsed = elapsed;
  }
  schedule->clock = stopwatch_read(&schedule->stopwatch);
  callback_add_time(world, system, stopwatch_between(start, schedule->clock));
  if (UNLIKELY(status != ECS_OK)) status = callback_failed(world, system, status);
  return world_tell_observers(world, status);
}

/* Time passes for a system even if it does not run. */
static void update_pass_time(ecs_system *system, double dt) {
  system->elapsed += dt;
  system->timer += dt;
}

/* Whether the system's condition holds; it has a random stream of its own. */
static ecs_status update_ask(ecs_world *world, ecs_system *system, bool *wanted) {
  world->schedule->clock = 0;
  world->schedule->current = system;
  world->chance = update_next_stream(world, system);
  char first = callback_begin(world);
  ecs_status status = system->when(world, system->ud, wanted);
  world->schedule->current = NULL;
  if (UNLIKELY(staging_is_open(&world->staging))) status = callback_end_left(world, status);
  callback_end(world, status, first);
  if (status != ECS_OK) system->streams--;
  return world_tell_observers(world, status);
}

/* Whether a system that needs rows has none. */
static bool update_is_barren(const ecs_world *world, ecs_system *system) {
  if (!reads_nothing(system)) return false;
  if (system->every <= 0 && !system->when) system->barren = world_arrived(world);
  return true;
}

/* Whether the query certainly has rows, because its last table does. */
static inline bool update_is_fertile(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return query && query->terms.plain && query->count && !query->broken &&
         world_table(query->world, query->tables[query->count - 1])->count > 0;
}

/* Counts as a run without duration; the clock is not read, so the next system must do so. */
static inline void update_pass_over(const ecs_world *world, ecs_system *system) {
  update_count_stream(world, system);
  system->has_run = true;
  system->runs++;
  system->elapsed = 0;
  system->last_ticks = 0;
  system->rows = 0;
  world->schedule->clock = 0;
}

/* A query without rows stays so until a table gets its first row. True if that settles the system's
** run. */
static inline bool update_step_barren(const ecs_world *world, ecs_system *system,
                                      double dt, bool once) {
  if (system->barren != world_arrived(world)) return false;
  if (!system->enabled || system->parked || system->removed || once) return false;
  assert(system->every <= 0 && !system->when && update_is_barren(world, system));
  system->timer += dt;
  update_pass_over(world, system);
  return true;
}

static ecs_status update_step_system(ecs_world *world, ecs_system *system, struct tempo tempo) {
  update_pass_time(system, tempo.dt);
  if (!system->enabled || system->parked || (tempo.once && system->has_run)) return ECS_OK;
  if (system->every > 0 && !(system->timer >= system->every)) return ECS_OK;
  /* The system is due: existing events need not stay for it any longer. */
  const struct event *event = reads_news(system) ? reading_of(system) : NULL;
  uint64_t awaited = system->awaited;
  if (UNLIKELY(event != NULL)) system->awaited = event_end(event);
  if (system->when) {
    bool wanted = false;
    ecs_status status = update_ask(world, system, &wanted);
    if (status != ECS_OK) return callback_failed(world, system, status);
    if (!wanted || system->removed) return ECS_OK;
  }
  double timer = system->timer;
  /* The remainder counts for the next interval. */
  if (system->every > 0) system->timer = fmod(system->timer, system->every);
  if (system->needs_rows && !update_is_fertile(system) && update_is_barren(world, system)) {
    update_pass_over(world, system);
    return ECS_OK;
  }
  ecs_status status = update_run_system(world, system, dt_of(system, &tempo));
  if (UNLIKELY(status == ECS_ENOMEM)) {
    system->timer = timer;
    if (reads_news(system)) system->awaited = awaited;
  }
  return status;
}

/* Steps the systems in a range of the running phase, as they are now. After a failure, only time
** passes for the rest. */
static ecs_status update_step_range(ecs_world *world, uint32_t from, uint32_t to,
                                    struct tempo tempo, ecs_status status) {
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = from; i < to; i++) {
    ecs_system *system = schedule->running[i];
    FETCH(schedule->running[i + RUNNING_AHEAD]);
    FETCH(&schedule->running[i + RUNNING_AHEAD]->last_ticks);   /* usually another cache line */
    if (LIKELY(status == ECS_OK) &&
        update_step_barren(world, system, tempo.dt, tempo.once))
      continue;
    /* Prefetches what later systems will look at first. */
    const ecs_system *next = schedule->running[i + 1], *later = schedule->running[i + 2];
    FETCH(later);
    FETCH(&later->reads);
    FETCH(next->reads);
    FETCH(next->ud);
    if (system->removed) continue;
    if (status == ECS_OK)
      status = update_step_system(world, system, tempo);
    else
      update_pass_time(system, tempo.dt);
  }
  return status;
}

/* Steps all systems if some may run in parallel: a batch does its work at the place of its first
** member, and each member is then stepped at its own place as if it did the work there. */
static RARE ecs_status update_step_batches(ecs_world *world, struct tempo tempo) {
  const struct schedule *schedule = world->schedule;
  struct together batch;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < schedule->running_count;) {
    uint32_t end = schedule->running_count;
    if (status == ECS_OK) end = together_begin(world, i, &tempo, &batch);
    assert(end > i && end <= schedule->running_count);
    bool abreast = status == ECS_OK && batch.count > 0;
    status = update_step_range(world, i, end, tempo, status);
    i = end;
    assert(!abreast || status == ECS_OK);
    if (abreast) together_end(world, &batch);
  }
  return status;
}

/* Runs the systems of a phase: one registered meanwhile waits for its next start, one removed is
** skipped. */
static ecs_status update_run_once(ecs_world *world, const struct phase *phase, double dt) {
  struct schedule *schedule = world->schedule;
  struct tempo tempo = {dt, phase_runs_once(phase), phase->fixed > 0};
  assert(schedule->running_count == 0);
  schedule_count(schedule);
  if (phase->count == 0) return ECS_OK;
  assert(phase->first + phase->count <= schedule->system_count);
  assert(schedule->system_count + RUNNING_AHEAD <= schedule->running_capacity);
  memcpy(schedule->running, schedule->systems + phase->first,
         phase->count * sizeof *schedule->running);
  schedule->running_count = phase->count;
  for (uint32_t i = 0; i < RUNNING_AHEAD; i++)
    schedule->running[phase->count + i] = schedule->running[phase->count - 1];
  ecs_status status = UNLIKELY(world->pool != NULL) && together_is_worth(world, &tempo)
                          ? update_step_batches(world, tempo)
                          : update_step_range(world, 0, schedule->running_count, tempo, ECS_OK);
  schedule->running_count = 0;
  return status;
}

static ecs_status update_run_phase(ecs_world *world, struct phase *phase, double dt) {
  if (phase->fixed <= 0) return update_run_once(world, phase, dt);
  phase->accumulator += dt;
  for (int i = 0; i < CATCH_UP_STEPS && phase->accumulator >= phase->fixed; i++) {
    phase->accumulator -= phase->fixed;
    ecs_status status = update_run_once(world, phase, phase->fixed);
    if (status != ECS_OK) return status;
  }
  phase->accumulator = fmod(phase->accumulator, phase->fixed);
  return ECS_OK;
}

/* Steps of a fixed phase that an error prevents are made up later. */
static void update_pass_phase(struct schedule *schedule, struct phase *phase, double dt) {
  if (phase->enabled && phase->fixed > 0) {
    phase->accumulator += dt;
    return;
  }
  schedule_count(schedule);
  for (uint32_t i = phase->first; i < phase->first + phase->count; i++)
    update_pass_time(schedule->systems[i], dt);
}

static ecs_status update_begin(ecs_world *world, const char *operation, double dt) {
  ecs_status status = world_not_busy(world, operation);
  if (status == ECS_OK && !(dt >= 0 && dt < 1e18))
    status = world_fail(world, ECS_EINVAL, "dt = %g is not a time in seconds", dt);
  const struct loop_owner *owner = world->staging.loop_owners;
  for (; status == ECS_OK && owner; owner = owner->next) status = owner->end_loops(owner->ud);
  if (status == ECS_OK && staging_is_open(&world->staging))
    status = world_fail(world, ECS_EBUSY, "%s is not possible inside a loop (the host ends it "
                        "with ecs_iter_close, or ecs_abandon if a jump left it)", operation);
  if (status == ECS_OK) status = indexes_watch(world);
  if (status == ECS_OK) {
    world_turn(world);
    world->updating = true;
    world->schedule->outer = world->chance;
  }
  world->schedule->clock = 0;
  return status;
}

static void update_end(ecs_world *world) {
  assert(world->updating && !staging_is_open(&world->staging));
  world->updating = false;
  world->chance = world->schedule->outer;
  schedule_free_gone(world);
  world_settle(world);
}

ecs_status ecs_update(ecs_world *world, double dt) {
  ecs_status status = update_begin(world, "update", dt);
  if (status != ECS_OK) return status;
  status = later_pass(world, dt);
  if (status != ECS_OK) {
    update_end(world);
    return status;
  }
  struct schedule *schedule = world->schedule;
  uint64_t start = UNLIKELY(schedule->profile != NULL) ? stopwatch_start(&schedule->stopwatch) : 0;
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    if (status == ECS_OK && schedule->phases[i]->enabled)
      status = update_run_phase(world, schedule->phases[i], dt);
    else
      update_pass_phase(schedule, schedule->phases[i], dt);
  }
  world->tick++;
  world->schedule->outer = chance_outermost(world->seed);
  graph_reclaim(world);
  /* Events that systems did not reach for lack of memory stay for the next update. */
  if (status != ECS_ENOMEM) reading_drop(world);
  update_end(world);
  if (UNLIKELY(schedule->profile && start)) profile_add_update(world, start);
  return status;
}

ecs_status ecs_run(ecs_world *world, const char *name, double dt) {
  name = text_given(name);
  ecs_system *system = schedule_system(world, name, strlen(name));
  struct phase *phase = schedule_phase(world, name, NULL);
  if (!system && !phase) return schedule_unknown(world, name, true);
  if (system && system->watch)
    return world_fail(world, ECS_EINVAL, "'%s' is an observer, which is called on changes: run a "
                      "system", name);
  if (system && system->parked)
    return world_fail(world, ECS_EINVAL,
                      "system '%s' is parked after an error; register it again", name);
  ecs_status status = update_begin(world, "run", dt);
  if (status != ECS_OK) return status;
  if (system) {
    system->elapsed += dt;
    if (system->needs_rows && update_is_barren(world, system))
      update_pass_over(world, system);
    else
      status = update_run_system(world, system, system->has_run ? system->elapsed : dt);
  } else {
    status = update_run_phase(world, phase, dt);
  }
  update_end(world);
  return status;
}

/* ---- callback ---- */

const char *callback_running(const ecs_world *world, const char **kind) {
  const struct watch *shown = world->watching->shown;
  const ecs_system *system = shown ? shown->owner : world->schedule->current;
  *kind = shown ? "observer" : "system";
  return system ? system->name : NULL;
}

ecs_status callback_end_left(ecs_world *world, ecs_status status) {
  const struct loop_owner *owner = world->staging.loop_owners;
  bool keep = status == ECS_OK;
  for (; owner; owner = owner->next) owner->end_system(owner->ud, keep);
  while (staging_is_open(&world->staging)) {
    uint32_t scope = scope_innermost(&world->staging);
    ecs_status ended = keep ? scope_commit(world, scope) : ECS_OK;
    if (!keep || scope_stays_open(ended)) scope_cancel(world, scope);
    if (status == ECS_OK) status = ended;
  }
  return status;
}

/* Calls the error handler, in the open scope or in none. */
static void update_callback_handle(ecs_world *world, const ecs_system *system, ecs_status status) {
  const struct schedule *schedule = world->schedule;
  uint32_t scopes = world->staging.scope_count;
  schedule->on_error(world, system->name, status, schedule->on_error_ud);
  if (LIKELY(world->staging.scope_count == scopes)) return;
  if (scopes)
    callback_end_inner(world, scopes - 1, true);
  else
    callback_end_left(world, ECS_OK);
}

/* The handler uses the random stream around those of systems. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status) {
  struct schedule *schedule = world->schedule;
  /* The message begins with the system's name; without a message of its own, its status follows. */
  char why[MESSAGE_SIZE];
  if (world->message[0])
    text_format(why, sizeof why, "%s", world->message);
  else if (status == ECS_ENOMEM)
    text_format(why, sizeof why, "not enough memory");
  else
    text_format(why, sizeof why, "it failed with status %d", (int)status);
  world_fail(world, status, "%s '%s': %s", system->watch ? "observer" : "system", system->name,
             why);
  if (!schedule->on_error) return status;
  schedule->clock = 0;
  system->parked = true;
  if (system->watch) {
    schedule_watch(world, system);
    update_callback_handle(world, system, status);
    return ECS_OK;
  }
  world->chance = schedule->outer;
  update_callback_handle(world, system, status);
  schedule->outer = world->chance;
  return ECS_OK;
}

void callback_end_inner(ecs_world *world, uint32_t scope, bool keep) {
  const struct loop_owner *owner = world->staging.loop_owners;
  for (; owner; owner = owner->next) owner->end_system(owner->ud, keep);
  scope_end_inner(world, scope, keep);
}

RARE void callback_add_time_by_name(ecs_world *world, ecs_system *system, uint64_t ticks) {
  system = schedule_system(world, system->name, strlen(system->name));
  if (system) system_add_time(system, ticks);
}
