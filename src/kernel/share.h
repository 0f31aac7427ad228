/* Threads that share a program's rows. They take blocks, or runs of blocks, in the order of the
** rows; results are those of one thread. If a row can fail, and rows write to their columns or to
** other cells, a block's stores wait until all blocks before it are known to be valid: its turn. A
** block's effects on other entities follow that order, too. */
#ifndef ECS_KERNEL_SHARE_H
#define ECS_KERNEL_SHARE_H

#include "core/base/memory.h"
#include "kernel/program.h"

struct pool;

/* How a program can be shared. */
struct sharing {
  const char *why_not;         /* NULL: it can */
  uint16_t turn, passed;       /* blocks wait before one instruction, and let others pass before
                               ** another; */
  bool takes_turns;            /* or need not */
  bool serves;                 /* the caller gives what they note, since it may allocate */
  uint32_t weight;             /* of a row: its approximate number of plain instructions */
};
struct sharing sharing_of(const struct program *p);

/* What the other threads need: kept from run to run. */
struct helpers {
  struct machine **machines;
  uint32_t count;
  size_t room;                 /* of the largest program so far, in all of them */
  struct column_buffer foldings;
};
void helpers_free(struct helpers *helpers, struct memory *memory);

/* Reserves room for a program in that many machines (always the same number), like the caller's
** own; false when out of memory. */
bool helpers_reserve(struct helpers *helpers, const struct machine *own, uint32_t count,
                     const struct program *p);

/* Whether a pool's threads can share rows at all: a host's threads cannot make requests to the
** caller. */
bool share_is_possible(const struct pool *pool, const struct sharing *sharing);

/* Whether sharing that many rows is worth it. The pool's history may change this, but no result. */
bool share_is_worth(const struct pool *pool, const struct sharing *sharing, size_t rows);

/* As machine_over, on all threads that take part. K_ENOMEM: no memory for their machines; nothing
** was done. */
k_status share_run(struct helpers *helpers, struct machine *own, struct pool *pool,
                   const struct sharing *sharing, k_failure *failure);

/* How rows join a total. */

/* A total of one table while rows join it: instructions do so block by block, k_fold_row row by row
** for callers without a program. */
typedef struct k_folding {
  k_scalar part[16];
  uint64_t rows, nans;
  uint32_t row;      /* the next one, or the block's first */
  uint32_t first;    /* min and max: first row of the value so far; while all are NaN, */
  bool found;        /* of all, if there is one */
  uint32_t leaf;     /* sums: the leaf of the parts, */
  k_scalar leaves;   /* and the sum of the leaves before it; */
  double floats;     /* of i64, these as floats */
  int64_t key;       /* of that value */
} k_folding;
#define K_LEAF 1024u
void k_fold_begin(k_folding *f, k_reduce how, k_type type);
/* Adds the next row's value, which counts only if the row joins. */
void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins);
void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total);

#endif
