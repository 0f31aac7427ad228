/* Changes to all entities of a query, or of a q:where(fn), in one call. A change that only moves
** rows is made table by table; others are deferred for each entity, as by the world's methods. */
#include "lua/api/api.h"

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/row.h"
#include "ecs_query.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

/* Calls body(loop, ...) over the query at 1 and the filter at an index, with the `arguments` values
** at the top of the stack. */
static void source_run(lua_State *L, int filter, lua_CFunction body, int arguments) {
  int first = lua_gettop(L) - arguments + 1;
  struct loop_box *loop = source_loop(L, filter, false, 0);
  int index = lua_gettop(L);
  need_stack(L, arguments + 4);
  lua_pushcfunction(L, body);
  lua_pushvalue(L, index);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, first + i);
  loop_open(L, loop);
  body_call(L, index, loop, arguments + 1);
}

bool source_next(lua_State *L, struct loop_box *loop) {
  if (!loop_next_run(loop)) return false;
  if (loop->fill) loop->fill(L, 1);
  return true;
}

uint32_t source_row(const struct loop_box *loop, uint32_t row) {
  while (row < loop->count && !loop_takes(loop, row)) row++;
  return row;
}

/* ---- count, first ---- */

/* body(loop, count) */
static int bulk_count_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  uint64_t *count = lua_touserdata(L, 2);
  while (source_next(L, loop))
    for (uint32_t row = source_row(loop, 0); row < loop->count; row = source_row(loop, row + 1))
      ++*count;
  return 0;
}

int query_count(lua_State *L) {
  bool more = !lua_isnoneornil(L, 2);
  const struct query_box *query = check_source(L, 1);
  if (more) luaL_argerror(L, 2, "it takes no arguments: the query's text says what to count");
  uint64_t count = 0;
  if (lua_isnil(L, 2)) {
    count = ecs_query_count(query->query);
  } else {
    lua_pushlightuserdata(L, &count);
    source_run(L, 2, bulk_count_body, 1);
  }
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

/* body(loop, id) */
static int bulk_first_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  ecs_id *id = lua_touserdata(L, 2);
  while (*id == ECS_NULL && source_next(L, loop)) {
    uint32_t row = source_row(loop, 0);
    if (row < loop->count) *id = loop_entity(loop, row);
  }
  return 0;
}

int query_first(lua_State *L) {
  const struct query_box *query = check_entities(L, 1);
  ecs_id first = ECS_NULL;
  if (lua_isnil(L, 2)) {
    RETRY_OR_RAISE(L, query->box, walk_first(query->query, &first));
    changes_use(query->query);
  } else {
    lua_pushlightuserdata(L, &first);
    source_run(L, 2, bulk_first_body, 1);
  }
  if (first == ECS_NULL) return 0;
  lua_pushinteger(L, (lua_Integer)first);
  return 1;
}

/* ---- the entities, each once ---- */

/* A list of entities, in memory that is anchored at an index. */
struct taken {
  int index;
  size_t count, capacity;
  ecs_id *ids;
};

static void bulk_take(lua_State *L, const struct loop_box *loop, struct taken *taken, ecs_id id) {
  /* The matches of an entity come one after the other. */
  if (taken->count && taken->ids[taken->count - 1] == id) return;
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

/* Lists all entities that the loop at 1 visits; their memory is left at the top of the stack. */
static struct taken bulk_take_all(lua_State *L, struct loop_box *loop) {
  lua_pushnil(L);
  struct taken taken = {.index = lua_gettop(L)};
  while (source_next(L, loop))
    for (uint32_t row = source_row(loop, 0); row < loop->count; row = source_row(loop, row + 1))
      bulk_take(L, loop, &taken, loop_entity(loop, row));
  return taken;
}

/* body(loop, list) */
static int bulk_ids_body(lua_State *L) {
  struct taken taken = bulk_take_all(L, lua_touserdata(L, 1));
  for (size_t i = 0; i < taken.count; i++) {
    lua_pushinteger(L, (lua_Integer)taken.ids[i]);
    lua_rawseti(L, 2, (lua_Integer)i + 1);
  }
  return 0;
}

/* Lists the entities, each once, up to `room` of them. Counts them all. */
static ecs_status bulk_take_ids(ecs_query *query, ecs_id *ids, size_t room, size_t *count) {
  struct walk walk;
  ecs_status status = walk_begin_ordered(&walk, query);
  *count = 0;
  while (status == ECS_OK && *count < room && walk_next(&walk)) {
    ecs_id id = walk_entity(&walk);
    if (*count == 0 || ids[*count - 1] != id) ids[(*count)++] = id;
  }
  walk_end(&walk);
  return status;
}

int query_ids(lua_State *L) {
  bool more = !lua_isnoneornil(L, 2);
  check_entities(L, 1);
  if (more) luaL_argerror(L, 2, "it takes no arguments: the query's text says what to find");
  if (lua_isnil(L, 2)) {
    /* Finalizers may use the world when Lua allocates. */
    size_t room = query_count_all(check_query(L, 1)->query), count = 0;
    ecs_id *ids = lua_newuserdatauv(L, room * sizeof *ids, 0);
    const struct query_box *query = check_query(L, 1);
    RETRY_OR_RAISE(L, query->box, bulk_take_ids(query->query, ids, room, &count));
    changes_use(query->query);
    lua_createtable(L, count < INT_MAX ? (int)count : INT_MAX, 0);
    for (size_t i = 0; i < count; i++) {
      lua_pushinteger(L, (lua_Integer)ids[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
  }
  lua_newtable(L);
  lua_pushvalue(L, -1);
  source_run(L, 2, bulk_ids_body, 1);
  lua_settop(L, 3);
  return 1;
}

/* ---- set: all rows or, if it fails, none ---- */

/* Sets the values that an input has collected, with `any` values of its own for each entity. */
static void bulk_set_taken(struct input *input, struct component *component,
                           const struct taken *taken) {
  lua_State *L = input->L;
  struct world_box *box = input->box;
  size_t size = 0;
  struct write *own = NULL;
  input_share_out(input, taken->count);
  if (box->any.pending) {
    size = taken->count * input->count * sizeof *own;
    own = buffer_take(L, box, size);
    const uint32_t *slots = box->scratch->pending;
    for (size_t i = 0; i < taken->count; i++)
      slots = writes_copy(component, input->writes, input->count, own + i * input->count, slots);
  }
  ecs_status status;
  RETRY(L, box, status,
        entity_set_many(box->world, taken->ids, taken->count, component,
                        own ? own : input->writes, input->count, own ? input->count : 0));
  if (own) buffer_return(L, own, size);
  if (status != ECS_OK) raise_status(L, box->world, status);
  values_stored(box);
  world_settle(box->world);
}

/* Reads the values to set: the component is at index 2, with `count` values after it. */
static struct component *bulk_read_set(lua_State *L, struct world_box *box, int world_index,
                                       int count, struct input *input) {
  uint32_t leaf;
  box->calls++;
  values_begin(box);
  struct component *component = check_component_leaf(L, box, 2, &leaf);
  if (component->relation && (!component->relation->exclusive || lua_type(L, 2) == LUA_TNUMBER))
    raise_error(L, "'%s' is a pair, or a relation that can have several targets: call world:set "
                "for each entity", component->name);
  input_begin(input, L, box, world_index);
  input_values(input, component, leaf, 3, count);
  return component;
}

/* body(loop, component, ...): the values are read once the rows are known; reading runs Lua. */
static int bulk_set_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, 1);
  int count = lua_gettop(L) - 2;
  struct taken taken = bulk_take_all(L, loop);
  if (taken.count == 0) return 0;
  struct input input;
  lua_getiuservalue(L, 1, LOOP_WORLD);
  struct component *component = bulk_read_set(L, loop->box, lua_gettop(L), count, &input);
  bulk_set_taken(&input, component, &taken);
  return 0;
}

int query_set(lua_State *L) {
  int arguments = lua_gettop(L) > 1 ? lua_gettop(L) - 1 : 0;
  const struct query_box *query = check_entities(L, arguments + 1);
  struct world_box *box = query->box;
  int filter = lua_gettop(L);
  if (arguments < 2) luaL_argerror(L, arguments + 2, "value expected");
  check_free(L, box);
  /* Read here so that errors name this call's arguments, even if there are no rows. */
  struct input input;
  need_stack(L, arguments + 8);
  uint32_t calls = box->calls + 1;          /* it differs if finalizers use the world */
  const struct component *component =
      bulk_read_set(L, box, push_query_world(L, 1), arguments - 1, &input);
  if (lua_isnil(L, filter) && box->calls == calls &&
      batch_give(query->query, component, input.writes, input.count)) {
    values_stored(box);
    world_settle(box->world);
    return 0;
  }
  values_begin(box);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  source_run(L, filter, bulk_set_body, arguments);
  return 0;
}

/* ---- adding, removing and despawning ------------------------------------------------- */

/* The change to each entity, and its method. */
struct row_change {
  enum command_kind kind;
  const char *method;
  ecs_id component;            /* ECS_NULL for a despawn */
  bool simple;                 /* no ties or values: the core alone can do it */
};

/* A body's arguments: the loop, the change, and what follows the entity. */
enum { AT_LOOP = 1, AT_CHANGE, AT_ARGUMENTS };

/* Defers the change for one entity; on failure, the method that follows its world on the stack
** raises the reason. */
static void change_rows_stage_one(lua_State *L, const struct loop_box *loop,
                                  const struct row_change *change, ecs_id id, int arguments) {
  int world = AT_ARGUMENTS + arguments;
  ecs_world *of = loop->box->world;
  ecs_status status = !change->simple                  ? ECS_EINVAL
                      : change->kind == COMMAND_ADD    ? entity_add(of, id, change->component)
                      : change->kind == COMMAND_REMOVE ? entity_remove(of, id, change->component)
                                                       : entity_despawn(of, id);
  if (status == ECS_OK) return;
  lua_pushvalue(L, world + 1);
  lua_pushvalue(L, world);
  lua_pushinteger(L, (lua_Integer)id);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, AT_ARGUMENTS + i);
  lua_call(L, arguments + 2, 0);
  if (!loop->open) loop_gone(L, loop);
}

/* Defers a change for all rows of the loop's run; false if they must be deferred one by one. */
static bool defer_rows(lua_State *L, const struct loop_box *loop, const struct row_change *change) {
  ecs_world *world = loop->box->world;
  struct table *table = world_table(world, loop->table->index);
  if (!change->simple || !query_rows_are_whole(&loop->query->query->terms) ||
      !batch_takes_rows(world, change->kind, change->component, table))
    return false;
  assert(loop->rows == table->rows && loop->count == table->count);
  RETRY_OR_RAISE(L, loop->box,
                 batch_put_rows(world, change->kind, change->component, table, loop->filter));
  return true;
}

/* body(loop, change, ...) */
static int change_body(lua_State *L) {
  struct loop_box *loop = lua_touserdata(L, AT_LOOP);
  const struct row_change *change = lua_touserdata(L, AT_CHANGE);
  int arguments = lua_gettop(L) - AT_CHANGE;
  need_stack(L, arguments + 12);
  lua_getiuservalue(L, AT_LOOP, LOOP_WORLD);
  lua_getfield(L, -1, change->method);
  for (ecs_id last = ECS_NULL; source_next(L, loop);) {
    if (defer_rows(L, loop, change)) continue;
    for (uint32_t row = source_row(loop, 0); row < loop->count; row = source_row(loop, row + 1)) {
      ecs_id id = loop_entity(loop, row);
      if (id != last) change_rows_stage_one(L, loop, change, id, arguments);
      last = id;
    }
  }
  return 0;
}

/* ---- the methods ---- */

/* Runs a change over the query and its predicate, which are at 1 and after the arguments. */
static void run_change(lua_State *L, const struct query_box *query, int filter,
                struct row_change *change) {
  int arguments = filter - 2;
  const ecs_world *world = query->box->world;
  check_free(L, query->box);
  if (lua_isnil(L, filter) && change->simple && !staging_is_open(&world->staging) &&
      query_rows_are_whole(&query->query->terms) &&
      batch_is_plain(world, change->kind, change->component) &&
      !(change->kind == COMMAND_DESPAWN && query_reaches_components(query->query))) {
    ecs_query *all = query->query;
    RETRY_OR_RAISE(L, query->box,
                   change->kind == COMMAND_ADD      ? ecs_query_add(all, change->component)
                   : change->kind == COMMAND_REMOVE ? ecs_query_remove(all, change->component)
                                                    : ecs_query_despawn(all));
    settle(L, query->box, push_query_world(L, 1));
    return;
  }
  need_stack(L, arguments + 8);
  lua_pushlightuserdata(L, change);
  for (int i = 0; i < arguments; i++) lua_pushvalue(L, 2 + i);
  source_run(L, filter, change_body, arguments + 1);
}

static int change_entities(lua_State *L, enum command_kind kind, const char *method) {
  int arguments = lua_gettop(L) > 1 ? lua_gettop(L) - 1 : 0;
  const struct query_box *query = check_entities(L, arguments + 1);
  int filter = lua_gettop(L);
  if (arguments == 0) luaL_argerror(L, 2, "value expected");
  /* Checked before any row, so that an error names this call's argument. */
  const struct component *component = check_component(L, query->box, 2);
  if (arguments > 1 && !component->relation)
    luaL_argerror(L, 3, "one component expected: call it for each");
  struct row_change change = {kind, method, component->id, arguments == 1 && !component->relation};
  run_change(L, query, filter, &change);
  return 0;
}

int query_despawn(lua_State *L) {
  struct row_change change = {COMMAND_DESPAWN, "despawn", ECS_NULL, true};
  bool more = !lua_isnoneornil(L, 2);
  const struct query_box *query = check_entities(L, 1);
  if (more)
    luaL_argerror(L, 2, "it despawns all that the query finds: use world:despawn(entity) for one");
  run_change(L, query, lua_gettop(L), &change);
  return 0;
}

int query_add(lua_State *L) { return change_entities(L, COMMAND_ADD, "add"); }
int query_remove(lua_State *L) { return change_entities(L, COMMAND_REMOVE, "remove"); }
