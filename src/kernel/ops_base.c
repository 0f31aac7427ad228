/* The loops for any machine of the architecture. */
#include "kernel/ops.h"
#ifdef ECS_KERNEL_X86
#include <immintrin.h>
#endif
#include "kernel/vector.h"

#define OPS ops_base
#define LEVEL 0
#include "kernel/ops.inc"
