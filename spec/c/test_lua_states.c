/* Several Lua states over one world, which a host in C has lent to them: each has its own systems
** and `any` values. */
#include "fixture.h"
#include "lua_state.h"

#include "core/ids/world.h"

static struct fixture f;
static struct lua_host one, two;

static void lend(struct lua_host *host) {
  open_ecs(host);
  ecs_lua_push_world(host->L, f.world);
  lua_setglobal(host->L, "world");
}

/* A world with a component of any values, lent to two states. */
static void open_states(void) {
  open_usual(&f);
  declare_one(f.world, "Any", "value", ECS_ANY);
  lend(&one);
  lend(&two);
}

/* Runs a script; its error is a failure of the test. */
static void run_script(struct lua_host *host, const char *script) {
  bool ok = luaL_dostring(host->L, script) == LUA_OK;
  check_context("%s", ok ? NULL : lua_tostring(host->L, -1));
  CHECK(ok);
  check_context(NULL);
  lua_settop(host->L, 0);
}

static long long global(struct lua_host *host, const char *name) {
  lua_getglobal(host->L, name);
  long long value = lua_tointeger(host->L, -1);
  lua_pop(host->L, 1);
  return value;
}

static void serves_two_states(void) {
  open_states();
  run_script(&one, "runs = 0 world:spawn { Any = { 'one' } }\n"
                   "world:system('one', { run = function() runs = runs + 1 end })");
  run_script(&two, "runs = 0 e = world:spawn { Any = { 'two' } }\n"
                   "world:system('two', { run = function() runs = runs + 1 end })");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  run_script(&one, "world:update(1)");
  CHECK_INTEGER(2, global(&one, "runs"));
  CHECK_INTEGER(2, global(&two, "runs"));
  close_lua(&one);
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_INTEGER(3, global(&two, "runs"));
  run_script(&two, "assert(world:get(e, 'Any') == 'two')");
  CHECK_SOUND(f.world);
  close_lua(&two);
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

/* Each state has the values that it has given; another's are nil to it, whatever it once had. */
static void tells_values_of_two_states_apart(void) {
  open_states();
  run_script(&one, "e = world:spawn { Any = { 'one' } }\n"
                   "world:name(e, 'it')\n"
                   "world:resource('Any')\n"
                   "world:res('Any').value = 'one'");
  run_script(&two, "e = world:lookup 'it'\n"
                   "assert(world:get(e, 'Any') == nil and world:res('Any').value == nil)\n"
                   "world:set(e, 'Any', 'two')\n"
                   "world:name(world:spawn { Any = { 'where it was' } }, 'more')");
  run_script(&one, "assert(world:get(e, 'Any') == nil and world:has(e, 'Any'))\n"
                   "assert(world:get(world:lookup 'more', 'Any') == nil)\n"
                   "for any in world:query('Any'):each() do assert(any.value == nil) end\n"
                   "for chunk in world:query('Any'):chunks() do\n"
                   "  assert(chunk:column('Any.value')[1] == nil)\n"
                   "end\n"
                   "world:query('Any.value'):map(function(value) assert(value == nil) end)\n"
                   "assert(world:read(e, 'Any').value == nil)\n"
                   "assert(world:res('Any').value == 'one')\n"
                   "for i = 1, 9 do world:spawn { Any = { i } } end");
  run_script(&two, "assert(world:get(e, 'Any') == 'two')\n"
                   "for i = 1, 9 do world:spawn { Any = { -i } } end\n"
                   "local sum = 0\n"
                   "for any in world:query('Any'):each() do\n"
                   "  sum = sum + (tonumber(any.value) or 0)\n"
                   "end\n"
                   "assert(sum == -45)\n"
                   "assert(not pcall(world.save, world, { codec = { encode = tostring } }))");
  CHECK_SOUND(f.world);
  close_lua(&one);
  CHECK_SOUND(f.world);
  run_script(&two, "assert(world:get(e, 'Any') == 'two')\n"
                   "for i = 1, 20 do world:spawn { Any = { i } } end\n"
                   "world:query('Any'):where(function(any) return not any.value end):despawn()\n"
                   "assert(world:count 'Any' == 31)");
  CHECK_INTEGER(31, f.world->any.used);
  close_lua(&two);
  CHECK_INTEGER(0, f.world->any.used);
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* What a state has given and another has overwritten can be collected. */
static void lets_go_of_what_another_state_overwrites(void) {
  open_states();
  run_script(&one, "held = setmetatable({}, { __mode = 'v' })\n"
                   "for i = 1, 3 do held[i] = { i } world:spawn { Any = { held[i] } } end");
  run_script(&two, "local query = world:query 'Any'\n"
                   "for chunk in query:chunks() do chunk:column('Any.value'):write { 1, 2 } end\n"
                   "for any, e in query:each() do if not any.value then world:despawn(e) end end");
  run_script(&one, "world:spawn() collectgarbage() assert(next(held) == nil)");
  run_script(&two, "assert(world:load(world:save { codec = { encode = tostring } },\n"
                   "  { codec = { decode = function(text) return 'loaded ' .. text end } })\n"
                   "  == nil)");
  run_script(&one, "for any in world:query('Any'):each() do assert(any.value == nil) end");
  run_script(&two, "local e = world:query('Any'):first()\n"
                   "assert(world:get(e, 'Any'):find 'loaded')");
  close_lua(&two);
  CHECK_SOUND(f.world);
  close_lua(&one);
  CHECK_INTEGER(0, f.world->any.used);
  close_world(&f);
}

static const char moves[] =
    "local name = ...\n"
    "world:component(name, { 'x: f64', 'y: f64' })\n"
    "for _, field in ipairs { 'x', 'y' } do\n"
    "  local text = ('return function(c) c.%s = c.%s + 1 end'):format(field, field)\n"
    "  world:system(name .. field, { query = name, each = load(text)() })\n"
    "end\n";

/* A state has none of the objects of another one's systems. */
static void explains_systems_of_another_state(void) {
  static const char explain[] =
      "local function told(...) return world:explain(...) end\n"
      "local mine, theirs = told 'by', told 'ax'\n"
      "assert(mine.tier == 'vector' and mine.compilations == 1 and not mine.reason)\n"
      "assert(theirs.tier == 'vector' and not theirs.compilations and not theirs.reason)\n"
      "assert(theirs.writes[1] == 'a' and told('lua').reason:find 'another Lua state')\n"
      "local lists = told('update').update\n"
      "assert(#lists == 3 and table.concat(lists[1], ' ') == 'ax ay' and not lists[1].why)\n"
      "assert(table.concat(lists[2], ' ') == 'bx by' and table.concat(lists[3], ' ') == 'lua')\n"
      "assert(lists[2].why == \"it belongs to another Lua state than 'ax'\")\n";
  open_states();
  for (int i = 0; i < 2; i++) {
    struct lua_host *host = i ? &two : &one;
    CHECK_INTEGER(LUA_OK, luaL_loadstring(host->L, moves));
    lua_pushstring(host->L, i ? "b" : "a");
    CHECK_INTEGER(LUA_OK, lua_pcall(host->L, 1, 0, 0));
  }
  run_script(&one, "world:system('lua', { run = function() type(1) end })");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK(lua_checkstack(two.L, 100) != 0);
  for (int i = 0; i < 100; i++) lua_pushinteger(two.L, i + 1);   /* what is left on the stack */
  lua_settop(two.L, 0);
  run_script(&two, explain);
  CHECK_SOUND(f.world);
  close_lua(&one);
  close_lua(&two);
  close_world(&f);
}

static const struct test tests[] = {
  {"two states share a world", serves_two_states},
  {"systems of another state are explained", explains_systems_of_another_state},
  {"a state reads its own any values only", tells_values_of_two_states_apart},
  {"any values that another state overwrites are let go of",
   lets_go_of_what_another_state_overwrites},
};

int main(void) { return RUN_TESTS(tests); }
