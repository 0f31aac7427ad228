/* A swap: what scripts have registered replaces what they had registered before.
**
** Everything that can fail happens in swap_prepare, kind by kind, in the order of the lists: the
** migration, then phases, queries, resources, indexes and systems are made for the future world,
** then what stays is checked against it. Nothing else runs meanwhile. swap_end cannot fail.
** Prefabs follow: they are entities, and spawning them may run functions of scripts. */

#include <lauxlib.h>

#include "core/base/text.h"
#include "core/change/migrate.h"
#include "core/change/transact.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "ecs_component.h"
#include "ecs_entity.h"
#include "ecs_query.h"
#include "ecs_world.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/view.h"

/* ---- lists of registrations ---------------------------------------------------------------- */

/* The stack of a swap: the arguments, then one entry of one of the lists. After the commit the
** reports and the problem replace the arguments. */
enum { SWAP_WORLD = 1, SWAP_LIST, SWAP_LEAVING, SWAP_OPTIONS, SWAP_ENTRY };
enum { SWAP_PROBLEM = SWAP_LEAVING, SWAP_REPORTS = SWAP_OPTIONS };

/* Sets of registrations: of files that have run, of files that have not, of both. */
#define FRESH(kind) (1u << (kind))
#define KEPT(kind) (1u << ((kind) + 16))
#define EITHER(kind) (FRESH(kind) | KEPT(kind))

/* The list of what leaves may also contain names of components. */
static void swap_check_registrations(lua_State *L, const struct world_box *box, int list) {
  luaL_checktype(L, list, LUA_TTABLE);
  for (lua_Integer i = 1; lua_rawgeti(L, list, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
    if (list == SWAP_LEAVING && lua_type(L, -1) == LUA_TSTRING) continue;
    const struct registration *entry = box_test(L, -1, &kind_registration, sizeof *entry);
    if (!entry || entry->box != box) luaL_argerror(L, list, "list of registrations expected");
  }
  lua_pop(L, 1);
}

static bool swap_is_of_set(const struct registration *entry, uint32_t set) {
  return entry && set & (entry->kept ? KEPT(entry->kind) : FRESH(entry->kind));
}

/* Puts the next registration of a set in a list at SWAP_ENTRY; after the last one, nil, and returns
** NULL. `at` counts the whole list, from 0. */
static struct registration *swap_next(lua_State *L, int list, uint32_t set, uint32_t *at) {
  for (;;) {
    lua_settop(L, SWAP_OPTIONS);
    if (lua_rawgeti(L, list, (lua_Integer)++*at) == LUA_TNIL) return NULL;
    struct registration *entry = box_test(L, SWAP_ENTRY, &kind_registration, sizeof *entry);
    if (swap_is_of_set(entry, set)) return entry;
  }
}

static uint32_t swap_count_registered(lua_State *L, int list, uint32_t set) {
  uint32_t count = 0;
  for (uint32_t at = 0; swap_next(L, list, set, &at);) count++;
  return count;
}

/* Whether the first `limit` entries of a list include one of that set with that name. */
static bool swap_is_registered(lua_State *L, int list, uint32_t set, ecs_string name,
                               uint32_t limit) {
  bool found = false;
  for (uint32_t i = 1; i <= limit && !found; i++, lua_pop(L, 1)) {
    if (lua_rawgeti(L, list, (lua_Integer)i) == LUA_TNIL) limit = i;
    const struct registration *entry = box_test(L, -1, &kind_registration, sizeof *entry);
    found = swap_is_of_set(entry, set) && strlen(entry->name) == name.size &&
            memcmp(entry->name, name.data, name.size) == 0;
  }
  return found;
}

static ecs_string swap_text(const char *text) { return (ecs_string){text, strlen(text)}; }

/* Puts the registration with a name, in a set, at SWAP_ENTRY; nil if there is none. */
static void swap_find(lua_State *L, uint32_t set, const char *name) {
  const struct registration *entry;
  uint32_t at = 0;
  do
    entry = swap_next(L, SWAP_LIST, set, &at);
  while (entry && strcmp(entry->name, name) != 0);
}

static bool swap_is_blamed(const struct blame *blame, const char *name) {
  uint32_t at = 0;
  while (at < blame->count && strcmp(blame->names[at], name) != 0) at++;
  return at < blame->count;
}

/* As swap_find, for the first that the core's refusal is about. Files that have run come first; the
** others are not to blame for what the world holds. */
static void swap_find_refused(lua_State *L, const struct world_box *box, uint32_t kinds,
                              ecs_status status) {
  const struct registration *entry = NULL;
  uint32_t sets = status == ECS_ERANGE || status == ECS_EBUSY ? 1 : 2;
  for (uint32_t kept = 0; kept < sets && !entry; kept++) {
    uint32_t set = kept ? kinds << 16 : kinds, at = 0;
    do
      entry = swap_next(L, SWAP_LIST, set, &at);
    while (entry && !swap_is_blamed(box->world->blame, entry->name));
  }
}

/* Raises the core's refusal, if there is one, with the place that registered the entry, if any. */
static void swap_check(lua_State *L, const struct world_box *box, ecs_status status,
                       const char *what) {
  if (status == ECS_OK) return;
  if (status == ECS_ENOMEM) raise_memory(L);
  const struct registration *entry = box_test(L, SWAP_ENTRY, &kind_registration, sizeof *entry);
  lua_pushfstring(L, "%s%s%s", entry ? entry->where : "", what, ecs_message(box->world));
  lua_error(L);
}

/* Calls build(world, name, value, entry) for the entry. Errors are raised with the place where the
** entry was registered. */
static void swap_build(lua_State *L, lua_CFunction build, struct registration *entry) {
  lua_pushcfunction(L, build);
  lua_pushvalue(L, SWAP_WORLD);
  lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_NAME);
  lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_VALUE);
  lua_pushlightuserdata(L, entry);
  int status = lua_pcall(L, 4, 0, 0);
  if (status == LUA_OK) return;
  if (status != LUA_ERRMEM && lua_isstring(L, -1))
    lua_pushfstring(L, "%s%s", entry->where, lua_tostring(L, -1));
  lua_error(L);
}

/* ---- components, phases, systems ----------------------------------------------------------- */

/* Components that are no longer registered lose their owner; those listed by name are dropped. */
static void swap_components(lua_State *L, struct world_box *box) {
  struct transaction *transaction = &box->stage->transaction;
  const struct registration *entry;
  for (lua_Integer i = 1; lua_rawgeti(L, SWAP_LEAVING, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
    if (lua_type(L, -1) != LUA_TSTRING) continue;
    ecs_id id = ecs_component_find(box->world, lua_tostring(L, -1));
    if (id != ECS_NULL) swap_check(L, box, transaction_remove(transaction, id), "");
  }
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LEAVING, EITHER(REGISTERED_COMPONENT), &at));) {
    ecs_id id = ecs_component_find(box->world, entry->name);
    if (id != ECS_NULL) swap_check(L, box, transaction_leave(transaction, id), "");
  }
}

static void swap_migrate(lua_State *L, struct world_box *box) {
  const uint32_t phase = EITHER(REGISTERED_PHASE);
  uint32_t phases = swap_count_registered(L, SWAP_LIST, phase) +
                    swap_count_registered(L, SWAP_LEAVING, phase);
  uint32_t systems =
      swap_count_registered(L, SWAP_LIST, EITHER(REGISTERED_SYSTEM) | EITHER(REGISTERED_OBSERVER));
  ecs_status status = transaction_prepare(&box->stage->transaction, phases, systems);
  if (status != ECS_OK) swap_find_refused(L, box, FRESH(REGISTERED_COMPONENT), status);
  swap_check(L, box, status, "");
}

static void swap_phases(lua_State *L, struct world_box *box, uint64_t group) {
  struct transaction *transaction = &box->stage->transaction;
  const uint32_t set = EITHER(REGISTERED_PHASE);
  const struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LEAVING, set, &at));)
    swap_check(L, box, transaction_drop_phase(transaction, entry->name), "");
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, set, &at));) {
    if (entry->kept) {
      transaction_keep_phase(transaction, entry->name, group + at);
      continue;
    }
    ecs_phase_desc desc = {.name = entry->name};
    lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_VALUE);
    read_phase(L, lua_gettop(L), &desc);
    swap_check(L, box, transaction_phase(transaction, &desc, group + at), "");
  }
}

static void swap_systems(lua_State *L, const struct world_box *box, uint64_t group) {
  struct transaction *transaction = &box->stage->transaction;
  const uint32_t set = EITHER(REGISTERED_SYSTEM) | EITHER(REGISTERED_OBSERVER);
  struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LEAVING, set, &at));)
    transaction_drop_system(transaction, entry->name);
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, set, &at));) {
    entry->place = group + at;
    if (entry->kept)
      transaction_keep_system(transaction, entry->name, entry->place);
    else
      swap_build(L, system_in_swap, entry);
  }
}

static ecs_status swap_check_array(const struct world_box *box, const char *name) {
  ecs_id array;
  ecs_status status = array_need_name(box->world, name, strlen(name), &array);
  const struct migration *migration = &box->stage->transaction.migration;
  const struct change *change = status == ECS_OK ? migration_of(migration, array) : NULL;
  if (change && !change->wanted)
    status = world_fail(box->world, ECS_ENAME, "there is no array '%s'", name);
  return status;
}

/* Checks that systems which stay find what their queries name and their functions use. */
static void swap_check_systems(lua_State *L, const struct world_box *box) {
  const struct schedule *schedule = box->world->schedule;
  const struct migration *migration = &box->stage->transaction.migration;
  lua_settop(L, SWAP_OPTIONS);
  for (uint32_t i = 0; i < schedule->system_count; i++) {
    const ecs_system *system = schedule->systems[i];
    const struct system_box *script = system_script(system);
    const ecs_query *query = script && script->query ? script->query->query : system->query;
    ecs_status status = query ? migration_check_query(migration, query) : ECS_OK;
    if (script && script->array) status = swap_check_array(box, script->array_name);
    char what[128];
    text_format(what, sizeof what, "%s '%s': ", system->watch ? "observer" : "system",
                system->name);
    if (status != ECS_OK)
      swap_find(L, EITHER(REGISTERED_SYSTEM) | EITHER(REGISTERED_OBSERVER), system->name);
    swap_check(L, box, status, what);
    if (script && script->box == box && migration->count)
      system_scan(L, SWAP_WORLD, system, (struct scan){.changes = migration});
  }
}

static void swap_check_order(lua_State *L, const struct world_box *box) {
  ecs_status status = transaction_order(&box->stage->transaction);
  if (status != ECS_OK)
    swap_find_refused(L, box, FRESH(REGISTERED_SYSTEM) | FRESH(REGISTERED_PHASE), status);
  swap_check(L, box, status, "");
}

/* ---- what scripts hold: queries, resources, arrays ------------------------------------------ */

/* Pushes the object that the registration at SWAP_ENTRY keeps. */
static void *swap_push_object(lua_State *L) {
  lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_VALUE);
  return lua_touserdata(L, -1);
}

/* Makes the query of the pending object at the top of the stack. */
static void swap_make_query(lua_State *L, struct world_box *box, struct query_box *query,
                            const char *name) {
  struct query_text text = {.text = name};
  char what[128];
  text_format(what, sizeof what, "query '%s'", name);
  if (lua_getiuservalue(L, -1, QUERY_VARIABLES_GIVEN) == LUA_TTABLE)
    variables_of_options(L, box, lua_gettop(L), false, what, &text);
  ecs_query *made;
  swap_check(L, box, ecs_query_with(box->world, name, text.variables, text.count, &made), "");
  if (query->query) ecs_query_free(query->query);
  query->query = made;
  made->owner = box;
}

/* Makes pending queries. What those of files that did not run name must exist afterwards, too. */
static void swap_queries(lua_State *L, struct world_box *box, uint32_t set) {
  const struct migration *migration = &box->stage->transaction.migration;
  const struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, set, &at));) {
    struct query_box *query = swap_push_object(L);
    if (query->pending) swap_make_query(L, box, query, entry->name);
    if (query->query)
      swap_check(L, box, migration_check_query(migration, query->query), "");
  }
}

/* From here on, scanned functions can tell which component a pending view is for. */
static void swap_views(lua_State *L, const struct world_box *box, uint32_t set) {
  const struct migration *migration = &box->stage->transaction.migration;
  const struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, set, &at));) {
    const char *name = entry->name;
    const struct component *component = component_find(box->world, name, strlen(name));
    const struct change *change = component ? migration_of(migration, component->id) : NULL;
    if (change) component = change->wanted ? change->component : NULL;
    bool valued = component && (component->resource || (change && change->valued));
    if (!valued || component->length) {
      const struct component *now = component_formerly(box->world, name, strlen(name));
      world_fail(box->world, ECS_ENAME, "there is no resource '%s'%s%s%s", name,
                 now ? ": its name is now '" : "", now ? now->name : "", now ? "'" : "");
      swap_check(L, box, ECS_ENAME, "");
      return;
    }
    struct view_box *view = swap_push_object(L);
    if (!view->component) view->id = component->id;
  }
}

/* ---- indexes ------------------------------------------------------------------------------- */

static void swap_indexes(lua_State *L, const struct world_box *box) {
  const uint32_t set = EITHER(REGISTERED_INDEX);
  struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, FRESH(REGISTERED_INDEX), &at));)
    if (!entry->index) swap_build(L, index_in_swap, entry);
  /* Indexes that stay must still find what their queries name, and their keys. */
  const struct migration *migration = &box->stage->transaction.migration;
  for (const ecs_index *index = index_first(box->world); index; index = index->next) {
    ecs_string name = swap_text(index_name(index));
    if (swap_is_registered(L, SWAP_LIST, FRESH(REGISTERED_INDEX), name, UINT32_MAX) ||
        swap_is_registered(L, SWAP_LEAVING, set, name, UINT32_MAX) ||
        index_query(index)->broken)
      continue;
    char what[128];
    text_format(what, sizeof what, "index '%s': ", index_name(index));
    ecs_status status = migration_check_query(migration, index_query(index));
    if (status == ECS_OK && migration->count) {
      what[0] = '\0';
      status = index_check_shown(index);
    }
    if (status == ECS_OK) continue;
    swap_find(L, EITHER(REGISTERED_INDEX), index_name(index));
    swap_check(L, box, status, what);
  }
  /* Indexes that scripts hold by name must exist afterwards. */
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, EITHER(REGISTERED_INDEX_NAME), &at));) {
    ecs_string name = swap_text(entry->name);
    bool known = index_named(box->world, name.data, name.size) &&
                 !swap_is_registered(L, SWAP_LEAVING, set, name, UINT32_MAX);
    if (!known && !swap_is_registered(L, SWAP_LIST, set, name, UINT32_MAX))
      swap_check(L, box, index_unknown(box->world, name.data, name.size), "");
  }
}

/* ---- prefabs ------------------------------------------------------------------------------- */

/* Checks that the bases in the list at the top of the stack exist, or are declared by an earlier
** entry. */
static void swap_check_bases(lua_State *L, const struct world_box *box, uint32_t entry) {
  int list = lua_gettop(L);
  for (lua_Unsigned i = 1; i <= lua_rawlen(L, list); i++, lua_settop(L, list)) {
    size_t size;
    ecs_id id;
    lua_rawgeti(L, list, (lua_Integer)i);
    if (option(L, list + 1, "is_a") != LUA_TSTRING) continue;
    const char *name = lua_tolstring(L, -1, &size);
    ecs_string base = {name, strcspn(name, ".")};
    if (swap_is_registered(L, SWAP_LIST, FRESH(REGISTERED_PREFAB), base, entry - 1)) continue;
    ecs_status status = prefab_need(box->world, name, size, &id);
    if (status == ECS_OK) continue;
    option(L, list + 1, "title");
    swap_check(L, box, status, lua_pushfstring(L, "%s: ", lua_tostring(L, -1)));
  }
}

/* Checks what can be known before the swap, with components as the migration will leave them: the
** prefabs themselves are declared after the swap. */
static void swap_check_prefabs(lua_State *L, const struct world_box *box) {
  struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, FRESH(REGISTERED_PREFAB), &at));) {
    ecs_id known = ecs_lookup(box->world, entry->name);
    ecs_status status = ECS_OK;
    if (known != ECS_NULL)
      status = prefab_need(box->world, entry->name, strlen(entry->name), &known);
    char what[128];
    text_format(what, sizeof what, "prefab '%s': ", entry->name);
    swap_check(L, box, status, what);
    lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_VALUE);
    swap_check_bases(L, box, at);
    swap_build(L, prefab_list_check, entry);
  }
}

/* (where, message) */
static int swap_put_place_before(lua_State *L) {
  lua_pushfstring(L, "%s%s", (const char *)lua_touserdata(L, 1), lua_tostring(L, 2));
  return 1;
}

/* The first failure goes to SWAP_PROBLEM. Nothing is raised, since the swap is already done. */
static void swap_declare_prefabs(lua_State *L) {
  const struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, FRESH(REGISTERED_PREFAB), &at));) {
    lua_pushcfunction(L, prefab_declare_listed);
    lua_pushvalue(L, SWAP_WORLD);
    lua_getiuservalue(L, SWAP_ENTRY, REGISTERED_VALUE);
    if (lua_pcall(L, 2, 0, 0) == LUA_OK || !lua_isnil(L, SWAP_PROBLEM)) continue;
    lua_pushcfunction(L, swap_put_place_before);
    lua_pushlightuserdata(L, (void *)(uintptr_t)entry->where);
    lua_rotate(L, -3, 2);
    lua_pcall(L, 2, 1, 0);
    lua_replace(L, SWAP_PROBLEM);
  }
}

/* ---- the swap ------------------------------------------------------------------------------ */

/* body(world, registered, leaving, options): does everything that can fail; returns the reports and
** the group. */
static int swap_prepare(lua_State *L) {
  struct world_box *box = lua_touserdata(L, SWAP_WORLD);
  struct transaction *transaction = &box->stage->transaction;
  need_stack(L, 40);
  bool known = option(L, SWAP_OPTIONS, "group") != LUA_TNIL;
  uint64_t group = known ? (uint64_t)lua_tointeger(L, -1) : transaction_group(box->world);
  swap_components(L, box);
  swap_migrate(L, box);
  swap_phases(L, box, group);
  swap_queries(L, box, FRESH(REGISTERED_QUERY));
  swap_views(L, box, FRESH(REGISTERED_VIEW));
  swap_indexes(L, box);
  swap_systems(L, box, group);
  swap_check_systems(L, box);
  swap_queries(L, box, KEPT(REGISTERED_QUERY));
  swap_views(L, box, KEPT(REGISTERED_VIEW));
  const struct registration *entry;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, EITHER(REGISTERED_ARRAY), &at));)
    swap_check(L, box, swap_check_array(box, entry->name), "");
  swap_check_prefabs(L, box);
  swap_check_order(L, box);
  const struct migration *migration = &transaction->migration;
  lua_settop(L, SWAP_OPTIONS);
  lua_newtable(L);
  option(L, SWAP_OPTIONS, "files");
  for (uint32_t i = 0; i < migration->count; i++) {
    push_report(L, &migration->changes[i].report);
    spawners_report(L, SWAP_WORLD, SWAP_ENTRY + 1, &migration->changes[i]);
    lua_setfield(L, SWAP_ENTRY, migration->changes[i].component->name);
  }
  lua_settop(L, SWAP_ENTRY);
  lua_pushinteger(L, (lua_Integer)group);
  return 2;
}

/* Commits, which makes no Lua object, since everything exists; or drops what was built. */
static void swap_end(lua_State *L, struct world_box *box, bool swapped) {
  struct registration *entry;
  if (swapped) transaction_commit(&box->stage->transaction);
  for (uint32_t at = 0; swapped && swap_next(L, SWAP_LIST, FRESH(REGISTERED_QUERY), &at);)
    ((struct query_box *)swap_push_object(L))->pending = false;
  const uint32_t leaving = swapped ? EITHER(REGISTERED_INDEX) : 0;
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LEAVING, leaving, &at));) {
    ecs_index *index = index_named(box->world, entry->name, strlen(entry->name));
    if (index) index_remove(index);
  }
  for (uint32_t at = 0; (entry = swap_next(L, SWAP_LIST, FRESH(REGISTERED_INDEX), &at));) {
    if (entry->index && swapped)
      index_enter(box->world, entry->index);
    else if (entry->index)
      index_free(entry->index);
    entry->index = NULL;
  }
  for (uint32_t at = 0; swap_next(L, SWAP_LIST, FRESH(REGISTERED_VIEW), &at);) {
    struct view_box *view = swap_push_object(L);
    if (view->component) continue;
    if (swapped)
      view->component = component_of(box->world, view->id);
    else
      view->id = ECS_NULL;
  }
  stage_drop(box);
}

/* native.swap(world, registered, leaving, options): the reports by component, the group, and what
** failed when prefabs were declared after the swap, if anything did; raises what is refused.
**   registered   what there is afterwards, in order: registrations of this reading, and those that
**                an earlier swap was given and whose files have not run
**   leaving      those of earlier swaps that go, and names of components that are dropped
**   options      check: nothing is swapped; group: what an earlier swap returned; files: keys are
**                the paths of those that ran */
int ecs_native_swap(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  if (!box->stage) luaL_error(L, "no scripts are being read");
  lua_settop(L, SWAP_OPTIONS);
  need_stack(L, 16);
  swap_check_registrations(L, box, SWAP_LIST);
  swap_check_registrations(L, box, SWAP_LEAVING);
  luaL_checktype(L, SWAP_OPTIONS, LUA_TTABLE);
  bool only_check = option(L, SWAP_OPTIONS, "check") != LUA_TNIL;
  for (int i = SWAP_WORLD; i <= SWAP_OPTIONS; i++) lua_pushvalue(L, i);
  int status = try_quietly(L, box, swap_prepare, 4, 2);
  lua_Integer group = status == LUA_OK ? lua_tointeger(L, -1) : 0;
  if (status == LUA_OK) lua_pop(L, 1);
  lua_replace(L, SWAP_REPORTS);
  bool swapped = status == LUA_OK && !only_check;
  swap_end(L, box, swapped);
  lua_settop(L, SWAP_REPORTS);
  systems_sweep(L, box, SWAP_WORLD);
  if (status != LUA_OK) return lua_error(L);
  settle(L, box, SWAP_WORLD);
  lua_pushnil(L);
  lua_replace(L, SWAP_PROBLEM);
  if (swapped && box->world) {
    systems_compile(L, SWAP_WORLD);
    swap_declare_prefabs(L);
    for (uint32_t at = 0; swap_next(L, SWAP_LIST, UINT32_MAX, &at);)
      ((struct registration *)lua_touserdata(L, SWAP_ENTRY))->kept = true;
  }
  lua_settop(L, SWAP_REPORTS);
  lua_pushinteger(L, group);
  lua_pushvalue(L, SWAP_PROBLEM);
  return 3;
}
