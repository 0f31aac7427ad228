/* Worlds as scripts have them: made, attached to their objects, closed. */
#ifndef ECS_LUA_API_LUA_WORLD_H
#define ECS_LUA_API_LUA_WORLD_H

#include "lua/bind/world_box.h"

extern const luaL_Reg world_core_methods[], world_metamethods[];

/* Refuses what makes no sense of what the environment says of all worlds of this process: mistakes
** there would go unnoticed. */
void environment_check(lua_State *L);

/* ecs.world(options) */
int ecs_native_world(lua_State *L);
/* native.is_open(value): whether a world is open; nil for what is no world, and then what it is, if
** it is a world of another copy of this library. */
int ecs_native_is_open(lua_State *L);

/* Pushes the object of a world that is closed so far, to be opened by world_attach. */
struct world_box *new_world_box(lua_State *L);
void world_attach(lua_State *L, struct world_box *box, ecs_world *world, bool lent);

/* Closes a world that is garbage, or whose state is being closed. */
void world_finalize(lua_State *L, int index);

/* Around a core call that runs Lua code and comes back (update, run, a function form): a
** close from inside takes effect for Lua at once (box->world is NULL), but the world is
** freed by the outermost world_leave. Every enter needs its leave: protect what may raise. */
static inline void world_enter(struct world_box *box) { box->depth++; }
void world_free_doomed(lua_State *L, struct world_box *box, int world_index);

static inline void world_leave(lua_State *L, struct world_box *box, int world_index) {
  assert(box->depth > 0);
  if (UNLIKELY(--box->depth == 0 && box->doomed)) world_free_doomed(L, box, world_index);
}

#endif
