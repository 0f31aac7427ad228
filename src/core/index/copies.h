/* Copies of what a query gives, as it was at one moment: the rows of an index, in an order of its
** own. */
#ifndef ECS_CORE_INDEX_COPIES_H
#define ECS_CORE_INDEX_COPIES_H

#include "core/base/buffer.h"

struct query_terms;

struct copy_column {
  ecs_id component;          /* ECS_NULL: whether the term's component is there, a byte a row */
  uint32_t leaf;             /* of the component */
  uint32_t term, term_leaf;  /* what ecs_iter_column calls it */
  uint32_t slot;             /* of the term */
  ecs_type type;
  uint32_t size;             /* bytes of a cell */
  struct column_buffer cells;
};

/* What one of the query's terms gives. */
struct copy_slot {
  uint32_t first, count;     /* its columns */
  uint32_t flags;            /* the column that says in which rows it is there; NONE: in all */
  bool single;               /* a field, not a component */
};

struct copies {
  uint32_t count;            /* rows */
  uint32_t capacity;         /* rows that every buffer has room for */
  struct copy_column *columns;
  uint32_t column_count;
  struct copy_slot *slots;
  uint32_t slot_count;
  struct column_buffer entities;   /* ecs_id */
  struct column_buffer order;      /* uint32_t: which row of the query it was */
};

static inline const ecs_id *copies_entities(const struct copies *copies) {
  return copies->entities.data;
}

static inline const uint32_t *copies_order(const struct copies *copies) {
  return copies->order.data;
}

/* Whether a row has what a slot gives. */
static inline bool copies_have(const struct copies *copies, uint32_t slot, uint32_t row) {
  assert(slot < copies->slot_count && row < copies->count);
  uint32_t flags = copies->slots[slot].flags;
  return flags == NONE || ((const uint8_t *)copies->columns[flags].cells.data)[row];
}

/* The columns that the terms give, without rows. ECS_EINVAL for what cannot be copied; `name`, the
** index's, begins the message. Columns of the same kind stay, with their memory. */
ecs_status copies_lay_out(ecs_world *world, struct copies *copies,
                          const struct query_terms *terms, const char *name);

/* All rows of the query that they are laid out for, in its order. */
ecs_status copies_gather(struct copies *copies, ecs_query *query);

/* Room for so many rows. */
ecs_status copies_reserve(ecs_world *world, struct copies *copies, uint64_t rows);

/* The rows of `from`, laid out alike, that `order` names; there is room. */
void copies_arrange(struct copies *copies, const struct copies *from, const uint32_t *order,
                    uint32_t count);

/* A row of `from`, laid out alike, takes a place. */
void copies_bring(struct copies *copies, uint32_t to, const struct copies *from, uint32_t row);

/* The column of a component's leaf, or NULL. */
const struct copy_column *copies_column(const struct copies *copies, ecs_id component,
                                        uint32_t leaf);

size_t copies_bytes(const struct copies *copies);
void copies_free(ecs_world *world, struct copies *copies);

#endif
