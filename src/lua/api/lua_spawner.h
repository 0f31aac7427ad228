/* Functions that spawn by values: world:spawner. */
#ifndef ECS_LUA_API_LUA_SPAWNER_H
#define ECS_LUA_API_LUA_SPAWNER_H

#include <lauxlib.h>

#include "front/outside.h"

struct change;
struct world_box;

/* What the C function at an index is to a kernel of that world: a spawner whose components are all
** there, or nothing that it can use. Raises nothing. */
struct outside spawner_object(lua_State *L, int index, const struct world_box *box);

/* In the report at the top, of a change that is about to be made: names the spawners that there are
** whose values by position come to other fields, but for those of files that are keys of a table,
** which make theirs anew. The world and the table are at indices. */
void spawners_report(lua_State *L, int world, int files, const struct change *change);

extern const luaL_Reg world_spawner_methods[];

#endif
