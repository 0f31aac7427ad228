/* Systems whose bodies are Lua functions: how they are registered. */
#ifndef ECS_LUA_API_SYSTEM_H
#define ECS_LUA_API_SYSTEM_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "lua/loop/scan.h"

struct system_box;
struct transaction;
struct world_box;

extern const luaL_Reg world_system_methods[];

/* registrar.system, now: the world is at 1, the name at 2, the spec at 3. */
void system_now(lua_State *L, struct world_box *box);

/* Raises unless system_now could take what is there, which may still not fit the world. */
void system_check_spec(lua_State *L, struct world_box *box);

/* As system_now, in a transaction that is about to be committed. */
void system_in_swap(lua_State *L, struct world_box *box, struct transaction *transaction,
                    uint64_t place, const char *owner);

/* Pushes the object of a system or observer whose name is at 2; anchors that at an index, or lets
** go of it. */
struct system_box *system_push_box(lua_State *L, struct world_box *box, const char *name);
void system_anchor(lua_State *L, int world_index, int index, bool on);

/* Raises what the core has refused the one at 4 with, if it has; the world is at 1. */
void system_registered(lua_State *L, const struct world_box *box, ecs_status status);

/* Scans the function of a script's system that is registered, for what else the scan says. */
void system_scan(lua_State *L, int world_index, const ecs_system *system, struct scan scan);

/* Compiles the functions that a swap has brought. */
void systems_compile(lua_State *L, int world_index);

/* The core lets go of a system or observer, whose `ud` it is: the last one that it calls. Its
** object goes with the next systems_sweep. */
void script_free(void *ud);

/* Lets go of the systems that the core has let go of. */
void systems_sweep(lua_State *L, struct world_box *box, int world_index);

#endif
