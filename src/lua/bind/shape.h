/* How the views of components read: from keys to leaves. */
#ifndef ECS_LUA_BIND_SHAPE_H
#define ECS_LUA_BIND_SHAPE_H

#include <lauxlib.h>

#include "core/base/base.h"

struct component;
struct world_box;

struct shape_field {
  const char *key;           /* Lua's own text, anchored: found by its address */
  uint32_t leaf;             /* the first, counted from its component's first */
  ecs_type type;             /* ECS_NESTED: what reads as a view, an array, too */
};

/* How the views of a component, or of a nested one, read. Anchored in WORLD_SHAPES. */
struct shape {
  const struct component *component;
  uint64_t version;                /* registry.version when it was built */
  uint32_t count;
  struct shape_field fields[];
};

/* The shape of a component; the world is at an absolute index. */
const struct shape *shape_need(lua_State *L, int world_index,
                               const struct component *component);

/* The field that the text at an index names; NULL when there is none. */
const struct shape_field *shape_find(lua_State *L, const struct shape *shape, int index);

/* Forgets how a component's views read: before it is undeclared, and after loops_end. Cannot
** fail. */
void views_forget(lua_State *L, int world_index, ecs_id component);

#endif
