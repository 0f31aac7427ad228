/* Chunks: the rows of one table as a loop comes to it. */
#ifndef ECS_LUA_LOOP_CHUNK_H
#define ECS_LUA_LOOP_CHUNK_H

#include "lua/bind/object.h"

struct loop_box;

#define CHUNK_LOOP 1         /* user values of a chunk and of a column */
#define CHUNK_ENTITIES 2
#define CHUNK_VALUES 2

/* The rows of one table: of the loop's current one as long as `step` is the loop's. */
struct chunk_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
};

extern const char kind_chunk;

extern const luaL_Reg chunk_metamethods[];
/* Methods that __index looks up itself. */
extern const luaL_Reg chunk_methods[];

/* q:chunks() */
int query_chunks(lua_State *L);

/* Raises unless the loop is open and where it was. */
void step_check(lua_State *L, const struct loop_box *loop, uint32_t step);

#endif
