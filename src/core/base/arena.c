#include "core/base/arena.h"

#include "core/base/memory.h"

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
