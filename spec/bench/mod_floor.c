/* The floors of what is measured from Lua: the least that a C function can do for the same
** result, without checks but for those that are named. */
#define _POSIX_C_SOURCE 200112L

#include <lauxlib.h>
#include <lua.h>
#include <time.h>

#include "hand.h"

/* Seconds of processor time. */
static int now(lua_State *L) {
  lua_pushnumber(L, bench_now());
  return 1;
}

/* Seconds that have passed: what threads gain shows here alone, since the time of a process is
** that of all its threads. */
static int wall(lua_State *L) {
  struct timespec passed;
  clock_gettime(CLOCK_MONOTONIC, &passed);
  lua_pushnumber(L, (double)passed.tv_sec + (double)passed.tv_nsec * 1e-9);
  return 1;
}

/* A C call with one checked integer. */
static int touch(lua_State *L) {
  luaL_checkinteger(L, 1);
  return 0;
}

/* store(): a store by hand. */
static int store_new(lua_State *L) {
  struct hand *hand = lua_newuserdatauv(L, sizeof *hand, 0);
  hand_open(hand, 1);
  luaL_setmetatable(L, "bench.store");
  return 1;
}

static int store_free(lua_State *L) {
  struct hand *hand = lua_touserdata(L, 1);
  if (hand->tables) hand_close(hand);
  hand->tables = NULL;
  return 0;
}

/* spawn_many(store, n), as world:spawn_many(n, { Position = {}, Velocity = {} }): fills the
** columns, and an array of ids. */
static int spawn_many(lua_State *L) {
  struct hand *hand = luaL_checkudata(L, 1, "bench.store");
  uint32_t n = (uint32_t)luaL_checkinteger(L, 2);
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids);
  hand_spawn_many(hand, hand->tables[1], n, ids);
  lua_createtable(L, (int)n, 0);
  for (uint32_t i = 0; i < n; i++) {
    lua_pushinteger(L, (lua_Integer)ids[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  free(ids);
  return 1;
}

/* ---- loops ---- */

struct columns {
  uint32_t count;
  float *px, *py, *vx, *vy;
};

static int columns_free(lua_State *L) {
  struct columns *columns = lua_touserdata(L, 1);
  free(columns->px);
  columns->px = NULL;
  return 0;
}

/* columns(n): rows with Position { i, 2 * i } and Velocity { 1, 2 }. */
static int columns_new(lua_State *L) {
  uint32_t n = (uint32_t)luaL_checkinteger(L, 1);
  struct columns *columns = lua_newuserdatauv(L, sizeof *columns, 0);
  columns->count = n;
  columns->px = bench_resize(NULL, 4 * n * sizeof(float));
  columns->py = columns->px + n;
  columns->vx = columns->py + n;
  columns->vy = columns->vx + n;
  for (uint32_t i = 0; i < n; i++) {
    columns->px[i] = (float)(i + 1);
    columns->py[i] = (float)(2 * (i + 1));
    columns->vx[i] = 1;
    columns->vy[i] = 2;
  }
  luaL_setmetatable(L, "bench.columns");
  return 1;
}

static int columns_sum(lua_State *L) {
  const struct columns *columns = luaL_checkudata(L, 1, "bench.columns");
  double sum = 0;
  for (uint32_t i = 0; i < columns->count; i++)
    sum += (double)columns->px[i] + 3 * (double)columns->py[i];
  lua_pushnumber(L, sum);
  return 1;
}

/* fill(columns, x, y): two fields of all rows. */
static int fill(lua_State *L) {
  const struct columns *columns = luaL_checkudata(L, 1, "bench.columns");
  float x = (float)luaL_checknumber(L, 2), y = (float)luaL_checknumber(L, 3);
  for (uint32_t i = 0; i < columns->count; i++) columns->px[i] = x;
  for (uint32_t i = 0; i < columns->count; i++) columns->py[i] = y;
  return 0;
}

/* map(columns, fn, dt): four fields and dt in, two fields out. */
static int map(lua_State *L) {
  const struct columns *columns = luaL_checkudata(L, 1, "bench.columns");
  lua_Number dt = luaL_checknumber(L, 3);
  for (uint32_t i = 0; i < columns->count; i++) {
    lua_pushvalue(L, 2);
    lua_pushnumber(L, (lua_Number)columns->px[i]);
    lua_pushnumber(L, (lua_Number)columns->py[i]);
    lua_pushnumber(L, (lua_Number)columns->vx[i]);
    lua_pushnumber(L, (lua_Number)columns->vy[i]);
    lua_pushnumber(L, dt);
    lua_call(L, 5, 2);
    columns->px[i] = (float)lua_tonumber(L, -2);
    columns->py[i] = (float)lua_tonumber(L, -1);
    lua_pop(L, 2);
  }
  return 0;
}

struct view {
  float *fields[2];
  uint32_t row;
};

static int view_index(lua_State *L) {
  const struct view *view = lua_touserdata(L, 1);
  const char *key = lua_tostring(L, 2);
  lua_pushnumber(L, (lua_Number)view->fields[key[0] - 'x'][view->row]);
  return 1;
}

static int view_newindex(lua_State *L) {
  const struct view *view = lua_touserdata(L, 1);
  const char *key = lua_tostring(L, 2);
  view->fields[key[0] - 'x'][view->row] = (float)lua_tonumber(L, 3);
  return 0;
}

static struct view *push_view(lua_State *L, float *x, float *y) {
  struct view *view = lua_newuserdatauv(L, sizeof *view, 0);
  view->fields[0] = x;
  view->fields[1] = y;
  view->row = 0;
  luaL_setmetatable(L, "bench.view");
  return view;
}

/* each(columns, fn, dt): two views and dt. */
static int each(lua_State *L) {
  const struct columns *columns = luaL_checkudata(L, 1, "bench.columns");
  luaL_checknumber(L, 3);
  struct view *position = push_view(L, columns->px, columns->py);
  struct view *velocity = push_view(L, columns->vx, columns->vy);
  for (uint32_t i = 0; i < columns->count; i++) {
    position->row = velocity->row = i;
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 5);
    lua_pushvalue(L, 3);
    lua_call(L, 3, 0);
  }
  return 0;
}

/* visit(columns, fn): a view and a number of each row. */
static int visit(lua_State *L) {
  const struct columns *columns = luaL_checkudata(L, 1, "bench.columns");
  struct view *position = push_view(L, columns->px, columns->py);
  for (uint32_t i = 0; i < columns->count; i++) {
    position->row = i;
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_pushinteger(L, (lua_Integer)i);
    lua_call(L, 2, 0);
  }
  return 0;
}

static const luaL_Reg functions[] = {
  {"columns", columns_new},
  {"each", each},
  {"fill", fill},
  {"map", map},
  {"now", now},
  {"spawn_many", spawn_many},
  {"store", store_new},
  {"sum", columns_sum},
  {"touch", touch},
  {"visit", visit},
  {"wall", wall},
  {NULL, NULL}
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_mod_floor(lua_State *L);

int luaopen_mod_floor(lua_State *L) {
  luaL_newmetatable(L, "bench.columns");
  lua_pushcfunction(L, columns_free);
  lua_setfield(L, -2, "__gc");
  luaL_newmetatable(L, "bench.store");
  lua_pushcfunction(L, store_free);
  lua_setfield(L, -2, "__gc");
  luaL_newmetatable(L, "bench.view");
  lua_pushcfunction(L, view_index);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, view_newindex);
  lua_setfield(L, -2, "__newindex");
  luaL_newlib(L, functions);
  return 1;
}
