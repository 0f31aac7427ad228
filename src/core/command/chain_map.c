#include "core/command/chain_map.h"

#include "core/base/memory.h"

/* What is near now leaves the map. */
static void take_near(struct chain_map *map) {
  for (uint32_t i = 0; i < map->others.capacity && map->others.count; i++) {
    struct map_entry entry = map->others.entries[i];
    if (!entry.key || entry.key - FIRST_ENTITY >= map->near_capacity) continue;
    map->near[entry.key - FIRST_ENTITY] = entry.value + 1;
    map_remove(&map->others, entry.key);
    i--;                       /* another one may have come there */
  }
}

static bool cover_near(struct memory *memory, struct chain_map *map, uint32_t wanted) {
  uint32_t *grown = memory_array(memory, wanted, sizeof *grown);
  if (!grown) return false;
  memset(grown, 0, wanted * sizeof *grown);
  if (map->near_capacity) memcpy(grown, map->near, map->near_capacity * sizeof *grown);
  memory_free(memory, map->near, map->near_capacity * sizeof *grown);
  assert(wanted > map->near_capacity);
  map->near = grown;
  map->near_capacity = wanted;
  take_near(map);
  return true;
}

bool chain_map_reserve(struct memory *memory, struct chain_map *map,
                       const struct entity_index *index, uint64_t more) {
  bool covered = map->near_capacity >= index->near_capacity;
  if (UNLIKELY(more && !covered) && !cover_near(memory, map, index->near_capacity)) return false;
  return map_reserve(memory, &map->others, more);
}

static uint32_t index_at(const void *list, size_t size, uint32_t nth) {
  ecs_id entity;
  memcpy(&entity, (const char *)list + nth * size, sizeof entity);
  return ecs_id_index(entity);
}

/* Where there are many all of the array is cleared at once. */
void chain_map_clear(struct chain_map *map, const void *list, size_t size, uint32_t count) {
  bool many = map->near && count > map->near_capacity / 16;
  if (many) memset(map->near, 0, map->near_capacity * sizeof *map->near);
  for (uint32_t i = 0; i < count && !many; i++) {
    uint32_t offset = index_at(list, size, i) - FIRST_ENTITY;
    if (offset < map->near_capacity) map->near[offset] = 0;
  }
  if (map->others.count) map_clear(&map->others);
}

/* Of entities that had an index one after the other the last one is found. */
bool chain_map_is_sound(const struct chain_map *map, const void *list, size_t size,
                        uint32_t count) {
  uint32_t near = 0, newest = 0;
  for (uint32_t i = 0; i < map->near_capacity; i++) near += map->near[i] != 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t entity = index_at(list, size, i), at = chain_map_get(map, entity);
    if (at < i || at >= count || index_at(list, size, at) != entity) return false;
    newest += at == i;
  }
  return near + map->others.count == newest;
}

void chain_map_free(struct memory *memory, struct chain_map *map) {
  memory_free(memory, map->near, map->near_capacity * sizeof *map->near);
  map_free(memory, &map->others);
}
