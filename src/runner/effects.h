/* Giving the orders that rows have noted down: commands to entities, and events. */
#ifndef ECS_RUNNER_EFFECTS_H
#define ECS_RUNNER_EFFECTS_H

#include "core/base/column.h"
#include "core/entity/entity.h"
#include "kernel/build.h"
#include "runner/run.h"

/* What an order spawns or ties with: only the cells of what it writes and its targets are to be
** set. */
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
  struct recipe recipes[RUN_ORDERS];
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
  const struct leaf *leaves[RUN_ORDERS];   /* of the writes; */
  uint32_t from[RUN_ORDERS];               /* how far behind the order what they take comes, */
  uint32_t targets[RUN_ORDERS];            /* and those of parts that have a target; or NONE */
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
