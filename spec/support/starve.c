/* A module for specs that makes allocations of its Lua state fail while one function runs; worlds
** take memory from the state's allocator, so that theirs fail, too. */
#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>

/* What stands between the state and its allocator. It stays with the state to its end, and so
** is no object of it. */
static struct {
  lua_Alloc alloc;
  void *ud;
  lua_Integer fail_at;   /* the request that fails; 0: none */
  bool fail_on;          /* and all behind it */
  lua_Integer refused;
} memory;

static bool refuses(void) {
  if (memory.fail_at == 0) return false;
  if (memory.fail_at > 1) {
    memory.fail_at--;
    return false;
  }
  if (!memory.fail_on) memory.fail_at = 0;
  memory.refused++;
  return true;
}

static void *starving_alloc(void *ud, void *ptr, size_t osize, size_t nsize) {
  (void)ud;
  bool grows = nsize > 0 && (!ptr || nsize > osize);
  if (grows && refuses()) return NULL;
  return memory.alloc(memory.ud, ptr, osize, nsize);
}

/* starve.call(k, from_there_on, fn, ...): what pcall(fn, ...) gives, the k-th request for memory
** in it having failed, alone or with all behind it. */
static int starve_call(lua_State *L) {
  lua_Integer fail_at = luaL_checkinteger(L, 1);
  bool fail_on = lua_toboolean(L, 2);
  luaL_checkany(L, 3);
  luaL_checkstack(L, 1, NULL);
  lua_pushboolean(L, true);
  lua_replace(L, 2);
  memory.refused = 0;
  memory.fail_on = fail_on;
  memory.fail_at = fail_at;
  int status = lua_pcall(L, lua_gettop(L) - 3, LUA_MULTRET, 0);
  memory.fail_at = 0;
  if (status == LUA_OK) return lua_gettop(L) - 1;
  lua_pushboolean(L, false);
  lua_insert(L, -2);
  return 2;
}

/* starve.refused(): how many requests of the last call failed. */
static int starve_refused(lua_State *L) {
  lua_pushinteger(L, memory.refused);
  return 1;
}

int luaopen_spec_starve(lua_State *L);

__attribute__((visibility("default"))) int luaopen_spec_starve(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"call", starve_call}, {"refused", starve_refused}, {NULL, NULL}};
  if (!memory.alloc) {
    memory.alloc = lua_getallocf(L, &memory.ud);
    lua_setallocf(L, starving_alloc, NULL);
  }
  luaL_newlib(L, functions);
  return 1;
}
