/* Changes of all entities of a query. If a change only moves rows, it is made table by table;
** otherwise it is staged for each entity, as by the world's methods. */
#include "lua/api/api.h"

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/row.h"
#include "ecs_query.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

/* The change to each entity, and its method. */
struct row_change {
  enum command_kind kind;
  const char *method;
  ecs_id component;            /* ECS_NULL for a despawn */
  bool simple;                 /* without ties and values: the core can do it alone */
};

/* ---- one by one ---- */

static ecs_status change_one(ecs_world *world, const struct row_change *change, ecs_id id) {
  switch (change->kind) {
    case COMMAND_ADD: return entity_add(world, id, change->component);
    case COMMAND_REMOVE: return entity_remove(world, id, change->component);
    default: return entity_despawn(world, id);
  }
}

/* A body's arguments: the loop, the change, and those after the entity. */
enum { AT_LOOP = 1, AT_CHANGE, AT_ARGUMENTS };

/* Stages the change for one entity; on failure, the method after its world on the stack says
** why. */
static void change_rows_stage_one(lua_State *L, const struct loop_box *loop,
                                  const struct row_change *change, ecs_id id, int arguments) {
  int world = AT_ARGUMENTS + arguments;
  if (change->simple && change_one(loop->box->world, change, id) == ECS_OK) return;
  lua_pushvalue(L, world + 1);
  lua_pushvalue(L, world);
  lua_pushinteger(L, (lua_Integer)id);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, AT_ARGUMENTS + i);
  lua_call(L, arguments + 2, 0);
  if (!loop->open) loop_gone(L, loop);
}

/* Defers rows of the loop's table together; false if they must be staged one by one. */
static bool defer_rows(lua_State *L, const struct loop_box *loop, const struct row_change *change) {
  ecs_world *world = loop->box->world;
  struct table *table = world_table(world, loop->table->index);
  if (!change->simple || !query_rows_are_whole(&loop->query->query->terms) ||
      !batch_takes_rows(world, change->kind, change->component, table))
    return false;
  assert(loop->rows == table->rows && loop->count == table->count);
  RETRY_OR_RAISE(L, loop->box,
                 batch_put_rows(world, change->kind, change->component, table, loop->filter));
  return true;
}

/* body(loop, change, ...) */
static int change_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, AT_LOOP);
  const struct row_change *change = lua_touserdata(L, AT_CHANGE);
  int arguments = lua_gettop(L) - AT_CHANGE;
  need_stack(L, arguments + 12);
  lua_getiuservalue(L, AT_LOOP, LOOP_WORLD);
  lua_getfield(L, -1, change->method);
  for (ecs_id last = ECS_NULL; source_next(L, loop);) {
    if (defer_rows(L, loop, change)) continue;
    for (uint32_t row = source_row(loop, 0); row < loop->count; row = source_row(loop, row + 1)) {
      ecs_id id = loop_entity(loop, row);
      if (id != last) change_rows_stage_one(L, loop, change, id, arguments);
      last = id;
    }
  }
  return 0;
}

/* ---- by tables ---- */

static ecs_status change_query(ecs_query *query, const struct row_change *change) {
  switch (change->kind) {
    case COMMAND_ADD: return ecs_query_add(query, change->component);
    case COMMAND_REMOVE: return ecs_query_remove(query, change->component);
    default: return ecs_query_despawn(query);
  }
}

/* ---- the methods ---- */

/* The query and its predicate are at 1 and after the arguments. */
static void run_change(lua_State *L, const struct query_box *query, int filter,
                struct row_change *change) {
  int arguments = filter - 2;
  const ecs_world *world = query->box->world;
  check_free(L, query->box);
  if (lua_isnil(L, filter) && change->simple && !staging_is_open(&world->staging) &&
      query_rows_are_whole(&query->query->terms) &&
      batch_is_plain(world, change->kind, change->component) &&
      !(change->kind == COMMAND_DESPAWN && query_reaches_components(query->query))) {
    RETRY_OR_RAISE(L, query->box, change_query(query->query, change));
    settle(L, query->box, push_query_world(L, 1));
    return;
  }
  need_stack(L, arguments + 8);
  lua_pushlightuserdata(L, change);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  source_run(L, filter, change_body, arguments + 1);
}

static int change_entities(lua_State *L, enum command_kind kind, const char *method) {
  int arguments = lua_gettop(L) > 1 ? lua_gettop(L) - 1 : 0;
  const struct query_box *query = check_entities(L, arguments + 1);
  int filter = lua_gettop(L);
  if (arguments == 0) luaL_argerror(L, 2, "value expected");
  /* Checked before any row, so that an error names this call's argument. */
  const struct component *component = check_component(L, query->box, 2);
  if (arguments > 1 && !component->relation)
    luaL_argerror(L, 3, "one component expected: call it for each");
  struct row_change change = {kind, method, component->id, arguments == 1 && !component->relation};
  run_change(L, query, filter, &change);
  return 0;
}

int query_despawn(lua_State *L) {
  struct row_change change = {COMMAND_DESPAWN, "despawn", ECS_NULL, true};
  bool more = !lua_isnoneornil(L, 2);
  const struct query_box *query = check_entities(L, 1);
  if (more)
    luaL_argerror(L, 2, "it despawns all that the query finds: use world:despawn(entity) for one");
  run_change(L, query, lua_gettop(L), &change);
  return 0;
}

int query_add(lua_State *L) { return change_entities(L, COMMAND_ADD, "add"); }
int query_remove(lua_State *L) { return change_entities(L, COMMAND_REMOVE, "remove"); }
