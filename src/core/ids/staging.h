/* What a world keeps while scopes are open: these, and what was staged in them. */
#ifndef ECS_CORE_IDS_STAGING_H
#define ECS_CORE_IDS_STAGING_H

#include "core/ids/world.h"

struct chain;
struct command;
struct emission;
struct naming;
struct unborn;

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
