#include "lua/jit/kernel.h"

#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"

/* QUERY_KERNELS has a table for each result, with and without a q:where(fn), which has functions as
** weak keys, and then the same tables for closures. WORLD_REFS has, also by functions as weak keys,
** the last kernels by the texts of queries. So compiled programs live as long as their function,
** which no kernel keeps alive, and no longer than the world. */
#define RESULT_PLACES ((lua_Integer)2 * (RESULT_MAX + 1))

static lua_Integer kernel_query_place_of(struct use use) {
  return 2 * (lua_Integer)use.result + use.filtered;
}

/* Pushes a new kernel for the function. */
static void kernel_query_push_new(lua_State *L, int query_index, int function, struct use use) {
  struct query_box *query = lua_touserdata(L, query_index);
  const struct scan scan = {.box = query->box, .what = use.form, .query = query->query,
                            .form = use.result == RESULT_MAP ? FORM_MAP : FORM_ASK};
  if (use.result == RESULT_TRUTH || use.result == RESULT_MAP) scan_function(L, &scan, function);
  int key = lua_gettop(L) + 1, world = key + 1, last = key + 2, known = key + 3;
  query_push_key(L, query, kernel_query_place_of(use));
  push_query_world(L, query_index);
  if (lua_getiuservalue(L, world, WORLD_REFS) != LUA_TTABLE) raise_error(L, "the world is closed");
  lua_pushliteral(L, "kernels");
  push_part(L, "k");
  lua_pushvalue(L, function);
  push_part(L, NULL);
  lua_replace(L, last);
  lua_getiuservalue(L, query_index, QUERY_KERNELS);
  lua_pushinteger(L, RESULT_PLACES + kernel_query_place_of(use) + 1);
  push_part(L, NULL);
  lua_replace(L, known);
  lua_settop(L, known);
  kernel_push(L, query->box, world, function, query_index, use);
  closure_share(L, last, function, known + 1, key);
  closure_share(L, known, function, known + 1, 0);
  lua_replace(L, key);
  lua_settop(L, key);
}

void kernel_of_query(lua_State *L, int query_index, int function, struct use use) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, query_index, QUERY_KERNELS);
  lua_pushinteger(L, kernel_query_place_of(use) + 1);
  push_part(L, "k");
  lua_pushvalue(L, function);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    kernel_query_push_new(L, query_index, function, use);
    lua_pushvalue(L, function);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  /* An allocation here may have run a finalizer that has closed the world. */
  const struct query_box *query = lua_touserdata(L, query_index);
  if (UNLIKELY(!query->box->world || !query->query)) raise_error(L, "the world is closed");
  ((struct kernel_box *)lua_touserdata(L, -1))->form = use.form;
}

/* body(handle, loop, run) */
static int kernel_query_body(lua_State *L) {
  kernel_run(L, 1, lua_touserdata(L, 2), lua_touserdata(L, 3));
  return 0;
}

void run_in_scope(lua_State *L, int handle, struct kernel_run *run) {
  struct loop_box *loop = loop_push(L, 1, LOOP_FUNCTION, 0);
  int index = lua_gettop(L);
  loop_open(L, loop);
  lua_pushcfunction(L, kernel_query_body);
  lua_pushvalue(L, handle);
  lua_pushvalue(L, index);
  lua_pushlightuserdata(L, run);
  form_call(L, index, loop, 3, false);
}

/* The stack of forms that call a function for all rows, as check_form leaves it. */
enum { AT_QUERY = 1, AT_FUNCTION, AT_DT, AT_FILTER, AT_KERNEL };

/* body(loop, function, handle, run, maps): runs the function for the rows that pass the loop's
** filter, as a program if possible. */
static int kernel_query_filtered_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  const struct kernel_run *run = lua_touserdata(L, 4);
  bool maps = lua_toboolean(L, 5);
  while (loop_next_run(loop)) {
    loop->fill(L, 1);
    if (kernel_here(L, 3, loop, run)) continue;
    if (maps)
      map_here(L, 1, 2, run->dt);
    else
      each_between(L, 1, 2, run->dt, 0, loop->count, NULL, NULL);
  }
  return 0;
}

/* Calls the function for all rows, after check_form, as a program if possible; if it must be a
** program and cannot, raises the reason. */
static void kernel_query_for_all_rows(lua_State *L, const char *form, enum front_result result,
                                      bool must) {
  const struct query_box *query = lua_touserdata(L, AT_QUERY);
  struct kernel_run run = {.dt = (double)lua_tonumber(L, AT_DT)};
  bool filtered = !lua_isnil(L, AT_FILTER), maps = result == RESULT_MAP;
  kernel_of_query(L, AT_QUERY, AT_FUNCTION, (struct use){form, result, filtered});
  bool compiled = query->box->kernels->on && kernel_ready(L, AT_KERNEL, must, false);
  if (must && !compiled && query->box->kernels->on)
    luaL_argerror(L, AT_FUNCTION, lua_pushfstring(L, "the function cannot be compiled: %s (q:each "
                                                     "takes any function)", lua_tostring(L, -1)));
  lua_settop(L, compiled ? AT_KERNEL : AT_FILTER);
  if (!compiled) {
    run_form(L, !maps, maps ? map_rows : each_rows);
  } else if (!filtered) {
    run_in_scope(L, AT_KERNEL, &run);
  } else {
    struct loop_box *loop = source_loop(L, AT_FILTER, false, ALL_VIEWS);
    int index = lua_gettop(L);
    loop_open(L, loop);
    lua_pushcfunction(L, kernel_query_filtered_body);
    lua_pushvalue(L, index);
    lua_pushvalue(L, AT_FUNCTION);
    lua_pushvalue(L, AT_KERNEL);
    lua_pushlightuserdata(L, &run);
    lua_pushboolean(L, maps);
    form_call(L, index, loop, 5, true);
  }
}

int query_run(lua_State *L) {
  check_form(L);
  kernel_query_for_all_rows(L, "run", RESULT_NONE, true);
  return 0;
}

/* q:map(fn, dt): values in, values out. */
int query_map(lua_State *L) {
  map_check(L, check_form(L)->query, false);
  kernel_query_for_all_rows(L, "map", RESULT_MAP, false);
  return 0;
}

int query_each(lua_State *L) {
  if (lua_isnone(L, AT_FUNCTION)) {
    check_source(L, 1);
    return each_begin(L, source_loop(L, 2, true, ALL_VIEWS));
  }
  check_form(L);
  kernel_query_for_all_rows(L, "each", RESULT_NONE, false);
  return 0;
}
