/* What a compiled kernel needs from outside, read again before each run, and what is known of the
** fields that it uses. */
#ifndef ECS_FRONT_GUARD_H
#define ECS_FRONT_GUARD_H

#include <lauxlib.h>

#include "runner/run.h"

#define FRONT_UNIFORMS 200
#define FRONT_GUARDS 250
#define FRONT_ARRAYS 64        /* and tables, that are read by an index */
#define FRONT_ELEMENTS 65536   /* of such a table */
#define TAG_LINES 20           /* bits of a tag that are the line; above, column + 1 */
#define FRONT_KEYS 6           /* a.b.c... from an upvalue or a global */

enum guard_type {
  GUARD_NIL,       /* absent, and not to be had by a metamethod either */
  GUARD_BOOL,
  GUARD_INTEGER,   /* a small one: mixed_is_small */
  GUARD_WIDE,      /* another one */
  GUARD_FLOAT,
  GUARD_OTHER,     /* anything but the null id */
  GUARD_TABLE,     /* some table */
  GUARD_SAME,      /* this very value */
  GUARD_LENGTH,    /* some table, whose length is wanted */
  GUARD_MEASURED,  /* some table that has a metamethod for that */
  GUARD_HIDDEN,    /* absent, but to be had by a metamethod */
  GUARD_ASKED,     /* a metamethod is to say whether it is what another path leads to */
  GUARD_EQUAL,     /* whether it is what another path leads to, without a metamethod's help */
  GUARD_CELL,      /* a script cell, whose number is `uniform`: see cell.c. `same` is "__index" and
                   ** `names` is "__newindex" */
  GUARD_ELEMENTS,  /* a table whose elements are all of a kind */
  GUARD_TEXT,      /* none: `same` is a text whose number in the world's strings is wanted */
  GUARD_COUNT,     /* none: `same` is a query's text, and how many matches it has is wanted */
  GUARD_NAMED      /* none: `same` is a name, and whose it is is wanted */
};

/* What the elements of a table are. Those from ELEMENTS_NONE on are refused; to the others
** ELEMENTS_RAGGED is added where numbers behind the first that is nil, or before 1, have values. */
enum element_kind {
  ELEMENTS_BOOL,
  ELEMENTS_INTEGER,   /* all of which a float can stand for */
  ELEMENTS_WIDE,
  ELEMENTS_FLOAT,
  ELEMENTS_MIXED,     /* floats, and integers that a float can stand for */
  ELEMENTS_TEXT,      /* strings, each one of the guard's texts */
  ELEMENTS_TABLES,    /* of which each is a record */
  ELEMENTS_ABSENT,    /* nothing, in records some of which may lack a value */
  ELEMENTS_NONE,      /* there is none */
  ELEMENTS_OTHER,     /* other values, or some of them */
  ELEMENTS_MANY,
  ELEMENTS_HIDDEN,    /* it has __index */
  ELEMENTS_RAGGED = 16
};

/* Where values may be missing: nowhere; in tables by names; in their records, too. The cell of a
** missing value holds any value. GAPS_TOLD: what is meant is whether there is a value. */
enum element_gaps { GAPS_REFUSED, GAPS_NAMES, GAPS_FILLED, GAPS_TOLD };

/* A value reached by constant keys from an upvalue of a function, or from strings' metatable. */
struct path {
  uint8_t keys;
  uint8_t upvalue;             /* from 1; 0: the metatable of the root */
  uint16_t root;               /* anchored function, or string */
  uint16_t key[FRONT_KEYS];    /* anchored strings and integers */
};

/* What an outside value was when the function was compiled, and must still be. */
struct guard {
  struct path path;
  enum guard_type type;
  struct path other;           /* GUARD_EQUAL, GUARD_ASKED: that it is compared with */
  uint16_t same;               /* anchored: the value that it must be, or a metamethod's name */
  int16_t uniform;             /* number in the program, or -1; GUARD_ELEMENTS: of the array */
  uint8_t elements;            /* GUARD_ELEMENTS: an element_kind */
  uint16_t names, name_count;  /* and by which keys: anchored strings; 0: by numbers from 1 */
  uint16_t within;             /* anchored: the key of tables in them that are meant; 0: they */
  uint16_t inner;              /* anchored: the key of their values; 0: they themselves */
  uint16_t stride;             /* how many values each has, by keys anchored from `inner` on, or,
                                  where that is 0, from 1 on; 0: one value */
  uint16_t field;              /* anchored: the key of what tables among these values have; 0: they
                                  themselves */
  uint16_t texts, text_count;  /* ELEMENTS_TEXT: anchored strings */
  uint8_t gaps;                /* of these: enum element_gaps */
  bool measured;               /* the lengths of tables are meant, which are these values */
  uint16_t most;               /* and none may be above this; 0: any */
  bool stored, truths;         /* written by the program, and stored, as booleans: see cell.c */
};

/* What an index has copied: the cells of a leaf that a slot gives, or who the rows are. */
struct front_copy {
  uint32_t index;              /* 1 + the number of the kernel's; 0: it is none */
  uint32_t slot;               /* NONE: the entities */
  uint32_t leaf;               /* counted from the slot's first column; NONE: the one that says
                               ** where the term is there */
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
  bool read, written;
  bool folded;                 /* written by steps of rows, which it is not one of */
};

/* Where the elements of a table go: so many, of a kind; MIXED, whether they are integers to Lua; if
** the table is written, whether they are there. */
struct element_room {
  enum element_kind kind;
  bool stored;
  uint32_t count;
  void *cells;
  uint8_t *integers, *there;
};

/* The elements of a table, copied. */
struct copied {
  void *data;
  size_t size;                 /* of its room */
};

enum reading { READING_FITS, READING_OTHER, READING_STARVED };

/* ---- guard.c: nothing in it allocates in Lua ---- */

/* Reads a guard's value; false when it is not of the expected type. */
bool guard_read(lua_State *L, int anchors, const struct guard *guard, k_scalar *uniforms);
/* Reads the elements that a GUARD_ELEMENTS is about; of ELEMENTS_MIXED, whether they are integers
** to Lua is the array after that. */
enum reading guard_read_elements(lua_State *L, int anchors, const struct guard *guard,
                                 struct memory *memory, struct copied *copied, k_array *out);
/* Reads what a guard from GUARD_TEXT on wants; the number of a text is good as long as nothing
** sweeps the world's strings. */
enum reading guard_read_text(lua_State *L, int anchors, const struct guard *guard,
                             ecs_world *world, k_scalar *uniforms);
void guard_read_resource(const ecs_world *world, const struct resource_uniform *resource,
                         k_scalar *value);
/* Where what an index has copied is; it is up to date. */
k_array guard_read_copy(const struct ecs_index *index, struct front_copy copy);
/* Where an array of the world is now, or the field of a resource. */
k_array guard_read_array(const ecs_world *world, ecs_id id, uint32_t leaf);

#endif
