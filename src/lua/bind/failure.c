#include "lua/jit/kernel.h"

#include "core/base/text.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

struct finishing {
  struct kernel *kernel;
  struct rest rest;
  double dt;
  ecs_id entity;               /* the entity in the row for which the function is called; ECS_NULL
                               ** for events */
};

/* Moves to the next run of rows at or after those that remain. */
static bool failure_next_run(struct loop_box *loop, struct rest *rest) {
  bool more = loop_next_run(loop);
  while (more && rest->entity != ECS_NULL && loop_entity(loop, 0) != rest->entity)
    more = loop_next_run(loop);
  rest->entity = ECS_NULL;
  return more;
}

static void finish_row(lua_State *L, struct loop_box *loop, struct finishing *finishing,
                       uint32_t row) {
  const struct rest *rest = &finishing->rest;
  finishing->kernel->left++;
  finishing->kernel->all_left++;
  if (!loop->events) finishing->entity = loop_entity(loop, row);
  if (finishing->kernel->result == RESULT_MAP)
    map_row(L, 1, 2, finishing->dt, row);
  else
    each_between(L, 1, 2, finishing->dt, row, row + 1, rest->each, rest->ud);
}

/* body(loop, function, finishing, handle, anchors) */
static int finish_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  struct finishing *finishing = lua_touserdata(L, 3);
  struct rest *rest = &finishing->rest;
  if (rest->go_on) {
    do {
      if (loop_seek(loop, rest->match, rest->row, rest->turn)) finish_row(L, loop, finishing, 0);
      finishing->entity = ECS_NULL;
    } while (rest->go_on(L, 4, 5, rest));
    return 0;
  }
  while (rest->count && failure_next_run(loop, rest)) {
    uint32_t row = rest->before < loop->count ? (uint32_t)rest->before : loop->count;
    rest->before -= row;
    for (; row < loop->count && rest->count; row++, rest->count--)
      finish_row(L, loop, finishing, row);
  }
  return 0;
}

/* The end of "file:line: " at the start of a message, before any traceback; or its start. */
static const char *failure_behind_position(const char *message) {
  const char *end = strstr(message, "\nstack traceback:");
  for (const char *at = strchr(message, ':'); at && (!end || at < end); at = strchr(at + 1, ':')) {
    size_t digits = strspn(at + 1, "0123456789");
    if (digits && at[digits + 1] == ':' && at[digits + 2] == ' ') return at + digits + 3;
  }
  return message;
}

static const char traced_key = 0;

bool failure_is_traced(lua_State *L, int index) {
  index = lua_absindex(L, index);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &traced_key);
  bool kept = !lua_isnil(L, -1), traced = kept && lua_rawequal(L, -1, index);
  lua_pop(L, 1);
  if (kept) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &traced_key);
  }
  return traced;
}

/* Whether a text begins with "entity 65536v2@1: ". */
static bool failure_names_entity(const char *text) {
  static const char begin[] = "entity ";
  if (strncmp(text, begin, sizeof begin - 1) != 0) return false;
  text += sizeof begin - 1;
  size_t id = strspn(text, "0123456789v@");
  return id && text[id] == ':' && text[id + 1] == ' ';
}

/* Inserts a name before `text` in the message at the top of the stack. */
static void failure_put(lua_State *L, const char *message, const char *text, const char *name) {
  need_stack(L, 8);
  lua_pushlstring(L, message, (size_t)(text - message));
  lua_pushstring(L, name);
  lua_pushstring(L, text);
  lua_concat(L, 3);
  lua_replace(L, -2);
}

void failure_name(lua_State *L, ecs_id entity) {
  const char *message = entity != ECS_NULL ? lua_tostring(L, -1) : NULL;
  const char *text = message ? failure_behind_position(message) : NULL;
  char name[48];
  if (!text || failure_names_entity(text)) return;
  text_format(name, sizeof name, "entity " SHOW_ID ": ", entity);
  failure_put(L, message, text, name);
}

void failure_name_element(lua_State *L, const char *array, uint32_t element) {
  const char *message = lua_tostring(L, -1);
  char name[160];
  text_format(name, sizeof name, "%s[%u]: ", array, element);
  if (message) failure_put(L, message, failure_behind_position(message), name);
}

ecs_id failure_row(const struct loop_box *loop) {
  bool within = loop && loop->open && loop->box->world && !loop->events;
  return within && loop->row < loop->count ? loop_entity(loop, loop->row) : ECS_NULL;
}

void kernel_finish(lua_State *L, int handle, const struct run_failure *failure, double dt,
                   const struct rest *rest, bool in_system) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct finishing finishing = {box->kernel, *rest, dt, failure->entity};
  int top = lua_gettop(L);
  assert(!rest->each == !RESULT_IS_USED(box->kernel->result));
  need_stack(L, 16);
  lua_getiuservalue(L, handle, KERNEL_QUERY);
  kernel_push_function(L, handle);
  struct loop_box *loop = loop_push(L, top + 1, LOOP_SYSTEM, function_parameters(L, top + 2));
  loop_open(L, loop);
  loop->asking = box->kernel->result == RESULT_TRUTH;
  loop->match = rest->match;
  loop->filter = rest->filter;
  if (rest->limit) loop->walk->limit = rest->limit;
  lua_pushcfunction(L, in_system ? frame_trace : attempt_handler);
  int handler = lua_gettop(L);
  lua_pushcfunction(L, finish_body);
  lua_pushvalue(L, top + 3);
  lua_pushvalue(L, top + 2);
  lua_pushlightuserdata(L, &finishing);
  lua_pushvalue(L, handle);
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int status = lua_pcall(L, 5, 0, handler);
  loop_end(loop);
  if (status != LUA_OK && status != LUA_ERRMEM) failure_name(L, finishing.entity);
  if (status != LUA_OK && in_system) {
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &traced_key);
  }
  if (status != LUA_OK) lua_error(L);
  lua_settop(L, top);
}
