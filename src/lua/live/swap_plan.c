#include "lua/live/swap_plan.h"

#include "core/base/text.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/options.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

void swap_check(lua_State *L, const struct world_box *box, ecs_status status, const char *what) {
  if (status == ECS_OK) return;
  if (status == ECS_ENOMEM) raise_memory(L);
  char text[MESSAGE_SIZE];
  text_format(text, sizeof text, "%s%s", what, ecs_message(box->world));
  lua_settop(L, SWAP_ENTRY);
  const char *at = lua_istable(L, SWAP_ENTRY) && option(L, SWAP_ENTRY, "at") == LUA_TSTRING
                       ? lua_tostring(L, -1) : "";
  lua_pushfstring(L, "%s%s", at, text);
  lua_error(L);
}

uint32_t swap_list(lua_State *L, const char *name) {
  lua_settop(L, SWAP_PLAN);
  if (option(L, SWAP_PLAN, name) != LUA_TTABLE) {
    lua_settop(L, SWAP_PLAN);
    lua_newtable(L);
  }
  lua_Unsigned count = lua_rawlen(L, SWAP_LIST);
  return count > 1000000 ? 1000000 : (uint32_t)count;
}

const char *swap_entry(lua_State *L, uint32_t at) {
  lua_settop(L, SWAP_LIST);
  if (lua_rawgeti(L, SWAP_LIST, (lua_Integer)at + 1) != LUA_TTABLE ||
      option(L, SWAP_ENTRY, "name") != LUA_TSTRING)
    luaL_error(L, "malformed plan");
  size_t size;
  return check_text(L, SWAP_NAME, &size);
}

void swap_call(lua_State *L, int arguments) {
  int status = lua_pcall(L, arguments, 0, 0);
  if (status == LUA_OK) return;
  if (status == LUA_ERRMEM || !lua_isstring(L, -1)) lua_error(L);
  lua_replace(L, SWAP_NAME);
  lua_settop(L, SWAP_NAME);
  const char *at = option(L, SWAP_ENTRY, "at") == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pushfstring(L, "%s%s", at, lua_tostring(L, SWAP_NAME));
  lua_error(L);
}
