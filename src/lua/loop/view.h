/* Views: a component of the current row or of a resource, or a part of one, as a script reads and
** writes it. */
#ifndef ECS_LUA_LOOP_VIEW_H
#define ECS_LUA_LOOP_VIEW_H

#include <lauxlib.h>

#include "core/base/base.h"
#include "core/ids/entity_index.h"
#include "lua/bind/object.h"
#include "lua/bind/value.h"
#include "lua/loop/loop.h"

/* Shapes: which leaves the keys of components' views lead to. */

struct shape_field {
  const char *key;           /* Lua's own string, anchored, and found by its address */
  uint32_t leaf;             /* its first leaf, counted from its component's first */
  ecs_type type;             /* ECS_NESTED: a view is read, also for an array */
};

/* How views of a component, or of a nested one, are read. Anchored in WORLD_SHAPES. */
struct shape {
  const struct component *component;
  uint64_t version;                /* registry.version when it was built */
  uint32_t count;
  struct shape_field fields[];
};

/* Forgets the shape of a component: before it is undeclared, and after loops_end. Cannot fail. */
void views_forget(lua_State *L, int world_index, ecs_id component);

/* The arguments of functions for a row of a loop: its terms' values, its entity. */

/* The entity of a row of the loop's current run. */
static inline ecs_id loop_entity(const struct loop_box *loop, uint32_t row) {
  return entity_id(loop->entities, loop->rows[row]);
}

/* Whether the loop visits a row. */
static inline bool loop_takes(const struct loop_box *loop, uint32_t row) {
  return !loop->filter || (loop->filter[row / 64] >> row % 64 & 1);
}

/* The number of values that a match has after the entity. */
static inline uint32_t value_count(const struct loop_box *loop) {
  return LIKELY(!loop->walk) ? 0 : loop_value_count(loop);
}

/* slot_push for a value that is not a number, or absent. */
void slot_push_value(lua_State *L, int loop_index, const struct loop_box *loop,
                     const struct slot *slot, uint32_t row);

/* Pushes the value of a single field's term, or true for a tag; nil if the table lacks it. */
static inline void slot_push(lua_State *L, int loop_index, const struct loop_box *loop,
                             const struct slot *slot, uint32_t row) {
  if (UNLIKELY(!slot->present) || UNLIKELY(!push_number_at(L, slot->type, slot->data, row)))
    slot_push_value(L, loop_index, loop, slot, row);
}

/* Pushes the last arguments, as many as given: the entity, values. */
static inline void push_entity(lua_State *L, const struct loop_box *loop, uint32_t row, int count) {
  if (count > 0) lua_pushinteger(L, (lua_Integer)loop_entity(loop, row));
  if (UNLIKELY(count > 1)) loop_push_values(L, loop, (uint32_t)count - 1);
}

/* Pushes the arguments after the slots, as many as given: dt, the entity, values. */
static inline void push_rest(lua_State *L, const struct loop_box *loop, uint32_t row, double dt,
                             int count) {
  lua_pushnumber(L, (lua_Number)dt);
  push_entity(L, loop, row, count - 1);
}

extern const char kind_view, kind_elements;

extern const luaL_Reg world_view_methods[], view_metamethods[], elements_metamethods[];

/* Pushes the view of the resource named at 2. */
void resource_view(lua_State *L, struct world_box *box);

/* Pushes the view of a resource that does not exist yet: it gets its component later. The world is
** at 1. */
struct view_box *view_push_pending(lua_State *L, struct world_box *box);

/* Pushes a view of a component for a loop or, if loop is NULL, for a resource. Its owner (the loop,
** or the world) and the world are at absolute indices. False if a finalizer has used the world
** meanwhile: the component may be gone. */
bool view_push(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, struct loop_box *loop, int owner_index,
               struct view_box **out);

/* Pushes a view for the loop at an index like the one at the top of the stack, which was one of the
** loop's views. False as for view_push. */
bool view_renew(lua_State *L, int loop_index, const struct view_box *old,
                struct view_box **out);

/* Points a loop's view at its component's columns, from a row on; NULL if the component is
** absent. */
void view_bind(struct view_box *view, const struct table *table, const struct column *columns,
               uint32_t first);

/* The number of fields or elements of a view, once view_row has found it open. */
uint32_t view_count(const struct view_box *view);

/* The view at an index, of either kind; or NULL. */
struct view_box *view_test(lua_State *L, int index);

/* The data of a view. */

/* Special values that are not rows. */
#define ROW_STALE NONE
#define ROW_RESOURCE (NONE - 1)
#define ROW_ABSENT (NONE - 2)
#define ROW_FOUND (NONE - 3)           /* in a loop over an index, which knows the row */
#define ROW_SPECIAL ROW_LIMIT          /* the first number that is not a row */

#define VIEW_OWNER 1         /* user values of a view: a loop or world; the root of a part */
#define VIEW_PARTS 2         /* table: field or element -> its view */
#define VIEW_DATA 3          /* for a resource whose fields have changed: its columns */
#define VIEW_VALUES 3

/* A component of the current row (a root), or a nested component or array in it. */
struct view_box {
  struct head head;
  struct view_box *root;
  const struct shape *shape;       /* of the component; of an array's elements, or NULL */
  uint32_t base;                   /* first leaf, counted from the root's */
  const struct field *array;       /* an array: its field; otherwise NULL */

  struct world_box *box;
  uint64_t version;                /* registry.version when it was made or renewed */
  const struct component *component;  /* from here on for roots only */
  ecs_id id;                       /* the component's */
  struct loop_box *loop;           /* NULL: the view is a resource's, or: */
  const struct found_box *found;   /* the loop over an index to which it belongs, */
  uint32_t slot;                   /* and its slot there */
  const struct table *table;       /* table of the row and its columns, from a first row on, for
                                   ** marking writes */
  const struct column *columns;
  uint32_t first;
  const uint32_t *row;             /* points to its loop's row, or to own_row or a special value */
  uint32_t own_row;
  bool read_only;
  void **data;                     /* columns by leaf: `store`, or VIEW_DATA */
  void *store[];
};

#endif
