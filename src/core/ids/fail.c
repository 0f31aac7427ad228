#include "core/ids/fail.h"

#include "core/base/text.h"
#include "core/command/watch.h"
#include "core/world/world.h"

ecs_status world_fail(const ecs_world *world, ecs_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vformat(world->message, MESSAGE_SIZE, format, args);
  va_end(args);
  return status;
}

ecs_status world_nomem(const ecs_world *world) {
  return world_fail(world, ECS_ENOMEM, "not enough memory");
}

ecs_status world_not_busy(const ecs_world *world, const char *operation) {
  if (world->staging.busy == 0 && !world->updating) return ECS_OK;
  const char *kind, *name = world->watching->running(world, &kind);
  char who[MESSAGE_SIZE / 2] = "";
  if (name) text_format(who, sizeof who, ": %s '%s' is running", kind, name);
  return world_fail(world, ECS_EBUSY,
                    "%s is not possible inside a system, a function form or defer%s%s", operation,
                    who, world->updating ? " (where a host's function was left by longjmp or an "
                    "exception, the host calls ecs_abandon)" : "");
}

ecs_status world_is_idle(const ecs_world *world, const char *operation) {
  ecs_status status = world_not_busy(world, operation);
  if (status != ECS_OK || !staging_is_open(&world->staging)) return status;
  return world_fail(world, ECS_EBUSY, "%s is not possible inside a loop", operation);
}
