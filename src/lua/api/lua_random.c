/* world:random(e): the same numbers as in compiled functions. */
#include "lua/api/lua_random.h"

#include "core/base/chance.h"

#include "kernel/random.h"
#include "lua/bind/check_world.h"
#include "lua/bind/living.h"
#include "lua/bind/world_box.h"

static lua_Integer random_bound(lua_State *L, int arg) {
  luaL_checktype(L, arg, LUA_TNUMBER);
  return luaL_checkinteger(L, arg);
}

/* world:random(e), (e, n), (e, m, n), as math.random: a float in [0, 1), or an integer in [1, n]
** or [m, n], from the stream that is open (core/base/chance.h): the same on every machine and in
** every tier. */
static int world_random(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  ecs_id entity = check_entity(L, box, 2);
  int count = lua_gettop(L) - 2;
  if (count > 2) return luaL_argerror(L, 5, "at most two bounds");
  lua_Integer low = 1, high = 1;
  if (count == 1) high = random_bound(L, 3);
  if (count == 2) {
    low = random_bound(L, 3);
    high = random_bound(L, 4);
  }
  luaL_argcheck(L, low <= high, 3, "interval is empty");
  struct chance *chance = box->chance;
  int64_t bits = k_random((int64_t)chance->key, (int64_t)*box->tick, (int64_t)entity,
                          (int64_t)chance->calls++);
  if (count == 0)
    lua_pushnumber(L, (lua_Number)k_random_unit(bits));
  else
    lua_pushinteger(L, (lua_Integer)k_random_range(bits, low, high));
  return 1;
}

const luaL_Reg world_random_methods[] = {{"random", world_random}, {NULL, NULL}};
