#include "core/change/transact.h"

#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_system.h"

void transaction_begin(struct transaction *transaction, ecs_world *world) {
  memset(transaction, 0, sizeof *transaction);
  transaction->world = world;
  migration_begin(&transaction->migration, world);
  transaction->migration.staged = true;
}

/* ---- components -------------------------------------------------------------------------- */

static bool transact_list_reserve(struct transaction *transaction, struct id_list *list) {
  return GROW(&transaction->world->memory, list->ids, list->capacity, list->count + 1ull);
}

static bool transact_is_known(const ecs_world *world, const char *name) {
  return name && ecs_component_find(world, name) != ECS_NULL;
}

ecs_status transaction_declare(struct transaction *transaction, const ecs_component_desc *desc,
                               ecs_id *out) {
  ecs_world *world = transaction->world;
  if (!transact_list_reserve(transaction, &transaction->made) ||
      !transact_list_reserve(transaction, &transaction->claimed))
    return world_nomem(world);
  bool made = !transact_is_known(world, desc->name) && !transact_is_known(world, desc->old_name);
  ecs_status status = declare(world, desc, &transaction->migration, out);
  if (status != ECS_OK) return status;
  if (made) transaction->made.ids[transaction->made.count++] = *out;
  transaction->claimed.ids[transaction->claimed.count++] = *out;
  return ECS_OK;
}

bool transaction_had(const struct transaction *transaction, const char *name) {
  const struct component *component = component_find(transaction->world, name, strlen(name));
  bool had = component && !component->orphan;
  for (uint32_t i = 0; i < transaction->made.count && had; i++)
    had = transaction->made.ids[i] != component->id;
  return had;
}

ecs_status transaction_resource(struct transaction *transaction, ecs_id id) {
  ecs_world *world = transaction->world;
  struct component *component;
  ecs_status status = component_need_id(world, id, &component);
  if (status != ECS_OK || component->resource) return status;
  struct change *change = migration_of(&transaction->migration, id);
  if (component->leaf_count == 0 && change && change->wanted && change->wanted->leaf_count) {
    change->valued = true;
    return ECS_OK;
  }
  if (!transact_list_reserve(transaction, &transaction->valued)) return world_nomem(world);
  status = resource_new(world, component);
  if (status == ECS_OK) transaction->valued.ids[transaction->valued.count++] = id;
  return status;
}

ecs_status transaction_remove(struct transaction *transaction, ecs_id id) {
  struct component *component;
  ecs_status status = component_need_any(transaction->world, id, &component);
  return status == ECS_OK ? migration_add(&transaction->migration, component, NULL) : status;
}

ecs_status transaction_leave(struct transaction *transaction, ecs_id id) {
  if (!transact_list_reserve(transaction, &transaction->left))
    return world_nomem(transaction->world);
  transaction->left.ids[transaction->left.count++] = id;
  return ECS_OK;
}

static void transact_mark_orphans(const struct transaction *transaction, const struct id_list *list,
                                  bool orphan) {
  for (uint32_t i = 0; i < list->count; i++) {
    struct component *component = component_of(transaction->world, list->ids[i]);
    if (component) component->orphan = orphan;
  }
}

/* ---- the new schedule ---------------------------------------------------------------------- */

uint64_t transaction_group(ecs_world *world) {
  struct schedule *schedule = world->schedule;
  uint64_t group = schedule->next_registered > schedule->next_declared
                       ? schedule->next_registered : schedule->next_declared + 1;
  schedule->next_registered = group + 1;
  schedule->next_declared = group;
  return group * PLACES;
}

static bool transact_save_places(struct transaction *transaction) {
  const struct schedule *before = &transaction->before;
  struct memory *memory = &transaction->world->memory;
  transaction->phases = memory_array(memory, before->phase_count + 1ull,
                                     sizeof *transaction->phases);
  transaction->systems = memory_array(memory, before->system_count + 1ull,
                                      sizeof *transaction->systems);
  if (!transaction->phases || !transaction->systems) return false;
  for (uint32_t i = 0; i < before->phase_count; i++)
    transaction->phases[i] =
        (struct saved_phase){before->phases[i], before->phases[i]->declared};
  for (uint32_t i = 0; i < before->system_count; i++)
    transaction->systems[i] = (struct saved_system){
        before->systems[i], before->systems[i]->registered, before->systems[i]->phase};
  return true;
}

/* Copies the lists of a schedule, with room for more. */
static bool transact_copy_lists(ecs_world *world, const struct schedule *from, struct schedule *to,
                                uint32_t phases, uint32_t systems) {
  struct memory *memory = &world->memory;
  to->phases = memory_array(memory, phases, sizeof *to->phases);
  to->placed = memory_array(memory, phases, sizeof *to->placed);
  to->systems = memory_array(memory, systems, sizeof *to->systems);
  to->running = memory_array(memory, systems + RUNNING_AHEAD, sizeof *to->running);
  to->sorted = memory_array(memory, systems, sizeof *to->sorted);
  to->phase_capacity = to->placed_capacity = phases;
  to->system_capacity = to->sorted_capacity = systems;
  to->running_capacity = systems + RUNNING_AHEAD;
  to->names.list = memory_array(memory, systems, sizeof *to->names.list);
  to->names.capacity = systems;
  if (!to->phases || !to->placed || !to->systems || !to->running || !to->sorted || !to->names.list)
    return false;
  if (from->phase_count)
    memcpy(to->phases, from->phases, from->phase_count * sizeof *to->phases);
  if (from->system_count)
    memcpy(to->systems, from->systems, from->system_count * sizeof *to->systems);
  if (from->names.count)
    memcpy(to->names.list, from->names.list, from->names.count * sizeof *to->names.list);
  to->names.count = from->names.count;
  return true;
}

static ecs_status transact_begin_plan(struct transaction *transaction, uint32_t more_phases,
                                      uint32_t more_systems) {
  ecs_world *world = transaction->world;
  assert(!transaction->planning && !transaction->committed);
  transaction->before = *world->schedule;
  struct schedule next = transaction->before;
  next.phases = next.placed = NULL;
  next.systems = next.running = next.sorted = NULL;
  next.names = (struct system_names){NULL, 0, 0};
  next.awaited = (struct map){NULL, 0, 0};
  next.awaits_all = false;
  bool room = transact_copy_lists(world, &transaction->before, &next,
                                  next.phase_count + more_phases + 1,
                                  next.system_count + more_systems + 1);
  if (!room || !transact_save_places(transaction)) {
    schedule_free_lists(&world->memory, &next);
    return world_nomem(world);
  }
  *world->schedule = next;
  transaction->planning = true;
  return ECS_OK;
}

static bool transact_has_phase(const struct schedule *schedule, const struct phase *phase) {
  for (uint32_t i = 0; i < schedule->phase_count; i++)
    if (schedule->phases[i] == phase) return true;
  return false;
}

static bool transact_has_system(const struct schedule *schedule, const ecs_system *system) {
  return system_names_find(&schedule->names, system->name, strlen(system->name)) == system;
}

static void transact_free_system(ecs_world *world, ecs_system *system) {
  system->removed = true;
  schedule_free_system(world, system, true);
}

/* Frees what only one of two schedules has; calls the systems' free callbacks. */
static void transact_free_difference(ecs_world *world, const struct schedule *from,
                                     const struct schedule *kept) {
  for (uint32_t i = 0; i < from->system_count; i++)
    if (!transact_has_system(kept, from->systems[i])) transact_free_system(world, from->systems[i]);
  for (uint32_t i = 0; i < from->phase_count; i++)
    if (!transact_has_phase(kept, from->phases[i])) phase_free(world, from->phases[i]);
}

static void transact_undo_plan(struct transaction *transaction) {
  ecs_world *world = transaction->world;
  assert(transaction->planning && !transaction->committed);
  struct schedule next = *world->schedule;
  *world->schedule = transaction->before;
  for (uint32_t i = 0; i < world->schedule->phase_count; i++)
    transaction->phases[i].phase->declared = transaction->phases[i].declared;
  for (uint32_t i = 0; i < world->schedule->system_count; i++) {
    const struct saved_system *saved = &transaction->systems[i];
    saved->system->registered = saved->registered;
    saved->system->phase = saved->phase;
  }
  schedule_relist(world);
  transact_free_difference(world, &next, world->schedule);
  schedule_free_lists(&world->memory, &next);
}

/* ---- phases -------------------------------------------------------------------------------- */

ecs_status transaction_phase(struct transaction *transaction, const ecs_phase_desc *desc,
                             uint64_t place) {
  ecs_world *world = transaction->world;
  struct schedule *schedule = world->schedule;
  struct phase *phase;
  ecs_status status = phase_build(world, desc, &phase);
  if (status != ECS_OK) return status;
  phase->declared = place;
  uint32_t at;
  if (schedule_phase(world, desc->name, &at)) {
    struct phase *old = schedule->phases[at];
    phase->enabled = old->enabled;
    phase->accumulator = phase->fixed > 0 ? old->accumulator : 0;
    schedule->phases[at] = phase;
    for (uint32_t i = 0; i < schedule->system_count; i++)
      if (schedule->systems[i]->phase == old) schedule->systems[i]->phase = phase;
    if (!transact_has_phase(&transaction->before, old)) phase_free(world, old);
  } else {
    assert(schedule->phase_count < schedule->phase_capacity);
    schedule->phases[schedule->phase_count++] = phase;
  }
  return ECS_OK;
}

void transaction_keep_phase(struct transaction *transaction, const char *name,
                            uint64_t place) {
  struct phase *phase = schedule_phase(transaction->world, name, NULL);
  if (phase) phase->declared = place;
}

ecs_status transaction_drop_phase(struct transaction *transaction, const char *name) {
  ecs_world *world = transaction->world;
  struct schedule *schedule = world->schedule;
  uint32_t at;
  struct phase *phase = schedule_phase(world, name, &at);
  if (!phase) return ECS_OK;
  if (phase_is_builtin(name))
    return transaction_phase(transaction, &(ecs_phase_desc){.name = name}, phase->declared);
  schedule->phase_count--;
  memmove(schedule->phases + at, schedule->phases + at + 1,
          (schedule->phase_count - at) * sizeof *schedule->phases);
  return ECS_OK;
}

/* ---- systems ------------------------------------------------------------------------------- */

static uint32_t transact_system_at(const struct schedule *schedule, const char *name) {
  const ecs_system *system = system_names_find(&schedule->names, name, strlen(name));
  return system ? schedule_position_of(schedule, system) : NONE;
}

void transaction_system(struct transaction *transaction, ecs_system *system, uint64_t place) {
  ecs_world *world = transaction->world;
  struct schedule *schedule = world->schedule;
  uint32_t at = transact_system_at(schedule, system->name);
  if (at != NONE) {
    ecs_system *old = schedule->systems[at];
    schedule_inherit(system, old);
    schedule->systems[at] = system;
    system_names_put(&schedule->names, system);
    if (!transact_has_system(&transaction->before, old)) transact_free_system(world, old);
  } else {
    assert(schedule->system_count < schedule->system_capacity);
    schedule->systems[schedule->system_count++] = system;
    system_names_put(&schedule->names, system);
  }
  system->registered = place;
}

void transaction_keep_system(struct transaction *transaction, const char *name,
                             uint64_t place) {
  struct schedule *schedule = transaction->world->schedule;
  uint32_t at = transact_system_at(schedule, name);
  if (at != NONE) schedule->systems[at]->registered = place;
}

void transaction_drop_system(struct transaction *transaction, const char *name) {
  struct schedule *schedule = transaction->world->schedule;
  uint32_t at = transact_system_at(schedule, name);
  if (at == NONE) return;
  system_names_drop(&schedule->names, schedule->systems[at]);
  schedule->system_count--;
  memmove(schedule->systems + at, schedule->systems + at + 1,
          (schedule->system_count - at) * sizeof *schedule->systems);
}

ecs_status transaction_order(struct transaction *transaction) {
  ecs_world *world = transaction->world;
  const struct schedule *schedule = world->schedule;
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    if (!system->watch && !transact_has_phase(schedule, system->phase))
      return world_blame(world, world_fail(world, ECS_ENAME, "system '%s': unknown phase '%s'",
                                           system->name, system->phase->name), system->name);
  }
  ecs_status status = phase_sort(world);
  return status == ECS_OK ? schedule_sort(world) : status;
}

/* ---- the whole transaction ----------------------------------------------------------------- */

/* Checks that no component has the former name of another one that is still declared. */
static ecs_status transact_check_names(const struct transaction *transaction) {
  const ecs_world *world = transaction->world;
  ecs_status status = ECS_OK;
  transact_mark_orphans(transaction, &transaction->left, true);
  for (uint32_t i = 0; i < transaction->claimed.count && status == ECS_OK; i++) {
    const struct component *component = component_of(world, transaction->claimed.ids[i]);
    status = declare_check_name(world, component->name, component);
  }
  transact_mark_orphans(transaction, &transaction->left, false);
  return status;
}

ecs_status transaction_prepare(struct transaction *transaction, uint32_t more_phases,
                               uint32_t more_systems) {
  ecs_world *world = transaction->world;
  ecs_status status = world_is_idle(world, "a reload");
  if (status == ECS_OK) status = transact_check_names(transaction);
  if (status == ECS_OK) status = migration_prepare(&transaction->migration);
  if (status == ECS_OK) status = transact_begin_plan(transaction, more_phases, more_systems);
  if (status == ECS_OK) migration_show(&transaction->migration, true);
  return status;
}

void transaction_commit(struct transaction *transaction) {
  ecs_world *world = transaction->world;
  assert(transaction->planning && !transaction->committed);
  migration_show(&transaction->migration, false);
  migration_commit(&transaction->migration);
  transact_mark_orphans(transaction, &transaction->claimed, false);
  transact_mark_orphans(transaction, &transaction->left, true);
  /* New phases and systems get the state that was kept for their names. */
  const struct schedule *schedule = world->schedule, *before = &transaction->before;
  for (uint32_t i = 0; i < schedule->phase_count; i++)
    timings_give_phase(world, schedule->phases[i]);
  for (uint32_t i = 0; i < schedule->system_count && schedule->absent.systems.count; i++) {
    ecs_system *system = schedule->systems[i];
    if (!system_names_find(&before->names, system->name, strlen(system->name)))
      timings_give_system(world, system);
  }
  transact_free_difference(world, &transaction->before, world->schedule);
  schedule_free_lists(&world->memory, &transaction->before);
  transaction->planning = false;
  transaction->committed = true;
}

void transaction_end(struct transaction *transaction) {
  ecs_world *world = transaction->world;
  struct memory *memory = &world->memory;
  uint32_t phases = transaction->before.phase_count + 1;
  uint32_t systems = transaction->before.system_count + 1;
  if (transaction->planning) {
    migration_show(&transaction->migration, false);
    /* Queries made for the new world, whose components no longer fit. */
    for (ecs_query *query = world->first_query; query; query = query->next)
      if (query->fresh) query_retire(query);
    transact_undo_plan(transaction);
  }
  migration_end(&transaction->migration);
  struct id_list *valued = &transaction->valued, *made = &transaction->made;
  while (!transaction->committed && valued->count)
    resource_free(world, component_of(world, valued->ids[--valued->count]));
  while (!transaction->committed && made->count)
    declare_forget(world, component_of(world, made->ids[--made->count]));
  FREE_LIST(memory, transaction->phases, phases);
  FREE_LIST(memory, transaction->systems, systems);
  FREE_LIST(memory, made->ids, made->capacity);
  FREE_LIST(memory, valued->ids, valued->capacity);
  FREE_LIST(memory, transaction->claimed.ids, transaction->claimed.capacity);
  FREE_LIST(memory, transaction->left.ids, transaction->left.capacity);
  memset(transaction, 0, sizeof *transaction);
}
