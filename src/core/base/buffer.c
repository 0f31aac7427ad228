#include "core/base/buffer.h"

#include "core/base/memory.h"

#define ALIGNMENT 64u

static char *buffer_aligned(char *block) {
  return block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
}

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
  char *data = buffer_aligned(block);
  assert((size_t)(data - block) + bytes <= size);
  if (used && data != block + shift) memmove(data, block + shift, used);
  buffer->block = block;
  buffer->data = data;
  buffer->size = size;
  return true;
}

void buffer_free(struct memory *memory, struct column_buffer *buffer) {
  memory_free(memory, buffer->block, buffer->size);
  memset(buffer, 0, sizeof *buffer);
}
