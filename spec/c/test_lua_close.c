/* Reliability line 8: the end of a Lua state with worlds, queries, views and loops held by
** globals, upvalues, suspended coroutines and finalizers that call the API. 0 bytes left. C6,
** C60. */
#include <stdio.h>
#include <stdlib.h>

#include "lua_state.h"

static const char scene[] = "spec/support/close_scene.lua";

static void build(lua_State *L, lua_Integer seed) {
  int status = luaL_loadfile(L, scene);
  if (status == LUA_OK) status = lua_pcall(L, 0, 1, 0);
  if (status == LUA_OK) {
    lua_pushinteger(L, seed);
    status = lua_pcall(L, 1, 0, 0);
  }
  if (!CHECK(status == LUA_OK)) printf("# %s\n", lua_tostring(L, -1));
}

static long first_seed = 1, last_seed;

static void seeds(void) {
  for (long seed = first_seed; seed <= last_seed; seed++) {
    struct lua_host host;
    check_context("seed %ld", seed);
    open_ecs(&host);
    build(host.L, seed);
    close_lua(&host);
  }
}

/* A world that is made by a finalizer while the state ends, which Lua never finalizes. */
static void late_worlds(void) {
  struct lua_host host;
  open_lua(&host);
  static const char code[] =
      "local open = ...\n"
      "local function late()\n"
      "  local ok, world = pcall(require('ecs').world)\n"
      "  if ok then world:tag 'T' W = world end\n"
      "end\n"
      "first = setmetatable({}, { __gc = late })\n"
      "open()\n"
      "last = setmetatable({}, { __gc = late })\n"
      "local world = require('ecs').world()\n"
      "world:component('Bag', { 'value: any' })\n"
      "world:spawn { Bag = { setmetatable({}, { __gc = late }) } }\n";
  CHECK(luaL_loadstring(host.L, code) == LUA_OK);
  lua_pushcfunction(host.L, open_module);
  if (!CHECK(lua_pcall(host.L, 1, 0, 0) == LUA_OK))
    printf("# %s\n", lua_tostring(host.L, -1));
  close_lua(&host);
}

/* Functions whose programs are gone already when a finalizer runs them. */
static void late_runs(void) {
  struct lua_host host;
  open_lua(&host);
  static const char code[] =
      "local open = ...\n"
      "open()\n"
      "local world = require('ecs').world()\n"
      "world:component('Health', { 'hp: i32' })\n"
      "local function heal(health) health.hp = health.hp + 1 end\n"
      "local query = world:query('Health')\n"
      "world:spawn { Health = true }\n"
      "late = setmetatable({}, { __gc = function()\n"
      "  world:update(1)\n"
      "  pcall(query.run, query, heal)\n"
      "  query:where(function(health) return health.hp > 0 end):each(heal)\n"
      "  world:explain('heal')\n"
      "end })\n"
      "world:system('heal', { query = 'Health', each = heal })\n"
      "query:run(heal)\n"
      "world:update(1)\n";
  CHECK(luaL_loadstring(host.L, code) == LUA_OK);
  lua_pushcfunction(host.L, open_module);
  if (!CHECK(lua_pcall(host.L, 1, 0, 0) == LUA_OK))
    printf("# %s\n", lua_tostring(host.L, -1));
  close_lua(&host);
}

static const struct test tests[] = {
  {"C6, C60: nothing is left of a state, whatever holds its worlds", seeds},
  {"nothing is left of worlds that are made while the state ends", late_worlds},
  {"functions still run while the state ends, when their programs are gone", late_runs},
};

/* test_lua_close [seed] */
int main(int count, char **arguments) {
  last_seed = by_scale(150, 1000, 1000);
  if (count > 1) first_seed = last_seed = strtol(arguments[1], NULL, 10);
  return RUN_TESTS(tests);
}
