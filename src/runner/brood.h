/* Entities that rows of a kernel spawn, kept until it has run over all rows: then they come to
** their tables block by block and column by column, where a spawn means nothing but a row, and are
** staged one by one else. What is kept belongs to the only scope that is open, in which nothing
** else is staged; none of them has an id before. One by one they took four times as long. */
#ifndef ECS_RUNNER_BROOD_H
#define ECS_RUNNER_BROOD_H

#include "runner/run.h"

struct giving;
struct k_given;
struct leaf;
struct table;

/* What entities are spawned with, as an order and those behind it say. */
struct brood_kind {
  uint32_t part_count, write_count;
  ecs_id components[RUN_ORDERS];       /* of the parts */
  const struct leaf *leaves[RUN_ORDERS];   /* of the writes: no layout changes within scopes */
  uint32_t numbers[RUN_ORDERS];        /* of these leaves */
  uint8_t parts[RUN_ORDERS];           /* which part each is of */
  uint8_t orders[RUN_ORDERS];          /* how far behind the order what it takes comes */
  uint64_t count;                      /* so many entities are to be of it */
  struct table *table;                 /* when they come there */
};

/* Those that the rows of a block spawn by one order. */
struct brood {
  uint32_t kind, count;
  uint64_t first;                      /* the first of their cells, write by write */
};

/* All that a block's rows spawn. */
struct brood_block {
  uint32_t first, broods;              /* in the list of broods */
  uint64_t from;                       /* in the list that says of which one each entity is */
  uint32_t count;
};

struct broods {
  struct memory *memory;
  uint64_t epoch;                      /* of the scope; 0, or an earlier one: nothing is kept */
  uint64_t round;                      /* counts how often what was kept has gone */
  struct brood_kind *kinds;
  struct brood *list;
  struct brood_block *blocks;
  uint64_t *cells;
  uint8_t *turns;                      /* whose turn it is: the brood in its block, by entity */
  uint32_t *places;                    /* room for the rows of a block's entities, by brood */
  uint32_t kind_count, count, block_count, cell_count, turn_count;
  uint32_t kind_capacity, capacity, block_capacity, cell_capacity, turn_capacity, place_capacity;
};

/* Before a run, behind which broods_end follows unless the scope is cancelled. Keeps nothing within
** other scopes. */
void broods_begin(struct broods *broods, const ecs_world *world);

/* Keeps what a block's rows spawn, if nothing but spawns are given; NONE when they are to be given
** one by one, 0 when there is no room for them, else 1. */
uint32_t broods_take(struct broods *broods, struct giving *giving, const struct k_given *given,
                     uint32_t count);

/* Stages what is kept, before anybody else gives commands; spawns it at once at the end of a run.
** With an error the scope is to be cancelled. */
ecs_status broods_stage(struct broods *broods, ecs_world *world);
ecs_status broods_end(struct broods *broods, ecs_world *world);

void broods_free(struct memory *memory, struct broods *broods);

#endif
