/* A Lua that was built as C89, as it is by default on Windows: its math.log(x, 2) divides two
** logarithms, and so does a kernel's. */
#include <math.h>

#include "lua_state.h"

static int log_of_c89(lua_State *L) {
  const double x = luaL_checknumber(L, 1);
  if (lua_isnoneornil(L, 2))
    lua_pushnumber(L, log(x));
  else if (lua_tonumber(L, 2) == 10)
    lua_pushnumber(L, log10(x));
  else
    lua_pushnumber(L, log(x) / log(luaL_checknumber(L, 2)));
  return 1;
}

static int type_of_number(lua_State *L) {
  lua_pushstring(L, lua_isinteger(L, 1) ? "integer" : "float");
  return 1;
}

/* In the place of Lua's own, for this program and for the library that it is linked with: what
** this script and the module need of it. */
__attribute__((visibility("default"))) int luaopen_math(lua_State *L) {
  lua_createtable(L, 0, 2);
  lua_pushcfunction(L, log_of_c89);
  lua_setfield(L, -2, "log");
  lua_pushcfunction(L, type_of_number);
  lua_setfield(L, -2, "type");
  return 1;
}

static const char script[] =
    "local ecs, log = require 'ecs', math.log\n"
    "local world = ecs.world()\n"
    "world:component('N', { 'x: f64', 'two: f64', 'ten: f64', 'base: f64', 'any: f64' })\n"
    "for n = 1, 63 do world:spawn { N = { x = 2.0 ^ n, base = n % 3 == 0 and 10 or 2 } } end\n"
    "local query = world:query 'N'\n"
    "query:run(function(n)\n"
    "  n.two, n.ten, n.any = log(n.x, 2), log(n.x, 10), log(n.x, n.base)\n"
    "end)\n"
    "for n in query:each() do\n"
    "  assert(n.two == log(n.x, 2) and n.ten == log(n.x, 10) and n.any == log(n.x, n.base))\n"
    "  off = off or n.two % 1 ~= 0\n"
    "end\n";

static void takes_the_logarithm_that_lua_takes(void) {
  struct lua_host host;
  open_ecs(&host);
  lua_State *L = host.L;
  luaopen_math(L);
  lua_setglobal(L, LUA_MATHLIBNAME);
  run_script(&host, script);
  lua_getglobal(L, "off");
  CHECK(lua_toboolean(L, -1));
  close_lua(&host);
}

static const struct test tests[] = {
  {"math.log(x, 2) is what this Lua's is", takes_the_logarithm_that_lua_takes},
};

int main(void) { return RUN_TESTS(tests); }
