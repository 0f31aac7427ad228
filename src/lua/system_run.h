/* How the core calls the functions of systems. */
#ifndef ECS_LUA_SYSTEM_RUN_H
#define ECS_LUA_SYSTEM_RUN_H

#include <lauxlib.h>

#include "core/base/base.h"

struct loop_box;
struct system_box;
struct world_box;

/* What the stack of box->systems->running (in the C function that called the core), and that of
** box->systems->host, begins with. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_TRACE 4        /* the message handler of protected calls */
#define FRAME_SIZE 4

/* Calls a function of the core that calls scripts' functions, and raises what they, or it, fail
** with. The frame is laid out, what is behind it stays: callbacks raise nothing, so that what is
** entered here is also left. The world may be closed then. */
void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud);

/* Calls body(world, references, system): a light userdata, whose user values system_push pushes.
** What it raises is kept for run_in_frame. */
ecs_status system_call(struct system_box *system, lua_CFunction body);
int system_push(lua_State *L, const struct system_box *system, int value);

/* Makes the thread in which functions of this state run when a host, or a module in C, does what
** calls them: its stack begins with a frame. The world's object is at an index. */
void system_need_host(lua_State *L, struct world_box *box, int world_index);

/* In such a body: pushes the system's function, and opens its loop over its query behind that, with
** this many views; it has been used before where it can be. */
struct loop_box *system_open_loop(lua_State *L, struct system_box *system, int views);
void system_push_function(lua_State *L, struct system_box *system);

/* Where the body has what it is given, and puts its function. */
enum { BODY_WORLD = 1, BODY_REFS, BODY_SYSTEM, BODY_FUNCTION };

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
/* Adds what script_run would do to what is to be done side by side; false where that needs more of
** Lua than outside values. */
bool script_join(const struct system_box *system, double dt);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_free(void *ud);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* The system of this state behind one of the core's, or NULL: a host's, another state's. */
struct system_box *system_script(const ecs_system *system);

#endif
