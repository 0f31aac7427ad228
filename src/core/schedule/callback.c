#include "core/schedule/callback.h"

#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "core/schedule/timetable.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/staging.h"
#include "core/ids/world.h"

/* Puts the system's name before the message. A callback that failed may have said nothing: what
** its status says is all that is known. */
static void name_failure(const ecs_world *world, const ecs_system *system, ecs_status status) {
  char why[MESSAGE_SIZE];
  if (world->message[0])
    text_format(why, sizeof why, "%s", world->message);
  else if (status == ECS_ENOMEM)
    text_format(why, sizeof why, "not enough memory");
  else
    text_format(why, sizeof why, "it failed with the status %d", (int)status);
  world_fail(world, status, "%s '%s': %s", system->watch ? "observer" : "system", system->name,
             why);
}

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

/* Calls who handles errors, in the scope that is open or in none. */
static void callback_handle(ecs_world *world, const ecs_system *system, ecs_status status) {
  const struct schedule *schedule = world->schedule;
  uint32_t scopes = world->staging.scope_count;
  schedule->on_error(world, system->name, status, schedule->on_error_ud);
  if (LIKELY(world->staging.scope_count == scopes)) return;
  if (scopes)
    callback_end_inner(world, scopes - 1, true);
  else
    callback_end_left(world, ECS_OK);
}

/* What the handler draws of random numbers comes from the stream around those of systems. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status) {
  struct schedule *schedule = world->schedule;
  name_failure(world, system, status);
  if (!schedule->on_error) return status;
  schedule->clock = 0;
  system->parked = true;
  if (system->watch) {
    schedule_watch(world, system);
    callback_handle(world, system, status);
    return ECS_OK;
  }
  world->chance = schedule->outer;
  callback_handle(world, system, status);
  schedule->outer = world->chance;
  return ECS_OK;
}

void callback_end_inner(ecs_world *world, uint32_t scope, bool keep) {
  const struct loop_owner *owner = world->staging.loop_owners;
  for (; owner; owner = owner->next) owner->end_system(owner->ud, keep);
  scope_end_inner(world, scope, keep);
}

RARE void callback_add_time_anew(ecs_world *world, ecs_system *system, uint64_t ticks) {
  system = schedule_system(world, system->name, strlen(system->name));
  if (system) system_add_time(system, ticks);
}
