#include "lua/loop/form.h"

#include "lua/bind/attempt.h"
#include "lua/bind/world_box.h"
#include "lua/bind/failure.h"
#include "lua/loop/loop.h"
#include "lua/loop/loop_box.h"
#include "lua/api/lua_query.h"
#include "core/base/chance.h"
#include "core/query/changes.h"
#include "lua/loop/where.h"

struct query_box *check_form(lua_State *L) {
  struct query_box *query = check_source(L, 3);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (!lua_isnil(L, 3)) luaL_checktype(L, 3, LUA_TNUMBER);
  return query;
}

struct form {
  rows_fn rows;
  double dt;
};

/* body(function, loop, form) */
static int form_body(lua_State *L) {
  const struct form *form = lua_touserdata(L, 3);
  lua_settop(L, 2);
  form->rows(L, lua_touserdata(L, 2), 2, 1, form->dt);
  return 0;
}

/* Ends the loop of a body that has returned, or raises its error, with an entity if it is of one's
** row. */
static void body_end(lua_State *L, int loop_index, struct loop_box *loop, int status,
                     ecs_id entity) {
  if (status != LUA_OK) {
    loop_cancel(loop);
    failure_name(L, entity);
    lua_error(L);
  }
  loop->done = true;
  if (!loop->open) loop_gone(L, loop);
  loop_commit(L, loop_index, loop);
}

void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments) {
  int status = attempt_call(L, arguments, 0);
  body_end(L, loop_index, loop, status, ECS_NULL);
}

int drawing_pcall(lua_State *L, const struct loop_box *loop, int arguments,
                  struct chance stream) {
  struct chance outer = *loop->chance;
  *loop->chance = stream;
  int status = attempt_call(L, arguments, 0);
  if (loop->box->world) *loop->chance = outer;
  return status;
}

/* A form that fails, be it when its commands apply, has taken no stream. */
static void call_form(lua_State *L, int loop_index, struct loop_box *loop, int arguments,
                      bool by_rows) {
  int status = drawing_pcall(L, loop, arguments, chance_form(loop->chance));
  bool names = by_rows && status != LUA_OK && status != LUA_ERRMEM;
  body_end(L, loop_index, loop, status, names ? failure_row(loop) : ECS_NULL);
  if (loop->box->world) loop->chance->opened++;
}

void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments) {
  call_form(L, loop_index, loop, arguments, false);
}

void rows_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments) {
  call_form(L, loop_index, loop, arguments, true);
}

void form_take_back(const struct query_box *query, uint64_t seen) {
  if (!query->box->world) return;
  query->box->chance->opened--;
  changes_keep(query->query, seen);
}

void run_form(lua_State *L, bool views, rows_fn rows) {
  enum { AT_FUNCTION = 2, AT_DT, AT_FILTER, AT_LOOP };
  struct form form = {rows, lua_tonumber(L, AT_DT)};
  assert(lua_gettop(L) == AT_FILTER);
  int count = views ? function_parameters(L, AT_FUNCTION) : 0;
  struct loop_box *loop = source_loop(L, AT_FILTER, false, count);
  loop_open(L, loop);
  lua_pushcfunction(L, form_body);
  lua_pushvalue(L, AT_FUNCTION);
  lua_pushvalue(L, AT_LOOP);
  lua_pushlightuserdata(L, &form);
  rows_call(L, AT_LOOP, loop, 3);
}
