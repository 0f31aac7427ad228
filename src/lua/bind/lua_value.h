/* Values of Lua as cells, and cells as values. */
#ifndef ECS_LUA_BIND_LUA_VALUE_H
#define ECS_LUA_BIND_LUA_VALUE_H

#include <lauxlib.h>

#include "core/base/one_cell.h"

struct component;
struct leaf;
struct world_box;

/* A leaf's cell from the Lua value at an index; errors name component, field and value.
** May take an `any` slot and intern a string: nothing is stored yet. Any slots are pending
** until values_stored (the core has taken them) or values_begin (they are released). */
void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell);

/* Pushes a leaf's cell. A text may run finalizers, after the cell has been read. */
void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct leaf *leaf, ecs_cell cell);

/* How many values a list at an argument has, at most so many. Raises for other keys than theirs,
** or, where it may have holes, than 1 to the most. */
lua_Unsigned check_list(lua_State *L, int arg, lua_Unsigned most, const char *what, bool holes);

#endif
