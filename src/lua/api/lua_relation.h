/* Relations from Lua: what lua_entity.c hands over when a component ties its entity to others. */
#ifndef ECS_LUA_API_LUA_RELATION_H
#define ECS_LUA_API_LUA_RELATION_H

#include <lauxlib.h>

#include "core/base/base.h"

struct component;
struct world_box;

/* Methods on an entity (argument 2) and a relation (argument 3: its name or id, or a pair's id;
** then a target at 4). They return how many results they push. */
int relation_add(lua_State *L, struct world_box *box, struct component *component);
int relation_remove(lua_State *L, struct world_box *box, struct component *component);
int relation_has(lua_State *L, struct world_box *box, struct component *component);

/* set, get and read of a pair; `leaf` is NONE for all fields. Exclusive relations are set and read
** as components are, unless a target is asked for. */
int relation_set(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf);
int relation_get(lua_State *L, struct world_box *box, struct component *component,
                 uint32_t leaf);
int relation_read(lua_State *L, struct world_box *box, struct component *component);

extern const char kind_listed;
extern const luaL_Reg world_relation_methods[], listed_metamethods[];

#endif
