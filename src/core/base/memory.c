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
  size_t others = memory->bytes - old_size;
  if (UNLIKELY(memory->most) && new_size > old_size &&
      (others >= memory->most || new_size > memory->most - others))
    return NULL;
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

void *memory_extend(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                    size_t item) {
  void *moved = memory_grow(memory, items, capacity, need, item);
  return moved ? moved : items;
}

/* ---- buffer ---- */

#define ALIGNMENT 64u

bool buffer_grow(struct memory *memory, struct column_buffer *buffer, size_t bytes,
                 size_t used) {
  assert(used <= buffer->size && (uintptr_t)buffer->data % ALIGNMENT == 0);
  if (bytes > SIZE_MAX / 2) return false;
  size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
  if (size <= buffer->size) return true;
  size_t shift =
      buffer->block ? (size_t)((char *)buffer->data - (char *)buffer->block) : 0;
  char *block = memory_resize(memory, buffer->block, buffer->size, size);
  if (!block) return false;
  char *data = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
  assert((size_t)(data - block) + bytes <= size);
  if (used && data != block + shift) memmove(data, block + shift, used);
  buffer->block = block;
  buffer->data = data;
  buffer->size = size;
  return true;
}

bool buffer_grow_words(struct memory *memory, struct column_buffer *buffer, uint64_t **words,
                       size_t used, size_t need) {
  if (need <= used && *words) return true;
  if (!*words) used = 0;
  if (!buffer_grow(memory, buffer, need * sizeof **words, used * sizeof **words)) return false;
  *words = buffer->data;
  memset(*words + used, 0, (need - used) * sizeof **words);
  return true;
}

void buffer_free(struct memory *memory, struct column_buffer *buffer) {
  memory_free(memory, buffer->block, buffer->size);
  memset(buffer, 0, sizeof *buffer);
}

/* ---- arena ---- */

struct arena_block {
  struct arena_block *next;
  size_t size;
};

void *arena_take(struct memory *memory, struct arena *arena, size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  size_t total = sizeof(struct arena_block) + size;
  struct arena_block *block = memory_resize(memory, NULL, 0, total);
  if (!block) return NULL;
  block->next = arena->blocks;
  block->size = total;
  arena->blocks = block;
  return memset(block + 1, 0, size);
}

char *arena_copy(struct memory *memory, struct arena *arena, const char *text, size_t size) {
  char *copy = arena_take(memory, arena, size + 1);
  return copy ? memcpy(copy, text, size) : NULL;
}

void arena_free(struct memory *memory, struct arena *arena) {
  while (arena->blocks) {
    struct arena_block *block = arena->blocks;
    arena->blocks = block->next;
    memory_free(memory, block, block->size);
  }
}
