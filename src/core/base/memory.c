#include <stdlib.h>

#include "core/base/memory.h"

#define SMALLEST 8u
#define COUNT_LIMIT 0x7FFFFFFFu

void *memory_from_heap(void *ud, void *ptr, size_t old_size, size_t new_size) {
  (void)ud, (void)old_size;
  if (new_size > 0) return realloc(ptr, new_size);
  free(ptr);
  return NULL;
}

void *memory_resize(struct memory *memory, void *ptr, size_t old_size, size_t new_size) {
  assert(new_size > 0 && (ptr != NULL || old_size == 0));
  void *moved = memory->alloc(memory->ud, ptr, old_size, new_size);
  if (!moved) return NULL;
  assert(memory->bytes >= old_size);
  memory->bytes += new_size - old_size;
  return moved;
}

void memory_free(struct memory *memory, void *ptr, size_t size) {
  if (!ptr) return;
  assert(memory->bytes >= size);
  memory->bytes -= size;
  memory->alloc(memory->ud, ptr, size, 0);
}

void *memory_array(struct memory *memory, size_t count, size_t item) {
  assert(item > 0);
  if (count > SIZE_MAX / 2 / item) return NULL;
  void *items = memory_resize(memory, NULL, 0, count * item);
  return items ? memset(items, 0, count * item) : NULL;
}

void *memory_grow(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                  size_t item) {
  assert((items != NULL) == (*capacity > 0));
  if (need <= *capacity) return items;
  if (need > COUNT_LIMIT || need > SIZE_MAX / 4 / item) return NULL;
  uint32_t wanted = *capacity > COUNT_LIMIT / 2 ? COUNT_LIMIT : *capacity * 2;
  if (wanted < SMALLEST) wanted = SMALLEST;
  if (wanted < need) wanted = (uint32_t)need;
  assert(wanted > *capacity && wanted >= need);
  void *moved = memory_resize(memory, items, *capacity * item, wanted * item);
  if (moved) *capacity = wanted;
  return moved;
}
