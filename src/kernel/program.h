/* Typed column programs: what a kernel is compiled to, and what runs it.
**
** A program is a straight list of instructions, each done for a block of rows before the
** next one starts: build.h makes it. A machine runs it over the columns of one table. Nothing here
** knows Lua.
*/
#ifndef ECS_KERNEL_PROGRAM_H
#define ECS_KERNEL_PROGRAM_H

#include <math.h>

#include "core/base/base.h"
#include "core/base/memory.h"

struct machine;
struct program;
struct row_insn;

/* Which instructions of the processor programs use. */

/* Instruction sets. Results do not depend on them. K_BASE is what the compiler makes for
** any machine of the architecture (SSE2 on x86-64). */
typedef enum k_isa { K_BASE, K_AVX2, K_AVX512, K_ISAS } k_isa;
/* Whether this build and this machine have it. */
bool isa_supported(k_isa isa);
k_isa isa_best(void);
const char *isa_name(k_isa isa);    /* "sse2" (else "base"), "avx2", "avx512" */
int isa_named(const char *name);    /* a k_isa, or -1 */

typedef enum k_status {
  K_OK,
  K_ENOMEM,  /* the allocator refused */
  K_ELIMIT,  /* too many values, columns, registers: the function stays Lua */
  K_EINVAL,  /* the caller's mistake: operands that do not fit, a value out of its loop */
  K_SHARED,  /* cells are folded, and got at beside: see build_fold */
  K_FAILED   /* a row failed (machine_run only) */
} k_status;

/* Types of values. KT_CELL: where a cell is, of one type of columns, or nowhere. */
typedef enum k_type { KT_BOOL, KT_F32, KT_F64, KT_I64, KT_CELL } k_type;

/* Types of columns. Narrow integers are i64 once loaded; enums are u8 or u16 columns and
** strings' and `any`s' references are not loaded at all. A bool column holds 0 and 1.
** An entity is loaded as i64: as 0 when its target is dead. */
typedef enum k_column {
  KC_BOOL, KC_F32, KC_F64, KC_I64,
  KC_I8, KC_I16, KC_I32, KC_U8, KC_U16, KC_U32,
  KC_ENTITY,
  KC_COUNT,
  KC_CELLS = 0x40   /* | a type up to KC_U32: where cells of that type are */
} k_column;

/* Where a cell is; NULL: nowhere. */
typedef union k_cell {
  void *at;
  uint64_t room;
} k_cell;

typedef union k_scalar {
  double f64;
  float f32;
  int64_t i64;
  uint8_t b;      /* 0 or 1 */
} k_scalar;

/* How rows join a total. KR_FLOATS: none does, but it is the total before it, a sum of i64, with
** each leaf added as an f64: the sum of the rows as f64, where a leaf comes to less than 2^53. */
typedef enum k_reduce { KR_SUM, KR_MIN, KR_MAX, KR_FLOATS } k_reduce;

/* ---- running ---- */

/* What one thread needs to run programs. One run at a time. */
struct machine *machine_new(struct memory *memory, k_isa isa);   /* NULL: no memory */
void machine_free(struct machine *m);

/* Makes room for `p`; K_OK or K_ENOMEM. Done once per program and machine: running it
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
  KE_ROOM,      /* there is no room to note down what rows do to others, or whom they look at */
  KE_ROUNDS,    /* a loop has more rounds than programs do: build_give_up */
  KE_ROW        /* of OP_ROWS: whatever an instruction in it says */
} k_error;

typedef struct k_failure {
  size_t row;
  uint32_t tag;
  k_error error;
  k_type type;     /* of `value`: what was to be converted, stored or divided */
  k_scalar value;
} k_failure;

/* Result of a reduction. The caller zeroes it before the first table and hands it to the
** run of each table in query order. Sums: 16 partial sums for each leaf of 1,024 rows of a table
** (row i into partial i mod 16), added pairwise (0 with 8, 1 with 9 ...; then 0 with 4 ...); those
** of the leaves are added in their order, then to the total; i64 sums wrap. min and max leave NaN
** out unless there is nothing else, and hold -0.0 to be less than 0.0. `rows` counts the rows
** that joined. For min and max a run says whether the value is now one of its own, the first
** row that has it, and which run that was, so that totals of the same runs can be compared. */
typedef struct k_total {
  uint64_t rows;
  k_scalar value;
  uint64_t entity;   /* for who runs tables: that row's */
  uint32_t row;
  uint32_t runs, run;   /* how many there were; that of the value, from 1 */
  bool won;
  struct k_folding *part;   /* or NULL: gets what rows before one that fails came to */
} k_total;

/* Puts 0 in place of ids whose entity is dead; of rows that are not in the mask, unless it is NULL,
** nobody looks at them. */
typedef void (*k_live)(void *ud, int64_t *ids, const uint8_t *mask, size_t n);

/* Finds n values by lookup `number`, for `from`, which may be where `to` is: uint8_t, float, double
** or int64_t, by the lookup's type. Rows that are not in the mask, unless it is NULL, get any. */
typedef void (*k_look)(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask,
                       void *to, size_t n);

/* Which items of a list are a row's: where they begin, and how many there are. */
typedef struct k_span {
  uint32_t first, count;
} k_span;

#define LIST_ARGUMENTS 6u

/* Items for n rows, to be listed one row after the other: of rows that are not in the mask, unless
** it is NULL, there are none. */
typedef struct k_listing {
  void *const *arguments;   /* LIST_ARGUMENTS columns of double or int64_t. What is said of a row
                            ** beside its items is put into one in which nothing is given */
  const uint8_t *mask;
  k_span *spans;            /* of each row, in any case */
  struct k_items *items;    /* list.h: none so far */
  const struct list_loops *loops;   /* list.h */
} k_listing;

/* Lists them for list `number`. Returns n, or the first row of the mask for whose items there is no
** room. */
typedef size_t (*k_list)(void *ud, uint32_t number, const k_listing *listing, size_t n);

/* An array: at least one element. Rows may write to it. */
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
  k_list list;                /* needed when there are lists */
  void *list_ud;
  const struct k_orders *orders;   /* build.h; needed by programs that have some */
} k_run;

/* From now on the machine runs `p`, with the uniforms as they are now. Both, and all that the run
** points to, stay where they are while it does; what rows, columns, bitmaps, start and totals are
** may change from table to table. K_EINVAL when the machine has no room for `p`
** (machine_reserve). */
k_status machine_open(struct machine *m, const struct program *p, const k_run *run);

/* Where the machine that has been opened keeps the columns of a table: who puts them there gives
** that as the run's `columns`, anew for each table. */
void **machine_columns(const struct machine *m);

/* Runs it over one table. K_OK, or K_FAILED: then *failure says why, rows before the
** failing one are written whole, no other is, bitmaps mark only rows before it, and
** totals are as they were; to go on it is opened again. */
k_status machine_over(struct machine *m, k_failure *failure);

/* Both, for one table. */
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

/* The functions that instructions on f32 use, for one value; within 2 ulp. */
float k_sin(float x);
float k_cos(float x);
float k_exp(float x);
float k_log(float x);

/* The functions of ecs.math: within 1 ulp, and the same bits everywhere; every NaN is the same.
** pow and mod have the special cases of C's pow and fmod, and atan those of atan2. mod is exact. */
double portable_acos(double x);
double portable_asin(double x);
double portable_atan(double y, double x);
double portable_cos(double x);
double portable_exp(double x);
double portable_log(double x);
double portable_log10(double x);
double portable_log2(double x);
double portable_mod(double x, double y);
double portable_pow(double x, double y);
double portable_sin(double x);
double portable_tan(double x);

/* ---- programs ---- */

#define K_BLOCK 1024  /* most rows in a block; a program may use fewer */

/* One instruction. Its operands are numbers, counted through: first the columns, then the
** block registers of 1, of 4 and of 8 bytes a lane, then the scalars, the mask of every
** row, the bitmaps, the totals, the bits of the rows to start with, the arrays, the lookups, the
** sites, the lists, each with its arguments behind it. What an instruction takes is said by its
** signature in ops.def. */
typedef struct k_insn {
  uint16_t op, dst, a, b, c, d;
  uint32_t tag;
} k_insn;

#define K_NO_OPERAND 0xffff

#define K_SITES 128   /* most of them */

/* A place where rows note down an order. */
typedef struct k_site {
  uint8_t order, type;         /* its number; the k_type of its value */
  uint8_t cell;                /* 1 + the k_column of the cell that it may set, or 0 */
  uint32_t tag;
} k_site;

/* The number of the first operand of each kind; columns begin at 0. */
struct numbering {
  uint32_t reg1, reg4, reg8, scalars, all, bitmaps, totals, start, arrays, lookups, sites,
      lists, count;
};

/* Of how many cells those of so many rows ahead are asked for. */
enum { ROWS_FETCHED = 4, ROWS_AHEAD = 16 };

/* What is where in a machine's buffer, in bytes: the mask of all rows is at its beginning. */
struct program_layout {
  uint32_t at;              /* the addresses of operands */
  uint32_t scalars, kept;   /* and room for them once more */
  uint32_t totals, notes;
  uint32_t stores, waiting; /* what rows can undo, and what they order */
  uint32_t lists;           /* with their arguments */
  uint32_t reg1, reg4, reg8;
  uint32_t copies;          /* of columns that what is done in the order of rows takes: those of */
  uint64_t copied[256 / 64];    /* these bits */
  uint32_t fetch_count, fetched[ROWS_FETCHED];   /* cells that are known before rows come to them */
  uint32_t end;
  uint32_t apart;           /* bytes between registers, where rows go from one to the next: they
                            ** would all be in one set of the first cache */
  uint32_t row;             /* bytes of a row's columns */
  uint32_t unfolds;         /* the first instruction that undoes folds, of those that have some */
  bool undoes;              /* rows that are done in order can fail behind what they have stored */
  bool plain;               /* it has no bitmaps, totals, notes or start, and no instruction behind
                            ** the prologue but those that are loops over a block's rows */
  struct numbering numbers;
};

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
  uint16_t list_count, fold_count;
  uint16_t block;           /* rows per block: a multiple of 64, at most K_BLOCK */
  uint16_t whole;           /* 1: has no block registers and lists, so that blocks may be longer */
  uint16_t starts;          /* 1: is for some rows, k_run.start; blocks without any are skipped */
  uint16_t insn_count;
  uint16_t row_count;       /* of `rows`: none, or one more than instructions */
  uint16_t prologue;        /* the first insns: on scalars alone, done once per run */
  k_insn *insns;
  k_scalar *constants;
  struct program_layout layout;   /* as program_lay_out has set it, of the other members */
  struct row_insn *rows;    /* what is done in the order of rows, as program_lay_out has it */
  uint8_t *columns;         /* k_column of each */
  uint8_t *scalars;         /* k_type of each */
  uint8_t *totals;          /* k_reduce * 4 + k_type of each */
  uint8_t *arrays;          /* k_column of each: none of entities */
  uint8_t *lookups;         /* k_type of each; or KC_CELLS | k_column */
  uint8_t *folds;           /* k_column of the cells of each */
  k_site *sites;
  uint32_t shared;          /* owners beside the first one, each of which frees it */
};

/* Whether running `p` can neither touch memory that no operand stands for, nor read a
** register or scalar before it is set, nor take a value for one of another type, nor leave
** a row half written. Looks at every field of *p except memory, layout and shared; arrays must have
** the lengths said. */
bool program_check(const struct program *p);

/* Finds out what machines need to know of a program that passes the check, once. */
void program_lay_out(struct program *p);

typedef struct k_info {
  bool live;                      /* loads entity fields */
  bool fails;                     /* has instructions that can fail */
  bool stores;                    /* puts values into cells, in the order of rows */
  uint32_t ordered;               /* instructions that are done in the order of rows */
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
