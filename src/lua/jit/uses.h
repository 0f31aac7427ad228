/* Which indexes a system looks into: those in upvalues of its function, and of the Lua functions
** that are found there; those whose names are written in these; and those that its options name. */
#ifndef ECS_LUA_JIT_USES_H
#define ECS_LUA_JIT_USES_H

#include <lauxlib.h>

#include "core/base/base.h"

struct ecs_index;
struct world_box;

/* The names of the option `uses` of the table at `spec`, as a list: pushes it, or nil. `what`
** begins the messages. */
void uses_option(lua_State *L, int spec, const char *what);

/* Pushes what is written in the function at an index, for uses_each. */
void uses_push_texts(lua_State *L, int function);

/* A world and a function, with the list and the texts that it was given, at absolute indices. */
struct user {
  struct world_box *box;
  int world, function, listed, texts;
};

typedef void (*visit_fn)(lua_State *L, struct world_box *box, int world,
                         struct ecs_index *index);

/* Calls `visit` for each index that is looked into, once or more often. Raises for a name that is
** no index's. */
void uses_each(lua_State *L, const struct user *user, visit_fn visit);

#endif
