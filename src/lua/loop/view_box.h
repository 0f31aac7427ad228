/* What a view is made of: see view.h. */
#ifndef ECS_LUA_LOOP_VIEW_BOX_H
#define ECS_LUA_LOOP_VIEW_BOX_H

#include "lua/bind/object.h"

struct column;
struct component;
struct field;
struct found_box;
struct loop_box;
struct shape;
struct table;
struct world_box;

/* Rows that are none. */
#define ROW_STALE NONE
#define ROW_RESOURCE (NONE - 1)
#define ROW_ABSENT (NONE - 2)
#define ROW_FOUND (NONE - 3)           /* of a loop over an index, which is asked */
#define ROW_SPECIAL ROW_LIMIT          /* the first number that is no row */

#define VIEW_OWNER 1         /* user values of a view: a loop, a world; the root of a part */
#define VIEW_PARTS 2         /* table: field or element -> its view */
#define VIEW_DATA 3          /* of a resource whose fields have changed: its columns */
#define VIEW_VALUES 3

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
  struct loop_box *loop;           /* NULL: of a resource, or: */
  const struct found_box *found;   /* the loop over an index that it is of */
  uint32_t slot;                   /* then: of what that gives */
  const struct table *table;       /* of the row, with its columns, from a first row on: what is
                                   ** written is marked there */
  const struct column *columns;
  uint32_t first;
  const uint32_t *row;             /* its loop's, or one of these: */
  uint32_t own_row;
  bool read_only;
  void **data;                     /* columns by leaf: `store`, or VIEW_DATA */
  void *store[];
};

#endif
