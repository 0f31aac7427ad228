#include "lua/api/api.h"

#include "core/base/text.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "ecs_query.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"

const char kind_query = 0;

struct query_box *query_box_push(lua_State *L, struct world_box *box, int world_index) {
  struct query_box *query = new_box_of(L, &kind_query, sizeof *query, QUERY_VALUES, world_index);
  query->box = box;
  lua_newtable(L);
  lua_setiuservalue(L, -2, QUERY_KERNELS);
  return query;
}

static int query_key_object(lua_State *L) {
  const struct query_box *query = lua_touserdata(L, 1);
  char number[32];
  if (!query->box->world) raise_error(L, "the world is closed");
  text_format(number, sizeof number, "%lld", (long long)lua_tointeger(L, 2));
  lua_pushfstring(L, "%s %s", number, query->query->text);
  for (uint32_t i = 0; i < query->query->terms.variable_count; i++) {
    ecs_string name = query->query->terms.variables[i].name;
    lua_pushliteral(L, " $");
    lua_pushlstring(L, name.data, name.size);
    lua_concat(L, 3);
  }
  return 1;
}

/* Runs no finalizers: one could close the world, and free the query, between two texts. */
void query_push_key(lua_State *L, const struct query_box *query, lua_Integer use) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)query);
  lua_pushinteger(L, use);
  call_held(L, query_key_object, 2, 1);
}

struct query_box *query_push(lua_State *L, struct world_box *box, int world_index,
                             const struct query_text *text) {
  lua_pushstring(L, text->text);   /* a copy, since a finalizer may free a component's name */
  ecs_string terms;
  terms.data = lua_tolstring(L, -1, &terms.size);
  struct query_box *query = query_box_push(L, box, world_index);
  if (!box->world) no_world(L, world_index);
  RETRY_OR_RAISE(L, box, text->shared ? query_share(box->world, terms, box, &query->query)
                                      : ecs_query_with(box->world, terms.data, text->variables,
                                                       text->count, &query->query));
  lua_remove(L, -2);
  query->query->owner = box;
  return query;
}

struct query_box *check_query(lua_State *L, int arg) {
  struct query_box *query = box_test(L, arg, &kind_query, sizeof *query);
  if (!query) {
    no_object(L, arg, &kind_query, "query");
    return NULL;
  }
  if (query->box->world && query->pending)
    raise_error(L, "a query cannot be used until all scripts have been read: use it in "
                   "script:on_load or in a system");
  if (!query->box->world || !query->query) {
    luaL_argerror(L, arg, "the world is closed");
    return NULL;
  }
  query->box->calls++;
  raise_failure(L, query->box->world, query_usable(query->query));
  return query;
}

/* The text at 2; raises an error for a list of terms, or for one argument per term. */
static const char *query_check_terms(lua_State *L) {
  if (lua_istable(L, 2)) luaL_argerror(L, 2, ONE_TEXT " expected, got a table");
  if (lua_type(L, 3) == LUA_TSTRING) luaL_argerror(L, 3, ONE_TEXT " expected, got several");
  return check_text(L, 2, NULL);
}

void query_push_kept(lua_State *L, struct world_box *box, int key, const struct query_text *text) {
  static const char kept_key = 0;
  if (lua_getiuservalue(L, 1, WORLD_REFS) != LUA_TTABLE) no_world(L, 1);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&kept_key);
  push_part(L, NULL);
  lua_pushvalue(L, key);
  lua_rawget(L, -2);
  const struct query_box *query = lua_touserdata(L, -1);
  ecs_query *known = query ? query->query : NULL;
  if (known && (text->shared ? query_is_shared(known) : !known->broken)) return;
  lua_pop(L, 1);
  if (!query_push(L, box, 1, text)->query->shared && text->shared) return;
  lua_pushvalue(L, key);
  lua_pushvalue(L, -2);
  lua_rawset(L, -4);
}

static int world_query(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  struct query_text given = {.text = query_check_terms(L)};
  lua_settop(L, 3);
  if (!lua_isnil(L, 3)) luaL_checktype(L, 3, LUA_TTABLE);
  if (box->stage) {
    stage_query(L, box);
    return 1;
  }
  given.shared = box->world->running && lua_isnil(L, 3);
  variables_of_argument(L, box, 3, &given);
  if (given.shared)
    query_push_kept(L, box, 2, &given);
  else
    query_push(L, box, 1, &given);
  settle(L, box, 1);
  return 1;
}

/* world:count(text, variables): counts matches without making a query. */
static int query_world_count(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  size_t count = 0;
  struct query_text text = {.text = query_check_terms(L)};
  lua_settop(L, 3);
  variables_of_argument(L, box, 3, &text);
  RETRY_OR_RAISE(L, box,
                 query_count_with(box->world, text.text, text.variables, text.count, &count));
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

const char *query_box_text(const struct query_box *query) {
  return query->box && query->box->world && query->query ? query->query->text : "closed";
}

static int query_tostring(lua_State *L) {
  const struct query_box *query = box_test(L, 1, &kind_query, sizeof *query);
  if (!query) return luaL_typeerror(L, 1, "query");
  lua_pushfstring(L, "ecs.query (%s)", query_box_text(query));
  return 1;
}

/* Lua may lose finalizers when out of memory: then the query lives until its world is closed. */
static int query_collect(lua_State *L) {
  struct query_box *query = box_test(L, 1, &kind_query, sizeof *query);
  if (!query || !query->query) return 0;
  loops_end_query(query);
  if (query->box->world || query->box->hidden || query->box->doomed) {
    reading_forget(query->query);
    ecs_query_free(query->query);
  }
  query->query = NULL;
  return 0;
}

void queries_free(const struct world_box *box, ecs_world *world) {
  ecs_query *next;
  for (ecs_query *query = world->first_query; query; query = next) {
    next = query->next;
    if (query->owner != box) continue;
    reading_forget(query);
    query->shared = false;
    ecs_query_free(query);
  }
}

const luaL_Reg world_query_methods[] = {
  {"count", query_world_count},
  {"query", world_query},
  {NULL, NULL}
};

const luaL_Reg query_methods[] = {
  {"add", query_add},
  {"chunks", query_chunks},
  {"count", query_count},
  {"despawn", query_despawn},
  {"each", query_each},
  {"first", query_first},
  {"ids", query_ids},
  {"map", query_map},
  {"max", query_max},
  {"min", query_min},
  {"remove", query_remove},
  {"run", query_run},
  {"set", query_set},
  {"sum", query_sum},
  {"where", query_where},
  {NULL, NULL}
};

int query_call(lua_State *L) {
  return luaL_error(L, "a query cannot be called: write 'for view, entity in query:each() do'");
}

const luaL_Reg query_metamethods[] = {
  {"__call", query_call},
  {"__gc", query_collect},
  {"__tostring", query_tostring},
  {NULL, NULL}
};
