/* The loops for any machine of the architecture. */
#include "ops.h"
#ifdef ECS_KERNEL_X86
#include <immintrin.h>
#endif
#include "vector.h"

#define OPS ops_base
#define LEVEL 0
#include "ops.inc"
