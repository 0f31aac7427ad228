#include <lauxlib.h>

#include "core/change/declare.h"
#include "core/change/transact.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "ecs_system.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

/* ---- what registering does now ------------------------------------------------------------- */

/* Tells who reads about a registration: recorder(kind, name, value, where), with the stack indices
** of name and value, and "file:line: " of the call. The world is at 1. It may raise; true when the
** name is not the scripts' own. */
static bool recording_record(lua_State *L, const char *kind, int name, int value) {
  name = lua_absindex(L, name);
  value = lua_absindex(L, value);
  need_stack(L, 6);
  lua_getiuservalue(L, 1, WORLD_STAGE);
  lua_pushstring(L, kind);
  lua_pushvalue(L, name);
  lua_pushvalue(L, value);
  luaL_where(L, 1);
  lua_call(L, 4, 1);
  bool foreign = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return foreign;
}

static bool recording_announce(lua_State *L, int name, int fields) {
  if (fields) return recording_record(L, "component", name, fields);
  lua_newtable(L);
  bool foreign = recording_record(L, "component", name, -1);
  lua_pop(L, 1);
  return foreign;
}

static void record_missing(lua_State *L, int name, const char *type) {
  name = lua_absindex(L, name);
  lua_pushstring(L, type);
  recording_record(L, "missing", name, -1);
  lua_pop(L, 1);
}

/* Declares in the transaction; a foreign component cannot change. */
static ecs_status stage_component(const struct world_box *box, const ecs_component_desc *desc,
                                  bool foreign, ecs_id *id) {
  struct transaction *transaction = &box->stage->transaction;
  uint32_t changes = transaction->migration.count;
  bool made;
  ecs_status status = transaction_declare(transaction, desc, id, &made);
  if (status != ECS_OK || !foreign || transaction->migration.count == changes) return status;
  return world_fail(box->world, ECS_EINVAL, "%s '%s' is declared outside the scripts with %s",
                    desc->length ? "array" : desc->event ? "event" : "component", desc->name,
                    desc->length ? "another type or length" : "other fields");
}

static ecs_status stage_declare(lua_State *L, struct world_box *box,
                                const ecs_component_desc *desc, bool foreign, ecs_id *id) {
  ecs_status status = stage_component(box, desc, foreign, id);
  if (status == ECS_OK) lua_pushnil(L);
  return status;
}

static ecs_status stage_tag(struct world_box *box, const char *name, bool foreign, ecs_id *id) {
  ecs_component_desc desc;
  ecs_status status = declare_as_tag(box->world, &box->stage->transaction.migration, name, &desc);
  return status == ECS_OK ? stage_component(box, &desc, foreign, id) : status;
}

static ecs_status stage_resource(struct world_box *box, ecs_id id) {
  return transaction_resource(&box->stage->transaction, id);
}

/* The transaction forgets what it has not committed. */
static void forget_later(struct world_box *box, ecs_id id) { (void)box, (void)id; }

static void record_phase(lua_State *L, struct world_box *box, const ecs_phase_desc *desc) {
  (void)box, (void)desc;
  recording_record(L, "phase", 2, 3);
}

/* Pushes a copy of a table: the script may use its own for something else. */
static void push_copy(lua_State *L, int index) {
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, index);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
}

/* Keeps a copy of a spec that makes sense. */
static void record_spec(lua_State *L, const char *kind) {
  lua_settop(L, 3);
  push_copy(L, 3);
  recording_record(L, kind, 2, 4);
}

static void record_system(lua_State *L, struct world_box *box) {
  system_check_spec(L, box);
  record_spec(L, "system");
}

static void record_observer(lua_State *L, struct world_box *box) {
  observer_check_spec(L, box);
  record_spec(L, "observer");
}

/* The variables as they are now. */
static void recording_push_given(lua_State *L, int index) {
  if (lua_istable(L, index))
    push_copy(L, index);
  else
    lua_pushnil(L);
}

/* A query that is one when all scripts have been read. */
static void record_query(lua_State *L, struct world_box *box, const char *text) {
  (void)text;
  query_box_push(L, box, 1)->pending = true;
  recording_push_given(L, 3);
  lua_setiuservalue(L, -2, QUERY_VARIABLES_GIVEN);
  recording_record(L, "query", 2, -1);
}

/* Whether argument 2 names a resource already; of what is no name resource_view tells. */
static bool is_resource(lua_State *L, const struct world_box *box) {
  size_t size;
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : NULL;
  const struct component *component = name ? component_find(box->world, name, size) : NULL;
  return !name || (component && component->resource);
}

static void record_view(lua_State *L, struct world_box *box) {
  size_t size;
  if (is_resource(L, box)) {
    resource_view(L, box);
  } else {
    check_text(L, 2, &size);
    view_push_pending(L, box);
  }
  if (lua_type(L, 2) == LUA_TSTRING) recording_record(L, "res", 2, 3);
}

static void record_array(lua_State *L, struct world_box *box) {
  array_pending(L, box);
  recording_record(L, "array", 2, 3);
}

static void record_index(lua_State *L, struct world_box *box) {
  index_check_spec(L, box);
  push_copy(L, 3);
  recording_record(L, "index", 2, 4);
  index_push(L, box);
}

/* It is looked for when all scripts have been read. */
static void record_index_of(lua_State *L, struct world_box *box) {
  index_push(L, box);
  recording_record(L, "index_of", 2, -1);
}

/* The entities that it says, as they are now. */
static void record_prefab(lua_State *L, struct world_box *box) {
  (void)box;
  prefab_push_list(L);
  recording_record(L, "prefab", 2, -1);
  lua_pushnil(L);
}

static const struct registrar registrar_recorded = {
  .announce = recording_announce,
  .missing = record_missing,
  .declare = stage_declare,
  .tag = stage_tag,
  .resource = stage_resource,
  .forget = forget_later,
  .phase = record_phase,
  .system = record_system,
  .observer = record_observer,
  .query = record_query,
  .view = record_view,
  .array = record_array,
  .index = record_index,
  .index_of = record_index_of,
  .prefab = record_prefab,
};

/* ---- the reading --------------------------------------------------------------------------- */

void stage_drop(struct world_box *box) {
  struct stage *stage = box->stage;
  if (!stage) return;
  ecs_world *world = stage->transaction.world;
  struct memory *memory = &world->memory;
  box->stage = NULL;
  box->registrar = &registrar_now;
  box->calls++;
  if (!stage->transaction.committed) world->chance = stage->chance;
  transaction_end(&stage->transaction);
  memory_free(memory, stage->queries, stage->query_capacity * sizeof *stage->queries);
  memory_free(memory, stage->views, stage->view_capacity * sizeof *stage->views);
  while (stage->entered < stage->index_count) index_free(stage->indexes[stage->entered++]);
  memory_free(memory, stage->indexes, stage->index_capacity * sizeof *stage->indexes);
  memory_free(memory, stage->leaving, stage->leaving_capacity * sizeof *stage->leaving);
  memory_free(memory, stage, sizeof *stage);
}

/* From here on methods record what they would register. False when there is no memory. */
static bool stage_begin(struct world_box *box) {
  struct stage *stage = memory_array(box->memory, 1, sizeof *stage);
  if (!stage) return false;
  transaction_begin(&stage->transaction, box->world);
  stage->chance = box->world->chance;
  box->stage = stage;
  box->registrar = &registrar_recorded;
  return true;
}

/* native.stage(world, recorder, body): calls body(world) with registrations staged, and returns
** what it returns. What body has not swapped in is forgotten, however body ends: that needs no
** memory. */
int ecs_native_stage(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  loops_finish(L, box);
  ecs_status status = world_is_idle(box->world, "reading scripts");
  if (status != ECS_OK) return raise_status(L, box->world, status);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 1, WORLD_STAGE);
  need_stack(L, 4);
  if (!stage_begin(box)) return raise_memory(L);
  lua_pushvalue(L, 1);
  int ended = lua_pcall(L, 1, LUA_MULTRET, 0);
  stage_drop(box);
  lua_pushnil(L);
  lua_setiuservalue(L, 1, WORLD_STAGE);
  if (box->world) systems_sweep(L, box, 1);
  if (ended != LUA_OK) return lua_error(L);
  settle(L, box, 1);
  return lua_gettop(L) - 2;
}

static bool recording_is_declared(const ecs_world *world, const char *name, size_t size) {
  const struct component *component = component_find(world, name, size);
  return component && !component->orphan;
}

int ecs_native_declared(lua_State *L) {
  const ecs_world *world = check_world(L, 1)->world;
  size_t size;
  const char *kind = check_text(L, 3, &size), *name = check_text(L, 2, &size);
  bool known = false;
  if (strcmp(kind, "component") == 0)
    known = recording_is_declared(world, name, size);
  else if (strcmp(kind, "phase") == 0)
    known = schedule_phase(world, name, size, NULL);
  else if (strcmp(kind, "system") == 0)
    known = schedule_system(world, name, size);
  else if (strcmp(kind, "index") == 0)
    known = index_named(world, name, size);
  else
    return luaL_argerror(L, 3, "\"component\", \"phase\", \"system\" or \"index\" expected");
  lua_pushboolean(L, known);
  return 1;
}

/* ---- registrar ---- */

/* Registering now; the other table is in recording.c. */

static bool announce_to_nobody(lua_State *L, int name, int fields) {
  (void)L, (void)name, (void)fields;
  return false;
}

static void miss_nothing(lua_State *L, int name, const char *type) {
  (void)L, (void)name, (void)type;
}

const struct registrar registrar_now = {
  .announce = announce_to_nobody,
  .missing = miss_nothing,
  .declare = declare_now,
  .tag = tag_now,
  .resource = resource_now,
  .forget = forget_now,
  .phase = phase_now,
  .system = system_now,
  .observer = observer_now,
  .query = query_now,
  .view = resource_view,
  .array = array_now,
  .index = index_now,
  .index_of = index_of_name,
  .prefab = prefab_now,
};
