/* The bits of a word. */
#ifndef ECS_CORE_BASE_BITS_H
#define ECS_CORE_BASE_BITS_H

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

/* Those of eight bytes, each 0 or 1, the first one lowest. */
static inline uint64_t bits_of_bytes(const uint8_t *bytes) {
  uint64_t all = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&all, bytes, 8);
#else
  for (int i = 0; i < 8; i++) all |= (uint64_t)bytes[i] << (8 * i);
#endif
  return all * UINT64_C(0x0102040810204080) >> 56;
}

#endif
