#include "lua/api/worlds.h"

#include "ecs_world.h"
#include "lua/api/disown.h"
#include "lua/jit/index_keys.h"
#include "lua/api/lua_world.h"

static const char tags_key, worlds_key, objects_key;

/* How many open worlds have each tag. Made when the module is opened, so that its finalizer comes
** after those of all worlds. */
struct tags {
  uint32_t last;
  uint32_t worlds[256];
  bool closing;
};

static struct tags *get_tags(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key);
  struct tags *tags = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return tags;
}

/* Frees a world whose object is gone: nothing may call back to it. */
static void free_orphan(lua_State *L, ecs_world *world) {
  get_tags(L)->worlds[ecs_world_tag(world)]--;
  systems_detach(world, NULL);
  indexes_disown(world, NULL);
  ecs_world_free(world);
}

/* The last finalizer of the module, at the end of the state. */
static int close_all(lua_State *L) {
  get_tags(L)->closing = true;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  int objects = lua_gettop(L) - 1, worlds = objects + 1;
  for (lua_pushnil(L); lua_next(L, worlds); lua_settop(L, worlds + 1)) {
    ecs_world *world = lua_touserdata(L, -1);
    if (lua_rawgetp(L, objects, lua_touserdata(L, -2)) == LUA_TUSERDATA)
      world_finalize(L, lua_gettop(L));
    else if (world)
      free_orphan(L, world);
  }
  return 0;
}

static void new_registry_table(lua_State *L, const void *key, const char *mode) {
  lua_newtable(L);
  if (mode) {
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
  }
  lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

/* The finalizer is set last: then nothing can fail any more. */
void worlds_open(lua_State *L) {
  bool known = lua_rawgetp(L, LUA_REGISTRYINDEX, &tags_key) != LUA_TNIL;
  lua_pop(L, 1);
  if (known) return;
  new_registry_table(L, &worlds_key, NULL);
  new_registry_table(L, &objects_key, "v");
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, close_all);
  lua_setfield(L, -2, "__gc");
  struct tags *tags = lua_newuserdatauv(L, sizeof *tags, 0);
  memset(tags, 0, sizeof *tags);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tags_key);
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

uint32_t worlds_next_tag(lua_State *L) {
  struct tags *tags = get_tags(L);
  uint32_t tag = tags->last;
  for (int i = 0; i < 256; i++) {
    tag = tag % 255 + 1;
    if (tags->worlds[tag] == 0) break;
  }
  tags->last = tag;
  return tag;
}

/* An object that was lost may have had the same address. */
void worlds_reserve(lua_State *L, struct world_box *box, int index) {
  if (get_tags(L)->closing) luaL_error(L, "the Lua state is being closed");
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  lua_rawgetp(L, -1, box);
  ecs_world *orphan = lua_touserdata(L, -1);
  if (orphan) free_orphan(L, orphan);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, -3, box);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, box);
  lua_pop(L, 3);
}

/* Makes no object: the key is there. */
void worlds_add(lua_State *L, const struct world_box *box) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  if (!box->lent) {
    lua_pushlightuserdata(L, box->world);
    lua_rawsetp(L, -2, box);
  }
  lua_pop(L, 1);
  get_tags(L)->worlds[ecs_world_tag(box->world)]++;
}

void worlds_remove(lua_State *L, const struct world_box *box, const ecs_world *world) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &worlds_key);
  if (lua_rawgetp(L, -1, box) != LUA_TNIL) {
    lua_pushnil(L);
    lua_rawsetp(L, -3, box);
  }
  lua_pop(L, 2);
  get_tags(L)->worlds[ecs_world_tag(world)]--;
}

void worlds_retag(lua_State *L, const struct world_box *box, uint32_t from) {
  struct tags *tags = get_tags(L);
  tags->worlds[from]--;
  tags->worlds[ecs_world_tag(box->world)]++;
}
