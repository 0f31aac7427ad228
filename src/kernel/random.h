/* Random numbers of kernels, for one row. */
#ifndef ECS_KERNEL_RANDOM_H
#define ECS_KERNEL_RANDOM_H

#include <stdint.h>

#include "core/base/base.h"
#include "kernel/math32.h"

/* Philox4x32-10; see k_random below. Included after vector.h. */

/* The first 64 of the 128 random bits. 32-bit words are kept in 64-bit lanes, where their
** products fit. */
static inline int64_t philox(uint64_t entity, uint64_t tick, uint64_t call,
                             uint64_t key0, uint64_t key1) {
  const uint64_t low = 0xffffffff;
  uint64_t x0 = entity & low, x1 = entity >> 32, x2 = tick & low, x3 = call & low;
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = x0 * 0xd2511f53, p1 = x2 * 0xcd9e8d57;
    x0 = (p1 >> 32) ^ x1 ^ key0;
    x2 = (p0 >> 32) ^ x3 ^ key1;
    x1 = p1 & low;
    x3 = p0 & low;
    key0 = (key0 + 0x9e3779b9) & low;
    key1 = (key1 + 0xbb67ae85) & low;
  }
  return (int64_t)(x0 | (x1 << 32));
}

/* The high half of x * y, both unsigned, in lanes that multiply 32 bits at a time. */
static inline uint64_t high_product(uint64_t x, uint64_t y) {
  const uint64_t low = 0xffffffff;
  const uint64_t a = (x & low) * (y & low), b = (x >> 32) * (y & low);
  const uint64_t c = (x & low) * (y >> 32), d = (x >> 32) * (y >> 32);
  const uint64_t middle = (a >> 32) + (b & low) + (c & low);
  return d + (b >> 32) + (c >> 32) + (middle >> 32);
}

/* 53 of the bits as a fraction, exactly as Lua makes its random floats. */
static inline double unit_of(int64_t bits) {
  return (of_bits(((uint64_t)bits >> 11 & 0xffffffff) | 0x4330000000000000) - 0x1p52
          + (of_bits(((uint64_t)bits >> 43) | 0x4530000000000000) - 0x1p84)) * 0x1p-53;
}

/* lo + floor(bits / 2^64 * width): all results are equally likely, up to 1 in 2^64 / width. */
static inline int64_t interval_of(int64_t bits, int64_t lo, int64_t hi) {
  const uint64_t width = (uint64_t)hi - (uint64_t)lo + 1;
  const uint64_t part = width == 0 ? (uint64_t)bits : high_product((uint64_t)bits, width);
  return (int64_t)((uint64_t)lo + part);
}

/* Counter-based random bits, equal in every tier: Philox4x32-10 of J. Salmon, M. Moraes,
** R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, with
** `seed` as key and (entity, tick, call) as counter, tick and call modulo 2^32. */
int64_t k_random(int64_t seed, int64_t tick, int64_t entity, int64_t call);
double k_random_unit(int64_t bits);                            /* [0, 1), 53 bits */
int64_t k_random_range(int64_t bits, int64_t lo, int64_t hi);  /* [lo, hi]; lo <= hi */

#endif
