/* For hosts in C: the module without a file system, and worlds that a host lends. */
#include <lauxlib.h>
#include <lualib.h>

#include "ecs_lua_open.h"
#include "lua/api/api.h"
#include "lua/api/embedded.h"
#include "lua/loop/loop.h"

/* loader(name): runs one of the embedded files. */
static int hosting_load(lua_State *L) {
  const struct ecs_embedded *file = lua_touserdata(L, lua_upvalueindex(1));
  lua_pushfstring(L, "=%s", file->name);
  int status = luaL_loadbufferx(L, (const char *)file->text, file->size,
                                lua_tostring(L, -1), "t");
  if (status != LUA_OK) return lua_error(L);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

int ecs_lua_open(lua_State *L) {
  luaL_checkstack(L, 6, NULL);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_ecs_native);
  lua_setfield(L, -2, "ecs.native");
  for (const struct ecs_embedded *file = ecs_embedded; file->name; file++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)file);
    lua_pushcclosure(L, hosting_load, 1);
    lua_setfield(L, -2, file->name);
  }
  lua_pop(L, 1);
  luaL_requiref(L, LUA_LOADLIBNAME, luaopen_package, 1);
  lua_pop(L, 1);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "ecs");
  lua_call(L, 1, 1);
  return 1;
}

void ecs_lua_push_world(lua_State *L, ecs_world *world) {
  luaL_checkstack(L, 8, NULL);
  luaL_requiref(L, "ecs.native", luaopen_ecs_native, 0);
  lua_pop(L, 1);
  /* Lent worlds are anchored until the state ends or they are closed. */
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lent_worlds_key) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &lent_worlds_key);
  }
  if (lua_rawgetp(L, -1, world) == LUA_TNIL) {
    lua_pop(L, 1);
    struct world_box *box = new_world_box(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, world);
    world_attach(L, box, world, true);
    frame_need_host(L, box, lua_gettop(L));
  }
  lua_remove(L, -2);
}
