/* Sets of ids as sorted arrays. */
#ifndef ECS_CORE_BASE_ID_SET_H
#define ECS_CORE_BASE_ID_SET_H

#include "core/base/base.h"

/* Whether an id is in a set; *at is where it is or would be. */
static inline bool id_set_find(const ecs_id *ids, uint32_t count, ecs_id id, uint32_t *at) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  *at = low;
  return low < count && ids[low] == id;
}

static inline bool id_set_has(const ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  return id_set_find(ids, count, id, &at);
}

/* Returns how many there are then; there is room for one more. */
static inline uint32_t id_set_insert(ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  if (id_set_find(ids, count, id, &at)) return count;
  memmove(ids + at + 1, ids + at, (count - at) * sizeof *ids);
  ids[at] = id;
  return count + 1;
}

static inline uint32_t id_set_remove(ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  if (!id_set_find(ids, count, id, &at)) return count;
  memmove(ids + at, ids + at + 1, (count - at - 1) * sizeof *ids);
  return count - 1;
}

#endif
