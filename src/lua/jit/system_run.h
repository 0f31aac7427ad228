/* How the core calls the functions of systems. */
#ifndef ECS_LUA_JIT_SYSTEM_RUN_H
#define ECS_LUA_JIT_SYSTEM_RUN_H

#include <lauxlib.h>

#include "core/base/base.h"

struct loop_box;
struct system_box;
struct world_box;

/* Calls body(world, references, system): a light userdata, whose user values system_push pushes.
** What it raises is kept for run_in_frame. */
ecs_status system_call(struct system_box *system, lua_CFunction body);
int system_push(lua_State *L, const struct system_box *system, int value);

/* In such a body: pushes the system's function, and opens its loop over its query behind what is on
** the stack, where it gets that index, with this many views; it has been used before where it can
** be. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int index, int views);
void system_push_function(lua_State *L, struct system_box *system);

/* Where the body has what it is given, and puts its function. */
enum { BODY_WORLD = 1, BODY_REFS, BODY_SYSTEM, BODY_FUNCTION };

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
/* Adds what script_run would do to what is to be done side by side; false where that needs more of
** Lua than outside values. */
bool script_join(const struct system_box *system, double dt);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* The system of this state behind one of the core's, or NULL: a host's, another state's. */
struct system_box *system_script(const ecs_system *system);

#endif
