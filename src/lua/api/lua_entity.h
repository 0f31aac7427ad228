/* Methods of a world about one entity. */
#ifndef ECS_LUA_API_LUA_ENTITY_H
#define ECS_LUA_API_LUA_ENTITY_H

#include <lauxlib.h>

extern const char kind_parts;
extern const luaL_Reg world_entity_methods[], parts_metamethods[];

#endif
