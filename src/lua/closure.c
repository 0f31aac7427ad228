#include <lauxlib.h>

#include "lua/closure.h"

#include "lua/bind/status.h"
#include "lua/kernel_variant.h"

#define CLOSURES 4             /* functions that are remembered: pairs of bytecode and handle */

/* Where share has its arguments. */
enum { AT_KNOWN = 1, AT_FUNCTION, AT_HANDLE, AT_CODE };

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
  lua_replace(L, AT_CODE);
  lua_settop(L, AT_CODE);
  return true;
}

/* Where the bytecode stands among what is known, or 0. */
static lua_Integer find_code(lua_State *L) {
  for (lua_Integer i = 1; i <= CLOSURES; i++) {
    lua_rawgeti(L, AT_KNOWN, 2 * i);
    bool same = lua_rawequal(L, -1, AT_CODE);
    lua_pop(L, 1);
    if (same) return i;
  }
  return 0;
}

/* The place of what was put there the longest time ago; counts on. */
static lua_Integer next_place(lua_State *L) {
  lua_rawgeti(L, AT_KNOWN, 1);
  lua_Integer last = lua_tointeger(L, -1);
  lua_pop(L, 1);
  lua_pushinteger(L, last % CLOSURES + 1);
  lua_rawseti(L, AT_KNOWN, 1);
  lua_pushvalue(L, AT_CODE);
  lua_rawseti(L, AT_KNOWN, 2 * (last % CLOSURES + 1));
  return last % CLOSURES + 1;
}

/* share(known, function, handle) */
static int share(lua_State *L) {
  luaL_checkstack(L, 20, "kernel");
  if (!push_code(L)) return 0;
  lua_Integer place = find_code(L);
  if (place) {
    lua_rawgeti(L, AT_KNOWN, 2 * place + 1);
    /* The code may have outlived its kernel. */
    if (lua_isuserdata(L, -1)) variants_share(L, AT_HANDLE, AT_CODE + 1, AT_FUNCTION);
  } else {
    place = next_place(L);
  }
  lua_pushvalue(L, AT_HANDLE);
  lua_rawseti(L, AT_KNOWN, 2 * place + 1);
  return 0;
}

void closure_share(lua_State *L, int known, int function, int handle) {
  int top = lua_gettop(L);
  lua_pushvalue(L, known);
  lua_pushvalue(L, function);
  lua_pushvalue(L, handle);
  if (try_quietly(L, share, 3, 0) != LUA_OK) lua_settop(L, top);
}
