/* The floors of kernels for Lua: the fused loops of kernel/floor.c over columns of their own,
** for the instruction set that the module in this process uses. */
#include <lauxlib.h>
#include <lua.h>

#include "bench.h"
#include "kernel/build.h"
#include "kernel/floor.h"

#define COLUMNS 5

struct rows {
  size_t count;
  void *memory;
  float *columns[COLUMNS];
};

static const floor_fn *floors(void) {
#if defined(__x86_64__)
  const char *name = getenv("ECS_ISA");
  int isa = name ? isa_named(name) : -1;
  if (isa < 0 || !isa_supported((k_isa)isa)) isa = (int)isa_best();
  if (isa == K_AVX512) return floors_avx512;
  if (isa == K_AVX2) return floors_avx2;
#endif
  return floors_sse2;
}

static struct rows *check_rows(lua_State *L) { return luaL_checkudata(L, 1, "bench.rows"); }

static int rows_free(lua_State *L) {
  struct rows *rows = check_rows(L);
  free(rows->memory);
  rows->memory = NULL;
  return 0;
}

/* What a column holds in a row, for both sides: positions, speeds, lives. */
static double start_value(int column, lua_Integer row) {
  if (column < 2) return (double)(row * (37 - 8 * column) % 1000);
  if (column < 4) return (double)(row * (13 - 2 * column) % 17 - 8) / 2;
  return 1000000;
}

/* start(column, row) */
static int start(lua_State *L) {
  int column = (int)luaL_checkinteger(L, 1);
  lua_pushnumber(L, start_value(column, luaL_checkinteger(L, 2)));
  return 1;
}

/* rows(n, columns) */
static int rows_new(lua_State *L) {
  size_t n = (size_t)luaL_checkinteger(L, 1);
  int columns = (int)luaL_checkinteger(L, 2);
  luaL_argcheck(L, columns >= 1 && columns <= COLUMNS, 2, "1 to 5 columns");
  struct rows *rows = lua_newuserdatauv(L, sizeof *rows, 0);
  memset(rows, 0, sizeof *rows);
  luaL_setmetatable(L, "bench.rows");
  size_t size = (n * sizeof(float) + 63) / 64 * 64 + 64;
  rows->count = n;
  rows->memory = bench_resize(NULL, size * (size_t)columns + 64);
  char *first = (char *)rows->memory + (64 - (uintptr_t)rows->memory % 64) % 64;
  for (int c = 0; c < columns; c++) {
    rows->columns[c] = (float *)(void *)(first + size * (size_t)c);
    for (size_t i = 0; i < n; i++)
      rows->columns[c][i] = (float)start_value(c, (lua_Integer)i + 1);
  }
  return 1;
}

/* run(rows, which, times, uniforms...): 0 MOVE, 1 PART, 2 SEEK, 3 TWICE. */
static int run(lua_State *L) {
  struct rows *rows = check_rows(L);
  int which = (int)luaL_checkinteger(L, 2);
  lua_Integer times = luaL_checkinteger(L, 3);
  double uniforms[8] = {0};
  luaL_argcheck(L, which >= 0 && which < FLOORS, 2, "no such loop");
  for (int i = 0; i < 8; i++) uniforms[i] = luaL_optnumber(L, 4 + i, 0);
  const floor_fn loop = floors()[which];
  double begin = bench_now();
  for (lua_Integer i = 0; i < times; i++) loop(rows->columns, rows->count, uniforms);
  lua_pushnumber(L, bench_now() - begin);
  return 1;
}

/* sum(rows, column): in row order. */
static int sum(lua_State *L) {
  struct rows *rows = check_rows(L);
  const float *column = rows->columns[luaL_checkinteger(L, 2)];
  double total = 0;
  for (size_t i = 0; i < rows->count; i++) total += (double)column[i] * (double)(i % 7 + 1);
  lua_pushnumber(L, total);
  return 1;
}

/* isas(): the names of those that this machine has. */
static int isas(lua_State *L) {
  lua_newtable(L);
  lua_Integer count = 0;
  for (int isa = K_BASE; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    lua_pushstring(L, isa_name((k_isa)isa));
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

static const luaL_Reg functions[] = {
  {"isas", isas},
  {"rows", rows_new},
  {"run", run},
  {"start", start},
  {"sum", sum},
  {NULL, NULL}
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
int luaopen_mod_kernel(lua_State *L);

int luaopen_mod_kernel(lua_State *L) {
  luaL_newmetatable(L, "bench.rows");
  lua_pushcfunction(L, rows_free);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, functions);
  return 1;
}
