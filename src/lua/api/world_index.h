/* world:index: declaring indexes, and asking for one by its name. */
#ifndef ECS_LUA_API_WORLD_INDEX_H
#define ECS_LUA_API_WORLD_INDEX_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_index;
struct world_box;

extern const luaL_Reg world_index_methods[];

/* registrar.index, now: the name is at 2, the options at 3. Pushes the object. */
void index_now(lua_State *L, struct world_box *box);

/* registrar.index_of, now: the one that is named at 2. */
void index_of_name(lua_State *L, struct world_box *box);

/* Raises unless the options at 3 make sense. */
void index_check_spec(lua_State *L, struct world_box *box);

/* Builds the index named at 2 with the options at 3, to be entered when scripts are swapped in. */
ecs_status index_in_swap(lua_State *L, struct world_box *box, const char *owner,
                         struct ecs_index **out);

/* Drops the index that the argument names; false when it names none. */
bool index_undeclare(lua_State *L, struct world_box *box, int arg);

#endif
