/* What scripts' objects are to the functions that are compiled. */
#ifndef ECS_LUA_JIT_KERNEL_OBJECT_H
#define ECS_LUA_JIT_KERNEL_OBJECT_H

#include "front/outside.h"

/* An outside_fn. The owner is the world_box of the kernel. */
struct outside kernel_object(lua_State *L, int index, const void *owner);

#endif
