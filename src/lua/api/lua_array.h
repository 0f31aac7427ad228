/* Arrays: columns of the world, as scripts use them. */
#ifndef ECS_LUA_API_LUA_ARRAY_H
#define ECS_LUA_API_LUA_ARRAY_H

#include "lua/bind/object.h"

struct component;
struct world_box;

#define ARRAY_WORLD 1    /* user values: the world's object */
#define ARRAY_NAME 2     /* what it is called */
#define ARRAY_VALUES 2

/* What a script holds of an array, by its id. */
struct array_box {
  struct head head;
  struct world_box *box;
  ecs_id id;                       /* ECS_NULL: known by its name until it is first used */
  uint64_t version;                /* registry.version in which `component` was found */
  const struct component *component;
};

extern const char kind_array;
extern const luaL_Reg array_methods[], array_metamethods[];

/* The array that an object is of, as it is declared now; NULL when it is so no more, or the world
** is closed. */
const struct component *array_find(lua_State *L, int index, struct array_box *array);

/* Pushes an object for the array whose world is at 1 and name at 2. It is none yet. */
struct array_box *array_push(lua_State *L, struct world_box *box);

#endif
