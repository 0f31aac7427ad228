/* Where such a change means nothing but rows to move it is done by tables, else each entity's
** is staged, as the methods of the world do it. */
#include "lua/change_rows.h"

#include "core/store/entity.h"
#include "core/store/entity_change.h"
#include "core/store/query.h"
#include "core/store/some_rows.h"
#include "core/store/world.h"
#include "ecs_query.h"
#include "lua/at_once.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/names.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/lua_query.h"
#include "lua/slot.h"
#include "lua/where.h"

/* What is done to each entity, and by which method. */
struct change {
  enum rows_change kind;
  const char *method;
  ecs_id component;            /* ECS_NULL for a despawn */
  bool simple;                 /* neither ties nor values go with it: the core may do it alone */
};

/* ---- one by one ---- */

static ecs_status change_one(ecs_world *world, const struct change *change, ecs_id id) {
  switch (change->kind) {
    case ROWS_ADD: return entity_add(world, id, change->component);
    case ROWS_REMOVE: return entity_remove(world, id, change->component);
    default: return entity_despawn(world, id);
  }
}

/* A body's arguments: the loop, the change, and those that follow the entity. */
enum { AT_LOOP = 1, AT_CHANGE, AT_ARGUMENTS };

/* Pushes the method and its world; returns how many arguments there are. */
static int push_world_method(lua_State *L, const struct change *change) {
  int arguments = lua_gettop(L) - AT_CHANGE;
  need_stack(L, arguments + 12);
  lua_getiuservalue(L, AT_LOOP, LOOP_WORLD);
  lua_getfield(L, -1, change->method);
  return arguments;
}

/* Stages it for one entity; where that fails the method, at the index behind its world's, says
** why. */
static void stage_one(lua_State *L, const struct loop_box *loop, const struct change *change,
                      ecs_id id, int arguments) {
  int world = AT_ARGUMENTS + arguments;
  if (change->simple && change_one(loop->box->world, change, id) == ECS_OK) return;
  lua_pushvalue(L, world + 1);
  lua_pushvalue(L, world);
  lua_pushinteger(L, (lua_Integer)id);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, AT_ARGUMENTS + i);
  lua_call(L, arguments + 2, 0);
  if (!loop->open) loop_gone(L, loop);
}

/* body(loop, change, ...) */
static int change_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, AT_LOOP);
  const struct change *change = lua_touserdata(L, AT_CHANGE);
  int arguments = push_world_method(L, change);
  for (ecs_id last = ECS_NULL; source_next(L, loop);)
    for (uint32_t row = source_row(loop, 0); row < loop->count; row = source_row(loop, row + 1)) {
      ecs_id id = loop_entity(loop, row);
      if (id != last) stage_one(L, loop, change, id, arguments);
      last = id;
    }
  return 0;
}

/* ---- by tables ---- */

/* Whether rows may move as soon as there are no more scopes than so many. */
static bool goes_by_tables(const struct query_box *query, const struct change *change,
                           uint32_t scopes) {
  const ecs_world *world = query->box->world;
  return change->simple && world->staging.open == scopes &&
         rows_are_whole(&query->query->terms) &&
         rows_are_plain(world, change->kind, change->component);
}

/* Whether rows of components are among those that are to die: they are refused one by one. */
static bool refuses_some(const struct query_box *query, const struct change *change) {
  for (uint32_t i = 0; change->kind == ROWS_DESPAWN && i < query_reach(query->query); i++)
    if (rows_have_component(query_table(query->query, i))) return true;
  return false;
}

static ecs_status change_query(ecs_query *query, const struct change *change) {
  switch (change->kind) {
    case ROWS_ADD: return ecs_query_add(query, change->component);
    case ROWS_REMOVE: return ecs_query_remove(query, change->component);
    default: return ecs_query_despawn(query);
  }
}

/* All rows of the query at 1. */
static void change_whole(lua_State *L, const struct query_box *query,
                         const struct change *change) {
  struct world_box *box = query->box;
  bool tried = false;
  ecs_status status;
  do
    status = change_query(query->query, change);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  settle(L, box, push_query_world(L, 1));
}

/* Rows that a predicate has let through: a list, in memory at an index, with the bits that it names
** in a table behind that. */
struct picked {
  int index;
  uint32_t count, capacity;
  struct some_rows *list;
};

static void pick(lua_State *L, struct loop_box *loop, struct picked *picked) {
  if (picked->count == picked->capacity) {
    uint32_t capacity = picked->capacity ? 2 * picked->capacity : 16;
    struct some_rows *list = lua_newuserdatauv(L, capacity * sizeof *list, 0);
    if (picked->count) memcpy(list, picked->list, picked->count * sizeof *list);
    lua_replace(L, picked->index);
    picked->list = list;
    picked->capacity = capacity;
  }
  lua_getiuservalue(L, AT_LOOP, LOOP_FILTER);
  uint64_t *bits = lua_touserdata(L, -1);
  lua_rawseti(L, picked->index + 1, (lua_Integer)picked->count + 1);
  if (!loop->open) loop_gone(L, loop);
  assert(loop->filter == bits && loop->rows == loop->table->rows);
  if (loop->count % 64) bits[loop->count / 64] &= (UINT64_C(1) << loop->count % 64) - 1;
  picked->list[picked->count++] = (struct some_rows){loop->table->index, bits};
}

/* The predicate has given commands. */
static void stage_picked(lua_State *L, const struct loop_box *loop, const struct change *change,
                         const struct picked *picked, int arguments) {
  for (uint32_t i = 0; i < picked->count; i++) {
    const uint64_t *bits = picked->list[i].bits;
    const struct table *table = world_table(loop->box->world, picked->list[i].table);
    for (uint32_t row = 0, count = table->count; row < count; row++)
      if (bits[row / 64] >> row % 64 & 1)
        stage_one(L, loop, change, entity_id(loop->entities, table->rows[row]), arguments);
  }
}

/* body(loop, change, ...): rows move when all of them have been asked, before the loop ends. */
static int pick_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, AT_LOOP);
  const struct change *change = lua_touserdata(L, AT_CHANGE);
  int arguments = push_world_method(L, change);
  struct picked picked = {.index = lua_gettop(L) + 1};
  lua_pushnil(L);
  lua_newtable(L);
  if (!loop->open) loop_gone(L, loop);
  while (source_next(L, loop)) pick(L, loop, &picked);
  if (!goes_by_tables(loop->query, change, 1)) {
    stage_picked(L, loop, change, &picked, arguments);
    return 0;
  }
  bool tried = false;
  ecs_status status;
  do
    status = rows_change(loop->box->world, change->kind, change->component, picked.list,
                         picked.count);
  while (retry(L, loop->box, status, &tried));
  if (status != ECS_OK) raise_status(L, loop->box->world, status);
  return 0;
}

/* ---- the methods ---- */

/* The query and its predicate are at 1 and behind the arguments. Observers hear what a predicate
** sets and what then changes in the order in which it came. */
static void run(lua_State *L, const struct query_box *query, int filter,
                struct change *change) {
  bool filtered = !lua_isnil(L, filter);
  int arguments = filter - 2;
  check_free(L, query->box);
  bool at_once = goes_by_tables(query, change, 0) && !refuses_some(query, change);
  if (at_once && !filtered) {
    change_whole(L, query, change);
    return;
  }
  at_once = at_once && !query->box->world->staging.watched;
  need_stack(L, arguments + 8);
  lua_pushlightuserdata(L, change);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  source_run(L, filter, at_once ? pick_body : change_body, arguments + 1);
}

static int change(lua_State *L, enum rows_change kind, const char *method) {
  int arguments = lua_gettop(L) > 1 ? lua_gettop(L) - 1 : 0;
  const struct query_box *query = check_entities(L, arguments + 1);
  int filter = lua_gettop(L);
  if (arguments == 0) luaL_argerror(L, 2, "value expected");
  /* It is known before any row is, so that an error names this call's argument. */
  const struct component *component = check_component(L, query->box, 2);
  if (arguments > 1 && !component->relation)
    luaL_argerror(L, 3, "one component expected: call it for each");
  struct change change = {kind, method, component->id, arguments == 1 && !component->relation};
  run(L, query, filter, &change);
  return 0;
}

int query_despawn(lua_State *L) {
  struct change change = {ROWS_DESPAWN, "despawn", ECS_NULL, true};
  bool more = !lua_isnoneornil(L, 2);
  const struct query_box *query = check_entities(L, 1);
  if (more)
    luaL_argerror(L, 2, "it despawns all that the query finds: world:despawn(entity) takes one");
  run(L, query, lua_gettop(L), &change);
  return 0;
}

int query_add(lua_State *L) { return change(L, ROWS_ADD, "add"); }
int query_remove(lua_State *L) { return change(L, ROWS_REMOVE, "remove"); }
