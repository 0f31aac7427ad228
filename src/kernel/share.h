/* Threads that share a program's rows. They take blocks, or runs of blocks, in the order of the
** rows; the results are the same as with one thread. If a row can fail, and rows write to their
** columns or to other cells, a block's stores wait for its turn: until all blocks before it are
** known to be valid. A block's effects on other entities follow that order, too. */
#ifndef ECS_KERNEL_SHARE_H
#define ECS_KERNEL_SHARE_H

#include "core/base/memory.h"
#include "kernel/program.h"

struct pool;

/* How a program can be shared. */
struct sharing {
  const char *why_not;         /* NULL: it can be shared */
  uint16_t turn, passed;       /* blocks wait for their turn before one instruction, and pass it on
                               ** before another; */
  bool takes_turns;            /* false: they need not */
  bool serves;                 /* the caller carries out what rows note, as it may allocate */
  uint32_t weight;             /* of a row: about how many plain instructions */
};
struct sharing sharing_of(const struct program *p);

/* What the helping threads need, kept from run to run. */
struct helpers {
  struct machine **machines;
  uint32_t count;
  size_t room;                 /* room in each of them, for the largest program so far */
  struct column_buffer foldings;
};
void helpers_free(struct helpers *helpers, struct memory *memory);

/* Reserves room for a program in that many machines (always the same number), like the caller's
** own; false when out of memory. */
bool helpers_reserve(struct helpers *helpers, const struct machine *own, uint32_t count,
                     const struct program *p);

/* Whether a pool's threads can share rows at all: threads of the host cannot make requests to the
** caller. */
bool share_is_possible(const struct pool *pool, const struct sharing *sharing);

/* Whether sharing that many rows is worth it. The pool's history may change this, but no result. */
bool share_is_worth(const struct pool *pool, const struct sharing *sharing, size_t rows);

/* machine_over, on all threads that take part. K_ENOMEM: no memory for their machines; nothing was
** done. */
k_status share_run(struct helpers *helpers, struct machine *own, struct pool *pool,
                   const struct sharing *sharing, k_failure *failure);

/* How rows join a total. */

/* A total of one table while rows join it: instructions do so block by block, k_fold_row row by row
** for callers without a program. */
typedef struct k_folding {
  k_scalar part[16];
  uint64_t rows, nans;
  uint32_t row;      /* the next row, or the block's first */
  uint32_t first;    /* min and max: row of the value so far; while all are NaN, */
  bool found;        /* of all rows, if there is a value */
  uint32_t leaf;     /* sums: the leaf of the parts, */
  k_scalar leaves;   /* and the sum of the leaves before it; */
  double floats;     /* of i64, their sum as a float */
  int64_t key;       /* the key of that value */
} k_folding;
#define K_LEAF 1024u
void k_fold_begin(k_folding *f, k_reduce how, k_type type);
/* Adds the next row's value, which counts only if the row joins. */
void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins);
void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total);

#endif
