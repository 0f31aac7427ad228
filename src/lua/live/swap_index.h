/* Indexes in the swap of what scripts have registered. */
#ifndef ECS_LUA_LIVE_SWAP_INDEX_H
#define ECS_LUA_LIVE_SWAP_INDEX_H

#include <lauxlib.h>

struct world_box;

/* Builds those of the plan into the stage, lists those that leave, and checks that those that
** stay, and those that scripts hold by their names, will be there. Raises. */
void swap_indexes(lua_State *L, struct world_box *box);

#endif
