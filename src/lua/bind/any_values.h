/* Values that only this Lua state knows, for `any` fields: WORLD_ANY keeps them by the number of
** their slot (core/base/any.h), which is what cells hold. */
#ifndef ECS_LUA_BIND_ANY_VALUES_H
#define ECS_LUA_BIND_ANY_VALUES_H

#include <lauxlib.h>

#include "core/base/base.h"

struct world_box;

/* A pending slot that holds the value at an index; 0 for nil. Pending slots are on their way into
** cells: until values_stored. */
uint32_t take_any(lua_State *L, struct world_box *box, int world_index, int index);

/* Pushes the value of a slot; nil when it is of no value, or of one that somebody else knows. */
void push_any(lua_State *L, const struct world_box *box, int world_index, uint32_t slot);

/* Forgets values whose slots are released; frees what a failed call left pending. */
void settle_any(lua_State *L, struct world_box *box, int world_index);

#endif
