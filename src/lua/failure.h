/* What is raised when a program fails in a row. */
#ifndef ECS_LUA_FAILURE_H
#define ECS_LUA_FAILURE_H

#include <lauxlib.h>

struct run_failure;
struct variant;

/* Raises why a row failed, with file, line and entity. The kernel's handle is at an index. */
int kernel_fail(lua_State *L, int handle, const struct variant *variant,
                const struct run_failure *failure);

#endif
