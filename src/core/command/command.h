/* Scopes and staged commands. While a scope is open structural changes are kept; when the
** outermost one ends they are applied entity by entity, each entity moving once. */
#ifndef ECS_CORE_COMMAND_COMMAND_H
#define ECS_CORE_COMMAND_COMMAND_H

#include "core/entity/name.h"
#include "core/ids/world.h"

enum command_kind { COMMAND_SPAWN, COMMAND_DESPAWN, COMMAND_ADD, COMMAND_REMOVE, COMMAND_SET,
                    COMMAND_ENABLE, COMMAND_DISABLE, COMMAND_NAME };

struct command {
  ecs_id entity;
  ecs_id component;          /* or a pair's id */
  ecs_id target;             /* of a pair, with its generation */
  enum command_kind kind;
  uint32_t scope;            /* index into scopes */
  uint32_t next;             /* the entity's next command */
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

/* Whether changes outside of scopes are scopes of one command: where they are not the affair of one
** table alone, or observers are to be told. */
static inline bool changes_are_commands(const ecs_world *world) {
  return sparse_is_mixed(world) || world->staging.watched;
}

/* Not 0 where a change may have to be kept for the end of a scope. Both numbers are read at once:
** apart they took 4 % of a change. */
static inline uint64_t changes_waiting(const ecs_world *world) {
  const char *open = (const char *)&world->staging + offsetof(struct staging, open);
  uint64_t both;
  assert(offsetof(struct staging, watched) == offsetof(struct staging, open) + 4);
  memcpy(&both, open, sizeof both);
  return both;
}

static inline bool changes_wait(const ecs_world *world) { return changes_waiting(world) != 0; }

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

/* The same on a pair's id; the target is alive. */
ecs_status command_stage_pair(ecs_world *world, enum command_kind kind, ecs_id entity,
                              ecs_id pair, ecs_id target, const struct write *writes,
                              uint32_t count);

/* Keeps a name for a living entity, or that it is to have none. Takes over the text when ECS_OK. */
ecs_status command_stage_name(ecs_world *world, ecs_id entity, struct naming naming);

/* Makes a chain for a living entity without a command: its table changes by what happens to
** others. */
ecs_status command_touch(ecs_world *world, ecs_id entity);

/* Whether an entity has a staged command on a component. */
bool command_is_staged(const ecs_world *world, ecs_id entity, ecs_id component);

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

#endif
