/* Memory in many small pieces that are freed together: names, texts, lists of a declaration. */
#ifndef ECS_CORE_BASE_ARENA_H
#define ECS_CORE_BASE_ARENA_H

#include "core/base/base.h"

struct arena_block;
struct memory;

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
