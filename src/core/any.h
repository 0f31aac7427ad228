/* Slots for values that only the host knows (`any` fields). A cell holds a slot's number; 0
** is no value. Each slot belongs to one cell. Released slots wait until the host has let go
** of their values. */
#ifndef ECS_CORE_ANY_H
#define ECS_CORE_ANY_H

#include "memory.h"

struct any_slots {
  uint32_t *next;       /* by slot, of the list it is in */
  uint32_t count;       /* slots made, slot 0 (none) included once there are any */
  uint32_t capacity;
  uint32_t free_head;
  uint32_t released_head;
  uint32_t used;
};

ecs_status any_take(struct any_slots *slots, struct memory *memory, uint32_t *slot);
void any_release(struct any_slots *slots, uint32_t slot);

/* The next released slot, free from now on, or 0. The host forgets its value. */
uint32_t any_next_released(struct any_slots *slots);
void any_free(struct any_slots *slots, struct memory *memory);

#endif
