/* A host in C that lends its world to Lua scripts: C46, law 3. */
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

#include "ecs_lua.h"
#include "fixture.h"
#include "lua_state.h"

#include "core/ids/world.h"
#include "core/schedule/schedule.h"

static struct fixture f;

/* A state whose scripts find no files. */
static void open_host(struct lua_host *host) {
  open_lua(host);
  CHECK_INTEGER(LUA_OK, luaL_dostring(host->L, "package.path, package.cpath = '', ''"));
  CHECK_INTEGER(1, ecs_lua_open(host->L));
  CHECK(lua_istable(host->L, -1));
  lua_pop(host->L, 1);
}

static void lend(struct lua_host *state) {
  ecs_lua_push_world(state->L, f.world);
  lua_setglobal(state->L, "world");
}

/* The usual world, lent to a state. */
static void open_lent(struct lua_host *state) {
  open_usual(&f);
  open_host(state);
  lend(state);
}

/* ---- without a file system ---------------------------------------------------------- */

static void opens_without_files(void) {
  struct lua_host state;
  open_host(&state);
  run_script(&state,
             "local ecs = require 'ecs'\n"
             "local world = ecs.world()\n"
             "world:component('Position', { 'x: f32 = 2', 'y: f32' })\n"
             "local e = world:spawn { Position = {} }\n"
             "world:system('s', { query = 'Position', each = function(p) p.x = p.x + 1 end })\n"
             "world:update(1)\n"
             "assert(world:get(e, 'Position') == 3)\n"
             "assert(require 'ecs' == ecs)");
  CHECK_INTEGER(1, ecs_lua_open(state.L));
  close_lua(&state);
}

static void opens_without_libraries(void) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  alloc.shrinks = true;
  lua_State *L = new_lua_state(&alloc);
  luaL_requiref(L, "_G", luaopen_base, 1);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
  luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
  luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
  CHECK_INTEGER(1, ecs_lua_open(L));
  CHECK(lua_istable(L, -1));
  lua_close(L);
  CHECK_INTEGER(0, alloc.bytes);
}

/* ---- lending ------------------------------------------------------------------------- */

static void lends_its_world(void) {
  struct lua_host state;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.velocity);
  open_host(&state);
  lend(&state);
  ecs_lua_push_world(state.L, f.world);
  lua_getglobal(state.L, "world");
  CHECK(lua_rawequal(state.L, -1, -2));
  CHECK(ecs_lua_to_world(state.L, -1) == f.world);
  lua_pushinteger(state.L, 5);
  CHECK(ecs_lua_to_world(state.L, -1) == NULL);
  CHECK(ecs_lua_to_world(state.L, 50) == NULL);
  lua_settop(state.L, 0);
  run_script(&state,
             "local e = world:query('Position'):first()\n"
             "world:set(e, 'Position', 1, 2)\n"
             "mine = world:spawn { Position = { 3, 4 } }");
  CHECK(get_position(&f, f.a).x == 1 && get_position(&f, f.a).y == 2);
  CHECK(get_position(&f, (ecs_id)global(&state, "mine")).y == 4);
  close_lua(&state);
  CHECK_INTEGER(2, count_of(f.world, "Position"));
  close_world(&f);
}

static void closing_lets_go(void) {
  struct lua_host state;
  open_lent(&state);
  run_script(&state,
             "world:spawn { Position = {} }\n"
             "query = world:query 'Position'\n"
             "world:system('s', { query = 'Position', each = print })\n"
             "step, loop = query:each()\n"
             "view = step(loop)\n"
             "late = world:spawn { Velocity = {} }\n"
             "world:close()\n"
             "world:close()\n"
             "assert(not pcall(world.spawn, world))\n"
             "assert(not pcall(query.count, query))\n"
             "assert(not pcall(function() return view.x end))");
  CHECK_INTEGER(1, count_of(f.world, "Velocity"));
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_SOUND(f.world);
  CHECK(f.world->first_query == NULL && f.world->schedule->system_count == 0);
  lua_getglobal(state.L, "world");
  CHECK(ecs_lua_to_world(state.L, -1) == NULL);
  ecs_lua_push_world(state.L, f.world);
  CHECK(!lua_rawequal(state.L, -1, -2));
  lua_setglobal(state.L, "world");
  run_script(&state, "assert(world:count 'Position' == 1)");
  close_lua(&state);
  close_world(&f);
}

static void keeps_indexes_without_functions(void) {
  struct lua_host state;
  open_usual(&f);
  SPAWN(f.world, f.position);
  open_host(&state);
  lend(&state);
  run_script(&state,
             "plain = world:index('plain', { query = 'Position', hash = 'x' })\n"
             "local function five() return 5 end\n"
             "keyed = world:index('keyed', { query = 'Position', hash = five })\n"
             "for p in keyed:find(5) do found = p.x == 0 and 1 end\n"
             "world:index('keyed', { query = 'Position', maybe = function() return 6 end })\n");
  CHECK_INTEGER(1, global(&state, "found"));
  ecs_found found;
  ecs_index *index = ecs_index_find(f.world, "keyed");
  const ecs_value key = {.kind = ECS_KIND_INTEGER, .integer = 6};
  CHECK(index != NULL);
  if (index)
    CHECK_FAILS(f.world, ECS_EUSER, "only a script can update it",
                ecs_index_equal(index, &key, &found));
  struct lua_host other;
  open_host(&other);
  lend(&other);
  run_script(&other,
             "local ok, message = pcall(function() world:index('keyed'):find(6) end)\n"
             "assert(not ok and message:find('another Lua state', 1, true))\n"
             "for _, e in world:index('plain'):find(0) do found = 1 end");
  CHECK_INTEGER(1, global(&other, "found"));
  close_lua(&other);
  CHECK(ecs_index_find(f.world, "keyed"));
  close_lua(&state);
  CHECK(!ecs_index_find(f.world, "keyed"));
  index = ecs_index_find(f.world, "plain");
  CHECK(index != NULL);
  const ecs_value none = {.kind = ECS_KIND_INTEGER, .integer = 0};
  if (index) CHECK_OK(f.world, ecs_index_equal(index, &none, &found));
  CHECK(index && ecs_found_next(&found));
  close_world(&f);
}

static void outlives_its_object(void) {
  struct lua_host state;
  open_lent(&state);
  run_script(&state,
             "runs = 0\n"
             "world:system('s', { run = function() runs = runs + 1 end })\n"
             "world = nil\n"
             "collectgarbage() collectgarbage()");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_INTEGER(1, global(&state, "runs"));
  close_lua(&state);
  close_world(&f);
}

/* ---- systems --------------------------------------------------------------------------- */

static char trace[64];

static ecs_status note(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt;
  strcat(trace, ud);
  return ECS_OK;
}

static void add_native(const char *name, const char *after, char *word) {
  const char *list[] = {after, NULL};
  ecs_system_desc desc = {.name = name, .run = note, .ud = word};
  if (after) desc.after = list;
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
}

static int l_note(lua_State *L) {
  strcat(trace, luaL_checkstring(L, 1));
  return 0;
}

static void orders_systems_together(void) {
  struct lua_host state;
  open_lent(&state);
  lua_pushcfunction(state.L, l_note);
  lua_setglobal(state.L, "note");
  trace[0] = '\0';
  add_native("a", "b", "a");
  run_script(&state,
             "world:system('b', { run = function() note 'b' end })\n"
             "world:system('c', { run = function() note 'c' end, after = 'd' })\n"
             "world:phase('physics', { fixed = 0.5, after = 'update' })\n"
             "world:system('p', { phase = 'physics', run = function() note 'p' end })");
  add_native("d", NULL, "d");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_TEXT("badcpp", trace);
  trace[0] = '\0';
  run_script(&state,
             "world:update(0)\n"
             "assert(world:explain('a').tier == 'native')\n"
             "assert(world:explain('b').tier == 'lua')\n"
             "assert(not pcall(world.system, world, 'd', { run = print, before = 'a',\n"
             "  after = 'a' }))");
  CHECK_TEXT("badc", trace);
  close_lua(&state);
  trace[0] = '\0';
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_TEXT("ad", trace);
  close_world(&f);
}

static char warnings[1024];

static void warned(void *ud, const char *message, int continued) {
  (void)ud;
  strcat(warnings, message);
  if (!continued) strcat(warnings, "\n");
}

/* Names that systems and phases give and nobody has are allowed, and told once each. */
static void warns_of_names_that_nobody_has(void) {
  struct lua_host state;
  open_lent(&state);
  lua_setwarnf(state.L, warned, NULL);
  warnings[0] = '\0';
  run_script(&state,
             "world:update(0)\n"
             "world:system('move', { run = print, after = { 'jupm', 'later' }, enabled = false })\n"
             "world:system('jump', { run = print, before = 'move', enabled = false })\n"
             "world:system('later', { run = print, phase = 'render', enabled = false })\n"
             "world:phase('physics', { after = 'udpate', before = 'render' })\n"
             "world:phase('last', { before = 'what nobody has' })");
  CHECK_TEXT("", warnings);
  run_script(&state, "world:update(0)");
  CHECK_TEXT("ecs: phase 'physics': 'udpate' in after is not a phase (did you mean 'update'?); "
             "ignored\n"
             "ecs: phase 'last': 'what nobody has' in before is not a phase; ignored\n"
             "ecs: system 'move': 'jupm' in after is not a system (did you mean 'jump'?); ignored\n"
             "ecs: system 'move': 'later' in after runs in phase 'render', this system in "
             "'update'; ignored, since order holds only inside a phase\n", warnings);
  warnings[0] = '\0';
  run_script(&state, "world:update(0)\n"
                     "world:system('jump', { run = print, before = 'move', enabled = false })\n"
                     "world:update(0)");
  CHECK_TEXT("", warnings);
  run_script(&state, "world:system('jump', { run = print, before = 'moev', enabled = false })\n"
                     "world:update(0) world:update(0)");
  CHECK_TEXT("ecs: system 'jump': 'moev' in before is not a system (did you mean 'move'?); "
             "ignored\n", warnings);
  close_lua(&state);
  close_world(&f);
}

/* A host's function that hears a warning may close the world. */
static void close_when_warned(void *ud, const char *message, int continued) {
  (void)message;
  if (!continued) CHECK_INTEGER(LUA_OK, luaL_dostring(ud, "world:close()"));
}

static void survives_a_close_when_warned(void) {
  struct lua_host state;
  open_lent(&state);
  lua_setwarnf(state.L, close_when_warned, state.L);
  run_script(&state, "world:system('a', { run = print, after = { 'b', 'c' } })\n"
                     "local ok, message = pcall(world.update, world, 1)\n"
                     "assert(not ok and message:find 'the world is closed')");
  close_lua(&state);
  close_world(&f);
}

static void reports_errors_to_the_host(void) {
  struct lua_host state;
  open_lent(&state);
  run_script(&state, "world:system('bad', { run = function() error 'stop' end })");
  CHECK_FAILS(f.world, ECS_EUSER, "system 'bad'", ecs_update(f.world, 1));
  CHECK_FAILS(f.world, ECS_EUSER, "stop", ecs_update(f.world, 1));
  run_script(&state,
             "world:on_error(function(message, name) seen, failed = message, name end)");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  run_script(&state, "assert(failed == 'bad' and seen:find 'stop' and seen:find 'traceback')");
  run_script(&state,
             "world:system('bad', { run = function() error 'again' end })\n"
             "world:on_error(function() error 'in the handler' end)");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_SOUND(f.world);
  close_lua(&state);
  close_world(&f);
}

static void ends_loops_that_are_left_open(void) {
  struct lua_host state;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  open_host(&state);
  lend(&state);
  run_script(&state,
             "step, loop = world:query('Position'):each()\n"
             "view = step(loop)\n"
             "world:spawn { Velocity = {} }");
  CHECK_INTEGER(0, count_of(f.world, "Velocity"));
  CHECK_FAILS(f.world, ECS_EINVAL, "dt", ecs_update(f.world, -1));
  CHECK_INTEGER(0, count_of(f.world, "Velocity"));
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_INTEGER(1, count_of(f.world, "Velocity"));
  run_script(&state,
             "assert(not pcall(function() return view.x end))\n"
             "assert(not pcall(step, loop))");
  close_lua(&state);
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(new_query(f.world, "Position"), &it));
  CHECK_FAILS(f.world, ECS_EBUSY, "inside a loop", ecs_update(f.world, 1));
  CHECK_OK(f.world, ecs_iter_close(&it));
  close_world(&f);
}

static void ends_loops_of_a_world_that_is_abandoned(void) {
  struct lua_host state;
  open_usual(&f);
  for (int i = 0; i < 3; i++) SPAWN(f.world, f.position, f.frozen);
  open_host(&state);
  lend(&state);
  uint64_t digest = ecs_digest(f.world);
  run_script(&state,
             "changed = world:query('Position:changed')\n"
             "step, loop = changed:each()\n"
             "view = step(loop)\n"
             "thread = coroutine.wrap(function()\n"
             "  for p in world:query('Position, ChildOf->Velocity?'):each() do\n"
             "    world:spawn { Velocity = {} } coroutine.yield()\n"
             "  end\n"
             "end)\n"
             "thread()");
  CHECK_OK(f.world, ecs_abandon(f.world));
  CHECK_SOUND(f.world);
  CHECK(ecs_digest(f.world) == digest);
  run_script(&state,
             "assert(not pcall(function() return view.x end))\n"
             "assert(not pcall(step, loop))\n"
             "assert(not pcall(thread))\n"
             "assert(changed:count() == 0)\n"
             "for p in world:query('Position'):each() do p.x = 1 end\n"
             "world:update(1)");
  CHECK_OK(f.world, ecs_abandon(f.world));
  close_lua(&state);
  close_world(&f);
}

static ecs_status raise_error(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const struct lua_host *state = ud;
  (void)world, (void)query, (void)dt;
  luaL_error(state->L, "through the update");
  return ECS_OK;
}

/* What no native system may do, but hosts can come back from. */
static void forgets_updates_that_lua_has_left(void) {
  struct lua_host state;
  open_usual(&f);
  SPAWN(f.world, f.position);
  open_host(&state);
  lend(&state);
  ecs_system_desc desc = {.name = "raises", .run = raise_error, .ud = &state};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  run_script(&state,
             "runs = 0\n"
             "world:system('counts', { before = 'raises', run = function() runs = runs + 1 end })\n"
             "local ok, message = pcall(world.update, world, 1)\n"
             "assert(not ok and message:find 'through the update')\n"
             "ok, message = pcall(world.update, world, 1)\n"
             "assert(not ok and message:find \"system 'raises' is running\")");
  CHECK_OK(f.world, ecs_abandon(f.world));
  CHECK_OK(f.world, ecs_system_remove(f.world, "raises"));
  CHECK_OK(f.world, ecs_update(f.world, 1));
  run_script(&state, "world:update(1) world:close()");
  CHECK_INTEGER(3, global(&state, "runs"));
  CHECK_SOUND(f.world);
  close_lua(&state);
  close_world(&f);
}

/* Runs the script's function `work`. */
static ecs_status call_script(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const struct lua_host *state = ud;
  (void)world, (void)query, (void)dt;
  lua_getglobal(state->L, "work");
  CHECK_INTEGER(LUA_OK, lua_pcall(state->L, 0, 0, 0));
  return trace[0] ? ECS_EINVAL : ECS_OK;
}

/* A system of the host leaves a script's loop open: it ends with the system, before those that
** follow, compiled or not. */
static void ends_loops_that_a_native_system_leaves(void) {
  struct lua_host state;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  open_host(&state);
  lend(&state);
  ecs_system_desc desc = {.name = "native", .run = call_script, .ud = &state};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  run_script(&state,
             "function work()\n"
             "  kept = coroutine.wrap(function()\n"
             "    for p in world:query('Position'):each() do\n"
             "      view = p\n"
             "      world:spawn { Velocity = {} }\n"
             "      coroutine.yield()\n"
             "    end\n"
             "  end)\n"
             "  kept()\n"
             "end\n"
             "world:system('s', { query = 'Position', compile = true, after = 'native',\n"
             "  each = function(p) p.x = p.x + 1 end })");
  for (int round = 1; round <= 4; round++) {
    trace[0] = '\0';
    CHECK_OK(f.world, ecs_update(f.world, 1));
    CHECK_SOUND(f.world);
    CHECK_INTEGER(round, count_of(f.world, "Velocity"));
    run_script(&state, "assert(not pcall(function() return view.x end))\n"
                       "assert(not pcall(kept))");
  }
  strcpy(trace, "fail");
  CHECK_FAILS(f.world, ECS_EINVAL, "native", ecs_update(f.world, 1));
  CHECK_SOUND(f.world);
  CHECK_INTEGER(4, count_of(f.world, "Velocity"));
  close_lua(&state);
  close_world(&f);
}

static char failed[32];

static void on_error(ecs_world *world, const char *system, ecs_status status, void *ud) {
  (void)ud;
  CHECK_INTEGER(ECS_EUSER, status);
  CHECK(strstr(ecs_message(world), "stop") != NULL);
  strcpy(failed, system);
}

static void has_its_own_handler(void) {
  struct lua_host state;
  open_lent(&state);
  ecs_on_error(f.world, on_error, NULL);
  run_script(&state, "world:system('bad', { run = function() error 'stop' end })");
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_TEXT("bad", failed);
  failed[0] = '\0';
  run_script(&state,
             "world:system('bad', { run = function() error 'stop' end })\n"
             "world:update(1)");
  CHECK_TEXT("bad", failed);
  close_lua(&state);
  close_world(&f);
}

static void fails_with(const char *beginning) {
  CHECK_STATUS(f.world, ECS_EUSER, ecs_update(f.world, 1));
  CHECK(strncmp(beginning, ecs_message(f.world), strlen(beginning)) == 0);
}

/* What a script raises may begin with anything, even with what the core puts before it. */
static void names_a_failed_system_once(void) {
  struct lua_host state;
  open_lent(&state);
  run_script(&state, "world:system('bad', { run = function() error('stop', 0) end })");
  fails_with("system 'bad': stop\nstack traceback:");
  run_script(&state,
             "world:system('bad', { when = function() error('stop', 0) end, run = print })");
  fails_with("system 'bad': stop\nstack traceback:");
  run_script(&state, "world:system('bad', { run = function()\n"
                     "  error(\"system 'bad': stop\", 0) end })");
  fails_with("system 'bad': system 'bad': stop\nstack traceback:");
  CHECK_SOUND(f.world);
  close_lua(&state);
  close_world(&f);
}

static ecs_status fail_for_range(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)query, (void)dt, (void)ud;
  return world_fail(world, ECS_ERANGE, "too far");
}

/* A script's handler hears of a system of the host what the host says, with its name. */
static void hears_of_the_hosts_systems(void) {
  struct lua_host state;
  open_lent(&state);
  ecs_system_desc desc = {.name = "native", .run = fail_for_range};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  run_script(&state, "world:on_error(function(...) heard = table.concat({ ... }, ', ') end)\n"
                     "world:update(1)\n"
                     "assert(heard == \"system 'native': too far, native\", heard)");
  close_lua(&state);
  close_world(&f);
}

static void survives_a_world_closed_in_a_system(void) {
  struct lua_host state;
  open_usual(&f);
  f.a = SPAWN(f.world, f.position);
  open_host(&state);
  lend(&state);
  run_script(&state,
             "world:system('s', { query = 'Position', each = function()\n"
             "  local closing <close> = world\n"
             "end })\n"
             "world:system('t', { run = error })");
  CHECK_FAILS(f.world, ECS_EUSER, "the world is closed", ecs_update(f.world, 1));
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_SOUND(f.world);
  CHECK(f.world->schedule->system_count == 0);
  run_script(&state, "assert(not pcall(world.spawn, world))");
  close_lua(&state);
  close_world(&f);
}

/* ---- leaving ---------------------------------------------------------------------------- */

static void leaves_nothing_behind(void) {
  struct lua_host state;
  open_usual(&f);
  ecs_id any = declare_one(f.world, "Any", "value", ECS_ANY);
  open_host(&state);
  lend(&state);
  run_script(&state,
             "for i = 1, 10 do world:spawn { Any = { { i } } } end\n"
             "q = world:query 'Any'\n"
             "world:resource('Held', { 'value: any' })\n"
             "world:res('Held').value = {}\n"
             "world:system('s', { query = 'Any', each = function(a) a.value = a end })\n"
             "world:on_error(print)");
  CHECK_OK(f.world, ecs_defer(f.world));
  run_script(&state, "world:set(q:first(), 'Any', { value = 'staged' })\n"
                     "world:spawn { Any = { 'staged' } }");
  close_lua(&state);
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_SOUND(f.world);
  CHECK_INTEGER(0, f.world->any.used);
  CHECK_INTEGER(11, count_of(f.world, "Any"));
  uint32_t slot = 5;
  CHECK_OK(f.world, ecs_get(f.world, spawn(f.world, &any, 1), any, &slot));
  CHECK_INTEGER(0, slot);
  CHECK_OK(f.world, ecs_update(f.world, 1));
  close_world(&f);
}

/* Reliability 1, for what this file shows: the k-th allocation of the state fails. */
static void sweeps_lending(bool from_there_on) {
  for (size_t k = 1; k < 100000; k++) {
    struct lua_host state;
    open_usual(&f);
    open_host(&state);
    lua_gc(state.L, LUA_GCSTOP);
    alloc_arm(&state.alloc, k, from_there_on);
    lua_pushcfunction(state.L, ecs_lua_open);
    int status = lua_pcall(state.L, 0, 1, 0);
    bool failed_once = state.alloc.refused > 0;
    alloc_arm(&state.alloc, 0, false);
    CHECK(status == LUA_OK || status == LUA_ERRMEM);
    lend(&state);
    run_script(&state, "world:spawn { Position = {} }");
    close_lua(&state);
    CHECK_INTEGER(1, count_of(f.world, "Position"));
    close_world(&f);
    if (!failed_once) return;
  }
}

static void survives_want_of_memory(void) {
  sweeps_lending(false);
  sweeps_lending(true);
}

static const struct test tests[] = {
  {"the module opens without a file system", opens_without_files},
  {"the module opens without the libraries of Lua that it does not use",
   opens_without_libraries},
  {"a world that is pushed again is the same object", lends_its_world},
  {"close lets go of a lent world, whose loops end", closing_lets_go},
  {"a state that closes takes the indexes along that have functions of its own",
   keeps_indexes_without_functions},
  {"a lent world is not freed with its object, nor are its systems", outlives_its_object},
  {"a host's systems and a script's are ordered together", orders_systems_together},
  {"names in before and after that nobody has are told once, as warnings",
   warns_of_names_that_nobody_has},
  {"a world may be closed by who hears a warning", survives_a_close_when_warned},
  {"errors of scripts reach the host as status and message", reports_errors_to_the_host},
  {"a host's update ends loops that scripts left open", ends_loops_that_are_left_open},
  {"loops of scripts end when a host abandons the world", ends_loops_of_a_world_that_is_abandoned},
  {"updates that an error of Lua has left are forgotten", forgets_updates_that_lua_has_left},
  {"a loop that a system of the host leaves open ends with it",
   ends_loops_that_a_native_system_leaves},
  {"a script's handler hears of the host's systems", hears_of_the_hosts_systems},
  {"a host's handler has the errors of scripts", has_its_own_handler},
  {"a host hears the name of a system that failed, once", names_a_failed_system_once},
  {"a lent world that is closed inside a system goes when that ends",
   survives_a_world_closed_in_a_system},
  {"closing the state removes its systems, queries and any values", leaves_nothing_behind},
  {"opening the module survives failing allocations", survives_want_of_memory},
};

int main(void) { return RUN_TESTS(tests); }
