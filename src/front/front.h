/* From a Lua function to a column program: one pass over the function in bytecode order. What
** a register holds is a val; what all of them hold is an env; rows that jump forward wait at
** their target with an env of their own and are merged there, value by value, by selects.
** Whatever cannot be compiled raises a Lua error that says why, as "file:line: reason". */
#ifndef ECS_FRONT_FRONT_H
#define ECS_FRONT_FRONT_H

#include "front/bytecode.h"
#include "front/guard.h"
#include "front/outside.h"
#include "front/result.h"
#include "kernel/build_note.h"
#include "runner/lookup.h"
#include "runner/partners.h"
#include "runner/run.h"

struct leaf;

#define FRONT_DEPTH 8          /* inlined functions inside one another */
#define FRONT_FUNCTIONS 64     /* inlined in all */
#define FRONT_RESULTS 8
#define FRONT_REGISTERS 1024   /* of all functions that are open */
#define FRONT_FORKS 256
#define FRONT_STRINGS 64       /* that a choice may be one of */
#define FRONT_ENUMS 16         /* enumerations that are known by their names */
#define FRONT_MADE 64          /* tables that the function makes, */
#define FRONT_ITEMS 128        /* and what is in all of them */
#define FRONT_CHAINS 600       /* steps on elements of arrays and fields of resources */

/* ---- what registers hold ---- */

enum val_kind {
  VAL_NOTHING,     /* never set, or different things on different ways here */
  VAL_NIL,
  VAL_VALUE,       /* a number or boolean: `value` */
  VAL_STRING,      /* a constant */
  VAL_CHOICE,      /* one of several constant strings: `value` is its number among f->strings */
  VAL_PATH,        /* a table reached by a path */
  VAL_VIEW,        /* a term, or a nested or array field of it */
  VAL_FUNCTION,    /* a Lua function reached by a path */
  VAL_MATH,        /* a function of the math library */
  VAL_WORLD,
  VAL_METHOD,      /* a function of the world's methods */
  VAL_SPAWNER,     /* a function that world:spawner has made: anchored at `at` */
  VAL_PAIR,        /* a pair's id: `component` is the relation, `value` the target */
  VAL_RESOURCE,
  VAL_ARRAY,       /* an array of the world: `component` */
  VAL_RECORD,      /* an element of a table that is one, too: `value` is its place, counted from 1,
                      in f->arrays[`at`] */
  VAL_TABLE,       /* a table that the function makes: `at` of f->made */
  VAL_INDEX,       /* an index: `at` of f->indexes */
  VAL_FINDER,      /* a method of it: `number` is an enum list_kind */
  VAL_PARTNERS,    /* what a `for` is to go through: `value` is how many, of index `at`;
                      NONE: of those who are tied */
  VAL_PARTNER      /* a copy that such a loop shows: like a view; `value` is its place. It is false
                   ** where the rows of the index lack it, not nil as others that may be absent */
};

struct val {
  uint8_t kind;
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
  k_value present;             /* the mask where it is not nil; 0, which is K_ALL: everywhere */
  k_value whole;               /* mixed: the mask where it is an integer; K_NONE: unknown */
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
  uint32_t column;             /* 1 + that whose cells are its elements, or 0 */
  bool written;
  uint32_t path;
  const struct enumeration *names;   /* by which a table is read; NULL: by numbers */
  uint16_t inner;              /* of its records' values by this key, anchored; 0: of its own */
  enum element_gaps gaps;
  enum element_kind kind;
  bool ragged;                 /* a table with other numbers, too: ELEMENTS_RAGGED */
  struct front_copy copy;      /* of an index */
};

/* What a number is made by: an element of an array, a field of a resource or of another entity, and
** steps on it. */
struct front_chain {
  const struct component *component;
  uint32_t leaf;
  k_value index;               /* K_NONE: of a resource, or of another entity, */
  uint32_t column;             /* whose cells have this one, + 1; else 0 */
  k_value present;             /* in which rows there is such an element */
  k_value value;               /* the number */
  k_mark read;                 /* when it was taken from there */
  uint16_t also;               /* 1 + that of another chain which makes it, or 0 */
  bool floats;                 /* it is a float to Lua in all rows */
  bool ended;                  /* no step comes behind the last one */
  uint32_t count;
  struct build_step steps[BUILD_STEPS];
};

/* A table that the function makes for world:spawn: filled by all rows that have made it, in the
** same round of the same loop. */
struct front_made {
  k_value mask, loop;
  uint32_t first;              /* of f->items; NONE: it is empty */
};

struct front_item {
  ecs_string key;              /* empty: it has a position, from 1 on, */
  uint32_t position;
  struct val pair;             /* or a pair's id for a key */
  struct val value;
  uint32_t next;
};

struct front {
  lua_State *L;
  ecs_world *world;
  outside_fn outside;
  const void *owner;           /* of the world: its object */
  const ecs_query *query;
  uint64_t present;            /* bit by slot: which terms that may be absent are there */
  struct builder *b;
  const lua_CFunction *math;
  int anchors;                 /* stack index of the table of anchored values */
  uint32_t anchor_count;
  enum front_result result;
  bool orders;                 /* rows order their commands one by one */
  bool wants_orders;           /* refused since they have to */
  bool starts;                 /* the program is for some rows of a table: build_start */
  bool breaks_promise;         /* refused since it writes to a term declared :in */
  bool fleeting;               /* refused for what no guard tells of */
  bool chosen;                 /* values or terms chose a way through the function */
  bool hopeless;               /* refused for an instruction that every run comes to */
  const struct component *unsure;   /* a step on it has a number of which it depends on the row
                                    ** whether it is an integer; NULL */
  k_value start;               /* the mask in which the function begins */

  struct env env;
  struct frame *frame;
  struct edge_env *edges;
  struct program *program;
  uint32_t depth, loop_depth, edge_count, edge_capacity, fork_count, column_count, path_count;
  uint32_t guard_count, resource_count, uniform_count, string_count, asked_count, lookup_count;
  uint32_t array_count, chain_count, made_count, item_count, code_count, enum_count;
  uint32_t command_count, loop_commands;   /* those before the outermost loop that is open */
  uint32_t mark_count, first_mark;   /* of bitmaps that say where watched terms are written */
  uint32_t whole_count;
  uint32_t index_count, list_count;
  bool looks;                  /* it has come upon an index, whatever that may be */

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
  uint32_t marks[RUN_MARKS];                   /* slots of terms that are watched and written, */
  uint32_t whole[RUN_MARKS];                   /* and of those that are so in all rows */
  struct run_asked asked[RUN_ASKED];
  struct run_lookup lookups[RUN_LOOKUPS];      /* by the number in the program */
  struct front_array arrays[FRONT_ARRAYS];     /* by the number in the program */
  struct front_chain chains[FRONT_CHAINS];
  struct front_made made[FRONT_MADE];
  struct front_item items[FRONT_ITEMS];
  struct run_command commands[RUN_ORDERS];
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

/* Sends the rows of `mask` to a target (the count of instructions for the end). */
void front_jump(struct front *f, uint32_t target, k_value mask);
/* Keeps a copy of the environment as the last edge; forgets edges from `first` on. */
void front_keep(struct front *f);
void front_forget(struct front *f, uint32_t first);
/* Joins what waits for this instruction from edge `first` on. */
void front_join(struct front *f, uint32_t first, uint32_t target);
/* The line of the instruction being compiled, as a tag for what can fail. */
uint32_t front_tag(const struct front *f);
/* A register of the open frame; a constant of its function; whichever an instruction names. */
struct val *front_register(struct front *f, uint32_t at);
struct val front_constant(struct front *f, uint32_t at);
struct val front_operand(struct front *f, struct operand operand);
/* Pops a Lua value into the table of anchored values; its number there. */
uint16_t front_anchor(struct front *f);

/* Raises when the builder has failed. */
void front_check(struct front *f);

/* ---- env.c: masks and merging ---- */

/* Rows of a mask in which a condition holds, or does not, or that are in one of two masks, each
** of which may be K_NONE. */
k_value mask_and(struct front *f, k_value mask, k_value condition);
k_value mask_and_not(struct front *f, k_value mask, k_value condition);
k_value mask_or(struct front *f, k_value a, k_value b);
/* Rows of x among those of the mask, and of y among the others. */
k_value mask_select(struct front *f, k_value mask, k_value x, k_value y);
/* With registers of its own, which env_free frees. */
void env_copy(struct front *f, struct env *to, const struct env *from);
void env_free(struct front *f, struct env *env);
/* The rows of `from` join those of `into`. */
void env_merge(struct front *f, struct env *into, const struct env *from);
/* x in the rows of the mask, y elsewhere, of one type; VAL_NOTHING when there is none. */
struct val val_select(struct front *f, k_value mask, struct val x, struct val y);
/* The type that both can be brought to, or -1. */
int val_common_type(const struct front *f, struct val x, struct val y);
/* Whether what is x in some rows and y in others may be an integer here and a float there. */
bool val_mixes(const struct front *f, struct val x, struct val y);
/* Whether they are known to be the same thing. */
bool val_same(const struct val *x, const struct val *y);
/* Whether it is null as a literal, which is the number 0, too. */
bool val_is_zero(struct val x);
/* Whether no float can stand for a literal, or what is made of such integers. */
bool val_is_wide(struct val x);

/* ---- maybe.c: what is nil in some rows ---- */

static inline bool val_is_maybe(struct val x) {
  bool may = x.kind == VAL_VALUE || x.kind == VAL_RECORD || x.kind == VAL_PARTNER;
  return may && x.present != K_ALL;
}
/* The value where it is there; the other rows that are here fail: they are left to Lua, which may
** take nil or raises an error. */
struct val maybe_need(struct front *f, struct val x);
/* The value as the rows of the mask have it. */
struct val maybe_narrow(struct front *f, k_value mask, struct val x);
/* `joined`, made of x in the rows of the mask and of y elsewhere, where each of them is there. */
struct val maybe_select(struct front *f, k_value mask, struct val x, struct val y,
                        struct val joined);
/* The same of a value and nil. */
struct val maybe_or_nil(struct front *f, k_value mask, struct val x, struct val y);
/* x == y and the truth of x, where one may be nil. *known is -1 behind it. */
k_value maybe_equal(struct front *f, struct val x, struct val y, int *known);
k_value maybe_truth(struct front *f, struct val x);

/* ---- choice.c: what is one string in some rows and another one in others ---- */

/* Whether it is a string, whichever. */
static inline bool val_is_text(struct val x) {
  return x.kind == VAL_STRING || x.kind == VAL_CHOICE;
}
/* val_select where one of them is a string: a choice, or, with an enumeration's value, another such
** value. */
struct val choice_select(struct front *f, k_value mask, struct val x, struct val y);
/* A string as a value of an enumeration; K_NONE when it may be something else than its names,
** unless `any`: that is -1 then. */
k_value choice_as_enum(struct front *f, struct val x, const struct enumeration *names, bool any);
/* The first enumeration that was asked for with just these names in this order: fields of both have
** the same values. NULL for NULL. */
const struct enumeration *choice_names(struct front *f, const struct enumeration *names);
/* x == y of strings that are not both constants. */
k_value choice_equal(struct front *f, struct val x, struct val y);

/* ---- string_field.c ---- */

/* What the values of string fields have for their names: any text is one. */
extern const struct enumeration front_texts;
/* The number that is read for a text before each run, as a guard says. */
k_value text_guard(struct front *f, enum guard_type type, ecs_string text);
/* The number that a string of the function has in the world's table. */
k_value text_constant(struct front *f, ecs_string text);
/* A value as a string field takes it. */
k_value text_as_cell(struct front *f, struct val value);

/* ---- number.c: typing and operators ---- */

/* A value of the program, number or boolean. */
struct val val_number(struct front *f, k_value value, bool soft);
struct val val_bool(struct front *f, bool value);
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
/* Whether x (op) y: a mask, or a truth known now in *known (then K_NONE is returned). */
k_value number_compare(struct front *f, enum code_operator op, struct val x, struct val y,
                       int *known);
/* Whether x is neither nil nor false: a mask, or a truth known now in *known (then K_NONE is
** returned). */
k_value val_truth(struct front *f, struct val x, int *known);
bool val_is_number(const struct front *f, struct val x);
k_type val_type(const struct front *f, struct val x);

/* ---- outside.c: upvalues, globals, and what is reached from them ---- */

/* Pushes what a path leads to now, by raw access; nil where it breaks off. */
void path_push(lua_State *L, int anchors, const struct path *path);
/* The same as it is written: "settings.speed". */
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
/* What an upvalue is; what the key of a table is, by the table's path. */
struct val outside_upvalue(struct front *f, uint32_t upvalue);
struct val outside_key(struct front *f, uint32_t path, const struct constant *key);

/* ---- element.c: elements of arrays ---- */

/* The element of an array at an index that may differ from row to row; that at a constant: nil in
** rows in which there is none. */
struct val element_at(struct front *f, struct val array, struct val index);
struct val element_key(struct front *f, struct val array, const struct constant *key);
/* An index as an integer, and in *whole where it is one: Lua knows others of no array. */
k_value element_place(struct front *f, struct val index, k_value *whole);
/* The index that a constant is. */
struct val element_index(struct front *f, struct val array, const struct constant *key);
/* The same of a table by a number, or by an enumeration's value, as it is when a run starts; what a
** key of such an element leads to that is a table. */
struct val element_of_table(struct front *f, struct val table, struct val index);
struct val element_of_record(struct front *f, struct val record, const struct constant *key);
/* What the elements are that a guard is about (a kind, or with ELEMENTS_RAGGED), and how many. */
uint32_t element_look(lua_State *L, int anchors, const struct guard *guard, uint32_t *count);
/* Their kind alone. */
enum element_kind element_kind_of(uint32_t kind);
/* Copies so many of them, of its kind; how many bytes one takes. */
size_t element_size(enum element_kind kind);
void element_copy(lua_State *L, int anchors, const struct guard *guard, uint32_t count, void *to);
/* Looks and copies in one go, a third off the time: how many there seem to be, 0 where that is not
** possible, then whether these were all, and what the guard says they are. */
uint32_t element_expect(lua_State *L, int anchors, const struct guard *guard);
bool element_take(lua_State *L, int anchors, const struct guard *guard, uint32_t count, void *to);

/* The number of an array in the program, or of a field of a resource as one. */
uint32_t element_array(struct front *f, const struct component *array, uint32_t leaf);
/* The same of what an index has copied, whose cells are of a type. */
uint32_t element_copies(struct front *f, struct front_copy copy, k_column type);
/* The same of the cells of others' that a column stands for. */
uint32_t element_cells(struct front *f, uint32_t column);

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
/* The same as it is noted down: no f32. */
k_value access_noted(struct front *f, const struct component *component, uint32_t leaf,
                     struct val value);
/* Sets the field of a view, of a resource, or an element, for the rows that are here. */
void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value);
/* Sets the field that a term is, for the rows that are here, to what the function returns there. */
void access_result(struct front *f, uint32_t slot, struct val value);
/* The value of a field of one of the query's terms. */
struct val access_column(struct front *f, uint32_t slot, uint32_t leaf,
                         const struct component *component, uint32_t component_leaf);
/* The column of a leaf of the view's root, which is written from now on. */
uint32_t access_written(struct front *f, struct val view, uint32_t leaf);
/* Writes what the function stored into the program. */
void access_finish(struct front *f);

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
/* Pushes a userdata with the addresses of math's functions. */
void call_push_math(lua_State *L);
/* VAL_MATH for one of these functions, else VAL_NOTHING. */
struct val call_known(lua_CFunction function, const lua_CFunction *known);
/* A method of the world that can be compiled. */
struct val call_method(struct front *f, struct val object, const struct constant *key);

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
/* Those of world:children, sources and targets: what a loop goes through. */
struct val reach_tied(struct front *f, const struct val *arguments, uint32_t count,
                      const char *method);
/* The id that an integer is, 0 where nobody alive has it. */
k_value reach_live(struct front *f, k_value id);
/* Refuses to write to a field that is also read of other entities. */
void reach_check_written(struct front *f, const struct component *component, uint32_t leaf);

#endif
