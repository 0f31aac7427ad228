#include "lua/lua_index.h"

#include "core/find/indexing.h"
#include "core/find/refresh.h"
#include "core/run/schedule.h"
#include "core/run/timetable.h"
#include "core/store/world.h"
#include "lua/bind/args.h"
#include "lua/bind/ids.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/index_loop.h"
#include "lua/system_run.h"
#include "core/base/text.h"

const char kind_index = 0;

/* ---- which one it is ------------------------------------------------------------------- */

struct index_box *index_push(lua_State *L, struct world_box *box) {
  struct index_box *object = new_box(L, &kind_index, sizeof *object, INDEX_VALUES);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, INDEX_WORLD);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, INDEX_NAME);
  object->box = box;
  return object;
}

struct ecs_index *index_find(lua_State *L, int index, struct index_box *object) {
  const ecs_world *world = object->box->world;
  if (!world || !world->finding) return NULL;
  if (LIKELY(object->index && object->version == world->finding->version)) return object->index;
  size_t size;
  lua_getiuservalue(L, index, INDEX_NAME);
  const char *name = lua_tolstring(L, -1, &size);
  object->index = index_named(world, name, size);
  object->version = world->finding->version;
  lua_pop(L, 1);
  return object->index;
}

static int no_index(lua_State *L, const struct index_box *object) {
  lua_getiuservalue(L, 1, INDEX_NAME);
  const char *name = lua_tostring(L, -1);
  return raise_error(L, object->box->world ? "index '%s' is no longer declared"
                                           : "index '%s': its world is closed", name);
}

/* The index whose object is argument 1. Counts a public call. */
static ecs_index *check_index(lua_State *L) {
  struct index_box *object = box_test(L, 1, &kind_index, sizeof *object);
  if (UNLIKELY(!object)) no_object(L, 1, &kind_index, "index");
  check_free(L, object->box);
  ecs_index *index = index_find(L, 1, object);
  if (UNLIKELY(!index)) no_index(L, object);
  object->box->calls++;
  return index;
}

/* ---- bringing it up to date ------------------------------------------------------------ */

/* A script's system says beforehand what it looks into. */
static void check_used(lua_State *L, const ecs_index *index) {
  const ecs_world *world = index->world;
  const ecs_system *system = world->running ? world->schedule->current : NULL;
  if (!system || !system_script(system)) return;
  raise_error(L, "index '%s' is not among those that system '%s' is known to look into: write uses "
              "= { \"%s\" } into its options", index->desc.name, system->name, index->desc.name);
}

static void refresh(lua_State *L, struct world_box *box, ecs_index *index) {
  if (LIKELY(index_is_fresh(index))) return;
  check_used(L, index);
  index_bring_up(L, box, index);
}

void index_bring_up(lua_State *L, struct world_box *box, ecs_index *index) {
  bool tried = false;
  ecs_status status;
  do
    status = index_refresh(index);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
}

/* ---- looking into it ------------------------------------------------------------------- */

static double check_number(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number");
  return (double)lua_tonumber(L, arg);
}

/* The place that arguments 2 and so on are; returns the argument behind it. */
static int check_place(lua_State *L, const ecs_index *index, double *at) {
  uint32_t axes = index->now->grid.axes;
  for (uint32_t i = 0; i < axes; i++) at[i] = check_number(L, (int)i + 2);
  return (int)axes + 2;
}

/* A number too many would be taken for another one. */
static void check_end(lua_State *L, const ecs_index *index, int arg) {
  if (lua_gettop(L) < arg) return;
  char text[160];
  text_format(text, sizeof text, "index '%s' is by %s of '%s': a number too many", index->desc.name,
              index->now->grid.axes == 3 ? "x, y and z" : "x and y", index->desc.grid);
  luaL_argerror(L, arg, text);
}

/* for ... in index:within(x, y, [z,] reach) */
static int index_within(lua_State *L) {
  ecs_index *index = check_index(L);
  struct world_box *box = ((struct index_box *)lua_touserdata(L, 1))->box;
  double at[GRID_AXES];
  refresh(L, box, index);
  int arg = check_place(L, index, at);
  double reach = check_number(L, arg);
  check_end(L, index, arg + 1);
  lua_settop(L, 1);
  return found_begin(L, box, index, at, reach);
}

/* index:nearest(x, y, [z,] reach, except): entity and distance, or nil */
static int index_nearest(lua_State *L) {
  ecs_index *index = check_index(L);
  struct world_box *box = ((struct index_box *)lua_touserdata(L, 1))->box;
  double at[GRID_AXES], distance;
  refresh(L, box, index);
  int arg = check_place(L, index, at);
  double reach = check_number(L, arg);
  ecs_id except = lua_isnoneornil(L, arg + 1) ? ECS_NULL : check_id(L, arg + 1);
  check_end(L, index, arg + 2);
  const struct copies *copies = &index->now->copies;
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t row = search_nearest(&index->now->grid, at, reach, &rivals, &distance);
  if (row == NONE) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, (lua_Integer)copies_entities(copies)[row]);
  lua_pushnumber(L, (lua_Number)distance);
  return 2;
}

static int index_tostring(lua_State *L) {
  struct index_box *object = lua_touserdata(L, 1);
  const ecs_index *index = index_find(L, 1, object);
  char text[128];
  if (index)
    text_format(text, sizeof text, "ecs.index (%s, by %s)", index->desc.name, index->desc.grid);
  else
    text_format(text, sizeof text, "ecs.index (stale)");
  lua_pushstring(L, text);
  return 1;
}

const luaL_Reg index_methods[] = {
  {"nearest", index_nearest}, {"within", index_within}, {NULL, NULL}};

const luaL_Reg index_metamethods[] = {{"__tostring", index_tostring}, {NULL, NULL}};
