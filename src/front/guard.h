/* What a compiled kernel needs from outside, read again before each run, and what is known about
** the fields that it uses. */
#ifndef ECS_FRONT_GUARD_H
#define ECS_FRONT_GUARD_H

#include <lauxlib.h>

#include "runner/run.h"

#define FRONT_UNIFORMS 200
#define FRONT_GUARDS 250
#define FRONT_ARRAYS 64        /* including tables that are indexed */
#define FRONT_ELEMENTS 65536   /* in each of these tables */
#define TAG_LINES 20           /* bits of a tag that hold the line; above: an enum front_need */

/* What a row lacks that fails. */
enum front_need {
  NEEDS_VALUE,
  NEEDS_ROOM,
  NEEDS_KEY,
  NEEDS_LUA,
  NEEDS_NAME,
  NEEDS_LIVE,
};
#define FRONT_KEYS 6           /* a.b.c... from an upvalue or a global */

enum guard_type {
  GUARD_NIL,       /* absent, even to metamethods */
  GUARD_BOOL,
  GUARD_INTEGER,   /* a small one: mixed_is_small */
  GUARD_WIDE,      /* another one */
  GUARD_FLOAT,
  GUARD_OTHER,     /* any value except the null id */
  GUARD_TABLE,     /* any table */
  GUARD_SAME,      /* exactly this value */
  GUARD_LENGTH,    /* any table; needs its length */
  GUARD_MEASURED,  /* any table with a metamethod for its length */
  GUARD_HIDDEN,    /* absent, but available from a metamethod */
  GUARD_ASKED,     /* a metamethod decides whether it equals the value of another path */
  GUARD_EQUAL,     /* whether it equals the value of another path, without a metamethod */
  GUARD_CELL,      /* a script cell with number `uniform`: see cell.c. `same` is "__index" and
                   ** `names` is "__newindex" */
  GUARD_ELEMENTS,  /* a table whose elements are all of one kind */
  GUARD_KEYS,      /* a table whose string keys are `names` */
  GUARD_PAIRS,     /* a table that pairs goes over, whose keys are `elements`: enum pairs_kind */
  GUARD_APPENDED,  /* a table to which tables are appended: append.c */
  GUARD_VIEW,      /* a view of the component `same`; `measured`: read-only. Needs its place */
  GUARD_TEXT,      /* no path: needs the number of the text `same` in the world's strings */
  GUARD_COUNT,     /* no path: needs the number of matches of the query `same` */
  GUARD_NAMED      /* no path: needs the entity named `same` */
};

/* The kind of a table's elements. Kinds from ELEMENTS_NONE on are refused; ELEMENTS_RAGGED is added
** to the others if there are values at numbers after the first nil, or below 1. */
enum element_kind {
  ELEMENTS_BOOL,
  ELEMENTS_INTEGER,   /* which a float can represent */
  ELEMENTS_WIDE,
  ELEMENTS_FLOAT,
  ELEMENTS_MIXED,     /* floats, and integers that a float can represent */
  ELEMENTS_TEXT,      /* strings among the guard's texts */
  ELEMENTS_TABLES,    /* records */
  ELEMENTS_ABSENT,    /* none: in records that may lack a value */
  ELEMENTS_NONE,      /* no elements */
  ELEMENTS_OTHER,     /* other values, or a mixture */
  ELEMENTS_FUNCTIONS,
  ELEMENTS_MANY,
  ELEMENTS_HIDDEN,    /* it has __index */
  ELEMENTS_RAGGED = 16
};

/* The keys of a table without a metatable, in the order of next: none; 1, 2 and so on; the strings
** of the guard; integers in any order. */
enum pairs_kind { PAIRS_NONE, PAIRS_LIST, PAIRS_NAMES, PAIRS_INTEGERS, PAIRS_OTHER };

/* Where values may be absent: nowhere; in tables indexed by names; also in their records. The cell
** of an absent value is arbitrary. GAPS_TOLD: reads whether values are present. */
enum element_gaps { GAPS_REFUSED, GAPS_NAMES, GAPS_FILLED, GAPS_TOLD };

/* A value reached by constant keys from an upvalue of a function, or from the strings'
** metatable. */
struct path {
  uint8_t keys;
  uint8_t upvalue;             /* from 1; 0: the metatable of the root */
  uint16_t root;               /* anchored function, or string */
  uint16_t key[FRONT_KEYS];    /* anchored strings and integers */
};

/* How the program uses a table in which it writes elements (cell.c), or finds them by keys. */
struct stored_as {
  bool truths;                 /* booleans, in a table that was empty */
  bool whole;                  /* integers of any size, such as ids */
  bool grows;                  /* a list to which values are also appended; */
  bool keyed;                  /* or a table with integer keys that do not count from 1: keys.c, */
  bool adds, drops;            /* to which elements are added, or removed */
  bool appends;                /* a list to which only tables are appended: append.c */
};

/* Whether the program removes elements: if it also adds some, Lua removes them. */
static inline bool stored_drops(struct stored_as as) { return as.drops && !as.adds; }

/* The numbers of a table that grows or is keyed: the last place of an element, now and when it was
** read; whether keys are hidden; the low bits of a key that choose its slot; how many places there
** are. */
enum given_number {
  GIVEN_LENGTH, GIVEN_HIDDEN, GIVEN_MASK, GIVEN_KNOWN, GIVEN_ROOM, GIVEN_NUMBERS
};

/* What an outside value was at compile time, and must still be before each run. */
struct guard {
  struct path path;
  enum guard_type type;
  struct path other;           /* GUARD_EQUAL, GUARD_ASKED: the path to compare with */
  uint16_t same;               /* anchored: the required value, or a metamethod's name */
  int16_t uniform;             /* number in the program, or -1; GUARD_ELEMENTS: of the array */
  uint8_t elements;            /* GUARD_ELEMENTS: an element_kind */
  uint16_t names, name_count;  /* its keys: anchored strings; 0: numbers from 1 */
  uint16_t within;             /* anchored: the key of the tables to use in it; 0: itself */
  uint16_t inner;              /* anchored: the key of their values; 0: they themselves */
  uint16_t stride;             /* number of values in each record, at keys anchored from `inner` on
                               ** or, if `inner` is 0, at 1 and up; 0: one value */
  uint16_t field;              /* anchored: the key to read in tables among these values; 0: the
                               ** values themselves */
  uint16_t texts, text_count;  /* for ELEMENTS_TEXT: anchored strings */
  uint8_t gaps;                /* for absent values: enum element_gaps */
  bool measured;               /* the values are the lengths of tables */
  uint16_t most;               /* the greatest allowed length; 0: any */
  bool stored;                 /* written by the program, and stored */
  struct stored_as as;
};

/* An index's copies of a leaf's cells, or its rows' entities. */
struct front_copy {
  uint32_t index;              /* 1 + the number of the kernel's index; 0: none */
  uint32_t slot;               /* NONE: the entities */
  uint32_t leaf;               /* counted from the slot's first column; NONE: whether the term is
                               ** present */
};

/* A field of a resource, and its uniform. */
struct resource_uniform {
  ecs_id component;
  uint32_t leaf;
  int16_t uniform;
};

/* What is known about a program's column besides its run_column: a field of one of the query's
** terms, or the row's entity. */
struct front_column {
  const struct component *component;   /* NULL: the entity */
  uint32_t component_leaf;
  k_column type;
  uint32_t number;             /* in the builder */
  bool read, written;
  bool folded;                 /* written in steps by rows other than its own */
};

/* Room for that many elements of a table; for MIXED, also for whether they are integers to Lua; if
** the table is written, also for whether they are present. */
struct element_room {
  enum element_kind kind;
  bool stored;
  uint32_t count;
  void *cells;
  uint8_t *integers, *there;
  int64_t *keys, *places;      /* for a keyed table, */
  int64_t *numbers;            /* with its numbers */
};

/* The copied elements of a table. */
struct copied {
  void *data;
  size_t size;                 /* of the room */
};

enum reading { READING_FITS, READING_OTHER, READING_STARVED };

/* ---- paths ---- */

/* Pushes the current value of a path, by raw access; nil where the path breaks off. */
void path_push(lua_State *L, int anchors, const struct path *path);
/* Appends a key to the name at the top of the stack: "settings" becomes "settings.speed". */
void path_tell_key(lua_State *L, int anchors, uint16_t key);
/* Pushes a path as a script writes it: "settings.speed". */
void path_tell(lua_State *L, int anchors, const struct path *path);
/* Whether the end of a path is absent in Lua, too: the last key's table does not have `index`, the
** anchored "__index". For a path without keys: whether it is present. */
bool path_is_absent(lua_State *L, int anchors, const struct path *path, uint16_t index);
/* Whether two paths lead to equal values, by Lua's ==; -1 if a metamethod decides: `equal`, the
** anchored "__eq", or __index where a path leads to nothing. */
int path_compare(lua_State *L, int anchors, const struct path *x, const struct path *y,
                 uint16_t equal);
/* The length of the table at the end of a path; -1: there is no table; -2: `length`, the anchored
** "__len", decides. */
int64_t path_length(lua_State *L, int anchors, const struct path *path, uint16_t length);
/* What kind of keys the value at an index has, for pairs. */
enum pairs_kind pairs_look(lua_State *L, int table);
/* Whether the table or object at an index has a metamethod, by its anchored name. */
bool path_has_method(lua_State *L, int anchors, int object, uint16_t name);

/* ---- guard.c: nothing in it allocates Lua memory ---- */

/* Reads a guard's value; false if it is not of the expected type. */
bool guard_read(lua_State *L, int anchors, const struct guard *guard, k_scalar *uniforms);
/* Reads the elements for a GUARD_ELEMENTS; for ELEMENTS_MIXED, the next array says which are
** integers to Lua. Then, for a table that grows or is keyed, its length and, if keyed, in a world
** of about `entities` entities, its two fixed numbers, which elements are present, their keys, and
** the places of slots. */
enum reading guard_read_elements(lua_State *L, int anchors, const struct guard *guard,
                                 struct memory *memory, uint32_t entities, struct copied *copied,
                                 k_array *out);
/* Reads the value of a guard of a type from GUARD_TEXT on; the number of a text is valid until the
** world's strings are swept. */
enum reading guard_read_text(lua_State *L, int anchors, const struct guard *guard,
                             ecs_world *world, k_scalar *uniforms);
void guard_read_resource(const ecs_world *world, const struct resource_uniform *resource,
                         k_scalar *value);
/* The array of an index's copies; the index must be up to date. */
k_array guard_read_copy(const struct ecs_index *index, struct front_copy copy);
/* The current array of the world, or field of a resource. */
k_array guard_read_array(const ecs_world *world, ecs_id id, uint32_t leaf);

#endif
