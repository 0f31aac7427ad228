/* The plan of a swap, as its body goes through it. */
#ifndef ECS_LUA_LIVE_SWAP_PLAN_H
#define ECS_LUA_LIVE_SWAP_PLAN_H

#include <lauxlib.h>

#include "ecs_types.h"

struct world_box;

/* Stack of the body of a swap: the world, the plan, then one entry of one of its lists. */
enum { SWAP_WORLD = 1, SWAP_PLAN, SWAP_LIST, SWAP_ENTRY, SWAP_NAME };

/* Raises what the core has refused, if it has, with where the entry, if any, was registered. */
void swap_check(lua_State *L, const struct world_box *box, ecs_status status, const char *what);

/* Calls a function that has been pushed with its arguments, and returns nothing, for the entry.
** What it raises of that entry's options, query or values is raised with where that was
** registered. */
void swap_call(lua_State *L, int arguments);

/* Puts a list of the plan at SWAP_LIST; an absent one is empty. */
uint32_t swap_list(lua_State *L, const char *name);

/* Puts an entry, counted from 0, at SWAP_ENTRY and its name at SWAP_NAME. */
const char *swap_entry(lua_State *L, uint32_t at);

#endif
