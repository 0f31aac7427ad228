/* A hash map from nonzero 64-bit keys to 32-bit values: open addressing, linear probing,
** deletion by backward shift (Knuth, TAOCP 6.4, algorithm R). */
#ifndef ECS_CORE_BASE_HASH_MAP_H
#define ECS_CORE_BASE_HASH_MAP_H

#include "core/base/base.h"

struct memory;

struct map_entry {
  uint64_t key;
  uint32_t value;
};

struct map {
  struct map_entry *entries;
  uint32_t capacity;   /* a power of two, or 0 */
  uint32_t count;
};

static inline uint64_t hash_u64(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0x9E3779B97F4A7C15);
  return x ^ x >> 29;
}

/* NONE if the key is absent. */
uint32_t map_get(const struct map *map, uint64_t key);

/* Makes sure that `more` puts cannot fail; false when out of memory. */
bool map_reserve(struct memory *memory, struct map *map, uint64_t more);

/* Adds or replaces. */
void map_put(struct map *map, uint64_t key, uint32_t value);

/* Removes a key that is there. */
void map_remove(struct map *map, uint64_t key);
void map_clear(struct map *map);
void map_free(struct memory *memory, struct map *map);

#endif
