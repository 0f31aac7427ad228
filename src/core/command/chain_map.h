/* Which chain of staged commands an entity has. Those whose slots are near have it in an array by
** their indices, which is made when something is staged first: a hash map took three quarters of
** the time of staging. The others are in a map. */
#ifndef ECS_CORE_COMMAND_CHAIN_MAP_H
#define ECS_CORE_COMMAND_CHAIN_MAP_H

#include "core/ids/world.h"
#include "core/base/hash_map.h"
#include "core/ids/record.h"

/* Room for more chains, of whatever entities there are and are spawned meanwhile; false when out of
** memory. */
bool chain_map_reserve(struct memory *memory, struct chain_map *map,
                       const struct entity_index *index, uint64_t more);

/* An entity's chain by its index, or NONE. */
INLINE uint32_t chain_map_get(const struct chain_map *map, uint32_t entity) {
  uint32_t offset = entity - FIRST_ENTITY;
  if (LIKELY(offset < map->near_capacity)) return map->near[offset] - 1;
  return map_get(&map->others, entity);
}

INLINE void chain_map_put(struct chain_map *map, uint32_t entity, uint32_t chain) {
  uint32_t offset = entity - FIRST_ENTITY;
  if (LIKELY(offset < map->near_capacity))
    map->near[offset] = chain + 1;
  else
    map_put(&map->others, entity, chain);
}

/* Of a list whose items are so large, and begin with an entity's id: forgets these, which are all;
** whether they are found by their places, and nobody else is. */
void chain_map_clear(struct chain_map *map, const void *list, size_t size, uint32_t count);
bool chain_map_is_sound(const struct chain_map *map, const void *list, size_t size,
                        uint32_t count);
void chain_map_free(struct memory *memory, struct chain_map *map);

#endif
