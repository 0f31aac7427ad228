#include "kernel/list.h"

#define MOST_ITEMS (UINT32_C(1) << 24)   /* of one list in a block */

bool items_grow(struct k_items *items, uint64_t need) {
  if (need > MOST_ITEMS) return false;
  uint32_t *grown = memory_grow(items->memory, items->items, &items->capacity, need,
                                sizeof *grown);
  if (grown) items->items = grown;
  return grown != NULL;
}

uint32_t *items_room(struct k_items *items, uint32_t more) {
  uint64_t need = (uint64_t)items->count + more;
  assert(more > 0 && items->count <= items->capacity && items->memory);
  if (need <= items->capacity) return items->items + items->count;
  if (!items->fixed) return items_grow(items, need) ? items->items + items->count : NULL;
  items->outgrown = need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
  return NULL;
}

void items_free(struct k_items *items) {
  memory_free(items->memory, items->items, items->capacity * sizeof *items->items);
}
