/* A batch: one change that is made to many, now or when a scope ends. Commands that are alike are
** one, and rows of tables that a query or a kernel names. */
#ifndef ECS_CORE_COMMAND_BATCH_H
#define ECS_CORE_COMMAND_BATCH_H

#include "core/command/command.h"
#include "core/ids/world.h"

/* Whether to add a component, to remove it, or to despawn means nothing but rows to move: nothing
** is tied, required, or kept outside of tables, and observers wait for nothing. `id` is that of a
** component or pair; no matter for a despawn. */
bool batch_is_plain(const ecs_world *world, enum command_kind kind, ecs_id id);

/* Whether rows of a table, each once, may be deferred in the scope that is open: that is plain, and
** nothing but such a batch is. Components among them do not die. */
bool batch_takes_rows(const ecs_world *world, enum command_kind kind, ecs_id id,
                      const struct table *table);

/* Puts rows of a table into the batch: those whose bits are set, or all of them for NULL.
** ECS_ENOMEM: they are not in it. */
ecs_status batch_put_rows(ecs_world *world, enum command_kind kind, ecs_id id,
                          struct table *table, const uint64_t *bits);

/* Changes all rows of a query's tables now, outside of scopes; where observers are on, that is
** plain. With an error, as where a component is required in one of them, nothing has changed. */
ecs_status batch_change_tables(const ecs_query *query, enum command_kind kind, ecs_id id);

/* Gives all rows of a query's tables the same cells of a component, which comes to entities that
** lack it. False when that is not for columns alone, or there is no memory for it: then nothing has
** changed. Inside of scopes it is not. */
bool batch_give(ecs_query *query, const struct component *component, const struct write *writes,
                uint32_t count);

/* Changes what is in the batch of the scope that ends, if it is plain; *applied says whether it is.
** Else, and with ECS_ENOMEM or ECS_ELIMIT, nothing has changed. */
ecs_status batch_apply(ecs_world *world, bool *applied);

/* Whether an entity is in the batch, and its component is this one. O(1). */
bool batch_has(const ecs_world *world, ecs_id entity, ecs_id component);

/* The ids of the batch in a list that has room for them, in place of its rows. */
void batch_list_rows(ecs_world *world, ecs_id *ids);

/* Nothing is in it any more. */
void batch_forget(ecs_world *world);

/* Whether the batch, if there is one, is as it should be. */
bool batch_is_sound(const ecs_world *world);

/* Defers a command without writes, on what is no relation, if there is room and the slot of the
** living entity is near; else false, and command_stage is to do it. A call would be as dear. */
INLINE bool command_defer_alike(ecs_world *world, enum command_kind kind, ecs_id entity,
                                ecs_id component) {
  struct staging *staging = &world->staging;
  struct batch *batch = &staging->batch;
  uint32_t offset = ecs_id_index(entity) - FIRST_ENTITY, at = batch->count;
  uint32_t scope = staging->scope_count - 1;
  if (UNLIKELY(offset >= staging->chain_of.near_capacity)) return false;
  bool alone = at == staging->chain_count && at == staging->command_count;
  if (LIKELY(alone) && UNLIKELY(at >= batch->room)) return false;
  if (at == 0) {
    batch->kind = kind;
    batch->component = component;
    batch->scope = scope;
  }
  bool same = batch->kind == kind && batch->component == component && batch->scope == scope;
  if (UNLIKELY(!alone || !same || staging->chain_of.near[offset]))
    return command_defer_unlike(world, kind, entity, component);
  assert(!world->shared && staging_is_open(staging) && staging->scopes[scope].open);
  assert(staging->chain_count == at && !batch->by_rows);
  batch->entities[at] = entity;
  staging->chain_of.near[offset] = ++batch->count;
  staging->command_count = staging->chain_count = batch->count;
  staging->ends += kind == COMMAND_DESPAWN;
  return true;
}

#endif
