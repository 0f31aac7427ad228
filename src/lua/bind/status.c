#include <stdlib.h>

#include "lua/bind/status.h"

#include "core/base/text.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/world_box.h"

int raise_memory(lua_State *L) {
  lua_pushliteral(L, "not enough memory");
  lua_error(L);
  abort();   /* never: lua_error does not return */
}

static const char words_key = 0;

/* (text) */
static int keep_words(lua_State *L) {
  lua_pushstring(L, lua_touserdata(L, 1));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &words_key);
  return 0;
}

bool words_reserve(void *world_box, const char *text) {
  lua_State *L = ((const struct world_box *)world_box)->main;
  if (lua_status(L) != LUA_OK) return true;   /* it cannot run anything: the host has resumed it */
  if (!lua_checkstack(L, 4)) return false;
  lua_pushlightuserdata(L, (void *)(uintptr_t)text);
  bool kept = try_quietly(L, keep_words, 1, 0) == LUA_OK;
  if (!kept) lua_pop(L, 1);
  return kept;
}

/* (words): puts the place before them that called whoever raises them. */
static int place_words(lua_State *L) {
  luaL_where(L, 2);
  lua_insert(L, 1);
  lua_concat(L, 2);
  return 1;
}

int raise_error(lua_State *L, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  text_vformat(text, sizeof text, format, args);
  va_end(args);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &words_key) == LUA_TSTRING &&
      strcmp(lua_tostring(L, -1), text) == 0) {
    lua_pushvalue(L, -1);
    if (try_quietly(L, place_words, 1, 1) != LUA_OK) lua_pop(L, 1);
    return lua_error(L);
  }
  return luaL_error(L, "%s", text);
}

int raise_status(lua_State *L, const ecs_world *world, ecs_status status) {
  if (status == ECS_ENOMEM) return raise_memory(L);
  return raise_error(L, "%s", ecs_message(world));
}

int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg) {
  if (status == ECS_ENOMEM) return raise_memory(L);
  char text[MESSAGE_SIZE];
  text_format(text, sizeof text, "%s", ecs_message(world));
  return luaL_argerror(L, arg, text);
}

bool retry(lua_State *L, struct world_box *box, ecs_status status, bool *tried) {
  if (LIKELY(status != ECS_ENOMEM) || *tried) return false;
  uint32_t calls = box->calls;
  *tried = true;
  lua_gc(L, LUA_GCCOLLECT, 0);
  return calls == box->calls;
}

int try_quietly(lua_State *L, lua_CFunction function, int arguments, int results) {
  lua_pushcfunction(L, function);
  lua_insert(L, -arguments - 1);
  bool running = lua_gc(L, LUA_GCISRUNNING, 0) == 1;
  if (running) lua_gc(L, LUA_GCSTOP, 0);
  int status = lua_pcall(L, arguments, results, 0);
  if (running) lua_gc(L, LUA_GCRESTART, 0);
  return status;
}

void call_quietly(lua_State *L, lua_CFunction function, int arguments, int results) {
  need_stack(L, 1);
  if (try_quietly(L, function, arguments, results) != LUA_OK) lua_error(L);
}
