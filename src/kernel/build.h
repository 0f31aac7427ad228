/* Making programs.
**
** The front end states a function's meaning through the builder, one call per operation in program
** order; `build_finish` optimises, allocates registers and checks.
**
**   struct builder *b = builder_new(memory);
**   k_value x = build_load(b, px), v = build_load(b, vx);
**   k_value dt = build_convert(b, KT_F32, build_uniform(b, 0, KT_F64));
**   build_store(b, px, build_binary(b, KO_ADD, x, build_binary(b, KO_MUL, v, dt)));
**   status = build_finish(b, &program);
**
** Values. A value is a number for what one operation yields: it has a type (k_type),
** never changes, and is either *varying* (one per row) or *uniform* (one for all rows:
** constants, uniforms, loop counters and operations on these alone). Uniform and varying
** operands mix freely. The two operands of a binary operation have one type; only
** comparisons take any two numbers (and compare them exactly, as Lua does). Anything else
** is converted first.
**
** Masks. A lane mask is a value of type bool; K_ALL is the mask of every row. Operations
** are done for every row, whatever the mask: only `build_select`, commands, reductions
** and operations that can fail look at one. So a write under a mask is
** `cur = build_select(b, mask, new, cur)`, and masks are combined with KO_AND, KO_ANDN,
** KO_OR, KO_NOT (the wider mask as first operand); K_ALL among them costs nothing. Work
** that only rows of an empty mask would need is skipped by itself, block by block: the
** front end need not say so.
**
** Failing. What can fail (i64 // and % by zero, float to integer, narrow stores, empty
** random intervals) fails only in the rows of the mask given to `build_at`, and the
** failure carries the tag given there. The first failing row is reported; rows before it
** are written whole, it and the rows after it are not.
**
** Errors of the builder are sticky: after the first one every call returns K_NONE and
** does nothing, so that only `build_finish` needs to be looked at.
*/
#ifndef ECS_KERNEL_BUILD_H
#define ECS_KERNEL_BUILD_H

#include "kernel/program.h"

struct builder;

typedef int32_t k_value;

#define K_ALL 0      /* the mask of every row: the constant true */
#define K_NONE (-1)  /* no value */

/* An empty program, or NULL when out of memory. */
struct builder *builder_new(struct memory *memory);
void builder_free(struct builder *b);

/* The first error so far, or K_OK. */
k_status builder_status(const struct builder *b);

k_type build_type(const struct builder *b, k_value v);
/* Whether the value may differ from row to row: false for uniform values. */
bool build_varies(const struct builder *b, k_value v);
/* Whether a value is a number known at compile time; *x becomes that number. */
bool build_is_number(const struct builder *b, k_value v, double *x);
/* Whether an i64 is from `least` to `most`, both within 32 bits, in all rows and rounds, as far as
** constants and loop counters show. If so, it is from of[0] to of[1]. */
bool build_between(const struct builder *b, k_value v, int64_t least, int64_t most, int64_t of[2]);

/* Sets the mask and tag of what can fail, until the next call. k_failure has the tag. */
void build_at(struct builder *b, k_value mask, uint32_t tag);

/* A mark to return to: everything built since then is forgotten (the types in a loop are found by
** building its body again until they are stable). Columns declared since then stay declared. */
typedef struct k_mark {
  k_value value, loop;
  uint32_t sites, lists, folds;
} k_mark;
k_mark build_mark(const struct builder *b);
void build_rewind(struct builder *b, k_mark mark);

/* Columns and scalars.
**
** `build_column` declares the next column and returns its number, from 0, or NONE;
** `machine_run` is given their arrays in the order of declaration. Two columns of one
** program must be two arrays: ask once per field.
**
** `build_load` is the value at the start of the row, the same value each time: the front
** end keeps the current value of a field as it does for a local variable.
**
** `build_store` says what the column holds when the row is done; the last call counts;
** call it outside loops. The value has the column's type: see `build_fit`.
**
** `build_put` stores in the rows that the run is for, see build_start.
**
** `build_rows_entity` is the id of the row's entity: a separate column, never stored
** to, always alive, so that it costs no look-up. */
uint32_t build_column(struct builder *b, k_column type);
k_value build_load(struct builder *b, uint32_t column);
void build_store(struct builder *b, uint32_t column, k_value v);
void build_put(struct builder *b, uint32_t column, k_value v);
k_value build_rows_entity(struct builder *b, uint32_t column);

/* Arrays: columns of their own length that are the same for all rows, and only read.
**
** `build_array` declares the next array and returns its number, from 0, or NONE; runs are given
** them in that order. `build_element` is the element at an index (i64, from 1) of the row,
** arbitrary if there is none; `build_inside` is whether there is one.
**
** `build_need`: where the mask of what is present does not hold, rows of the mask given to build_at
** fail (KE_NIL; KE_ABSENT for that of build_inside). */
uint32_t build_array(struct builder *b, k_column type);
/* No row reads what another has put into the array, so what failed rows put there is not undone. */
void build_loose(struct builder *b, uint32_t array);
k_value build_element(struct builder *b, uint32_t array, k_value index);
k_value build_inside(struct builder *b, uint32_t array, k_value index);
void build_need(struct builder *b, k_value present);
/* build_need with more bits in the tag. */
void build_need_as(struct builder *b, k_value present, uint32_t bits);
/* Whether all rows of a mask are in another one, as far as its construction shows. */
bool build_implies(const struct builder *b, k_value mask, k_value other);
/* Whether no row of a mask is in another one, as far as their construction shows. */
bool build_excludes(const struct builder *b, k_value mask, k_value other);

/* Lookups: what else can be found by ids, by the function k_look of whatever runs the program.
**
** `build_lookup` declares the next one, of values of a type, and returns its number, from 0, or
** NONE. `build_look` is what it finds for a value of the row, an i64, in the rows of a mask, and
** anything in others: the same in all of a run. */
uint32_t build_lookup(struct builder *b, uint32_t type);
k_value build_look(struct builder *b, uint32_t lookup, k_value from, k_value mask);
/* What that lookup has found before, or K_NONE. */
k_value build_looked_up(struct builder *b, uint32_t lookup, k_value from, k_value mask);

/* Cells in which rows see what earlier rows have left, in program order: an element of an array, or
** the cell that a column or lookup of KC_CELLS | type points to. `build_get` is the content when
** the row reaches it, an f32 as an f64; arbitrary where there is no cell. `build_set` puts a value
** into it, in the rows of the mask given to build_at, as an f64 or i64, or a bool. In a program
** with either of them rows note orders (build_order) in that order, too, and the notes are carried
** out when the row has done everything else. */
k_value build_cell(struct builder *b, uint32_t array, k_value index);
k_value build_get(struct builder *b, k_value cell);
void build_set(struct builder *b, k_value cell, k_value value);
/* Copies all elements of an array to the first ones of another of its type or, if both are the
** same, its first element to all others, if the mask given to build_at is true; only for programs
** of one row. If elements of such arrays are also folded, build_finish returns K_SHARED. */
void build_lay(struct builder *b, uint32_t to, uint32_t from);

/* A step on a cell that nothing else in the program accesses, with the operand of each row of the
** mask given to build_at, outside loops: rows do it one after the other, and fail if the cell's
** type does not take the result. LESS and MORE are math.min and math.max of the cell and the
** operand, LEAST and MOST those of the operand and the cell; OR and AND are for bools. Returns the
** fold's number, from 0. If such cells are accessed otherwise, build_finish returns K_SHARED: any
** other use of the cell's array, or of a uniform or column that build_alias_fold says has the same
** values. */
typedef enum k_fold {
  KF_ADD, KF_SUB, KF_LESS, KF_MORE, KF_LEAST, KF_MOST, KF_SET, KF_OR, KF_AND, KF_COUNT
} k_fold;
uint32_t build_fold(struct builder *b, k_value cell, k_fold step, k_value operand);
void build_alias_fold(struct builder *b, uint32_t fold, bool uniform, uint32_t number);
/* After K_SHARED: the number of the fold. */
uint32_t build_shared_fold(const struct builder *b);

/* Converts `v` for a column of `type`, by the rules of world:set: i64 for integer columns
** (KE_FRACTION, KE_RANGE in rows of the mask where it does not fit), rounded for f32. */
k_value build_fit(struct builder *b, k_column type, k_value v);

k_value build_constant(struct builder *b, k_type type, k_scalar s);
k_value build_f64(struct builder *b, double x);
k_value build_f32(struct builder *b, float x);
k_value build_i64(struct builder *b, int64_t x);
k_value build_bool(struct builder *b, bool x);

/* Number `index` (0 up, below 256) of the uniforms that each run is given. Always asked for with
** the same type. */
k_value build_uniform(struct builder *b, uint32_t index, k_type type);

/* The rows that a run is for, if the program is not for all: the mask to start with, k_run.start.
** The caller's masks decide what other rows would do. */
k_value build_start(struct builder *b);

/* Converts to another number type. i64 to f32 goes through f64, as a Lua number would. A float
** without an integer value fails with KE_INTEGER if `type` is KT_I64. Same type: v itself. */
k_value build_convert(struct builder *b, k_type type, k_value v);

/* Operations have the meaning that Lua 5.4 gives them; f32 is rounded at each step. */
typedef enum k_op {
#define OPERATION(name, operands, types, floats, others, cost) KO_##name,
#include "kernel/operations.def"
  KO_COUNT
} k_op;

k_value build_unary(struct builder *b, k_op op, k_value x);
k_value build_binary(struct builder *b, k_op op, k_value x, k_value y);

/* x in the rows of the mask, y in the others. x and y have one type. */
k_value build_select(struct builder *b, k_value mask, k_value x, k_value y);

/* world:random(e): see k_random. `call` counts the row's calls from 0 (i64); `seed` and
** `tick` are uniform i64. */
k_value build_random(struct builder *b, k_value entity, k_value call, k_value seed,
                     k_value tick);
/* f64 in [0, 1) and i64 in [lo, hi] from such bits; KE_EMPTY if lo > hi. */
k_value build_random_unit(struct builder *b, k_value bits);
k_value build_random_range(struct builder *b, k_value bits, k_value lo, k_value hi);

/* A loop of `count` rounds (uniform i64; none when below 1), left when `mask` is empty
** before the first round or `again` after one. Yields the round, from 0, a uniform i64.
** Values made inside are not to be used after the loop, except those carried.
**
**   k_value i = build_loop(b, count, mask);
**   k_value acc = build_carry(b, acc0, true), live = build_carry(b, mask, true);
**   ...
**   build_next(b, acc, build_select(b, live, new, acc));
**   build_next(b, live, still);
**   build_endloop(b, still);
**
** A carried value is `init` in the first round, then what `build_next` said in the round
** before; after the loop it is the last such value (`init` when no round was done). Its
** type is init's. Without `varying` it is uniform: then init and next must be. Carries are
** declared right after build_loop; a carry without build_next keeps its value.
**
** Rounds are done for all rows of a block as long as one of them needs another: what rows
** carry that have left the loop is kept by selects, as above, and what can fail is given
** the mask of those that have not. A uniform carry tells of no row how long it stayed. */
k_value build_loop(struct builder *b, k_value count, k_value mask);
k_value build_carry(struct builder *b, k_value init, bool varying);
void build_next(struct builder *b, k_value carry, k_value next);
void build_endloop(struct builder *b, k_value again);
/* All rows of the mask given to build_at fail, because they need more rounds than a loop can
** have. */
void build_give_up(struct builder *b);

/* Results other than stores.
**
** `build_emit`: the rows of the mask are marked in bitmap `index` (0 up, below 64).
** Filters are one bitmap. Each command of a function has its own, numbered in program
** order: see `k_commands_next`. In a loop the rounds are united, which is right for a
** command that may be repeated; the front end refuses other mixtures.
**
** `build_reduce`: the rows of the mask join total `index` (0 up, below 16); i64 or f64;
** outside loops. There is such a total even if the mask is that of no rows. */
void build_emit(struct builder *b, uint32_t index, k_value mask);
/* As build_emit, unless this was the last call for the bitmap in this loop. */
void build_emit_once(struct builder *b, uint32_t index, k_value mask);
/* Called at the end: bitmaps from number `from` on become those from `to` on, `count` of them. */
void build_renumber(struct builder *b, uint32_t from, uint32_t to, uint32_t count);
void build_reduce(struct builder *b, uint32_t index, k_reduce how, k_value v, k_value mask);
/* Whether anything stated so far can fail. */
bool build_may_fail(const struct builder *b);

/* Optimises, allocates registers, checks. With K_OK, *out is a program to free with program_free;
** the builder is always spent and must be freed. */
k_status build_finish(struct builder *b, struct program **out);

/* Lists of what rows go through, each row its own, as nodes: of rows of an index, say.
**
**   uint32_t list = build_list(b);
**   k_value filled = build_listed(b, list, arguments, count);   -- how many items a row has
**   k_value round = build_loop(b, build_i64(b, INT64_MAX), mask);
**   ... build_picked(b, filled, round) ...
**
** k_run.list lists them, for the rows of the mask given to build_at: those for whose items there is
** no room fail. */

/* The number of a new list, or NONE. Each list must be filled at one place. */
uint32_t build_list(struct builder *b);
/* Fills a list, from arguments that are f64, i64, or K_NONE for none. */
k_value build_listed(struct builder *b, uint32_t list, const k_value *arguments, uint32_t count);
/* A uniform item, from 0, of a filled list: its number from 1, or 0 if there is none. */
k_value build_picked(struct builder *b, k_value filled, k_value item);
/* What listing yields for a row besides items, as an f64, in the place of an argument that is not
** used. */
k_value build_taken(struct builder *b, k_value filled, uint32_t argument);

/* Rows of the mask given to build_at order something for an entity (i64), by a number below 64 that
** the runner knows, with a value of any type but f32, a bool as an integer: k_orders. Rows note the
** order. It is carried out once everything that can fail in the row is done, in the order of rows,
** and within a row in that of the program and its rounds. The row fails if it cannot be carried out
** (KE_DEAD), or if there is no room (KE_ROOM). An order that only puts the value into a cell that
** exists is done at once (k_orders.plain); the cell may be K_NONE. */
void build_order(struct builder *b, uint32_t order, k_value entity, k_value value, k_value cell);

/* The orders of one site, with their parts: how many in a block, and for which rows. */
typedef struct k_given {
  uint32_t order, count;
  const uint32_t *rows;               /* NULL: 0, 1, 2 ... */
  const int64_t *const *entities;     /* those of the order, then of each part */
  const k_scalar *const *values;
  uint64_t one_entity, one_value;     /* bits by order and part: one value for all rows */
} k_given;

/* An order of a row that runs in order: carried out when the row has done everything else. */
typedef struct k_ordered {
  uint32_t order;
  int64_t entity;
} k_ordered;

/* The content of a cell before a row wrote to it. */
typedef struct k_stored {
  void *at;
  k_scalar was;
  uint32_t size;
} k_stored;

#define STORED_AT_ONCE 4u      /* by one order */

/* What happens to an order: it waits for the end of its row, it is done, or there is no room. */
typedef enum k_now { K_LATER, K_DONE, K_NO_ROOM } k_now;

/* How orders are carried out, in the order of rows: each with its entity and value, and then those
** of its parts. */
typedef struct k_orders {
  /* Whether an order can be carried out; */
  bool (*check)(void *ud, uint32_t order, const int64_t *entities, const k_scalar *values);
  bool (*reserve)(void *ud, uint32_t count);   /* reserves room for that many, which then cannot
                                               ** fail */
  void (*give)(void *ud, uint32_t order, const int64_t *entities, const k_scalar *values);
  void *ud;
  /* Or NULL: how many orders after a given one are its parts. */
  uint32_t (*parts)(void *ud, uint32_t order);
  /* Or NULL: reserves room for everything that a block orders, and carries it out; 0 without room.
  ** NONE: these orders must be carried out one by one. */
  uint32_t (*give_many)(void *ud, const k_given *given, uint32_t count);
  /* Or NULL: does an order that only stores into a cell, at once, although `count` orders of the
  ** row wait. Puts the old contents of what it changes, such as the cell and its marks, at *stored,
  ** and advances it; they are put back if the row fails. */
  k_now (*now)(void *ud, uint32_t order, int64_t entity, k_scalar value, const k_ordered *waiting,
               uint32_t count, k_stored **stored);
  uint64_t plain;             /* by order: it only puts its value into the given cell, */
  const uint32_t *deferred;   /* if this is 0 and no order of the row waits */
} k_orders;

#endif
