/* Views seen as a whole: pairs, #, tostring, and as a plain table. */
#ifndef ECS_LUA_LOOP_VIEW_WALK_H
#define ECS_LUA_LOOP_VIEW_WALK_H

#include <lauxlib.h>

struct view_box;

/* Metamethods. */
int view_tostring(lua_State *L);
int view_pairs(lua_State *L);
int view_length(lua_State *L);

/* Pushes a fresh table with what the view at an index shows. */
void view_push_table(lua_State *L, int index, struct view_box *view);

#endif
