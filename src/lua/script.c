#include "kernel.h"
#include "system.h"

const char on_error_key = 0;

/* ---- messages ---------------------------------------------------------------------- */

static bool is_memory_error(lua_State *L, int index) {
  return lua_type(L, index) == LUA_TSTRING &&
         strcmp(lua_tostring(L, index), "not enough memory") == 0;
}

/* A message handler: the error as text, with a traceback. The memory error stays as it is. */
static int trace(lua_State *L) {
  if (is_memory_error(L, 1)) return 1;
  const char *text = lua_tostring(L, 1);
  if (!text) {
    if (luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
      text = luaL_tolstring(L, 1, NULL);
    else
      text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, text, 1);
  return 1;
}

/* name_error(error, name): the error with where it comes from before it. */
static int name_error(lua_State *L) {
  const char *name = lua_touserdata(L, 2);
  lua_settop(L, 1);
  if (is_memory_error(L, 1)) return 1;
  if (name)
    lua_pushfstring(L, "system '%s': %s", name, lua_tostring(L, 1));
  else
    lua_pushfstring(L, "on_error handler: %s", lua_tostring(L, 1));
  return 1;
}

/* Moves the error at the top of the stack into a slot of the frame. */
static void keep_error(lua_State *L, int slot, const char *name) {
  lua_pushcfunction(L, name_error);
  lua_insert(L, -2);
  lua_pushlightuserdata(L, (void *)(uintptr_t)name);
  lua_pcall(L, 2, 1, 0);
  lua_replace(L, slot);
}

static void clear(lua_State *L, int slot) {
  lua_pushnil(L);
  lua_replace(L, slot);
}

/* ---- protected calls ---------------------------------------------------------------- */

static lua_State *state_of(const struct world_box *box) {
  return box->running ? box->running : box->host;
}

static bool has_room(const struct world_box *box) {
  return lua_checkstack(state_of(box), 12);
}

/* Calls body(world, argument, the system's error) and leaves its results on the stack. A
** failure is kept in a slot of the frame. */
static bool protect(struct world_box *box, lua_CFunction body, void *argument, int slot,
                    const char *name, int results) {
  lua_State *L = state_of(box);
  int top = lua_gettop(L);
  lua_pushcfunction(L, trace);
  lua_pushcfunction(L, body);
  lua_pushvalue(L, FRAME_WORLD);
  lua_pushlightuserdata(L, argument);
  lua_pushvalue(L, FRAME_ERROR);
  bool ok = lua_pcall(L, 3, results, top + 1) == LUA_OK;
  if (!ok) keep_error(L, slot, name);
  lua_remove(L, top + 1);
  if (!ok) lua_settop(L, top);
  return ok;
}

/* What the core is told of an error: it stays in the frame until update raises it or the
** handler has had it. A host, and its handler, get it as the world's message. */
static ecs_status status_of(lua_State *L, const struct world_box *box) {
  if (is_memory_error(L, FRAME_ERROR)) return ECS_ENOMEM;
  const ecs_world *world = box->world ? box->world : box->doomed;
  const char *text = lua_tostring(L, FRAME_ERROR);
  world_fail(world, ECS_EUSER, "%s", text ? text : "");
  if (!box->running && world->schedule.on_error != script_failed) clear(L, FRAME_ERROR);
  return ECS_EUSER;
}

/* Ends a callback. A world that was closed in it goes now, unless update is still to end. */
static ecs_status finish(struct world_box *box, bool ok) {
  lua_State *L = state_of(box);
  if (box->world) loops_end_system(box, ok);
  ecs_status status = ok ? ECS_OK : status_of(L, box);
  world_leave(L, box, FRAME_WORLD);
  return status;
}

/* ---- bodies -------------------------------------------------------------------------- */

struct run {
  struct system_box *system;
  double dt;
};

/* Pushes the userdata of a system. */
static void push_system(lua_State *L, const struct system_box *system) {
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_rawgetp(L, -1, system);
  lua_remove(L, -2);
}

/* The loop is no object of Lua's: it is anchored, since it is still needed after an error. */
static void run_loop(lua_State *L, const struct run *run, rows_fn rows, bool views) {
  struct loop_box *loop = loop_push(L, 5, LOOP_SYSTEM, views);
  lua_pushvalue(L, 6);
  lua_setiuservalue(L, 3, SYSTEM_LOOP);
  loop_open(L, loop);
  rows(L, 6, 4, run->dt);
  loop->done = true;
}

/* An `each` as a program when it can be one now. */
static bool run_compiled(lua_State *L, const struct run *run) {
  struct system_box *system = run->system;
  struct kernel_run how = {.dt = run->dt};
  lua_getiuservalue(L, 3, SYSTEM_KERNEL);
  system->compiled = !lua_isnil(L, 6) && kernel_ready(L, 6);
  if (!system->compiled && system->compile == 1 && !lua_isnil(L, 6))
    raise_error(L, "the function cannot be compiled: %s", lua_tostring(L, -1));
  if (system->compiled) {
    struct loop_box *loop = loop_push(L, 5, LOOP_SYSTEM, false);
    lua_pushvalue(L, 7);
    lua_setiuservalue(L, 3, SYSTEM_LOOP);
    loop_open(L, loop);
    kernel_run(L, 6, loop, &how);
    loop->done = true;
  }
  lua_settop(L, 5);
  return system->compiled;
}

/* body(world, run), for each form. */
static int run_body(lua_State *L) {
  const struct run *run = lua_touserdata(L, 2);
  lua_settop(L, 2);
  push_system(L, run->system);
  lua_getiuservalue(L, 3, SYSTEM_FUNCTION);
  lua_getiuservalue(L, 3, SYSTEM_QUERY);
  switch (run->system->form) {
    case FORM_EACH:
      if (!run_compiled(L, run)) run_loop(L, run, each_rows, true);
      break;
    case FORM_MAP:
      /* A tag may have become a component since. */
      map_check(L, run->system->query->query);
      run_loop(L, run, map_rows, false);
      break;
    default:
      lua_pushvalue(L, 4);
      lua_pushvalue(L, 1);
      lua_pushnumber(L, (lua_Number)run->dt);
      lua_pushvalue(L, 5);
      lua_call(L, 3, 0);
      break;
  }
  return 0;
}

/* Whether an each or map has nothing to be called for. */
static bool is_idle(const struct system_box *system) {
  const ecs_query *query = system->query ? system->query->query : NULL;
  if (system->form == FORM_RUN || !query || query->broken) return false;
  for (uint32_t i = 0; i < query->count; i++)
    if (world_table(query->world, query->tables[i])->count > 0) return false;
  return true;
}

ecs_status script_run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct run run = {ud, dt};
  struct world_box *box = run.system->box;
  (void)query;
  if (!box->world || is_idle(run.system)) return ECS_OK;
  if (!has_room(box)) return world_nomem(world);
  world_enter(box);
  bool ok = protect(box, run_body, &run, FRAME_ERROR, run.system->name, 0);
  return finish(box, ok);
}

static int when_body(lua_State *L) {
  const struct system_box *system = lua_touserdata(L, 2);
  push_system(L, system);
  lua_getiuservalue(L, -1, SYSTEM_WHEN);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

ecs_status script_when(ecs_world *world, void *ud, bool *run) {
  struct system_box *system = ud;
  struct world_box *box = system->box;
  *run = false;
  if (!box->world) return ECS_OK;
  if (!has_room(box)) return world_nomem(world);
  world_enter(box);
  bool ok = protect(box, when_body, system, FRAME_ERROR, system->name, 1);
  if (ok) {
    lua_State *L = state_of(box);
    *run = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return finish(box, ok);
}

void script_free(void *ud) {
  struct system_box *system = ud;
  system->next_gone = system->box->gone;
  system->box->gone = system;
}

/* ---- on_error ------------------------------------------------------------------------ */

struct failure {
  const char *system;
  char message[MESSAGE_SIZE];    /* the core's, for what no script has raised */
};

/* body(world, failure, error): handler(message, system_name). */
static int handler_body(lua_State *L) {
  const struct failure *failure = lua_touserdata(L, 2);
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_rawgetp(L, -1, &on_error_key);
  if (lua_isnil(L, 3))
    lua_pushfstring(L, "system '%s': %s", failure->system, failure->message);
  else
    lua_pushvalue(L, 3);
  lua_pushstring(L, failure->system);
  lua_call(L, 2, 0);
  return 0;
}

/* What the handler itself raises is kept for update to raise, the last one of it. */
void script_failed(ecs_world *world, const char *system, ecs_status status, void *ud) {
  struct world_box *box = ud;
  (void)status;
  if (!box->world || !has_room(box)) return;
  struct failure failure = {system, ""};
  memcpy(failure.message, ecs_message(world), sizeof failure.message);
  world_enter(box);
  protect(box, handler_body, &failure, FRAME_HANDLER, NULL, 0);
  clear(state_of(box), FRAME_ERROR);
  finish(box, true);
}
