/* The loops for AVX512 (F, DQ, BW, VL). The target is that of all functions after the headers;
** theirs are inlined. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>

#include "kernel/ops.h"
#include "kernel/vector.h"

#ifdef __clang__
#pragma clang attribute push( \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl")
#endif

#define NAMED(name) name##_avx512
#define LEVEL 2
#include "kernel/ops.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int ecs_kernel_no_avx512;  /* a file must not be empty */
#endif
