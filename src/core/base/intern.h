/* The world's string table: each text once, named by a number; 0 is "". Texts that no column,
** default, resource or staged command refers to are swept when the table has doubled. */
#ifndef ECS_CORE_BASE_INTERN_H
#define ECS_CORE_BASE_INTERN_H

#include "core/base/base.h"

struct memory;

struct interned {
  uint32_t size;
  uint32_t hash;
  uint32_t next;     /* next in its bucket */
  bool marked;
  char text[];       /* ended by a zero byte */
};

struct intern_table {
  struct interned **texts;   /* by number; NULL if free */
  uint32_t *free_next;
  uint32_t *buckets;
  uint32_t count;            /* numbers in use, free ones included; number 0 is "" */
  uint32_t capacity, next_capacity;
  uint32_t bucket_count;
  uint32_t free_head;        /* 0 for none */
  uint32_t live;
  size_t weight;             /* bytes of the texts */
  size_t sweep_at;           /* weight at which to sweep */
};

/* Finds or adds a text. ECS_ENOMEM, ECS_ELIMIT. */
ecs_status intern(struct intern_table *table, struct memory *memory, const char *text,
                  size_t size, uint32_t *number);

/* The number of a text; NONE if it is not there. */
uint32_t intern_find(const struct intern_table *table, const char *text, size_t size);
ecs_string intern_text(const struct intern_table *table, uint32_t number);

static inline bool intern_is_due(const struct intern_table *table) {
  return table->weight >= table->sweep_at;
}

static inline void intern_mark(struct intern_table *table, uint32_t number) {
  assert(number == 0 || (number < table->count && table->texts[number]));
  if (number) table->texts[number]->marked = true;
}
/* Copies the table with equal numbers. What it takes must be freed, even when memory runs out. */
ecs_status intern_copy(const struct intern_table *table, struct memory *memory,
                       struct intern_table *out);

/* Frees what is not marked, and clears the marks. */
void intern_sweep(struct intern_table *table, struct memory *memory);
void intern_free(struct intern_table *table, struct memory *memory);

#endif
