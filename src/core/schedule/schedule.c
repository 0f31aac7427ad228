#include "core/schedule/schedule.h"

#include "core/base/memory.h"
#include "core/base/sets.h"
#include "core/base/text.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/schedule/parallel.h"
#include "ecs_query.h"

ecs_system *schedule_system(const ecs_world *world, const char *name, size_t size) {
  return system_names_find(&world->schedule->names, name, size);
}

void schedule_count(struct schedule *schedule) {
  uint32_t at = 0;
  if (LIKELY(schedule->counted)) return;
  schedule->counted = true;
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    struct phase *phase = schedule->phases[i];
    phase->first = at;
    while (at < schedule->system_count && schedule->systems[at]->phase == phase) at++;
    phase->count = at - phase->first;
  }
}

void schedule_watch(ecs_world *world, const ecs_system *system) {
  if (!system->watch) return;
  watching_remove(world, system->watch);
  if (system->enabled && !system->parked && !system->removed)
    watching_add(world, system->watch, system->registered);
}

void schedule_relist(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  schedule->counted = false;
  for (uint32_t i = 0; i < schedule->system_count; i++)
    schedule_watch(world, schedule->systems[i]);
}

bool schedule_is_ignored(const ecs_world *world, const ecs_system *system,
                         const char *name) {
  const ecs_system *other = schedule_system(world, name, strlen(name));
  return !other || other->phase != system->phase;
}

/* ---- registering ---- */

static uint32_t schedule_count_names(const char *const *names) {
  uint32_t count = 0;
  while (names && names[count]) count++;
  return count;
}

static const char **schedule_copy_names(ecs_world *world, struct arena *arena,
                                        const char *const *names) {
  size_t count = schedule_count_names(names);
  const char **copy = arena_take(&world->memory, arena, (count + 1) * sizeof *copy);
  for (size_t i = 0; copy && i < count; i++) {
    copy[i] = arena_copy(&world->memory, arena, names[i], strlen(names[i]));
    if (!copy[i]) return NULL;
  }
  return copy;
}

static bool schedule_copy_texts(ecs_world *world, ecs_system *system, const ecs_system_desc *desc) {
  struct arena *arena = &system->arena;
  struct memory *memory = &world->memory;
  system->name = arena_copy(memory, arena, desc->name, strlen(desc->name));
  if (!system->name) return false;
  if (desc->owner) {
    system->owner = arena_copy(memory, arena, desc->owner, strlen(desc->owner));
    if (!system->owner) return false;
  }
  if (desc->before && !(system->before = schedule_copy_names(world, arena, desc->before)))
    return false;
  if (desc->after && !(system->after = schedule_copy_names(world, arena, desc->after)))
    return false;
  size_t links = (size_t)schedule_count_names(system->before) +
                 schedule_count_names(system->after);
  system->links = links ? arena_take(memory, arena, links * sizeof *system->links) : NULL;
  return !links || system->links;
}

void schedule_free_system(ecs_world *world, ecs_system *system, bool callback) {
  if (system->watch) watch_free(world, system->watch);
  if (callback && system->free) system->free(system->ud);
  reading_leave(system);
  if (system->query) query_free(system->query);
  profile_drop_history(world, system);
  struct arena arena = system->arena;
  arena_free(&world->memory, &arena);
}

/* Frees a system; while systems run, it may be among them. */
static void schedule_let_go(ecs_world *world, ecs_system *system) {
  struct schedule *schedule = world->schedule;
  assert(!system->removed);
  system->removed = true;
  schedule_watch(world, system);
  if (world->updating) {
    system->next_gone = schedule->gone;
    schedule->gone = system;
  } else {
    schedule_free_system(world, system, true);
  }
}

void schedule_free_gone(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  assert(!world->updating);
  while (schedule->gone) {
    ecs_system *system = schedule->gone;
    schedule->gone = system->next_gone;
    schedule_free_system(world, system, true);
  }
}

ecs_status schedule_no_phase(const ecs_world *world, const char *name) {
  struct nearest nearest;
  nearest_begin(&nearest, name, strlen(name));
  for (uint32_t i = 0; i < world->schedule->phase_count; i++) {
    const char *known = world->schedule->phases[i]->name;
    nearest_offer(&nearest, known, strlen(known));
  }
  const char *hint = nearest_hint(&nearest);
  return world_fail(world, ECS_ENAME, "unknown phase '%s'%s", name,
                    *hint ? hint : ": declare it before the systems that run in it");
}

/* Fills in what every system has. */
static ecs_status schedule_fill_system(ecs_world *world, const ecs_system_desc *desc,
                                       struct phase *phase, ecs_system **out) {
  struct arena arena = {NULL};
  ecs_system *system = arena_take(&world->memory, &arena, sizeof *system);
  if (!system) return world_nomem(world);
  system->arena = arena;
  world->schedule->untold = true;
  system->phase = phase;
  system->every = desc->every;
  system->chance = text_hash64(desc->name, strlen(desc->name));
  system->disabled = desc->disabled;
  system->enabled = !desc->disabled;
  system->needs_rows = desc->needs_rows;
  system->run = desc->parallel ? ranges_run : desc->run;
  system->parallel = desc->parallel;
  system->when = desc->when;
  system->free = desc->free;
  system->ud = desc->ud;
  ecs_status status = schedule_copy_texts(world, system, desc) ? ECS_OK : world_nomem(world);
  if (status == ECS_OK && desc->query)
    status = ecs_query_new(world, desc->query, &system->query);
  if (system->query) system->query->kept = true;
  reading_join(system, system->query ? system->query : desc->reads);
  if (status == ECS_OK && system->parallel) status = parallel_query_suits(world, system);
  if (status != ECS_OK)
    schedule_free_system(world, system, false);
  else
    *out = system;
  return status;
}

ecs_status schedule_build(ecs_world *world, const ecs_system_desc *desc, ecs_system **out) {
  if (!desc->name || !*desc->name)
    return world_fail(world, ECS_EINVAL, "a system needs a name");
  if (!desc->run == !desc->parallel)
    return world_fail(world, ECS_EINVAL, desc->run ? "system '%s' has both `run` and `parallel`: "
                      "give one of them" : "system '%s' has no function to run", desc->name);
  if (!(desc->every >= 0 && desc->every < 1e18))
    return world_fail(world, ECS_EINVAL, "system '%s': every = %g is not a time in seconds",
                      desc->name, desc->every);
  const char *name = desc->phase ? desc->phase : "update";
  struct phase *phase = schedule_phase(world, name, NULL);
  return phase ? schedule_fill_system(world, desc, phase, out) : schedule_no_phase(world, name);
}

static ecs_status schedule_watch_query(ecs_world *world, ecs_system *system,
                                       const ecs_observer_desc *desc) {
  static const enum watch_kind kinds[] = {WATCH_ADD,   WATCH_SET,  WATCH_REMOVE,
                                          WATCH_ENTER, WATCH_EXIT, WATCH_DESPAWN};
  ecs_query *query = system->query ? system->query : desc->watches;
  system->watch = arena_take(&world->memory, &system->arena, sizeof *system->watch);
  if (!system->watch) return world_nomem(world);
  system->watch->kind = kinds[desc->on];
  system->watch->query = query;
  system->watch->owner = system;
  if (staging_is_open(&world->staging)) system->watch->born = world->staging.epoch;
  ecs_status status = watch_check(world, system->watch->kind, query);
  if (status == ECS_OK) watch_see_first(system->watch->kind, query);
  if (status != ECS_EINVAL) return status;
  char why[MESSAGE_SIZE];
  text_format(why, sizeof why, "%s", world->message);
  return world_fail(world, status, "observer '%s': %s", system->name, why);
}

ecs_status schedule_build_observer(ecs_world *world, const ecs_observer_desc *desc,
                                   ecs_system **out) {
  if (!desc->name || !*desc->name)
    return world_fail(world, ECS_EINVAL, "an observer needs a name");
  if (!desc->run)
    return world_fail(world, ECS_EINVAL, "observer '%s' has no function to call", desc->name);
  if ((unsigned)desc->on > ECS_ON_DESPAWN || (!desc->query && !desc->watches))
    return world_fail(world, ECS_EINVAL, "observer '%s' needs a query and the kind of change to "
                      "watch", desc->name);
  const ecs_system_desc plain = {.name = desc->name, .query = desc->query, .reads = desc->watches,
                                 .disabled = desc->disabled, .owner = desc->owner,
                                 .free = desc->free, .ud = desc->ud};
  ecs_system *system = NULL;
  ecs_status status = schedule_fill_system(world, &plain, world->schedule->reacting, &system);
  if (status != ECS_OK) return status;
  assert(system);
  system->observe = desc->run;
  status = schedule_watch_query(world, system, desc);
  if (status != ECS_OK)
    schedule_free_system(world, system, false);
  else
    *out = system;
  return status;
}

static ecs_status schedule_reserve(ecs_world *world, const ecs_system *system) {
  struct schedule *schedule = world->schedule;
  struct system_names *names = &schedule->names;
  uint64_t need = schedule->system_count + 1ull;
  struct memory *memory = &world->memory;
  bool room = GROW(memory, schedule->systems, schedule->system_capacity, need) &&
              GROW(memory, schedule->running, schedule->running_capacity, need + RUNNING_AHEAD) &&
              GROW(memory, schedule->sorted, schedule->sorted_capacity, need) &&
              GROW(memory, names->list, names->capacity, need);
  return room ? arrange_note(world, system) : world_nomem(world);
}

/* ---- timings ---- */

static const ecs_system fresh = {.enabled = true};

const char *timings_query(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return query && query->terms.changes ? query->text : system->asked;
}

static bool schedule_ask_alike(const ecs_system *a, const ecs_system *b) {
  const char *one = timings_query(a), *other = timings_query(b);
  return one && other && strcmp(one, other) == 0;
}

/* Copies what another system of that name takes over. News belong to one query. */
static void schedule_copy_timings(ecs_system *to, const ecs_system *from) {
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
  if (schedule_ask_alike(to, from)) to->news = from->news;
}

void schedule_inherit(ecs_system *system, const ecs_system *old) {
  schedule_copy_timings(system, old);
  system->registered = old->registered;
  system->has_run &= old->phase == system->phase;
  system->runs = old->runs;
  system->total_ticks = system->history_ticks = old->total_ticks;
  system->last_ticks = old->last_ticks;
  system->peak_ticks = old->peak_ticks;
  system->rows = old->rows;
  system->all_rows = old->all_rows;
}

uint32_t schedule_position_of(const struct schedule *schedule, const ecs_system *system) {
  uint32_t at = 0;
  while (schedule->systems[at] != system) {
    at++;
    assert(at < schedule->system_count);
  }
  return at;
}

static bool schedule_same_names(const char **a, const char **b) {
  size_t count = schedule_count_names(a);
  if (count != schedule_count_names(b)) return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(a[i], b[i]) != 0) return false;
  return true;
}

static ecs_status schedule_replace(ecs_world *world, ecs_system *system, ecs_system *old) {
  struct schedule *schedule = world->schedule;
  uint32_t at = schedule_position_of(schedule, old);
  schedule_inherit(system, old);
  schedule->systems[at] = system;
  system_names_put(&schedule->names, system);
  ecs_status status = ECS_OK;
  if (system->phase != old->phase || !schedule_same_names(system->before, old->before) ||
      !schedule_same_names(system->after, old->after))
    status = schedule_sort(world);
  if (status != ECS_OK) {
    schedule->systems[at] = old;
    system_names_put(&schedule->names, old);
    return status;
  }
  for (uint32_t i = 0; i < schedule->running_count; i++)
    if (schedule->running[i] == old && old->phase == system->phase)
      schedule->running[i] = system;
  schedule_let_go(world, old);
  schedule_watch(world, system);
  return ECS_OK;
}

/* Systems and observers do not replace each other. */
static ecs_status schedule_check_name(const ecs_world *world, const ecs_system *system) {
  const ecs_system *old = schedule_system(world, system->name, strlen(system->name));
  if (!old || !old->watch == !system->watch) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "%s is already named '%s': give the %s another name, or "
                    "remove that first", old->watch ? "an observer" : "a system", system->name,
                    old->watch ? "system" : "observer");
}

/* Appends a new system in reserved room. */
static ecs_status schedule_append(ecs_world *world, ecs_system *system) {
  struct schedule *schedule = world->schedule;
  system->registered = schedule->next_registered++ * PLACES;
  system_names_put(&schedule->names, system);
  if (arrange_leads_nobody(schedule, system)) {
    arrange_append(schedule, system);
    schedule_watch(world, system);
    return ECS_OK;
  }
  schedule->systems[schedule->system_count++] = system;
  ecs_status status = schedule_sort(world);
  if (status == ECS_OK) return ECS_OK;
  schedule->system_count--;
  system_names_drop(&schedule->names, system);
  return status;
}

ecs_status schedule_enter(ecs_world *world, ecs_system *system) {
  ecs_status status = schedule_check_name(world, system);
  if (status == ECS_OK) status = schedule_reserve(world, system);
  ecs_system *old = schedule_system(world, system->name, strlen(system->name));
  if (status == ECS_OK)
    status = old ? schedule_replace(world, system, old) : schedule_append(world, system);
  if (status == ECS_OK && !old) timings_give_system(world, system);
  if (status != ECS_OK) schedule_free_system(world, system, false);
  return status;
}

ecs_status ecs_system_new(ecs_world *world, const ecs_system_desc *desc) {
  ecs_system *system = NULL;
  ecs_status status = schedule_build(world, desc, &system);
  if (status != ECS_OK) return status;
  assert(system && !system->watch);
  return schedule_enter(world, system);
}

ecs_status schedule_unknown(const ecs_world *world, const char *name, bool phases) {
  struct nearest nearest;
  nearest_begin(&nearest, name, strlen(name));
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++)
    nearest_offer(&nearest, schedule->systems[i]->name, strlen(schedule->systems[i]->name));
  for (uint32_t i = 0; phases && i < schedule->phase_count; i++)
    nearest_offer(&nearest, schedule->phases[i]->name, strlen(schedule->phases[i]->name));
  return world_fail(world, ECS_ENAME, "there is no system%s '%s'%s",
                    phases ? " or phase" : "", name,
                    nearest_hint(&nearest));
}

ecs_status ecs_system_remove(ecs_world *world, const char *name) {
  struct schedule *schedule = world->schedule;
  name = text_given(name);
  ecs_system *system = schedule_system(world, name, strlen(name));
  if (!system) return schedule_unknown(world, name, false);
  uint32_t at = schedule_position_of(schedule, system);
  bool alone = arrange_leads_nobody(schedule, system);
  schedule->system_count--;
  schedule->counted = false;
  system_names_drop(&schedule->names, system);
  memmove(schedule->systems + at, schedule->systems + at + 1,
          (schedule->system_count - at) * sizeof *schedule->systems);
  ecs_status status = alone ? ECS_OK : schedule_sort(world);
  assert(status == ECS_OK);
  (void)status;
  schedule_let_go(world, system);
  return ECS_OK;
}

ecs_status ecs_switch(ecs_world *world, const char *name, bool on) {
  name = text_given(name);
  ecs_system *system = schedule_system(world, name, strlen(name));
  struct phase *phase = schedule_phase(world, name, NULL);
  if (!system && !phase) return schedule_unknown(world, name, true);
  if (system)
    system->enabled = on, system->switched = true;
  else
    phase->enabled = on;
  if (system) schedule_watch(world, system);
  return ECS_OK;
}

void ecs_on_error(ecs_world *world, ecs_error_fn fn, void *ud) {
  world->schedule->on_error = fn;
  world->schedule->on_error_ud = ud;
}

ecs_status schedule_check(const ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  if (schedule->names.count != schedule->system_count)
    return world_corrupt(world, "a name belongs to a system that is not scheduled");
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    if (system->removed) return world_corrupt(world, "a removed system is still scheduled");
    if (schedule_system(world, system->name, strlen(system->name)) != system)
      return world_corrupt(world, "a system is not found by its name");
    if ((system->watch != NULL) != (system->phase == schedule->reacting))
      return world_corrupt(world, "an observer is among the systems of a phase");
    if (system->watch) continue;
    if (schedule->counted && i - system->phase->first >= system->phase->count)
      return world_corrupt(world, "a system is not among those of its phase");
    if (schedule_phase(world, system->phase->name, NULL) != system->phase)
      return world_corrupt(world, "a system's phase does not exist");
  }
  return ECS_OK;
}

void schedule_free_lists(struct memory *memory, struct schedule *schedule) {
  FREE_LIST(memory, schedule->phases, schedule->phase_capacity);
  FREE_LIST(memory, schedule->placed, schedule->placed_capacity);
  FREE_LIST(memory, schedule->systems, schedule->system_capacity);
  FREE_LIST(memory, schedule->running, schedule->running_capacity);
  FREE_LIST(memory, schedule->sorted, schedule->sorted_capacity);
  FREE_LIST(memory, schedule->names.list, schedule->names.capacity);
  map_free(memory, &schedule->awaited);
}

void schedule_free(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  struct memory *memory = &world->memory;
  world->updating = false;
  schedule_free_gone(world);
  while (schedule->system_count)
    schedule_free_system(world, schedule->systems[--schedule->system_count], true);
  for (uint32_t i = 0; i < schedule->phase_count; i++) phase_free(world, schedule->phases[i]);
  if (schedule->reacting) phase_free(world, schedule->reacting);
  ranges_free(memory, schedule->ranges);
  memory_free(memory, schedule->profile, schedule->profile ? sizeof *schedule->profile : 0);
  timings_free(world, &schedule->absent);
  schedule_free_lists(memory, schedule);
}

/* ---- schedule tell ---- */

/* Reports what is odd, though permitted, about registered systems and phases. */

static void schedule_offer(struct nearest *nearest, const char *name) {
  nearest_offer(nearest, name, strlen(name));
}

/* False when all names of the system have been examined. */
static bool schedule_look_at_system(const ecs_world *world, ecs_system *system, char *text,
                                    size_t size) {
  uint32_t before = schedule_count_names(system->before),
           count = before + schedule_count_names(system->after);
  while (system->told < count) {
    uint32_t at = system->told++;
    const char *name = at < before ? system->before[at] : system->after[at - before];
    if (!schedule_is_ignored(world, system, name)) continue;
    const char *option = at < before ? "before" : "after";
    const ecs_system *other = schedule_system(world, name, strlen(name));
    if (other) {
      text_format(text, size, "system '%s': '%s' in %s runs in phase '%s', this system in '%s'; "
                  "ignored, since order holds only inside a phase", system->name, name, option,
                  other->phase->name, system->phase->name);
      return true;
    }
    const struct schedule *schedule = world->schedule;
    struct nearest nearest;
    nearest_begin(&nearest, name, strlen(name));
    for (uint32_t i = 0; i < schedule->system_count; i++)
      if (schedule->systems[i]->phase == system->phase)
        schedule_offer(&nearest, schedule->systems[i]->name);
    text_format(text, size, "system '%s': '%s' in %s is not a system%s; ignored", system->name,
                name, option, nearest_hint(&nearest));
    return true;
  }
  return false;
}

static bool schedule_look_at_phase(const ecs_world *world, struct phase *phase, char *text,
                                   size_t size) {
  const struct schedule *schedule = world->schedule;
  while (phase->told < 2) {
    const char *option = phase->told ? "before" : "after";
    const char *name = phase->told++ ? phase->before : phase->after;
    if (!name || !phase_is_ignored(world, name)) continue;
    struct nearest nearest;
    nearest_begin(&nearest, name, strlen(name));
    for (uint32_t i = 0; i < schedule->phase_count; i++)
      schedule_offer(&nearest, schedule->phases[i]->name);
    text_format(text, size, "phase '%s': '%s' in %s is not a phase%s; ignored", phase->name, name,
                option, nearest_hint(&nearest));
    return true;
  }
  return false;
}

bool schedule_tell(ecs_world *world, char *text, size_t size) {
  struct schedule *schedule = world->schedule;
  if (LIKELY(!schedule->untold)) return false;
  for (uint32_t i = 0; i < schedule->phase_count; i++)
    if (schedule_look_at_phase(world, schedule->phases[i], text, size)) return true;
  for (uint32_t i = 0; i < schedule->system_count; i++)
    if (schedule_look_at_system(world, schedule->systems[i], text, size)) return true;
  schedule->untold = false;
  return false;
}

/* ---- lists ---- */

ecs_status timings_need(ecs_world *world, struct timing_list *list, const char *name, size_t size,
                        ecs_system **out) {
  struct memory *memory = &world->memory;
  *out = system_names_find(&list->names, name, size);
  if (*out) return ECS_OK;
  if (!GROW(memory, list->items, list->capacity, list->count + 1ull) ||
      !GROW(memory, list->names.list, list->names.capacity, list->count + 1ull))
    return world_nomem(world);
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
  list->items[list->count++] = made;
  system_names_put(&list->names, made);
  *out = made;
  return ECS_OK;
}

static void schedule_free_one(ecs_world *world, const ecs_system *system) {
  struct arena arena = system->arena;
  arena_free(&world->memory, &arena);
}

static void schedule_timings_drop(ecs_world *world, struct timing_list *list,
                                  const ecs_system *system) {
  uint32_t at = (uint32_t)system->registered;
  assert(at < list->count && list->items[at] == system);
  system_names_drop(&list->names, system);
  list->items[at] = list->items[--list->count];
  list->items[at]->registered = at;
  schedule_free_one(world, system);
}

static void schedule_free_list(ecs_world *world, struct timing_list *list) {
  while (list->count) schedule_free_one(world, list->items[--list->count]);
  FREE_LIST(&world->memory, list->items, list->capacity);
  FREE_LIST(&world->memory, list->names.list, list->names.capacity);
  memset(list, 0, sizeof *list);
}

void timings_free(ecs_world *world, struct timings *timings) {
  schedule_free_list(world, &timings->phases);
  schedule_free_list(world, &timings->systems);
}

/* ---- copying timings ---- */

/* Of an absent system, copies only what another query of its name has not overwritten. */
static ecs_status schedule_timings_copy_system(ecs_world *world, struct timing_list *list,
                                               const ecs_system *from) {
  ecs_system *to;
  uint32_t count = list->count;
  ecs_status status = timings_need(world, list, from->name, strlen(from->name), &to);
  if (status != ECS_OK) return status;
  if (list->count > count) {
    schedule_copy_timings(to, from);
    to->parked = from->parked;
  }
  const char *query = timings_query(from);
  if (!query || from->news == 0 || to->asked) return ECS_OK;
  to->news = from->news;
  to->asked = arena_copy(&world->memory, &to->arena, query, strlen(query));
  return to->asked ? ECS_OK : world_nomem(world);
}

static ecs_status schedule_timings_add_all(ecs_world *world, struct timing_list *to,
                                           ecs_system *const *from, uint32_t count) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++)
    status = schedule_timings_copy_system(world, to, from[i]);
  return status;
}

ecs_status timings_add(ecs_world *world, struct timings *to, const struct timings *from) {
  ecs_status status = schedule_timings_add_all(world, &to->phases, from->phases.items,
                                               from->phases.count);
  if (status != ECS_OK) return status;
  return schedule_timings_add_all(world, &to->systems, from->systems.items, from->systems.count);
}

ecs_status timings_take(ecs_world *world, struct timings *out) {
  const struct schedule *schedule = world->schedule;
  ecs_status status =
      schedule_timings_add_all(world, &out->systems, schedule->systems, schedule->system_count);
  for (uint32_t i = 0; i < schedule->phase_count && status == ECS_OK; i++) {
    const struct phase *phase = schedule->phases[i];
    const ecs_system system = {.name = phase->name, .timer = phase->accumulator,
                               .enabled = phase->enabled, .switched = !phase->enabled};
    status = schedule_timings_copy_system(world, &out->phases, &system);
  }
  return status == ECS_OK ? timings_add(world, out, &schedule->absent) : status;
}

/* ---- giving timings ---- */

static void schedule_give_phase(ecs_world *world, struct timing_list *list, struct phase *phase) {
  const ecs_system *known = system_names_find(&list->names, phase->name, strlen(phase->name));
  if (!known) return;
  phase->accumulator = known->timer;
  phase->enabled = known->enabled;
  schedule_timings_drop(world, list, known);
}

/* Gives a system its timings; what another query knows of changes stays. False if there is none. */
static bool schedule_timings_take_out(ecs_world *world, struct timing_list *list,
                                      ecs_system *system) {
  ecs_system *known = system_names_find(&list->names, system->name, strlen(system->name));
  if (!known) return false;
  schedule_copy_timings(system, known);
  system->parked = known->parked;
  if (known->asked && !schedule_ask_alike(system, known))
    schedule_copy_timings(known, &fresh);
  else
    schedule_timings_drop(world, list, known);
  return true;
}

void timings_give(ecs_world *world, struct timings *timings) {
  struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    schedule->phases[i]->accumulator = 0;
    schedule->phases[i]->enabled = true;
    schedule_give_phase(world, &timings->phases, schedule->phases[i]);
  }
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    ecs_system *system = schedule->systems[i];
    schedule_copy_timings(system, &fresh);
    system->enabled = !system->disabled;
    system->parked = false;
    system->news = 0;
    schedule_timings_take_out(world, &timings->systems, system);
  }
  timings_free(world, &schedule->absent);
  schedule->absent = *timings;
  memset(timings, 0, sizeof *timings);
  schedule_relist(world);
}

void timings_give_phase(ecs_world *world, struct phase *phase) {
  schedule_give_phase(world, &world->schedule->absent.phases, phase);
}

/* A system that is registered again is no longer parked. */
void timings_give_system(ecs_world *world, ecs_system *system) {
  if (!schedule_timings_take_out(world, &world->schedule->absent.systems, system)) return;
  system->parked = false;
  if (system->watch) schedule_relist(world);
}

/* ---- system names ---- */

/* Whether there is a system of that name, which has that hash; *at is its place, or where it would
** be. */
static bool system_names_place(const struct system_names *names, uint64_t hash, const char *name,
                               size_t size, uint32_t *at) {
  ecs_system **list = names->list;
  uint32_t low = 0;
  BISECT(low, names->count, middle, list[middle]->chance < hash);
  for (; low < names->count && list[low]->chance == hash; low++)
    if (text_equal(list[low]->name, name, size)) return *at = low, true;
  *at = low;
  return false;
}

ecs_system *system_names_find(const struct system_names *names, const char *name, size_t size) {
  uint32_t at;
  if (names->count == 0) return NULL;
  bool there = system_names_place(names, text_hash64(name, size), name, size, &at);
  return there ? names->list[at] : NULL;
}

void system_names_put(struct system_names *names, ecs_system *system) {
  uint32_t at;
  if (!system_names_place(names, system->chance, system->name, strlen(system->name), &at)) {
    assert(names->count < names->capacity);
    memmove(names->list + at + 1, names->list + at, (names->count - at) * sizeof *names->list);
    names->count++;
  }
  names->list[at] = system;
}

void system_names_drop(struct system_names *names, const ecs_system *system) {
  uint32_t at;
  bool there = system_names_place(names, system->chance, system->name, strlen(system->name), &at);
  assert(there && names->list[at] == system);
  (void)there;
  memmove(names->list + at, names->list + at + 1, (--names->count - at) * sizeof *names->list);
}
