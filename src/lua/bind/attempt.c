#include <lualib.h>

#include "lua/bind/attempt.h"

#include "core/base/memory.h"

static const char yield_key = 0;

/* Whether coroutine.yield has raised what a message handler is called for. */
static bool was_yield(lua_State *L) {
  lua_Debug raised;
  if (!lua_getstack(L, 1, &raised) || !lua_getinfo(L, "f", &raised)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &yield_key);
  bool yields = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return yields;
}

/* The message handler of native.try: the error as it is. Lua calls none for a memory error. */
static int attempt_look(lua_State *L) {
  bool *yielded = lua_touserdata(L, lua_upvalueindex(1));
  *yielded = was_yield(L);
  return 1;
}

/* Nothing is made before the call, so that there is nothing outside of it that can fail. */
static int attempt_body(lua_State *L) {
  const bool *yielded = lua_touserdata(L, lua_upvalueindex(1));
  luaL_checkany(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  if (status == LUA_OK) return lua_gettop(L);
  bool yields = status == LUA_ERRRUN && *yielded;
  lua_pushstring(L, status == LUA_ERRMEM ? "memory" : yields ? "yield" : NULL);
  return 3;
}

int attempt_handler(lua_State *L) {
  if (!was_yield(L)) return 1;
  luaL_where(L, 2);
  lua_pushliteral(L, "callbacks cannot yield: yield outside of them, or go through the rows by "
                     "'for ... in query:each() do'");
  lua_concat(L, 2);
  lua_replace(L, 1);
  return 1;
}

int attempt_call(lua_State *L, int arguments, int results) {
  int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, attempt_handler);
  lua_insert(L, handler);
  int status = lua_pcall(L, arguments, results, handler);
  lua_remove(L, handler);
  return status;
}

/* Keeps coroutine.yield; nil in a state that has none. */
static void find_yield(lua_State *L) {
  int top = lua_gettop(L);
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) &&
      lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE) {
    lua_pushliteral(L, "yield");
    lua_rawget(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &yield_key);
  }
  lua_settop(L, top);
}

void attempt_push(lua_State *L) {
  find_yield(L);
  bool *yielded = lua_newuserdatauv(L, sizeof *yielded, 0);
  *yielded = false;
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, attempt_look, 1);
  lua_pushcclosure(L, attempt_body, 2);
}
