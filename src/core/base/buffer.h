/* The memory of columns. */
#ifndef ECS_CORE_BASE_BUFFER_H
#define ECS_CORE_BASE_BUFFER_H

#include "core/base/base.h"

struct memory;

/* A 64-byte aligned array, padded to 64 bytes. */
struct column_buffer {
  void *data;
  void *block;
  size_t size;    /* of the block */
};

/* Grows to hold `bytes`, keeping what is there. */
bool buffer_grow(struct memory *memory, struct column_buffer *buffer, size_t bytes,
                 size_t used);
void buffer_free(struct memory *memory, struct column_buffer *buffer);

#endif
