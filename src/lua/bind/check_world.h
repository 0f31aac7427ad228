/* How public calls begin: with the open world of their arguments. */
#ifndef ECS_LUA_BIND_CHECK_WORLD_H
#define ECS_LUA_BIND_CHECK_WORLD_H

#include <lauxlib.h>

#include "core/world/check.h"
#include "lua/bind/world_box.h"

/* Raise "world expected, got nil", "the world is closed" for `arg`; that scripts are being read. */
int no_world(lua_State *L, int arg);
int no_change(lua_State *L);

/* Releases any slots that are pending: see take_any. */
void drop_pending(struct world_box *box);

/* Before the first value_to_cell of a call that did not come through check_world: releases
** any slots that an error left over. */
static inline void values_begin(struct world_box *box) {
  if (UNLIKELY(box->any.pending)) drop_pending(box);
}

/* After the core call that took them over. */
static inline void values_stored(struct world_box *box) { box->any.pending = 0; }

/* The open world at argument `arg`, or an error. Counts a public call: functions that get
** at a world otherwise (queries, views that change more than a number) add to calls, too. */
static inline struct world_box *check_world(lua_State *L, int arg) {
  struct world_box *box = box_test(L, arg, &kind_world, sizeof *box);
  if (UNLIKELY(!box || !box->world)) {
    no_world(L, arg);
    return NULL;
  }
  world_be_sure(box->world);
  box->calls++;
  values_begin(box);
  return box;
}

/* What changes more than declarations is refused while scripts are read: here, and nowhere else. */
static inline void check_free(lua_State *L, const struct world_box *box) {
  if (UNLIKELY(box->stage)) no_change(L);
}

/* check_world for what changes more than declarations: an error while scripts are read. */
static inline struct world_box *check_free_world(lua_State *L, int arg) {
  struct world_box *box = check_world(L, arg);
  check_free(L, box);
  return box;
}

#endif
