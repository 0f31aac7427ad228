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

/* What of it is compiled for each instruction set. */
struct list_loops {
  /* By axes, two or three: those of some rows whose squares of distances to a place are not above
  ** `most`, in their order; `to` has room for all of them. How many there are. */
  uint32_t (*near[2])(const double *const *axes, const double *at, double most, uint32_t row,
                      uint32_t end, uint32_t *to);
  /* Of n spans which item is their so-and-so-many-th, counted from 0, and 1 more; or 0. */
  void (*pick)(const k_span *spans, const struct k_items *list, uint64_t item, int64_t *to,
               size_t n);
};

/* Where more items, at least one, can be written; NULL when there is no memory, or they are too
** many. */
uint32_t *items_room(struct k_items *items, uint32_t more);
/* Room for so many; false when there is no memory, or they are too many. */
bool items_grow(struct k_items *items, uint64_t need);
void items_free(struct k_items *items);

#endif
