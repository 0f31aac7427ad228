/* Indexes as scripts have them. */
#ifndef ECS_LUA_API_LUA_INDEX_H
#define ECS_LUA_API_LUA_INDEX_H

#include <lauxlib.h>

#include "lua/bind/object.h"

struct ecs_index;
struct world_box;

#define INDEX_WORLD 1    /* user values: the world's object */
#define INDEX_NAME 2     /* what it is called */
#define INDEX_VALUES 2

/* What a script holds of an index, by its name. */
struct index_box {
  struct head head;
  struct world_box *box;
  struct ecs_index *index;         /* found in that version of the world's indexes */
  uint64_t version;
};

extern const char kind_index;
extern const luaL_Reg index_methods[], index_metamethods[];

/* Pushes an object for the index whose world is at 1 and name at 2. */
struct index_box *index_push(lua_State *L, struct world_box *box);

/* The index that the object at a stack index is of; NULL when it is declared no more, or the world
** is closed. */
struct ecs_index *index_find(lua_State *L, int index, struct index_box *object);

/* Brings it up to date, or raises why that cannot be; its world's object is at a stack index. */
void index_bring_up(lua_State *L, struct world_box *box, int world_index,
                    struct ecs_index *index);

#endif
