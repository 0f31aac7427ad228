/* Components switched off: a bit for each row of a table and each of its components that is
** declared with `toggle`. A bit that is set says off, so that rows begin with all of theirs on; a
** table in which nothing is off costs nothing but the room. */
#ifndef ECS_CORE_STORAGE_TOGGLE_H
#define ECS_CORE_STORAGE_TOGGLE_H

#include "core/storage/table.h"

struct toggle {
  ecs_id id;
  uint64_t *bits;            /* none is set behind the last row */
  uint32_t off;              /* how many are set */
  struct column_buffer buffer;
};

/* Words of bits for so many rows. */
static inline size_t toggle_words(uint32_t rows) { return (rows + (size_t)63) / 64; }

/* Of one of a table's ids; NULL when that cannot be switched. */
static inline struct toggle *toggle_of(const struct table *table, ecs_id id) {
  for (uint32_t i = 0; i < table->toggle_count; i++)
    if (table->toggles[i].id == id) return &table->toggles[i];
  return NULL;
}

static inline bool toggle_bit(const struct toggle *toggle, uint32_t row) {
  return toggle->bits[row / 64] >> row % 64 & 1;
}

/* Whether a row has it switched off. */
static inline bool toggle_is_off(const struct table *table, ecs_id id, uint32_t row) {
  if (LIKELY(table->off == 0)) return false;
  const struct toggle *toggle = toggle_of(table, id);
  return toggle && toggle_bit(toggle, row);
}

/* Switches one of the table's ids; no effect when that cannot be. */
void toggle_set(struct table *table, ecs_id id, uint32_t row, bool off);

/* Room for so many rows; false when out of memory. */
bool toggles_grow(struct memory *memory, struct table *table, uint32_t rows);
void toggles_free(struct memory *memory, struct table *table);
size_t toggles_bytes(const struct table *table);

/* The last row's bits take the place of a row's, as its cells do. */
void toggles_cut(struct table *table, uint32_t row, uint32_t last);

/* Rows come to another table, where they keep what is off and that one has, too. */
void toggles_bring(const struct table *from, uint32_t row, struct table *to, uint32_t to_row,
                   uint32_t count);

/* Switches everything on; and takes over the bits, of which none is behind the last row. */
void toggles_clear(struct table *table);
void toggles_count(struct table *table);

/* Takes the bits of a table that is to be replaced by one with the same rows. */
void toggles_take(struct table *table, struct table *old);

/* enable and disable: staged inside scopes; no effect on an entity without the component.
** ECS_EINVAL when that is not declared with `toggle`. */
ecs_status toggle_switch(ecs_world *world, ecs_id entity, ecs_id component, bool off);

/* Whether the entity has it, and on. */
bool toggle_enabled(const ecs_world *world, ecs_id entity, ecs_id component);

/* ECS_OK, or the invariant that a table's bits break. */
ecs_status toggles_check(const ecs_world *world, const struct table *table);

#endif
