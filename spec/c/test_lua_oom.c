/* Reliability line 1: the scenarios of spec/oom, with the k-th allocation failing, alone and with
** all that follow: for every k at the deep scale, else for the first twenty and every fifth, or
** 61st at the small one (with ECS_SPEC_SPARSE, for tools that make all slow, fewer). Only success
** or exactly "not enough memory"; the world's invariants hold and its content is what it was; done
** again it succeeds; nothing is left. */
#include <stdio.h>
#include <stdlib.h>

#include "content.h"
#include "lua_state.h"
/* Behind the headers of Lua, whose functions are not hidden. */
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/graph.h"
#include "lua/api/embedded.h"
#include "lua/bind/object.h"

#define LIST 1      /* stack: the scenarios */
#define SCENARIO 2  /* the one that runs */
#define STATE 3     /* its s */

/* A file compiled once, for all states. */
struct chunk {
  char *data;
  size_t size;
};

/* The first returns the list of its scenarios, and what the others add theirs with. */
static const char *const paths[] = {
  "spec/oom/scenarios.lua", "spec/oom/systems.lua", "spec/oom/kernel_scenarios.lua",
  "spec/oom/relation_scenarios.lua", "spec/oom/walk_scenarios.lua",
  "spec/oom/toggle_scenarios.lua", "spec/oom/array_scenarios.lua",
  "spec/oom/event_scenarios.lua", "spec/oom/index_scenarios.lua",
  "spec/oom/changed_scenarios.lua", "spec/oom/observer_scenarios.lua", "spec/oom/calls.lua",
  "spec/oom/live_scenarios.lua", "spec/oom/schema_scenarios.lua"};

enum { FILES = sizeof paths / sizeof *paths };

static struct chunk chunks[FILES];
static lua_Integer counts[FILES];   /* of the scenarios of each */

/* The module's own files: compiling them each time would take most of the time. */
#define MODULES 32
static struct chunk modules[MODULES];

static int append(lua_State *L, const void *data, size_t size, void *ud) {
  struct chunk *chunk = ud;
  (void)L;
  char *grown = realloc(chunk->data, chunk->size + size);
  if (!grown) return 1;
  memcpy(grown + chunk->size, data, size);
  chunk->data = grown;
  chunk->size += size;
  return 0;
}

static void compile_file(struct chunk *chunk, const char *path) {
  lua_State *L = luaL_newstate();
  if (CHECK(luaL_loadfile(L, path) == LUA_OK))
    lua_dump(L, append, chunk, 0);
  else
    printf("# %s\n", lua_tostring(L, -1));
  lua_close(L);
}

static void compile_modules(void) {
  lua_State *L = luaL_newstate();
  for (int i = 0; ecs_embedded[i].name && CHECK(i < MODULES); i++) {
    const struct ecs_embedded *file = &ecs_embedded[i];
    CHECK(luaL_loadbufferx(L, (const char *)file->text, file->size, file->name, "t") == LUA_OK);
    lua_dump(L, append, &modules[i], 0);
    lua_settop(L, 0);
  }
  lua_close(L);
}

/* What ecs_lua_open does, with what has been compiled. */
static int open_compiled(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_ecs_native);
  lua_setfield(L, -2, "ecs.native");
  for (int i = 0; ecs_embedded[i].name; i++) {
    const char *name = ecs_embedded[i].name;
    CHECK(luaL_loadbufferx(L, modules[i].data, modules[i].size, name, "b") == LUA_OK);
    lua_setfield(L, -2, name);
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "ecs");
  lua_call(L, 1, 0);
  return 0;
}

static bool call(lua_State *L, int arguments, int results) {
  if (lua_pcall(L, arguments, results, 0) == LUA_OK) return true;
  const char *message = lua_tostring(L, -1);
  CHECK_TEXT("no error", message ? message : "no text");
  lua_pop(L, 1);
  return false;
}

/* A state with the list of scenarios at LIST. */
static void load(lua_State *L, int file) {
  lua_settop(L, LIST + 2);
  luaL_loadbufferx(L, chunks[file].data, chunks[file].size, paths[file], "b");
  lua_pushvalue(L, LIST + 1);
  lua_pushvalue(L, LIST + 2);
  call(L, 2, 0);
}

/* A state whose list has the scenarios of the first file and of one more (0: none). */
static void open_scenarios(struct lua_host *host, int file) {
  open_lua(host);
  lua_State *L = host->L;
  lua_pushcfunction(L, open_compiled);
  call(L, 0, 0);
  lua_settop(L, 0);
  luaL_loadbufferx(L, chunks[0].data, chunks[0].size, paths[0], "b");
  call(L, 0, 3);
  if (file) load(L, file);
  lua_settop(L, LIST);
}

/* Counts the scenarios of each file, and all. */
static lua_Integer count_scenarios(void) {
  lua_Integer all = 0;
  for (int file = 0; file < FILES; file++) {
    struct lua_host host;
    open_scenarios(&host, file);
    counts[file] = (lua_Integer)lua_rawlen(host.L, LIST) - (file ? counts[0] : 0);
    all += counts[file];
    close_lua(&host);
  }
  return all;
}

/* Opens a state for a scenario, which is put on the stack. */
static void open_scenario(struct lua_host *host, lua_Integer number) {
  int file = 0;
  lua_Integer at = number;
  while (file < FILES - 1 && at > counts[file]) at -= counts[file++];
  open_scenarios(host, file);
  lua_rawgeti(host->L, LIST, file ? counts[0] + at : at);
}

static bool flag(lua_State *L, const char *name) {
  lua_getfield(L, SCENARIO, name);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

/* Calls one of the scenario's functions, if it has it, without protection. */
static int step(lua_State *L) {
  if (lua_getfield(L, 1, lua_tostring(L, lua_upvalueindex(1))) == LUA_TNIL) return 0;
  lua_pushvalue(L, 2);
  lua_call(L, 1, 0);
  return 0;
}

static void push_step(lua_State *L, const char *name) {
  lua_pushstring(L, name);
  lua_pushcclosure(L, step, 1);
  lua_pushvalue(L, SCENARIO);
  lua_pushvalue(L, STATE);
}

static ecs_world *world_of(lua_State *L) {
  lua_getfield(L, STATE, "world");
  ecs_world *world = ecs_lua_to_world(L, -1);
  lua_pop(L, 1);
  return world;
}

static uint64_t digest_of(lua_State *L, bool ids) {
  lua_gc(L, LUA_GCCOLLECT, 0);
  ecs_world *world = world_of(L);
  if (!world) return 0;
  CHECK_SOUND(world);
  uint64_t digest = ids ? world_digest(world) : world_content(world);
  for (const ecs_query *query = world->first_query; query; query = query->next)
    digest = digest * 31 + query->terms.count;
  return digest;
}

/* The value at an index: a number, a text, or a list, as far as its first element tells. */
static uint64_t value_of(lua_State *L, int index) {
  uint64_t sum = (uint64_t)lua_type(L, index) + (uint64_t)lua_tointeger(L, index);
  if (lua_type(L, index) == LUA_TSTRING)
    for (const char *at = lua_tostring(L, index); *at; at++) sum = sum * 31 + (unsigned char)*at;
  if (lua_type(L, index) != LUA_TTABLE) return sum;
  lua_rawgeti(L, index, 1);
  sum = sum * 31 + (uint64_t)lua_type(L, -1) + (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return sum;
}

/* What the digest leaves out: which values the `any` fields of entities have. */
static uint64_t values_of(lua_State *L) {
  const ecs_world *world = world_of(L);
  const struct id_record *all = world ? graph_all(world) : NULL;
  uint64_t sum = 0;
  lua_getfield(L, STATE, "world");
  if (world) lua_getiuservalue(L, -1, WORLD_ANY);
  for (uint32_t i = 0; all && i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    for (uint32_t j = 0; j < table->column_count; j++) {
      const struct column *column = &table->columns[j];
      if (column->component->leaves[column->leaf].type != ECS_ANY) continue;
      for (uint32_t row = 0; row < table->count; row++) {
        lua_rawgeti(L, -1, ((const uint32_t *)column->data)[row]);
        sum += value_of(L, -1) * (2 * table->rows[row] + 1);
        lua_pop(L, 1);
      }
    }
  }
  lua_settop(L, STATE);
  return sum;
}

static const char *begin(struct lua_host *host, lua_Integer number) {
  open_scenario(host, number);
  lua_State *L = host->L;
  lua_newtable(L);
  push_step(L, "prepare");
  call(L, 2, 0);
  lua_getfield(L, SCENARIO, "name");
  const char *name = lua_tostring(L, -1);
  lua_pop(L, 1);
  return name;
}

static uint64_t finish(struct lua_host *host) {
  push_step(host->L, "after");
  call(host->L, 2, 0);
  return digest_of(host->L, !flag(host->L, "new_ids"));
}

/* The scenario while the k-th allocation fails. False when it came to its end before. */
static bool starve(lua_Integer number, uint64_t wanted, size_t k, bool from_there_on) {
  struct lua_host host;
  begin(&host, number);
  lua_State *L = host.L;
  bool loose = flag(L, "loose"), partial = loose || flag(L, "partial");
  uint64_t before = digest_of(L, true), values = values_of(L);
  push_step(L, "act");
  alloc_arm(&host.alloc, k, from_there_on);
  int status = lua_pcall(L, 2, 0, 0);
  bool refused = host.alloc.refused > 0;
  alloc_arm(&host.alloc, 0, false);
  if (status != LUA_OK) {
    CHECK_TEXT("not enough memory", lua_tostring(L, -1));
    lua_pop(L, 1);
    uint64_t after = digest_of(L, true);
    CHECK(partial || (after == before && values_of(L) == values));
    push_step(L, "act");
    call(L, 2, 0);
  }
  uint64_t end = finish(&host);
  CHECK(loose || (partial && status != LUA_OK) || end == wanted);
  close_lua(&host);
  return refused;
}

static uint64_t clean_run(lua_Integer number, char *name, size_t size) {
  struct lua_host host;
  snprintf(name, size, "%s", begin(&host, number));
  push_step(host.L, "act");
  call(host.L, 2, 0);
  uint64_t digest = finish(&host);
  close_lua(&host);
  return digest;
}

/* The request that fails after the k-th did. */
static size_t next_request(size_t k, size_t step) {
  if (getenv("ECS_SPEC_SPARSE")) return k + (k < 4 ? 1 : k < 20 ? 5 : 10 * step);
  return k + (k < 20 ? 1 : step);
}

static int sweep(lua_Integer number) {
  char name[96];
  begin_test();
  uint64_t wanted = clean_run(number, name, sizeof name);
  size_t step_size = (size_t)by_scale(61, 17, 1);
  for (int from_there_on = 0; from_there_on < 2; from_there_on++)
    for (size_t k = 1;; k = next_request(k, step_size)) {
      check_context("request %zu fails%s", k, from_there_on ? " and all behind it" : "");
      if (!starve(number, wanted, k, from_there_on != 0)) break;
    }
  check_context(NULL);
  return end_test(name);
}

/* Opening the module itself. */
static bool starve_opening(size_t k, bool from_there_on) {
  struct lua_host host;
  open_lua(&host);
  lua_pushcfunction(host.L, open_module);
  alloc_arm(&host.alloc, k, from_there_on);
  int status = lua_pcall(host.L, 0, 0, 0);
  bool refused = host.alloc.refused > 0;
  alloc_arm(&host.alloc, 0, false);
  if (status != LUA_OK) {
    CHECK_TEXT("not enough memory", lua_tostring(host.L, -1));
    lua_pop(host.L, 1);
    lua_pushcfunction(host.L, open_module);
    call(host.L, 0, 0);
  }
  luaL_loadstring(host.L, "return require('ecs').world()");
  call(host.L, 0, 0);
  close_lua(&host);
  return refused;
}

static int sweep_opening(void) {
  begin_test();
  for (int from_there_on = 0; from_there_on < 2; from_there_on++)
    for (size_t k = 1;; k = next_request(k, (size_t)by_scale(41, 19, 1))) {
      check_context("request %zu fails%s", k, from_there_on ? " and all behind it" : "");
      if (!starve_opening(k, from_there_on != 0)) break;
    }
  check_context(NULL);
  return end_test("the module opens or says that there is not enough memory");
}

int main(int count, char **arguments) {
  begin_test();
  for (int file = 0; file < FILES; file++) compile_file(&chunks[file], paths[file]);
  compile_modules();
  lua_Integer scenarios_count = count_scenarios();
  CHECK(scenarios_count >= 40);
  int bad = end_test("C18: there are 40 scenarios at least");
  lua_Integer only = count > 1 ? strtoll(arguments[1], NULL, 10) : 0;
  if (!only) bad |= sweep_opening();
  for (lua_Integer i = 1; i <= scenarios_count; i++)
    if (!only || i == only) bad |= sweep(i);
  for (int file = 0; file < FILES; file++) free(chunks[file].data);
  for (int i = 0; i < MODULES; i++) free(modules[i].data);
  return bad;
}
