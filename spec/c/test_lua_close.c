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

/* A state of code that is given what opens the module. */
static void run_and_close(const char *code) {
  struct lua_host host;
  open_lua(&host);
  CHECK(luaL_loadstring(host.L, code) == LUA_OK);
  lua_pushcfunction(host.L, open_module);
  if (!CHECK(lua_pcall(host.L, 1, 0, 0) == LUA_OK))
    printf("# %s\n", lua_tostring(host.L, -1));
  close_lua(&host);
}

/* A world that is made by a finalizer while the state ends, which Lua never finalizes. */
static void late_worlds(void) {
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
  run_and_close(code);
}

/* Functions whose programs are gone already when a finalizer runs them. */
static void late_runs(void) {
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
  run_and_close(code);
}

/* A finalizer ends the world, or takes a component away, at every point of a call that compiles a
** function: it is due once so many bytes more have been asked for. The call succeeds, or says that
** the world or the component is gone. Returns how many finalizers ran in such calls. */
static const char early_ends_code[] =
    "local stride = ...\n"
    "local ecs = require 'ecs'\n"
    "local ends = { function(world) world:close() end,\n"
    "  function(world) world:undeclare 'P' end }\n"
    "local forms = { function(world, query, fn)\n"
    "  world:system('s', { query = 'P', each = fn })\n"
    "  world:update(1)\n"
    "end, function(_, query, fn) query:run(fn) end, function(_, query, fn) query:sum(fn) end,\n"
    "  function(_, query, fn) query:where(fn):count() end }\n"
    "local fired = 0\n"
    "local function try(finish, form, judges, delay)\n"
    "  local world, during = ecs.world(), false\n"
    "  world:component('P', { 'x: f32', 'y: f32' })\n"
    "  world:spawn { P = { x = 1 } }\n"
    "  local query, scale = world:query 'P', 2\n"
    "  local function judge(p) return p.x * scale + math.sin(p.y) end\n"
    "  local function change(p, _, e)\n"
    "    if p.x > 3 then world:despawn(e) end\n"
    "    p.y = p.x * scale + math.sin(p.y)\n"
    "  end\n"
    "  local armed = setmetatable({}, { __gc = function()\n"
    "    fired = fired + (during and 1 or 0)\n"
    "    pcall(finish, world)\n"
    "  end })\n"
    "  collectgarbage('collect')\n"
    "  collectgarbage('incremental', 100, 1000, 20)\n"
    "  collectgarbage('stop')\n"
    "  armed = nil\n"
    "  collectgarbage('restart')\n"
    "  collectgarbage('step', -1 - delay // 1024)\n"
    "  for _ = 1, delay % 1024 // 56 do local _ = {} end\n"
    "  during = true\n"
    "  local ok, said = pcall(form, world, query, judges and judge or change)\n"
    "  during = false\n"
    "  assert(ok or said:find 'closed' or said:find 'declared' or said:find 'unknown', said)\n"
    "  world:close()\n"
    "end\n"
    "for _, finish in ipairs(ends) do\n"
    "  for i, form in ipairs(forms) do\n"
    "    for delay = 0, 16000, stride do try(finish, form, i > 2, delay) end\n"
    "  end\n"
    "end\n"
    "return fired\n";

static void early_ends(void) {
  struct lua_host host;
  open_ecs(&host);
  CHECK(luaL_loadstring(host.L, early_ends_code) == LUA_OK);
  lua_pushinteger(host.L, by_scale(500, 112, 56));
  if (CHECK(lua_pcall(host.L, 1, 1, 0) == LUA_OK))
    CHECK(lua_tointeger(host.L, -1) > 50);
  else
    printf("# %s\n", lua_tostring(host.L, -1));
  close_lua(&host);
}

static const struct test tests[] = {
  {"C6, C60: nothing is left of a state, whatever holds its worlds", seeds},
  {"nothing is left of worlds that are made while the state ends", late_worlds},
  {"functions still run while the state ends, when their programs are gone", late_runs},
  {"a finalizer may end the world, or a component, while a function is compiled", early_ends},
};

/* test_lua_close [seed] */
int main(int count, char **arguments) {
  last_seed = by_scale(150, 1000, 1000);
  if (count > 1) first_seed = last_seed = strtol(arguments[1], NULL, 10);
  return RUN_TESTS(tests);
}
