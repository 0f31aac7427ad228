/* Bodies of `for ... in q:each() do` as programs, wherever such a loop is: when it has reached the
** rows of a table, the function that advances it runs them all, and continues after them. A row
** that fails is given to Lua, as without programs; the rows after it come next.
**
** The locals around the loop are upvalues of a C function: they are copied there from the frame of
** the function with the loop before rows run, and copied back afterwards. The line of its `for`
** identifies the loop, if no other begins there. */
#include <lauxlib.h>

#include "core/base/chance.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

#define BODY_LOCALS 200        /* most locals around a loop */
#define BODY_TABLE 3u          /* Lua does the rows if each table has fewer, */
#define BODY_ROWS 24u          /* or all tables have fewer, */
#define BODY_MANY 8192u        /* or fewer than these when a loop runs for the first time */
#define BODY_SEEN 512u         /* and than these in all its runs */
#ifdef LUAJIT_VERSION
#define FOR_NAME "(for generator)"   /* Lua's name for a function called by a `for` */
#else
#define FOR_NAME "for iterator"
#endif
#define BODY_RESTS 256u        /* most runs by Lua until a refused body is compiled again */

/* The function with the locals: its first upvalue is a table of their names, by upvalue; the second
** is the number of random numbers drawn. */
enum { NAMES = 1, DRAWS, FIRST_LOCAL };

static int body_of_locals(lua_State *L) {
  (void)L;
  return 0;
}

/* ---- locals ---- */

/* Finds the frame of the function with the calling `for`. */
static bool body_frame(lua_State *L, lua_Debug *frame) {
  memset(frame, 0, sizeof *frame);
  if (!lua_getstack(L, 0, frame) || !lua_getinfo(L, "n", frame) || !frame->name) return false;
  if (strcmp(frame->name, FOR_NAME) != 0) return false;
  return lua_getstack(L, 1, frame) && lua_getinfo(L, "l", frame) && frame->currentline > 0;
}

/* The next local, at or after a number from 0, that is in a set; BODY_LOCALS: none. */
static int body_next_local(const uint64_t among[4], int at) {
  while (at < BODY_LOCALS && !(among[at / 64] >> at % 64 & 1)) at++;
  return at;
}

/* Copies some locals of the frame to the upvalues of the function at an index. */
static void body_take_locals(lua_State *L, lua_Debug *frame, int locals, const uint64_t among[4],
                             const struct chance *chance) {
  const char *name;
  lua_pushinteger(L, (lua_Integer)chance->calls);
  lua_setupvalue(L, locals, DRAWS);
  for (int i = body_next_local(among, 0); i < BODY_LOCALS; i = body_next_local(among, i + 1)) {
    if (!(name = lua_getlocal(L, frame, i + 1))) return;
    if (*name == '(') lua_pushnil(L);   /* the loop's own, or none */
    if (!lua_setupvalue(L, locals, FIRST_LOCAL + i)) return;
  }
}

/* Copies the locals that the body sets back, and clears the upvalues. */
static void body_give_locals(lua_State *L, lua_Debug *frame, int locals, struct chance *chance,
                             const uint64_t among[4], const uint64_t sets[4]) {
  lua_getupvalue(L, locals, DRAWS);
  chance->calls = (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  for (int i = body_next_local(among, 0); i < BODY_LOCALS; i = body_next_local(among, i + 1)) {
    if (!lua_getupvalue(L, locals, FIRST_LOCAL + i)) return;
    if (sets[i / 64] >> i % 64 & 1)
      lua_setlocal(L, frame, i + 1);
    else
      lua_pop(L, 1);
    lua_pushnil(L);
    lua_setupvalue(L, locals, FIRST_LOCAL + i);
  }
}

/* Pushes the function for the frame's locals. */
static void body_push_locals(lua_State *L, lua_Debug *frame) {
  const char *name;
  int count = 0;
  need_stack(L, BODY_LOCALS + 4);
  lua_newtable(L);
  int names = lua_gettop(L);
  while (count < BODY_LOCALS && (name = lua_getlocal(L, frame, count + 1)) != NULL) {
    lua_pop(L, 1);
    lua_pushstring(L, name);
    lua_rawseti(L, names, FIRST_LOCAL + count++);
  }
  for (int i = NAMES; i < FIRST_LOCAL + count - 1; i++) lua_pushnil(L);
  lua_pushcclosure(L, body_of_locals, FIRST_LOCAL + count - 1);
}

/* ---- the kernel of a loop ---- */

/* Pushes the handle of the loop of the function at the top of the stack, or nil if the loop has not
** seen enough rows: until then, their number is kept in its place. */
static void body_push_kernel(lua_State *L, const struct loop_box *loop, int query,
                             lua_Debug *frame, uint32_t rows) {
  int top = lua_gettop(L), known = top + 2;
  lua_getiuservalue(L, query, QUERY_KERNELS);
  lua_pushliteral(L, "for");
  push_part(L, "k");
  lua_pushvalue(L, top);
  push_part(L, NULL);
  int type = lua_rawgeti(L, -1, frame->currentline);
  lua_Integer seen = lua_tointeger(L, -1);
  bool enough = rows >= BODY_MANY || (seen && seen + rows >= BODY_SEEN);
  if (type != LUA_TUSERDATA && enough) {
    struct world_box *box = loop->box;
    int world = push_query_world(L, query);
    kernel_push(L, box, world, top, query, (struct use){"for", RESULT_NONE, false});
    struct kernel_box *handle = lua_touserdata(L, -1);
    handle->kernel->line = (uint32_t)frame->currentline;
    body_push_locals(L, frame);
    lua_setiuservalue(L, -2, KERNEL_LOCALS);
    lua_pushvalue(L, -1);
    lua_rawseti(L, known + 1, frame->currentline);
  } else if (type != LUA_TUSERDATA) {
    lua_pushinteger(L, seen + (lua_Integer)rows);
    lua_rawseti(L, known + 1, frame->currentline);
  }
  if (!lua_isuserdata(L, -1)) lua_pushnil(L);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* ---- running ---- */

/* How many rows the loop has left, up to a limit; 0 if they cannot be run together. */
static uint32_t body_rows(const struct loop_box *loop) {
  const ecs_query *query = loop->query->query;
  const struct query_terms *terms = &query->terms;
  uint32_t rows = 0, tables = 0;
  if (loop->fill || !loop->box->kernels->on || terms->step_count || terms->changes) return 0;
  if (loop->events) return loop->count;
  for (uint32_t i = loop->match - 1; i < query_reach(query) && rows < BODY_MANY; i++) {
    const struct table *table = query_table(query, i);
    if (terms->toggled && query_rows_varying(terms, table)) return 0;   /* many short runs */
    rows += table->count;
    tables += table->count > 0;
  }
  return rows < BODY_TABLE * tables ? 0 : rows;
}

static void body_tire(struct body_site *site) {
  if (site->tired < BODY_RESTS) site->tired = site->tired ? 2 * site->tired : 1;
  site->rests = site->tired;
}

/* Finds the loop's kernel, and pushes its handle. False: Lua does the rows, as it also does while a
** debugger has a hook. */
static bool body_begin(lua_State *L, int loop_index, struct loop_box *loop, lua_Debug *frame) {
  uint32_t rows = loop->form == LOOP_FOR ? body_rows(loop) : 0;
  if (rows < BODY_ROWS || lua_gethook(L) || !body_frame(L, frame)) return false;
  lua_getiuservalue(L, loop_index, LOOP_QUERY);
  int query = lua_gettop(L);
  lua_getinfo(L, "f", frame);
  /* If another function, or loop, has the same address and line, no harm is done. */
  const void *function = lua_topointer(L, -1);
  uint32_t line = (uint32_t)frame->currentline;
  struct body_site *site =
      &((struct query_box *)lua_touserdata(L, query))->sites[line % BODY_SITES];
  if (site->function != function || site->line != line)
    *site = (struct body_site){.function = function, .line = line};
  if (site->rests) {   /* its body was refused when it was last compiled */
    site->rests--;
    return false;
  }
  body_push_kernel(L, loop, query, frame, rows);
  const struct kernel_box *handle = lua_touserdata(L, -1);
  if (!handle || !handle->kernel || !loop->open) return false;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, loop_index, LOOP_KERNEL);
  loop->site = site;
  const struct kernel *kernel = handle->kernel;
  handle->kernel->begun++;
  /* A loop with outside values that differ too often is not worth compiling. */
  if (kernel->compilations <= 8 || kernel->compilations * 4 <= kernel->begun) return true;
  body_tire(site);
  return false;
}

/* Whether the calling `for` is the loop of the kernel whose handle is at an index: another one may
** have taken over its iterator. */
static bool body_is_same(lua_State *L, int handle, lua_Debug *frame) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  if (!box->kernel || (uint32_t)frame->currentline != box->kernel->line) return false;
  kernel_push_function(L, handle);
  lua_getinfo(L, "f", frame);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

void body_run(lua_State *L, int loop_index, struct loop_box *loop) {
  lua_Debug frame;
  int top = lua_gettop(L);
  enum loop_body body = loop->body;
  bool begins = body == BODY_UNKNOWN;
  loop->body = BODY_LUA;       /* in case an error is raised */
  need_stack(L, LUA_MINSTACK);
  bool ready = begins ? body_begin(L, loop_index, loop, &frame) : body_frame(L, &frame);
  lua_settop(L, top);
  lua_getiuservalue(L, loop_index, LOOP_KERNEL);
  if (ready && body_is_same(L, top + 1, &frame)) {
    lua_getiuservalue(L, top + 1, KERNEL_LOCALS);
    const struct kernel_box *handle = lua_touserdata(L, top + 1);
    struct kernel *kernel = handle->kernel;
    uint64_t uses[4], any = 0;   /* locals that the body uses; all if not known yet */
    for (int i = 0; i < 4; i++) any |= uses[i] = kernel->body_uses[i];
    for (int i = 0; i < 4 && !any; i++) uses[i] = UINT64_MAX;
    body_take_locals(L, &frame, top + 2, uses, loop->chance);
    loop->body = body;
    loop->row = ROW_STALE;     /* its views show no row while a program runs */
    bool goes_on = kernel_run_body(L, top + 1, loop, begins);
    if (!loop->open) loop_gone(L, loop);
    if (handle->kernel != kernel) loop_gone(L, loop);
    body_give_locals(L, &frame, top + 2, loop->chance, uses, kernel->body_sets);
    if (!goes_on) loop->body = BODY_LUA;
    if (begins && goes_on) loop->site->tired = 0;
    if (begins && !goes_on) body_tire(loop->site);
  }
  lua_settop(L, top);
  if (!loop->open) loop_gone(L, loop);
}
