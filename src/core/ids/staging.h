/* What a world keeps while scopes are open: these, and what was staged in them. */
#ifndef ECS_CORE_IDS_STAGING_H
#define ECS_CORE_IDS_STAGING_H

#include "core/command/chain_map.h"

struct chain;
struct command;
struct emission;
struct naming;
struct unborn;

enum scope_kind { SCOPE_LOOP, SCOPE_DEFER, SCOPE_SYSTEM };

struct scope {
  enum scope_kind kind;
  bool open;
  uint32_t parent;           /* the scope its commands belong to once it has ended */
  uint32_t first_command;    /* none of its commands is before it */
};

/* Someone whose loops update and run end first; on ECS_ENOMEM these stay open. What a system
** leaves open ends with it; what was staged there counts if `keep`. Where functions have been left
** by a jump, `abandon` forgets those of its own that were around them. */
struct loop_owner {
  struct loop_owner *next;
  ecs_status (*end_loops)(void *ud);
  void (*end_system)(void *ud, bool keep);
  void (*abandon)(void *ud);
  bool (*reserve_words)(void *ud, const char *refusal);   /* makes room to say that some commands do
                                                          ** not apply, before the others do */
  void *ud;
};

/* Rows of one table, which go the same way. */
struct lane {
  struct table *from;
  struct table *to;          /* once it is known: NULL where they end, `from` where they stay */
  uint32_t first_word;       /* of the bits of those that are meant; NONE: all, or are listed */
  uint32_t count;
};

/* One change of many: see batch.c. */
struct batch {
  uint32_t count;            /* of entities, of commands and of chains; 0: these are written */
  uint32_t room;             /* as many may come to be in the list; 0 while there are rows */
  ecs_id *entities;          /* the list */
  uint32_t capacity;
  uint32_t scope;
  uint32_t kind;             /* of the commands: to add, to remove, or to despawn */
  ecs_id component;          /* no relation */
  bool by_rows;              /* rows of lanes are in it, in place of the list */
  struct lane *lanes;        /* of different tables */
  uint32_t lane_count, lane_capacity;
  uint64_t *words;           /* bits of rows */
  uint32_t word_count, word_capacity;
  const struct write *writes;   /* what all rows are given, where that is done at once */
  uint32_t write_count;
};

struct staging {
  struct scope *scopes;
  uint32_t scope_count;      /* up to the last open one */
  uint32_t scope_capacity;
  uint32_t open;             /* how many are open */
  uint32_t watched;          /* how many observers are on */
  uint32_t busy;             /* how many of the scopes are not loops */
  uint64_t epoch;            /* counts outermost scopes */
  struct command *commands;
  uint32_t command_count;
  uint32_t command_capacity;
  struct write *writes;
  uint32_t write_count;
  uint32_t write_capacity;
  struct naming *namings;    /* the names that commands give, then those that they have taken */
  uint32_t naming_count;
  uint32_t naming_capacity;
  struct chain *chains;
  uint32_t chain_count;
  uint32_t chain_capacity;
  struct chain_map chain_of;
  struct batch batch;
  struct emission *emissions;   /* what was emitted in open scopes: see emission.h */
  uint32_t emission_count;
  uint32_t emission_capacity;
  struct loop_owner *loop_owners;
  uint32_t ties;             /* commands about relations and names, */
  uint32_t ends;             /* and those that end their entities */
  ecs_status refused;        /* why the first command that could not apply could not, */
  uint32_t refused_at;       /* which that is, */
  bool own;                  /* who gave it is told and keeps its writes (scope_end_own), */
  bool whole;                /* where it is dropped all others are, too (commands_apply), */
  const struct unborn *adopted;   /* what its spawned id was; NULL where that was taken, */
  char refusal[MESSAGE_SIZE];   /* and the message */
};

static inline bool staging_is_open(const struct staging *staging) {
  return staging->open != 0;
}

/* Opens a scope where none is, if there is room for it: number 0. */
static inline bool scope_open_first(struct staging *staging, enum scope_kind kind) {
  if (UNLIKELY(staging->scope_count > 0 || staging->scope_capacity == 0)) return false;
  assert(staging->open == 0 && staging->busy == 0);
  staging->scopes[0] = (struct scope){kind, true, NONE, staging->command_count};
  staging->scope_count = staging->open = 1;
  staging->busy = kind != SCOPE_LOOP;
  staging->epoch++;
  return true;
}

/* Ends the only scope that is open, in which nothing was staged; false when that is not so. `notes`
** are of writes, for observers. */
static inline bool scope_end_first(struct staging *staging, uint32_t notes) {
  bool empty = !(staging->command_count | staging->emission_count | notes);
  if (UNLIKELY(staging->scope_count != 1 || !empty || staging->refused != ECS_OK)) return false;
  assert(staging->open == 1 && staging->scopes[0].open);
  staging->open = staging->busy = staging->scope_count = 0;
  staging->scopes[0].open = false;
  return true;
}

#endif
