#include <lualib.h>
#include <stdlib.h>

#include "lua/bind/status.h"

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/entity/prefab.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/value.h"
#include "lua/bind/version.h"

int raise_memory(lua_State *L) {
  lua_pushliteral(L, "not enough memory");
  lua_error(L);
  abort();   /* never: lua_error does not return */
}

static const char words_key = 0;

/* (text) */
static int status_keep_words(lua_State *L) {
  lua_pushstring(L, lua_touserdata(L, 1));
  lua_rawsetp(L, LUA_REGISTRYINDEX, &words_key);
  return 0;
}

bool words_reserve(void *world_box, const char *text) {
  struct world_box *box = world_box;
  lua_State *L = box->main;
  if (lua_status(L) != LUA_OK) return true;   /* it runs nothing: the host has resumed it */
  if (!lua_checkstack(L, 4)) return false;
  lua_pushlightuserdata(L, (void *)(uintptr_t)text);
  bool kept = try_quietly(L, box, status_keep_words, 1, 0) == LUA_OK;
  if (!kept) lua_pop(L, 1);
  return kept;
}

/* (words): prefixes the position in the caller of the function that raises them. */
static int status_place_words(lua_State *L) {
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
    if (try_quietly(L, NULL, status_place_words, 1, 1) != LUA_OK) lua_pop(L, 1);
    return lua_error(L);
  }
  return luaL_error(L, "%s", text);
}

int raise_status(lua_State *L, const ecs_world *world, ecs_status status) {
  return raise_argument(L, world, status, 0);
}

int raise_argument(lua_State *L, const ecs_world *world, ecs_status status, int arg) {
  if (status == ECS_ENOMEM) return raise_memory(L);
  if (arg == 0) return raise_error(L, "%s", ecs_message(world));
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

void *scratch_grow(lua_State *L, struct world_box *box, void *items, uint32_t *capacity,
                   uint64_t need, size_t item) {
  void *grown;
  RETRY_OR_RAISE(L, box,
                 (grown = memory_grow(box->memory, items, capacity, need, item)) ? ECS_OK
                                                                                 : ECS_ENOMEM);
  return grown;
}

int try_quietly(lua_State *L, struct world_box *box, lua_CFunction function, int arguments,
                int results) {
  lua_pushcfunction(L, function);
  lua_insert(L, -arguments - 1);
  bool running = lua_gc(L, LUA_GCISRUNNING, 0) == 1;
  size_t before = (size_t)lua_gc(L, LUA_GCCOUNT, 0);
  if (running) collector_hold(L);
  int status = lua_pcall(L, arguments, results, 0);
  if (running && box)
    box->owed += collector_release_quietly(L, before);
  else if (running)
    collector_release(L);
  return status;
}

void call_held(lua_State *L, lua_CFunction function, int arguments, int results) {
  need_stack(L, 1);
  if (try_quietly(L, NULL, function, arguments, results) != LUA_OK) lua_error(L);
}

/* ---- settle ---- */

void settle_rest(lua_State *L, struct world_box *box, int world_index) {
  if (box->any.owner.released_head) settle_any(L, box, world_index);
  if (*box->bytes - box->weight.reported >= 65536) settle_weight(L, box);
  size_t owed = box->owed;
  box->owed = 0;
  if (owed && lua_gc(L, LUA_GCISRUNNING, 0) == 1) collector_step(L, owed);
}

void cells_stored(lua_State *L, struct world_box *box, int world_index) {
  values_stored(box);
  world_settle(box->world);
  settle(L, box, world_index);
}

/* ---- observed ---- */

/* (world) */
static int status_observed_call(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  box->observe(L, box, 1);
  return 0;
}

int observed_raise(lua_State *L, struct world_box *box, int world_index, ecs_status status) {
  char text[MESSAGE_SIZE];
  if (status == ECS_ENOMEM || *box->changes == 0) return raise_status(L, box->world, status);
  text_format(text, sizeof text, "%s", ecs_message(box->world));
  lua_pushcfunction(L, status_observed_call);
  lua_pushvalue(L, world_index);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return raise_error(L, "%s", text);
}

void observed_loops(lua_State *L, struct world_box *box) {
  if (LIKELY(*box->changes == 0)) return;
  box->observe(L, box, 1);
  if (!box->world) no_world(L, 1);
}

/* ---- attempt ---- */

static const char yield_key = 0;

/* Whether the error passed to a message handler comes from coroutine.yield. */
static bool status_was_yield(lua_State *L) {
  lua_Debug raised;
  if (!lua_getstack(L, 1, &raised) || !lua_getinfo(L, "f", &raised)) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &yield_key);
  bool yields = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return yields;
}

/* The message handler of native.try: keeps the error. Lua does not call it for a memory error. */
static int status_attempt_look(lua_State *L) {
  bool *yielded = lua_touserdata(L, lua_upvalueindex(1));
  *yielded = status_was_yield(L);
  return 1;
}

/* Creates nothing before the call, so nothing outside of it can fail. */
static int status_attempt_body(lua_State *L) {
  const bool *yielded = lua_touserdata(L, lua_upvalueindex(1));
  luaL_checkany(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  if (status == LUA_OK) return lua_gettop(L);
  bool yields = status == LUA_ERRRUN && *yielded;
  lua_pushstring(L, status == LUA_ERRMEM ? "memory" : yields ? "yield" : NULL);
  return 3;
}

int attempt_handler(lua_State *L) {
  if (!status_was_yield(L)) return 1;
  luaL_where(L, 2);
  lua_pushliteral(L, "callbacks cannot yield: yield outside them, or write 'for ... in "
                     "query:each() do'");
  lua_concat(L, 2);
  lua_replace(L, 1);
  return 1;
}

int attempt_call(lua_State *L, int arguments, int results) {
  int handler = lua_gettop(L) - arguments;
  lua_pushcfunction(L, attempt_handler);
  lua_insert(L, handler);
  int status = lua_pcall(L, arguments, results, handler);
  lua_remove(L, handler);
  return status;
}

void attempt_push(lua_State *L) {
  /* The function coroutine.yield; nil in a state without it. */
  int top = lua_gettop(L);
  if (luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) &&
      lua_getfield(L, -1, LUA_COLIBNAME) == LUA_TTABLE) {
    lua_pushliteral(L, "yield");
    lua_rawget(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &yield_key);
  }
  lua_settop(L, top);
  bool *yielded = lua_newuserdatauv(L, sizeof *yielded, 0);
  *yielded = false;
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, status_attempt_look, 1);
  lua_pushcclosure(L, status_attempt_body, 2);
}
