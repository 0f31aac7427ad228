/* Slots for values that only a host knows (`any` fields). A cell holds a slot's number; 0 is no
** value. Each slot belongs to one cell, and to the owner who has taken it: nobody else can tell
** what is in it. Released slots wait until their owner has let go of their values. */
#ifndef ECS_CORE_BASE_ANY_H
#define ECS_CORE_BASE_ANY_H

#include <stdint.h>

#include "core/base/base.h"

struct memory;

/* Who has any slots: see any.h. */

/* Zero before its first slot. It outlives them: when it goes, it releases those it has and takes
** them back by any_next_released. */
struct any_owner {
  uint32_t released_head;
};

struct any_slot {
  struct any_owner *owner;   /* NULL: it is free */
  uint32_t next;             /* of the list it is in */
};

struct any_slots {
  struct any_slot *slots;
  uint32_t count;       /* slots made, slot 0 (none) included once there are any */
  uint32_t capacity;
  uint32_t free_head;
  uint32_t used;
};

ecs_status any_take(struct any_slots *any, struct memory *memory, struct any_owner *owner,
                    uint32_t *slot);
void any_release(struct any_slots *any, uint32_t slot);

/* The owner's next released slot, free from now on, or 0. The owner forgets its value. */
uint32_t any_next_released(struct any_slots *any, struct any_owner *owner);
void any_free(struct any_slots *any, struct memory *memory);

static inline bool any_is_of(const struct any_slots *any, uint32_t slot,
                             const struct any_owner *owner) {
  assert(slot == 0 || slot < any->count);
  return slot != 0 && any->slots[slot].owner == owner;
}

#endif
