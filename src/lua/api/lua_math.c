/* ecs.math: functions that give the same floats everywhere (kernel/math64.c). Kernels recognise
** them by their addresses. */
#include <lauxlib.h>

#include "kernel/program.h"
#include "lua/api/api.h"

#define MATH_ONE(name) \
  static int math_##name(lua_State *L) { \
    lua_pushnumber(L, (lua_Number)portable_##name((double)luaL_checknumber(L, 1))); \
    return 1; \
  }
MATH_ONE(acos)
MATH_ONE(asin)
MATH_ONE(cos)
MATH_ONE(exp)
MATH_ONE(log)
MATH_ONE(log10)
MATH_ONE(log2)
MATH_ONE(sin)
MATH_ONE(tan)

/* atan(y, x = 1): the angle of the point x, y. */
static int math_atan(lua_State *L) {
  double y = (double)luaL_checknumber(L, 1), x = (double)luaL_optnumber(L, 2, 1.0);
  lua_pushnumber(L, (lua_Number)portable_atan(y, x));
  return 1;
}

#define MATH_TWO(name) \
  static int math_##name(lua_State *L) { \
    double x = (double)luaL_checknumber(L, 1), y = (double)luaL_checknumber(L, 2); \
    lua_pushnumber(L, (lua_Number)portable_##name(x, y)); \
    return 1; \
  }
MATH_TWO(mod)
MATH_TWO(pow)

const luaL_Reg portable_functions[] = {
  {"acos", math_acos}, {"asin", math_asin},   {"atan", math_atan}, {"cos", math_cos},
  {"exp", math_exp},   {"log", math_log},     {"log10", math_log10}, {"log2", math_log2},
  {"mod", math_mod},   {"pow", math_pow},     {"sin", math_sin},   {"tan", math_tan},
  {NULL, NULL}
};
