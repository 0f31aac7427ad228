/* Allocates all memory of a world, and counts it; the allocator is told exact old sizes. */
#ifndef ECS_CORE_BASE_MEMORY_H
#define ECS_CORE_BASE_MEMORY_H

#include "core/base/base.h"

struct arena_block;

struct memory {
  ecs_alloc alloc;
  void *ud;
  size_t bytes;
  size_t most;   /* limit in bytes; 0: none */
};

/* The allocator of worlds whose host gives none. Nothing else in the core calls malloc's family. */
void *memory_from_heap(void *ud, void *ptr, size_t old_size, size_t new_size);

/* NULL if the allocator refuses, or the total would exceed `most`; ptr is then unchanged. Never
** called with new_size 0. */
void *memory_resize(struct memory *memory, void *ptr, size_t old_size, size_t new_size);
void memory_free(struct memory *memory, void *ptr, size_t size);

/* A zeroed array; NULL when out of memory or if the size overflows. */
void *memory_array(struct memory *memory, size_t count, size_t item);

/* Makes room for `need` items by doubling. Returns the (moved) array and updates *capacity, or
** returns NULL with both unchanged. */
void *memory_grow(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                  size_t item);

/* Makes room for `need` items in a list, which may move; false when out of memory, with the list
** unchanged. `items` and `capacity` are where the list is kept; each argument is evaluated more
** than once. */
#define GROW(memory, items, capacity, need)                                                \
  ((need) <= (capacity) ||                                                                 \
   ((items) = memory_extend((memory), (items), &(capacity), (need), sizeof *(items)),      \
    (need) <= (capacity)))

/* For GROW: the list, moved or, when out of memory, unchanged. */
void *memory_extend(struct memory *memory, void *items, uint32_t *capacity, uint64_t need,
                    size_t item);

/* Frees such a list. */
#define FREE_LIST(memory, items, capacity) \
  memory_free((memory), (items), (capacity) * sizeof *(items))

/* The memory of columns. */

/* A 64-byte aligned array, padded to 64 bytes. */
struct column_buffer {
  void *data;
  void *block;
  size_t size;    /* of the block */
};

/* Grows to hold `bytes` and keeps the contents. */
bool buffer_grow(struct memory *memory, struct column_buffer *buffer, size_t bytes,
                 size_t used);

/* Grows a list of words, NULL at first, from `used` to `need`; new ones are 0. */
bool buffer_grow_words(struct memory *memory, struct column_buffer *buffer, uint64_t **words,
                       size_t used, size_t need);
void buffer_free(struct memory *memory, struct column_buffer *buffer);

/* Memory in many small pieces that are freed together: names, texts, lists of a declaration. */

/* Empty when zero. */
struct arena {
  struct arena_block *blocks;
};

/* Allocates a zeroed piece, or copies a text and a zero byte into one. NULL when out of memory. */
void *arena_take(struct memory *memory, struct arena *arena, size_t size);
char *arena_copy(struct memory *memory, struct arena *arena, const char *text, size_t size);

/* Frees all pieces; the arena can be used again. */
void arena_free(struct memory *memory, struct arena *arena);

#endif
