/* Rows that do not lie together, as a program sees them: the cells of matches that terms about ties
** and about others have found are copied to columns of their own, and back what was written. */
#ifndef ECS_KERNEL_GATHER_H
#define ECS_KERNEL_GATHER_H

#include "core/store/walk.h"
#include "kernel/run.h"

#define GATHER_ROWS 1024u

struct gather {
  const struct run_plan *plan;
  uint32_t count;
  ecs_id *ids;                             /* of the rows' entities */
  const struct term *terms[RUN_COLUMNS];   /* by the program's columns; NULL: the entity */
  void *columns[RUN_COLUMNS];
  void **cells[RUN_COLUMNS];               /* where each row of a written column is from */
};

/* No rows yet. False when out of memory. What is gathered lies in the runner until the next one. */
bool gather_begin(struct runner *runner, const struct run *run, struct gather *gather);

/* Appends the walk's match, of which every term that the program reads is there; fewer than
** GATHER_ROWS are there. */
void gather_match(struct gather *gather, const struct walk *walk);

/* As run_table and run_stage, of what was gathered. Afterwards there are no rows. */
bool gather_run(struct runner *runner, const struct run *run, struct gather *gather,
                struct run_failure *failure);
ecs_status gather_stage(const struct runner *runner, const struct run *run,
                        struct gather *gather);

#endif
