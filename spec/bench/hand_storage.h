/* The floors of what is kept beside tables: bits that say where a component is switched off, and a
** sparse set of { x = 1, y = 2 }, over the entities of hand.h. */
#ifndef ECS_BENCH_HAND_STORAGE_H
#define ECS_BENCH_HAND_STORAGE_H

#include "hand.h"

/* Of the rows of one table. */
struct hand_bits {
  uint64_t *bits;
  uint32_t off;
};

void hand_bits_open(struct hand_bits *bits, uint32_t rows);
void hand_bits_switch(struct hand *hand, struct hand_bits *bits, ecs_id id, bool off);

struct hand_sparse {
  uint32_t *places;            /* by entity, 1 + the place; 0 for none */
  uint32_t *entities;          /* packed, with the cells */
  float *x, *y;
  uint32_t count, capacity;
};

void hand_sparse_open(struct hand_sparse *sparse, uint32_t entities);
void hand_sparse_close(struct hand_sparse *sparse);
void hand_sparse_add(struct hand *hand, struct hand_sparse *sparse, ecs_id id);
void hand_sparse_remove(struct hand *hand, struct hand_sparse *sparse, ecs_id id);

/* Adds what the set has to the positions of its entities. */
void hand_sparse_push(struct hand *hand, const struct hand_sparse *sparse);

#endif
