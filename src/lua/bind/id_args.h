/* Ids as arguments. */
#ifndef ECS_LUA_BIND_ID_ARGS_H
#define ECS_LUA_BIND_ID_ARGS_H

#include <lauxlib.h>

#include "core/base/base.h"

/* An id argument: an integer, or a float with an integer value; never a string. */
static inline ecs_id to_id(lua_State *L, int arg, int *is_number) {
  if (UNLIKELY(lua_type(L, arg) != LUA_TNUMBER)) return *is_number = 0, ECS_NULL;
  return (ecs_id)lua_tointegerx(L, arg, is_number);
}

/* An id argument, or the error that says what was given. */
ecs_id check_id(lua_State *L, int arg);

#endif
