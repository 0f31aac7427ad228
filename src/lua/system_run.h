/* How the core calls the functions of systems. */
#ifndef ECS_LUA_SYSTEM_RUN_H
#define ECS_LUA_SYSTEM_RUN_H

#include "core/base/base.h"

struct system_box;

/* What the stack of box->systems->running (in the C function that called the core), and that of
** box->systems->host, begins with. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_SIZE 3

/* The core's callbacks. */
ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud);
ecs_status script_when(ecs_world *world, void *ud, bool *run);
void script_free(void *ud);
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud);

/* Where WORLD_REFS has the on_error handler. */
extern const char on_error_key;

/* The system of this state behind one of the core's, or NULL: a host's, another state's. */
struct system_box *system_script(const ecs_system *system);

#endif
