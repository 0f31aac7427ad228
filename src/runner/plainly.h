/* Running a plan that needs nothing but the machine over whole tables: where these have few rows,
** to ask before each of them what else there is to do takes longer than its rows. */
#ifndef ECS_RUNNER_PLAINLY_H
#define ECS_RUNNER_PLAINLY_H

#include "core/query/query.h"
#include "core/ids/world.h"
#include "runner/run.h"

/* Whether a run is one: every row of each of its query's tables matches once, one thread runs them,
** and the program asks nothing of tables and says nothing of rows. */
static inline bool run_is_plain(const struct run *run) {
  const struct run_plan *plan = run->plan;
  bool plain = plan->plain && run->query->terms.plain;
  return plain && !(plan->needs_room | plan->asked_count) && !run->query->world->pool;
}

/* Runs it over all tables in which the query has rows. There is room for it. False when a row
** failed, and *failure says which. */
bool run_plainly(const struct runner *runner, const struct run *run, struct run_failure *failure);

#endif
