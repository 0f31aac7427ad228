#include "core/ids/world.h"

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/base/text.h"

ecs_status world_fail(const ecs_world *world, ecs_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vformat(world->message, MESSAGE_SIZE, format, args);
  va_end(args);
  world->blame->count = 0;
  return status;
}

ecs_status world_blame(const ecs_world *world, ecs_status status, const char *name) {
  struct blame *blame = world->blame;
  if (name && blame->count < BLAME_LIMIT) blame->names[blame->count++] = name;
  return status;
}

ecs_status world_nomem(const ecs_world *world) {
  return world_fail(world, ECS_ENOMEM, "not enough memory");
}

ecs_status world_corrupt(const ecs_world *world, const char *what) {
  return world_fail(world, ECS_ECORRUPT, "%s", what);
}

ecs_status world_not_busy(const ecs_world *world, const char *operation) {
  if (world->staging.busy == 0 && !world->updating) return ECS_OK;
  const char *kind, *name = world->callback_running(world, &kind);
  char who[MESSAGE_SIZE / 2] = "";
  if (name) text_format(who, sizeof who, ": %s '%s' is running", kind, name);
  return world_fail(world, ECS_EBUSY,
                    "%s is not possible inside a system, a function form or defer%s%s", operation,
                    who, world->updating ? " (if a longjmp or an exception left a host's "
                    "function, the host must call ecs_abandon)" : "");
}

ecs_status world_is_idle(const ecs_world *world, const char *operation) {
  ecs_status status = world_not_busy(world, operation);
  if (status != ECS_OK || !staging_is_open(&world->staging)) return status;
  return world_fail(world, ECS_EBUSY, "%s is not possible inside a loop", operation);
}

ecs_status entity_need(const ecs_world *world, ecs_id id) {
  ecs_status status = entity_status(&world->entities, id);
  switch (status) {
    case ECS_EDEAD: return world_fail(world, status, "entity " SHOW_ID " is dead", id);
    case ECS_EUNBORN: return world_fail(world, status, "entity " SHOW_ID " was never spawned", id);
    case ECS_EWORLD:
      return world_fail(world, status, "entity " SHOW_ID " belongs to another world (tag %u)", id,
                        ecs_id_tag(id));
    case ECS_ENOID:
      return world_fail(world, status, "%lld is not an entity id%s", (long long)id,
                        id == ECS_NULL ? ", but null, which stands for no entity" : "");
    default: return status;
  }
}

ecs_id entity_target(const ecs_world *world, ecs_id id) {
  return entity_find(&world->entities, id) ? id : ECS_NULL;
}

ecs_id *world_scratch(ecs_world *world, uint64_t count) {
  uint64_t need = count ? count : 1;
  bool room = GROW(&world->memory, world->scratch, world->scratch_capacity, need);
  return room ? world->scratch : NULL;
}

/* ---- scratch ---- */

void scratch_free(struct memory *memory, struct scratch *scratch) {
  FREE_LIST(memory, scratch->pending, scratch->pending_capacity);
  FREE_LIST(memory, scratch->writes, scratch->write_capacity);
  FREE_LIST(memory, scratch->parts, scratch->part_capacity);
  memset(scratch, 0, sizeof *scratch);
}
