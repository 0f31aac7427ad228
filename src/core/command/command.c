#include "core/command/command.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/command/emission.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "ecs_entity.h"
#include "ecs_world.h"

/* ---- scopes ---- */

uint32_t scope_innermost(const struct staging *staging) {
  uint32_t at = staging->scope_count;
  while (at-- > 0)
    if (staging->scopes[at].open) return at;
  return NONE;
}

ecs_status scope_reserve(ecs_world *world) {
  struct staging *staging = &world->staging;
  if (!GROW(&world->memory, staging->scopes, staging->scope_capacity, staging->scope_count + 1ull))
    return world_nomem(world);
  return ECS_OK;
}

ecs_status scope_open(ecs_world *world, enum scope_kind kind, uint32_t *scope) {
  struct staging *staging = &world->staging;
  assert(!world->shared);
  ecs_status status = scope_reserve(world);
  if (UNLIKELY(status != ECS_OK)) return status;
  *scope = staging->scope_count++;
  staging->scopes[*scope] = (struct scope){kind, true, NONE, staging->command_count};
  staging->epoch += staging->open == 0;
  staging->open++;
  staging->busy += kind != SCOPE_LOOP;
  return ECS_OK;
}

uint32_t scope_holder(const struct staging *staging, uint32_t scope) {
  while (scope != NONE && !staging->scopes[scope].open) scope = staging->scopes[scope].parent;
  return scope;
}

bool scope_has_loops_behind(const struct staging *staging, uint32_t scope) {
  for (uint32_t i = scope == NONE ? 0 : scope + 1; i < staging->scope_count; i++)
    if (staging->scopes[i].open && staging->scopes[i].kind == SCOPE_LOOP) return true;
  return false;
}

/* Pops ended scopes, and passes their commands to the enclosing scope. */
static void command_pop_ended(ecs_world *world) {
  struct staging *staging = &world->staging;
  while (staging->scope_count) {
    uint32_t top = staging->scope_count - 1;
    if (staging->scopes[top].open) return;
    uint32_t heir = scope_holder(staging, top);
    if (staging->batch.count && staging->batch.scope == top) staging->batch.scope = heir;
    /* The batch's commands come before all written ones. */
    uint32_t first = staging->scopes[top].first_command;
    for (uint32_t i = first; i < staging->command_count && !staging->batch.count; i++)
      if (staging->commands[i].scope == top) staging->commands[i].scope = heir;
    for (uint32_t i = staging->emission_count; i-- > 0;)
      if (staging->emissions[i].scope == top) staging->emissions[i].scope = heir;
    if (UNLIKELY(world->watching->note_count)) watch_inherit(world, top, heir);
    staging->scope_count--;
  }
}

static void command_end_scope(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  struct scope *ended = &staging->scopes[scope];
  assert(ended->open && staging->open > 0);
  assert(ended->kind == SCOPE_LOOP || staging->busy > 0);
  ended->open = false;
  staging->open--;
  staging->whole &= staging->open != 0;
  staging->busy -= ended->kind != SCOPE_LOOP;
  ended->parent = NONE;
  for (uint32_t i = scope; i-- > 0 && ended->parent == NONE;)
    if (staging->scopes[i].open) ended->parent = i;
  command_pop_ended(world);
  if (UNLIKELY(staging->emission_count && staging->open == 0)) emissions_settle(world);
}

/* ---- keeping commands ---- */

static bool command_chain_map_grow(struct memory *memory, struct chain_map *map, uint32_t wanted) {
  uint32_t *grown = memory_array(memory, wanted, sizeof *grown);
  if (!grown) return false;
  memset(grown, 0, wanted * sizeof *grown);
  if (map->near_capacity) memcpy(grown, map->near, map->near_capacity * sizeof *grown);
  memory_free(memory, map->near, map->near_capacity * sizeof *grown);
  assert(wanted > map->near_capacity);
  map->near = grown;
  map->near_capacity = wanted;
  /* The entries of near slots move from the map to the array. */
  for (uint32_t i = 0; i < map->others.capacity && map->others.count; i++) {
    struct map_entry entry = map->others.entries[i];
    if (!entry.key || entry.key - FIRST_ENTITY >= map->near_capacity) continue;
    map->near[entry.key - FIRST_ENTITY] = entry.value + 1;
    map_remove(&map->others, entry.key);
    i--;                       /* the removal may have moved another one here */
  }
  return true;
}

/* Reserves room for more chains of existing and spawned entities; false when out of memory. */
static bool command_chain_map_reserve(struct memory *memory, struct chain_map *map,
                                      const struct entity_index *index, uint64_t more) {
  bool covered = map->near_capacity >= index->near_capacity;
  if (UNLIKELY(more && !covered) && !command_chain_map_grow(memory, map, index->near_capacity))
    return false;
  return map_reserve(memory, &map->others, more);
}

/* Reserves room, also for rows of a batch and for broods, which are counted but have had none so
** far. */
ecs_status command_reserve(ecs_world *world, uint64_t commands, uint64_t writes,
                           uint64_t entities) {
  struct staging *staging = &world->staging;
  struct memory *memory = &world->memory;
  struct batch *batch = &staging->batch;
  bool broods = broods_are_kept(staging);
  uint32_t rows = batch->by_rows || broods ? batch->count : 0;
  uint64_t need = staging->command_count + commands;
  if (!GROW(memory, staging->commands, staging->command_capacity, need) ||
      !GROW(memory, staging->writes, staging->write_capacity, staging->write_count + writes) ||
      !GROW(memory, staging->chains, staging->chain_capacity, staging->chain_count + entities) ||
      !GROW(memory, batch->entities, batch->capacity, need) ||
      !command_chain_map_reserve(memory, &staging->chain_of, &world->entities, entities + rows))
    return world_nomem(world);
  if (batch->by_rows) batch_list_rows(world, batch->entities);
  if (broods) broods_write(world);
  /* The batch's room is the least of its three capacities. */
  uint32_t room = staging->batch.capacity;
  if (room > staging->command_capacity) room = staging->command_capacity;
  if (room > staging->chain_capacity) room = staging->chain_capacity;
  assert(staging->batch.count <= room);
  staging->batch.room = room;
  return ECS_OK;
}

ecs_status commands_write(ecs_world *world) {
  struct staging *staging = &world->staging;
  struct batch *batch = &staging->batch;
  ecs_status status = batch->count ? command_reserve(world, 0, 0, 0) : ECS_OK;
  if (status != ECS_OK) return status;
  assert(batch->count == 0 || batch->count == staging->command_count);
  for (uint32_t i = 0; i < batch->count; i++) {
    ecs_id entity = batch->entities[i];
    staging->commands[i] = (struct command){.entity = entity, .component = batch->component,
                                            .kind = (enum command_kind)batch->kind,
                                            .scope = batch->scope, .next = NONE,
                                            .below = {NONE, NONE}};
    staging->chains[i] = (struct chain){entity, i, i, NONE, false, false};
  }
  batch->count = 0;
  return ECS_OK;
}

/* Finds the place in an entity's chain of the first command on a component: a link to it, or where
** it would go. The chain is a binary tree by bits of hashes, with its first command as root. */
INLINE uint32_t *command_place(const struct staging *staging, struct chain *chain,
                               ecs_id component) {
  uint32_t *at = &chain->first;
  uint64_t way = hash_u64(component);
  for (; *at != NONE && staging->commands[*at].component != component; way >>= 1)
    at = &staging->commands[*at].below[way & 1];
  return at;
}

/* Appends a command to its entity's chain; starts a chain if there is none. */
INLINE void link_command(struct staging *staging, uint32_t at, struct chain *chain) {
  struct command *command = &staging->commands[at];
  command->next = command->below[0] = command->below[1] = NONE;
  assert(at < staging->command_count && (!chain || chain->entity == command->entity));
  if (chain) {
    if (chain->first != NONE) staging->commands[chain->last].next = at;
    uint32_t *place = command_place(staging, chain, command->component);
    if (*place == NONE) *place = at;
    chain->last = at;
    return;
  }
  assert(staging->chain_count < staging->chain_capacity);
  chain_map_put(&staging->chain_of, ecs_id_index(command->entity), staging->chain_count);
  staging->chains[staging->chain_count++] =
      (struct chain){command->entity, at, at, NONE, false, false};
}

/* Appends a command in reserved room. */
INLINE void put_command(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                        ecs_id target, const struct write *writes, uint32_t count) {
  struct staging *staging = &world->staging;
  uint32_t at = staging->command_count++, first = staging->write_count;
  assert(!world->shared && staging_is_open(staging) && ecs_alive(world, entity));
  assert(at < staging->command_capacity && count <= staging->write_capacity - first);
  staging->commands[at] =
      (struct command){.entity = entity, .component = component, .target = target, .kind = kind,
                       .scope = staging->scope_count - 1, .next = NONE, .first_write = first,
                       .write_count = count};
  for (uint32_t i = 0; i < count; i++) staging->writes[first + i] = writes[i];
  staging->write_count = first + count;
  staging->ends += kind == COMMAND_DESPAWN;
  link_command(staging, at, command_find_chain(staging, entity));
}

void command_put(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                 const struct write *writes, uint32_t count) {
  ecs_status status = UNLIKELY(world->staging.batch.count) ? commands_write(world) : ECS_OK;
  assert(status == ECS_OK);
  (void)status;
  put_command(world, kind, entity, component, ECS_NULL, writes, count);
}

bool command_defer_unlike(ecs_world *world, enum command_kind kind, ecs_id entity,
                          ecs_id component) {
  struct staging *staging = &world->staging;
  ecs_status status = UNLIKELY(staging->batch.count) ? commands_write(world) : ECS_OK;
  if (status != ECS_OK || staging->command_count == staging->command_capacity ||
      staging->chain_count == staging->chain_capacity)
    return false;
  put_command(world, kind, entity, component, ECS_NULL, NULL, 0);
  return true;
}

ecs_status command_stage_pair(ecs_world *world, enum command_kind kind, ecs_id entity,
                              ecs_id pair, ecs_id target, const struct write *writes,
                              uint32_t count) {
  uint32_t scope;
  ecs_status status = scope_open_own(world, &scope);
  if (status != ECS_OK) return status;
  status = commands_write(world);
  bool chained = status == ECS_OK && command_find_chain(&world->staging, entity);
  if (status == ECS_OK) status = command_reserve(world, 1, count, !chained);
  if (status == ECS_OK) {
    put_command(world, kind, entity, pair, target, writes, count);
    world->staging.ties += relation_of(world, pair) != NULL;
  }
  return scope_end_own(world, scope, status);
}

ecs_status command_stage(ecs_world *world, enum command_kind kind, ecs_id entity,
                         ecs_id component, const struct write *writes, uint32_t count) {
  const struct staging *staging = &world->staging;
  bool alike = kind == COMMAND_ADD || kind == COMMAND_REMOVE || kind == COMMAND_DESPAWN;
  bool alone = staging_is_open(staging) && staging->batch.count == staging->command_count;
  if (alike && alone && count == 0 && !relation_of(world, component)) {
    bool is_new = chain_map_get(&staging->chain_of, ecs_id_index(entity)) == NONE;
    ecs_status status = command_reserve(world, 1, 0, is_new);
    if (status != ECS_OK) return status;
    if (command_defer_alike(world, kind, entity, component)) return ECS_OK;
  }
  return command_stage_pair(world, kind, entity, component, ECS_NULL, writes, count);
}

ecs_status command_stage_name(ecs_world *world, ecs_id entity, struct naming naming) {
  struct staging *staging = &world->staging;
  assert(!world->shared && staging_is_open(staging) && ecs_alive(world, entity));
  ecs_status status = commands_write(world);
  if (status == ECS_OK) status = command_reserve(world, 1, 0, 0);
  if (status != ECS_OK) return status;
  if (!GROW(&world->memory, staging->namings, staging->naming_capacity,
            staging->naming_count + 1ull))
    return world_nomem(world);
  staging->commands[staging->command_count++] =
      (struct command){.entity = entity, .kind = COMMAND_NAME, .scope = scope_innermost(staging),
                       .next = NONE, .first_write = staging->naming_count};
  staging->namings[staging->naming_count++] = naming;
  staging->ties++;
  return ECS_OK;
}

ecs_status command_touch(ecs_world *world, ecs_id entity) {
  struct staging *staging = &world->staging;
  if (command_find_chain(staging, entity)) return ECS_OK;
  assert(ecs_alive(world, entity));
  ecs_status status = command_reserve(world, 0, 0, 1);
  if (status != ECS_OK) return status;
  chain_map_put(&staging->chain_of, ecs_id_index(entity), staging->chain_count);
  staging->chains[staging->chain_count++] =
      (struct chain){entity, NONE, world->cascade.at, NONE, false, false};
  return ECS_OK;
}

const struct command *command_last_on(const ecs_world *world, ecs_id entity, ecs_id pair,
                                      uint32_t up_to) {
  const struct staging *staging = &world->staging;
  if (staging->batch.count) return NULL;
  const struct chain *chain = command_find_chain(staging, entity);
  const struct command *last = NULL;
  const struct relation *relation = relation_of(world, pair);
  for (uint32_t at = chain ? chain->first : NONE; at != NONE && at <= up_to;
       at = staging->commands[at].next) {
    const struct command *command = &staging->commands[at];
    if (command->component == pair || command->component == relation->component->id)
      last = command;
  }
  return last;
}

void staging_refuse(ecs_world *world, uint32_t at, ecs_status status) {
  struct staging *staging = &world->staging;
  assert(at < staging->command_count && status != ECS_OK);
  staging->commands[at].dropped = true;
  if (staging->refused != ECS_OK && staging->refused_at < at) return;
  staging->refused = status;
  staging->refused_at = at;
  text_format(staging->refusal, sizeof staging->refusal, "%s", world->message);
}

bool command_is_written(const ecs_world *world, ecs_id entity, ecs_id component) {
  const struct staging *staging = &world->staging;
  struct chain *chain = command_find_chain(staging, entity);
  return chain && *command_place(staging, chain, component) != NONE;
}

/* ---- dropping ---- */

void commands_forget(ecs_world *world) {
  struct staging *staging = &world->staging;
  assert(staging->open <= staging->scope_count);
  if (staging->batch.count)
    batch_forget(world);
  else
    chain_map_clear(&staging->chain_of, staging->chains, sizeof *staging->chains,
                    staging->chain_count);
  staging->command_count = staging->write_count = staging->chain_count = 0;
  staging->ties = staging->ends = 0;
  while (staging->naming_count) name_drop(world, &staging->namings[--staging->naming_count]);
}

/* Drops the commands of a scope (NONE: all) and relinks the rest. A batch belongs to one scope. */
static void drop_commands(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  uint32_t kept = 0, count = staging->command_count, note = 0;
  if (staging->batch.count) {
    if (scope != NONE && scope_holder(staging, staging->batch.scope) != scope) return;
    watch_renumber(world, 0, NONE, 0);
    for (uint32_t i = 0; broods_are_kept(staging) && i < staging->batch.count; i++)
      entity_kill(world, ecs_id_index(staging->batch.entities[i]));
    commands_forget(world);
    for (uint32_t i = 0; i < staging->scope_count; i++) staging->scopes[i].first_command = 0;
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (UNLIKELY(world->watching->note_count)) note = watch_renumber(world, note, i, kept);
    struct command command = staging->commands[i];
    if (scope != NONE && scope_holder(staging, command.scope) != scope) {
      staging->commands[kept++] = command;
      continue;
    }
    replay_release(world, &command);
    if (command.kind == COMMAND_NAME) name_drop(world, &staging->namings[command.first_write]);
    if (command.kind == COMMAND_SPAWN && ecs_alive(world, command.entity))
      entity_kill(world, ecs_id_index(command.entity));
  }
  watch_renumber(world, note, NONE, kept);
  chain_map_clear(&staging->chain_of, staging->chains, sizeof *staging->chains,
                  staging->chain_count);
  staging->chain_count = 0;
  staging->command_count = kept;
  if (kept == 0) staging->write_count = 0;
  staging->ends = staging->naming_count = 0;
  for (uint32_t i = 0; i < kept; i++) {
    if (staging->commands[i].kind == COMMAND_NAME) {
      staging->naming_count = staging->commands[i].first_write + 1;
      continue;
    }
    link_command(staging, i, command_find_chain(staging, staging->commands[i].entity));
    staging->ends += staging->commands[i].kind == COMMAND_DESPAWN;
  }
  for (uint32_t i = 0; i < staging->scope_count; i++) staging->scopes[i].first_command = 0;
}

void scope_drop(ecs_world *world, uint32_t scope) {
  if (UNLIKELY(world->watching->note_count)) watch_drop_notes(world, scope);
  if (world->staging.command_count) drop_commands(world, scope);
  if (UNLIKELY(world->staging.emission_count)) emissions_drop(world, scope);
}

/* ---- ending ---- */

ecs_status staging_refusal(ecs_world *world) {
  ecs_status status = world->staging.refused;
  if (LIKELY(status == ECS_OK)) return ECS_OK;
  world->staging.refused = ECS_OK;
  return world_fail(world, status, "%s", world->staging.refusal);
}

ecs_status scope_commit(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  assert(scope < staging->scope_count && staging->scopes[scope].open);
  if (LIKELY(scope_end_first(staging, world->watching->note_count))) return ECS_OK;
  if (staging->open == 1 && (staging->command_count | world->watching->note_count)) {
    ecs_status status = commands_apply(world);
    bool refused = status != ECS_OK && !scope_stays_open(status);
    assert(!refused || (staging->whole && staging->open == 1));
    /* One command could not apply, so all are discarded; a call's own scope ends elsewhere. */
    if (refused && !staging->own) scope_cancel(world, scope);
    if (status != ECS_OK) return status;
  }
  command_end_scope(world, scope);
  return staging_refusal(world);
}

void scope_keep_whole(ecs_world *world) {
  struct staging *staging = &world->staging;
  staging->whole |= staging->open == 1;
}

void scope_cancel(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  assert(scope < staging->scope_count && staging->scopes[scope].open);
  scope_drop(world, scope);
  command_end_scope(world, scope);
  if (staging->open == 0 && commands_apply(world) != ECS_OK) {
    drop_commands(world, NONE);
    commands_forget(world);
  }
  staging->refused = ECS_OK;
}

/* ---- scopes of one call ---- */

ecs_status scope_open_own(ecs_world *world, uint32_t *scope) {
  *scope = NONE;
  return staging_is_open(&world->staging) ? ECS_OK : scope_open(world, SCOPE_DEFER, scope);
}

/* Returns the any slots in a scope's writes (NONE: all) to their callers. A batch has none. */
static void command_disown_writes(struct staging *staging, uint32_t scope) {
  for (uint32_t i = staging_first_written(staging); i < staging->command_count; i++)
    if (scope == NONE || staging->commands[i].scope == scope) staging->commands[i].write_count = 0;
}

/* Returns spawned ids to where they were taken from, the last one first. */
static void command_unspawn_all(ecs_world *world) {
  const struct staging *staging = &world->staging;
  struct entity_index *index = &world->entities;
  bool broods = broods_are_kept(staging);
  for (uint32_t i = broods ? staging->batch.count : 0; i-- > 0;)
    entity_untake(index, &index->entities, ecs_id_index(staging->batch.entities[i]));
  if (broods) commands_forget(world);
  for (uint32_t i = staging->command_count; i-- > staging_first_written(staging);) {
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

ecs_status scope_end_own(ecs_world *world, uint32_t scope, ecs_status status) {
  struct staging *staging = &world->staging;
  bool staged = status == ECS_OK, written = staging->command_count && !staging->batch.count;
  if (scope == NONE) return status;
  assert(!staging->own && staging->open == 1 && scope < staging->scope_count);
  staging->own = true;
  /* A spawn applies as a whole or not at all. */
  if (written && staging->commands[0].kind == COMMAND_SPAWN) staging->whole = true;
  if (staged) status = scope_commit(world, scope);
  staging->own = false;
  if (staged && !staging_is_open(staging)) return status;
  command_disown_writes(staging, NONE);
  command_unspawn_all(world);
  scope_cancel(world, scope);
  return status;
}

void scope_take_back(ecs_world *world, uint32_t scope) {
  struct staging *staging = &world->staging;
  assert(staging->open > 1 && scope == scope_innermost(staging));
  command_disown_writes(staging, scope);
  scope_cancel(world, scope);
}

void scope_end_inner(ecs_world *world, uint32_t scope, bool keep) {
  struct staging *staging = &world->staging;
  for (uint32_t at = staging->scope_count; at-- > scope + 1;) {
    if (at >= staging->scope_count || !staging->scopes[at].open) continue;
    if (!keep) scope_drop(world, at);
    command_end_scope(world, at);
  }
}

uint32_t scope_deferred(const ecs_world *world) {
  const struct staging *staging = &world->staging;
  uint32_t at = staging->scope_count;
  while (at-- > 0)
    if (staging->scopes[at].open && staging->scopes[at].kind != SCOPE_LOOP)
      return staging->scopes[at].kind == SCOPE_DEFER ? at : NONE;
  return NONE;
}

ecs_status ecs_defer(ecs_world *world) {
  uint32_t scope;
  return scope_open(world, SCOPE_DEFER, &scope);
}

/* Finds the scope that commit or cancel ends. */
static ecs_status command_need_deferred(ecs_world *world, const char *operation, uint32_t *scope) {
  *scope = scope_deferred(world);
  if (*scope == NONE)
    return world_fail(world, ECS_EINVAL, "%s without a defer: call defer first", operation);
  if (*scope == scope_innermost(&world->staging)) return ECS_OK;
  return world_fail(world, ECS_EBUSY,
                    "%s is not possible inside a loop that began after the defer; end the loop "
                    "first", operation);
}

ecs_status deferred_commit(ecs_world *world) {
  uint32_t scope;
  ecs_status status = command_need_deferred(world, "commit", &scope);
  return status == ECS_OK ? scope_commit(world, scope) : status;
}

ecs_status ecs_commit(ecs_world *world) {
  return world_tell_observers(world, deferred_commit(world));
}

ecs_status ecs_cancel(ecs_world *world) {
  return world_tell_observers(world, deferred_cancel(world));
}

ecs_status deferred_cancel(ecs_world *world) {
  uint32_t scope;
  ecs_status status = command_need_deferred(world, "cancel", &scope);
  if (status != ECS_OK) return status;
  scope_drop(world, scope);
  status = scope_commit(world, scope);
  if (status == ECS_OK && !staging_is_open(&world->staging)) world_settle(world);
  return status;
}

void staging_free(ecs_world *world) {
  struct staging *staging = &world->staging;
  struct memory *memory = &world->memory;
  while (staging->naming_count) name_drop(world, &staging->namings[--staging->naming_count]);
  FREE_LIST(memory, staging->scopes, staging->scope_capacity);
  FREE_LIST(memory, staging->commands, staging->command_capacity);
  struct batch *batch = &staging->batch;
  FREE_LIST(memory, batch->entities, batch->capacity);
  FREE_LIST(memory, batch->lanes, batch->lane_capacity);
  FREE_LIST(memory, batch->words, batch->word_capacity);
  broods_free(memory, &staging->broods);
  FREE_LIST(memory, staging->writes, staging->write_capacity);
  FREE_LIST(memory, staging->namings, staging->naming_capacity);
  FREE_LIST(memory, staging->chains, staging->chain_capacity);
  FREE_LIST(memory, staging->emissions, staging->emission_capacity);
  FREE_LIST(memory, staging->chain_of.near, staging->chain_of.near_capacity);
  map_free(memory, &staging->chain_of.others);
}

/* ---- chain map ---- */

static uint32_t command_index_at(const void *list, size_t size, uint32_t nth) {
  ecs_id entity;
  memcpy(&entity, (const char *)list + nth * size, sizeof entity);
  return ecs_id_index(entity);
}

/* Clears the whole array at once if there are many entries. */
void chain_map_clear(struct chain_map *map, const void *list, size_t size, uint32_t count) {
  bool many = map->near_capacity && count > map->near_capacity / 16;
  if (many) memset(map->near, 0, map->near_capacity * sizeof *map->near);
  for (uint32_t i = 0; i < count && !many; i++) {
    uint32_t offset = command_index_at(list, size, i) - FIRST_ENTITY;
    if (offset < map->near_capacity) map->near[offset] = 0;
  }
  if (map->others.count) map_clear(&map->others);
}

/* If several entities had the same index, the last one is found. */
bool chain_map_is_sound(const struct chain_map *map, const void *list, size_t size,
                        uint32_t count) {
  uint32_t near = 0, newest = 0;
  for (uint32_t i = 0; i < map->near_capacity; i++) near += map->near[i] != 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t entity = command_index_at(list, size, i), at = chain_map_get(map, entity);
    if (at < i || at >= count || command_index_at(list, size, at) != entity) return false;
    newest += at == i;
  }
  return near + map->others.count == newest;
}
