/* What a Lua module in C gets of the ecs that runs in its state: C42. */
#include "lua_state.h"

#include "lua/bind/object.h"

static struct lua_host host;

static int ask(lua_State *L) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)ecs_lua_functions(L));
  return 1;
}

/* The error of a C function with the arguments that are on the stack. */
static void check_error(lua_CFunction function, const char *words) {
  lua_pushcfunction(host.L, function);
  lua_insert(host.L, 1);
  CHECK_INTEGER(LUA_ERRRUN, lua_pcall(host.L, lua_gettop(host.L) - 1, 0, 0));
  const char *message = lua_tostring(host.L, -1);
  check_context("%s", message);
  CHECK(message && strstr(message, words) != NULL);
  check_context(NULL);
  lua_settop(host.L, 0);
}

static void wants_ecs_first(void) {
  open_lua(&host);
  check_error(ask, "require \"ecs\", of the version this module was built for");
  lua_pushcfunction(host.L, open_module);
  CHECK_INTEGER(LUA_OK, lua_pcall(host.L, 0, 0, 0));
  const ecs_lua_api *api = ecs_lua_functions(host.L);
  CHECK_INTEGER(ECS_LUA_API_VERSION, api->version);
  CHECK(api->spawn == ecs_spawn && api->digest == ecs_digest);
  CHECK_INTEGER(0, lua_gettop(host.L));
  run_script(&host, "package.loaded.ecs, package.loaded['ecs.native'] = nil, nil require 'ecs'");
  CHECK(ecs_lua_functions(host.L) == api);
  close_lua(&host);
}

static void tells_versions_apart(void) {
  ecs_lua_api other = {.version = ECS_LUA_API_VERSION - 1};
  open_lua(&host);
  lua_pushlightuserdata(host.L, &other);
  lua_setfield(host.L, LUA_REGISTRYINDEX, ECS_LUA_API_KEY);
  check_error(ask, "was built for version 1 of ecs.lua_api.3, but ecs has version 0");
  other.version = ECS_LUA_API_VERSION + 1;
  CHECK(ecs_lua_functions(host.L) == &other);
  close_lua(&host);
}

/* ---- worlds ----------------------------------------------------------------------------- */

static int check_world_of(lua_State *L) {
  ecs_lua_functions(L)->check_world(L, 1);
  return 0;
}

static void wants_an_open_world(void) {
  open_ecs(&host);
  const ecs_lua_api *api = ecs_lua_functions(host.L);
  lua_pushinteger(host.L, 7);
  CHECK(api->to_world(host.L, 1) == NULL);
  CHECK(api->to_world(host.L, 9) == NULL);
  check_error(check_world_of, "world expected, got number");
  run_script(&host, "world = require('ecs').world()");
  lua_getglobal(host.L, "world");
  const struct world_box *box = lua_touserdata(host.L, 1);
  uint32_t calls = box->calls;
  CHECK(api->to_world(host.L, 1) == box->world && box->world);
  CHECK_INTEGER(calls + 1, box->calls);
  CHECK(api->check_world(host.L, 1) == box->world);
  CHECK_INTEGER(calls + 2, box->calls);
  lua_settop(host.L, 0);
  run_script(&host, "world:close()");
  lua_getglobal(host.L, "world");
  CHECK(api->to_world(host.L, 1) == NULL);
  check_error(check_world_of, "the world is closed");
  close_lua(&host);
}

/* ---- a native system -------------------------------------------------------------------- */

static int runs, frees;

static ecs_status count_or_fail(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const ecs_lua_api *api = ud;
  ecs_id id;
  runs++;
  CHECK_INTEGER(1, api->query_count(query));
  CHECK(dt == 0.5);
  return api->tag(world, runs == 3 ? "no name" : "Seen", &id);
}

static void note_free(void *ud) {
  (void)ud;
  frees++;
}

static int install(lua_State *L) {
  const ecs_lua_api *api = ecs_lua_functions(L);
  ecs_world *world = api->check_world(L, 1);
  static const char *const after[] = {"first", NULL};
  const ecs_system_desc desc = {.name = "native", .query = "P", .after = after,
                                .run = count_or_fail, .free = note_free,
                                .ud = (void *)(uintptr_t)api};
  ecs_status status = api->system_new(world, &desc);
  return status == ECS_OK ? 0 : api->raise(L, world, status);
}

static void adds_a_native_system(void) {
  open_ecs(&host);
  runs = frees = 0;
  lua_pushcfunction(host.L, install);
  lua_setglobal(host.L, "install");
  run_script(&host, 
      "local world <close> = require('ecs').world()\n"
      "world:system('first', { run = function() end })\n"
      "local ok, message = pcall(install, world)\n"
      "assert(not ok and message:find \"unknown component 'P'\", message)\n"
      "world:component('P', { 'x: f32' })\n"
      "world:spawn { P = {} }\n"
      "install(world)\n"
      "world:system('last', { after = 'native', run = function() ran = (ran or 0) + 1 end })\n"
      "assert(world:explain('native').tier == 'native')\n"
      "assert(world:describe().systems[2].name == 'native')\n"
      "world:update(0.5)\n"
      "world:update(0.5)\n"
      "local ok, message = pcall(world.update, world, 0.5)\n"
      "assert(not ok and message:find \"system 'native'.*'no name' is not a name\", message)\n"
      "assert(ran == 2 and world:check())\n"
      "world:on_error(function(message, name) failed = name .. ': ' .. message end)\n"
      "world:system('native', { run = function() error 'from Lua' end })\n"
      "world:update(0.5)\n"
      "assert(failed:find '^native: .*from Lua')\n"
      "install(world)");
  CHECK_INTEGER(3, runs);
  CHECK_INTEGER(2, frees);
  close_lua(&host);
}

static const struct test tests[] = {
  {"a module in C wants ecs to be loaded before it", wants_ecs_first},
  {"a module in C is told that ecs is older than its headers", tells_versions_apart},
  {"a module in C is given open worlds, and asking counts as a call", wants_an_open_world},
  {"a module in C adds a native system to a world of Lua", adds_a_native_system},
};

int main(void) { return RUN_TESTS(tests); }
