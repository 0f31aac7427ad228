/* Looking at files: what has changed, and what a directory holds. */
#ifndef ECS_LUA_LIVE_FILES_H
#define ECS_LUA_LIVE_FILES_H

#include <lua.h>

/* native.stat(path): modification time in nanoseconds, size, inode, whether it is a directory;
** nothing when there is no such file. */
int ecs_native_stat(lua_State *L);

/* native.changes(paths, states): the indices of the paths whose state is not the one given, as
** a list, or nothing when all are the same. States are what native.stat returns, in threes. */
int ecs_native_changes(lua_State *L);

/* native.list(path): the names in a directory, in no order; nothing when it cannot be read. */
int ecs_native_list(lua_State *L);

/* native.now(): the clock that modification times are of, in nanoseconds. */
int ecs_native_now(lua_State *L);

#endif
