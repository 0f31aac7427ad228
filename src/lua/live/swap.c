#include "lua/live/swap.h"

#include "core/change/migrate.h"
#include "core/change/transact.h"
#include "core/index/indexing.h"
#include "core/storage/array.h"
#include "core/storage/component.h"
#include "core/query/term.h"
#include "core/ids/world.h"
#include "ecs_component.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/object.h"
#include "lua/bind/options.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/variables.h"
#include "lua/bind/world_box.h"
#include "lua/api/lua_declare.h"
#include "lua/api/lua_query.h"
#include "lua/api/lua_observer.h"
#include "lua/api/lua_schedule.h"
#include "lua/api/lua_spawner.h"
#include "lua/live/recording.h"
#include "lua/loop/stage.h"
#include "lua/live/swap_index.h"
#include "lua/live/swap_plan.h"
#include "lua/live/swap_prefab.h"
#include "lua/api/system.h"
#include "lua/api/system_box.h"
#include "lua/jit/system_run.h"
#include "lua/loop/view.h"
#include "lua/loop/view_box.h"
#include "core/base/text.h"
#include "ecs_query.h"

const struct component *swap_component(const struct world_box *box, const struct view_box *view) {
  const struct stage *stage = box->stage;
  for (uint32_t i = 0; stage && i < stage->view_count; i++)
    if (stage->views[i].view == view) return stage->views[i].component;
  return NULL;
}

static struct world_box *check_stage(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (!box->stage) luaL_error(L, "no scripts are being read");
  return box;
}

/* ---- the plan ------------------------------------------------------------------------------ */

/* Components of a list that go, or stay without an owner. */
static void plan_gone(lua_State *L, struct world_box *box, const char *list,
                      ecs_status (*go)(struct transaction *transaction, ecs_id id)) {
  uint32_t count = swap_list(L, list);
  for (uint32_t i = 0; i < count; i++) {
    ecs_id id = ecs_component_find(box->world, swap_entry(L, i));
    if (id != ECS_NULL) swap_check(L, box, go(&box->stage->transaction, id), "");
  }
}

static void plan_phases(lua_State *L, struct world_box *box, uint64_t group) {
  struct transaction *transaction = &box->stage->transaction;
  uint32_t count = swap_list(L, "drop_phases");
  for (uint32_t i = 0; i < count; i++)
    swap_check(L, box, transaction_drop_phase(transaction, swap_entry(L, i)), "");
  count = swap_list(L, "phases");
  for (uint32_t i = 0; i < count; i++) {
    ecs_phase_desc desc = {.name = swap_entry(L, i)};
    if (option(L, SWAP_ENTRY, "kept") != LUA_TNIL) {
      transaction_keep_phase(transaction, desc.name, group + i);
      continue;
    }
    option(L, SWAP_ENTRY, "spec");
    read_phase(L, lua_gettop(L), &desc);
    swap_check(L, box, transaction_phase(transaction, &desc, group + i), "");
  }
}

static int build_system(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  uint64_t place = (uint64_t)lua_tointeger(L, 4);
  const char *owner = lua_touserdata(L, 5);
  bool observes = lua_toboolean(L, 6);
  lua_settop(L, 3);
  (observes ? observer_in_swap : system_in_swap)(L, box, &box->stage->transaction, place, owner);
  return 0;
}

static void plan_systems(lua_State *L, struct world_box *box, uint64_t group) {
  struct transaction *transaction = &box->stage->transaction;
  uint32_t count = swap_list(L, "drop_systems");
  for (uint32_t i = 0; i < count; i++) transaction_drop_system(transaction, swap_entry(L, i));
  count = swap_list(L, "systems");
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    if (option(L, SWAP_ENTRY, "kept") != LUA_TNIL) {
      transaction_keep_system(transaction, name, group + i);
      continue;
    }
    bool owned = option(L, SWAP_ENTRY, "owner") == LUA_TSTRING;
    const char *owner = owned ? lua_tostring(L, -1) : NULL;
    lua_pushcfunction(L, build_system);
    lua_pushvalue(L, SWAP_WORLD);
    lua_pushvalue(L, SWAP_NAME);
    if (option(L, SWAP_ENTRY, "spec") != LUA_TTABLE) luaL_error(L, "malformed plan");
    lua_pushinteger(L, (lua_Integer)group + (lua_Integer)i);
    lua_pushlightuserdata(L, (void *)(uintptr_t)owner);
    option(L, SWAP_ENTRY, "observes");
    swap_call(L, 6);
  }
}

/* Systems that stay must find what their queries name and their functions use. */
static void check_systems(lua_State *L, struct world_box *box) {
  const struct schedule *schedule = box->world->schedule;
  const struct migration *migration = &box->stage->transaction.migration;
  lua_settop(L, SWAP_PLAN);
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    const struct system_box *script = system_script(system);
    const ecs_query *query = script && script->query ? script->query->query : system->query;
    ecs_status status = query ? migration_check_query(migration, query) : ECS_OK;
    char what[128];
    text_format(what, sizeof what, "%s '%s': ", system->watch ? "observer" : "system",
                system->name);
    swap_check(L, box, status, what);
    if (script && script->box == box && migration->count)
      system_scan(L, SWAP_WORLD, system, (struct scan){.changes = migration});
  }
}

/* ---- queries and resources that scripts hold before they are there ---- */

static struct query_box *open_query(lua_State *L, const struct world_box *box, uint32_t at,
                                    const char **text) {
  *text = swap_entry(L, at);
  option(L, SWAP_ENTRY, "object");
  struct query_box *query = box_test(L, -1, &kind_query, sizeof *query);
  if (!query || query->box != box || !query->pending) luaL_error(L, "malformed plan");
  return query;
}

/* The variables of the pending query at the top of the stack. */
static void read_given(lua_State *L, struct world_box *box, struct query_text *text) {
  char what[128];
  text_format(what, sizeof what, "query '%s'", text->text);
  if (lua_getiuservalue(L, -1, QUERY_VARIABLES_GIVEN) == LUA_TTABLE)
    variables_of_options(L, box, lua_gettop(L), false, what, text);
  lua_pop(L, 1);
}

static void plan_queries(lua_State *L, struct world_box *box) {
  struct stage *stage = box->stage;
  uint32_t count = swap_list(L, "queries");
  struct query_box **queries = memory_grow(box->memory, stage->queries,
                                           &stage->query_capacity, count, sizeof *queries);
  if (!queries && count) raise_memory(L);
  stage->queries = queries;
  for (uint32_t i = 0; queries && i < count; i++) {
    struct query_text text = {.count = 0};
    struct query_box *query = open_query(L, box, i, &text.text);
    read_given(L, box, &text);
    ecs_query *made;
    ecs_status status = ecs_query_with(box->world, text.text, text.variables, text.count, &made);
    swap_check(L, box, status, "");
    if (query->query) ecs_query_free(query->query);
    query->query = made;
    made->owner = box;
    queries[stage->query_count++] = query;
    swap_check(L, box, migration_check_query(&box->stage->transaction.migration, made), "");
  }
}

static struct component *swap_resource_of(const struct world_box *box, const char *name) {
  struct component *component = component_find(box->world, name, strlen(name));
  const struct migration *migration = &box->stage->transaction.migration;
  const struct change *change = component ? migration_of(migration, component->id) : NULL;
  if (change) component = change->wanted ? change->component : NULL;
  if (component && component->length) return NULL;
  return component && (component->resource || (change && change->valued)) ? component : NULL;
}

static struct component *swap_need_resource(lua_State *L, const struct world_box *box,
                                            const char *name) {
  struct component *component = swap_resource_of(box, name);
  if (component) return component;
  const struct component *now = component_formerly(box->world, name, strlen(name));
  world_fail(box->world, ECS_ENAME, "there is no resource '%s'%s%s%s", name,
             now ? ": it is called '" : "", now ? now->name : "", now ? "' now" : "");
  swap_check(L, box, ECS_ENAME, "");
  return NULL;
}

static struct view_box *open_view(lua_State *L, const struct world_box *box, uint32_t at,
                                  const char **name) {
  *name = swap_entry(L, at);
  option(L, SWAP_ENTRY, "object");
  struct view_box *view = box_test(L, -1, &kind_view, sizeof *view);
  if (!view || view->box != box || view->root != view) luaL_error(L, "malformed plan");
  return view;
}

static void plan_views(lua_State *L, struct world_box *box) {
  struct stage *stage = box->stage;
  uint32_t count = swap_list(L, "resources");
  struct pending_view *views = memory_grow(box->memory, stage->views,
                                           &stage->view_capacity, count, sizeof *views);
  if (!views && count) raise_memory(L);
  stage->views = views;
  for (uint32_t i = 0; views && i < count; i++) {
    const char *name;
    struct view_box *view = open_view(L, box, i, &name);
    struct component *component = swap_need_resource(L, box, name);
    if (view->component) continue;
    views[stage->view_count++] = (struct pending_view){view, component};
  }
}

/* Arrays that scripts hold by their names. */
static void check_arrays(lua_State *L, struct world_box *box, const char *list) {
  const struct migration *migration = &box->stage->transaction.migration;
  uint32_t count = swap_list(L, list);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    ecs_id array;
    ecs_status status = array_need_name(box->world, name, strlen(name), &array);
    const struct change *change = status == ECS_OK ? migration_of(migration, array) : NULL;
    if (change && !change->wanted)
      status = world_fail(box->world, ECS_ENAME, "there is no array '%s'", name);
    swap_check(L, box, status, "");
  }
}

/* What files that did not run hold must be there afterwards, too. */
static void check_kept(lua_State *L, struct world_box *box) {
  const struct migration *migration = &box->stage->transaction.migration;
  uint32_t count = swap_list(L, "kept_queries");
  for (uint32_t i = 0; i < count; i++) {
    swap_entry(L, i);
    option(L, SWAP_ENTRY, "object");
    const struct query_box *query = box_test(L, -1, &kind_query, sizeof *query);
    if (!query || query->box != box) luaL_error(L, "malformed plan");
    if (query->query) swap_check(L, box, migration_check_query(migration, query->query), "");
  }
  count = swap_list(L, "kept_resources");
  for (uint32_t i = 0; i < count; i++) swap_need_resource(L, box, swap_entry(L, i));
}

/* Raises that the tables cannot be migrated, with where the component was declared whose cell did
** not convert. */
static void refuse_migration(lua_State *L, const struct world_box *box, ecs_status status) {
  const char *refused = box->stage->transaction.migration.refused;
  uint32_t count = refused ? swap_list(L, "components") : 0;
  bool found = false;
  for (uint32_t i = 0; i < count && !found; i++)
    found = strcmp(swap_entry(L, i), refused) == 0;
  if (!found) lua_settop(L, SWAP_PLAN);
  swap_check(L, box, status, "");
}

/* ---- the swap ------------------------------------------------------------------------------ */

static void push_reports(lua_State *L, const struct migration *migration) {
  lua_settop(L, SWAP_PLAN);
  lua_newtable(L);
  option(L, SWAP_PLAN, "files");
  for (uint32_t i = 0; i < migration->count; i++) {
    push_report(L, &migration->changes[i].report);
    spawners_report(L, SWAP_WORLD, SWAP_ENTRY, &migration->changes[i]);
    lua_setfield(L, SWAP_LIST, migration->changes[i].component->name);
  }
}

/* body(world, plan): everything that can fail; returns the reports. */
static int swap_prepare(lua_State *L) {
  struct world_box *box = lua_touserdata(L, SWAP_WORLD);
  need_stack(L, 40);
  struct transaction *transaction = &box->stage->transaction;
  bool known = option(L, SWAP_PLAN, "group") != LUA_TNIL;
  uint64_t group =
      known ? (uint64_t)lua_tointeger(L, -1) : transaction_group(box->world);
  plan_gone(L, box, "remove", transaction_remove);
  plan_gone(L, box, "leave", transaction_leave);
  uint32_t phases = swap_list(L, "phases") + swap_list(L, "drop_phases");
  uint32_t systems = swap_list(L, "systems");
  ecs_status status = transaction_prepare(transaction, phases, systems);
  if (status != ECS_OK) refuse_migration(L, box, status);
  plan_phases(L, box, group);
  plan_queries(L, box);
  plan_views(L, box);
  swap_indexes(L, box);
  plan_systems(L, box, group);
  check_systems(L, box);
  check_kept(L, box);
  check_arrays(L, box, "arrays");
  check_arrays(L, box, "kept_arrays");
  swap_check_prefabs(L, box, &transaction->migration);
  lua_settop(L, SWAP_PLAN);
  swap_check(L, box, transaction_order(transaction), "");
  push_reports(L, &transaction->migration);
  lua_settop(L, SWAP_LIST);
  lua_pushinteger(L, (lua_Integer)group);
  return 2;
}

/* Makes no Lua object: everything is there. */
static void swap_commit(struct world_box *box) {
  struct stage *stage = box->stage;
  transaction_commit(&stage->transaction);
  for (uint32_t i = 0; i < stage->query_count; i++) stage->queries[i]->pending = false;
  for (uint32_t i = 0; i < stage->leaving_count; i++) index_remove(stage->leaving[i]);
  while (stage->entered < stage->index_count)
    index_enter(box->world, stage->indexes[stage->entered++]);
  for (uint32_t i = 0; i < stage->view_count; i++) {
    struct view_box *view = stage->views[i].view;
    view->component = stage->views[i].component;
    view->id = view->component->id;
  }
  stage_drop(box);
}

/* native.swap(world, plan): the reports by component, the group, and what failed when prefabs were
** declared behind the swap, if anything did; raises what is refused.
** With plan.check nothing is swapped. The plan:
**   components         { name =, at = } of what was declared
**   remove, leave, drop_phases, drop_systems   lists of { name = }; what is left stays ownerless
**   phases, systems    in order: { name =, kept = true } or { name =, spec =, at =, owner = }
**   queries            { name = text, object = query, at = }
**   resources          { name =, object = view, at = }
**   arrays             { name =, at = }
**   indexes, drop_indexes   as systems, drop_systems
**   named_indexes      { name =, at = }
**   kept_queries, kept_resources, kept_arrays, kept_named_indexes   the same of files that did not
**                      run
**   prefabs            { name =, list = as lua/ecs/prefab.lua makes it, at = }
**   group              what an earlier swap returned
**   files              keys are the paths of those that ran */
int ecs_native_swap(lua_State *L) {
  struct world_box *box = check_stage(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  need_stack(L, 8);
  bool only_check = option(L, 2, "check") != LUA_TNIL;
  lua_settop(L, 2);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  int status = try_quietly(L, swap_prepare, 2, 2);
  bool ok = status == LUA_OK && !only_check;
  if (ok) swap_commit(box);
  if (!ok) stage_drop(box);
  systems_sweep(L, box, 1);
  if (status != LUA_OK) return lua_error(L);
  settle(L, box, 1);
  if (!ok || !box->world) return 2;
  systems_compile(L, 1);
  lua_pushcfunction(L, swap_declare_prefabs);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 1);
  return 3;
}
