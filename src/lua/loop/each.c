#include "lua/loop/each.h"

#include "core/base/chance.h"

#include "lua/bind/args.h"
#include "lua/loop/loop.h"
#include "lua/bind/slot.h"

int function_parameters(lua_State *L, int function) {
  lua_Debug info;
  lua_pushvalue(L, function);
  lua_getinfo(L, ">u", &info);
  return info.isvararg ? INT_MAX : info.nparams;
}

int wanted_arguments(lua_State *L, int function, const struct loop_box *loop) {
  int parameters = loop->parameters, most = (int)loop->slot_count + !loop->asking;
  if (LIKELY(!loop->events)) most += 1 + (int)value_count(loop);
  if (parameters == NOT_KNOWN) parameters = function_parameters(L, function);
  return parameters < most ? parameters : most;
}

/* ---- for views..., entity in q:each() --------------------------------------------- */

/* An event is no entity; one without fields is true. */
static int push_event(lua_State *L, const struct loop_box *loop) {
  if (loop->slot_count) return (int)loop->slot_count;
  lua_pushboolean(L, 1);
  return 1;
}

/* nil would end the loop where it comes first: what is not there is false. */
static int push_step(lua_State *L, int loop_index, const struct loop_box *loop) {
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
  if (UNLIKELY(loop->events)) return push_event(L, loop);
  lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
  if (UNLIKELY(loop->walk)) loop_push_values(L, loop, UINT32_MAX);
  return (int)(loop->slot_count + 1 + value_count(loop));
}

/* The next row that the loop goes through; false at the end. */
static bool each_next_row(lua_State *L, int loop_index, struct loop_box *loop) {
  for (;;) {
    while (loop->next_row < loop->count && !loop_takes(loop, loop->next_row)) loop->next_row++;
    if (LIKELY(loop->next_row < loop->count)) return true;
    if (!loop_next_run(loop)) return false;
    if (UNLIKELY(loop->fill)) loop->fill(L, loop_index);
  }
}

static int each_next(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, lua_upvalueindex(1));
  if (UNLIKELY(!loop->open)) return loop->done ? 0 : loop_gone(L, loop);
  if (UNLIKELY(!each_next_row(L, lua_upvalueindex(1), loop))) {
    loop->done = true;
    loop_commit(L, lua_upvalueindex(1), loop);
    return 0;
  }
  loop->row = loop->next_row++;
  if (UNLIKELY(loop->walk || loop->slot_count > LUA_MINSTACK - 4))
    need_stack(L, (int)(loop->slot_count + value_count(loop)) + 4);
  return push_step(L, lua_upvalueindex(1), loop);
}

int each_begin(lua_State *L, struct loop_box *loop) {
  return loop_begin(L, loop, each_next);
}

/* ---- q:each(fn, dt) --------------------------------------------------------------- */

/* Where the parts of a call lie on the stack. */
struct call {
  int loop, function, views;
  int slots, arguments;      /* arguments in all: slots, dt, entity, as far as they are taken */
  row_fn each;               /* what takes a result, or NULL */
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
  if (UNLIKELY(!loop->open)) loop_gone(L, loop);
}

/* Pushes what calls for the loop's rows need: the views that they are given. */
INLINE struct call push_call(lua_State *L, int top, int loop_index, const struct loop_box *loop,
                             int function) {
  int slots = (int)loop->slot_count;
  int need = 2 * slots + 8 + (int)value_count(loop);
  if (top + need > LUA_MINSTACK) need_stack(L, need);   /* arguments come on top of that */
  struct call call = {loop_index, function, top + 1, slots, 0, NULL, NULL};
  bool fewer = loop->parameters != NOT_KNOWN && loop->parameters <= slots;
  call.arguments = fewer ? loop->parameters : wanted_arguments(L, function, loop);
  for (int i = 0; i < slots && i < call.arguments; i++)
    lua_getiuservalue(L, loop_index, LOOP_VALUES + 1 + i);
  return call;
}

/* The rows of the loop's current run between two. */
static void call_between(lua_State *L, const struct call *call, struct loop_box *loop, double dt,
                         uint32_t from, uint32_t to) {
  for (uint32_t row = from; row < to; row++) {
    if (!loop_takes(loop, row)) continue;
    loop->row = row;
    loop->chance->calls = 0;
    call_row(L, call, loop, row, dt);
    if (!call->each) continue;
    call->each(L, loop, row, call->ud);
    lua_pop(L, 1);
  }
}

void each_between(lua_State *L, int loop_index, int function, double dt, uint32_t from, uint32_t to,
                  row_fn each, void *ud) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  int top = lua_gettop(L);
  struct call call = push_call(L, top, loop_index, loop, function);
  call.each = each;
  call.ud = ud;
  call_between(L, &call, loop, dt, from, to);
  lua_settop(L, top);
}

void each_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt) {
  assert(lua_gettop(L) == loop_index && lua_touserdata(L, loop_index) == loop);
  struct call call = push_call(L, loop_index, loop_index, loop, function);
  while (loop_next_run(loop)) {
    if (UNLIKELY(loop->fill)) loop->fill(L, loop_index);
    call_between(L, &call, loop, dt, 0, loop->count);
  }
}
