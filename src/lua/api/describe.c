#include <lauxlib.h>

#include "core/command/watch.h"
#include "core/entity/name.h"
#include "core/ids/world.h"
#include "core/index/edition.h"
#include "core/index/indexing.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"
#include "ecs_component.h"
#include "ecs_world.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"

/* ---- lists ------------------------------------------------------------------------------ */

static void describe_push_table(lua_State *L, const ecs_world *world, const struct table *table) {
  lua_newtable(L);
  lua_newtable(L);
  for (uint32_t i = 0; i < table->id_count; i++)
    append_text(L, ecs_component_name(world, table->ids[i]));
  lua_setfield(L, -2, "types");
  lua_newtable(L);
  for (uint32_t i = 0; i < table->column_count; i++) {
    const struct component *component = table->columns[i].component;
    lua_pushfstring(L, "%s.%s", component->name,
                    component->leaves[table->columns[i].leaf].name);
    append_item(L);
  }
  lua_setfield(L, -2, "columns");
  set_integer(L, "id", table->index);
  set_integer(L, "rows", table->count);
  set_integer(L, "capacity", table->capacity);
  set_integer(L, "bytes", table_bytes(table));
}

/* Describes the tables. Returns their total number of rows. */
static size_t describe_set_tables(lua_State *L, const ecs_world *world) {
  size_t rows = 0;
  const struct id_record *all = graph_all(world);
  lua_newtable(L);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    rows += table->count;
    describe_push_table(L, world, table);
    append_item(L);
  }
  lua_setfield(L, -2, "tables");
  return rows;
}

/* Lists the names of the components of one kind, or of orphans. */
static void describe_set_components(lua_State *L, const char *key, const ecs_world *world) {
  bool orphans = strcmp(key, "orphans") == 0;
  lua_newtable(L);
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    if (!component) continue;
    const char *kind = component->length ? "arrays" : component->is_event ? "events" : "components";
    /* Built-in components belong to no script and are not orphans. */
    if (orphans ? !component->orphan || builtin_is(component->name, component->name_size)
                : strcmp(key, kind) != 0)
      continue;
    /* The component that marks prefabs cannot be named. */
    if (world->relations.prefab && component->relation == world->relations.prefab) continue;
    append_text(L, component->name);
  }
  lua_setfield(L, -2, key);
}

/* The names of prefabs, in the order of their tables and rows. */
static void describe_set_prefabs(lua_State *L, const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  lua_newtable(L);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    for (uint32_t row = 0; table->hidden && row < table->count; row++) {
      ecs_string name = name_of(world, entity_id(&world->entities, table->rows[row]));
      if (name.size == 0 || ties_target(&world->relations.child_of->ties, table->rows[row]))
        continue;
      lua_pushlstring(L, name.data, name.size);
      append_item(L);
    }
  }
  lua_setfield(L, -2, "prefabs");
}

#define DESCRIBE_COUNTED 10000   /* most rows of a query that are visited to count them */

static void describe_set_queries(lua_State *L, const ecs_world *world) {
  lua_newtable(L);
  for (const ecs_query *query = world->first_query; query; query = query->next) {
    size_t rows;
    bool all = query_count_within(query, DESCRIBE_COUNTED, &rows);
    lua_newtable(L);
    set_text(L, "text", query->text);
    set_integer(L, "tables", query->count);
    set_integer(L, "rows", rows);
    if (!all) set_boolean(L, "more", true);
    append_item(L);
  }
  lua_setfield(L, -2, "queries");
}

static void describe_add_ignored(lua_State *L, const ecs_world *world, const ecs_system *system,
                                 const char *const *names) {
  for (; names && *names; names++)
    if (schedule_is_ignored(world, system, *names)) append_text(L, *names);
}

/* What only systems have: for example, the rows that a function was called for, those that fell
** back to Lua, and the time per row. */
static void describe_set_system(lua_State *L, const ecs_world *world, const ecs_system *system,
                                uint32_t order) {
  const struct system_box *script = system_script(system);
  const struct kernel *kernel = script && script->handle ? script->handle->kernel : NULL;
  double tick = stopwatch_tick(&world->schedule->stopwatch);
  set_integer(L, "rows", system->rows);
  if (system->all_rows)
    set_number(L, "per_row", (double)system->total_ticks * tick / (double)system->all_rows);
  if (world->schedule->profile && world->schedule->profile->has_cpu)
    set_number(L, "cpu", system->cpu);
  lua_createtable(L, 0, 2);
  bool loops = script && loops_are_compiled(script);
  set_integer(L, "last", loops ? script->stepped : kernel && script->compiled ? kernel->left : 0);
  uint64_t left = kernel ? kernel->all_left : 0;
  set_integer(L, "total", left + (script ? script->all_stepped : 0));
  lua_setfield(L, -2, "left");
  set_text(L, "phase", system->phase->name);
  set_integer(L, "order", order);
  set_text(L, "tier", system_kernel_tier(system));
  lua_newtable(L);
  describe_add_ignored(L, world, system, system->before);
  describe_add_ignored(L, world, system, system->after);
  lua_setfield(L, -2, "ignored");
}

static void describe_set_systems(lua_State *L, const ecs_world *world, bool observers) {
  static const char *const kinds[WATCH_KINDS] = {"exit", "remove", "despawn",
                                                 "add",  "enter",  "set"};
  const struct schedule *schedule = world->schedule;
  double tick = stopwatch_tick(&schedule->stopwatch);
  lua_newtable(L);
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    if (!system->watch == observers) continue;
    lua_newtable(L);
    set_text(L, "name", system->name);
    set_text(L, "owner", system->owner);
    set_boolean(L, "enabled", system->enabled);
    set_boolean(L, "parked", system->parked);
    set_integer(L, "runs", system->runs);
    set_number(L, "seconds", (double)system->total_ticks * tick);
    set_number(L, "last", (double)system->last_ticks * tick);
    set_number(L, "peak", (double)system->peak_ticks * tick);
    if (observers) {
      set_text(L, "on", kinds[system->watch->kind]);
      set_text(L, "query", system->watch->query->text);
    } else {
      describe_set_system(L, world, system, i + 1);
    }
    append_item(L);
  }
  lua_setfield(L, -2, observers ? "observers" : "systems");
}

static void describe_set_phases(lua_State *L, const ecs_world *world) {
  const struct schedule *schedule = world->schedule;
  lua_newtable(L);
  for (uint32_t i = 0; i < schedule->phase_count; i++) {
    const struct phase *phase = schedule->phases[i];
    lua_newtable(L);
    set_text(L, "name", phase->name);
    if (phase->fixed > 0) set_number(L, "fixed", phase->fixed);
    set_boolean(L, "enabled", phase->enabled);
    lua_newtable(L);
    if (phase->before && phase_is_ignored(world, phase->before)) append_text(L, phase->before);
    if (phase->after && phase_is_ignored(world, phase->after)) append_text(L, phase->after);
    lua_setfield(L, -2, "ignored");
    append_item(L);
  }
  lua_setfield(L, -2, "phases");
}

static void describe_push_index(lua_State *L, const ecs_index *index) {
  lua_newtable(L);
  set_text(L, "name", index->desc.name);
  set_text(L, "query", index->query->text);
  set_text(L, "by", index_kinds[index->desc.by]);
  set_text(L, "of", index->desc.of ? index->desc.of : "a function");
  set_text(L, "owner", index->desc.owner);
  if (index->desc.by == ECS_BY_GRID) set_number(L, "cell", index->desc.cell);
  set_integer(L, "rows", index->now ? index->now->copies.count : 0);
  set_integer(L, "bytes", index_bytes(index));
}

/* describe(world): the table with everything. */
static int describe_world(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const ecs_world *world = box->world;
  lua_newtable(L);
  size_t rows = describe_set_tables(L, world);
  describe_set_components(L, "components", world);
  describe_set_components(L, "arrays", world);
  describe_set_components(L, "events", world);
  describe_set_components(L, "orphans", world);
  describe_set_prefabs(L, world);
  describe_set_queries(L, world);
  lua_newtable(L);
  for (const ecs_index *index = index_first(world); index; index = index->next) {
    describe_push_index(L, index);
    append_item(L);
  }
  lua_setfield(L, -2, "indexes");
  describe_set_systems(L, world, false);
  describe_set_systems(L, world, true);
  describe_set_phases(L, world);
  set_integer(L, "rows", rows);
  set_integer(L, "entities", ecs_alive_count(world));
  set_integer(L, "bytes", ecs_bytes(world));
  set_integer(L, "tag", ecs_world_tag(world));
  return 1;
}

/* world:describe() and world:describe(component) */
static int world_describe(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    call_held(L, describe_world, 1, 1);
  } else {
    push_component_description(L, 1, check_declared(L, box, 2)->id);
  }
  return 1;
}

/* world:profile(on): returns whether updates are now profiled. */
static int describe_world_profile(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (!lua_isnoneornil(L, 2)) {
    luaL_checktype(L, 2, LUA_TBOOLEAN);
    RETRY_OR_RAISE(L, box, profile_switch(box->world, lua_toboolean(L, 2)));
  }
  lua_pushboolean(L, box->world->schedule->profile != NULL);
  settle(L, box, 1);
  return 1;
}

/* world:reset_counters() */
static int describe_reset_counters(lua_State *L) {
  const struct world_box *box = check_world(L, 1);
  const struct schedule *schedule = box->world->schedule;
  profile_reset(box->world);
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    struct system_box *script = system_script(schedule->systems[i]);
    if (script && script->handle && script->handle->kernel) script->handle->kernel->all_left = 0;
    if (script) script->all_stepped = 0;
  }
  return 0;
}

/* frames(world, count): a list of the last updates, oldest first. */
static int describe_frames(lua_State *L) {
  const struct world_box *box = lua_touserdata(L, 1);
  const struct schedule *schedule = box->world->schedule;
  uint64_t count = schedule->profile ? schedule->profile->count : 0;
  uint64_t most = (uint64_t)lua_tointeger(L, 2);
  if (most > PROFILE_FRAMES) most = PROFILE_FRAMES;
  if (most > count) most = count;
  lua_createtable(L, (int)most, 0);
  for (uint64_t number = count - most; number < count; number++) {
    uint32_t at = (uint32_t)(number % PROFILE_FRAMES);
    lua_createtable(L, 0, 3);
    set_number(L, "time", schedule->profile->frames[at].seconds);
    set_integer(L, "entities", schedule->profile->frames[at].entities);
    lua_createtable(L, 0, (int)schedule->system_count);
    for (uint32_t i = 0; i < schedule->system_count; i++) {
      const ecs_system *system = schedule->systems[i];
      if (system->history) set_number(L, system->name, system->history[at]);
    }
    lua_setfield(L, -2, "systems");
    append_item(L);
  }
  return 1;
}

/* world:frames(n) */
static int describe_world_frames(lua_State *L) {
  check_world(L, 1);
  luaL_checktype(L, 2, LUA_TNUMBER);
  luaL_argcheck(L, luaL_checkinteger(L, 2) >= 0, 2, "not below 0");
  lua_settop(L, 2);
  call_held(L, describe_frames, 2, 1);
  return 1;
}

const luaL_Reg world_describe_methods[] = {
  {"describe", world_describe},
  {"frames", describe_world_frames},
  {"profile", describe_world_profile},
  {"reset_counters", describe_reset_counters},
  {NULL, NULL}
};

/* explain(index) */
static int describe_explain_index_use(lua_State *L) {
  const ecs_index *index = lua_touserdata(L, 1);
  describe_push_index(L, index);
  set_integer(L, "lost", index->lost);
  set_integer(L, "times", index->times);
  if (index->times && index->brought == NONE)
    set_text(L, "brought", "whole");
  else if (index->times)
    set_integer(L, "brought", index->brought);
  set_number(L, "seconds", index->seconds);
  return 1;
}

bool index_explain(lua_State *L, const ecs_world *world, int name) {
  size_t size;
  const char *text = lua_tolstring(L, name, &size);
  const ecs_index *index = index_named(world, text, size);
  if (!index) return false;
  lua_pushlightuserdata(L, (void *)(uintptr_t)index);
  call_held(L, describe_explain_index_use, 1, 1);
  return true;
}
