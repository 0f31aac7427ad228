/* Leaving a world that a host has lent: nothing of this Lua state stays in it. */
#ifndef ECS_LUA_API_DISOWN_H
#define ECS_LUA_API_DISOWN_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

/* Takes out of a lent world that is let go of what this state has put into it: systems, queries,
** any values. Cannot fail. */
void world_disown(lua_State *L, struct world_box *box, ecs_world *world);

/* Makes the core forget the objects behind this state's systems; NULL: behind all. */
void systems_detach(ecs_world *world, const struct world_box *box);

/* Lets the core end the loops of a world that an update, or a system, finds open. */
void world_own_loops(struct world_box *box);

/* Where the registry has the objects of lent worlds, by their address. */
extern const char lent_worlds_key;

#endif
