/* Scopes and staged commands. While a scope is open, structural changes are deferred. When the
** outermost one ends they are applied entity by entity; each entity moves once. */
#ifndef ECS_CORE_COMMAND_COMMAND_H
#define ECS_CORE_COMMAND_COMMAND_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/entity/name.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"

/* Maps an entity to its chain of staged commands. Entities with low indices use an array, created
** on first use (a hash map took three quarters of the staging time); the others use a map. */

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

/* Forgets all entries of a list whose items begin with an entity's id. Returns whether all were
** found at their places, and no others. */
void chain_map_clear(struct chain_map *map, const void *list, size_t size, uint32_t count);
bool chain_map_is_sound(const struct chain_map *map, const void *list, size_t size,
                        uint32_t count);

enum command_kind { COMMAND_SPAWN, COMMAND_DESPAWN, COMMAND_ADD, COMMAND_REMOVE, COMMAND_SET,
                    COMMAND_ENABLE, COMMAND_DISABLE, COMMAND_NAME };

struct command {
  ecs_id entity;
  ecs_id component;          /* or a pair's id */
  ecs_id target;             /* of a pair, with its generation */
  enum command_kind kind;
  uint32_t scope;            /* index into scopes */
  uint32_t next;             /* the entity's next command */
  uint32_t below[2];         /* the entity's first commands on other components: see
                             ** command_place */
  uint32_t first_write;      /* for a name: its place in namings */
  uint32_t write_count;
  bool dropped;              /* it cannot apply: see staging_refuse */
  bool anew;                 /* it ties an entity untied at that point: fields get defaults */
  bool idle;                 /* it switches a component that the entity lacked at that point */
  bool ties;                 /* exclusive relation: the entity is tied once this applies */
};

/* All commands of one entity except its namings, and the table it will move to. */
struct chain {
  ecs_id entity;
  uint32_t first, last;      /* NONE if only its ties change, by another entity's command */
  uint32_t target;           /* table index, or NONE when it dies */
  bool skip;                 /* dead when its commands applied */
  bool sparse;               /* sparse components may be added or removed */
};

/* An entity's chain, or NULL; there must be no batch. */
INLINE struct chain *command_find_chain(const struct staging *staging, ecs_id entity) {
  assert(staging->batch.count == 0);
  uint32_t at = chain_map_get(&staging->chain_of, ecs_id_index(entity));
  if (at == NONE || staging->chains[at].entity != entity) return NULL;
  return &staging->chains[at];
}

/* Whether changes outside scopes need a scope of one command: because they affect more than one
** table, or observers must be told. */
static inline bool changes_are_commands(const ecs_world *world) {
  return sparse_is_mixed(world) || world->staging.watched;
}

/* Whether a change may have to be deferred. */
static inline bool changes_wait(const ecs_world *world) {
  return (world->staging.open | world->staging.watched) != 0;
}

/* Room for one more scope: the next scope_open cannot fail. */
ecs_status scope_reserve(ecs_world *world);

/* Opens a scope and returns it in *scope. */
ecs_status scope_open(ecs_world *world, enum scope_kind kind, uint32_t *scope);

/* Ends a scope: its commands pass to the enclosing scope, or are applied if it was the last. With
** ECS_ENOMEM or ECS_ELIMIT the scope stays open and nothing is applied (scope_stays_open). */
ecs_status scope_commit(ecs_world *world, uint32_t scope);

/* scope_innermost: the innermost open scope. scope_holder: the open scope that a scope's commands
** now belong to, or NONE. The third: whether a loop begun in the scope (NONE: any) is still
** open. */
uint32_t scope_innermost(const struct staging *staging);
uint32_t scope_holder(const struct staging *staging, uint32_t scope);
bool scope_has_loops_behind(const struct staging *staging, uint32_t scope);

/* If only one scope is open: its commands apply as a whole, or none of them (staging.whole). */
void scope_keep_whole(ecs_world *world);

/* Whether scope_commit has left the scope open, by its status. With any other error the scope has
** ended; what could apply was applied, or nothing if staging.whole is set. The error is that of the
** first command that failed. */
static inline bool scope_stays_open(ecs_status status) {
  return status == ECS_ENOMEM || status == ECS_ELIMIT;
}

/* Ends a scope and drops its commands; ids spawned in it are dead. Cannot fail. If it was the
** outermost one, remaining commands of other scopes are dropped, too. */
void scope_cancel(ecs_world *world, uint32_t scope);

/* Reserves room for commands and their writes on at most `entities` entities, so that staging them
** cannot fail. Rows of a batch become a list of entities. */
ecs_status command_reserve(ecs_world *world, uint64_t commands, uint64_t writes,
                           uint64_t entities);

/* scope_deferred: the innermost scope that is not a loop, if it was opened by hand, otherwise NONE.
** The others end it as ecs_commit and ecs_cancel do, without telling observers. */
uint32_t scope_deferred(const ecs_world *world);
ecs_status deferred_commit(ecs_world *world);
ecs_status deferred_cancel(ecs_world *world);

/* Drops what a scope holds but leaves it open; NONE drops everything, even of ended scopes. */
void scope_drop(ecs_world *world, uint32_t scope);

/* Ends all scopes opened after this one, which a system may have left open. */
void scope_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* Opens a scope for one call if none is open; otherwise *scope is NONE and the call joins the open
** one. The second ends such a scope with the status of its commands: refused writes return to the
** caller, and if nothing applied, spawned ids never existed. */
ecs_status scope_open_own(ecs_world *world, uint32_t *scope);
ecs_status scope_end_own(ecs_world *world, uint32_t scope, ecs_status status);

/* Cancels an inner scope after a failure to stage; writes return to their caller. */
void scope_take_back(ecs_world *world, uint32_t scope);

/* Defers a command; outside scopes, in a scope of its own. The entity must be alive. Takes over any
** slots in the writes when it returns ECS_OK. */
ecs_status command_stage(ecs_world *world, enum command_kind kind, ecs_id entity,
                         ecs_id component, const struct write *writes, uint32_t count);

/* As command_stage, for a pair; the target must be alive. */
ecs_status command_stage_pair(ecs_world *world, enum command_kind kind, ecs_id entity,
                              ecs_id pair, ecs_id target, const struct write *writes,
                              uint32_t count);

/* Defers naming a living entity, or removing its name. Takes over the text when it returns
** ECS_OK. */
ecs_status command_stage_name(ecs_world *world, ecs_id entity, struct naming naming);

/* Creates a chain without commands for a living entity whose table changes because of others. */
ecs_status command_touch(ecs_world *world, ecs_id entity);

/* An entity's last command before a place in the list on a pair, or on all pairs of its relation;
** NULL if there is none. */
const struct command *command_last_on(const ecs_world *world, ecs_id entity, ecs_id pair,
                                      uint32_t up_to);

/* Drops a command that cannot apply, by its place in the list; the world's message says why. The
** others apply, and scope_commit returns the status and message of the first one dropped. */
void staging_refuse(ecs_world *world, uint32_t at, ecs_status status);

/* Takes the status and message that staging_refuse kept; ECS_OK if nothing was refused. */
ecs_status staging_refusal(ecs_world *world);

/* As command_stage for a new command without a target; command_reserve has made room. */
void command_put(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                 const struct write *writes, uint32_t count);

void commands_forget(ecs_world *world);

/* Writes the commands and chains of the batch, which is empty afterwards. ECS_ENOMEM, ECS_ELIMIT;
** cannot fail after command_reserve. */
ecs_status commands_write(ecs_world *world);

/* As command_defer_alike, for a command unlike those in the batch, or a second one on its
** entity. */
bool command_defer_unlike(ecs_world *world, enum command_kind kind, ecs_id entity,
                          ecs_id component);

void staging_free(ecs_world *world);

/* A batch: one change made to many entities, now or when a scope ends. It holds commands that are
** alike, or rows of tables that a query or kernel names. */

/* Whether the change only moves rows: no relations, requirements or sparse components are involved,
** and no observer notifications are pending. `id` is a component or pair; ignored for a despawn. */
bool batch_is_plain(const ecs_world *world, enum command_kind kind, ecs_id id);

/* Whether rows of a table, each once, can be deferred in the open scope: the change is plain, and
** the scope holds only such a batch. Components among them are never despawned. */
bool batch_takes_rows(const ecs_world *world, enum command_kind kind, ecs_id id,
                      const struct table *table);

/* Adds rows of a table to the batch: those whose bits are set, or all for NULL. With ECS_ENOMEM,
** none is added. */
ecs_status batch_put_rows(ecs_world *world, enum command_kind kind, ecs_id id,
                          struct table *table, const uint64_t *bits);

/* Changes all rows of a query's tables at once, outside scopes; with observers on, the change must
** be plain. On an error, such as a required component in one table, nothing has changed. */
ecs_status batch_change_tables(const ecs_query *query, enum command_kind kind, ecs_id id);

/* Writes the same cells of a component to all rows of a query's tables, and adds it where it is
** absent. Returns false, changing nothing, if columns alone do not suffice, memory is short or a
** scope is open. */
bool batch_give(ecs_query *query, const struct component *component, const struct write *writes,
                uint32_t count);

/* Applies the batch of the scope that ends if its change is plain; *applied says so. Otherwise, and
** with ECS_ENOMEM or ECS_ELIMIT, nothing has changed. */
ecs_status batch_apply(ecs_world *world, bool *applied);

/* Whether the entity is in the batch and the batch is about this component. O(1). */
bool batch_has(const ecs_world *world, ecs_id entity, ecs_id component);

/* As command_is_staged, if there is no batch. */
bool command_is_written(const ecs_world *world, ecs_id entity, ecs_id component);

/* Whether an entity has a staged command on a component. O(1). */
static inline bool command_is_staged(const ecs_world *world, ecs_id entity, ecs_id component) {
  if (LIKELY(world->staging.command_count == 0)) return false;
  return (world->staging.batch.count ? batch_has : command_is_written)(world, entity, component);
}

/* Writes the ids of the batch's rows to a list with room for them. */
void batch_list_rows(ecs_world *world, ecs_id *ids);

/* Empties the batch. */
void batch_forget(ecs_world *world);

/* Whether the batch, if any, is consistent. */
bool batch_is_sound(const ecs_world *world);

/* Entities that are spawned in a scope, and their cells: see brood.c. */

/* Whether the batch consists of broods, whose commands, writes and chains are counted. */
static inline bool broods_are_kept(const struct staging *staging) {
  return staging->batch.count && staging->batch.kind == COMMAND_SPAWN;
}

/* The first written command; with a batch, none is written. */
static inline uint32_t staging_first_written(const struct staging *staging) {
  return staging->batch.count ? staging->command_count : 0;
}

/* The number of the kind that these parts spawn, in the open scope. NONE if commands must be used:
** the spawn does more, something else is deferred, or memory is short. */
uint32_t brood_kind_of(ecs_world *world, const struct part *parts, uint32_t count);

/* Defers spawns of one kind, as entity_spawn_many. ECS_ENOMEM, ECS_ELIMIT. */
ecs_status broods_spawn(ecs_world *world, uint64_t n, uint32_t kind, const struct part *parts,
                        ecs_id *ids);

/* Defers several entities of each of some kinds. Returns where to write their cells, kind by kind
** and write by write; several kinds also need to be told whose turn it is, entity by entity, in
** *turns. NULL when out of memory. */
uint64_t *broods_put(ecs_world *world, const uint32_t *kinds, const uint32_t *counts,
                     uint32_t count, uint8_t **turns);

/* Writes the commands of the broods in reserved room. */
void broods_write(ecs_world *world);

/* As batch_apply, for broods. */
ecs_status broods_apply(ecs_world *world, bool *applied);

void broods_forget(struct broods *broods);
bool broods_are_sound(const ecs_world *world);
void broods_free(struct memory *memory, struct broods *broods);

/* Defers a command without writes on a component that is not a relation, if there is room and the
** entity's index is low; otherwise returns false, and command_stage must be used. Inline, since a
** call would take as long as the rest. */
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

/* Applies staged commands when the outermost scope ends: entity by entity, each moving once. */

/* Applies all staged commands and forgets them. On an error nothing is applied and all are kept. A
** command that cannot apply is dropped (staging_refuse), or is such an error if staging.whole is
** set. */
ecs_status commands_apply(ecs_world *world);

/* Whether the command only switches a component on or off. */
static inline bool command_is_switch(const struct command *command) {
  return command->kind == COMMAND_ENABLE || command->kind == COMMAND_DISABLE;
}

/* Whether the command despawns its entity. */
static inline bool command_is_end(const struct command *command) {
  return command->kind == COMMAND_DESPAWN && !command->dropped;
}

/* Releases the values of a command that will not be carried out. */
void replay_release(ecs_world *world, const struct command *command);

#endif
