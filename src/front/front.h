/* Compiles a Lua function to a column program in one pass in bytecode order. A val is what a
** register holds; an env is what all of them hold; rows that jump forward wait at their target with
** their own env and are merged there, value by value, by selects. What cannot be compiled raises a
** Lua error that says why, as "file:line: reason". */
#ifndef ECS_FRONT_FRONT_H
#define ECS_FRONT_FRONT_H

#include <lua.h>

#include "core/base/base.h"
#include "front/bytecode.h"
#include "front/shared.h"
#include "runner/partners.h"
#include "runner/run.h"

/* How scripts' objects look to the front, which knows neither views nor objects of a world. */

enum outside_kind {
  OUTSIDE_OTHER,     /* unusable in kernels */
  OUTSIDE_WORLD,     /* the kernel's world */
  OUTSIDE_RESOURCE,  /* a view of a resource of that world */
  OUTSIDE_ARRAY,     /* an array of that world */
  OUTSIDE_SPAWNER,   /* a function made by that world's world:spawner */
  OUTSIDE_INDEX,     /* an index of that world */
  OUTSIDE_QUERY,     /* a query of that world */
  OUTSIDE_VIEW       /* a view of an open loop's current row */
};

#define SPAWNER_NAMES 64

/* A name in a spawner's text: a component, for values of all its fields, or one of its fields. */
struct spawner_name {
  ecs_id component;      /* ECS_NULL if not looked up yet */
  ecs_string name, field;
};

struct outside {
  enum outside_kind kind;
  const struct component *resource;    /* or the array */
  const struct spawner_name *names;    /* of a spawner; live as long as the function */
  uint32_t count;
  struct ecs_index *index;             /* NULL if no longer declared */
  const ecs_query *query;              /* NULL if it is not in the core yet */
  int64_t place;                       /* of a view: the place of `resource` in its row, */
  bool read_only;
};

/* Tells what the userdata or C function at an index is to a kernel of the world with the object
** `owner`. */
typedef struct outside (*outside_fn)(lua_State *L, int index, const void *owner);

/* Whether the value at an index is an integer to kernels. */
static inline bool front_is_integer(lua_State *L, int index) {
  if (!NUMBERS_ARE_DOUBLES) return lua_isinteger(L, index) != 0;
  return lua_type(L, index) == LUA_TNUMBER && double_is_integer((double)lua_tonumber(L, index));
}

/* What a function is compiled for. */

/* What the function's results are: ignored, new values of the first fields, a boolean for each row,
** numbers that are reduced to one, or a key for each row of an index. */
enum front_result {
  RESULT_NONE, RESULT_MAP, RESULT_TRUTH, RESULT_SUM, RESULT_MIN, RESULT_MAX, RESULT_KEY
};

/* Whether a run has results, apart from what it writes. */
#define RESULT_IS_USED(result) ((result) > RESULT_MAP)

/* Whether the function must not change anything and gets no dt. */
#define RESULT_IS_ASKED(result) ((result) == RESULT_TRUTH || (result) == RESULT_KEY)

#define FRONT_FUNCTIONS 64     /* inlined functions, counted at each call */
#define FRONT_RESULTS 8
#define FRONT_REGISTERS 1024   /* in all open functions */
#define FRONT_FORKS 256
#define FRONT_STRINGS 64       /* strings that choices may have */
#define FRONT_ENUMS 16         /* enums that are known by their names */
#define FRONT_SETS 8           /* tables of arrays, and the arrays in each */
#define FRONT_SET 16
#define FRONT_TEXTS 256        /* strings in tables */
#define FRONT_MADE 64          /* tables that the function creates, */
#define FRONT_ITEMS 128        /* and the items in all of them */
#define FRONT_FOLDS 32
#define SPAWN_CONDITIONS 4     /* conditions on parts of one spawn */
#define FRONT_CHAINS 600       /* steps on array elements and resource fields */

/* ---- what registers hold ---- */

enum val_kind {
  VAL_NOTHING,     /* never set, or different on different paths */
  VAL_UNKNOWN,     /* the result of a refused operation: see survey.c */
  VAL_NIL,
  VAL_VALUE,       /* a number or boolean: `value` */
  VAL_STRING,      /* a string constant */
  VAL_CHOICE,      /* one of several string constants: `value` is its number in f->strings */
  VAL_PREFIX,      /* the first `number` bytes of a string: `value` is its number in the world */
  VAL_PATH,        /* a table reached by a path */
  VAL_VIEW,        /* a term, or a nested or array field of one */
  VAL_FUNCTION,    /* a Lua function reached by a path */
  VAL_CLOSURE,     /* a function created here: the `at`-th inside that of call `slot` */
  VAL_MATH,        /* a function of the math library, string.sub or assert */
  VAL_WORLD,
  VAL_METHOD,      /* a method of the world */
  VAL_SPAWNER,     /* a function made by world:spawner: anchored at `at` */
  VAL_PAIR,        /* a pair's id: `component` is the relation, `value` the target */
  VAL_RESOURCE,
  VAL_ARRAY,       /* an array of the world: `component` */
  VAL_READING,     /* what array:read gives, for array:write: read at mark `number` */
  VAL_RECORD,      /* an element of a table that is a table: `value` is its place, from 1, in
                   ** f->arrays[`at`] */
  VAL_ARRAYS,      /* an element of a table of arrays: `value` is its place, from 1, in
                   ** f->sets[`at`] */
  VAL_FUNCTIONS,   /* an element of a table of functions, likewise */
  VAL_TABLE,       /* a table created by the function: `at` of f->made */
  VAL_LIST,        /* one filled as a list: `at` of f->shared.lists, the `slot`-th that it made */
  VAL_ENTRY,       /* a record of such lists: the `value`-th of pool `at` */
  VAL_INDEX,       /* an index: `at` of f->indexes */
  VAL_QUERY,       /* a query: `at` of f->queries */
  VAL_FINDER,      /* a method of an index, or a query's each: `number` is an enum list_kind */
  VAL_PARTNERS,    /* what a `for` iterates over: `value` is the count; `at` is the index or, if
                   ** NONE, list `slot` of f->lists has the entities or events */
  VAL_ITEMS,       /* what a `for` over ipairs or, if `slot` is true, over pairs iterates over: `at`
                   ** is then an enum pairs_kind */
  VAL_PARTNER,     /* a copy that such a loop yields, like a view; `value` is its place. Where the
                   ** index's rows lack it, it is false, not nil */
  VAL_ELEMENT      /* like a view: an element, with fields, of an array field at an index that may
                   ** differ from row to row; or a part of a table from world:read */
};

/* How an absent value appears. */
enum lacks { LACKS_NIL, LACKS_FALSE, LACKS_EITHER };

struct val {
  uint8_t kind;
  uint8_t of;                  /* an element: the kind of what it is in; VAL_TABLE: from world:read;
                               ** VAL_QUERY: a view that a loop over a query or events yields, or a
                               ** part of one; VAL_PATH: a view from outside, whose `slot` says
                               ** whether it is read-only */
  enum lacks lacks;
  bool soft;                   /* made of script numbers only: f32 when used with f32 */
  bool literal;                /* a number literal */
  bool mixed;                  /* a float here, but an integer to Lua in some rows */
  bool wide;                   /* a script integer that no float can represent */
  bool rounded;                /* mixed; as an integer, it may have been rounded */
  uint8_t bits;                /* 1 + n: as an integer it is from -2^n to 2^n; 0: unknown */
  bool entity;                 /* an id: the row's, an entity field's, or null */
  bool zero;                   /* an id that is a literal 0 in all rows so far, so also a number */
  bool row_entity;             /* the row's own */
  bool trusted;                /* a function: its frame is trusted */
  bool carried;                /* an element: rows that skip the loop that finds it have none */
  enum spawned spawned;        /* an id: a stand-in number, only to be noted and compared */
  k_value value;
  k_value present;             /* mask of the rows that have it; 0, which is K_ALL: all */
  k_value whole;               /* mixed: mask of the rows in which it is an integer */
  k_value copy;                /* an element: a copy's value; the element is in its array */
  uint16_t chain;              /* 1 + its chain in f->chains, or 0 */
  uint32_t at;                 /* number of a path, math function, method, anchored function or
                               ** object; for an outside number, its path + 1 */
  int64_t number;              /* an integer literal; or a choice: a bit for each string that it may
                               ** be */
  const struct enumeration *names;   /* for a value of an enum */
  ecs_string string;
  uint32_t slot;               /* of a view's term */
  uint32_t leaf;               /* first leaf of the view, in the term's component */
  const struct component *component;  /* of the view, or of an array's elements */
  const struct component *root;       /* the term's component */
  const struct field *array;          /* a view of an array's elements */
  const struct field *within;         /* an element: the array that has it, at index `value` from 0;
                                      ** NULL: `value` is its place */
};

/* Counters of each row: calls of world:random, up from 0; spawns, down from 0. */
enum { ENV_CALLS, ENV_SPAWNS, ENV_COUNTS };

/* What holds for the rows at the current instruction, or that wait for another one. */
struct env {
  uint32_t target;             /* that one; NONE: not for an instruction */
  k_value mask;                /* the present rows; K_NONE: there can be none */
  uint32_t count;              /* registers in use */
  struct val counts[ENV_COUNTS];
  uint32_t result_count;
  struct val results[FRONT_RESULTS];
  k_value fields[RUN_COLUMNS];      /* K_NONE: as loaded */
  struct env_cell cells[FRONT_CELLS];
  struct val *registers;
};

/* A mask that a condition has split, so that joining its halves restores it; or one joined of two
** that are not halves. */
struct fork {
  k_value whole, yes, no;
  bool joined;
};

/* A function being compiled. */
struct frame {
  struct frame *caller;
  struct function_code *code;
  uint16_t function;           /* anchored; for a closure, the enclosing function */
  const void *identity;
  uint32_t number;             /* of this call, counted from 1 */
  const struct frame *around;  /* a closure: the call that has created it, */
  uint32_t inner;              /* as its n-th function, from 1 */
  bool trusted;                /* elements of its lists are not checked to exist */
  bool listed;                 /* of lua/ecs/lists.lua: shown as the call of it */
  uint32_t base;               /* of its registers */
  uint32_t pc;
  uint32_t top;                /* after a call with open results; otherwise NONE */
  uint32_t first_edge;         /* edges from here on are its own */
  uint32_t end;                /* of the instructions compiled now */
  struct loop *loop;           /* the innermost of its open loops: rounds.h */
};

/* A table of the world's arrays, or of functions, that is read at an index: what the table, or each
** of its records at a key, has at each number or name. */
struct front_set {
  uint32_t path;
  const struct enumeration *names;   /* NULL: numbers from 1 */
  ecs_string key;                    /* the key in records; without data: none */
  uint32_t count;
  struct val of[FRONT_SET];
};

/* An array of the world, a field of a resource used as one, or a table. */
struct front_array {
  ecs_id id;                   /* 0: a table */
  uint32_t leaf;               /* of a resource */
  bool read, written;          /* used other than as the row's own element */
  uint32_t path;
  const struct enumeration *names;   /* the table's indexes; NULL: numbers */
  uint16_t within;             /* anchored: the records' key of the tables meant; 0: this table */
  uint16_t inner;              /* anchored: the key of the values in its records; 0: its own */
  const struct enumeration *inner_names;   /* with `stride`: the indexes of records */
  uint16_t stride;             /* number of values of each record; 0: one */
  uint16_t field;              /* anchored: the key to read in the values; 0: they themselves */
  struct enumeration texts;    /* ELEMENTS_TEXT: the possible strings */
  enum element_gaps gaps;
  enum element_kind kind;
  bool ragged;                 /* a table that also has other numbers: ELEMENTS_RAGGED */
  bool measured;               /* reads the lengths of its records, or of tables in them */
  uint16_t most;               /* the greatest length allowed; 0: any */
  bool stored;                 /* a table whose elements the function writes: see cell.c */
  struct stored_as as;
  struct front_copy copy;      /* copies of an index */
  uint8_t cells;               /* script cells: k_column + 1; lists: LISTS_CELLS more */
};

/* A step on cells that the function does not access otherwise: build_fold. */
struct front_fold {
  const struct component *component;   /* NULL: a script cell, */
  uint32_t leaf;                       /* with this number */
  uint32_t column;             /* 1 + the column with its cells, or 0 */
};

/* What a number is made from: an element of an array, a field of a resource or of another entity,
** possibly changed by a step. */
struct front_chain {
  const struct component *component;
  uint32_t leaf;
  k_value index;               /* K_NONE: in a resource or another entity, */
  uint32_t column;             /* with the cells in column - 1; otherwise 0 */
  k_value present;             /* the rows that have such an element */
  k_value value;               /* the number itself */
  uint16_t also;               /* 1 + another chain that the number also has, or 0 */
  bool floats;                 /* the content is a float */
  bool stepped;                /* it is no longer the content itself */
  k_fold step;                 /* the fold that changed it; KF_COUNT: not a fold */
  k_value operand;
};

/* A table that the function creates for world:spawn, filled by the rows that have created it, in
** the same round of the same loop. */
struct front_made {
  k_value mask, loop;
  struct list_place place;
  uint32_t names, items;       /* the room that it is created with */
  bool varies;                 /* rows may have set its fields in different orders */
  bool kept;                   /* it has become a record of a list */
  uint32_t first;              /* of f->items; NONE: empty */
};

struct front_item {
  ecs_string key;              /* empty: has a position, from 1 on, */
  uint32_t position;
  struct val pair;             /* or a pair's id as its key */
  struct val value;            /* nil: in no row */
  k_value there;               /* mask of the rows that have it */
  uint32_t next;
};

#define SURVEY_REASONS (-1)    /* index of a survey's list of reasons in the anchors, */
#define SURVEY_MOST 20         /* and the most that it holds */

/* An upvalue of a function, or a field of one with a constant key. */
struct unknown_place {
  const struct function_code *code;
  uint32_t upvalue, key;
};

struct front {
  lua_State *L;
  ecs_world *world;
  outside_fn outside;
  const void *owner;           /* the world's object */
  const ecs_query *query;
  const struct component *elements;   /* the array whose elements are the rows; NULL: the query's */
  k_value element;             /* then the number of the row's element */
  bool once;                   /* a system's run: one row, with world, dt and query */
  uint32_t body_line;          /* line of the `for` that is compiled; 0: the whole function */
  uint32_t body_first, body_count;   /* the registers of the loop's variables */
  uint64_t body_sets[4];       /* locals around it that the body sets, as bits, */
  uint64_t body_uses[4];       /* and those that it reads or sets */
  int locals_index;            /* stack index of the function with these as upvalues, */
  uint16_t locals;             /* and where it is anchored */
  uint64_t present;            /* bit by slot: optional terms that are present, */
  uint64_t maybe;              /* and those that only some rows have */
  struct builder *b;
  const lua_CFunction *math;
  int anchors;                 /* stack index of the table of anchored values */
  uint32_t anchor_count;
  enum front_result result;
  bool orders;                 /* rows give their orders one by one */
  bool wants_orders;           /* refused because orders must be given one by one */
  bool asks_number;            /* uses the entity of a number that may not be an id */
  bool wants_spawns;           /* refused because it does so, and spawns */
  bool wants_classes;          /* refused because more classes turned out to be shared, */
  bool wants_cells;            /* or more cells written, or with other values, */
  bool wants_lookups;          /* or because array fields take too many columns, */
  bool wants_draws;            /* or the body of a loop calls world:random, */
  bool wants_leave;            /* or some rows need Lua, */
  bool wants_strict;           /* or all rows need it */
  struct front_classes shared;
  uint32_t list_times[FRONT_LISTS];     /* how often each list has been created so far */
  uint8_t list_keys[FRONT_LISTS];       /* for keyed lists: the kind of keys (scratch.c), */
  bool list_open[FRONT_LISTS];          /* and whether a loop over it is open */
  int16_t cell_uniforms[FRONT_CELLS];   /* uniforms of cells that may be folded; 0: none yet */
  bool started;                /* env is set */
  bool starts;                 /* the program is for some rows of a table: build_start */
  bool breaks_promise;         /* refused because it writes to a term declared :in */
  bool fleeting;               /* refused for a reason that no guard can detect */
  bool surveys;                /* collects all reasons to refuse it, without a program: survey.c */
  bool refused;                /* the error being raised is a refusal */
  bool vague;                  /* a result is unknown */
  uint32_t doubts;             /* number of unknown conditions so far */
  uint32_t unknown_count;      /* number of places that were set to unknown values */
  struct unknown_place unknown_places[SURVEY_MOST];
  bool leaves;                 /* rows fall back to Lua, where anything may happen */
  bool chosen;                 /* a path was chosen by values or terms */
  bool hopeless;               /* refused at an instruction that every run reaches */
  k_value start;               /* the mask at the function's start */

  struct env env;
  struct frame *frame;
  const char *list_source;     /* of the functions of lua/ecs/lists.lua, once one is called */
  struct env *edges;           /* rows that wait for the pass to reach their target */
  struct program *program;
  uint32_t calls;              /* number of frames opened so far */
  uint32_t depth, loop_depth, edge_count, edge_capacity, fork_count, column_count, path_count;
  uint32_t guard_count, resource_count, uniform_count, string_count, asked_count, lookup_count;
  uint32_t array_count, chain_count, made_count, item_count, code_count, enum_count, text_count;
  uint32_t word_count;
  uint32_t command_count, loop_commands;   /* those given before the outermost open loop */
  uint32_t mark_count, first_mark;   /* bitmaps for writes to watched terms */
  uint32_t whole_count;
  uint32_t index_count, query_count, list_count, fold_count, set_count;
  bool looks;                  /* uses some index */
  bool chooses;                /* could look up elements of array fields */
  uint32_t unportable;         /* a bit for each ecs.math function to use instead */

  /* Only the counts above say what these lists hold, so front_clear leaves them as they are. */
  struct val registers[FRONT_REGISTERS];
  struct fork forks[FRONT_FORKS];
  struct front_column columns[RUN_COLUMNS];
  struct run_column cells[RUN_COLUMNS];        /* of the same columns */
  struct path paths[FRONT_GUARDS];
  struct guard guards[FRONT_GUARDS];
  struct resource_uniform resources[FRONT_UNIFORMS];
  ecs_string strings[FRONT_STRINGS];
  const struct enumeration *enums[FRONT_ENUMS];
  ecs_string texts[FRONT_TEXTS];
  struct enumeration words[FRONT_ENUMS];      /* the strings of choices */
  uint32_t marks[RUN_MARKS];                   /* slots of watched terms that are written, */
  uint32_t whole[RUN_MARKS];                   /* and of those that all rows write */
  struct run_asked asked[RUN_ASKED];
  struct run_lookup lookups[RUN_LOOKUPS];      /* by number in the program */
  struct front_array arrays[FRONT_ARRAYS];     /* by number in the program */
  struct front_set sets[FRONT_SETS];
  struct front_chain chains[FRONT_CHAINS];
  struct front_fold folds[FRONT_FOLDS];        /* by number in the program */
  struct front_made made[FRONT_MADE];
  struct front_item items[FRONT_ITEMS];
  struct run_command commands[RUN_ORDERS];
  k_value store_masks[RUN_ORDERS];   /* masks of orders that store the id of a spawned entity */
  struct ecs_index *indexes[RUN_INDEXES];
  const ecs_query *queries[RUN_LISTS];
  struct run_list lists[RUN_LISTS];            /* by number in the program */
  struct function_code codes[FRONT_FUNCTIONS];
};

/* ---- front.c ---- */

/* Resets an unused struct for front_compile. */
void front_clear(struct front *f);
/* Compiles the function at `function` for tables with the optional terms of `present`. `f` is clear
** except for its world, outside, owner, query, present, result, starts, orders, math and anchors.
** On return f->program is set. Raises "file:line: reason", or Lua's memory error; front_free then
** frees what is left. */
void front_compile(struct front *f, lua_State *L, int function);
/* Opens the code of the anchored function for a frame. */
void front_open(struct front *f, struct frame *frame, uint16_t function);
void front_free(struct front *f);
bool front_wants_more(const struct front *f);   /* it was refused, but should be retried */
/* Whether an instruction leaves rows to Lua. */
bool front_leaves(const struct front *f, const void *function, uint32_t pc);
/* Adds guards that tell when the reason for a refusal no longer holds; false if they cannot. Raises
** nothing. */
bool front_guard_refusal(struct front *f);

/* Raises the reason why the function cannot be compiled, with file and line. */
NORETURN FORMAT(2, 3) int front_refuse(struct front *f, const char *format, ...);
/* Raises Lua's memory error. */
NORETURN int front_no_memory(struct front *f);

/* Compiles the body of a function whose parameters are in place; its results are merged into
** f->env. */
void front_function(struct front *f, struct frame *frame);
/* Compiles instructions up to `end`. */
void front_range(struct front *f, struct frame *frame, uint32_t end);

/* Compiles an instruction that only sets registers or fields. */
void front_operate(struct front *f, const struct code *code);
/* Compiles the instruction, or the loop that jumps back, at the frame's pc; moves pc past it. */
void front_advance(struct front *f, struct frame *frame);
/* Rows in which the condition equals `flag` jump; the others skip the jump. `known`, if not below
** 0, is the condition for all rows. In rows that jump, register a becomes *set, if given. */
void front_branch(struct front *f, const struct code *code, k_value condition, int known,
                  const struct val *set);

/* Sends the rows of `mask` to a target (for the end: the count of instructions). The second: the
** present rows in which a condition does not hold; the others stay. */
void front_jump(struct front *f, uint32_t target, k_value mask);
void front_jump_unless(struct front *f, uint32_t target, k_value condition);
/* Keeps a copy of the environment as the last edge; the second forgets edges from `first` on. */
void front_keep(struct front *f);
/* Lets some rows wait while others continue. The first keeps them as they are here, and returns
** their place, or NONE if there are none. The next lets those that continued wait in turn, and
** continues with the kept ones. front_join for NONE then joins all that wait. */
uint32_t front_split(struct front *f, k_value rest);
void front_swap(struct front *f, uint32_t kept);
void front_forget(struct front *f, uint32_t first);
/* Joins the edges, from `first` on, that wait for this instruction. */
void front_join(struct front *f, uint32_t first, uint32_t target);
/* The line of the current instruction, as a tag for what can fail. */
uint32_t front_tag(const struct front *f);
/* build_need, which says what a row lacks that fails. */
void front_need(struct front *f, k_value present, enum front_need what);
/* A register of the open frame. */
struct val *front_register(struct front *f, uint32_t at);
/* Pops a Lua value into the table of anchored values. Returns its number there. */
uint16_t front_anchor(struct front *f);

/* Raises an error if the builder has failed. */
void front_check(struct front *f);

/* ---- survey.c: all reasons to refuse a function ---- */

/* front_advance in a survey: a refusal is listed, and the results become unknown. */
void survey_advance(struct front *f, struct frame *frame);
/* Appends the reason at the top of the stack to the list at an index, unless it is already there;
** pops it. */
void survey_append(lua_State *L, int list);
bool survey_has_reasons(const struct front *f);   /* it has listed at least one */

/* ---- env.c: masks and merging ---- */

/* Rows of a mask in which a condition holds, or does not. */
k_value mask_and(struct front *f, k_value mask, k_value condition);
k_value mask_and_not(struct front *f, k_value mask, k_value condition);
/* The rows of x inside the mask, and of y outside it. */
k_value mask_select(struct front *f, k_value mask, k_value x, k_value y);
/* Makes the present rows fail and fall back to Lua; returns false if they are all rows. Rows that
** wait in the other half of a split mask continue with the whole mask. */
bool env_leave_some(struct front *f);
/* Copies an environment with registers of its own, which env_free frees. */
void env_copy(struct front *f, struct env *to, const struct env *from);
void env_free(struct front *f, struct env *env);

/* The value of a column's field, touched or not. */
k_value env_field(struct front *f, const struct env *env, uint32_t at);
/* The rows of `from` join those of `into`. */
void env_merge(struct front *f, struct env *into, const struct env *from);
/* x in the rows of the mask, y elsewhere, as one type; VAL_NOTHING if they have no common type. */
struct val val_select(struct front *f, k_value mask, struct val x, struct val y);
/* The type that both can be converted to, or -1. */
int val_common_type(const struct front *f, struct val x, struct val y);
/* x as what it and y, two values, both are, but for whether they are integers to Lua. */
struct val val_in_common(struct val x, struct val y);
/* Whether x in some rows and y in others may be an integer here and a float there. */
bool val_mixes(const struct front *f, struct val x, struct val y);
/* Whether x cannot be used. */
static inline bool val_is_spoilt(struct val x) {
  return x.kind == VAL_NOTHING || x.kind == VAL_UNKNOWN;
}
/* Whether x and y are known to be the same. */
bool val_same(const struct val *x, const struct val *y);
/* Whether x and y are the same kind of place, wherever they are and in whatever rows. */
bool val_same_but_for_place(struct val x, struct val y);
/* Whether x is a literal null, which is also the number 0. */
bool val_is_zero(struct val x);
/* Whether x is a literal integer, or made of such, that no float can represent. */
bool val_is_wide(struct val x);

/* ---- maybe.c: what is nil in some rows ---- */

/* Whether x is an element that no number stands for: `value` is its place, which may differ from
** row to row. */
static inline bool val_is_place(struct val x) {
  return x.kind == VAL_RECORD || x.kind == VAL_ENTRY || x.kind == VAL_ARRAYS ||
         x.kind == VAL_FUNCTIONS ||
         (x.kind == VAL_ELEMENT && x.of != VAL_PARTNER);
}
static inline bool val_may_lack(struct val x) {
  return x.kind == VAL_VALUE || x.kind == VAL_PARTNER || x.kind == VAL_VIEW ||
         x.kind == VAL_TABLE || x.kind == VAL_CHOICE || x.kind == VAL_ELEMENT || val_is_place(x);
}
static inline bool val_is_maybe(struct val x) {
  return val_may_lack(x) && x.present != K_ALL;
}
/* The value in the rows of a mask if it is nil in all of them, or false instead of absent;
** otherwise VAL_NOTHING. */
struct val maybe_absent(struct front *f, k_value mask, struct val x);
/* The value where it is present; the other present rows fail and fall back to Lua, which may accept
** nil or raises an error. */
struct val maybe_need(struct front *f, struct val x);
/* The value as seen by the rows of the mask. */
struct val maybe_narrow(struct front *f, k_value mask, struct val x);
/* Adds to `joined`, x in the rows of the mask and y elsewhere, where these are present. */
struct val maybe_select(struct front *f, k_value mask, struct val x, struct val y,
                        struct val joined);
/* x in the rows of the mask and nil elsewhere, or the reverse. */
struct val maybe_or_nil(struct front *f, k_value mask, struct val x, struct val y);
/* x == y, and the truth of x, where either may be nil. *known is -1 afterwards. */
k_value maybe_equal(struct front *f, struct val x, struct val y, int *known);
k_value maybe_truth(struct front *f, struct val x);

/* ---- choice.c: what is one string in some rows and another one in others ---- */

/* Whether x is a string constant or a choice. */
static inline bool val_is_text(struct val x) {
  return x.kind == VAL_STRING || x.kind == VAL_CHOICE;
}
/* Turns a string into a choice, if the function has few enough of them. The second: a choice as an
** enum's value. */
bool choice_of(struct front *f, struct val *x);
/* Iterates over the strings that a choice or an enum's value may be; with a component, only over
** names of its fields. NULL after the last. The second: whether x is the string at `at`. */
const ecs_string *choice_each(const struct front *f, const struct val *x,
                              const struct component *fields, uint32_t *at);
k_value choice_is(struct front *f, struct val x, uint32_t at);
/* An enumeration of two names; NULL where there are too many. */
const struct enumeration *choice_pair(struct front *f, const ecs_string names[2]);
struct val choice_as_value(struct front *f, struct val x);
/* val_select with a string on one side: a choice or, with an enum's value, an enum's value. */
struct val choice_select(struct front *f, k_value mask, struct val x, struct val y);
/* Keeps the names at the end of `texts` as an enumeration, unless there is an equal one. */
const struct enumeration *choice_keep(struct front *f, struct enumeration names);
/* Converts a string, or a value of another enum, to an enum. K_NONE if a string may not be one of
** its names, or no value can be; rows with another name fail. With `any` it is -1 instead. */
k_value choice_as_enum(struct front *f, struct val x, const struct enumeration *names, bool any);
/* The first known enum with these names in this order: fields with equal names then have equal
** values. NULL for NULL. */
const struct enumeration *choice_names(struct front *f, const struct enumeration *names);
/* The names, then other strings that a value may be; NULL if there are too many. */
const struct enumeration *choice_extend(struct front *f, const struct enumeration *names,
                                        struct val x);
/* x == y for strings that are not both constants. */
k_value choice_equal(struct front *f, struct val x, struct val y);
/* Joins string constants and integer literals with one choice of strings or enum value. */
void choice_concat(struct front *f, const struct code *code);

/* Turns a string field into the place of a table's string key, or nil; false: no such keys. */
bool choice_of_key(struct front *f, uint32_t path, struct val *x);
/* The kind of keys, for pairs, that the table at a path has and must keep; and its names. */
enum pairs_kind choice_of_pairs(struct front *f, uint32_t path, const struct enumeration **names);
/* The "names" of string fields: any text is one. */
extern const struct enumeration front_texts;
/* A value as a string field takes it. */
k_value text_as_cell(struct front *f, struct val value);
/* Whether x is any string: a constant, a choice, a string field or an enum's value. */
bool val_is_string(struct val x);
/* #x; x < y and x <= y for strings. */
struct val text_length(struct front *f, struct val x);
k_value text_compare(struct front *f, enum code_operator op, struct val x, struct val y);
/* Whether a VAL_PREFIX equals a string constant; results as number_compare. */
k_value text_starts(struct front *f, struct val prefix, struct val text, int *known);

/* ---- number.c: typing and operators ---- */

/* A value of the program: a number or boolean. */
struct val val_number(struct front *f, k_value value, bool soft);
/* The value of a field's cell. The id of an entity is as stored, alive or not. */
struct val val_of_field(struct front *f, const struct leaf *field, k_value cell, bool soft);
struct val val_bool(struct front *f, bool value);
/* An integer known at compile time, as if it were a literal. */
struct val val_integer(struct front *f, int64_t number);
/* A boolean that is the same for all rows of the program: code that it rules out is left out. */
struct val val_known(struct front *f, bool value);
k_value number_as(struct front *f, struct val x, k_type type);
struct val number_binary(struct front *f, enum code_operator op, struct val x, struct val y);
struct val number_unary(struct front *f, enum code_operator op, struct val x);
/* The float type of an operation: f32 for f32 with f32 or a script number; otherwise f64. */
k_type number_float_type(const struct front *f, struct val x, struct val y);
/* Refuses an operation that Lua does differently for integers and floats, if x may be either and y
** is not a float, which would decide. `does` is the verb, as in "divides". */
void number_decided(struct front *f, struct val x, struct val y, const char *does);
/* Describes a value for messages. */
const char *number_describe(const struct front *f, struct val x);
/* x (op) y as a mask; or K_NONE, if the result is known at compile time: it is then in *known. */
k_value number_compare(struct front *f, enum code_operator op, struct val x, struct val y,
                       int *known);
/* Whether x is neither nil nor false: as a mask; or K_NONE, if that is known at compile time: it is
** then in *known. */
k_value val_truth(struct front *f, struct val x, int *known);
bool val_is_number(const struct front *f, struct val x);
bool val_is_boolean(const struct front *f, struct val x);
k_type val_type(const struct front *f, struct val x);

/* ---- outside.c: upvalues, globals, and what is reached from them ---- */

/* Finds or makes a path's guard of a type, shared by all uses of the value. The second: the guard
** that the value stays the same. */
struct guard *outside_need_guard(struct front *f, const struct path *path, enum guard_type type);
void outside_keep_value(struct front *f, const struct path *path);
/* The number that a guard reads for a text before each run. */
k_value outside_text(struct front *f, enum guard_type type, ecs_string text);
/* Other guards: for a path; for the anchored text; for a constant that is one or an integer. */
struct guard *outside_add_guard(struct front *f, const struct path *path, enum guard_type type);
uint16_t outside_string(struct front *f, const char *text, size_t size);
uint16_t outside_constant(struct front *f, const struct constant *key);
/* #x of a table. */
struct val outside_length(struct front *f, struct val table);
/* Likewise, if it has been asked for before; otherwise K_NONE. */
k_value outside_taken_length(struct front *f, struct val table);
/* The number of a new uniform. */
int16_t outside_uniform(struct front *f);
/* Guards all tables that were found; false if there are too many. Raises nothing. */
bool outside_guard_tables(struct front *f);
/* Requires that a path still leads to a table. */
void outside_table(struct front *f, struct val table);
/* x == y of tables. */
k_value outside_equal(struct front *f, struct val x, struct val y);
/* Whether two functions or two objects are the same. */
bool outside_same(struct front *f, struct val x, struct val y);
/* Pushes the value of an outside number, which must stay the same; false if the function computes
** the number. */
bool outside_keep(struct front *f, struct val number);
/* Whether an outside number is now the null id; if so, it must stay so. */
bool outside_null(struct front *f, struct val number);
/* The value of an upvalue; of a table's key, by the table's path; of a method of strings. */
struct val outside_upvalue(struct front *f, uint32_t upvalue);
struct val outside_key(struct front *f, uint32_t path, const struct constant *key);
/* Whether two paths are the same. The second: keeps a path; returns its number. */
bool outside_same_path(const struct path *a, const struct path *b);
uint32_t outside_keep_path(struct front *f, const struct path *path);
struct val outside_string_key(struct front *f, const struct constant *key);
/* The register that an upvalue of a closure is; NULL if it is not one. */
struct val *outside_local(struct front *f, uint32_t upvalue);
/* The paths of an upvalue and of a key of a table. */
struct path outside_upvalue_path(struct front *f, uint32_t upvalue);
struct path outside_key_path(struct front *f, uint32_t path, const struct constant *key);

/* ---- call.c ---- */

/* The component, or event, that a constant names, or that an outside value identifies by name or
** id; NULL if there is none. */
struct component *call_component(struct front *f, struct val value);
/* The component of that name, possibly a built-in one; refused if there is none. */
struct component *call_named(struct front *f, ecs_string name);
/* The pair that a known value is the id of; ECS_NULL if there is none. */
ecs_id call_pair(struct front *f, struct val value);
/* Whether a value is an id: in a constant, or an outside value, which must then stay the same. */
bool call_known_id(struct front *f, struct val value, ecs_id *id);
struct component *call_event(struct front *f, struct val value);

/* Whether a value is one of several strings, by row. The second compiles an instruction once for
** each string in a register (with a component, each that names a field); other rows fail. */
bool call_has_names(struct val x);
void call_each_name(struct front *f, const struct code *code, uint32_t at,
                    const struct component *fields);
/* Compiles a call; the function is in register a. */
void call_function(struct front *f, const struct code *code);
/* A compilable method of the world. Rows that make other changes fall back to Lua. */
struct val call_method(struct front *f, struct val object, const struct constant *key);
struct val call_of_array(struct front *f, struct val array, const struct constant *key);

/* ---- libraries.c: functions of math, ecs.math, string.sub, assert and error ---- */

/* Pushes a userdata with the addresses of math's functions, string.sub, assert and error, and of
** `own`, the functions of ecs.math. */
void library_push(lua_State *L, const luaL_Reg *own);
/* Pushes what to write instead of the functions in front.unportable; notes ^ there. */
void library_push_portable(lua_State *L, uint32_t unportable);
/* Where the registry has the table of lua/ecs/lists.lua. */
extern const char list_functions_key;
void library_note_power(struct front *f);
/* VAL_MATH for one of these functions, otherwise VAL_NOTHING. Rows that reach `error` fall back to
** Lua; if all rows reach it, it is VAL_NOTHING, too. */
struct val library_find(struct front *f, lua_CFunction function);

/* ---- reach.c: what a function can ask of any entity by its id ---- */

/* Calls of world:has, enabled, alive, target and parent; `arguments` begin with the world. */
struct val reach_has(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_enabled(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_alive(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_target(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_parent(struct front *f, const struct val *arguments, uint32_t count);
/* The entity of an item in a loop over entities. */
struct val reach_entity(struct front *f, k_value place);
/* world:get with one of several field names: the result is an element, counted from the first.
** False if the fields have several components or types. */
bool reach_get_named(struct front *f, const struct val *arguments, uint32_t count,
                     struct val *result);
/* Calls world:get with that many wanted results (NONE: all). Returns how many there are. */
uint32_t reach_get(struct front *f, const struct val *arguments, uint32_t count,
                   struct val results[FRONT_RESULTS], uint32_t wanted);
/* world:read of a component: a table of its present fields. */
struct val reach_read(struct front *f, const struct val *arguments, uint32_t count);
/* Calls of world:children, sources and targets: what a loop iterates over. */
struct val reach_tied(struct front *f, const struct val *arguments, uint32_t count,
                      const char *method);
/* What a lookup finds for an id or a place, in the present rows; nothing in the others. */
k_value reach_look(struct front *f, struct run_lookup lookup, uint32_t type, k_value from);
/* The id argument after the world. The second: rows in which it is dead fail. */
struct val reach_need_id(struct front *f, const struct val *arguments, uint32_t count,
                         const char *method);
void reach_need_alive(struct front *f, struct val id);
/* An integer as an id; 0 if it is dead. */
k_value reach_live(struct front *f, k_value id);
/* The component or field that a value names, or NULL; *leaf is NONE for a whole component. */
struct component *reach_field(struct front *f, struct val named, uint32_t *leaf);
/* Where an entity has a component, if the function has already looked that up; otherwise K_NONE. */
k_value reach_known_place(struct front *f, const struct component *component, k_value id);
/* Where the entity of an id has a component, by a lookup of the given kind. */
k_value reach_place_of(struct front *f, struct val id, const struct component *component,
                       enum lookup_kind kind);
/* The field of a component at a place, nil in rows other than those of `present`. */
struct val reach_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                         k_value place, k_value present);
/* Whether a field is looked up. The second shares a field that is both written and looked up. */
bool reach_looks_up(const struct front *f, const struct component *component, uint32_t leaf);
void reach_check_written(struct front *f, const struct component *component, uint32_t leaf);

/* Changes of entities: what the world's methods despawn, add, remove, set and spawn. */

/* world:despawn, add, remove and set, for the present rows. */
void order_call(struct front *f, enum run_action action, const struct val *arguments,
                uint32_t count);
/* world:spawn of a table that the function has created: its result is only for other orders. */
struct val order_spawn(struct front *f, const struct val *arguments, uint32_t count);
/* What a function made by world:spawner spawns from these values. */
struct val order_by_spawner(struct front *f, struct val spawner, const struct val *values,
                            uint32_t count);
/* Creates a table. The others set its fields, by name or by position, for the present rows, and
** read it. */
struct val order_table(struct front *f);
void order_item(struct front *f, struct val table, const struct constant *key, struct val value);
/* Sets the field of a new table whose key is a pair's id. */
void order_pair(struct front *f, struct val table, struct val pair, struct val value);
void order_list(struct front *f, const struct code *code);
/* Whether an item is nil in all present rows. The second: its value, possibly nil in some. */
bool order_is_gone(const struct front *f, const struct front_item *item);
struct val order_value_of(const struct front_item *item);
/* The field of a table that the function created, nil if it is absent. */
struct val order_read(struct front *f, struct val table, const struct constant *key);
/* Refuses fields that orders set and that are also used in another way. */
void order_finish(struct front *f);

/* For the world's other methods that rows order. The first has the function compiled again if its
** orders are not given one by one; the others add an order with a value, and return its number. */
void order_want(struct front *f);
uint32_t order_add(struct front *f, struct run_command command, k_value value);
uint32_t order_with(struct front *f, struct run_command command, k_value entity, k_value value);
/* For these orders: the entity, and the value that is set, as it is noted. */
k_value order_entity(struct front *f, struct val entity);
k_value order_value(struct front *f, const struct component *component, struct run_command *command,
                    struct val value);
/* The leaf of a single-value field at a position, from 1 on, or at a table's key; NONE if there is
** none. */
uint32_t order_leaf_at(const struct component *component, uint32_t position);
uint32_t order_leaf(const struct component *component, const struct front_item *item);

/* Refuses a table, given by its first item, that sets a field both by position and by name, which
** is an error. */
void order_check_twice(struct front *f, const struct component *component, uint32_t first);
/* Stores the id of a spawned entity in a field of the row's entity, which is given; or in an
** element of an array or, at number 1, in a field of a resource. The row itself must use these
** before that, which order_check_read ensures. */
void order_store(struct front *f, const struct component *component, uint32_t leaf,
                 struct val entity, struct val value);
void order_store_element(struct front *f, const struct component *component, uint32_t leaf,
                         k_value number, struct val value);
void order_check_read(struct front *f, const struct component *component, uint32_t leaf);

/* world:emit: the events are orders of rows. */

/* The call, for the present rows, with values in the order of the fields or with a new table. */
void order_emit(struct front *f, const struct val *arguments, uint32_t count);

/* Integers that meet floats. */

/* Bounds of integers: 1 + n for those from -2^n to 2^n. */
#define MIXED_EXACT 54   /* floats can distinguish integers of this bound, */
#define MIXED_SMALL 32   /* and of this one even after some operations */

/* Whether an outside integer is within MIXED_SMALL; a guard keeps the answer valid. */
bool mixed_is_small(int64_t integer);
/* The bound of an integer (val.bits): in a field of a type; of any value, also a literal; of one of
** two. */
uint8_t mixed_bits_of(ecs_type type);
uint8_t mixed_bits(struct val x);
uint8_t mixed_bits_either(struct val x, struct val y);
/* Whether a float for the integers that x may be might have to be rounded. */
bool mixed_rounds(const struct front *f, struct val x);
/* An integer, in rows where a float can tell it from others; other rows fail. */
struct val number_exact(struct front *f, struct val x, bool is_unsigned);
/* Whether x is the same number as a float, be it an integer or a float to Lua. */
bool mixed_is_exact(const struct front *f, struct val x);
/* The mask of rows in which a number is an integer to Lua. */
k_value mixed_whole(struct front *f, struct val x);
/* Sets whether and how x in the rows of the mask and y elsewhere is mixed, in *joined. */
void mixed_join(struct front *f, k_value mask, struct val x, struct val y, struct val *joined);
/* The value for operations that distinguish integers: rows in which it has been rounded fail. */
struct val mixed_settle(struct front *f, struct val x);
/* math.abs(x) of a mixed one. */
struct val mixed_absolute(struct front *f, struct val x);

/* What a function finds in indexes, queries and events: loops over entities within a distance, the
** nearest one, all that match; and the copies and views that such loops yield. */

/* The number of an index among those that the function uses; refuses NULL. */
uint32_t partner_index(struct front *f, struct ecs_index *index);
/* Likewise for a query. */
struct val partner_query(struct front *f, const ecs_query *query);
/* What a loop over such a list iterates over; some arguments fill the list. */
struct val partner_goes_over(struct front *f, struct run_list list, const k_value *arguments,
                             uint32_t count);
/* Whether a system's run includes such a loop in its program: over many rows, a loop that is
** compiled by itself is faster. */
#define SHORT_ROWS 128
bool partner_is_short(const ecs_world *world, const struct run_list *list);
/* A method of an index or query; what world:events iterates over. */
struct val partner_method(struct front *f, struct val object, const struct constant *key);
struct val partner_events(struct front *f, const struct val *arguments, uint32_t count);
/* Refuses a nested loop over a query in which rows would run one by one, because it writes a field,
** or the field is shared. */
NORETURN void partner_refuse_loop(struct front *f, const struct component *component,
                                  uint32_t leaf, const char *does);
void partner_need_unshared(struct front *f, const struct component *component, uint32_t leaf);
/* Whether a loop over a query or events shows its current row by this view. */
bool partner_is_shown(const struct val *x);
/* Calls a method of an index or query; `arguments` begin with the object. Returns the number of
** results. */
uint32_t partner_call(struct front *f, struct val method, const struct val *arguments,
                      uint32_t count, struct val results[FRONT_RESULTS]);
/* Compiles the loop over an iterator at the frame's pc, and moves pc past it. */
void partner_for(struct front *f, struct frame *frame);
/* The field that a copy of an index stands for. */
struct val partner_field(struct front *f, struct val copy);
/* Refuses to write to a copy of an index. */
NORETURN void partner_refuse_write(struct front *f, struct val copy, const struct constant *key);

/* Ties: what the world's methods add, remove and set for relations, and spawn with. */

/* world:pair, whose id is for other orders and as a key of tables to spawn with. */
struct val tie_pair(struct front *f, const struct val *arguments, uint32_t count);
/* Whether a value is a pair's id, from world:pair or from outside. */
bool tie_is_pair(struct front *f, struct val value);

/* The id of the component or tag that a text names, which may differ by row. */
k_value tie_named(struct front *f, struct val text);

/* world:add and world:remove of a relation. */
void tie_call(struct front *f, const struct component *relation, bool adds,
              const struct val *arguments, uint32_t count);
/* world:set of a relation, or of its field; false if the call is about something else. */
bool tie_set(struct front *f, const struct val *arguments, uint32_t count);
/* The ties among the parts of a spawn, in the order of their relations. */
void tie_spawned(struct front *f, uint32_t first);

#include "front/access.h"
#include "front/element.h"
#include "front/scratch.h"

#endif
