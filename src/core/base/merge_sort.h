/* Sorting a list of pointers. */
#ifndef ECS_CORE_BASE_MERGE_SORT_H
#define ECS_CORE_BASE_MERGE_SORT_H

#include "core/base/base.h"

/* Bottom-up merge sort (Knuth, TAOCP 5.2.4) between a list and as much room behind it. */
void merge_sort(const void **list, uint32_t n, bool (*precedes)(const void *, const void *));

/* Room to sort `count` items, and for one more, so that it is never none. */
static inline size_t merge_sort_room(uint32_t count) { return ((size_t)count + 1) * 2; }

#endif
