/* How the loops over lanes are compiled. Included last, before the loops, by each file that
** holds some. A plain `gcc -O2` neither vectorises nor, without -std, keeps a * b + c apart
** (AVX-512 and ARM have fused instructions), so both are said here. */
#ifndef ecs_kernel_vector_h
#define ecs_kernel_vector_h

#include <math.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wpass-failed"
#define LANES \
  _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < n; i++)
#elif defined(__GNUC__)
#pragma GCC optimize ("O3,no-math-errno,no-trapping-math,fp-contract=off")
/* a result may be written over an operand, lane by lane */
#define LANES _Pragma("GCC ivdep") _Pragma("GCC unroll 2") for (size_t i = 0; i < n; i++)
#else
#define LANES for (size_t i = 0; i < n; i++)
#endif

#endif
