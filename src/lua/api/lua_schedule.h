/* Methods of a world about when things run: phases, update, run. */
#ifndef ECS_LUA_API_LUA_SCHEDULE_H
#define ECS_LUA_API_LUA_SCHEDULE_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_phase_desc;
struct world_box;

extern const luaL_Reg world_schedule_methods[];

/* Reads the options of a phase from the table at an index (nil: none), pushing what they need. */
void read_phase(lua_State *L, int index, struct ecs_phase_desc *desc);

/* Keeps what Lua's `warn` is given by the next world:update; each text once. */
FORMAT(4, 5)
void warn_later(lua_State *L, struct world_box *box, int world_index, const char *format,
                ...);

/* registrar.phase, now. */
void phase_now(lua_State *L, struct world_box *box, const struct ecs_phase_desc *desc);

#endif
