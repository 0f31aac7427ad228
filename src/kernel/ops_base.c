/* The loops for any machine of the architecture, and for the ordered part. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel/ops.h"
#include "kernel/machine.h"
#include "kernel/vector.h"

#define OPS ops_base
#define LIST_LOOPS list_base
#define LEVEL 0
#include "kernel/ops.inc"
#include "kernel/ops_rows.inc"
