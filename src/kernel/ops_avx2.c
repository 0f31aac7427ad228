/* The loops for AVX2. The target is that of all functions after the headers; theirs are
** inlined. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#include "kernel/ops.h"
#include "kernel/vector.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define NAMED(name) name##_avx2
#define LEVEL 1
#include "kernel/ops.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int ecs_kernel_no_avx2;  /* a file must not be empty */
#endif
