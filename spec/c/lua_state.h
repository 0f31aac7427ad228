/* Lua states over a checking allocator, with the module opened, for tests named test_lua_*. */
#ifndef SPEC_LUA_STATE_H
#define SPEC_LUA_STATE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>

#include "alloc.h"
#include "ecs_lua.h"
#include "harness.h"

struct lua_host {
  struct checked_alloc alloc;
  lua_State *L;
};

static inline lua_State *new_lua_state(struct checked_alloc *alloc) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(checked_alloc, alloc, 0);
#else
  return lua_newstate(checked_alloc, alloc);
#endif
}

/* A state with the standard libraries, without the module. Shrinking works: Lua 5.4 counts on
** it. */
static inline void open_lua(struct lua_host *host) {
  memset(host, 0, sizeof *host);
  host->alloc.shrinks = true;
  host->L = new_lua_state(&host->alloc);
  CHECK(host->L != NULL);
  luaL_openlibs(host->L);
}

static inline int open_module(lua_State *L) {
  ecs_lua_open(L);
  return 0;
}

static inline void open_ecs(struct lua_host *host) {
  open_lua(host);
  lua_pushcfunction(host->L, open_module);
  CHECK_INTEGER(LUA_OK, lua_pcall(host->L, 0, 0, 0));
}

/* Closes the state and checks that nothing is left and nothing was misused. */
static inline void close_lua(struct lua_host *host) {
  lua_close(host->L);
  CHECK_INTEGER(0, host->alloc.bytes);
  alloc_is_sound(&host->alloc);
  CHECK_TEXT(NULL, host->alloc.mistake);
  alloc_clear(&host->alloc);
}

/* Runs a script, and pops what it leaves; its error is a failure of the test. */
static inline void run_script(struct lua_host *host, const char *script) {
  bool ok = luaL_dostring(host->L, script) == LUA_OK;
  check_context("%s", ok ? NULL : lua_tostring(host->L, -1));
  CHECK(ok);
  check_context(NULL);
  lua_settop(host->L, 0);
}

static inline long long global(struct lua_host *host, const char *name) {
  lua_getglobal(host->L, name);
  long long value = lua_tointeger(host->L, -1);
  lua_pop(host->L, 1);
  return value;
}

#endif
