/* Closures of one function of a script, as one that is made anew each frame: each is a kernel of
** its own, and their programs are compiled once. */
#ifndef ECS_LUA_CLOSURE_H
#define ECS_LUA_CLOSURE_H

#include <lua.h>

/* Gives the kernel whose handle is at an index the programs that another closure of its function,
** at `function`, has left in the table at `known`, and leaves it there. Without memory there are
** none. */
void closure_share(lua_State *L, int known, int function, int handle);

#endif
