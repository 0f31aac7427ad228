/* The floors of kernels that look into a grid, for Lua: scalar loops over copies sorted by cells,
** with a table of all cells. */
#include <lauxlib.h>
#include <lua.h>

#include "hand.h"

#define SUMS 6

/* Entities with a place and a speed, as rows and sorted by cells as wide as the reach; what each
** row adds up of those in reach, and how far the nearest other one is. */
struct flock {
  uint32_t count, width;       /* cells on a side */
  double reach;
  float *rows[4];              /* x, y and the speed, of the rows */
  uint32_t *starts;            /* the first of each cell, and behind the last one */
  uint32_t *whose;             /* sorted */
  double *places[2];
  float *speeds[2];
  float *sums[SUMS];
  float *nearest;
};

static struct flock *check_flock(lua_State *L) { return luaL_checkudata(L, 1, "bench.flock"); }

static int flock_free(lua_State *L) {
  struct flock *flock = check_flock(L);
  for (int i = 0; i < 4; i++) free(flock->rows[i]);
  for (int i = 0; i < 2; i++) free(flock->places[i]);
  for (int i = 0; i < 2; i++) free(flock->speeds[i]);
  for (int i = 0; i < SUMS; i++) free(flock->sums[i]);
  free(flock->starts);
  free(flock->whose);
  free(flock->nearest);
  memset(flock, 0, sizeof *flock);
  return 0;
}

static uint32_t cell_of(const struct flock *flock, double x) {
  double cell = floor(x / flock->reach);
  return cell < 0 ? 0 : cell >= flock->width ? flock->width - 1 : (uint32_t)cell;
}

static uint32_t cell_of_row(const struct flock *flock, uint32_t row) {
  uint32_t y = cell_of(flock, (double)flock->rows[1][row]);
  return y * flock->width + cell_of(flock, (double)flock->rows[0][row]);
}

static void sort(struct flock *flock) {
  uint32_t *starts = flock->starts;
  for (uint32_t row = 0; row < flock->count; row++) starts[cell_of_row(flock, row) + 1]++;
  for (uint32_t i = 0; i < flock->width * flock->width; i++) starts[i + 1] += starts[i];
  for (uint32_t row = flock->count; row-- > 0;) {
    uint32_t at = --starts[cell_of_row(flock, row) + 1];
    flock->whose[at] = row;
    for (int i = 0; i < 2; i++) flock->places[i][at] = (double)flock->rows[i][row];
    for (int i = 0; i < 2; i++) flock->speeds[i][at] = flock->rows[2 + i][row];
  }
  /* Each start has become that of its cell: they stand one place too far. */
  memmove(starts, starts + 1, flock->width * (size_t)flock->width * sizeof *starts);
  starts[flock->width * flock->width] = flock->count;
}

/* flock(count, partners): so many have that many others in reach, in the mean */
static int flock_new(lua_State *L) {
  lua_Integer count = luaL_checkinteger(L, 1);
  double partners = luaL_checknumber(L, 2);
  double side = sqrt((double)count * 3.14159265358979 / partners);
  luaL_argcheck(L, count > 0 && count <= 1 << 24, 1, "so many");
  struct flock *flock = lua_newuserdatauv(L, sizeof *flock, 0);
  memset(flock, 0, sizeof *flock);
  luaL_setmetatable(L, "bench.flock");
  size_t n = (size_t)count;
  flock->count = (uint32_t)n;
  flock->reach = 1;
  flock->width = (uint32_t)side + 1;
  for (int i = 0; i < 4; i++) flock->rows[i] = bench_resize(NULL, n * sizeof(float));
  for (int i = 0; i < 2; i++) flock->places[i] = bench_resize(NULL, n * sizeof(double));
  for (int i = 0; i < 2; i++) flock->speeds[i] = bench_resize(NULL, n * sizeof(float));
  for (int i = 0; i < SUMS; i++) flock->sums[i] = bench_resize(NULL, n * sizeof(float));
  flock->nearest = bench_resize(NULL, n * sizeof(float));
  flock->whose = bench_resize(NULL, n * sizeof *flock->whose);
  size_t cells = (size_t)flock->width * flock->width + 1;
  flock->starts = bench_resize(NULL, cells * sizeof *flock->starts);
  memset(flock->starts, 0, cells * sizeof *flock->starts);
  uint64_t state = 42;
  for (uint32_t row = 0; row < flock->count; row++)
    for (int i = 0; i < 4; i++) {
      double part = (double)(bench_random(&state) % 1000000) / 1e6;
      flock->rows[i][row] = (float)(part * (i < 2 ? side : 1));
    }
  sort(flock);
  return 1;
}

/* ---- the loops ---- */

/* Of those in reach: how far they are away, how fast they are, and the way from those that are
** too near. */
static void steer(struct flock *flock, uint32_t row) {
  float sums[SUMS] = {0};
  float x = flock->rows[0][row], y = flock->rows[1][row];
  uint32_t cx = cell_of(flock, (double)x), cy = cell_of(flock, (double)y);
  uint32_t left = cx > 0 ? cx - 1 : 0, right = cx + 1 < flock->width ? cx + 1 : cx;
  for (uint32_t line = cy > 0 ? cy - 1 : 0; line <= cy + 1 && line < flock->width; line++) {
    uint32_t end = flock->starts[line * flock->width + right + 1];
    for (uint32_t at = flock->starts[line * flock->width + left]; at < end; at++) {
      double dx = flock->places[0][at] - (double)x, dy = flock->places[1][at] - (double)y;
      if (dx * dx + dy * dy > flock->reach * flock->reach) continue;
      float ox = (float)flock->places[0][at] - x, oy = (float)flock->places[1][at] - y;
      sums[0] += ox;
      sums[1] += oy;
      sums[2] += flock->speeds[0][at];
      sums[3] += flock->speeds[1][at];
      sums[4] += ox * ox;
      sums[5] += oy * oy;
    }
  }
  for (int i = 0; i < SUMS; i++) flock->sums[i][row] = sums[i];
}

static void find_nearest(struct flock *flock, uint32_t row) {
  double x = (double)flock->rows[0][row], y = (double)flock->rows[1][row];
  uint32_t cx = cell_of(flock, x), cy = cell_of(flock, y);
  uint32_t left = cx > 0 ? cx - 1 : 0, right = cx + 1 < flock->width ? cx + 1 : cx;
  double least = HUGE_VAL;
  for (uint32_t line = cy > 0 ? cy - 1 : 0; line <= cy + 1 && line < flock->width; line++) {
    uint32_t end = flock->starts[line * flock->width + right + 1];
    for (uint32_t at = flock->starts[line * flock->width + left]; at < end; at++) {
      double dx = flock->places[0][at] - x, dy = flock->places[1][at] - y;
      double square = dx * dx + dy * dy;
      if (square < least && flock->whose[at] != row) least = square;
    }
  }
  flock->nearest[row] = least <= flock->reach * flock->reach ? (float)sqrt(least) : -1;
}

/* run(flock, nearest, times): the seconds that this took */
static int run(lua_State *L) {
  struct flock *flock = check_flock(L);
  void (*loop)(struct flock *flock, uint32_t row) = lua_toboolean(L, 2) ? find_nearest : steer;
  lua_Integer times = luaL_checkinteger(L, 3);
  double begin = bench_now();
  for (lua_Integer i = 0; i < times; i++)
    for (uint32_t row = 0; row < flock->count; row++) loop(flock, row);
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

/* row(flock, i): the place and speed of a row, its sums, how far the nearest one is */
static int row(lua_State *L) {
  struct flock *flock = check_flock(L);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, i > 0 && i <= flock->count, 2, "no such row");
  for (int k = 0; k < 4; k++) lua_pushnumber(L, (lua_Number)flock->rows[k][i - 1]);
  for (int k = 0; k < SUMS; k++) lua_pushnumber(L, (lua_Number)flock->sums[k][i - 1]);
  lua_pushnumber(L, (lua_Number)flock->nearest[i - 1]);
  return 4 + SUMS + 1;
}

static const luaL_Reg functions[] = {{"flock", flock_new}, {"run", run}, {"row", row},
                                     {NULL, NULL}};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_mod_neighbours(lua_State *L);

int luaopen_mod_neighbours(lua_State *L) {
  luaL_newmetatable(L, "bench.flock");
  lua_pushcfunction(L, flock_free);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
