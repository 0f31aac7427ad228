/* Gives the orders that rows have noted: changes to entities, and events. */
#ifndef ECS_RUNNER_EFFECTS_H
#define ECS_RUNNER_EFFECTS_H

#include "core/base/column.h"
#include "kernel/build.h"
#include "runner/run.h"

/* What an order spawns or ties with: only the cells of its writes and its targets remain to be
** set. */
struct recipe {
  uint32_t part_count, write_count;   /* in the lists, from the order's number on */
};

/* A run that gives orders. */
struct giving {
  const struct run *run;
  uint32_t at_once;            /* orders since room was reserved that stage nothing, */
  uint32_t spawns;             /* and those that spawn */
  uint32_t emits[RUN_ORDERS];  /* number of emits of each order */
  int64_t last;                /* stand-in number of the last entity spawned by these */
  uint64_t known;              /* bits by order: its recipe is made */
  uint64_t seen;               /* bits by order: an observer with on = "set" watches what it sets */
  struct recipe recipes[RUN_ORDERS];
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
  const struct leaf *leaves[RUN_ORDERS];   /* of the writes; */
  uint32_t from[RUN_ORDERS];               /* distance from the order to where their values come
                                           ** from, */
  uint32_t targets[RUN_ORDERS];            /* and likewise for targets of parts; or NONE */
  ecs_id spawned[RUN_SPAWNED]; /* the last ones spawned by a row, by stand-in number */
};

/* The callbacks by which a run gives its orders. A scope is open. */
k_orders giving_begin(struct giving *giving, const struct run *run);

/* Stages a command that is not an order. */
ecs_status giving_stage(ecs_world *world, const struct run_command *command, ecs_id id);

/* Defers a program's only command as one batch of a table's marked rows; false if it must be given
** to each row. */
bool giving_defer_rows(const struct run *run, struct table *table, const uint64_t *marks);

#endif
