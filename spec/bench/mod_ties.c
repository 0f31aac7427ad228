/* The floors of kernels over ties, for Lua: the same work over columns of their own, by lists of
** rows that are made beforehand. */
#include <lauxlib.h>
#include <lua.h>

#include "bench.h"

#define COLUMNS 8
#define TABLE_ROWS 100u        /* of each table in `tables` */

struct record {
  uint32_t table, row;
};

/* Rows in columns, the order in which they are visited, and of each of these the parent's row. */
struct forest {
  uint32_t count;
  uint32_t visited;
  float *columns[COLUMNS];
  uint32_t *order, *parents;
  struct record *records;      /* by row, as if rows were entities' indices */
  uint16_t *generations;
};

static struct forest *check_forest(lua_State *L) { return luaL_checkudata(L, 1, "bench.forest"); }

static int forest_free(lua_State *L) {
  struct forest *forest = check_forest(L);
  for (int c = 0; c < COLUMNS; c++) free(forest->columns[c]);
  free(forest->order);
  free(forest->parents);
  free(forest->records);
  free(forest->generations);
  memset(forest, 0, sizeof *forest);
  return 0;
}

/* What a column holds in a row, from 1 on, for both sides. */
static double start_value(int column, lua_Integer row) {
  return (double)(row * (13 + 2 * column) % 17 - 8) / 16;
}

/* start(column, row) */
static int start(lua_State *L) {
  lua_pushnumber(L, start_value((int)luaL_checkinteger(L, 1), luaL_checkinteger(L, 2)));
  return 1;
}

/* The numbers of a list of rows, from 0 on; 0 in the list becomes UINT32_MAX. */
static uint32_t *list_at(lua_State *L, int at, uint32_t n) {
  uint32_t *list = bench_resize(NULL, (n + 1) * sizeof *list);
  for (uint32_t i = 0; i < n; i++) {
    lua_rawgeti(L, at, i + 1);
    list[i] = (uint32_t)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
  }
  return list;
}

/* forest(n, order, parents): parents by place in the order, 0 for none */
static int forest_new(lua_State *L) {
  uint32_t n = (uint32_t)luaL_checkinteger(L, 1);
  struct forest *forest = lua_newuserdatauv(L, sizeof *forest, 0);
  memset(forest, 0, sizeof *forest);
  luaL_setmetatable(L, "bench.forest");
  forest->count = n;
  forest->visited = (uint32_t)lua_rawlen(L, 2);
  forest->order = list_at(L, 2, forest->visited);
  forest->parents = list_at(L, 3, forest->visited);
  forest->records = bench_resize(NULL, (n + 1) * sizeof *forest->records);
  forest->generations = bench_resize(NULL, (n + 1) * sizeof *forest->generations);
  memset(forest->generations, 0, (n + 1) * sizeof *forest->generations);
  for (uint32_t i = 0; i < n; i++) forest->records[i] = (struct record){0, i};
  for (int c = 0; c < COLUMNS; c++) {
    forest->columns[c] = bench_resize(NULL, (n + 1) * sizeof(float));
    for (uint32_t i = 0; i < n; i++) forest->columns[c][i] = (float)start_value(c, i + 1);
  }
  return 1;
}

/* World { x, y, a, b } of Local { x, y, a, b } and the parent's World. */
static void transform(struct forest *forest, float dt) {
  float *const *world = forest->columns, *const *local = forest->columns + 4;
  (void)dt;
  for (uint32_t i = 0; i < forest->visited; i++) {
    uint32_t row = forest->order[i], up = forest->parents[i];
    float x = local[0][row], y = local[1][row], a = local[2][row], b = local[3][row];
    if (up != UINT32_MAX) {
      float pa = world[2][up], pb = world[3][up], lx = x, la = a;
      x = world[0][up] + pa * x - pb * y;
      y = world[1][up] + pb * lx + pa * y;
      a = pa * a - pb * b;
      b = pb * la + pa * b;
    }
    world[0][row] = x;
    world[1][row] = y;
    world[2][row] = a;
    world[3][row] = b;
  }
}

/* Position { x, y } by Velocity { x, y }, of the rows in the list. */
static void move(struct forest *forest, float dt) {
  float *const *columns = forest->columns;
  for (uint32_t i = 0; i < forest->visited; i++) {
    uint32_t row = forest->order[i];
    columns[0][row] += columns[2][row] * dt;
    columns[1][row] += columns[3][row] * dt;
  }
}

/* The same of all rows, table by table. */
static void tables(struct forest *forest, float dt) {
  for (uint32_t at = 0; at < forest->count; at += TABLE_ROWS) {
    float *x = forest->columns[0] + at, *y = forest->columns[1] + at;
    const float *vx = forest->columns[2] + at, *vy = forest->columns[3] + at;
    for (uint32_t i = 0; i < TABLE_ROWS && at + i < forest->count; i++) {
      x[i] += vx[i] * dt;
      y[i] += vy[i] * dt;
    }
  }
}

/* Velocity { x } by Position { x } of the entity in the list, found through its record, whose
** generation is compared. */
static void look(struct forest *forest, float dt) {
  float *const position[1] = {forest->columns[0]};
  for (uint32_t i = 0; i < forest->visited; i++) {
    uint32_t entity = forest->parents[i];
    if (entity >= forest->count || forest->generations[entity] != 0) continue;
    const struct record *record = &forest->records[entity];
    forest->columns[2][i] += position[record->table][record->row] * dt;
  }
}

/* run(forest, which, times, dt) */
static int run(lua_State *L) {
  static void (*const loops[])(struct forest *forest, float dt) = {transform, move, tables,
                                                                 look};
  struct forest *forest = check_forest(L);
  lua_Integer which = luaL_checkinteger(L, 2), times = luaL_checkinteger(L, 3);
  float dt = (float)luaL_checknumber(L, 4);
  luaL_argcheck(L, which >= 0 && which < 4, 2, "no such loop");
  double begin = bench_now();
  for (lua_Integer i = 0; i < times; i++) loops[which](forest, dt);
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

/* value(forest, column, row) */
static int value(lua_State *L) {
  struct forest *forest = check_forest(L);
  lua_pushnumber(L, forest->columns[luaL_checkinteger(L, 2)][luaL_checkinteger(L, 3) - 1]);
  return 1;
}

static const luaL_Reg functions[] = {
  {"forest", forest_new},
  {"run", run},
  {"start", start},
  {"value", value},
  {NULL, NULL}
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_mod_ties(lua_State *L);

int luaopen_mod_ties(lua_State *L) {
  luaL_newmetatable(L, "bench.forest");
  lua_pushcfunction(L, forest_free);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
