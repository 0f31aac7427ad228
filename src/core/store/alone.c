#include "core/store/alone.h"

#include "core/store/index.h"
#include "core/store/world.h"

/* The writes of all staged commands are their caller's again; those of a batch have none. */
static void disown_writes(struct staging *staging) {
  for (uint32_t i = staging->batch.count; i < staging->command_count; i++)
    staging->commands[i].write_count = 0;
}

/* Ids go back to where they were taken from, the last one first. */
static void unspawn(ecs_world *world) {
  const struct staging *staging = &world->staging;
  struct entity_index *index = &world->entities;
  for (uint32_t i = staging->command_count; i-- > staging->batch.count;) {
    if (staging->commands[i].kind != COMMAND_SPAWN) continue;
    uint32_t at = ecs_id_index(staging->commands[i].entity);
    assert(entity_record(index, at)->table == RECORD_BARE);
    if (world->names.count) name_forget(world, at);
    if (staging->adopted)
      entity_unadopt(index, at, staging->adopted);
    else
      entity_untake(index, &index->entities, at);
  }
}

ecs_status scope_end_alone(ecs_world *world, uint32_t scope, ecs_status status) {
  struct staging *staging = &world->staging;
  bool staged = status == ECS_OK;
  assert(!staging->alone && staging->open == 1);
  assert(scope < staging->scope_count);
  staging->alone = true;
  /* What spawns is there as it was given, or not at all. */
  if (staging->command_count && staging->commands[0].kind == COMMAND_SPAWN) staging->whole = true;
  if (staged) status = scope_commit(world, scope);
  staging->alone = false;
  if (staged && !staging_is_open(staging)) return status;
  disown_writes(staging);
  unspawn(world);
  scope_cancel(world, scope);
  return status;
}

ecs_status command_alone(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                         ecs_id target, const struct write *writes, uint32_t count) {
  uint32_t scope = NONE;
  ecs_status status = scope_open(world, SCOPE_DEFER, &scope);
  if (status != ECS_OK) return status;
  status = command_stage_pair(world, kind, entity, component, target, writes, count);
  return scope_end_alone(world, scope, status);
}

void scope_take_back(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  assert(staging->open > 1 && scope == scope_innermost(staging));
  for (uint32_t i = staging->batch.count; i < staging->command_count; i++)
    if (staging->commands[i].scope == scope) staging->commands[i].write_count = 0;
  scope_cancel(world, scope);
}
