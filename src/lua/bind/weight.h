/* What worlds weigh, told to the collector of their Lua state. */
#ifndef ECS_LUA_BIND_WEIGHT_H
#define ECS_LUA_BIND_WEIGHT_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

void weights_open(lua_State *L);

/* A world has been opened: the collector has heard of `bytes` of it. */
void weights_attach(lua_State *L, struct world_box *box, size_t bytes);
/* A world is closed. */
void weights_leave(struct world_box *box);

/* Tells the collector what the world has grown by, or lowers the mark when it has shrunk. May
** run finalizers. */
void settle_weight(lua_State *L, struct world_box *box);

#endif
