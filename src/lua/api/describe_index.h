/* What world:describe and world:explain tell of indexes. */
#ifndef ECS_LUA_API_DESCRIBE_INDEX_H
#define ECS_LUA_API_DESCRIBE_INDEX_H

#include <lauxlib.h>

#include "ecs_types.h"

/* Pushes the list of all indexes. Nobody comes in between: see call_quietly. */
void indexes_describe(lua_State *L, const ecs_world *world);

/* Pushes what is known of the index that the text at a stack index names; false when there is
** none. */
bool index_explain(lua_State *L, const ecs_world *world, int name);

#endif
