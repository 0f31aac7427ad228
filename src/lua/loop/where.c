/* q:where(fn): a query whose rows also satisfy a function, compiled if possible. */
#include "lua/loop/loop.h"

#include "core/base/chance.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"

const char kind_where = 0;

#define WHERE_QUERY 1        /* user values */
#define WHERE_FUNCTION 2
#define WHERE_OUTER 3        /* the q:where(fn) that filters before it; nil: none */
#define WHERE_VALUES 3
#define WHERE_DEPTH 16       /* most predicates in a chain */

struct where_box {
  struct head head;
  int depth;
};

/* ---- making ---- */

/* Pushes the kernel of the predicate at one index over the query at another, for rows that have
** passed another predicate, or for all rows. */
static void where_push_predicate(lua_State *L, int query_index, int function, bool filtered) {
  kernel_of_query(L, query_index, function, (struct use){"where", RESULT_TRUTH, filtered});
}

/* If argument 1 is a q:where(fn), replaces it by its query and pushes the q:where(fn); otherwise
** pushes nil. Returns the number of its predicates. */
static int open_where(lua_State *L) {
  const struct where_box *where = box_test(L, 1, &kind_where, sizeof *where);
  if (!where) {
    lua_pushnil(L);
    return 0;
  }
  lua_pushvalue(L, 1);
  lua_getiuservalue(L, 1, WHERE_QUERY);
  lua_replace(L, 1);
  return where->depth;
}

struct query_box *check_source(lua_State *L, int arguments) {
  lua_settop(L, arguments);
  open_where(L);
  return check_query(L, 1);
}

struct query_box *check_entities(lua_State *L, int arguments) {
  struct query_box *query = check_source(L, arguments);
  if (query->query->terms.event)
    raise_status(L, query->box->world, query_no_entities(query->query));
  return query;
}

/* While scripts are read a query has no terms yet: the function is compiled on first use. */
int query_where(lua_State *L) {
  enum { AT_QUERY = 1, AT_FUNCTION, AT_OUTER, AT_WHERE };
  lua_settop(L, AT_FUNCTION);
  int depth = open_where(L) + 1;
  const struct query_box *query = box_test(L, AT_QUERY, &kind_query, sizeof *query);
  bool pending = query && query->box->world && query->pending;
  if (!pending) check_query(L, AT_QUERY);
  luaL_checktype(L, AT_FUNCTION, LUA_TFUNCTION);
  if (depth > WHERE_DEPTH)
    raise_error(L, "where: more than %d predicates in a chain: write one with 'and'", WHERE_DEPTH);
  if (!pending) where_push_predicate(L, AT_QUERY, AT_FUNCTION, depth > 1);
  lua_settop(L, AT_OUTER);
  struct where_box *where =
      new_box_of(L, &kind_where, sizeof *where, WHERE_VALUES, AT_QUERY);
  where->depth = depth;
  lua_pushvalue(L, AT_FUNCTION);
  lua_setiuservalue(L, AT_WHERE, WHERE_FUNCTION);
  lua_pushvalue(L, AT_OUTER);
  lua_setiuservalue(L, AT_WHERE, WHERE_OUTER);
  return 1;
}

/* ---- the rows of a table ---- */

static void where_keep_bits(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud) {
  (void)L;
  memcpy(ud, bitmap, (loop->count + 63) / 64 * sizeof *bitmap);
}

static void where_keep_truth(lua_State *L, struct loop_box *loop, uint32_t row, void *ud) {
  uint64_t *bits = ud;
  (void)loop;
  if (lua_toboolean(L, -1)) bits[row / 64] |= (uint64_t)1 << row % 64;
}

/* body(loop, function, kernel, bits) */
static int where_ask_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  uint64_t *bits = lua_touserdata(L, 4);
  bool gave_up = false;
  struct kernel_run run = {.truth = where_keep_bits,
                           .each = where_keep_truth,
                           .gave_up = &gave_up,
                           .ud = bits};
  bool compiled = loop->box->kernels->on && kernel_here(L, 3, loop, &run);
  if (!compiled) each_between(L, 1, 2, 0, 0, loop->count, where_keep_truth, bits);
  return 0;
}

/* Restricts the rows of the loop's run to those that pass the filter at an index. */
static void where_ask(lua_State *L, int loop_index, int where) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  size_t size = (loop->count + 63) / 64 * sizeof(uint64_t);
  lua_pushcfunction(L, where_ask_body);
  lua_pushvalue(L, loop_index);
  lua_getiuservalue(L, where, WHERE_FUNCTION);
  lua_getiuservalue(L, where, WHERE_QUERY);
  int query = lua_gettop(L);
  where_push_predicate(L, query, query - 1,
                       ((struct where_box *)lua_touserdata(L, where))->depth > 1);
  lua_replace(L, query);
  uint64_t *bits = lua_newuserdatauv(L, size, 0);
  memset(bits, 0, size);
  lua_pushvalue(L, -1);
  lua_insert(L, -6);
  if (!loop->open) loop_gone(L, loop);
  struct chance stream = chance_predicate(loop->chance);
  loop->asking = true;
  loop->row = NONE;   /* a kernel names the failed row itself */
  int status = drawing_pcall(L, loop, 4, stream);
  loop->asking = false;
  if (status != LUA_OK && status != LUA_ERRMEM) failure_name(L, failure_row(loop));
  if (status != LUA_OK) lua_error(L);
  if (!loop->open) loop_gone(L, loop);
  lua_setiuservalue(L, loop_index, LOOP_FILTER);
  loop->filter = bits;
}

/* Pops and applies all filters up to the one at the top of the stack. */
static void where_ask_all(lua_State *L, int loop_index) {
  int where = lua_gettop(L);
  need_stack(L, 20);
  if (lua_getiuservalue(L, where, WHERE_OUTER) != LUA_TNIL) where_ask_all(L, loop_index);
  where_ask(L, loop_index, where);
  lua_settop(L, where - 1);
}

static void where_fill(lua_State *L, int loop_index) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  int top = lua_gettop(L);
  loop->filter = NULL;
  loop->row = NONE;   /* the last table's row may be after the end of this one, even for
                      ** finalizers */
  /* If only some rows of a table match, the matches are the first filter. */
  if (loop->partial) {
    uint64_t *bits = lua_newuserdatauv(L, (loop->count + 63) / 64 * sizeof *bits, 0);
    if (!loop->open) loop_gone(L, loop);
    assert(loop->rows == loop->table->rows && loop->count == loop->table->count);
    query_mark_rows(&loop->query->query->terms, loop->table, bits);
    lua_setiuservalue(L, loop_index, LOOP_FILTER);
    loop->filter = bits;
  }
  lua_getiuservalue(L, loop_index, LOOP_WHERE);
  where_ask_all(L, loop_index);
  lua_settop(L, top);
}

struct loop_box *source_loop(lua_State *L, int filter, bool by_for, int views) {
  bool filtered = !lua_isnil(L, filter);
  enum loop_form form = by_for ? LOOP_FOR : LOOP_FUNCTION;
  struct loop_box *loop = loop_push(L, 1, form, filtered ? ALL_VIEWS : views);
  if (!filtered) return loop;
  lua_pushvalue(L, filter);
  lua_setiuservalue(L, -2, LOOP_WHERE);
  loop->fill = where_fill;
  return loop;
}

/* ecs.where 'Position' (rules.lua:12) */
static int where_tostring(lua_State *L) {
  lua_Debug info;
  if (!box_test(L, 1, &kind_where, sizeof(struct where_box)))
    return luaL_typeerror(L, 1, "where");
  lua_getiuservalue(L, 1, WHERE_QUERY);
  const struct query_box *query = lua_touserdata(L, -1);
  lua_getiuservalue(L, 1, WHERE_FUNCTION);
  lua_getinfo(L, ">S", &info);
  lua_pushfstring(L, "ecs.where '%s' (%s:%d)", query_box_text(query),
                  info.short_src, info.linedefined);
  return 1;
}

const luaL_Reg where_metamethods[] = {{"__call", query_call},
                                      {"__tostring", where_tostring},
                                      {NULL, NULL}};
