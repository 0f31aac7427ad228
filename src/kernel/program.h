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

/* The processor instructions that programs use. */

/* Instruction sets. Results do not depend on them. K_BASE is what the compiler makes for any
** machine of the architecture (SSE2 on x86-64). */
typedef enum k_isa { K_BASE, K_AVX2, K_AVX512, K_ISAS } k_isa;
/* Whether this build and this machine have an instruction set. */
bool isa_supported(k_isa isa);
k_isa isa_best(void);
const char *isa_name(k_isa isa);    /* "sse2" (or "base"), "avx2", "avx512" */
int isa_named(const char *name);    /* a k_isa, or -1 */

typedef enum k_status {
  K_OK,
  K_ENOMEM,  /* the allocator refused */
  K_ELIMIT,  /* too many values, columns or registers: the function stays in Lua */
  K_EINVAL,  /* the caller's mistake: unsuitable operands, or a value outside its loop */
  K_SHARED,  /* folded cells are also accessed in another way: see build_fold */
  K_FAILED   /* a row failed (machine_run only) */
} k_status;

/* Types of values. KT_CELL: the address of a cell, of one type of columns, or none. */
typedef enum k_type { KT_BOOL, KT_F32, KT_F64, KT_I64, KT_CELL } k_type;

/* Types of columns. Narrow integers are i64 once loaded; enums are u8 or u16 columns; references to
** strings and `any` are not loaded. A bool column holds 0 and 1. An entity is loaded as i64, 0 if
** it is dead. */
typedef enum k_column {
  KC_BOOL, KC_F32, KC_F64, KC_I64,
  KC_I8, KC_I16, KC_I32, KC_U8, KC_U16, KC_U32,
  KC_ENTITY,
  KC_COUNT,
  KC_CELLS = 0x40   /* | a type up to KC_U32: addresses of cells of that type */
} k_column;

/* The address of a cell; NULL: none. */
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

/* How rows join a total. KR_FLOATS: rows do not; it is the previous total, a sum of i64, with each
** leaf added as an f64, which equals the sum of the rows as f64 if every leaf stays below 2^53. */
typedef enum k_reduce { KR_SUM, KR_MIN, KR_MAX, KR_FLOATS } k_reduce;

/* ---- running ---- */

/* What one thread needs to run programs, one at a time. */
struct machine *machine_new(struct memory *memory, k_isa isa);   /* NULL: no memory */
void machine_free(struct machine *m);

/* Makes room for `p`; K_OK or K_ENOMEM. Needed once per program and machine: after that, running
** allocates nothing. A machine with room for one program has room for every other with a
** machine_room, in bytes, that is no larger. */
k_status machine_reserve(struct machine *m, const struct program *p);
size_t machine_room(const struct program *p);

/* Why and where a row failed. */
typedef enum k_error {
  KE_NONE,
  KE_IDIV,      /* i64 // 0 */
  KE_MOD,       /* i64 % 0 */
  KE_FMOD,      /* math.fmod(i64, 0) */
  KE_INTEGER,   /* a float without an integer representation */
  KE_FRACTION,  /* a float without an integer value, for an integer field */
  KE_RANGE,     /* an integer out of its field's range */
  KE_EMPTY,     /* the interval of a random number is empty */
  KE_ABSENT,    /* an index without an element: `value` is the index */
  KE_NIL,       /* an absent value was needed */
  KE_DEAD,      /* an order cannot be carried out: its entity is not alive */
  KE_ROOM,      /* no room for notes or lists */
  KE_ROUNDS,    /* a loop needs more rounds than are allowed: build_give_up */
  KE_ROW        /* from OP_ROWS: the instruction that failed says more */
} k_error;

typedef struct k_failure {
  size_t row;
  uint32_t tag;
  k_error error;
} k_failure;

/* Result of a reduction. The caller zeroes it before the first table and hands it to the run of
** each table in query order. Sums: 16 partial sums for each leaf of 1,024 rows of a table (row i
** into partial i mod 16), added pairwise (0 with 8, 1 with 9 ...; then 0 with 4 ...); those of the
** leaves are added in their order, then to the total; i64 sums wrap. min and max leave NaN out
** unless there is nothing else, and treat -0.0 as less than 0.0. `rows` counts the rows that
** joined. For min and max a run says whether the value is now one of its own, the first row that
** has it, and which run that was, so that totals of the same runs can be compared. */
typedef struct k_total {
  uint64_t rows;
  k_scalar value;
  uint64_t entity;   /* set by callers that run tables: the row's entity */
  uint32_t row;
  uint32_t runs, run;   /* number of runs; the run of the value, from 1 */
  bool won;
  struct k_folding *part;   /* or NULL: receives the totals before a failed row */
} k_total;

/* Replaces the ids of dead entities by 0; in rows outside the mask, unless it is NULL, the result
** is undefined. */
typedef void (*k_live)(void *ud, int64_t *ids, const uint8_t *mask, size_t n);

/* Finds n values by lookup `number` for `from`, which may be `to`: uint8_t, float, double or
** int64_t, by the lookup's type. In rows outside the mask, unless it is NULL, they are
** undefined. */
typedef void (*k_look)(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask,
                       void *to, size_t n);

/* The items of a list that belong to a row: where they begin, and their number. */
typedef struct k_span {
  uint32_t first, count;
} k_span;

#define LIST_ARGUMENTS 6u

/* Items for n rows, listed row by row: rows outside the mask, unless it is NULL, have none. */
typedef struct k_listing {
  void *const *arguments;   /* LIST_ARGUMENTS columns of double or int64_t. Further results for a
                            ** row go to one that is not used as an argument */
  const uint8_t *mask;
  k_span *spans;            /* of each row, even without items */
  struct k_items *items;    /* empty at first */
  const struct list_loops *loops;   /* list.h */
} k_listing;

/* Lists items for list `number`. Returns n, or the first row of the mask for which there is no
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
  const uint64_t *start;      /* as many words: the rows to run, if the program starts with them */
  k_total *totals;            /* by index */
  k_live live;                /* needed if program_info.live */
  void *live_ud;
  const k_array *arrays;      /* by index */
  k_look look;                /* needed if there are lookups */
  void *look_ud;
  k_list list;                /* needed if there are lists */
  void *list_ud;
  const struct k_orders *orders;   /* build.h; needed if there are orders */
} k_run;

/* Opens the machine for `p` with the current uniforms. Both, and everything the run points to, must
** stay in place meanwhile; rows, columns, bitmaps, start and totals may change from table to table.
** K_EINVAL if the machine has no room for `p` (machine_reserve). */
k_status machine_open(struct machine *m, const struct program *p, const k_run *run);

/* Runs the open program over one table. K_OK, or K_FAILED: then *failure says why, the rows before
** the failed one are written completely and no others, bitmaps mark only rows before it, and totals
** are unchanged; to continue, open the program again. */
k_status machine_over(struct machine *m, k_failure *failure);

/* machine_open and machine_over, for one table. */
k_status machine_run(struct machine *m, const struct program *p, const k_run *run,
                     k_failure *failure);

/* Iterates over the commands marked by a run, by row and then by index. Start with {0, 0}; false
** when there are no more. */
typedef struct k_cursor {
  size_t row;
  uint32_t index;
} k_cursor;
bool k_commands_next(uint64_t *const *bitmaps, uint32_t count, size_t rows, k_cursor *at,
                     size_t *row, uint32_t *index);

/* The functions behind instructions on f32, for a single value; within 2 ulp. */
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

/* One instruction. Operands are numbered consecutively: the columns, the block registers of 1, 4
** and 8 bytes a lane, the scalars, the mask of every row, the bitmaps, the totals, the bits of the
** rows to start with, the arrays, the lookups, the sites, and the lists, each followed by its
** arguments. Signatures in ops.def list an instruction's operands. */
typedef struct k_insn {
  uint16_t op, dst, a, b, c, d;
  uint32_t tag;
} k_insn;

#define K_NO_OPERAND 0xffff

#define K_SITES 128   /* limit */

/* A place where rows note an order. */
typedef struct k_site {
  uint8_t order, type;         /* the order's number; the k_type of its value */
  uint8_t cell;                /* 1 + the k_column of the cell that the order may set, or 0 */
  uint32_t tag;
} k_site;

/* The number of the first operand of each kind; columns begin at 0. */
struct numbering {
  uint32_t reg1, reg4, reg8, scalars, all, bitmaps, totals, start, arrays, lookups, sites,
      lists, count;
};

/* How many cells are prefetched, and how many rows ahead. */
enum { ROWS_FETCHED = 4, ROWS_AHEAD = 16 };

/* The layout of a machine's buffer, in bytes: the mask of all rows comes first. */
struct program_layout {
  uint32_t at;              /* the operands' addresses */
  uint32_t scalars, kept;   /* the scalars, and room for a copy of them */
  uint32_t totals, notes;
  uint32_t stores, waiting; /* stores that a row can undo, and its orders */
  uint32_t lists;           /* lists with their arguments */
  uint32_t reg1, reg4, reg8;
  uint32_t copies;          /* copies of columns used in the ordered part: */
  uint64_t copied[256 / 64];    /* bits of these columns */
  uint32_t fetch_count, fetched[ROWS_FETCHED];   /* cells known before rows reach them */
  uint32_t dense;           /* lanes of gathered rows */
  uint32_t end;
  uint32_t apart;           /* bytes between registers if rows run one by one: otherwise they would
                            ** all share one set of the first-level cache */
  uint32_t row;             /* bytes of a row's columns */
  uint32_t unfolds;         /* the first instruction that undoes a fold, if there is one */
  bool undoes;              /* ordered rows can fail after a store */
  bool plain;               /* no bitmaps, totals, notes or start; after the prologue there are only
                            ** loops over a block's rows */
  struct numbering numbers;
};

/* What may differ between programs that pass the check. Public so that the checker can be tested
** with programs that the builder would not make. */
struct program {
  struct memory *memory;    /* to which it belongs */
  uint16_t column_count;
  uint16_t reg1_count, reg4_count, reg8_count;  /* block registers of 1, 4, 8 bytes a lane */
  uint16_t scalar_count;
  uint16_t uniform_count;   /* the first scalars are the uniforms, */
  uint16_t constant_count;  /* then the constants, then computed ones */
  uint16_t bitmap_count, total_count, array_count, lookup_count, site_count;
  uint16_t list_count, fold_count;
  uint16_t block;           /* rows per block: a multiple of 64, at most K_BLOCK */
  uint16_t whole;           /* 1: no block registers or lists, so blocks may be longer */
  uint16_t starts;          /* 1: for the rows in k_run.start; blocks without any are skipped */
  uint16_t insn_count;
  uint16_t row_count;       /* of `rows`: 0, or one more than there are instructions */
  uint16_t prologue;        /* number of first insns that use only scalars and run once */
  k_insn *insns;
  k_scalar *constants;
  struct program_layout layout;   /* set by program_lay_out from the other members */
  struct row_insn *rows;    /* the ordered part, made by program_lay_out */
  uint64_t loose;           /* a bit for each array: see build_loose */
  uint8_t *columns;         /* k_column of each */
  uint8_t *scalars;         /* k_type of each */
  uint8_t *totals;          /* k_reduce * 4 + k_type of each */
  uint8_t *arrays;          /* k_column of each, never of entities */
  uint8_t *lookups;         /* k_type of each; or KC_CELLS | k_column */
  uint8_t *folds;           /* k_column of the cells of each */
  k_site *sites;
};

/* Whether `p` can be run safely: it cannot touch memory outside its operands, read an unset
** register or scalar, confuse types, or leave a row half written. Checks every field of *p except
** memory and layout; arrays must have the stated lengths. */
bool program_check(const struct program *p);

/* Computes, once, what machines need to know about a checked program. */
void program_lay_out(struct program *p);

typedef struct k_info {
  bool live;                      /* loads entity fields */
  bool fails;                     /* has instructions that can fail */
  bool stores;                    /* writes to cells, in the order of rows */
  bool loops;                     /* has loops within a row */
  uint32_t ordered;               /* number of ordered instructions */
  uint32_t insns;                 /* per block */
  size_t scratch;                 /* bytes of block registers */
} k_info;
k_info program_info(const struct program *p);
bool program_reads(const struct program *p, uint32_t column);
bool program_writes(const struct program *p, uint32_t column);

/* Writes the program as text, one instruction a line, into `out` (cut at `size`, always ended by
** '\0' when size > 0). Returns the length of the whole. */
size_t program_text(const struct program *p, char *out, size_t size);

void program_free(struct program *p);

#endif
