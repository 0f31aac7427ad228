#include "lua/kernel_query.h"

#include "core/store/query.h"
#include "core/store/query_rows.h"
#include "core/store/world.h"
#include "kernel/program.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/closure.h"
#include "lua/each.h"
#include "lua/form.h"
#include "lua/kernel_ready.h"
#include "lua/kernel_run.h"
#include "lua/kernel_variant.h"
#include "lua/loop.h"
#include "lua/loop_box.h"
#include "lua/lua_query.h"
#include "lua/slot.h"

/* QUERY_KERNELS has a table for each result, with functions as weak keys, and behind these one for
** each result with what was known of closures (closure.c). */
#define RESULTS (RESULT_MAX + 1)

static void push_kernels(lua_State *L, int query_index) {
  if (lua_getiuservalue(L, query_index, QUERY_KERNELS) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, query_index, QUERY_KERNELS);
}

/* Pushes the table at a place of the one on the top, made when there is none. */
static void push_place(lua_State *L, lua_Integer place, const char *mode) {
  if (lua_rawgeti(L, -1, place) != LUA_TNIL) return;
  lua_pop(L, 1);
  if (mode)
    new_weak_table(L, mode);
  else
    lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, place);
}

/* Pushes a new kernel for the function. */
static void push_new(lua_State *L, int query_index, int function, enum front_result result) {
  struct query_box *query = lua_touserdata(L, query_index);
  int world = push_query_world(L, query_index);
  kernel_push(L, query->box, world, function, query_index, result)->given = true;
  lua_remove(L, world);
  int handle = lua_gettop(L);
  push_kernels(L, query_index);
  push_place(L, RESULTS + (lua_Integer)result + 1, NULL);
  closure_share(L, handle + 2, function, handle);
  lua_settop(L, handle);
}

void kernel_of_query(lua_State *L, int query_index, int function,
                     enum front_result result) {
  int top = lua_gettop(L);
  push_kernels(L, query_index);
  push_place(L, (lua_Integer)result + 1, "k");
  lua_pushvalue(L, function);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    push_new(L, query_index, function, result);
    lua_pushvalue(L, function);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  /* What was allocated here may have let a finalizer run that closes the world. */
  const struct query_box *query = lua_touserdata(L, query_index);
  if (UNLIKELY(!query->box->world || !query->query)) raise_error(L, "the world is closed");
}

/* body(handle, loop, run) */
static int kernel_body(lua_State *L) {
  kernel_run(L, 1, lua_touserdata(L, 2), lua_touserdata(L, 3));
  return 0;
}

/* Runs the handle's programs in a scope of their own, over the query at 1. */
static void run_in_loop(lua_State *L, int handle, struct kernel_run *run) {
  struct loop_box *loop = loop_push(L, 1, LOOP_FUNCTION, 0);
  int index = lua_gettop(L);
  loop_open(L, loop);
  lua_pushcfunction(L, kernel_body);
  lua_pushvalue(L, handle);
  lua_pushvalue(L, index);
  lua_pushlightuserdata(L, run);
  form_call(L, index, loop, 3);
}

static double seconds(lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg)) return 0;
  luaL_checktype(L, arg, LUA_TNUMBER);
  return (double)lua_tonumber(L, arg);
}

/* q:run(fn, dt): fn for every row, as a program; an error when it cannot be one. */
int query_run(lua_State *L) {
  struct query_box *query = check_query(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  struct kernel_run run = {.dt = seconds(L, 3)};
  lua_settop(L, 3);
  kernel_of_query(L, 1, 2, RESULT_NONE);
  if (!query->box->kernels->on) {
    lua_pop(L, 1);
    return run_form(L, true, each_rows);
  }
  lua_replace(L, 3);
  if (!kernel_ready(L, 3))
    return luaL_argerror(L, 2, lua_pushfstring(L, "the function cannot be compiled: %s "
                                                  "(q:each takes any function)",
                                               lua_tostring(L, -1)));
  run_in_loop(L, 3, &run);
  return 0;
}

/* ---- reductions ---- */

struct folding {
  k_reduce how;
  bool integers, floats;
  k_total total;
  struct loop_box *loop;
  uint32_t step;               /* of the loop, or its table, that `part` is for */
  k_folding part;
  ecs_id first;                /* whose value is that of `part` */
};

static void end_part(struct folding *folding) {
  if (folding->step)
    k_fold_end(&folding->part, folding->how, folding->floats ? KT_F64 : KT_I64,
               &folding->total);
  if (folding->step && folding->total.won) folding->total.entity = folding->first;
  folding->step = 0;
}

/* The forms' names, for messages. */
static const char *const names[] = {[KR_SUM] = "sum", [KR_MIN] = "min", [KR_MAX] = "max"};

/* One row's result, at the top of the stack. */
static void fold_row(lua_State *L, struct loop_box *loop, uint32_t row, void *ud) {
  struct folding *folding = ud;
  k_scalar value;
  memset(&value, 0, sizeof value);
  uint32_t step = loop->walk ? loop->step : loop->match;
  if (lua_type(L, -1) != LUA_TNUMBER)
    luaL_error(L, "bad argument #1 to '%s' (the function returned %s, not a number)",
               names[folding->how], luaL_typename(L, -1));
  bool integer = lua_isinteger(L, -1);
  if ((integer && folding->floats) || (!integer && folding->integers))
    luaL_error(L, "bad argument #1 to '%s' (the function returned integers and floats)",
               names[folding->how]);
  *(integer ? &folding->integers : &folding->floats) = true;
  if (folding->step != step) {
    end_part(folding);
    k_fold_begin(&folding->part, folding->how, integer ? KT_I64 : KT_F64);
    folding->step = step;
  }
  if (!loop->walk) folding->part.row = (uint32_t)(loop->rows - loop->table->rows) + row;
  if (integer)
    value.i64 = (int64_t)lua_tointeger(L, -1);
  else
    value.f64 = (double)lua_tonumber(L, -1);
  uint32_t number = folding->part.row;
  k_fold_row(&folding->part, folding->how, integer ? KT_I64 : KT_F64, value, 1);
  if (folding->part.first == number) folding->first = loop_entity(loop, row);
}

/* body(loop, function, folding) */
static int fold_body(lua_State *L) {
  struct folding *folding = lua_touserdata(L, 3);
  lua_settop(L, 2);
  each_results(L, 1, 2, 0, fold_row, folding);
  end_part(folding);
  return 0;
}

static void fold_in_lua(lua_State *L, struct folding *folding) {
  struct loop_box *loop = loop_push(L, 1, LOOP_FUNCTION, ALL_VIEWS);
  int index = lua_gettop(L);
  loop_open(L, loop);
  lua_pushcfunction(L, fold_body);
  lua_pushvalue(L, index);
  lua_pushvalue(L, 2);
  lua_pushlightuserdata(L, folding);
  form_call(L, index, loop, 3);
}

static bool is_integer(const struct variant *variant) {
  return (variant->plan.program->totals[0] & 3) == KT_I64;
}

/* The type that the program's total has. */
static bool total_is_integer(const struct kernel *kernel) {
  uint32_t i = 0;
  while (i < kernel->count && !kernel->variants[i]->plan.program) i++;
  return i == kernel->count || is_integer(kernel->variants[i]);
}

/* Whether the programs of all tables that have rows give totals of one type. Else Lua, row by
** row, comes to the first result that is of another one. */
static bool totals_agree(lua_State *L, int handle) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  const ecs_query *query = kernel->query;
  uint32_t integers = 0, floats = 0;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  for (uint32_t i = 0; i < query_reach(query) && query->terms.choices; i++) {
    const struct table *table = world_table(query->world, query->tables[i]);
    if (query_table_rows(&query->terms, table) == ROWS_NONE) continue;
    struct which which = variant_which(query, table);
    const struct variant *variant = variant_find(L, lua_gettop(L), kernel, which);
    *(variant && is_integer(variant) ? &integers : &floats) += 1;
  }
  lua_pop(L, 1);
  return !integers || !floats;
}

/* Whether a table's rows differ in the terms that are there: no program goes through all of them,
** and sums are made table by table. */
static bool any_varies(const ecs_query *query) {
  for (uint32_t i = 0; query->terms.toggled && i < query_reach(query); i++) {
    const struct table *table = world_table(query->world, query->tables[i]);
    if (query_table_rows(&query->terms, table) == ROWS_VARY) return true;
  }
  return false;
}

/* Pushes what it has come to, and behind the least or greatest whose it is; how many values. */
static int push_total(lua_State *L, const struct folding *folding) {
  const k_total *total = &folding->total;
  bool sum = folding->how == KR_SUM;
  if (total->rows == 0 && sum)
    lua_pushinteger(L, 0);
  else if (total->rows == 0)
    lua_pushnil(L);
  else if (folding->integers)
    lua_pushinteger(L, (lua_Integer)total->value.i64);
  else
    lua_pushnumber(L, (lua_Number)total->value.f64);
  if (sum || total->rows == 0) return 1;
  lua_pushinteger(L, (lua_Integer)total->entity);
  return 2;
}

static int reduce(lua_State *L, enum front_result result, k_reduce how) {
  struct query_box *query = check_query(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  struct folding folding = {.how = how};
  kernel_of_query(L, 1, 2, result);
  bool compiled = query->box->kernels->on && !any_varies(query->query) && kernel_ready(L, 3) &&
                  totals_agree(L, 3);
  if (compiled) {
    struct kernel_run run = {.total = &folding.total};
    run_in_loop(L, 3, &run);
    struct kernel_box *handle = lua_touserdata(L, 3);
    folding.integers = handle->kernel && total_is_integer(handle->kernel);
  } else {
    lua_settop(L, 3);
    fold_in_lua(L, &folding);
  }
  return push_total(L, &folding);
}

int query_sum(lua_State *L) { return reduce(L, RESULT_SUM, KR_SUM); }
int query_min(lua_State *L) { return reduce(L, RESULT_MIN, KR_MIN); }
int query_max(lua_State *L) { return reduce(L, RESULT_MAX, KR_MAX); }
