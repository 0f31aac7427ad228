/* The stack on which the core calls scripts' functions, and what they raise is kept. */
#ifndef ECS_LUA_LOOP_FRAME_H
#define ECS_LUA_LOOP_FRAME_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

/* What the stack of box->systems->running (in the C function that called the core), and that of
** box->systems->host, begins with. */
#define FRAME_WORLD 1
#define FRAME_ERROR 2        /* of a system that has failed */
#define FRAME_HANDLER 3      /* of the on_error handler itself */
#define FRAME_OBJECT 2       /* behind each of these two what was raised, if it is no text */
#define FRAME_TRACE 6        /* the message handler of protected calls */
#define FRAME_REFS 7         /* the world's WORLD_REFS */
#define FRAME_SIZE 7

/* A message handler: the error as text, with a traceback, unless it has one. */
int frame_trace(lua_State *L);

/* Keeps what a call protected by FRAME_TRACE has left at the top of the stack, popping it, in
** FRAME_ERROR or FRAME_HANDLER. */
void frame_keep(lua_State *L, int slot, int status);

/* Calls a function of the core that calls scripts' functions, and raises what they, or it, fail
** with. The frame is laid out, what is behind it stays: callbacks raise nothing, so that what is
** entered here is also left. The world may be closed then. */
void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud);

/* Makes the thread in which functions of this state run when a host, or a module in C, does what
** calls them: its stack begins with a frame. The world's object is at an index. */
void frame_need_host(lua_State *L, struct world_box *box, int world_index);

#endif
