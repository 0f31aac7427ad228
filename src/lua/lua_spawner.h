/* Functions that spawn by values: world:spawner. */
#ifndef ECS_LUA_LUA_SPAWNER_H
#define ECS_LUA_LUA_SPAWNER_H

#include <lauxlib.h>

#include "front/outside.h"

struct world_box;

/* What the C function at an index is to a kernel of that world: a spawner whose components are all
** there, or nothing that it can use. Raises nothing. */
struct outside spawner_object(lua_State *L, int index, const struct world_box *box);

extern const luaL_Reg world_spawner_methods[];

#endif
