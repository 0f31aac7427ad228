/* While scripts are read: what they register is kept, to be swapped in at once (swap.h) or not at
** all. */
#ifndef ECS_LUA_LIVE_RECORDING_H
#define ECS_LUA_LIVE_RECORDING_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

/* Lets go of a transaction that was not committed, if there is one: from here on methods register
** now. */
void stage_drop(struct world_box *box);

/* native.stage(world, recorder, body) */
int ecs_native_stage(lua_State *L);

/* native.declared(world, name, kind): whether there is a "component" that somebody declares (no
** orphan), a "phase", a "system" or an "index" of that name. */
int ecs_native_declared(lua_State *L);

#endif
