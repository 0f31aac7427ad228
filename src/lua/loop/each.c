#include <lauxlib.h>

#include "core/base/chance.h"
#include "core/query/changes.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/version.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

int function_parameters(lua_State *L, int function) {
  bool any;
  int count = parameter_count(L, function, &any);
  return any ? INT_MAX : count;
}

int wanted_arguments(lua_State *L, int function, const struct loop_box *loop) {
  int parameters = loop->parameters, most = (int)loop->slot_count + !loop->asking;
  if (LIKELY(!loop->events)) most += 1 + (int)value_count(loop);
  if (parameters == NOT_KNOWN) parameters = function_parameters(L, function);
  return parameters < most ? parameters : most;
}

/* ---- for views..., entity in q:each() --------------------------------------------- */

/* A nil in the first place would end the `for` loop, so absent values are false. */
static int each_push_step(lua_State *L, int loop_index, const struct loop_box *loop) {
  uint32_t row = loop->row;
  for (uint32_t i = 0; i < loop->slot_count; i++) {
    const struct slot *slot = &loop->slots[i];
    if (LIKELY(slot->view && slot->present)) {
      lua_getiuservalue(L, loop_index, LOOP_VALUES + 1 + (int)i);
      continue;
    }
    slot_push(L, loop_index, loop, slot, row);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_pushboolean(L, 0);
    }
  }
  if (UNLIKELY(loop->events)) {   /* an event is not an entity; one without fields is true */
    if (loop->slot_count) return (int)loop->slot_count;
    lua_pushboolean(L, 1);
    return 1;
  }
  lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
  if (UNLIKELY(loop->walk)) loop_push_values(L, loop, UINT32_MAX);
  return (int)(loop->slot_count + 1 + value_count(loop));
}

/* Moves to the next row that the loop visits; false at the end. */
static bool each_next_row(lua_State *L, int loop_index, struct loop_box *loop) {
  for (;;) {
    while (loop->next_row < loop->count && !loop_takes(loop, loop->next_row)) loop->next_row++;
    if (LIKELY(loop->next_row < loop->count)) {
      if (loop->body != BODY_LUA) body_run(L, loop_index, loop);
      if (loop->body == BODY_PROGRAM) continue;
      if (LIKELY(loop->next_row < loop->count)) return true;
    }
    if (!loop_next_run(loop)) return false;
    if (UNLIKELY(loop->fill)) loop->fill(L, loop_index);
  }
}

static int each_next(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, lua_upvalueindex(1));
  if (UNLIKELY(!loop->open)) return loop->done ? 0 : loop_gone(L, loop);
  loop_be_innermost(L, lua_upvalueindex(1), loop);
  if (UNLIKELY(!each_next_row(L, lua_upvalueindex(1), loop))) {
    loop->done = true;
    loop_commit(L, lua_upvalueindex(1), loop);
    return 0;
  }
  loop->row = loop->next_row++;
  loop->box->kernels->stepped++;
  if (UNLIKELY(loop->walk || loop->slot_count > LUA_MINSTACK - 4))
    need_stack(L, (int)(loop->slot_count + value_count(loop)) + 4);
  return each_push_step(L, lua_upvalueindex(1), loop);
}

int each_begin(lua_State *L, struct loop_box *loop) {
  return loop_begin(L, loop, each_next);
}

/* ---- q:each(fn, dt) --------------------------------------------------------------- */

/* Where the parts of a call are on the stack. */
struct call {
  int loop, function, views;
  int slots, arguments;      /* number of all arguments: slots, dt, entity, as many as the function
                             ** takes */
  row_fn each;               /* receives results, or NULL */
  void *ud;
};

static void call_row(lua_State *L, const struct call *frame, const struct loop_box *loop,
                     uint32_t row, double dt) {
  int slots = frame->arguments < frame->slots ? frame->arguments : frame->slots;
  lua_pushvalue(L, frame->function);
  for (int i = 0; i < slots; i++) {
    const struct slot *slot = &loop->slots[i];
    if (LIKELY(slot->view && slot->present))
      lua_pushvalue(L, frame->views + i);
    else
      slot_push(L, frame->loop, loop, slot, row);
  }
  if (frame->arguments > frame->slots && UNLIKELY(loop->asking))
    push_entity(L, loop, row, frame->arguments - frame->slots);
  else if (frame->arguments > frame->slots)
    push_rest(L, loop, row, dt, frame->arguments - frame->slots);
  lua_call(L, frame->arguments, frame->each ? 1 : 0);
  loop_be_innermost(L, frame->loop, loop);
  if (UNLIKELY(!loop->open)) loop_gone(L, loop);
}

/* Pushes what calls for the loop's rows need, including the views. */
INLINE struct call each_push_call(lua_State *L, int top, int loop_index,
                                  const struct loop_box *loop, int function) {
  int slots = (int)loop->slot_count;
  int need = 2 * slots + 8 + (int)value_count(loop);
  if (top + need > LUA_MINSTACK) need_stack(L, need);   /* the arguments come on top of that */
  struct call call = {loop_index, function, top + 1, slots, 0, NULL, NULL};
  bool fewer = loop->parameters != NOT_KNOWN && loop->parameters <= slots;
  call.arguments = fewer ? loop->parameters : wanted_arguments(L, function, loop);
  for (int i = 0; i < slots && i < call.arguments; i++)
    lua_getiuservalue(L, loop_index, LOOP_VALUES + 1 + i);
  return call;
}

/* Calls the function for rows from `from` to `to` (excluded) of the loop's current run. */
static void call_between(lua_State *L, const struct call *call, struct loop_box *loop, double dt,
                         uint32_t from, uint32_t to) {
  uint64_t before = loop->box->world->rows_run, done = 0;
  for (uint32_t row = from; row < to; row++) {
    if (!loop_takes(loop, row)) continue;
    done++;
    loop->row = row;
    loop->chance->calls = 0;
    call_row(L, call, loop, row, dt);
    if (!call->each) continue;
    call->each(L, loop, row, call->ud);
    lua_pop(L, 1);
  }
  if (loop->box->world) loop->box->world->rows_run = before + done;
}

void each_between(lua_State *L, int loop_index, int function, double dt, uint32_t from, uint32_t to,
                  row_fn each, void *ud) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  int top = lua_gettop(L);
  struct call call = each_push_call(L, top, loop_index, loop, function);
  call.each = each;
  call.ud = ud;
  call_between(L, &call, loop, dt, from, to);
  lua_settop(L, top);
}

void each_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt) {
  assert(lua_gettop(L) == loop_index && lua_touserdata(L, loop_index) == loop);
  struct call call = each_push_call(L, loop_index, loop_index, loop, function);
  while (loop_next_run(loop)) {
    if (UNLIKELY(loop->fill)) loop->fill(L, loop_index);
    call_between(L, &call, loop, dt, 0, loop->count);
  }
}

/* ---- elements ---- */

void elements_between(lua_State *L, const struct elements *elements, uint32_t from, uint32_t to) {
  int arguments = elements->parameters < 2 ? elements->parameters : 2;
  uint64_t done = elements->box->world->rows_run;
  for (; from < to; from++) {
    *elements->at = from + 1;
    elements->box->chance->calls = 0;
    lua_pushvalue(L, elements->function);
    lua_pushinteger(L, (lua_Integer)from + 1);
    lua_pushnumber(L, (lua_Number)elements->dt);
    lua_settop(L, lua_gettop(L) - 2 + arguments);
    lua_call(L, arguments, 0);
    if (UNLIKELY(!elements->box->world)) luaL_error(L, "the world is closed");
    elements->box->world->rows_run = ++done;
  }
  *elements->at = 0;
}

/* ---- form ---- */

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

/* Ends the loop of a body that has returned, or raises its error, which names the entity if a row
** failed. */
static void each_body_end(lua_State *L, int loop_index, struct loop_box *loop, int status,
                          ecs_id entity) {
  if (status != LUA_OK) {
    while (!FOR_CLOSES && loop->open && loop->box->loops->open != loop)
      loop_cancel(loop->box->loops->open);
    loop_cancel(loop);
    failure_name(L, entity);
    lua_error(L);
  }
  loop->done = true;
  if (!loop->open) loop_gone(L, loop);
  loop_be_innermost(L, loop_index, loop);
  loop_commit(L, loop_index, loop);
}

void body_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments) {
  int status = attempt_call(L, arguments, 0);
  each_body_end(L, loop_index, loop, status, ECS_NULL);
}

int drawing_pcall(lua_State *L, const struct loop_box *loop, int arguments,
                  struct chance stream) {
  struct chance outer = *loop->chance;
  *loop->chance = stream;
  int status = attempt_call(L, arguments, 0);
  if (loop->box->world) *loop->chance = outer;
  return status;
}

/* A form that fails, even while its changes are applied, does not use up a random stream. */
void form_call(lua_State *L, int loop_index, struct loop_box *loop, int arguments, bool by_rows) {
  int status = drawing_pcall(L, loop, arguments, chance_form(loop->chance));
  bool names = by_rows && status != LUA_OK && status != LUA_ERRMEM;
  each_body_end(L, loop_index, loop, status, names ? failure_row(loop) : ECS_NULL);
  if (loop->box->world) loop->chance->opened++;
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
  form_call(L, AT_LOOP, loop, 3, true);
}
