/* Rows that do not lie together, as a program sees them: the cells of matches that terms about ties
** and about others have found are copied to columns of their own, and back what was written. Of a
** match only the rows are kept; cells are copied before a run column by column, which takes a third
** of the time that it takes match by match. */
#ifndef ECS_RUNNER_GATHER_H
#define ECS_RUNNER_GATHER_H

#include "core/query/matches.h"
#include "runner/run.h"

#define GATHER_ROWS MATCHES_ROWS

/* Which rows of tables have the cells of a term. */
struct gather_spot {
  const struct term *term;     /* of the first spot, for all that is the rows' own, none */
  uint32_t step;               /* of the walk that finds it; NONE: ask walk_cells */
  struct matches_spot cells;
};

struct gather {
  const struct run_plan *plan;
  const ecs_query *query;
  uint32_t count;
  uint32_t spot_count;
  ecs_id *ids;                             /* of the rows' entities */
  void *columns[RUN_COLUMNS];              /* the program's: room for them */
  void *bound[RUN_COLUMNS];                /* that room, or where the cells are anyway */
  uint32_t spot_of[RUN_COLUMNS];           /* by the program's columns */
  struct gather_spot spots[RUN_COLUMNS + 1];
  uint32_t value_count;                    /* columns that have who variables stand for */
  uint32_t values[QUERY_VARIABLES];
  void **cells[RUN_OTHERS];                /* addresses of others' cells that rows write to */
};

/* No rows yet. False when out of memory. What is gathered lies in the runner until the next one. */
bool gather_begin(struct runner *runner, const struct run *run, const struct walk *walk,
                  struct gather *gather);

/* Room in the runner for a batch of the same walk; false when out of memory. */
bool gather_lay_out(struct runner *runner, struct matches *matches);

/* Appends the walk's match, of which every term that the program reads is there; fewer than
** GATHER_ROWS are there. */
void gather_match(struct gather *gather, const struct walk *walk);

/* The batch's matches, of which every term that the program reads is there: nothing else is
** gathered, and the batch is as it is until they have run. */
void gather_matches(struct gather *gather, const struct matches *matches);

/* As run_table, over the whole table of the walk's match, where the cells are: of a program that
** has no columns or bitmaps of its own, and nothing is gathered. */
bool gather_run_table(struct runner *runner, const struct run *run, struct gather *gather,
                      const struct walk *walk, struct run_failure *failure);

/* Appends rows of a table that the query matches as its match-th, those of the bits from a row on,
** as far as there is room: 64 rows. No term is about ties or others. */
void gather_rows(struct gather *gather, const struct table *table, uint32_t match, uint32_t first,
                 uint64_t bits);

/* The entity of the first row that was gathered. */
ecs_id gather_first(const struct gather *gather);

/* As run_table and run_stage, of what was gathered. Afterwards (with commands: after staging) there
** are no rows. */
bool gather_run(struct runner *runner, const struct run *run, struct gather *gather,
                struct run_failure *failure);
ecs_status gather_stage(const struct runner *runner, const struct run *run,
                        struct gather *gather);

#endif
