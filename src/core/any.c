#include "any.h"

ecs_status any_take(struct any_slots *slots, struct memory *memory, uint32_t *slot) {
  if (slots->free_head) {
    *slot = slots->free_head;
    slots->free_head = slots->next[*slot];
    slots->used++;
    return ECS_OK;
  }
  uint32_t count = slots->count ? slots->count : 1;
  uint32_t *next = memory_grow(memory, slots->next, &slots->capacity, count + 1ull,
                               sizeof *next);
  if (!next) return ECS_ENOMEM;
  slots->next = next;
  slots->count = count + 1;
  slots->used++;
  *slot = count;
  return ECS_OK;
}

void any_release(struct any_slots *slots, uint32_t slot) {
  if (slot == 0) return;
  assert(slot < slots->count);
  slots->next[slot] = slots->released_head;
  slots->released_head = slot;
  slots->used--;
}

uint32_t any_next_released(struct any_slots *slots) {
  uint32_t slot = slots->released_head;
  if (slot == 0) return 0;
  slots->released_head = slots->next[slot];
  slots->next[slot] = slots->free_head;
  slots->free_head = slot;
  return slot;
}

void any_free(struct any_slots *slots, struct memory *memory) {
  memory_free(memory, slots->next, slots->capacity * sizeof *slots->next);
  memset(slots, 0, sizeof *slots);
}
