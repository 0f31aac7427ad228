/* Typed column programs: what a kernel is compiled to.
**
** A program is a straight list of instructions, each done for a block of rows before the
** next one starts. The front end states a function's meaning through the builder, one
** call per operation in program order; `build_finish` optimises, allocates registers and
** checks; a machine runs the result over the columns of one table. Nothing here knows Lua.
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
** are written whole, it and the rows behind it are not.
**
** Errors of the builder are sticky: after the first one every call returns K_NONE and
** does nothing, so that only `build_finish` needs to be looked at.
*/
#ifndef ECS_KERNEL_PROGRAM_H
#define ECS_KERNEL_PROGRAM_H

#include <math.h>

#include "core/base/memory.h"

typedef enum k_status {
  K_OK,
  K_ENOMEM,  /* the allocator refused */
  K_ELIMIT,  /* too many values, columns, registers: the function stays Lua */
  K_EINVAL,  /* the caller's mistake: operands that do not fit, a value out of its loop */
  K_SHARED,  /* an array is written, and looked at beside: see build_note */
  K_FAILED   /* a row failed (machine_run only) */
} k_status;

/* Types of values. */
typedef enum k_type { KT_BOOL, KT_F32, KT_F64, KT_I64 } k_type;

/* Types of columns. Narrow integers are i64 once loaded; enums are u8 or u16 columns and
** strings' and `any`s' references are not loaded at all. A bool column holds 0 and 1.
** An entity is loaded as i64: as 0 when its target is dead. */
typedef enum k_column {
  KC_BOOL, KC_F32, KC_F64, KC_I64,
  KC_I8, KC_I16, KC_I32, KC_U8, KC_U16, KC_U32,
  KC_ENTITY,
  KC_COUNT
} k_column;

typedef union k_scalar {
  double f64;
  float f32;
  int64_t i64;
  uint8_t b;      /* 0 or 1 */
} k_scalar;

typedef int32_t k_value;

#define K_ALL 0      /* the mask of every row: the constant true */
#define K_NONE (-1)  /* no value */

struct builder;
struct program;
struct machine;

/* ---- building ---- */

/* An empty program, or NULL when out of memory. */
struct builder *builder_new(struct memory *memory);
void builder_free(struct builder *b);

/* What went wrong so far (K_OK: nothing). */
k_status builder_status(const struct builder *b);

k_type build_type(const struct builder *b, k_value v);
/* Whether it may differ from row to row: false of a uniform value. */
bool build_varies(const struct builder *b, k_value v);

/* Mask and tag of what can fail, until the next call. The tag comes back in k_failure. */
void build_at(struct builder *b, k_value mask, uint32_t tag);

/* A mark to come back to: what was built since is forgotten (loops are typed to a fixed
** point by building the body again). Columns declared since stay declared. */
typedef struct k_mark {
  k_value value, loop;
  uint32_t sites;
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
** `build_rows_entity` is the id of the row's entity: a column of its own, never stored
** to, always alive, so that it costs no look-up. */
uint32_t build_column(struct builder *b, k_column type);
k_value build_load(struct builder *b, uint32_t column);
void build_store(struct builder *b, uint32_t column, k_value v);
void build_put(struct builder *b, uint32_t column, k_value v);
k_value build_rows_entity(struct builder *b, uint32_t column);

/* Arrays: columns of their own length that are the same for all rows, and only read.
**
** `build_array` declares the next array and returns its number, from 0, or NONE; runs are given
** them in that order. `build_element` is the element at an index (i64, from 1) of the row, any
** where there is none; `build_inside` is whether there is one.
**
** `build_need`: where the mask of what is present does not hold, rows of the mask given to build_at
** fail (KE_NIL; KE_ABSENT for that of build_inside). */
uint32_t build_array(struct builder *b, k_column type);
k_value build_element(struct builder *b, uint32_t array, k_value index);
k_value build_inside(struct builder *b, uint32_t array, k_value index);
void build_need(struct builder *b, k_value present);
/* Whether rows of a mask are all rows of another one, as far as is plain from how it was made. */
bool build_implies(const struct builder *b, k_value mask, k_value other);

/* Lookups: what else is to be found by ids, which whoever runs the program knows: k_look.
**
** `build_lookup` declares the next one, of values of a type, and returns its number, from 0, or
** NONE. `build_look` is what it finds for a value of the row, an i64, in the rows of a mask, and
** anything in others: the same in all of a run. */
uint32_t build_lookup(struct builder *b, k_type type);
k_value build_look(struct builder *b, uint32_t lookup, k_value from, k_value mask);

/* `v` as a column of `type` takes it, by the rules of world:set: i64 for integer columns
** (KE_FRACTION, KE_RANGE in rows of the mask where it does not fit), rounded for f32. */
k_value build_fit(struct builder *b, k_column type, k_value v);

k_value build_constant(struct builder *b, k_type type, k_scalar s);
k_value build_f64(struct builder *b, double x);
k_value build_f32(struct builder *b, float x);
k_value build_i64(struct builder *b, int64_t x);
k_value build_bool(struct builder *b, bool x);

/* The number `index` (0 up, below 256) of the uniforms that each run is given. Asked for
** with one type always. */
k_value build_uniform(struct builder *b, uint32_t index, k_type type);

/* The rows that a run is for, of a program that is not for all of them: the mask to begin
** with, k_run.start. What other rows would do is up to the caller's masks. */
k_value build_start(struct builder *b);

/* To another number type. i64 to f32 goes through f64, as a Lua number would. A float
** that has no integer value is KE_INTEGER when `type` is KT_I64. Same type: v itself. */
k_value build_convert(struct builder *b, k_type type, k_value v);

/* Operations mean what Lua 5.4 means by them; f32 is rounded at each step. */
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
/* f64 in [0, 1) and i64 in [lo, hi] (fails KE_EMPTY when lo > hi) from such bits. */
k_value build_random_unit(struct builder *b, k_value bits);
k_value build_random_range(struct builder *b, k_value bits, k_value lo, k_value hi);

/* A loop of `count` rounds (uniform i64; none when below 1), left when `mask` is empty
** before the first round or `again` after one. Yields the round, from 0, a uniform i64.
** Values made inside are not to be used behind the loop, except those carried.
**
**   k_value i = build_loop(b, count, mask);
**   k_value acc = build_carry(b, acc0, true), live = build_carry(b, mask, true);
**   ...
**   build_next(b, acc, build_select(b, live, new, acc));
**   build_next(b, live, still);
**   build_endloop(b, still);
**
** A carried value is `init` in the first round, then what `build_next` said in the round
** before; behind the loop it is the last such value (`init` when no round was done). Its
** type is init's. Without `varying` it is uniform: then init and next must be. Carries are
** declared right behind build_loop; a carry without build_next keeps its value.
**
** Rounds are done for all rows of a block as long as one of them needs another: what rows
** carry that have left the loop is kept by selects, as above, and what can fail is given
** the mask of those that have not. A uniform carry tells of no row how long it stayed. */
k_value build_loop(struct builder *b, k_value count, k_value mask);
k_value build_carry(struct builder *b, k_value init, bool varying);
void build_next(struct builder *b, k_value carry, k_value next);
void build_endloop(struct builder *b, k_value again);

/* Results other than stores.
**
** `build_emit`: the rows of the mask are marked in bitmap `index` (0 up, below 64).
** Filters are one bitmap. Each command of a function has its own, numbered in program
** order: see `k_commands_next`. In a loop the rounds are united, which is right for a
** command that may be repeated; the front end refuses other mixtures.
**
** `build_reduce`: the rows of the mask join total `index` (0 up, below 16); i64 or f64;
** outside loops. */
typedef enum k_reduce { KR_SUM, KR_MIN, KR_MAX } k_reduce;
void build_emit(struct builder *b, uint32_t index, k_value mask);
void build_reduce(struct builder *b, uint32_t index, k_reduce how, k_value v, k_value mask);

/* Optimises, allocates registers, checks. On K_OK *out is a program that `program_free`
** frees; the builder is spent either way and is to be freed. */
k_status build_finish(struct builder *b, struct program **out);

/* ---- running ---- */

/* Instruction sets. Results do not depend on them. K_BASE is what the compiler makes for
** any machine of the architecture (SSE2 on x86-64). */
typedef enum k_isa { K_BASE, K_AVX2, K_AVX512, K_ISAS } k_isa;
/* Whether this build and this machine have it. */
bool isa_supported(k_isa isa);
k_isa isa_best(void);
const char *isa_name(k_isa isa);    /* "sse2" (else "base"), "avx2", "avx512" */
int isa_named(const char *name);    /* a k_isa, or -1 */

/* What one thread needs to run programs. One run at a time. */
struct machine *machine_new(struct memory *memory, k_isa isa);   /* NULL: no memory */
void machine_free(struct machine *m);

/* Makes room for `p`; K_OK or K_ENOMEM. Done once per program and machine: `machine_run`
** then allocates nothing. A machine that has room for one program has it for every other whose
** machine_room, the bytes of it, is not larger. */
k_status machine_reserve(struct machine *m, const struct program *p);
size_t machine_room(const struct program *p);

/* Why and where a row failed. */
typedef enum k_error {
  KE_NONE,
  KE_IDIV,      /* i64 // 0 */
  KE_MOD,       /* i64 % 0 */
  KE_FMOD,      /* math.fmod(i64, 0) */
  KE_INTEGER,   /* a float without an integer representation */
  KE_FRACTION,  /* such a float stored into an integer field */
  KE_RANGE,     /* an integer out of its field's range */
  KE_EMPTY,     /* the interval of a random number is empty */
  KE_ABSENT,    /* an index of an array that has no such element: the index is the value */
  KE_NIL,       /* what may be absent is, where it is needed */
  KE_DEAD,      /* what is ordered cannot be done: the entity is not alive, or no such one */
  KE_ROOM       /* there is no room to note down what rows do to others */
} k_error;

typedef struct k_failure {
  size_t row;
  uint32_t tag;
  k_error error;
  k_type type;     /* of `value`: what was to be converted, stored or divided */
  k_scalar value;
} k_failure;

/* Result of a reduction. The caller zeroes it before the first table and hands it to the
** run of each table in query order. Sums: 16 partial sums per table (row i into partial i
** mod 16), added pairwise (0 with 8, 1 with 9 ...; then 0 with 4 ...), then to the total;
** i64 sums wrap. min and max leave NaN out unless there is nothing else, and hold -0.0 to
** be less than 0.0. `rows` counts the rows that joined. For min and max a run says whether the
** value is now one of its own, and the first row that has it. */
typedef struct k_total {
  uint64_t rows;
  k_scalar value;
  uint64_t entity;   /* for who runs tables: that row's */
  uint32_t row;
  bool won;
} k_total;

/* A total of one table while its rows join it: what instructions do block by block, and
** k_fold_row row by row, for who has no program. */
typedef struct k_folding {
  k_scalar part[16];
  uint64_t rows, nans;
  uint32_t row;      /* the next one, or the block's first */
  uint32_t first;    /* of min and max: the first row of the value so far; while all are NaN, */
  bool found;        /* of all, if there is one */
  int64_t key;       /* of that value */
} k_folding;
void k_fold_begin(k_folding *f, k_reduce how, k_type type);
/* The next row's value, which counts only if the row joins. */
void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins);
void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total);

/* Puts 0 in place of ids whose entity is dead. */
typedef void (*k_live)(void *ud, int64_t *ids, size_t n);

/* Finds n values by lookup `number`, for `from`, which may be where `to` is: uint8_t, float, double
** or int64_t, by the lookup's type. Rows that are not in the mask, unless it is NULL, get any. */
typedef void (*k_look)(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask,
                       void *to, size_t n);

/* An array: at least one element. Notes write to it. */
typedef struct k_array {
  const void *data;
  int64_t count;
} k_array;

typedef struct k_run {
  size_t rows;
  void *const *columns;       /* per column: an array of `rows`, 64-byte aligned */
  const k_scalar *uniforms;   /* by index */
  uint64_t *const *bitmaps;   /* by index: (rows + 63) / 64 words, overwritten */
  const uint64_t *start;      /* as many words, of a program that starts with them */
  k_total *totals;            /* by index */
  k_live live;                /* needed when program_info.live */
  void *live_ud;
  const k_array *arrays;      /* by index */
  k_look look;                /* needed when there are lookups */
  void *look_ud;
  const struct k_orders *orders;   /* build_note.h; needed by programs that have some */
} k_run;

/* Runs `p` over one table. K_OK, or K_FAILED: then *failure says why, rows before the
** failing one are written whole, no other is, bitmaps mark only rows before it, and
** totals are as they were. K_EINVAL when the machine has no room for `p`
** (machine_reserve). */
k_status machine_run(struct machine *m, const struct program *p, const k_run *run,
                     k_failure *failure);

/* Commands marked by a run, in row order and within a row in order of their index. Start
** with {0, 0}; false when there are no more. */
typedef struct k_cursor {
  size_t row;
  uint32_t index;
} k_cursor;
bool k_commands_next(uint64_t *const *bitmaps, uint32_t count, size_t rows, k_cursor *at,
                     size_t *row, uint32_t *index);

/* Counter-based random bits, equal in every tier: Philox4x32-10 of J. Salmon, M. Moraes,
** R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, with
** `seed` as key and (entity, tick, call) as counter, tick and call modulo 2^32. */
int64_t k_random(int64_t seed, int64_t tick, int64_t entity, int64_t call);
double k_random_unit(int64_t bits);                            /* [0, 1), 53 bits */
int64_t k_random_range(int64_t bits, int64_t lo, int64_t hi);  /* [lo, hi]; lo <= hi */

/* The functions that instructions on f32 use, for one value; within 2 ulp. */
float k_sin(float x);
float k_cos(float x);
float k_exp(float x);
float k_log(float x);

/* ---- programs ---- */

#define K_BLOCK 1024  /* most rows in a block; a program may use fewer */

/* One instruction. Its operands are numbers, counted through: first the columns, then the
** block registers of 1, of 4 and of 8 bytes a lane, then the scalars, the mask of every
** row, the bitmaps, the totals, the bits of the rows to start with, the arrays, the lookups, the
** sites. What an instruction takes is said by its signature in ops.def. */
typedef struct k_insn {
  uint16_t op, dst, a, b, c, d;
  uint32_t tag;
} k_insn;

#define K_NO_OPERAND 0xffff

#define ARRAY_OF_CELLS 0x80u  /* of an array: only notes write to it, see build_cells */

/* A place where rows note down a step on an element of an array, or an order. */
typedef struct k_site {
  uint8_t array, step, type;   /* or the order's number; a k_step; the k_type of its operand */
  uint8_t turned;
  uint8_t first, last;         /* of the steps on one element */
} k_site;

/* What may differ between programs that pass the check. Public so that the checker can be
** shown programs that no builder made. */
struct program {
  struct memory *memory;    /* that it is in */
  uint16_t column_count;
  uint16_t reg1_count, reg4_count, reg8_count;  /* block registers of 1, 4, 8 bytes a lane */
  uint16_t scalar_count;
  uint16_t uniform_count;   /* the first scalars are the uniforms, */
  uint16_t constant_count;  /* then the constants, then those that are computed */
  uint16_t bitmap_count, total_count, array_count, lookup_count, site_count;
  uint16_t block;           /* rows per block: a multiple of 64, at most K_BLOCK */
  uint16_t whole;           /* 1: has no block registers, so that blocks may be longer */
  uint16_t starts;          /* 1: is for some rows, k_run.start; blocks without any are skipped */
  uint16_t insn_count;
  uint16_t prologue;        /* the first insns: on scalars alone, done once per run */
  uint8_t *columns;         /* k_column of each */
  uint8_t *scalars;         /* k_type of each */
  k_scalar *constants;
  k_insn *insns;
  uint8_t *totals;          /* k_reduce * 4 + k_type of each */
  uint8_t *arrays;          /* k_column of each: none of entities; perhaps ARRAY_OF_CELLS */
  uint8_t *lookups;         /* k_type of each */
  k_site *sites;
  uint32_t shared;          /* owners beside the first one, each of which frees it */
};

/* Whether running `p` can neither touch memory that no operand stands for, nor read a
** register or scalar before it is set, nor take a value for one of another type, nor leave
** a row half written. Looks at every field of *p except memory and shared; arrays must have the
** lengths said. */
bool program_check(const struct program *p);

typedef struct k_info {
  bool live;                      /* loads entity fields */
  bool fails;                     /* has instructions that can fail */
  uint32_t insns, registers;      /* per block */
  size_t scratch;                 /* bytes of block registers */
} k_info;
k_info program_info(const struct program *p);
bool program_reads(const struct program *p, uint32_t column);
bool program_writes(const struct program *p, uint32_t column);

/* The program as text, one instruction a line, into `out` (cut at `size`, always ended by
** '\0' when size > 0). Returns the length of the whole. */
size_t program_text(const struct program *p, char *out, size_t size);

void program_free(struct program *p);

#endif
