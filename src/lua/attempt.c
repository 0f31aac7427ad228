#include <lualib.h>

#include "lua/attempt.h"

#include "core/base/memory.h"

/* What the function and its message handler share. */
struct attempts {
  lua_CFunction yield;      /* coroutine.yield; NULL: this state has none */
  bool yielded;             /* it raised the last error */
};

/* The message handler: the error as it is. Lua calls none for a memory error. */
static int look(lua_State *L) {
  struct attempts *attempts = lua_touserdata(L, lua_upvalueindex(1));
  lua_Debug raised;
  lua_settop(L, 1);
  attempts->yielded = attempts->yield && lua_getstack(L, 1, &raised) &&
                      lua_getinfo(L, "f", &raised) &&
                      lua_tocfunction(L, -1) == attempts->yield;
  lua_settop(L, 1);
  return 1;
}

static const char *kind_of(int status, const struct attempts *attempts) {
  if (status == LUA_ERRMEM) return "memory";
  return status == LUA_ERRRUN && attempts->yielded ? "yield" : NULL;
}

/* Nothing is made before the call, so that there is nothing outside of it that can fail. */
static int attempt(lua_State *L) {
  const struct attempts *attempts = lua_touserdata(L, lua_upvalueindex(1));
  luaL_checkany(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  if (status == LUA_OK) return lua_gettop(L);
  lua_pushstring(L, kind_of(status, attempts));
  return 3;
}

static lua_CFunction find_yield(lua_State *L) {
  int top = lua_gettop(L);
  lua_CFunction yield = NULL;
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) &&
      lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE) {
    lua_pushliteral(L, "yield");
    lua_rawget(L, -2);
    yield = lua_tocfunction(L, -1);
  }
  lua_settop(L, top);
  return yield;
}

void attempt_push(lua_State *L) {
  struct attempts *attempts = lua_newuserdatauv(L, sizeof *attempts, 0);
  attempts->yield = find_yield(L);
  attempts->yielded = false;
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, look, 1);
  lua_pushcclosure(L, attempt, 2);
}
