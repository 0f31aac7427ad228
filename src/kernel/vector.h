/* How the loops over lanes are compiled. Included last, before the loops, by each file that has
** any. A plain `gcc -O2` neither vectorises nor, without -std, avoids contracting a * b + c
** (AVX-512 and ARM have fused instructions), so both are set here. */
#ifndef ECS_KERNEL_VECTOR_H
#define ECS_KERNEL_VECTOR_H

#include <math.h>
#include <string.h>

/* LANES begins a loop with independent lanes: a result may overwrite an operand, lane by lane.
** LONG_LANES is for loops that turn lanes into bytes, which are long already and not unrolled;
** SOME_LANES is for m lanes j. */
#define EACH_LANE for (size_t i = 0; i < n; i++)
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wpass-failed"
#define LANES _Pragma("clang loop vectorize(assume_safety)") EACH_LANE
#define LONG_LANES LANES
#define SOME_LANES(m) \
  _Pragma("clang loop vectorize(assume_safety)") for (size_t j = 0; j < (m); j++)
#elif defined(__GNUC__)
#pragma GCC optimize("O3,no-math-errno,no-trapping-math,fp-contract=off")
#define LANES _Pragma("GCC ivdep") _Pragma("GCC unroll 2") EACH_LANE
#define LONG_LANES _Pragma("GCC ivdep") EACH_LANE
#define SOME_LANES(m) _Pragma("GCC ivdep") for (size_t j = 0; j < (m); j++)
#else
#define LANES EACH_LANE
#define LONG_LANES LANES
#define SOME_LANES(m) for (size_t j = 0; j < (m); j++)
#endif

#endif
