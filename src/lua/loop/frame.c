#include "lua/loop/frame.h"

#include "lua/bind/attempt.h"
#include "lua/bind/status.h"
#include "lua/bind/failure.h"
#include "lua/api/lua_world.h"
#include "lua/api/system.h"
#include "lua/api/system_box.h"

static const char raised_key = 0;

static int as_text(lua_State *L) {
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* An object stays in the registry for frame_keep. Lua calls no handler for a memory error. */
int frame_trace(lua_State *L) {
  attempt_handler(L);
  const char *text = lua_tostring(L, 1);
  if (text && failure_is_traced(L, 1)) return 1;
  if (lua_type(L, 1) >= LUA_TTABLE)
    lua_pushvalue(L, 1);
  else
    lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &raised_key);
  if (!text && luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL) {
    lua_pushcfunction(L, as_text);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK) text = lua_tostring(L, -1);
  }
  if (!text) text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  luaL_traceback(L, L, text, 1);
  return 1;
}

void frame_keep(lua_State *L, int slot, int status) {
  lua_replace(L, slot);
  if (status == LUA_ERRRUN)
    lua_rawgetp(L, LUA_REGISTRYINDEX, &raised_key);
  else
    lua_pushnil(L);
  lua_replace(L, slot + FRAME_OBJECT);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &raised_key);
}

/* Raises what a slot keeps: the object, if it was one. */
static void raise_kept(lua_State *L, int slot) {
  lua_settop(L, FRAME_SIZE);
  lua_pushvalue(L, lua_isnil(L, slot + FRAME_OBJECT) ? slot : slot + FRAME_OBJECT);
  lua_error(L);
}

static void frame_lay_out(lua_State *L) {
  lua_pushcfunction(L, frame_trace);
  lua_replace(L, FRAME_TRACE);
  lua_getiuservalue(L, FRAME_WORLD, WORLD_REFS);
  lua_replace(L, FRAME_REFS);
}

void frame_need_host(lua_State *L, struct world_box *box, int world_index) {
  if (box->systems->host) return;
  luaL_checkstack(L, 6, NULL);
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_State *thread = lua_newthread(L);
  lua_rawsetp(L, -2, thread);
  lua_pop(L, 1);
  lua_pushvalue(L, world_index);
  lua_xmove(L, thread, 1);
  lua_settop(thread, FRAME_SIZE);
  frame_lay_out(thread);
  box->systems->host = thread;
}

void run_in_frame(lua_State *L, struct world_box *box,
                  ecs_status (*run)(ecs_world *world, const void *ud), const void *ud) {
  int frame_end = lua_gettop(L);
  lua_State *previous = box->systems->running;
  frame_lay_out(L);
  box->systems->running = L;
  world_enter(box);
  ecs_status status = run(box->world, ud);
  box->systems->running = previous;
  world_leave(L, box, FRAME_WORLD);
  lua_settop(L, frame_end);
  if (box->world) systems_sweep(L, box, FRAME_WORLD);
  if (status == ECS_EUSER && !lua_isnil(L, FRAME_ERROR)) raise_kept(L, FRAME_ERROR);
  if (status != ECS_OK && (box->world || status == ECS_ENOMEM))
    raise_status(L, box->world, status);
  if (!lua_isnil(L, FRAME_HANDLER)) raise_kept(L, FRAME_HANDLER);
}
