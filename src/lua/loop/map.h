/* q:map: values of single fields in, values out. */
#ifndef ECS_LUA_LOOP_MAP_H
#define ECS_LUA_LOOP_MAP_H

#include <lauxlib.h>

#include "core/base/base.h"

struct loop_box;

/* As each_rows (each.h) for a function that is given fields, and returns them anew. */
void map_rows(lua_State *L, struct loop_box *loop, int loop_index, int function, double dt);

/* The same for the rows of the loop's current run, and for one of them. */
void map_here(lua_State *L, int loop_index, int function, double dt);
void map_row(lua_State *L, int loop_index, int function, double dt, uint32_t row);

/* Raises unless every term that gives something is a single field or a tag; where `idle`, not while
** nothing matches, as a system does nothing then. */
bool map_check(lua_State *L, const ecs_query *query, bool idle);

#endif
