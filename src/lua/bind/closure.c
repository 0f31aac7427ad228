#include <lauxlib.h>

#include "lua/bind/closure.h"

#include "lua/bind/status.h"
#include "lua/jit/kernel_variant.h"

#define KNOWN 16               /* kernels that are remembered at most */

/* Where share has its arguments. */
enum { AT_KNOWN = 1, AT_FUNCTION, AT_HANDLE, AT_KEY };

struct code_buffer {
  bool begun;
  luaL_Buffer text;
};

/* The buffer begins above the function that is dumped. */
static int write_code(lua_State *L, const void *data, size_t size, void *ud) {
  struct code_buffer *code = ud;
  if (!code->begun) luaL_buffinit(L, &code->text);
  code->begun = true;
  luaL_addlstring(&code->text, data, size);
  return 0;
}

/* Pushes the bytecode of the function, with its lines: they stand in messages. */
static bool push_code(lua_State *L) {
  struct code_buffer code = {.begun = false};
  lua_settop(L, AT_HANDLE);
  lua_pushvalue(L, AT_FUNCTION);
  if (lua_dump(L, write_code, &code, 0) != 0 || !code.begun) return false;
  luaL_pushresult(&code.text);
  lua_replace(L, AT_KEY);
  lua_settop(L, AT_KEY);
  return true;
}

/* Forgets all that is known where that is full: handles by keys, and at 1 how many. */
static void closure_make_room(lua_State *L) {
  lua_rawgeti(L, AT_KNOWN, 1);
  lua_Integer count = lua_tointeger(L, -1) + 1;
  lua_pushnil(L);
  while (count > KNOWN && lua_next(L, AT_KNOWN)) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, AT_KNOWN);
  }
  lua_pushinteger(L, count > KNOWN ? 1 : count);
  lua_rawseti(L, AT_KNOWN, 1);
}

/* share(known, function, handle, key) */
static int closure_join(lua_State *L) {
  luaL_checkstack(L, 20, "kernel");
  if (lua_isnil(L, AT_KEY) && !push_code(L)) return 0;
  lua_pushvalue(L, AT_KEY);
  if (lua_rawget(L, AT_KNOWN) == LUA_TUSERDATA)
    variants_share(L, AT_HANDLE, AT_KEY + 1, AT_FUNCTION);
  else
    closure_make_room(L);
  lua_pushvalue(L, AT_KEY);
  lua_pushvalue(L, AT_HANDLE);
  lua_rawset(L, AT_KNOWN);
  return 0;
}

void closure_share(lua_State *L, int known, int function, int handle, int key) {
  int top = lua_gettop(L);
  lua_pushvalue(L, known);
  lua_pushvalue(L, function);
  lua_pushvalue(L, handle);
  if (key)
    lua_pushvalue(L, key);
  else
    lua_pushnil(L);
  if (try_quietly(L, closure_join, 4, 0) != LUA_OK) lua_settop(L, top);
}
