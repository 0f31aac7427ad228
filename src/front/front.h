/* From a Lua function to a column program: one pass over the function in bytecode order. What
** a register holds is a val; what all of them hold is an env; rows that jump forward wait at
** their target with an env of their own and are merged there, value by value, by selects.
** Whatever cannot be compiled raises a Lua error that says why, as "file:line: reason". */
#ifndef ECS_FRONT_FRONT_H
#define ECS_FRONT_FRONT_H

#include <lua.h>

#include "core/base/base.h"
#include "front/bytecode.h"
#include "front/cell.h"
#include "runner/partners.h"
#include "runner/run.h"

/* What the front has to be told of scripts' objects: it knows no views, and no object of a
** world. */

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

/* What a function is compiled for. */

/* What the values that it returns are: nothing that is looked at, what the fields become that it is
** given first, a truth for each row, numbers that are brought to one, or a number for each row, by
** which an index finds it. */
enum front_result {
  RESULT_NONE, RESULT_MAP, RESULT_TRUTH, RESULT_SUM, RESULT_MIN, RESULT_MAX, RESULT_KEY
};

/* Whether a run comes to something else than what it writes. */
#define RESULT_IS_USED(result) ((result) > RESULT_MAP)

/* Whether the function changes nothing, and is given no dt. */
#define RESULT_IS_ASKED(result) ((result) == RESULT_TRUTH || (result) == RESULT_KEY)

#define FRONT_DEPTH 8          /* inlined functions inside one another */
#define FRONT_FUNCTIONS 64     /* that are inlined, each as often as it is called */
#define FRONT_RESULTS 8
#define FRONT_REGISTERS 1024   /* of all functions that are open */
#define FRONT_FORKS 256
#define FRONT_STRINGS 64       /* that a choice may be one of */
#define FRONT_ENUMS 16         /* enumerations that are known by their names */
#define FRONT_TEXTS 256        /* strings in tables */
#define FRONT_MADE 64          /* tables that the function makes, */
#define FRONT_ITEMS 128        /* and what is in all of them */
#define FRONT_FOLDS 32
#define SPAWN_CONDITIONS 4     /* under which parts of one spawn are there */
#define FRONT_CLASSES 64       /* whose cells are got at in the order of rows */
#define FRONT_CHAINS 600       /* steps on elements of arrays and fields of resources */

/* ---- what registers hold ---- */

enum val_kind {
  VAL_NOTHING,     /* never set, or different things on different ways here */
  VAL_UNKNOWN,     /* what an operation that was refused would have given: see survey.c */
  VAL_NIL,
  VAL_VALUE,       /* a number or boolean: `value` */
  VAL_STRING,      /* a constant */
  VAL_CHOICE,      /* one of several constant strings: `value` is its number among f->strings */
  VAL_PREFIX,      /* the first `number` bytes of a string: `value` is its number in the world */
  VAL_PATH,        /* a table reached by a path */
  VAL_VIEW,        /* a term, or a nested or array field of it */
  VAL_FUNCTION,    /* a Lua function reached by a path */
  VAL_MATH,        /* a function of the math library, string.sub or assert */
  VAL_WORLD,
  VAL_METHOD,      /* a function of the world's methods */
  VAL_SPAWNER,     /* a function that world:spawner has made: anchored at `at` */
  VAL_PAIR,        /* a pair's id: `component` is the relation, `value` the target */
  VAL_RESOURCE,
  VAL_ARRAY,       /* an array of the world: `component` */
  VAL_READING,     /* what it had in it when `number` values were made: to be written to another */
  VAL_RECORD,      /* an element of a table that is one, too: `value` is its place, counted from 1,
                      in f->arrays[`at`] */
  VAL_TABLE,       /* a table that the function makes: `at` of f->made */
  VAL_INDEX,       /* an index: `at` of f->indexes */
  VAL_FINDER,      /* a method of it: `number` is an enum list_kind */
  VAL_PARTNERS,    /* what a `for` is to go through: `value` is how many, of index `at`;
                      NONE: of those who are tied */
  VAL_ITEMS,       /* what a `for` is to go through, as ipairs gives it */
  VAL_PARTNER      /* a copy that such a loop shows: like a view; `value` is its place. It is false
                   ** where the rows of the index lack it, not nil as others that may be absent */
};

/* What a value is where it is not there. */
enum lacks { LACKS_NIL, LACKS_FALSE, LACKS_EITHER };

struct val {
  uint8_t kind;
  enum lacks lacks;
  bool soft;                   /* made of the script's own numbers: f32 beside f32 */
  bool literal;                /* a number that stands in the function */
  bool mixed;                  /* a float that is an integer to Lua in some rows */
  bool wide;                   /* an integer of the script that no float may stand for */
  bool rounded;                /* mixed, and where it is an integer, it may have been rounded */
  uint8_t bits;                /* 1 + n: where it is an integer, from -2^n to 2^n; 0: unknown */
  bool entity;                 /* an id: of the row, of an entity field, or null */
  bool zero;                   /* an id as a literal 0 is one, in all rows so far: a number, too */
  bool row_entity;             /* the row's own */
  enum spawned spawned;        /* of an id: whether it is a number that stands for it, and so can be
                                  nothing but noted down, and compared */
  k_value value;
  k_value present;             /* the mask where it is there; 0, which is K_ALL: everywhere */
  k_value whole;               /* mixed: the mask where it is an integer */
  uint16_t chain;              /* 1 + that of f->chains which it is made by, or 0 */
  uint32_t at;                 /* path, math function, method, anchored function or object;
                                  of a number from outside: its path + 1 */
  int64_t number;              /* of a literal with an integer value; of a choice: a bit for each
                                  string that it may be */
  const struct enumeration *names;   /* of an enumeration's value */
  ecs_string string;
  uint32_t slot;               /* view: of the query */
  uint32_t leaf;               /* first leaf of the view, within the term's component */
  const struct component *component;  /* of the view, or of an array's elements */
  const struct component *root;       /* of the term */
  const struct field *array;          /* view: of an array's elements */
};

/* What is counted in each row: how often it has called world:random; and from 0 down, whom it has
** spawned. */
enum { ENV_CALLS, ENV_SPAWNS, ENV_COUNTS };

/* What holds for the rows that have come to where the pass is. */
struct env {
  k_value mask;                /* rows that are here; K_NONE: none can be */
  uint32_t count;              /* registers in use */
  struct val counts[ENV_COUNTS];
  uint32_t result_count;
  struct val results[FRONT_RESULTS];
  k_value fields[RUN_COLUMNS];      /* K_NONE: as loaded */
  struct env_cell cells[FRONT_CELLS];
  struct val *registers;
};

/* Rows that wait for the pass to reach their target. */
struct edge_env {
  uint32_t target;
  struct env env;
};

/* A mask that was split by a condition, so that joining its halves gives it back; or one that was
** joined of two which are no such halves. */
struct fork {
  k_value whole, yes, no;
  bool joined;
};

/* A function being compiled. */
struct frame {
  struct frame *caller;
  struct function_code *code;
  uint16_t function;           /* anchored */
  const void *identity;
  uint32_t base;               /* of its registers */
  uint32_t pc;
  uint32_t top;                /* behind a call with open results; NONE otherwise */
  uint32_t first_edge;         /* edges from here on are its own */
  uint32_t end;                /* of the instructions that are compiled now */
  struct loop *loop;           /* rounds.h: the innermost of its loops that is open */
};

/* An array of the world, the field of a resource as one, or a table. */
struct front_array {
  ecs_id id;                   /* 0: a table */
  uint32_t leaf;               /* of a resource */
  bool read, written;          /* but as the row's own element */
  uint32_t path;
  const struct enumeration *names;   /* by which a table is read; NULL: by numbers */
  uint16_t within;             /* of tables in its records by this key, anchored; 0: of these */
  uint16_t inner;              /* of its records' values by this key, anchored; 0: of its own */
  const struct enumeration *inner_names;   /* by which records are read, with `stride` */
  uint16_t stride;             /* how many values of each record it has; 0: one */
  uint16_t field;              /* of what these have by this key, anchored; 0: of themselves */
  struct enumeration texts;    /* ELEMENTS_TEXT: those that its elements may be */
  enum element_gaps gaps;
  enum element_kind kind;
  bool ragged;                 /* a table with other numbers, too: ELEMENTS_RAGGED */
  bool measured;               /* the lengths of its records, or of tables in them */
  uint16_t most;               /* which none of these may be above; 0: any */
  bool stored, truths;         /* a table that the function writes elements of: see cell.c */
  struct front_copy copy;      /* of an index */
  uint8_t cells;               /* of script cells: 1 + their k_column */
};

/* A step on cells that nothing else of the function gets at: build_fold. */
struct front_fold {
  const struct component *component;   /* NULL: of a script cell, */
  uint32_t leaf;                       /* whose number that is */
  uint32_t column;             /* 1 + that whose cells they are, or 0 */
};

/* What a number is made by: an element of an array, a field of a resource or of another entity, and
** perhaps a step on it. */
struct front_chain {
  const struct component *component;
  uint32_t leaf;
  k_value index;               /* K_NONE: of a resource, or of another entity, */
  uint32_t column;             /* whose cells have this one, + 1; else 0 */
  k_value present;             /* in which rows there is such an element */
  k_value value;               /* the number */
  uint16_t also;               /* 1 + that of another chain which makes it, or 0 */
  bool floats;                 /* what is there is a float */
  bool stepped;                /* it is not what was there, but made of that */
  k_fold step;                 /* by this fold; KF_COUNT: otherwise */
  k_value operand;
};

/* A table that the function makes for world:spawn: filled by rows that have made it, in the same
** round of the same loop. */
struct front_made {
  k_value mask, loop;
  uint32_t first;              /* of f->items; NONE: it is empty */
};

struct front_item {
  ecs_string key;              /* empty: it has a position, from 1 on, */
  uint32_t position;
  struct val pair;             /* or a pair's id for a key */
  struct val value;            /* where it is there; nil: nowhere */
  k_value there;               /* the mask of that */
  uint32_t next;
};

/* The shared ones: see class.c. Who compiles a function anew keeps them. */
struct front_class {
  ecs_id component;            /* or array, or resource */
  uint32_t leaf;
  uint32_t read_line, write_line;   /* where it is read, and written, first; 0: not known */
};
struct front_classes {
  bool ordered;                /* rows see what those before them write to these, */
  bool all;                    /* or to anything */
  bool spawns;                 /* the function spawns: a number that nobody alive has may come to be
                               ** an id, and is left to Lua */
  uint32_t count;
  struct front_class list[FRONT_CLASSES];
  uint32_t cell_count;         /* script cells: see cell.c */
  struct cell cells[FRONT_CELLS];
  const void *homes[FRONT_CELLS];   /* the upvalues or tables that they are in */
  uint32_t table_count;        /* tables of which elements are written by a variable */
  const void *tables[FRONT_STORED];
  bool truths[FRONT_STORED];   /* booleans, where there was none before */
};

#define SURVEY_REASONS (-1)    /* among the anchors: the list of reasons of a survey, */
#define SURVEY_MOST 20         /* which has no more */

/* An upvalue of a function, or the field of one by a constant. */
struct unknown_place {
  const struct function_code *code;
  uint32_t upvalue, key;
};

struct front {
  lua_State *L;
  ecs_world *world;
  outside_fn outside;
  const void *owner;           /* of the world: its object */
  const ecs_query *query;
  const struct component *elements;   /* an array whose elements the rows are; NULL: the query's */
  k_value element;             /* then the number of a row's */
  bool once;                   /* of a system's run: one row, given the world, dt, a query */
  uint64_t present;            /* bit by slot: which terms that may be absent are there, */
  uint64_t maybe;              /* and which of them in some rows */
  struct builder *b;
  const lua_CFunction *math;
  int anchors;                 /* stack index of the table of anchored values */
  uint32_t anchor_count;
  enum front_result result;
  bool orders;                 /* rows order their commands one by one */
  bool wants_orders;           /* refused since they have to */
  bool asks_number;            /* it has asked for the entity of a number that is no id for sure */
  bool wants_spawns;           /* refused since it has, and spawns */
  bool wants_classes;          /* refused since more of them are shared than was known, */
  bool wants_cells;            /* or more cells written, or other values to them */
  struct front_classes shared;
  int16_t cell_uniforms[FRONT_CELLS];   /* as which those that may be folded are read; 0: not yet */
  bool starts;                 /* the program is for some rows of a table: build_start */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
  bool fleeting;               /* refused for what no guard tells of */
  bool surveys;                /* for all reasons to refuse it, not for a program: survey.c */
  bool refused;                /* by the error that is on its way */
  bool vague;                  /* a result is unknown */
  uint32_t doubts;             /* conditions that are unknown, so far */
  uint32_t unknown_count;      /* what was set to something unknown */
  struct unknown_place unknown_places[SURVEY_MOST];
  bool leaves;                 /* rows to Lua that may do anything then */
  bool chosen;                 /* values or terms chose a way through the function */
  bool hopeless;               /* refused for an instruction that every run comes to */
  k_value start;               /* the mask in which the function begins */

  struct env env;
  struct frame *frame;
  struct edge_env *edges;
  struct program *program;
  uint32_t depth, loop_depth, edge_count, edge_capacity, fork_count, column_count, path_count;
  uint32_t guard_count, resource_count, uniform_count, string_count, asked_count, lookup_count;
  uint32_t array_count, chain_count, made_count, item_count, code_count, enum_count, text_count;
  uint32_t word_count;
  uint32_t command_count, loop_commands;   /* those before the outermost loop that is open */
  uint32_t mark_count, first_mark;   /* of bitmaps that say where watched terms are written */
  uint32_t whole_count;
  uint32_t index_count, list_count, fold_count;
  bool looks;                  /* it has come upon an index, whatever that may be */
  uint32_t unportable;         /* a bit for each function of ecs.math to use instead */

  /* Nothing is in these lists but what is counted above: front_clear leaves them as they are. */
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
  struct enumeration words[FRONT_ENUMS];      /* those of choices */
  uint32_t marks[RUN_MARKS];                   /* slots of terms that are watched and written, */
  uint32_t whole[RUN_MARKS];                   /* and of those that are so in all rows */
  struct run_asked asked[RUN_ASKED];
  struct run_lookup lookups[RUN_LOOKUPS];      /* by the number in the program */
  struct front_array arrays[FRONT_ARRAYS];     /* by the number in the program */
  struct front_chain chains[FRONT_CHAINS];
  struct front_fold folds[FRONT_FOLDS];        /* by the number in the program */
  struct front_made made[FRONT_MADE];
  struct front_item items[FRONT_ITEMS];
  struct run_command commands[RUN_ORDERS];
  k_value store_masks[RUN_ORDERS];   /* of those that store the id of one that is spawned */
  struct ecs_index *indexes[RUN_INDEXES];
  struct run_list lists[RUN_LISTS];            /* by the number in the program */
  struct function_code codes[FRONT_FUNCTIONS];
};

/* ---- front.c ---- */

/* Makes it as front_compile takes it, where it is not in use: all zero. */
void front_clear(struct front *f);
/* Compiles the function at `function` for the tables that have the optional terms of `present`.
** `f` is clear but for its world, outside, owner, query, present, result, starts, orders, math and
** anchors. On return f->program is set. Raises "file:line: reason", or Lua's memory error;
** front_free then frees what is left. */
void front_compile(struct front *f, lua_State *L, int function);
/* Opens the code of the anchored function for a frame. */
void front_open(struct front *f, struct frame *frame, uint16_t function);
void front_free(struct front *f);
/* Has the guards of a function that was refused tell as long as it will be refused for the same
** reason; false when they cannot. Raises nothing. */
bool front_guard_refusal(struct front *f);

/* Raises why the function cannot be compiled, with file and line. */
NORETURN FORMAT(2, 3) int front_refuse(struct front *f, const char *format, ...);
/* Raises Lua's memory error. */
NORETURN int front_no_memory(struct front *f);

/* Compiles the body of a function whose parameters are in place; its results are merged into
** f->env. */
void front_function(struct front *f, struct frame *frame);
/* Compiles instructions up to `end`. */
void front_range(struct front *f, struct frame *frame, uint32_t end);

/* Compiles the instruction, or the loop that jumps back, at the frame's pc; moves pc behind it. */
void front_advance(struct front *f, struct frame *frame);
/* Rows in which the condition is `flag` jump, the others skip the jump. A condition that is known
** now is not below 0, and moves all of them. Where they jump, register a becomes *set, if given. */
void front_branch(struct front *f, const struct code *code, k_value condition, int known,
                  const struct val *set);

/* Sends the rows of `mask` to a target (the count of instructions for the end). */
void front_jump(struct front *f, uint32_t target, k_value mask);
/* Keeps a copy of the environment as the last edge; forgets edges from `first` on. */
void front_keep(struct front *f);
void front_forget(struct front *f, uint32_t first);
/* Joins what waits for this instruction from edge `first` on. */
void front_join(struct front *f, uint32_t first, uint32_t target);
/* The line of the instruction being compiled, as a tag for what can fail. */
uint32_t front_tag(const struct front *f);
/* A register of the open frame. */
struct val *front_register(struct front *f, uint32_t at);
/* Pops a Lua value into the table of anchored values; its number there. */
uint16_t front_anchor(struct front *f);

/* Raises when the builder has failed. */
void front_check(struct front *f);

/* ---- survey.c: all reasons to refuse a function ---- */

/* front_advance in a survey: what is refused is listed, and gives unknown values. */
void survey_advance(struct front *f, struct frame *frame);
/* Appends the reason at the top of the stack to the list at an index, unless it is there; pops
** it. */
void survey_append(lua_State *L, int list);

/* ---- env.c: masks and merging ---- */

/* Rows of a mask in which a condition holds, or does not, or that are in one of two masks, each
** of which may be K_NONE. */
k_value mask_and(struct front *f, k_value mask, k_value condition);
k_value mask_and_not(struct front *f, k_value mask, k_value condition);
/* Rows of x among those of the mask, and of y among the others. */
k_value mask_select(struct front *f, k_value mask, k_value x, k_value y);
/* The rows that are here, not all, fail, so that Lua does them: they are here no more. Those that
** wait with the other half of a mask whose one half is theirs go on with the whole. */
void env_leave(struct front *f);
/* With registers of its own, which env_free frees. */
void env_copy(struct front *f, struct env *to, const struct env *from);
void env_free(struct front *f, struct env *env);

/* The value of a column's field, also of one that has not been touched. */
k_value env_field(struct front *f, const struct env *env, uint32_t at);
/* The rows of `from` join those of `into`. */
void env_merge(struct front *f, struct env *into, const struct env *from);
/* x in the rows of the mask, y elsewhere, of one type; VAL_NOTHING when there is none. */
struct val val_select(struct front *f, k_value mask, struct val x, struct val y);
/* The type that both can be brought to, or -1. */
int val_common_type(const struct front *f, struct val x, struct val y);
/* Whether what is x in some rows and y in others may be an integer here and a float there. */
bool val_mixes(const struct front *f, struct val x, struct val y);
/* Whether nothing can be done with it. */
static inline bool val_is_spoilt(struct val x) {
  return x.kind == VAL_NOTHING || x.kind == VAL_UNKNOWN;
}
/* Whether they are known to be the same thing. */
bool val_same(const struct val *x, const struct val *y);
/* Whether it is null as a literal, which is the number 0, too. */
bool val_is_zero(struct val x);
/* Whether no float can stand for a literal, or what is made of such integers. */
bool val_is_wide(struct val x);

/* ---- maybe.c: what is nil in some rows ---- */

static inline bool val_may_lack(struct val x) {
  return x.kind == VAL_VALUE || x.kind == VAL_RECORD || x.kind == VAL_PARTNER ||
         x.kind == VAL_VIEW || x.kind == VAL_TABLE || x.kind == VAL_CHOICE;
}
static inline bool val_is_maybe(struct val x) {
  return val_may_lack(x) && x.present != K_ALL;
}
/* A value in the rows of a mask: nil or a false that it lacks, where it is plain that it is nothing
** else in any of them; VAL_NOTHING where it is not. */
struct val maybe_absent(struct front *f, k_value mask, struct val x);
/* The value where it is there; the other rows that are here fail: they are left to Lua, which may
** take nil or raises an error. */
struct val maybe_need(struct front *f, struct val x);
/* The value as the rows of the mask have it. */
struct val maybe_narrow(struct front *f, k_value mask, struct val x);
/* `joined`, made of x in the rows of the mask and of y elsewhere, where each of them is there. */
struct val maybe_select(struct front *f, k_value mask, struct val x, struct val y,
                        struct val joined);
/* x in the rows of the mask and nil elsewhere, or the other way round. */
struct val maybe_or_nil(struct front *f, k_value mask, struct val x, struct val y);
/* x == y and the truth of x, where one may be nil. *known is -1 behind it. */
k_value maybe_equal(struct front *f, struct val x, struct val y, int *known);
k_value maybe_truth(struct front *f, struct val x);

/* ---- choice.c: what is one string in some rows and another one in others ---- */

/* Whether it is a string, whichever. */
static inline bool val_is_text(struct val x) {
  return x.kind == VAL_STRING || x.kind == VAL_CHOICE;
}
/* A string as a choice, where the function has few enough of them; a choice as an enumeration's
** value. */
bool choice_of(struct front *f, struct val *x);
/* An enumeration of two names; NULL where there are too many. */
const struct enumeration *choice_pair(struct front *f, const ecs_string names[2]);
struct val choice_as_value(struct front *f, struct val x);
/* val_select where one of them is a string: a choice, or, with an enumeration's value, another such
** value. */
struct val choice_select(struct front *f, k_value mask, struct val x, struct val y);
/* A string, or a value of another enumeration, as one of an enumeration. Unless `any`, which is -1
** then: K_NONE when a string may be something else than its names, or no value can be one of them;
** rows in which the other enumeration's value is none of them fail. */
k_value choice_as_enum(struct front *f, struct val x, const struct enumeration *names, bool any);
/* The first enumeration that was asked for with just these names in this order: fields of both have
** the same values. NULL for NULL. */
const struct enumeration *choice_names(struct front *f, const struct enumeration *names);
/* x == y of strings that are not both constants. */
k_value choice_equal(struct front *f, struct val x, struct val y);

/* What the values of string fields have for their names: any text is one. */
extern const struct enumeration front_texts;
/* The number that is read for a text before each run, as a guard says. */
k_value text_guard(struct front *f, enum guard_type type, ecs_string text);
/* The number that a string of the function has in the world's table. */
k_value text_constant(struct front *f, ecs_string text);
/* A value as a string field takes it. */
k_value text_as_cell(struct front *f, struct val value);
/* Whether it is a string, whichever: of the function or of a field. */
bool val_is_string(struct val x);
/* #x; x < y and x <= y of such strings. */
struct val text_length(struct front *f, struct val x);
k_value text_compare(struct front *f, enum code_operator op, struct val x, struct val y);
/* Whether a VAL_PREFIX is a string of the function, as number_compare says. */
k_value text_starts(struct front *f, struct val prefix, struct val text, int *known);

/* ---- number.c: typing and operators ---- */

/* A value of the program, number or boolean. */
struct val val_number(struct front *f, k_value value, bool soft);
/* As a cell of a field has it. The id of an entity is as it is there, be it alive or not. */
struct val val_of_field(struct front *f, const struct leaf *field, k_value cell, bool soft);
struct val val_bool(struct front *f, bool value);
/* An integer that is known when the function is compiled, as one that stands in it. */
struct val val_integer(struct front *f, int64_t number);
/* One that is the same for all rows that the program is for: what it rules out is left out. */
struct val val_known(struct front *f, bool value);
k_value number_as(struct front *f, struct val x, k_type type);
struct val number_binary(struct front *f, enum code_operator op, struct val x, struct val y);
struct val number_unary(struct front *f, enum code_operator op, struct val x);
/* f32 with f32 or a script number is f32, beside anything else f64. */
k_type number_float_type(const struct front *f, struct val x, struct val y);
/* Refuses what Lua does in one way with an integer and in another with a float, if x may be
** either and y is no float that decides it. `does` is said of it, as in "divides". */
void number_decided(struct front *f, struct val x, struct val y, const char *does);
/* What a value is, for messages. */
const char *number_describe(const struct front *f, struct val x);
/* Whether x (op) y: a mask, or a truth known now in *known (then K_NONE is returned). */
k_value number_compare(struct front *f, enum code_operator op, struct val x, struct val y,
                       int *known);
/* Whether x is neither nil nor false: a mask, or a truth known now in *known (then K_NONE is
** returned). */
k_value val_truth(struct front *f, struct val x, int *known);
bool val_is_number(const struct front *f, struct val x);
bool val_is_boolean(const struct front *f, struct val x);
k_type val_type(const struct front *f, struct val x);

/* ---- outside.c: upvalues, globals, and what is reached from them ---- */

/* Pushes what a path leads to now, by raw access; nil where it breaks off. */
void path_push(lua_State *L, int anchors, const struct path *path);
/* Pushes a path as it is written: "settings.speed". */
void path_tell(lua_State *L, int anchors, const struct path *path);
/* Whether there is nothing at the end of a path in Lua either: its last key is that of a table
** without `index`, the anchored "__index". Of a path without keys: that it is there. */
bool path_is_absent(lua_State *L, int anchors, const struct path *path, uint16_t index);
/* Whether two paths lead to the same value, for Lua's ==; -1 when a metamethod is to say:
** `equal`, the anchored "__eq", or, where one leads to nothing, __index. */
int path_compare(lua_State *L, int anchors, const struct path *x, const struct path *y,
                 uint16_t equal);
/* The length of the table that a path leads to; -1: there is none, -2: `length`, the anchored
** "__len", is to say. */
int64_t path_length(lua_State *L, int anchors, const struct path *path, uint16_t length);
/* Whether the table or object at an index has a metamethod, by its anchored name. */
bool path_has_method(lua_State *L, int anchors, int object, uint16_t name);
/* The guard of a type for a path: one for all uses of the value; that the value must stay. */
struct guard *outside_need_guard(struct front *f, const struct path *path, enum guard_type type);
void outside_keep_value(struct front *f, const struct path *path);
/* Another guard for a path; the anchored text; a constant that is one or an integer. */
struct guard *outside_guard(struct front *f, uint32_t path, enum guard_type type);
uint16_t outside_string(struct front *f, const char *text, size_t size);
uint16_t outside_constant(struct front *f, const struct constant *key);
/* #x, of a table. */
struct val outside_length(struct front *f, struct val table);
/* The number of a uniform that there was not yet. */
int16_t outside_uniform(struct front *f);
/* Guards all tables that were found; false when there are too many. Raises nothing. */
bool outside_guard_tables(struct front *f);
/* What stands at a path that led to a table has to be a table. */
void outside_table(struct front *f, struct val table);
/* x == y of tables. */
k_value outside_equal(struct front *f, struct val x, struct val y);
/* Whether two functions or two objects are the same. */
bool outside_same(struct front *f, struct val x, struct val y);
/* Pushes the value that a number from outside has, which it must keep; false when the number
** is made by the function. */
bool outside_keep(struct front *f, struct val number);
/* Whether a number from outside is the null id now; if so it must stay so. */
bool outside_null(struct front *f, struct val number);
/* What an upvalue is; what the key of a table is, by the table's path; what that of a string is. */
struct val outside_upvalue(struct front *f, uint32_t upvalue);
struct val outside_key(struct front *f, uint32_t path, const struct constant *key);
/* Whether two paths are one; the number of a path, which is kept. */
bool outside_same_path(const struct path *a, const struct path *b);
uint32_t outside_keep_path(struct front *f, const struct path *path);
struct val outside_string_key(struct front *f, const struct constant *key);
/* The paths of the first two. */
struct path outside_upvalue_path(struct front *f, uint32_t upvalue);
struct path outside_key_path(struct front *f, uint32_t path, const struct constant *key);

/* ---- access.c: views, resources ---- */

/* The query's term with that number of data. */
const struct term *front_term(const struct front *f, uint32_t slot);
/* What the key of an object, or a parameter of the whole function is. */
struct val access_key(struct front *f, struct val object, const struct constant *key);

/* What the function gives for each row, in a column of its own. */
void access_give(struct front *f, k_value number, bool integer);
struct val access_parameter(struct front *f, uint32_t index);
/* Whether a path of the query goes by a field. */
bool access_leads(const struct front *f, const struct component *component, uint32_t leaf);
/* Whether the function reads a field of others than the row, but for parents that come first. */
bool access_reads_others(const struct front *f, const struct component *component, uint32_t leaf);
/* The kernel's column of a leaf's cells; refuses what it has none for. */
k_column access_column_type(struct front *f, const struct component *component,
                            const struct leaf *leaf);
/* A value as a field takes it, in the rows that are here. */
k_value access_fit(struct front *f, const struct leaf *leaf, k_column type, struct val value);
/* A value as a field takes it, when it is noted down: never as f32. */
k_value access_noted(struct front *f, const struct component *component, uint32_t leaf,
                     struct val value);
/* Sets the field of a view, of a resource, or an element, for the rows that are here. */
void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value);
/* Sets the field that a term is, for the rows that are here, to what the function returns there. */
void access_result(struct front *f, uint32_t slot, struct val value);
/* The row's own element of an array; sets it, for the rows that are here. */
struct val access_own_element(struct front *f, const struct component *array);
void access_set_own_element(struct front *f, const struct component *array, struct val value);
/* The column of a leaf of the view's root, which is written from now on. */
uint32_t access_written(struct front *f, struct val view, uint32_t leaf);
/* Writes what the function stored into the program. */
void access_finish(struct front *f);

/* The number of a new column of cells. */
uint32_t access_new_column(struct front *f, struct run_column cells, struct front_column column);

/* ---- class.c ---- */

/* Whether rows see what those before them write there; has them do so. */
bool class_is_shared(const struct front *f, const struct component *component, uint32_t leaf);
void class_share(struct front *f, const struct component *component, uint32_t leaf);
/* Where an element of an array, or the field of a resource, is, or what is found for a place. */
k_value class_element(struct front *f, const struct component *array, uint32_t leaf, k_value index);
k_value class_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                      k_value place);
/* What is in a cell, or in that of a column, when the row comes to it. */
struct val class_get(struct front *f, const struct component *component, uint32_t leaf,
                     k_value cell);
struct val class_get_column(struct front *f, uint32_t column);
/* Where the cells of a column are. */
k_value class_cells(struct front *f, uint32_t column);
/* Puts a value there, for the rows that are here. Of an element that is not there they fail. */
void class_set_column(struct front *f, uint32_t column, struct val value);
/* Puts all elements of an array into another of its type, or, of one, its first into all others. */
void class_copy(struct front *f, const struct component *to, const struct component *from);
void class_set_element(struct front *f, const struct component *array, uint32_t leaf,
                       k_value index, struct val value);
/* Of an array field: shares all elements where one is shared, and says so; then sets one of so
** many, by its number from 0. */
bool class_share_all(struct front *f, struct val view, uint32_t count);
void class_set_one(struct front *f, struct val view, k_value at, uint32_t count, struct val value);

/* ---- call.c ---- */

/* The component, or the event, that a constant names, or that something outside has the name or id
** of; NULL when it is neither. */
struct component *call_component(struct front *f, struct val value);
/* The component of that name, which may be one that every world knows of: refused without one. */
struct component *call_named(struct front *f, ecs_string name);
/* The pair whose id a value is that is known; ECS_NULL when it is none. */
ecs_id call_pair(struct front *f, struct val value);
struct component *call_event(struct front *f, struct val value);

/* A call; the function is in register a. */
void call_function(struct front *f, const struct code *code);
/* Pushes a userdata with the addresses of math's functions, string.sub, assert and error, and of
** `own`, the functions of ecs.math. */
void call_push_math(lua_State *L, const luaL_Reg *own);
/* Pushes what to write instead of what is in front.unportable; notes ^ there. */
void call_push_portable(lua_State *L, uint32_t unportable);
void call_note_power(struct front *f);
/* VAL_MATH for one of these functions, else VAL_NOTHING. Rows that come to `error` are left to Lua,
** unless they are all: then it is none of these. */
struct val call_known(struct front *f, lua_CFunction function);
/* A method of the world that can be compiled. Rows that give another command are left to Lua. */
struct val call_method(struct front *f, struct val object, const struct constant *key);
struct val call_of_array(struct front *f, struct val array, const struct constant *key);

/* ---- reach.c: what is asked of any entity by its id ---- */

/* The calls of world:has, enabled, alive, target and parent; `arguments` begin with the world. */
struct val reach_has(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_enabled(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_alive(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_target(struct front *f, const struct val *arguments, uint32_t count);
struct val reach_parent(struct front *f, const struct val *arguments, uint32_t count);
/* Who such a loop shows, by what is picked. */
struct val reach_entity(struct front *f, k_value place);
/* That of world:get, of which so many results are wanted (NONE: all); how many there are. */
uint32_t reach_get(struct front *f, const struct val *arguments, uint32_t count,
                   struct val results[FRONT_RESULTS], uint32_t wanted);
/* world:read of a component: a table of its fields, as they are now. */
struct val reach_read(struct front *f, const struct val *arguments, uint32_t count);
/* Those of world:children, sources and targets: what a loop goes through. */
struct val reach_tied(struct front *f, const struct val *arguments, uint32_t count,
                      const char *method);
/* What a lookup finds for an id in the rows that are here, or for a place: others have none. */
k_value reach_look(struct front *f, struct run_lookup lookup, uint32_t type, k_value from);
/* The id that an integer is, 0 where nobody alive has it. */
k_value reach_live(struct front *f, k_value id);
/* The component or field that a value names, NULL when it names none; *leaf is NONE for a whole
** component. */
struct component *reach_field(struct front *f, struct val named, uint32_t *leaf);
/* Where an entity has a component, if the function has asked that before; or K_NONE. */
k_value reach_known_place(struct front *f, const struct component *component, k_value id);
/* Refuses to write to a field that is also read of other entities. */
void reach_check_written(struct front *f, const struct component *component, uint32_t leaf);

/* Elements of array fields at an index that may differ from row to row. */

/* Whether it is an array field of a row. */
static inline bool is_array_field(struct val x) { return x.kind == VAL_VIEW && x.array; }
/* The element at an index: nil in rows in which there is none. */
struct val array_field_at(struct front *f, struct val view, struct val index);
/* Sets it, for the rows that are here; where there is none Lua raises an error. */
void array_field_store(struct front *f, struct val view, struct val index, struct val value);

/* Commands to entities: what the world's methods despawn, add, remove, set and spawn. */

/* world:despawn, add, remove and set, for the rows that are here. */
void order_call(struct front *f, enum run_action action, const struct val *arguments,
                uint32_t count);
/* world:spawn of a table that the function has made: what it gives is for
** other commands alone. */
struct val order_spawn(struct front *f, const struct val *arguments, uint32_t count);
/* What a function that world:spawner has made spawns by these values. */
struct val order_by_spawner(struct front *f, struct val spawner, const struct val *values,
                            uint32_t count);
/* A new table; sets its field, or those by positions, for the rows that are here, and reads it. */
struct val order_table(struct front *f);
void order_item(struct front *f, struct val table, const struct constant *key, struct val value);
/* Sets the field of a new table whose key is a pair's id. */
void order_pair(struct front *f, struct val table, struct val pair, struct val value);
void order_list(struct front *f, const struct code *code);
/* Whether an item is nil in all rows that are here; what it gives, which may be so in some. */
bool order_is_gone(const struct front *f, const struct front_item *item);
struct val order_value_of(const struct front_item *item);
/* What such a table has there, nil where it has nothing. */
struct val order_read(struct front *f, struct val table, const struct constant *key);
/* Refuses fields that are set so and come to otherwise, too. */
void order_finish(struct front *f);

/* For the other methods of the world that rows order. The function is compiled anew if its commands
** are not ordered one by one; one more order, with a value. */
void order_want(struct front *f);
void order_add(struct front *f, struct run_command command, k_value value);
void order_with(struct front *f, struct run_command command, k_value entity, k_value value);
/* Of these: the entity that a command is for; what it sets a field to, as it is noted down. */
k_value order_entity(struct front *f, struct val entity);
k_value order_value(struct front *f, const struct component *component, struct run_command *command,
                    struct val value);
/* The field of one value that has a position, from 1 on, or that a table has; NONE when there is no
** such. */
uint32_t order_leaf_at(const struct component *component, uint32_t position);
uint32_t order_leaf(const struct component *component, const struct front_item *item);
/* Stores such an id in a field of the row's own, whose entity is given; or in an element of an
** array, or, where the number is 1, in a field of a resource. What the row itself comes to there
** it comes to before, which order_check_read sees to. */
void order_store(struct front *f, const struct component *component, uint32_t leaf,
                 struct val entity, struct val value);
void order_store_element(struct front *f, const struct component *component, uint32_t leaf,
                         k_value number, struct val value);
void order_check_read(struct front *f, const struct component *component, uint32_t leaf);

/* world:emit, whose events are orders of rows. */

/* The call, for the rows that are here: values in the order of fields, or a table of them that the
** function has made. */
void order_emit(struct front *f, const struct val *arguments, uint32_t count);

/* Integers that meet floats. */

/* What bounds integers: 1 + n for those from -2^n to 2^n. */
#define MIXED_EXACT 54   /* floats can tell them apart, */
#define MIXED_SMALL 32   /* and what is calculated with some of them, too */

/* Whether an integer from outside is so small; it is guarded to stay so, or not to be. */
bool mixed_is_small(int64_t integer);
/* What bounds an integer (val.bits): one in a field of a type; any value, a literal, too;
** one of two; the result of an operation. */
uint8_t mixed_bits_of(ecs_type type);
uint8_t mixed_bits(struct val x);
uint8_t mixed_bits_either(struct val x, struct val y);
uint8_t mixed_bits_result(k_op op, struct val x, struct val y);
/* Whether a float that is to stand for the integers that x may be may have to be rounded. */
bool mixed_rounds(const struct front *f, struct val x);
/* Whether what it is as a float is the same number, whichever it is to Lua. */
bool mixed_is_exact(const struct front *f, struct val x);
/* The mask where a number is an integer to Lua. */
k_value mixed_whole(struct front *f, struct val x);
/* What these make of x in the rows of the mask and y elsewhere: whether it is mixed, and how. */
void mixed_join(struct front *f, k_value mask, struct val x, struct val y, struct val *joined);
/* Any value as what tells integers apart takes it: rows in which it was rounded fail. */
struct val mixed_settle(struct front *f, struct val x);
/* Whether an operation on them is one on integers in some rows and one on floats in others. */
bool mixed_meets(const struct front *f, struct val x, struct val y);
/* x (op) y, of +, -, *, // and %, where they meet so; -x and math.abs(x) of a mixed one. */
struct val mixed_binary(struct front *f, k_op op, struct val x, struct val y);
struct val mixed_negate(struct front *f, struct val x);
struct val mixed_absolute(struct front *f, struct val x);

/* What a function finds in indexes: loops over those within a reach, the nearest one, and the
** copies that such loops show. */

/* The number of an index among those that the function looks into; NULL is refused. */
uint32_t partner_index(struct front *f, struct ecs_index *index);
/* A method of an index. */
struct val partner_method(struct front *f, struct val index, const struct constant *key);
/* Calls one; `arguments` begin with the index. Returns how many results it has. */
uint32_t partner_call(struct front *f, struct val method, const struct val *arguments,
                      uint32_t count, struct val results[FRONT_RESULTS]);
/* Compiles the loop over an iterator at the frame's pc, and leaves pc behind it. */
void partner_for(struct front *f, struct frame *frame);
/* The field that such a copy has come down to. */
struct val partner_field(struct front *f, struct val copy);
/* Refuses to write to one. */
NORETURN void partner_refuse_write(struct front *f, struct val copy, const struct constant *key);

/* What rows do to cells that are not their own: elements of the world's arrays, fields of resources
** and of the entities that a path of the query leads to. */

/* A number read from the element of an array at an index is that element; the number that an
** operation has made of two is a step on it, if one of them was; KF_COUNT: one that is no fold. */
struct val steps_element(struct front *f, struct val number, struct val array, k_value index);
struct val steps_step(struct front *f, struct val result, k_fold step, struct val x, struct val y);
/* x in the rows of one mask, `yes`, and y in those of another, `no`, is x or y where the one is of
** the rows in which x, an element, is true, and the other of those in which it is not; or x and y
** where it is the other way round. */
struct val steps_choice(struct front *f, struct val result, struct fork rows, struct val x,
                        struct val y);
/* The value of a script cell; folds one that is stored into its cell; false when it is no step. */
struct val steps_cell(struct front *f, struct val value, uint32_t cell);
bool steps_fold_cell(struct front *f, struct val value, uint32_t at, k_column type, k_value cell);
/* The value of a field of a resource. */
struct val steps_field(struct front *f, struct val value, struct val field);
/* The value of a column whose cells are others'. */
struct val steps_other(struct front *f, struct val value, uint32_t column);
void steps_store_other(struct front *f, uint32_t column, struct val value);
/* Stores into the element of an array, or a resource's field, for the rows that are here. */
void steps_store(struct front *f, struct val array, struct val index, struct val value);
void steps_store_field(struct front *f, struct val field, struct val value);
/* Refuses a function that looks at what it writes so. */
NORETURN int steps_refuse_shared(struct front *f);
/* Says what else shows the cells that are folded. */
void steps_finish(struct front *f);

/* Ties: what the world's methods add, remove and set of relations, and spawn with. */

/* world:pair, whose id is for other commands, and a key of tables to spawn with. */
struct val tie_pair(struct front *f, const struct val *arguments, uint32_t count);
/* Whether a value is a pair's id, of such a call or from outside. */
bool tie_is_pair(struct front *f, struct val value);

/* The id of the component or tag that a text names, which may be another one in other rows. */
k_value tie_named(struct front *f, struct val text);

/* world:add and world:remove of a relation. */
void tie_call(struct front *f, const struct component *relation, bool adds,
              const struct val *arguments, uint32_t count);
/* world:set of a relation, or of a field of one; false when it is of something else. */
bool tie_set(struct front *f, const struct val *arguments, uint32_t count);
/* The ties among the parts of what is spawned, in the order of their relations. */
void tie_spawned(struct front *f, uint32_t first);

/* Which way a function takes through its instructions: where it jumps back to, and what of its
** registers is still needed there. */

/* Finds the loops of a function that jumps back, but for those of `for` alone, and what
** is needed where: function->flow, NULL when there are none. False when out of memory. */
bool flow_find(struct function_code *function);
void flow_free(struct function_code *function);

/* Behind the last instruction of the loop that an instruction begins; 0 when it begins none. */
uint32_t flow_loop(const struct function_code *function, uint32_t pc);

/* Whether what a register holds is taken from an instruction on, which may be the end. Only where
** there are loops. */
bool flow_needs(const struct function_code *function, uint32_t pc, uint32_t at);

/* Whether an instruction takes what a register holds. */
bool flow_takes(const struct code *code, uint32_t at);

#include "front/element.h"

#endif
