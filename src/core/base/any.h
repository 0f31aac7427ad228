/* Slots for values that only a host understands (`any` fields). A cell holds the number of a slot;
** 0 is no value. Each slot belongs to one cell and to the owner that took it, which alone knows its
** value. Released slots wait until their owner has dropped their values. */
#ifndef ECS_CORE_BASE_ANY_H
#define ECS_CORE_BASE_ANY_H

#include <stdint.h>

#include "core/base/base.h"

struct memory;

/* Owners of any slots. */

/* All zero before its first slot. Outlives its slots: before it is freed, it releases those it has
** and takes them back with any_next_released. */
struct any_owner {
  uint32_t released_head;
};

struct any_slot {
  struct any_owner *owner;   /* NULL: free */
  uint32_t next;             /* next slot in its list */
};

struct any_slots {
  struct any_slot *slots;
  uint32_t count;       /* slots made, including slot 0 once there are any */
  uint32_t capacity;
  uint32_t free_head;
  uint32_t used;
};

ecs_status any_take(struct any_slots *any, struct memory *memory, struct any_owner *owner,
                    uint32_t *slot);
void any_release(struct any_slots *any, uint32_t slot);

/* The owner's next released slot, which is free from now on, or 0. The owner drops its value. */
uint32_t any_next_released(struct any_slots *any, struct any_owner *owner);

static inline bool any_is_of(const struct any_slots *any, uint32_t slot,
                             const struct any_owner *owner) {
  assert(slot == 0 || slot < any->count);
  return slot != 0 && any->slots[slot].owner == owner;
}

#endif
