/* What a compiled kernel needs from outside, read again before each run, and what is known of the
** fields that it uses. */
#ifndef ECS_FRONT_GUARD_H
#define ECS_FRONT_GUARD_H

#include "kernel/run.h"

#define FRONT_UNIFORMS 200
#define FRONT_GUARDS 250
#define FRONT_ARRAYS 16        /* of the world, that are read */
#define TAG_LINES 20           /* bits of a tag that are the line; above, column + 1 */
#define FRONT_KEYS 6           /* a.b.c... from an upvalue or a global */

enum guard_type {
  GUARD_NIL,       /* absent, and not to be had by a metamethod either */
  GUARD_BOOL,
  GUARD_INTEGER,   /* one that a float can stand for */
  GUARD_WIDE,      /* one that no float can */
  GUARD_FLOAT,
  GUARD_OTHER,     /* anything but the null id */
  GUARD_TABLE,     /* some table */
  GUARD_SAME,      /* this very value */
  GUARD_LENGTH,    /* some table, whose length is wanted */
  GUARD_MEASURED,  /* some table that has a metamethod for that */
  GUARD_HIDDEN,    /* absent, but to be had by a metamethod */
  GUARD_ASKED,     /* a metamethod is to say whether it is what another path leads to */
  GUARD_EQUAL      /* whether it is what another path leads to, without a metamethod's help */
};

/* A value reached from an upvalue of a function by constant keys. */
struct path {
  uint8_t keys;
  uint8_t upvalue;             /* from 1 */
  uint16_t root;               /* anchored function */
  uint16_t key[FRONT_KEYS];    /* anchored strings and integers */
};

/* What an outside value was when the function was compiled, and must still be. */
struct guard {
  struct path path;
  enum guard_type type;
  struct path other;           /* GUARD_EQUAL, GUARD_ASKED: that it is compared with */
  uint16_t same;               /* anchored: the value that it must be, or a metamethod's name */
  int16_t uniform;             /* number in the program, or -1 */
};

/* A field of a resource, and the number of its uniform. */
struct resource_uniform {
  ecs_id component;
  uint32_t leaf;
  int16_t uniform;
};

/* A field of one of the query's terms, or the row's entity: what is known of a program's column
** beside its run_column. */
struct front_column {
  const struct component *component;   /* NULL: the entity */
  uint32_t component_leaf;
  k_column type;
  uint32_t number;             /* in the builder */
  bool read, written, read_only;
};

#endif
