/* All memory of a world comes through here: counted, with exact old sizes. */
#ifndef ECS_CORE_BASE_MEMORY_H
#define ECS_CORE_BASE_MEMORY_H

#include "core/base/base.h"

struct arena_block;

struct memory {
  ecs_alloc alloc;
  void *ud;
  size_t bytes;
  size_t most;   /* bytes that it may come to; 0: any */
};

/* The allocator of worlds whose host gives none. Nothing else in the core calls malloc's family. */
void *memory_from_heap(void *ud, void *ptr, size_t old_size, size_t new_size);

/* NULL when the allocator refuses, or there would be more than `most`; ptr is then as it was. Never
** called with new_size 0. */
void *memory_resize(struct memory *memory, void *ptr, size_t old_size, size_t new_size);
void memory_free(struct memory *memory, void *ptr, size_t size);

/* An array of zeroed items; NULL when out of memory or when the size overflows. */
void *memory_array(struct memory *memory, size_t count, size_t item);

/* Makes room for `need` items by doubling. Returns the (moved) array and updates *capacity,
** or NULL with both as they were. */
void *memory_grow(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                  size_t item);

/* Makes room for `need` items in a list, which may move; false when out of memory, and the list is
** then as it was. `items` and `capacity` are where the list is kept; each argument is evaluated
** more than once. */
#define GROW(memory, items, capacity, need)                                                \
  ((need) <= (capacity) ||                                                                 \
   ((items) = memory_extend((memory), (items), &(capacity), (need), sizeof *(items)),      \
    (need) <= (capacity)))

/* Of GROW: the list, moved or, when out of memory, as it was. */
void *memory_extend(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                    size_t item);

/* The memory of columns. */

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

/* Memory in many small pieces that are freed together: names, texts, lists of a declaration. */

/* Empty when zero. */
struct arena {
  struct arena_block *blocks;
};

/* A zeroed piece, and a copy of a text with a zero byte behind it; NULL when out of memory. */
void *arena_take(struct memory *memory, struct arena *arena, size_t size);
char *arena_copy(struct memory *memory, struct arena *arena, const char *text, size_t size);

/* Frees all pieces; it can be used again. */
void arena_free(struct memory *memory, struct arena *arena);

#endif
