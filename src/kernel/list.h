/* Lists of items that rows go through in loops, each row its own: machines keep them from block to
** block. */
#ifndef ECS_KERNEL_LIST_H
#define ECS_KERNEL_LIST_H

#include "kernel/program.h"

struct k_items {
  struct memory *memory;
  uint32_t *items;
  uint32_t count, capacity;
  bool fixed;                  /* there is no other room, as this is no thread that allocates: */
  uint32_t outgrown;           /* how many there should have been room for, if there was not */
};

/* Where more items, at least one, can be written; NULL when there is no memory, or they are too
** many. */
uint32_t *items_room(struct k_items *items, uint32_t more);
/* Room for so many; false when there is no memory, or they are too many. */
bool items_grow(struct k_items *items, uint64_t need);
void items_free(struct k_items *items);

#endif
