/* Staging a command where nothing has to be made for it, which is inline: a call is as dear. */
#ifndef ECS_CORE_STORE_QUICK_COMMAND_H
#define ECS_CORE_STORE_QUICK_COMMAND_H

#include "core/store/command.h"
#include "core/store/world.h"

/* Writes a command without writes, on what is no relation, if there is room and the slot of the
** living entity is near; else false, and command_stage is to do it. */
INLINE bool command_write_quick(ecs_world *world, enum command_kind kind, ecs_id entity,
                                ecs_id component) {
  struct staging *staging = &world->staging;
  uint32_t offset = ecs_id_index(entity) - FIRST_ENTITY, at = staging->command_count;
  if (UNLIKELY(offset >= staging->chain_of.near_capacity || at == staging->command_capacity ||
               staging->chain_count == staging->chain_capacity))
    return false;
  uint32_t scope = staging->scope_count - 1, *place = &staging->chain_of.near[offset];
  assert(!world->shared && staging_is_open(staging) && staging->scopes[scope].open);
  staging->commands[at] = (struct command){.entity = entity, .component = component, .kind = kind,
                                           .scope = scope, .next = NONE,
                                           .first_write = staging->write_count};
  staging->command_count = at + 1;
  staging->ends += kind == COMMAND_DESPAWN;
  struct chain *chain = *place ? &staging->chains[*place - 1] : NULL;
  if (chain && chain->entity == entity) {
    *(chain->first == NONE ? &chain->first : &staging->commands[chain->last].next) = at;
    chain->last = at;
    return true;
  }
  *place = ++staging->chain_count;
  staging->chains[*place - 1] = (struct chain){entity, at, at, NONE, false, false};
  return true;
}

/* The same in any case. Those in the queue take a sixth of the memory of others, and half of the
** time. */
INLINE bool command_stage_quick(ecs_world *world, enum command_kind kind, ecs_id entity,
                                ecs_id component) {
  struct staging *staging = &world->staging;
  struct queue *queue = &staging->queue;
  uint32_t offset = ecs_id_index(entity) - FIRST_ENTITY, at = queue->count;
  uint32_t scope = staging->scope_count - 1;
  if (UNLIKELY(offset >= staging->chain_of.near_capacity)) return false;
  bool alone = at == staging->chain_count && at == staging->command_count;
  if (LIKELY(alone) && UNLIKELY(at >= queue->room)) return false;
  if (at == 0) {
    queue->kind = kind;
    queue->component = component;
    queue->scope = scope;
  }
  bool same = queue->kind == kind && queue->component == component && queue->scope == scope;
  if (UNLIKELY(!alone || !same || staging->chain_of.near[offset]))
    return command_stage_apart(world, kind, entity, component);
  assert(!world->shared && staging_is_open(staging) && staging->scopes[scope].open);
  assert(staging->chain_count == at);
  queue->entities[at] = entity;
  staging->chain_of.near[offset] = ++queue->count;
  staging->command_count = staging->chain_count = queue->count;
  staging->ends += kind == COMMAND_DESPAWN;
  return true;
}

#endif
