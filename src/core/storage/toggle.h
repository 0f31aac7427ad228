/* Components that are switched off: a bit for each row of a table and each of its components
** declared with `toggle`. A set bit means off, so new rows start with everything on, and a table
** without set bits pays only for the memory. */
#ifndef ECS_CORE_STORAGE_TOGGLE_H
#define ECS_CORE_STORAGE_TOGGLE_H

#include "core/storage/table.h"

struct toggle {
  ecs_id id;
  uint64_t *bits;            /* none is set after the last row */
  uint32_t off;              /* number of set bits */
  struct column_buffer buffer;
};

/* Words that hold bits for that many rows. */
static inline size_t toggle_words(uint32_t rows) { return (rows + (size_t)63) / 64; }

/* The toggle of one of a table's ids; NULL if it cannot be switched. */
static inline struct toggle *toggle_of(const struct table *table, ecs_id id) {
  for (uint32_t i = 0; i < table->toggle_count; i++)
    if (table->toggles[i].id == id) return &table->toggles[i];
  return NULL;
}

static inline bool toggle_bit(const struct toggle *toggle, uint32_t row) {
  return toggle->bits[row / 64] >> row % 64 & 1;
}

/* Whether a row has the id switched off. */
static inline bool toggle_is_off(const struct table *table, ecs_id id, uint32_t row) {
  if (LIKELY(table->off == 0)) return false;
  const struct toggle *toggle = toggle_of(table, id);
  return toggle && toggle_bit(toggle, row);
}

/* Switches an id of a row; no effect if it cannot be switched. */
void toggle_set(struct table *table, ecs_id id, uint32_t row, bool off);

/* Grows the bits to that many rows; false when out of memory. */
bool toggles_grow(struct memory *memory, struct table *table, uint32_t rows);
void toggles_free(struct memory *memory, struct table *table);
size_t toggles_bytes(const struct table *table);

/* Moves the last row's bits to the place of a removed row, as its cells are. */
void toggles_cut(struct table *table, uint32_t row, uint32_t last);

/* Brings the bits of rows that move to another table, for ids that both have. */
void toggles_bring(const struct table *from, uint32_t row, struct table *to, uint32_t to_row,
                   uint32_t count);

/* The first switches everything on. The second takes over bits, with none after the last row. */
void toggles_clear(struct table *table);
void toggles_count(struct table *table);

/* Takes the bits of a table that this one replaces, with the same rows. */
void toggles_take(struct table *table, struct table *old);

/* enable and disable: deferred inside scopes; no effect on an entity without the component.
** ECS_EINVAL if it is not declared with `toggle`. */
ecs_status toggle_switch(ecs_world *world, ecs_id entity, ecs_id component, bool off);

/* Whether the entity has the component, switched on. */
bool toggle_enabled(const ecs_world *world, ecs_id entity, ecs_id component);

/* Checks a table's bits. ECS_OK, or ECS_ECORRUPT with the broken invariant. */
ecs_status toggles_check(const ecs_world *world, const struct table *table);

#endif
