/* Columns of chunks. */
#ifndef ECS_LUA_LOOP_COLUMN_H
#define ECS_LUA_LOOP_COLUMN_H

#include "lua/bind/object.h"

struct component;
struct leaf;
struct loop_box;
struct table;

/* One field of a chunk's rows, or, without a leaf, their entities. */
struct column_box {
  struct head head;
  struct loop_box *loop;
  uint32_t step;
  uint32_t leaf_at;
  const struct component *component;
  const struct leaf *leaf;
  void *data;
  const struct table *table;   /* whose cells these are, from a row on, by an id of it */
  uint32_t first;
  ecs_id id;
  bool read_only;
};

extern const char kind_column;

extern const luaL_Reg column_metamethods[];
/* Methods that __index looks up itself. */
extern const luaL_Reg column_methods[];

#endif
