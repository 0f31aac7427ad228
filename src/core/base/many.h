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

/* Comes from one number of a list to its next one. Most lists go on at one distance, by `step`,
** which is 0 at first: the processor does so, too, while the number is on its way. */
static inline uint32_t stride_to(uint32_t from, uint32_t to, uint32_t *step) {
  uint32_t expected = from + *step, at = expected;
  UNKNOWN(at);
  if (to == expected) return at;
  *step = to - from;
  return to;
}

static inline uint32_t round_up(uint32_t n, uint32_t unit) {
  return (n + unit - 1) / unit * unit;
}

#endif
