/* Views: a component of the current row, of a resource, or a part of one, as a script reads and
** writes it. */
#ifndef ECS_LUA_LOOP_VIEW_H
#define ECS_LUA_LOOP_VIEW_H

#include <lauxlib.h>

#include "core/base/base.h"

struct column;
struct component;
struct loop_box;
struct table;
struct view_box;
struct world_box;

extern const char kind_view, kind_elements;

extern const luaL_Reg world_view_methods[], view_metamethods[], elements_metamethods[];

/* registrar.view, now: the view of the resource that is named at 2. */
void resource_view(lua_State *L, struct world_box *box);

/* Pushes the view of a resource that is not there yet: it gets its component later. The world is
** at 1. */
struct view_box *view_push_pending(lua_State *L, struct world_box *box);

/* Pushes a view of a component for a loop, or for a resource when loop is NULL. Its owner (the
** loop, or the world) and the world are at absolute indices. False when a finalizer used the
** world meanwhile: the component may be gone. */
bool view_push(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, struct loop_box *loop, int owner_index,
               struct view_box **out);

/* Pushes a view for the loop at an index like the one at the top of the stack, which was one of
** its views. False as for view_push. */
bool view_renew(lua_State *L, int loop_index, const struct view_box *old,
                struct view_box **out);

/* Points the view of a loop at its component's columns, from a row on; NULL when the component is
** not there. */
void view_bind(struct view_box *view, const struct table *table, const struct column *columns,
               uint32_t first);

/* Pushes a nested or array field of the view at an index, or an element that is nested; `at`
** counts fields or elements from 0. */
void view_push_part(lua_State *L, int index, struct view_box *view, uint32_t at);

/* Pushes the world of the view at an index, returns where. */
int view_push_world(lua_State *L, int index, const struct view_box *view);

/* The row that a view shows; raises why when it shows none. */
uint32_t view_row(lua_State *L, const struct view_box *view);

/* The same for the view at an index when a call begins: a resource's follows its component. */
uint32_t view_open(lua_State *L, int index, struct view_box *view);

/* Pushes field or element `at` of the view at an index, as it is now. */
void view_push_at(lua_State *L, int index, struct view_box *view, uint32_t at);

/* How many fields or elements a view has, once view_row has found it open. */
uint32_t view_count(const struct view_box *view);

/* The view at an index, of either kind, or NULL. */
struct view_box *view_test(lua_State *L, int index);

#endif
