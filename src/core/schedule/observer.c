#include "core/schedule/schedule.h"

#include "core/base/text.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/storage/table.h"
#include "ecs_observer.h"

/* The first failure, with its message; the remaining observers run nevertheless. `refused`: the
** observer whose command could not apply, reported in the scope of the next round. */
struct outcome {
  ecs_status status;
  char message[MESSAGE_SIZE];
  ecs_system *refused;
  ecs_status refusal;
  char refusal_message[MESSAGE_SIZE];
};

static void observer_note_failure(const ecs_world *world, struct outcome *outcome,
                                  ecs_status status) {
  if (status == ECS_OK || outcome->status != ECS_OK) return;
  outcome->status = status;
  memcpy(outcome->message, world->message, sizeof outcome->message);
}

/* ---- one observer ---- */

/* Calls an observer in a scope of its own: what it stages joins the round's changes, or is
** dropped. */
static ecs_status observer_call(ecs_world *world, ecs_system *observer, struct ecs_sight *sight) {
  uint32_t scope;
  ecs_status status = scope_open(world, SCOPE_SYSTEM, &scope);
  if (status != ECS_OK) return status;
  struct stopwatch *stopwatch = &world->schedule->stopwatch;
  uint64_t start = stopwatch_start(stopwatch);
  char first = callback_begin(world);
  observer->runs++;
  world->watching->shown = observer->watch;
  status = observer->observe(world, sight, observer->ud);
  world->watching->shown = NULL;
  callback_end(world, status, first);
  callback_add_time(world, observer, stopwatch_between(start, stopwatch_read(stopwatch)));
  if (UNLIKELY(world->staging.scope_count > scope + 1))
    callback_end_inner(world, scope, status == ECS_OK);
  if (status == ECS_OK) return scope_commit(world, scope);
  scope_cancel(world, scope);
  return callback_failed(world, observer, status);
}

static bool observer_had_turn(const struct watching *watching, const struct watch *watch) {
  return !watch || watch->asked == watching->round;
}

/* The next observer to call in this round. Observers may come and go meanwhile; one that comes back
** keeps its turn. */
static struct watch *observer_next_watch(struct watching *watching) {
  uint32_t count = watching->concerned_count;
  while (watching->turn < count && observer_had_turn(watching, watching->concerned[watching->turn]))
    watching->turn++;
  for (uint32_t i = watching->turn; i < count; i++) {
    struct watch *watch = watching->concerned[i];
    if (!observer_had_turn(watching, watch) && watch->on) return watch;
  }
  return NULL;
}

/* ---- rounds ---- */

/* The observer that gave a command that could not apply. */
static ecs_system *observer_who_gave(const ecs_world *world, uint64_t round, uint32_t command) {
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const struct watch *watch = schedule->systems[i]->watch;
    if (watch && watch->called == round && command >= watch->first_command &&
        command < watch->end_command)
      return schedule->systems[i];
  }
  return NULL;
}

static void observer_call_all(ecs_world *world, struct outcome *outcome) {
  struct watching *watching = world->watching;
  for (struct watch *watch; (watch = observer_next_watch(watching)) != NULL;) {
    struct ecs_sight sight;
    watch->asked = watching->round;
    /* Only if there is a match to call it for. */
    sight_begin(&sight, world, watch);
    if (!sight_next(&sight)) continue;
    watch->called = watching->round;
    watch->first_command = world->staging.command_count;
    uint32_t notes = watching->note_count;
    sight_begin(&sight, world, watch);
    observer_note_failure(world, outcome, observer_call(world, watch->owner, &sight));
    watch->end_command = world->staging.command_count;
    watch->acted = watch->end_command > watch->first_command || watching->note_count > notes;
  }
}

/* Fails with the names of the observers that still change something in the last rounds. */
static ecs_status observer_fail_circle(const ecs_world *world) {
  const struct watching *watching = world->watching;
  char names[MESSAGE_SIZE / 2] = "", longer[MESSAGE_SIZE / 2];
  for (uint32_t i = 0; i < world->schedule->system_count; i++) {
    const ecs_system *observer = world->schedule->systems[i];
    const struct watch *watch = observer->watch;
    if (!watch || !watch->acted || watch->called + ROUND_LIMIT / 2 <= watching->round) continue;
    text_format(longer, sizeof longer, "%s%s'%s'", names, names[0] ? ", " : "", observer->name);
    memcpy(names, longer, sizeof names);
  }
  return world_fail(world, ECS_ECYCLE, "observers keep triggering each other after %d rounds: %s",
                    ROUND_LIMIT, names);
}

/* Calls all observers once and applies what they staged, unless it is the last permitted round. */
static ecs_status observer_run_round(ecs_world *world, bool last, struct outcome *outcome) {
  struct watching *watching = world->watching;
  uint64_t round = watching->round;
  uint32_t scope;
  ecs_status status = scope_open(world, SCOPE_SYSTEM, &scope);
  if (status != ECS_OK) return status;
  watching->due = 0;
  ecs_system *refused = outcome->refused;
  outcome->refused = NULL;
  if (refused) world_fail(world, outcome->refusal, "%s", outcome->refusal_message);
  if (refused)
    observer_note_failure(world, outcome, callback_failed(world, refused, outcome->refusal));
  observer_call_all(world, outcome);
  watch_forget_changes(world);
  bool more = (world->staging.command_count | watching->note_count) != 0;
  status = last && more ? observer_fail_circle(world) : scope_commit(world, scope);
  if (status == ECS_OK) return status;
  if (!(last && more) && !scope_stays_open(status)) {
    outcome->refused = observer_who_gave(world, round, world->staging.refused_at);
    outcome->refusal = status;
    memcpy(outcome->refusal_message, world->message, sizeof outcome->refusal_message);
    if (!outcome->refused) observer_note_failure(world, outcome, status);
    return ECS_OK;
  }
  scope_cancel(world, scope);
  observer_note_failure(world, outcome, status);
  return ECS_OK;
}

ecs_status observers_run(ecs_world *world) {
  if (LIKELY(world->watching->due == 0) || staging_is_open(&world->staging)) return ECS_OK;
  struct outcome outcome = {.status = ECS_OK};
  bool updating = world->updating;
  if (!updating) world->schedule->outer = world->chance;
  world->updating = true;
  for (uint32_t round = 1; world->watching->due || outcome.refused; round++) {
    ecs_status status = observer_run_round(world, round == ROUND_LIMIT, &outcome);
    observer_note_failure(world, &outcome, status);
    if (status != ECS_OK) break;
  }
  if (outcome.refused && outcome.status == ECS_OK) {   /* there was no memory to report it */
    outcome.status = outcome.refusal;
    memcpy(outcome.message, outcome.refusal_message, sizeof outcome.message);
  }
  world->updating = updating;
  world->schedule->clock = 0;
  if (!updating) schedule_free_gone(world);
  if (outcome.status != ECS_OK) memcpy(world->message, outcome.message, sizeof outcome.message);
  return outcome.status;
}

/* ---- for hosts in C ---- */

ecs_status ecs_observer_new(ecs_world *world, const ecs_observer_desc *desc) {
  ecs_system *observer = NULL;
  ecs_status status = schedule_build_observer(world, desc, &observer);
  return status == ECS_OK ? schedule_enter(world, observer) : status;
}

bool ecs_sight_next(ecs_sight *sight) { return sight_next(sight); }

ecs_id ecs_sight_entity(const ecs_sight *sight) { return sight->entity; }

static const struct term *observer_term_at(const ecs_sight *sight, uint32_t term) {
  const struct query_terms *terms = &sight->watch->query->terms;
  return term < terms->count && terms->terms[term].slot != NONE ? &terms->terms[term] : NULL;
}

const void *ecs_sight_cell(const ecs_sight *sight, uint32_t at, uint32_t leaf) {
  const struct term *term = observer_term_at(sight, at);
  uint32_t width = !term ? 0 : term->leaf != NONE ? 1 : term->component->leaf_count;
  if (leaf >= width) return NULL;
  struct sight_cells cells = sight_find(sight, term);
  if (!cells.there || !cells.columns) return NULL;
  const struct column *column = &cells.columns[leaf];
  return (const char *)column->data + (size_t)cells.row * column->size;
}

bool ecs_sight_has(const ecs_sight *sight, uint32_t at) {
  const struct query_terms *terms = &sight->watch->query->terms;
  const struct term *term = observer_term_at(sight, at);
  if (term) return sight_find(sight, term).there;
  return at < terms->count && terms->terms[at].kind == TERM_WITH;
}

ecs_id ecs_sight_value(const ecs_sight *sight, uint32_t variable) {
  return sight_value(sight, variable);
}
