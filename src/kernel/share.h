/* A program whose rows several threads share. They take blocks, or runs of blocks, in the order of
** the rows; results are those of one thread. Where a row can fail, and rows write to their columns
** or to others' cells, a block's stores wait until it is known of all blocks before it that they
** are sound: its turn. What blocks are to do to others is done in that order, too. */
#ifndef ECS_KERNEL_SHARE_H
#define ECS_KERNEL_SHARE_H

#include "core/base/memory.h"
#include "kernel/program.h"

struct pool;

/* How a program can be shared. */
struct sharing {
  const char *why_not;         /* NULL: it can */
  uint16_t turn, passed;       /* blocks wait before one instruction, let others go before one; */
  bool takes_turns;            /* or need not */
  bool serves;                 /* the calling thread does what they note down, as it may allocate */
  uint32_t weight;             /* of a row: about so many plain instructions */
};
struct sharing sharing_of(const struct program *p);

/* What threads beside the calling one need: kept from run to run. */
struct helpers {
  struct machine **machines;
  uint32_t count;
  size_t room;                 /* of the largest program so far, that all of them have */
  struct column_buffer foldings;
  size_t folding_room;
};
void helpers_free(struct helpers *helpers, struct memory *memory);

/* Room for a program in so many machines, the same number each time, like the caller's own; false
** when out of memory. */
bool helpers_reserve(struct helpers *helpers, const struct machine *own, uint32_t count,
                     const struct program *p);

/* Whether a pool's threads can share it at all: a host's cannot have the calling one do something
** for them. */
bool share_is_possible(const struct pool *pool, const struct sharing *sharing);

/* Whether so many rows are worth it. What a pool has done before may change that, and no result. */
bool share_is_worth(const struct pool *pool, const struct sharing *sharing, size_t rows);

/* As machine_over, on all threads that come. K_ENOMEM: there is no memory for their machines, and
** nothing was done. */
k_status share_run(struct helpers *helpers, struct machine *own, struct pool *pool,
                   const struct sharing *sharing, k_failure *failure);

/* How rows join a total. */

/* A total of one table while its rows join it: what instructions do block by block, and
** k_fold_row row by row, for who has no program. */
typedef struct k_folding {
  k_scalar part[16];
  uint64_t rows, nans;
  uint32_t row;      /* the next one, or the block's first */
  uint32_t first;    /* of min and max: the first row of the value so far; while all are NaN, */
  bool found;        /* of all, if there is one */
  uint32_t leaf;     /* of sums: which one the parts are of, */
  k_scalar leaves;   /* and what those before it came to; */
  double floats;     /* of i64, each of those as a float */
  int64_t key;       /* of that value */
} k_folding;
#define K_LEAF 1024u
void k_fold_begin(k_folding *f, k_reduce how, k_type type);
/* The next row's value, which counts only if the row joins. */
void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins);
void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total);

#endif
