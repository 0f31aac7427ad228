#include "lua/loop/loop.h"

#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/storage/table.h"
#include "kernel/program.h"
#include "kernel/share.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/jit/kernel.h"
#include "lua/loop/view.h"

/* The stack, as check_form leaves it. */
enum { AT_QUERY = 1, AT_FUNCTION, AT_DT, AT_FILTER, AT_KERNEL };

/* There are two of each: for rows with an integer result, and for rows with a float; in a sum, the
** second is for all rows, as floats. */
enum { INTEGERS, FLOATS, KINDS };
static const k_type types[KINDS] = {KT_I64, KT_F64};

struct folding {
  k_reduce how;
  const ecs_query *query;
  k_total total[KINDS];
  uint32_t step;               /* of the loop or its table, that `part` is for; events: */
  uint64_t seen;               /* the number of events so far */
  uint64_t present;            /* for the last batch of matches: the present slots, */
  uint32_t depth, batch;       /* the depth of its rows, and its number, from 1 */
  bool gave_up;                /* a program failed, so the function alone does all rows */
  k_folding part[KINDS];
  ecs_id first[KINDS];         /* the entities that gave the values of `part` */
};

static void reduce_begin_part(struct folding *folding) {
  for (int i = 0; i < KINDS; i++) k_fold_begin(&folding->part[i], folding->how, types[i]);
}

static void reduce_end_part(struct folding *folding) {
  for (int i = 0; i < KINDS && folding->step; i++) {
    k_total *total = &folding->total[i];
    k_fold_end(&folding->part[i], folding->how, types[i], total);
    if (total->won) total->entity = folding->first[i];
  }
  folding->step = 0;
}

/* The forms' names, for messages. */
static const char *const names[] = {[KR_SUM] = "sum", [KR_MIN] = "min", [KR_MAX] = "max"};

/* Whether matches are not contiguous. Asked about an open loop, which finalizers' declarations do
** not change. */
static bool reduce_is_batched(const struct loop_box *loop) {
  return loop->walk && loop->query->query->terms.step_count > 0;
}

/* The part for the next match, which follows the batches of matches. */
static uint32_t reduce_batch_of(struct folding *folding, const struct loop_box *loop) {
  uint64_t present = 0;
  uint32_t depth = walk_depth(loop->walk);
  for (uint32_t i = 0; i < loop->slot_count; i++)
    if (loop->slots[i].present) present |= (uint64_t)1 << i % 64;
  bool goes_on = folding->seen && folding->seen < MATCHES_ROWS && present == folding->present &&
                 depth == folding->depth;
  folding->seen = goes_on ? folding->seen + 1 : 1;
  folding->present = present;
  folding->depth = depth;
  folding->batch += !goes_on;
  return folding->batch;
}

/* Adds one row's result, which is at the top of the stack. */
static void fold_row(lua_State *L, struct loop_box *loop, uint32_t row, void *ud) {
  struct folding *folding = ud;
  /* The part that the row joins. A program takes a fixed number of events at a time or, after a
  ** predicate, all of them. */
  bool batched = reduce_is_batched(loop), by_number = !batched && loop->events && !loop->filter;
  uint32_t step = batched     ? reduce_batch_of(folding, loop)
                  : by_number ? 1 + (uint32_t)(folding->seen++ / KERNEL_EVENTS)
                              : loop->walk ? loop->step : loop->match;
  if (lua_type(L, -1) != LUA_TNUMBER)
    luaL_error(L, "bad argument #1 to '%s' (the function returned %s, not a number)",
               names[folding->how], luaL_typename(L, -1));
  if (folding->step != step) {
    reduce_end_part(folding);
    reduce_begin_part(folding);
    folding->step = step;
  }
  bool integer = !NUMBERS_ARE_DOUBLES && lua_isinteger(L, -1), sum = folding->how == KR_SUM;
  /* The row's number in its part, which may exceed the number of rows so far. */
  bool by_row = loop->events && loop->filter && !batched;
  uint32_t number = !loop->walk ? (uint32_t)(loop->rows - loop->table->rows) + row
                    : by_row    ? row
                                : folding->part[0].row;
  const k_scalar values[KINDS] = {{.i64 = (int64_t)lua_tointeger(L, -1)},
                                  {.f64 = (double)lua_tonumber(L, -1)}};
  for (int i = 0; i < KINDS; i++) {
    k_folding *part = &folding->part[i];
    bool joins = integer ? i == INTEGERS || sum : i == FLOATS;
    part->row = number;
    k_fold_row(part, folding->how, types[i], values[i], joins);
    if (joins && part->first == number) folding->first[i] = loop_entity(loop, row);
  }
}

/* Whether the least or greatest integer is the overall result; the numbers of both kinds are at the
** top of the stack. Lua compares them; if they are equal, the first in query order is taken. */
static bool reduce_integer_wins(lua_State *L, const struct folding *folding) {
  const k_total *integers = &folding->total[INTEGERS], *floats = &folding->total[FLOATS];
  bool min = folding->how == KR_MIN;
  if (!integers->rows || !floats->rows) return integers->rows > 0;
  if (!lua_compare(L, -1, -2, LUA_OPEQ))   /* NaN is neither less nor greater */
    return !lua_compare(L, min ? -1 : -2, min ? -2 : -1, LUA_OPLT);
  return integers->run == floats->run ? integers->row < floats->row
                                      : integers->run < floats->run;
}

/* Pushes the result and, after the least or greatest, its entity. Returns the number of values. A
** sum is an integer if all rows gave integers. */
static int reduce_push_total(lua_State *L, const struct folding *folding, bool entities) {
  const k_total *totals = folding->total;
  bool sum = folding->how == KR_SUM;
  if (!sum && !totals[INTEGERS].rows && !totals[FLOATS].rows) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, (lua_Integer)totals[INTEGERS].value.i64);
  lua_pushnumber(L, (lua_Number)totals[FLOATS].value.f64);
  bool integer = NUMBERS_ARE_DOUBLES ? false
                 : sum               ? totals[INTEGERS].rows == totals[FLOATS].rows
                                     : reduce_integer_wins(L, folding);
  if (integer) lua_pop(L, 1);
  if (sum || !entities) return 1;
  lua_pushinteger(L, (lua_Integer)totals[integer ? INTEGERS : FLOATS].entity);
  return 2;
}

/* Makes the total before a failed row the part that later rows join. */
static void fold_resume(uint32_t match, void *ud) {
  struct folding *folding = ud;
  const struct table *table = query_table(folding->query, match);
  const struct entity_index *entities = &folding->query->world->entities;
  for (int i = 0; i < KINDS; i++)
    if (folding->part[i].rows)
      folding->first[i] = entity_id(entities, table->rows[folding->part[i].first]);
  folding->step = match + 1;
}

static struct kernel_run reduce_run_to_total(struct folding *folding) {
  reduce_begin_part(folding);
  for (int i = 0; i < KINDS; i++) folding->total[i].part = &folding->part[i];
  return (struct kernel_run){.total = folding->total, .each = fold_row, .resume = fold_resume,
                             .gave_up = &folding->gave_up, .ud = folding};
}

/* body(loop, function, handle, folding) */
static int fold_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  struct folding *folding = lua_touserdata(L, 4);
  while (source_next(L, loop)) {
    bool some = source_row(loop, 0) < loop->count;
    if (loop->fill && !some) continue;
    if (loop->fill && loop->box->kernels->on && kernel_variant_here(L, 3, loop)) {
      reduce_end_part(folding);
      struct kernel_run run = reduce_run_to_total(folding);
      if (kernel_here(L, 3, loop, &run)) continue;
    }
    each_between(L, 1, 2, 0, 0, loop->count, fold_row, folding);
  }
  reduce_end_part(folding);
  return 0;
}

static int reduce_rows(lua_State *L, enum front_result result, k_reduce how) {
  lua_settop(L, AT_FUNCTION);
  struct query_box *query = check_form(L);
  struct folding folding = {.how = how, .query = query->query};
  struct folding anew = folding;
  bool entities = !query->query->terms.event;
  bool filtered = !lua_isnil(L, AT_FILTER);
  uint64_t seen = query->query->seen;
  kernel_of_query(L, AT_QUERY, AT_FUNCTION, (struct use){names[how], result, filtered});
  bool compiled = !filtered && query->box->kernels->on && kernel_ready(L, AT_KERNEL, false, false);
  if (compiled) {
    struct kernel_run run = reduce_run_to_total(&folding);
    run_in_scope(L, AT_KERNEL, &run);
    reduce_end_part(&folding);
  }
  if (!compiled || folding.gave_up) {
    if (folding.gave_up) form_take_back(query, seen);
    folding = anew;
    lua_settop(L, AT_KERNEL);
    struct loop_box *loop = source_loop(L, AT_FILTER, false, ALL_VIEWS);
    int index = lua_gettop(L);
    loop_open(L, loop);
    lua_pushcfunction(L, fold_body);
    lua_pushvalue(L, index);
    lua_pushvalue(L, AT_FUNCTION);
    lua_pushvalue(L, AT_KERNEL);
    lua_pushlightuserdata(L, &folding);
    form_call(L, index, loop, 4, true);
  }
  return reduce_push_total(L, &folding, entities);
}

int query_sum(lua_State *L) { return reduce_rows(L, RESULT_SUM, KR_SUM); }
int query_min(lua_State *L) { return reduce_rows(L, RESULT_MIN, KR_MIN); }
int query_max(lua_State *L) { return reduce_rows(L, RESULT_MAX, KR_MAX); }
