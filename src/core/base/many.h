/* For loops over many rows. */
#ifndef ECS_CORE_BASE_MANY_H
#define ECS_CORE_BASE_MANY_H

#include <stdint.h>

/* Before a function with such loops, which gcc leaves scalar at -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#define LOOPS __attribute__((optimize("O3")))
#else
#define LOOPS
#endif

/* Says that what is there will be read soon. */
#if defined(__GNUC__)
#define FETCH(pointer) __builtin_prefetch(pointer)
#else
#define FETCH(pointer) ((void)(pointer))
#endif

/* Keeps the compiler from knowing what a number is: from replacing it by another one that a
** comparison has shown to be the same, and for which the processor would have to wait. */
#if defined(__GNUC__)
#define UNKNOWN(number) __asm__("" : "+r"(number))
#else
#define UNKNOWN(number) ((void)(number))
#endif

static inline uint32_t round_up(uint32_t n, uint32_t unit) {
  return (n + unit - 1) / unit * unit;
}

#endif
