/* The open worlds of a Lua state. A world's object cannot do without its finalizer, but Lua calls
** none when it has no memory for the call, and marks no new object for finalization while a
** state is closed: what is open then is found here. */
#ifndef ECS_LUA_API_WORLDS_H
#define ECS_LUA_API_WORLDS_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

void worlds_open(lua_State *L);

/* The next tag in rotation, one that no open world has if possible. */
uint32_t worlds_next_tag(lua_State *L);

/* Makes room for a world whose object is at an index; raises when the state is being closed. */
void worlds_reserve(lua_State *L, struct world_box *box, int index);

/* The world is open now. Cannot fail. */
void worlds_add(lua_State *L, const struct world_box *box);
/* The world is open no more. Cannot fail. */
void worlds_remove(lua_State *L, const struct world_box *box, const ecs_world *world);
/* The world's tag has changed from the one given. Cannot fail. */
void worlds_retag(lua_State *L, const struct world_box *box, uint32_t from);

#endif
