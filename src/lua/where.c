/* q:where(fn): a query whose rows also satisfy a function, which is compiled if possible. */
#include "lua/where.h"

#include "core/base/chance.h"
#include "core/store/entity.h"
#include "core/store/query.h"
#include "core/store/relation.h"
#include "core/store/scratch.h"
#include "core/store/sweeping.h"
#include "lua/bind/args.h"
#include "lua/bind/batch.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/each.h"
#include "lua/form.h"
#include "lua/kernel_query.h"
#include "lua/kernel_run.h"
#include "lua/loop.h"
#include "lua/lua_query.h"
#include "lua/slot.h"

const char kind_where = 0;

#define WHERE_QUERY 1        /* user values */
#define WHERE_FUNCTION 2
#define WHERE_KERNEL 3
#define WHERE_VALUES 3

struct where_box {
  struct head head;
};

/* Raises what a predicate at an index asks for that it is not given: views, then the entity. */
static void check_parameters(lua_State *L, const struct query_terms *terms, int function) {
  lua_Debug info;
  int given = (int)(terms->slots + 1 + terms->values), parameter = 1;
  lua_pushvalue(L, function);
  lua_getinfo(L, ">uS", &info);
  if (info.nparams > given)
    raise_error(L, "where: %s:%d: its function has %d parameters, but is given %d: what its query "
                "gives, entity", info.short_src, (int64_t)info.linedefined,
                (int64_t)info.nparams, (int64_t)given);
  for (; parameter <= info.nparams; parameter++) {
    lua_pushvalue(L, function);
    const char *name = lua_getlocal(L, NULL, parameter);
    lua_pop(L, 1);
    if (name && strcmp(name, "dt") == 0)
      raise_error(L, "where: %s:%d: parameter %d of its function is called 'dt', but it is given "
                  "no dt: what its query gives, entity", info.short_src,
                  (int64_t)info.linedefined, (int64_t)parameter);
  }
}

/* Pushes the kernel of the predicate at one index over the query at another. */
static void push_predicate(lua_State *L, int query_index, int function) {
  const struct query_box *query = lua_touserdata(L, query_index);
  check_parameters(L, &query->query->terms, function);
  kernel_of_query(L, query_index, function, RESULT_TRUTH);
}

/* While scripts are read a query has no terms yet: its function is compiled when it is used. */
int query_where(lua_State *L) {
  const struct query_box *query = box_test(L, 1, &kind_query, sizeof *query);
  bool pending = query && query->box->world && query->pending;
  if (!pending) check_query(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  if (pending)
    lua_pushnil(L);
  else
    push_predicate(L, 1, 2);
  new_box(L, &kind_where, sizeof(struct where_box), WHERE_VALUES);
  for (int value = WHERE_QUERY; value <= WHERE_KERNEL; value++) {
    lua_pushvalue(L, value);
    lua_setiuservalue(L, 4, value);
  }
  return 1;
}

/* Puts the query in place of the filter at argument 1 and the filter itself on the top. */
static struct query_box *check_where(lua_State *L) {
  if (!box_test(L, 1, &kind_where, sizeof(struct where_box))) no_object(L, 1, &kind_where, "where");
  lua_pushvalue(L, 1);
  lua_getiuservalue(L, 1, WHERE_QUERY);
  lua_replace(L, 1);
  return check_query(L, 1);
}

/* ---- the rows of a table ---- */

static void keep_bits(lua_State *L, struct loop_box *loop, const uint64_t *bitmap, void *ud) {
  (void)L;
  memcpy(ud, bitmap, (loop->count + 63) / 64 * sizeof *bitmap);
}

static void keep_truth(lua_State *L, struct loop_box *loop, uint32_t row, void *ud) {
  uint64_t *bits = ud;
  (void)loop;
  if (lua_toboolean(L, -1)) bits[row / 64] |= (uint64_t)1 << row % 64;
}

/* Pushes the kernel of the filter at an index. */
static void push_kernel(lua_State *L, int where) {
  int top = lua_gettop(L);
  if (lua_getiuservalue(L, where, WHERE_KERNEL) != LUA_TNIL) return;
  lua_getiuservalue(L, where, WHERE_QUERY);
  lua_getiuservalue(L, where, WHERE_FUNCTION);
  push_predicate(L, top + 2, top + 3);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, where, WHERE_KERNEL);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* body(loop, function, kernel, bits) */
static int fill_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  uint64_t *bits = lua_touserdata(L, 4);
  struct kernel_run run = {.truth = keep_bits, .ud = bits};
  bool compiled = loop->box->kernels->on && kernel_here(L, 3, loop, &run);
  if (!compiled) each_here(L, 1, 2, 0, keep_truth, bits);
  return 0;
}

static void fill(lua_State *L, int loop_index) {
  struct loop_box *loop = lua_touserdata(L, loop_index);
  int top = lua_gettop(L);
  size_t size = (loop->count + 63) / 64 * sizeof(uint64_t);
  need_stack(L, 20);
  lua_pushcfunction(L, fill_body);
  lua_pushvalue(L, loop_index);
  lua_getiuservalue(L, top + 2, LOOP_WHERE);
  lua_getiuservalue(L, top + 3, WHERE_FUNCTION);
  push_kernel(L, top + 3);
  lua_remove(L, top + 3);
  loop->filter = NULL;
  uint64_t *bits = lua_newuserdatauv(L, size, 0);
  memset(bits, 0, size);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, top + 2, LOOP_FILTER);
  if (!loop->open) loop_gone(L, loop);
  struct chance stream = chance_predicate(loop->chance);
  loop->asking = true;
  int status = drawing_pcall(L, loop, 4, stream);
  loop->asking = false;
  if (status != LUA_OK) lua_error(L);
  if (!loop->open) loop_gone(L, loop);
  loop->filter = bits;
}

/* Pushes a closed loop over the query at 1 through the filter at `where`. */
static struct loop_box *push_loop(lua_State *L, int where, enum loop_form form) {
  struct loop_box *loop = loop_push(L, 1, form, ALL_VIEWS);
  lua_pushvalue(L, where);
  lua_setiuservalue(L, -2, LOOP_WHERE);
  loop->fill = fill;
  return loop;
}

/* Calls body(loop, ...) with `arguments` values more, those at the top of the stack, by body_call
** or form_call. */
static void run_over(lua_State *L, int where, lua_CFunction body, int arguments,
                     void (*call)(lua_State *, int, struct loop_box *, int)) {
  int first = lua_gettop(L) - arguments + 1;
  struct loop_box *loop = push_loop(L, where, LOOP_FUNCTION);
  int index = lua_gettop(L);
  lua_pushcfunction(L, body);
  lua_pushvalue(L, index);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, first + i);
  loop_open(L, loop);
  call(L, index, loop, arguments + 1);
}

/* ---- methods ---- */

static uint32_t next_taken(const struct loop_box *loop, uint32_t row) {
  while (row < loop->count && !loop_takes(loop, row)) row++;
  return row;
}

/* body(loop, count) */
static int count_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  uint64_t *count = lua_touserdata(L, 2);
  while (loop_next_run(loop)) {
    fill(L, 1);
    for (uint32_t row = next_taken(loop, 0); row < loop->count; row = next_taken(loop, row + 1))
      ++*count;
  }
  return 0;
}

static int where_count(lua_State *L) {
  uint64_t count = 0;
  lua_settop(L, 1);
  check_where(L);
  lua_pushlightuserdata(L, &count);
  run_over(L, 2, count_body, 1, body_call);
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

/* body(loop, id) */
static int first_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  ecs_id *id = lua_touserdata(L, 2);
  while (*id == ECS_NULL && loop_next_run(loop)) {
    fill(L, 1);
    uint32_t row = next_taken(loop, 0);
    if (row < loop->count) *id = loop_entity(loop, row);
  }
  return 0;
}

static int where_first(lua_State *L) {
  ecs_id id = ECS_NULL;
  lua_settop(L, 1);
  check_where(L);
  lua_pushlightuserdata(L, &id);
  run_over(L, 2, first_body, 1, body_call);
  if (id == ECS_NULL) return 0;
  lua_pushinteger(L, (lua_Integer)id);
  return 1;
}

/* body(loop, function, dt) */
static int each_body(lua_State *L) {
  double dt = (double)lua_tonumber(L, 3);
  lua_settop(L, 2);
  each_rows(L, 1, 2, dt);
  return 0;
}

static int where_each(lua_State *L) {
  bool form = !lua_isnone(L, 2);
  if (form) luaL_checktype(L, 2, LUA_TFUNCTION);
  if (!lua_isnoneornil(L, 3)) luaL_checktype(L, 3, LUA_TNUMBER);
  lua_settop(L, 3);
  check_where(L);
  if (!form) return each_begin(L, push_loop(L, 4, LOOP_FOR));
  lua_pushvalue(L, 2);
  lua_pushnumber(L, lua_tonumber(L, 3));
  run_over(L, 4, each_body, 2, form_call);
  return 0;
}

/* body(loop, method, ...): world:method(entity, ...) for each row. */
static int change_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  int arguments = lua_gettop(L) - 2;
  need_stack(L, arguments + 8);
  lua_getiuservalue(L, 1, LOOP_WORLD);
  lua_pushvalue(L, 2);
  lua_gettable(L, -2);
  int method = lua_gettop(L), world = method - 1;
  while (loop_next_run(loop)) {
    fill(L, 1);
    for (uint32_t row = next_taken(loop, 0); row < loop->count;
         row = next_taken(loop, row + 1)) {
      lua_pushvalue(L, method);
      lua_pushvalue(L, world);
      lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
      for (int i = 0; i < arguments; i++) lua_pushvalue(L, 3 + i);
      lua_call(L, arguments + 2, 0);
    }
  }
  return 0;
}

static int change(lua_State *L, const char *method) {
  int arguments = lua_gettop(L) - 1;
  check_where(L);
  int where = lua_gettop(L);
  lua_pushstring(L, method);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  run_over(L, where, change_body, arguments + 1, body_call);
  return 0;
}

static int where_despawn(lua_State *L) { return change(L, "despawn"); }

/* The component at 2 is known before any row is, so that an error names this call's argument. */
static void check_changed(lua_State *L) {
  luaL_checkany(L, 2);
  lua_pushvalue(L, 1);
  check_component(L, check_where(L)->box, 2);
  lua_pop(L, 1);
  lua_replace(L, 1);
}

static int where_add(lua_State *L) {
  check_changed(L);
  return change(L, "add");
}

static int where_remove(lua_State *L) {
  check_changed(L);
  return change(L, "remove");
}

/* ---- set: all rows, or none when it fails ---- */

/* The entities to set, in memory that is anchored at an index. */
struct taken {
  int index;
  size_t count, capacity;
  ecs_id *ids;
};

static void take(lua_State *L, const struct loop_box *loop, struct taken *taken, ecs_id id) {
  if (UNLIKELY(taken->count == taken->capacity)) {
    size_t capacity = taken->capacity ? 2 * taken->capacity : 64;
    ecs_id *ids = lua_newuserdatauv(L, capacity * sizeof *ids, 0);
    if (!loop->open) loop_gone(L, loop);
    if (taken->count) memcpy(ids, taken->ids, taken->count * sizeof *ids);
    lua_replace(L, taken->index);
    taken->ids = ids;
    taken->capacity = capacity;
  }
  taken->ids[taken->count++] = id;
}

/* Sets what a batch has gathered, with any values of their own for each entity. */
static void set_taken(struct batch *batch, struct component *component,
                      const struct taken *taken) {
  lua_State *L = batch->L;
  struct world_box *box = batch->box;
  size_t size = 0;
  struct write *own = NULL;
  batch_share_out(batch, taken->count);
  if (box->any.pending) {
    size = taken->count * batch->count * sizeof *own;
    own = buffer_take(L, box, size);
    const uint32_t *slots = box->scratch->pending;
    for (size_t i = 0; i < taken->count; i++)
      slots = writes_copy(component, batch->writes, batch->count, own + i * batch->count, slots);
  }
  bool tried = false;
  ecs_status status;
  do
    status = entity_set_many(box->world, taken->ids, taken->count, component,
                             own ? own : batch->writes, batch->count, own ? batch->count : 0);
  while (retry(L, box, status, &tried));
  if (own) buffer_return(L, own, size);
  if (status != ECS_OK) raise_status(L, box->world, status);
  values_stored(box);
  world_settle(box->world);
}

/* Reads what is to be set: the component at index 2 and `count` values behind it. */
static struct component *read_set(lua_State *L, struct world_box *box, int world_index,
                                  int count, struct batch *batch) {
  uint32_t leaf;
  box->calls++;
  values_begin(box);
  struct component *component = check_component_leaf(L, box, 2, &leaf);
  if (component->relation && (!component->relation->exclusive || lua_type(L, 2) == LUA_TNUMBER))
    raise_error(L, "'%s' is a relation of several targets, or a pair: set it by world:set, for "
                "each entity", component->name);
  batch_begin(batch, L, box, world_index);
  batch_values(batch, component, leaf, 3, count);
  return component;
}

/* body(loop, component, ...): the values are read when the rows are known, which runs Lua. */
static int set_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  int count = lua_gettop(L) - 2;
  lua_pushnil(L);
  struct taken taken = {.index = lua_gettop(L)};
  while (loop_next_run(loop)) {
    fill(L, 1);
    for (uint32_t row = next_taken(loop, 0); row < loop->count; row = next_taken(loop, row + 1))
      take(L, loop, &taken, loop_entity(loop, row));
  }
  if (taken.count == 0) return 0;
  struct batch batch;
  lua_getiuservalue(L, 1, LOOP_WORLD);
  struct component *component = read_set(L, loop->box, lua_gettop(L), count, &batch);
  set_taken(&batch, component, &taken);
  return 0;
}

static int where_set(lua_State *L) {
  int arguments = lua_gettop(L) - 1;
  if (arguments < 2) luaL_checkany(L, arguments + 2);
  struct world_box *box = check_where(L)->box;
  int where = lua_gettop(L);
  /* So that errors name this call's arguments, also when no row is taken. */
  struct batch batch;
  read_set(L, box, push_query_world(L, 1), arguments - 1, &batch);
  values_begin(box);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  run_over(L, where, set_body, arguments, body_call);
  return 0;
}

static int where_tostring(lua_State *L) {
  lua_pushliteral(L, "ecs.where");
  return 1;
}

const luaL_Reg where_methods[] = {
  {"add", where_add},
  {"count", where_count},
  {"despawn", where_despawn},
  {"each", where_each},
  {"first", where_first},
  {"remove", where_remove},
  {"set", where_set},
  {NULL, NULL}
};

const luaL_Reg where_metamethods[] = {{"__tostring", where_tostring}, {NULL, NULL}};
