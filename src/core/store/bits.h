/* The bits of a word. */
#ifndef ECS_CORE_STORE_BITS_H
#define ECS_CORE_STORE_BITS_H

#include "core/base/base.h"

/* The lowest one that is set; there is one. */
static inline uint32_t bits_first(uint64_t word) {
#ifdef __GNUC__
  return (uint32_t)__builtin_ctzll(word);
#else
  uint32_t at = 0;
  while (!(word >> at & 1)) at++;
  return at;
#endif
}

static inline uint32_t bits_count(uint64_t word) {
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

#endif
