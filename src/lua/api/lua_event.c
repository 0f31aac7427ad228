#include "lua/api/api.h"

#include "core/command/emission.h"
#include "core/storage/event.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"

/* ---- declaring ------------------------------------------------------------------------ */

static int world_event(lua_State *L) { return declare_method(L, "event"); }

/* The event that an argument names. */
static struct component *check_event(lua_State *L, const struct world_box *box, int arg) {
  struct component *event = NULL;
  ecs_status status;
  size_t size;
  if (lua_type(L, arg) == LUA_TSTRING) {
    const char *name = lua_tolstring(L, arg, &size);
    status = event_need_name(box->world, name, size, &event);
  } else if (lua_type(L, arg) == LUA_TNUMBER) {
    status = event_need(box->world, check_id(L, arg), &event);
  } else {
    luaL_typeerror(L, arg, "event name or id");
    return NULL;
  }
  if (status != ECS_OK) raise_argument(L, box->world, status, arg);
  return event;
}

/* ---- emitting ------------------------------------------------------------------------- */

/* Emits the event that an argument names, with the values after it, now or after a delay. */
static int event_give(lua_State *L, struct world_box *box, int arg, bool now, double seconds) {
  const struct component *event = check_event(L, box, arg);
  struct input input;
  input_begin(&input, L, box, 1);
  input_event(&input, event, arg + 1);
  RETRY_OR_RAISE(L, box,
                 now ? emission_add(box->world, event_of(event), input.writes, input.count)
                     : later_add(box->world, event_of(event), seconds, input.writes, input.count));
  values_stored(box);
  return settle(L, box, 1);
}

static int event_world_emit(lua_State *L) {
  return event_give(L, check_free_world(L, 1), 2, true, 0);
}

/* world:after(seconds, event, ...) */
static int event_world_after(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  return event_give(L, box, 3, false, check_seconds(L, 2));
}

/* ---- reading -------------------------------------------------------------------------- */

/* for event in world:events(name): a loop over the event's query, which the world keeps by the
** event's id. */
static int world_events(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  lua_settop(L, 2);
  const struct component *event = check_event(L, box, 2);
  lua_pushinteger(L, (lua_Integer)event->id);
  if (lua_type(L, 2) != LUA_TSTRING) {   /* a finalizer may free the event's own copy of its name */
    lua_pushstring(L, event->name);
    lua_replace(L, 2);
  }
  const struct query_text text = {.text = lua_tostring(L, 2)};
  query_push_kept(L, box, 3, &text);
  return each_begin(L, loop_push(L, lua_gettop(L), LOOP_FOR, ALL_VIEWS));
}

const luaL_Reg world_event_methods[] = {
  {"after", event_world_after}, {"emit", event_world_emit}, {"event", world_event},
  {"events", world_events}, {NULL, NULL}};
