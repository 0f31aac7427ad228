/* The loops for any machine of the architecture, and for the ordered part. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernel/ops.h"
#include "kernel/machine.h"
#include "kernel/vector.h"

#define NAMED(name) name##_base
#define LEVEL 0
#include "kernel/ops.inc"
#include "kernel/ops_rows.inc"
