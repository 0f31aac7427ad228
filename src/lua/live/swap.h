/* What scripts have registered takes the place of what they had registered before: at once, or not
** at all. */
#ifndef ECS_LUA_LIVE_SWAP_H
#define ECS_LUA_LIVE_SWAP_H

#include <lauxlib.h>

struct component;
struct view_box;
struct world_box;

/* native.swap(world, plan), inside the body of native.stage. */
int ecs_native_swap(lua_State *L);

/* The component that a view of a resource gets with the swap that is going on, or NULL. */
const struct component *swap_component(const struct world_box *box, const struct view_box *view);

#endif
