/* What the front has to be told of scripts' objects: it knows no views, and no object of a
** world. */
#ifndef ECS_FRONT_OUTSIDE_H
#define ECS_FRONT_OUTSIDE_H

#include <lua.h>

#include "core/base/base.h"

struct component;
struct ecs_index;

enum outside_kind {
  OUTSIDE_OTHER,     /* nothing that a kernel can use */
  OUTSIDE_WORLD,     /* the kernel's world */
  OUTSIDE_RESOURCE,  /* a view of a resource of that world */
  OUTSIDE_ARRAY,     /* an array of that world */
  OUTSIDE_SPAWNER,   /* a function that world:spawner of that world has made */
  OUTSIDE_INDEX      /* an index of that world */
};

#define SPAWNER_NAMES 64

/* A name in a spawner's text: a component, for values of all its fields, or one of its fields. */
struct spawner_name {
  ecs_id component;      /* ECS_NULL: not looked for yet */
  ecs_string name, field;
};

struct outside {
  enum outside_kind kind;
  const struct component *resource;    /* or the array */
  const struct spawner_name *names;    /* of a spawner, which has them as long as the function is */
  uint32_t count;
  struct ecs_index *index;             /* NULL where it is declared no more */
};

/* Says what the userdata or C function at an index is to a kernel of the world whose object is
** `owner`. */
typedef struct outside (*outside_fn)(lua_State *L, int index, const void *owner);

#endif
