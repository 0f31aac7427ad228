#include "core/base/sets.h"

#include "core/base/hash_map.h"
#include "core/base/memory.h"

static uint32_t sets_map_home(const struct map *map, uint64_t key) {
  assert(map->capacity > 0 && (map->capacity & (map->capacity - 1)) == 0);
  return (uint32_t)hash_u64(key) & (map->capacity - 1);
}

/* The slot of the key, or the free one where it would go. */
static uint32_t sets_map_probe(const struct map *map, uint64_t key) {
  uint32_t at = sets_map_home(map, key);
  while (map->entries[at].key && map->entries[at].key != key)
    at = (at + 1) & (map->capacity - 1);
  return at;
}

uint32_t map_get(const struct map *map, uint64_t key) {
  assert(key);
  if (map->count == 0) return NONE;
  uint32_t at = sets_map_probe(map, key);
  return map->entries[at].key ? map->entries[at].value : NONE;
}

bool map_reserve(struct memory *memory, struct map *map, uint64_t more) {
  uint64_t need = ((uint64_t)map->count + more) * 4 / 3 + 1;
  if (need <= map->capacity) return true;
  uint64_t capacity = map->capacity ? map->capacity : 8;
  while (capacity < need) capacity *= 2;
  if (capacity > UINT32_MAX / 2) return false;
  struct map grown = {NULL, (uint32_t)capacity, 0};
  grown.entries = memory_array(memory, (size_t)capacity, sizeof *grown.entries);
  if (!grown.entries) return false;
  for (uint32_t i = 0; i < map->capacity; i++)
    if (map->entries[i].key) map_put(&grown, map->entries[i].key, map->entries[i].value);
  assert(grown.count == map->count && grown.count + more < grown.capacity);
  map_free(memory, map);
  *map = grown;
  return true;
}

void map_put(struct map *map, uint64_t key, uint32_t value) {
  assert(key && map->count < map->capacity);
  uint32_t at = sets_map_probe(map, key);
  if (!map->entries[at].key) map->count++;
  map->entries[at].key = key;
  map->entries[at].value = value;
}

void map_remove(struct map *map, uint64_t key) {
  assert(key && map->count > 0);
  uint32_t mask = map->capacity - 1;
  uint32_t hole = sets_map_probe(map, key);
  assert(map->entries[hole].key);
  map->count--;
  for (uint32_t at = (hole + 1) & mask; map->entries[at].key; at = (at + 1) & mask) {
    uint32_t wanted = sets_map_home(map, map->entries[at].key);
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;
    map->entries[hole] = map->entries[at];
    hole = at;
  }
  map->entries[hole].key = 0;
}

void map_clear(struct map *map) {
  if (map->count) memset(map->entries, 0, map->capacity * sizeof *map->entries);
  map->count = 0;
}

void map_free(struct memory *memory, struct map *map) {
  FREE_LIST(memory, map->entries, map->capacity);
  memset(map, 0, sizeof *map);
}

/* ---- merge sort ---- */

void merge_sort(const void **list, uint32_t n, bool (*precedes)(const void *, const void *)) {
  MERGE_SORT(const void *, list, list + n, n, a, b, precedes(a, b));
}
