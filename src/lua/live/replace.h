/* Files that are there whole or not at all. */
#ifndef ECS_LUA_LIVE_REPLACE_H
#define ECS_LUA_LIVE_REPLACE_H

#include <lua.h>

/* native.replace(path, bytes): makes the bytes the content of a file, and returns true; or nil and
** a message, and the file is what it was. Whoever reads the path meanwhile, in this process or
** another, finds the old content or the new one; of several who write, the last one's stays. */
int ecs_native_replace(lua_State *L);

#endif
