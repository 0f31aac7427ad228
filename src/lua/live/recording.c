/* While scripts are read there is a stage: a transaction, with records of registrations.
**
** Components are declared in the transaction at once, so that later files can name them. The rest
** is built by the swap, since what it names exists only then: a registration keeps its name, a
** private copy of its options, and where it was made. A recorder in Lua is called for each and
** returns its owner. */

#include <lauxlib.h>

#include "core/change/declare.h"
#include "core/change/transact.h"
#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

const char kind_registration = 0;

/* ---- what scripts register ----------------------------------------------------------------- */

/* The recorder's names for kinds of registrations. */
static const char *const registered_names[] = {
    [REGISTERED_COMPONENT] = "component", [REGISTERED_PHASE] = "phase",
    [REGISTERED_SYSTEM] = "system",       [REGISTERED_OBSERVER] = "observer",
    [REGISTERED_INDEX] = "index",         [REGISTERED_PREFAB] = "prefab",
    [REGISTERED_QUERY] = "query",         [REGISTERED_VIEW] = "res",
    [REGISTERED_ARRAY] = "array",         [REGISTERED_INDEX_NAME] = "index_of",
};

/* Pops a value that the registration at an index keeps. Returns its text, if it is a string. */
static const char *recording_keep(lua_State *L, int index, int place) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  lua_setiuservalue(L, index, place);
  return text;
}

/* Whether the world had a component that is still declared, or something else with this name,
** before scripts were read. */
static bool recording_had(const struct world_box *box, enum registered kind, const char *name) {
  const ecs_world *world = box->world;
  size_t size = strlen(name);
  switch (kind) {
    case REGISTERED_COMPONENT: return transaction_had(&box->stage->transaction, name);
    case REGISTERED_PHASE:
      return schedule_phase(world, name, NULL) && !phase_is_builtin(name);
    case REGISTERED_SYSTEM:
    case REGISTERED_OBSERVER: return schedule_system(world, name, size);
    case REGISTERED_INDEX: return index_named(world, name, size);
    default: return false;
  }
}

/* recorder(kind, name, registration, value, had, had_old) returns whether the name is foreign, and
** the owner's path. For a component, had_old says whether the world had its former name. */
bool stage_record(lua_State *L, struct world_box *box, enum registered kind, int name, int value) {
  name = lua_absindex(L, name);
  value = lua_absindex(L, value);
  need_stack(L, 12);
  struct registration *entry =
      new_box(L, &kind_registration, sizeof *entry, REGISTERED_VALUES);
  int index = lua_gettop(L);
  entry->box = box;
  entry->kind = kind;
  lua_pushvalue(L, name);
  entry->name = recording_keep(L, index, REGISTERED_NAME);
  lua_pushvalue(L, value);
  recording_keep(L, index, REGISTERED_VALUE);
  luaL_where(L, 1);
  entry->where = recording_keep(L, index, REGISTERED_WHERE);
  lua_getiuservalue(L, 1, WORLD_STAGE);
  lua_pushstring(L, registered_names[kind]);
  lua_pushvalue(L, name);
  lua_pushvalue(L, index);
  lua_pushvalue(L, value);
  lua_pushboolean(L, recording_had(box, kind, entry->name));
  if (kind == REGISTERED_COMPONENT) {
    bool renames = option(L, value, "old_name") == LUA_TSTRING;
    bool had = renames && transaction_had(&box->stage->transaction, lua_tostring(L, -1));
    lua_pushboolean(L, had);
    lua_replace(L, -2);
  }
  lua_call(L, lua_gettop(L) - index - 1, 2);
  entry->owner = recording_keep(L, index, REGISTERED_OWNER);
  bool foreign = lua_toboolean(L, -1);
  lua_settop(L, index - 1);
  return foreign;
}

/* Pushes a copy of the table at an index, which the script may later change; or nil. */
static void stage_push_copy(lua_State *L, int index) {
  if (!lua_istable(L, index)) {
    lua_pushnil(L);
    return;
  }
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, index);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
}

void stage_options(lua_State *L, struct world_box *box, enum registered kind) {
  lua_settop(L, 3);
  stage_push_copy(L, 3);
  stage_record(L, box, kind, 2, 4);
}

bool stage_announce(lua_State *L, struct world_box *box, int name, int fields) {
  if (!box->stage) return false;
  if (!fields) lua_newtable(L);
  return stage_record(L, box, REGISTERED_COMPONENT, name, fields ? fields : -1);
}

bool stage_put_off(lua_State *L, const struct world_box *box, int fields, const char *kind,
                   bool foreign) {
  int top = lua_gettop(L);
  if (!box->stage) return false;
  need_stack(L, 8);
  lua_getiuservalue(L, 1, WORLD_STAGE);
  lua_pushliteral(L, "missing");
  lua_pushvalue(L, 2);
  lua_pushvalue(L, top);
  lua_pushvalue(L, fields);
  lua_pushboolean(L, foreign);
  lua_pushstring(L, kind);
  lua_call(L, 6, 1);
  bool kept = lua_toboolean(L, -1);
  lua_settop(L, top);
  return kept;
}

ecs_status stage_declare(const struct world_box *box, const ecs_component_desc *desc,
                         bool foreign, ecs_id *id) {
  struct transaction *transaction = &box->stage->transaction;
  uint32_t changes = transaction->migration.count;
  ecs_status status = transaction_declare(transaction, desc, id);
  if (status != ECS_OK || !foreign || transaction->migration.count == changes) return status;
  return world_fail(box->world, ECS_EINVAL, "%s '%s' is declared outside the scripts with %s",
                    desc->length ? "array" : desc->event ? "event" : "component", desc->name,
                    desc->length ? "another type or length" : "other fields");
}

ecs_status stage_tag(const struct world_box *box, const char *name, bool foreign, ecs_id *id) {
  ecs_component_desc desc;
  ecs_status status = declare_as_tag(box->world, &box->stage->transaction.migration, name, &desc);
  return status == ECS_OK ? stage_declare(box, &desc, foreign, id) : status;
}

/* Copies the current variables. */
void stage_query(lua_State *L, struct world_box *box) {
  query_box_push(L, box, 1)->pending = true;
  stage_push_copy(L, 3);
  lua_setiuservalue(L, -2, QUERY_VARIABLES_GIVEN);
  stage_record(L, box, REGISTERED_QUERY, 2, -1);
}

void stage_view(lua_State *L, struct world_box *box) {
  /* An existing resource is read at once; resource_view also reports an invalid name. */
  size_t size;
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : NULL;
  const struct component *component = name ? component_find(box->world, name, size) : NULL;
  if (!name || (component && component->resource)) {
    resource_view(L, box);
  } else {
    check_text(L, 2, NULL);
    view_push_pending(L, box);
  }
  if (lua_type(L, 2) == LUA_TSTRING) stage_record(L, box, REGISTERED_VIEW, 2, 3);
}

/* ---- the reading --------------------------------------------------------------------------- */

void stage_drop(struct world_box *box) {
  struct stage *stage = box->stage;
  if (!stage) return;
  ecs_world *world = stage->transaction.world;
  struct memory *memory = &world->memory;
  box->stage = NULL;
  box->calls++;
  if (!stage->transaction.committed) world->chance = stage->chance;
  transaction_end(&stage->transaction);
  memory_free(memory, stage, sizeof *stage);
}

/* native.stage(world, recorder, body): calls body(world) with registrations staged, and returns its
** results. What body has not swapped in is forgotten, however body ends: that needs no memory. */
int ecs_native_stage(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  loops_finish(L, box);
  raise_failure(L, box->world, world_is_idle(box->world, "reading scripts"));
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 1, WORLD_STAGE);
  need_stack(L, 4);
  struct stage *stage = memory_array(box->memory, 1, sizeof *stage);
  if (!stage) return raise_memory(L);
  transaction_begin(&stage->transaction, box->world);
  stage->chance = box->world->chance;
  box->stage = stage;   /* from here on methods only record registrations */
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
