/* Closures of one function of a script, as one that is made anew each frame, and queries of one
** text: each is a kernel of its own, and their programs are compiled once. */
#ifndef ECS_LUA_BIND_CLOSURE_H
#define ECS_LUA_BIND_CLOSURE_H

#include <lua.h>

/* Gives the kernel whose handle is at an index the programs of the one that the table at `known`
** has under a key, and puts it there. The key is at an index; 0: it is the bytecode of the function
** at `function`. Without memory there are none. */
void closure_share(lua_State *L, int known, int function, int handle, int key);

#endif
