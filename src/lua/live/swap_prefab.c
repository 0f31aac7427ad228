#include "lua/live/swap_prefab.h"

#include "core/base/text.h"
#include "core/entity/prefab.h"
#include "ecs_entity.h"
#include "lua/bind/options.h"
#include "lua/bind/world_box.h"
#include "lua/api/lua_prefab.h"
#include "lua/api/prefab_list.h"
#include "lua/live/swap_plan.h"

/* Whether an entry before this one declares the prefab that a path begins with. */
static bool is_planned(lua_State *L, uint32_t before, const char *path) {
  size_t size = strcspn(path, ".");
  bool planned = false;
  for (uint32_t i = 0; i < before && !planned; i++) {
    lua_rawgeti(L, SWAP_LIST, (lua_Integer)i + 1);
    bool named = option(L, lua_gettop(L), "name") == LUA_TSTRING;
    planned = named && lua_rawlen(L, -1) == size && memcmp(lua_tostring(L, -1), path, size) == 0;
    lua_pop(L, 2);
  }
  return planned;
}

/* What the entities of a declaration are made of is there, or will be. */
static void check_bases(lua_State *L, const struct world_box *box, uint32_t entry, int list) {
  for (lua_Unsigned i = 1; i <= lua_rawlen(L, list); i++, lua_settop(L, list)) {
    size_t size;
    ecs_id id;
    lua_rawgeti(L, list, (lua_Integer)i);
    if (option(L, list + 1, "is_a") != LUA_TSTRING) continue;
    const char *name = lua_tolstring(L, -1, &size);
    if (is_planned(L, entry, name)) continue;
    ecs_status status = prefab_need(box->world, name, size, &id);
    if (status == ECS_OK) continue;
    option(L, list + 1, "title");
    swap_check(L, box, status, lua_pushfstring(L, "%s: ", lua_tostring(L, -1)));
  }
}

/* What a prefab's values were refused for, with where it was declared. */
static void check_values(lua_State *L, struct migration *migration, int list) {
  lua_pushcfunction(L, prefab_list_check);
  lua_pushvalue(L, SWAP_WORLD);
  lua_pushvalue(L, list);
  lua_pushlightuserdata(L, migration);
  swap_call(L, 3);
}

void swap_check_prefabs(lua_State *L, struct world_box *box, struct migration *migration) {
  uint32_t count = swap_list(L, "prefabs");
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    ecs_id known = ecs_lookup(box->world, name);
    ecs_status status =
        known == ECS_NULL ? ECS_OK : prefab_need(box->world, name, strlen(name), &known);
    if (option(L, SWAP_ENTRY, "list") != LUA_TTABLE) luaL_error(L, "malformed plan");
    int list = lua_gettop(L);
    char what[128];
    text_format(what, sizeof what, "prefab '%s': ", name);
    swap_check(L, box, status, what);
    check_bases(L, box, i, list);
    check_values(L, migration, list);
  }
}

int swap_declare_prefabs(lua_State *L) {
  lua_pushnil(L);
  int problem = lua_gettop(L);
  bool some = option(L, SWAP_PLAN, "prefabs") == LUA_TTABLE;
  lua_Unsigned count = some ? lua_rawlen(L, -1) : 0;
  int list = lua_gettop(L);
  for (lua_Unsigned i = 1; i <= count; i++, lua_settop(L, list)) {
    lua_rawgeti(L, list, (lua_Integer)i);
    lua_pushcfunction(L, prefab_declare_listed);
    lua_pushvalue(L, SWAP_WORLD);
    option(L, list + 1, "list");
    if (lua_pcall(L, 2, 0, 0) == LUA_OK || !lua_isnil(L, problem)) continue;
    const char *at = option(L, list + 1, "at") == LUA_TSTRING ? lua_tostring(L, -1) : "";
    lua_pushfstring(L, "%s%s", at, lua_tostring(L, -2));
    lua_replace(L, problem);
  }
  lua_settop(L, problem);
  return 1;
}
