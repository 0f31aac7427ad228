/* Fields of the table at the top of the stack, where a world describes itself. */
#ifndef ECS_LUA_BIND_FACTS_H
#define ECS_LUA_BIND_FACTS_H

#include <lauxlib.h>

#include "core/base/base.h"

/* Nothing for NULL. */
static inline void set_text(lua_State *L, const char *key, const char *text) {
  if (!text) return;
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

static inline void set_integer(lua_State *L, const char *key, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static inline void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, (lua_Number)value);
  lua_setfield(L, -2, key);
}

#endif
