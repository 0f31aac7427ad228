/* Queries as scripts have them. */
#ifndef ECS_LUA_API_LUA_QUERY_H
#define ECS_LUA_API_LUA_QUERY_H

#include "lua/bind/object.h"

struct query_text;
struct world_box;

#define QUERY_WORLD 1        /* its user values */
#define QUERY_KERNELS 2      /* what functions have been compiled to */
#define QUERY_VARIABLES_GIVEN 3   /* of a pending one: the table of its variables, or nil */
#define QUERY_VALUES 3

extern const char kind_query;

extern const luaL_Reg world_query_methods[], query_methods[], query_metamethods[];

/* What queries, and what is chosen of them, say when they are called. */
int query_call(lua_State *L);

struct query_box {
  struct head head;
  struct world_box *box;
  ecs_query *query;          /* NULL before and after its life in the core */
  bool pending;              /* made by a script whose registrations are not swapped in yet */
};

/* Pushes a new query over the world at an index. */
struct query_box *query_push(lua_State *L, struct world_box *box, int world_index,
                             const struct query_text *text);

/* Pushes a query without its life in the core. */
struct query_box *query_box_push(lua_State *L, struct world_box *box, int world_index);

/* Pushes what a function is given to, as a key: the use, the query's text, and the variables in it
** that have no values. */
void query_push_key(lua_State *L, const struct query_box *query, lua_Integer use);

/* registrar.query, now: its variables are at 3. */
void query_now(lua_State *L, struct world_box *box, const char *text);

/* The query at an argument, of an open world, or an error. Counts a public call. */
struct query_box *check_query(lua_State *L, int arg);

/* Frees this state's queries of a world that is let go of; their loops have ended. */
void queries_free(const struct world_box *box, ecs_world *world);

/* Pushes the world of the query at an index. */
static inline int push_query_world(lua_State *L, int query_index) {
  lua_getiuservalue(L, query_index, QUERY_WORLD);
  return lua_gettop(L);
}

#endif
