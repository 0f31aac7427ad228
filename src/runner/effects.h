/* Entities that rows of a kernel spawn, kept until it has run over all rows: then they come to
** their tables block by block and column by column, where a spawn means nothing but a row, and are
** staged one by one else. What is kept belongs to the only scope that is open, in which nothing
** else is staged; none of them has an id before. One by one they took four times as long. */
#ifndef ECS_RUNNER_EFFECTS_H
#define ECS_RUNNER_EFFECTS_H

#include "core/base/column.h"
#include "core/entity/entity.h"
#include "kernel/build.h"
#include "runner/run.h"

struct giving;
struct k_given;

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

/* Giving the orders that rows have noted down: commands to entities, and events. */

/* An entity to be spawned, or to be tied, as far as the orders have said with what. */
struct unspawned {
  int64_t number;              /* that stands for it; */
  ecs_id tied;                 /* or one that is tied with some fields, and not spawned */
  uint32_t waits;              /* for how many of them; 0: there is none */
  uint32_t part_count, write_count;
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
};

/* What an order that spawns spawns with: only the cells of what it writes are to be set. */
struct recipe {
  uint32_t part_count, write_count;   /* in the lists, from the order's number on */
};

/* A run that gives some. */
struct giving {
  const struct run *run;
  uint32_t at_once;            /* that were looked at since room was made, and stage nothing; */
  uint32_t spawns;             /* those that spawn; */
  uint32_t emits[RUN_ORDERS];  /* how often each one that emits */
  int64_t last;                /* who stands for whom the last of these spawns */
  struct event *event;         /* of which type the last of them has emitted */
  uint64_t known;              /* bits by order: its recipe is made */
  uint64_t round;              /* the broods' when these numbers were theirs: */
  struct unspawned next;
  uint8_t kinds[RUN_ORDERS];   /* by order that spawns: one more than that of its kind, or 0 */
  struct recipe recipes[RUN_ORDERS];
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
  const struct leaf *leaves[RUN_ORDERS];   /* of the writes, */
  uint32_t from[RUN_ORDERS];               /* and how far behind the order what they take comes */
  ecs_id spawned[RUN_SPAWNED]; /* by a row, the last ones: by what stands for them */
};

/* How a run gives its orders. A scope is open. */
k_orders giving_begin(struct giving *giving, const struct run *run);

/* Stages a command that is no order. */
ecs_status giving_stage(ecs_world *world, const struct run_command *command, ecs_id id);

/* Defers the only command of a program as one of all rows of a table that are marked; false when it
** is to be given to each of them. */
bool giving_defer_rows(const struct run *run, struct table *table, const uint64_t *marks);

/* What was noted down, as a leaf has it. */
ecs_cell giving_cell(const struct leaf *leaf, k_scalar value);

#endif
