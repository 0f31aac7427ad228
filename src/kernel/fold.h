/* How rows join a total. */
#ifndef ECS_KERNEL_FOLD_H
#define ECS_KERNEL_FOLD_H

#include "kernel/program.h"

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
