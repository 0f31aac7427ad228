/* Scopes and staged commands. While a scope is open structural changes are kept; when the
** outermost one ends they are applied entity by entity, each entity moving once. */
#ifndef ECS_CORE_COMMAND_COMMAND_H
#define ECS_CORE_COMMAND_COMMAND_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/entity/name.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"

/* Which chain of staged commands an entity has. Those whose slots are near have it in an array by
** their indices, which is made when something is staged first: a hash map took three quarters of
** the time of staging. The others are in a map. */

/* Room for more chains, of whatever entities there are and are spawned meanwhile; false when out of
** memory. */
bool chain_map_reserve(struct memory *memory, struct chain_map *map,
                       const struct entity_index *index, uint64_t more);

/* An entity's chain by its index, or NONE. */
INLINE uint32_t chain_map_get(const struct chain_map *map, uint32_t entity) {
  uint32_t offset = entity - FIRST_ENTITY;
  if (LIKELY(offset < map->near_capacity)) return map->near[offset] - 1;
  return map_get(&map->others, entity);
}

INLINE void chain_map_put(struct chain_map *map, uint32_t entity, uint32_t chain) {
  uint32_t offset = entity - FIRST_ENTITY;
  if (LIKELY(offset < map->near_capacity))
    map->near[offset] = chain + 1;
  else
    map_put(&map->others, entity, chain);
}

/* Of a list whose items are so large, and begin with an entity's id: forgets these, which are all;
** whether they are found by their places, and nobody else is. */
void chain_map_clear(struct chain_map *map, const void *list, size_t size, uint32_t count);
bool chain_map_is_sound(const struct chain_map *map, const void *list, size_t size,
                        uint32_t count);
void chain_map_free(struct memory *memory, struct chain_map *map);

enum command_kind { COMMAND_SPAWN, COMMAND_DESPAWN, COMMAND_ADD, COMMAND_REMOVE, COMMAND_SET,
                    COMMAND_ENABLE, COMMAND_DISABLE, COMMAND_NAME };

struct command {
  ecs_id entity;
  ecs_id component;          /* or a pair's id */
  ecs_id target;             /* of a pair, with its generation */
  enum command_kind kind;
  uint32_t scope;            /* index into scopes */
  uint32_t next;             /* the entity's next command */
  uint32_t below[2];         /* its entity's first ones on other components: see command_place */
  uint32_t first_write;      /* of a name: its place among namings */
  uint32_t write_count;
  bool dropped;              /* it cannot apply: see staging_refuse */
  bool anew;                 /* it ties whom nothing ties at its time: fields have their defaults */
  bool idle;                 /* it switches what its entity does not have at its time */
  bool ties;                 /* on an exclusive relation: once it applies its entity is tied */
};

/* All commands of one entity but those that name it, and where they will take it. */
struct chain {
  ecs_id entity;
  uint32_t first, last;      /* NONE when only its ties change: by the last one, another's */
  uint32_t target;           /* table index, or NONE when it dies */
  bool skip;                 /* it was dead when its commands applied */
  bool sparse;               /* sparse components may come or go, too */
};

/* An entity's chain, or NULL, where there is no batch. */
INLINE struct chain *command_find_chain(const struct staging *staging, ecs_id entity) {
  assert(staging->batch.count == 0);
  uint32_t at = chain_map_get(&staging->chain_of, ecs_id_index(entity));
  if (at == NONE || staging->chains[at].entity != entity) return NULL;
  return &staging->chains[at];
}

/* Whether changes outside of scopes are scopes of one command: where they are not the affair of one
** table alone, or observers are to be told. */
static inline bool changes_are_commands(const ecs_world *world) {
  return sparse_is_mixed(world) || world->staging.watched;
}

/* Whether a change may have to be kept for the end of a scope. */
static inline bool changes_wait(const ecs_world *world) {
  return (world->staging.open | world->staging.watched) != 0;
}

/* Room for one more scope: the next scope_open cannot fail. */
ecs_status scope_reserve(ecs_world *world);

/* Opens a scope; *scope names it. */
ecs_status scope_open(ecs_world *world, enum scope_kind kind, uint32_t *scope);

/* Ends a scope: its commands pass to the enclosing one, or are applied when it was the last.
** On ECS_ENOMEM or ECS_ELIMIT the scope stays open and nothing is applied (scope_stays_open). */
ecs_status scope_commit(ecs_world *world, uint32_t scope);

/* The innermost open scope; the open one that what was staged in a scope belongs to now, NONE when
** that has ended with no other one around it; whether loops were begun in it or since that are
** still open, in any for NONE. */
uint32_t scope_innermost(const struct staging *staging);
uint32_t scope_holder(const struct staging *staging, uint32_t scope);
bool scope_has_loops_behind(const struct staging *staging, uint32_t scope);

/* Whether scope_commit has left it open, by its status. With any other error the scope has ended,
** and what could apply is applied, or nothing of it where staging.whole says so: the error is that
** of the first command that could not. */
static inline bool scope_stays_open(ecs_status status) {
  return status == ECS_ENOMEM || status == ECS_ELIMIT;
}

/* Ends a scope and drops its commands; ids spawned in it are dead. Cannot fail. When it was
** the outermost one and others' commands remain, they are dropped too. */
void scope_cancel(ecs_world *world, uint32_t scope);

/* Room for more commands with their writes, on at most `entities` entities: staging them
** then cannot fail. Rows of the batch become a list of entities. */
ecs_status command_reserve(ecs_world *world, uint64_t commands, uint64_t writes,
                           uint64_t entities);

/* The innermost scope that is no loop, if it was opened by hand, else NONE; ended as by ecs_commit
** and ecs_cancel, without telling observers. */
uint32_t scope_deferred(const ecs_world *world);
ecs_status deferred_commit(ecs_world *world);
ecs_status deferred_cancel(ecs_world *world);

/* Drops what a scope holds, which stays open; for NONE everything, also what ended ones left. */
void scope_drop(ecs_world *world, uint32_t scope);

/* Ends every scope opened after this one: a system may leave some open. */
void scope_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* Opens a scope for what a call does where none is open; else *scope is NONE, and its commands are
** among those of the scope that is. Ends such a one, with the status of what was staged in it: it
** is gone then, and writes whose commands could not apply are their caller's. Where nothing could,
** what was spawned in it never was. */
ecs_status scope_open_own(ecs_world *world, uint32_t *scope);
ecs_status scope_end_own(ecs_world *world, uint32_t scope, ecs_status status);

/* Cancels a scope, in which staging something has failed, within another one: writes are their
** caller's. */
void scope_take_back(ecs_world *world, uint32_t scope);

/* Keeps a command; outside of scopes, in one of its own. The entity is alive. Takes over any slots
** in the writes when ECS_OK. */
ecs_status command_stage(ecs_world *world, enum command_kind kind, ecs_id entity,
                         ecs_id component, const struct write *writes, uint32_t count);

/* command_stage on a pair's id; the target is alive. */
ecs_status command_stage_pair(ecs_world *world, enum command_kind kind, ecs_id entity,
                              ecs_id pair, ecs_id target, const struct write *writes,
                              uint32_t count);

/* Keeps a name for a living entity, or that it is to have none. Takes over the text when ECS_OK. */
ecs_status command_stage_name(ecs_world *world, ecs_id entity, struct naming naming);

/* Makes a chain for a living entity without a command: its table changes by what happens to
** others. */
ecs_status command_touch(ecs_world *world, ecs_id entity);

/* An entity's last command on a pair, or on all pairs of its relation, up to a place in the list
** of commands; NULL when there is none. */
const struct command *command_last_on(const ecs_world *world, ecs_id entity, ecs_id pair,
                                      uint32_t up_to);

/* Drops a command, by its place in the list, that cannot apply: the world's message says why. The
** others apply; then scope_commit returns the status of the first that was dropped, as they were
** given, with its message. */
void staging_refuse(ecs_world *world, uint32_t at, ecs_status status);

/* The status and message that staging_refuse has kept, once; ECS_OK when it was not called. */
ecs_status staging_refusal(ecs_world *world);

/* command_stage of a new command without a target, where command_reserve has made room. */
void command_put(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                 const struct write *writes, uint32_t count);

void commands_forget(ecs_world *world);

/* Writes the commands and chains of the batch, which is empty then. ECS_ENOMEM, ECS_ELIMIT; cannot
** fail after command_reserve. */
ecs_status commands_write(ecs_world *world);

/* command_defer_alike (batch.h) of what is not like those in the batch, or not the only one on its
** entity. */
bool command_defer_unlike(ecs_world *world, enum command_kind kind, ecs_id entity,
                          ecs_id component);

void staging_free(ecs_world *world);

/* A batch: one change that is made to many, now or when a scope ends. Commands that are alike are
** one, and rows of tables that a query or a kernel names. */

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

/* command_is_staged where there is no batch. */
bool command_is_written(const ecs_world *world, ecs_id entity, ecs_id component);

/* Whether an entity has a staged command on a component. O(1). */
static inline bool command_is_staged(const ecs_world *world, ecs_id entity, ecs_id component) {
  if (LIKELY(world->staging.command_count == 0)) return false;
  return (world->staging.batch.count ? batch_has : command_is_written)(world, entity, component);
}

/* The ids of the batch in a list that has room for them, in place of its rows. */
void batch_list_rows(ecs_world *world, ecs_id *ids);

/* Nothing is in it any more. */
void batch_forget(ecs_world *world);

/* Whether the batch, if there is one, is as it should be. */
bool batch_is_sound(const ecs_world *world);

/* Entities that are spawned in a scope, and their cells: see brood.c. */

/* Whether they are what is in the batch. Its commands, writes and chains are counted then. */
static inline bool broods_are_kept(const struct staging *staging) {
  return staging->batch.count && staging->batch.kind == COMMAND_SPAWN;
}

/* Where the commands begin that are written: nothing is, as long as there is a batch. */
static inline uint32_t staging_first_written(const struct staging *staging) {
  return staging->batch.count ? staging->command_count : 0;
}

/* The number of the kind that is spawned with these parts, in the scope that is open; NONE where
** commands are to do it: where there is more to do, something else is deferred, or no memory. */
uint32_t brood_kind_of(ecs_world *world, const struct part *parts, uint32_t count);

/* Keeps spawns of a kind with these parts, as entity_spawn_many. ECS_ENOMEM, ECS_ELIMIT. */
ecs_status broods_spawn(ecs_world *world, uint64_t n, uint32_t kind, const struct part *parts,
                        ecs_id *ids);

/* Keeps so many of each of some kinds. Where their cells are to be set: kind after kind, write
** after write; and, of several, whose turn it is, entity after entity. NULL without room. */
uint64_t *broods_put(ecs_world *world, const uint32_t *kinds, const uint32_t *counts,
                     uint32_t count, uint8_t **turns);

/* Writes their commands, for which there is room. */
void broods_write(ecs_world *world);

/* batch_apply of them. */
ecs_status broods_apply(ecs_world *world, bool *applied);

void broods_forget(struct broods *broods);
bool broods_are_sound(const ecs_world *world);
void broods_free(struct memory *memory, struct broods *broods);

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

/* What staged commands do when the outermost scope ends: entity by entity, each moving once. */

/* Applies all staged commands, and forgets them. With an error nothing is applied and all of them
** are kept. Those that cannot apply are dropped (staging_refuse); where staging.whole is on, they
** are such an error. */
ecs_status commands_apply(ecs_world *world);

/* What staged commands make of the set of ids that an entity has. */

/* Whether it changes no set of ids, only what is on. */
static inline bool command_is_switch(const struct command *command) {
  return command->kind == COMMAND_ENABLE || command->kind == COMMAND_DISABLE;
}

/* Whether its entity dies by it. */
static inline bool command_is_end(const struct command *command) {
  return command->kind == COMMAND_DESPAWN && !command->dropped;
}

/* What becomes of a set of ids, with room for `room`, by the commands of a chain that are not
** dropped; NONE when its entity dies. After cascade_decide. */
uint32_t merge_commands(const ecs_world *world, const struct chain *chain, ecs_id *ids,
                        uint32_t count, uint64_t room);

/* What staged commands write, once their entity's row is where it belongs. */

/* Lets go of the values of a command that is not to be done. */
void replay_release(ecs_world *world, const struct command *command);

/* The row is in its final table: what was carried has its old values, what is new its
** defaults. Replays the commands so that the last word counts. */
void replay_chain(ecs_world *world, const struct chain *chain, struct table *table, uint32_t row);

/* The cells of targets are what the ties say. */
void apply_targets(ecs_world *world, const struct table *table, uint32_t entity, uint32_t row);

#endif
