#include "kernel/list.h"

#define MOST_ITEMS (UINT32_C(1) << 22)   /* of one list in a block */

uint32_t *items_room(struct k_items *items, uint32_t more) {
  uint64_t need = (uint64_t)items->count + more;
  assert(more > 0 && items->count <= items->capacity && items->memory);
  if (need > items->capacity) {
    if (need > MOST_ITEMS) return NULL;
    uint32_t *grown = memory_grow(items->memory, items->items, &items->capacity, need,
                                  sizeof *grown);
    if (!grown) return NULL;
    items->items = grown;
  }
  return items->items + items->count;
}

void items_free(struct k_items *items) {
  memory_free(items->memory, items->items, items->capacity * sizeof *items->items);
}
