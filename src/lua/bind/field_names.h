/* Names of fields, as scripts give them: found by the address of Lua's string where they led
** before, in place of hashing and comparing texts in every call. */
#ifndef ECS_LUA_BIND_FIELD_NAMES_H
#define ECS_LUA_BIND_FIELD_NAMES_H

#include <lauxlib.h>

#include "core/base/base.h"

struct component;
struct world_box;

void field_names_open(lua_State *L);
/* Makes a world use the names of its state. */
void field_names_attach(lua_State *L, struct world_box *box);

/* The declared field that the string at an index names in a component; NONE for none and for
** other values. */
uint32_t find_field(lua_State *L, struct world_box *box, const struct component *shape,
                    int index);

#endif
