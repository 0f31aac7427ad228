/* Views: a component of the current row, of a resource, or a part of one, as a script reads and
** writes it. */
#ifndef ECS_LUA_VIEW_H
#define ECS_LUA_VIEW_H

#include "lua/bind/object.h"

struct column;
struct component;
struct field;
struct loop_box;
struct shape;
struct world_box;

/* Rows that are none. */
#define ROW_STALE NONE
#define ROW_RESOURCE (NONE - 1)
#define ROW_ABSENT (NONE - 2)
#define ROW_SPECIAL ROW_LIMIT          /* the first number that is no row */

#define VIEW_OWNER 1         /* user values of a view: a loop, a world; the root of a part */
#define VIEW_PARTS 2         /* table: field or element -> its view */
#define VIEW_DATA 3          /* of a resource whose fields have changed: its columns */
#define VIEW_VALUES 3

extern const char kind_view, kind_elements;

extern const luaL_Reg world_view_methods[], view_metamethods[], elements_metamethods[];

/* A component of the current row (a root), or a nested component or array within. */
struct view_box {
  struct head head;
  struct view_box *root;
  const struct shape *shape;       /* of a component; of an array's elements, or NULL */
  uint32_t base;                   /* first leaf, counted from the root's */
  const struct field *array;       /* an array: what it is, else NULL */

  struct world_box *box;
  uint64_t version;                /* registry.version that it was made or renewed in */
  const struct component *component;  /* from here on of roots only */
  ecs_id id;                       /* of the component */
  struct loop_box *loop;           /* NULL: of a resource */
  const uint32_t *row;             /* its loop's, or one of these: */
  uint32_t own_row;
  bool read_only;
  void **data;                     /* columns by leaf: `store`, or VIEW_DATA */
  void *store[];
};

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
void view_bind(struct view_box *view, const struct column *columns, uint32_t first);

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
