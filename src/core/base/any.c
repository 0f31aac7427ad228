#include "core/base/any.h"

#include "core/base/memory.h"

ecs_status any_take(struct any_slots *any, struct memory *memory, struct any_owner *owner,
                    uint32_t *slot) {
  if (any->free_head) {
    *slot = any->free_head;
    assert(*slot < any->count && !any->slots[*slot].owner);
    any->free_head = any->slots[*slot].next;
  } else {
    uint32_t count = any->count ? any->count : 1;
    if (!GROW(memory, any->slots, any->capacity, count + 1ull)) return ECS_ENOMEM;
    any->count = count + 1;
    any->slots[0].owner = NULL;
    *slot = count;
  }
  any->slots[*slot].owner = owner;
  any->used++;
  return ECS_OK;
}

void any_release(struct any_slots *any, uint32_t slot) {
  if (slot == 0) return;
  assert(slot < any->count && any->slots[slot].owner && any->used > 0);
  struct any_owner *owner = any->slots[slot].owner;
  any->slots[slot].next = owner->released_head;
  owner->released_head = slot;
  any->used--;
}

uint32_t any_next_released(struct any_slots *any, struct any_owner *owner) {
  uint32_t slot = owner->released_head;
  if (slot == 0) return 0;
  assert(slot < any->count && any->slots[slot].owner == owner);
  owner->released_head = any->slots[slot].next;
  any->slots[slot] = (struct any_slot){NULL, any->free_head};
  any->free_head = slot;
  return slot;
}
