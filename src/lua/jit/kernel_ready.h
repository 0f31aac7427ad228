/* Whether a kernel's function can run as a program now: what is missing is compiled, and what was
** refused is remembered. */
#ifndef ECS_LUA_JIT_KERNEL_READY_H
#define ECS_LUA_JIT_KERNEL_READY_H

#include "lua/jit/kernel.h"

struct table;

/* Whether the function can run as a program over every table of its query that has rows, as
** things are now. If not, the reason is pushed. */
bool kernel_ready(lua_State *L, int handle);

/* kernel_ready before there is a run: without any rows it is asked for a table with every term. */
bool kernel_ready_ahead(lua_State *L, int handle);

/* Whether the function can run as a program over one table. Pushes no reason. */
bool kernel_ready_here(lua_State *L, int handle, const struct table *table);

/* Whether it was refused for what it does whatever values it finds outside. */
bool kernel_is_hopeless(const struct kernel_box *box);

/* Whether it was refused when rows were last there to be run, or when it was asked for ahead. */
bool kernel_is_refused(const struct kernel_box *box);

#endif
