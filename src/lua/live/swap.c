#include <lauxlib.h>

#include "core/base/text.h"
#include "core/change/migrate.h"
#include "core/change/transact.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_component.h"
#include "ecs_entity.h"
#include "ecs_query.h"
#include "ecs_world.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/view.h"

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

/* ---- swap index ---- */

/* Whether a list of the plan has an entry of that name. */
static bool is_listed(lua_State *L, const char *list, const char *name) {
  uint32_t count = swap_list(L, list);
  bool found = false;
  for (uint32_t i = 0; i < count && !found; i++) found = strcmp(swap_entry(L, i), name) == 0;
  lua_settop(L, SWAP_PLAN);
  return found;
}

/* build(world, name, spec, owner): into the list of the stage, in which there is room. */
static int build_index(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  struct stage *stage = box->stage;
  const char *owner = lua_touserdata(L, 4);
  lua_settop(L, 3);
  ecs_status status = index_in_swap(L, box, owner, &stage->indexes[stage->index_count]);
  if (status != ECS_OK) return raise_status(L, box->world, status);
  ecs_index *index = stage->indexes[stage->index_count++];
  status = migration_check_query(&stage->transaction.migration, index_query(index));
  if (status != ECS_OK) raise_status(L, box->world, status);
  return 0;
}

static void plan_index(lua_State *L) {
  bool owned = option(L, SWAP_ENTRY, "owner") == LUA_TSTRING;
  const char *owner = owned ? lua_tostring(L, -1) : NULL;
  lua_pushcfunction(L, build_index);
  lua_pushvalue(L, SWAP_WORLD);
  lua_pushvalue(L, SWAP_NAME);
  if (option(L, SWAP_ENTRY, "spec") != LUA_TTABLE) luaL_error(L, "malformed plan");
  lua_pushlightuserdata(L, (void *)(uintptr_t)owner);
  swap_call(L, 4);
}

static bool is_replaced(const struct stage *stage, const ecs_index *index) {
  for (uint32_t i = 0; i < stage->index_count; i++)
    if (strcmp(index_name(stage->indexes[i]), index_name(index)) == 0) return true;
  return false;
}

/* Indexes that stay must find what their queries name, and what they are by. */
static void check_indexes(lua_State *L, struct world_box *box) {
  for (const ecs_index *index = index_first(box->world); index; index = index_next(index)) {
    bool goes = is_replaced(box->stage, index) || is_listed(L, "drop_indexes", index_name(index));
    if (goes || index_query(index)->broken) continue;
    char what[128];
    text_format(what, sizeof what, "index '%s': ", index_name(index));
    ecs_status status =
        migration_check_query(&box->stage->transaction.migration, index_query(index));
    if (status == ECS_OK && box->stage->transaction.migration.count)
      status = index_check_fields(index);
    swap_check(L, box, status, what);
  }
}

static void check_named_indexes(lua_State *L, const struct world_box *box, const char *list) {
  uint32_t count = swap_list(L, list);
  for (uint32_t i = 0; i < count; i++) {
    swap_list(L, list);
    const char *name = swap_entry(L, i);
    size_t size = strlen(name);
    bool known = index_named(box->world, name, size) && !is_listed(L, "drop_indexes", name);
    if (known || is_listed(L, "indexes", name)) continue;
    swap_list(L, list);
    swap_entry(L, i);
    swap_check(L, box, index_unknown(box->world, name, size), "");
  }
}

/* A list of indexes in the stage with room for one of each entry of a list of the plan. */
static uint32_t list_indexes(lua_State *L, const struct world_box *box, const char *list,
                             struct ecs_index ***indexes, uint32_t *capacity) {
  uint32_t count = swap_list(L, list);
  ecs_index **grown = memory_grow(box->memory, *indexes, capacity, count, sizeof *grown);
  if (!grown && count) raise_memory(L);
  *indexes = grown;
  return count;
}

void swap_indexes(lua_State *L, struct world_box *box) {
  struct stage *stage = box->stage;
  uint32_t count =
      list_indexes(L, box, "drop_indexes", &stage->leaving, &stage->leaving_capacity);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    ecs_index *index = index_named(box->world, name, strlen(name));
    if (index) stage->leaving[stage->leaving_count++] = index;
  }
  count = list_indexes(L, box, "indexes", &stage->indexes, &stage->index_capacity);
  for (uint32_t i = 0; i < count; i++) {
    swap_entry(L, i);
    if (option(L, SWAP_ENTRY, "kept") == LUA_TNIL) plan_index(L);
  }
  check_indexes(L, box);
  check_named_indexes(L, box, "named_indexes");
  check_named_indexes(L, box, "kept_named_indexes");
}

/* ---- swap plan ---- */

void swap_check(lua_State *L, const struct world_box *box, ecs_status status, const char *what) {
  if (status == ECS_OK) return;
  if (status == ECS_ENOMEM) raise_memory(L);
  char text[MESSAGE_SIZE];
  text_format(text, sizeof text, "%s%s", what, ecs_message(box->world));
  lua_settop(L, SWAP_ENTRY);
  const char *at = lua_istable(L, SWAP_ENTRY) && option(L, SWAP_ENTRY, "at") == LUA_TSTRING
                       ? lua_tostring(L, -1) : "";
  lua_pushfstring(L, "%s%s", at, text);
  lua_error(L);
}

uint32_t swap_list(lua_State *L, const char *name) {
  lua_settop(L, SWAP_PLAN);
  if (option(L, SWAP_PLAN, name) != LUA_TTABLE) {
    lua_settop(L, SWAP_PLAN);
    lua_newtable(L);
  }
  lua_Unsigned count = lua_rawlen(L, SWAP_LIST);
  return count > 1000000 ? 1000000 : (uint32_t)count;
}

const char *swap_entry(lua_State *L, uint32_t at) {
  lua_settop(L, SWAP_LIST);
  if (lua_rawgeti(L, SWAP_LIST, (lua_Integer)at + 1) != LUA_TTABLE ||
      option(L, SWAP_ENTRY, "name") != LUA_TSTRING)
    luaL_error(L, "malformed plan");
  size_t size;
  return check_text(L, SWAP_NAME, &size);
}

void swap_call(lua_State *L, int arguments) {
  int status = lua_pcall(L, arguments, 0, 0);
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM || !lua_isstring(L, -1)) lua_error(L);
  lua_replace(L, SWAP_NAME);
  lua_settop(L, SWAP_NAME);
  const char *at = option(L, SWAP_ENTRY, "at") == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pushfstring(L, "%s%s", at, lua_tostring(L, SWAP_NAME));
  lua_error(L);
}

/* ---- swap prefab ---- */

/* Whether an entry before this one declares the prefab that a path begins with. */
static bool is_planned(lua_State *L, uint32_t before, const char *path) {
  size_t size = strcspn(path, ".");
  bool planned = false;
  for (uint32_t i = 0; i < before && !planned; i++) {
    lua_rawgeti(L, SWAP_LIST, (lua_Integer)i + 1);
    bool named = option(L, lua_gettop(L), "name") == LUA_TSTRING;
    planned = named && lua_rawlen(L, -1) == size && memcmp(lua_tostring(L, -1), path, size) == 0;
    lua_pop(L, 2);
  }
  return planned;
}

/* What the entities of a declaration are made of is there, or will be. */
static void check_bases(lua_State *L, const struct world_box *box, uint32_t entry, int list) {
  for (lua_Unsigned i = 1; i <= lua_rawlen(L, list); i++, lua_settop(L, list)) {
    size_t size;
    ecs_id id;
    lua_rawgeti(L, list, (lua_Integer)i);
    if (option(L, list + 1, "is_a") != LUA_TSTRING) continue;
    const char *name = lua_tolstring(L, -1, &size);
    if (is_planned(L, entry, name)) continue;
    ecs_status status = prefab_need(box->world, name, size, &id);
    if (status == ECS_OK) continue;
    option(L, list + 1, "title");
    swap_check(L, box, status, lua_pushfstring(L, "%s: ", lua_tostring(L, -1)));
  }
}

/* What a prefab's values were refused for, with where it was declared. */
static void check_values(lua_State *L, struct migration *migration, int list) {
  lua_pushcfunction(L, prefab_list_check);
  lua_pushvalue(L, SWAP_WORLD);
  lua_pushvalue(L, list);
  lua_pushlightuserdata(L, migration);
  swap_call(L, 3);
}

void swap_check_prefabs(lua_State *L, struct world_box *box, struct migration *migration) {
  uint32_t count = swap_list(L, "prefabs");
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    ecs_id known = ecs_lookup(box->world, name);
    ecs_status status =
        known == ECS_NULL ? ECS_OK : prefab_need(box->world, name, strlen(name), &known);
    if (option(L, SWAP_ENTRY, "list") != LUA_TTABLE) luaL_error(L, "malformed plan");
    int list = lua_gettop(L);
    char what[128];
    text_format(what, sizeof what, "prefab '%s': ", name);
    swap_check(L, box, status, what);
    check_bases(L, box, i, list);
    check_values(L, migration, list);
  }
}

int swap_declare_prefabs(lua_State *L) {
  lua_pushnil(L);
  int problem = lua_gettop(L);
  bool some = option(L, SWAP_PLAN, "prefabs") == LUA_TTABLE;
  lua_Unsigned count = some ? lua_rawlen(L, -1) : 0;
  int list = lua_gettop(L);
  for (lua_Unsigned i = 1; i <= count; i++, lua_settop(L, list)) {
    lua_rawgeti(L, list, (lua_Integer)i);
    lua_pushcfunction(L, prefab_declare_listed);
    lua_pushvalue(L, SWAP_WORLD);
    option(L, list + 1, "list");
    if (lua_pcall(L, 2, 0, 0) == LUA_OK || !lua_isnil(L, problem)) continue;
    const char *at = option(L, list + 1, "at") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pushfstring(L, "%s%s", at, lua_tostring(L, -2));
    lua_replace(L, problem);
  }
  lua_settop(L, problem);
  return 1;
}
