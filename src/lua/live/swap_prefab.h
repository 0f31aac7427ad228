/* Prefabs in the swap of what scripts have registered. */
#ifndef ECS_LUA_LIVE_SWAP_PREFAB_H
#define ECS_LUA_LIVE_SWAP_PREFAB_H

#include <lauxlib.h>

struct migration;
struct world_box;

/* What can be known before the swap, in which components change as the migration says: the prefabs
** themselves are declared after it. Raises. */
void swap_check_prefabs(lua_State *L, struct world_box *box, struct migration *migration);

/* body(world, plan): declares the plan's prefabs; returns what failed first, or nil. */
int swap_declare_prefabs(lua_State *L);

#endif
