/* The order in which a walk comes to rows where it is not that of tables: parents first, or that in
** which a target's sources were tied. A query keeps the last one it made, and has it as long as it
** would come out the same; walks that are under way hold it, too. */
#ifndef ECS_CORE_QUERY_LINEUP_H
#define ECS_CORE_QUERY_LINEUP_H

#include "core/base/base.h"

struct walk;

/* Rows of one table that stand equally deep, up to a position. */
struct lineup_run {
  uint32_t match;              /* of the query: the table's */
  uint32_t depth;
  uint32_t end;
};

/* Whom a row's tie leads to, where that one is in one of the query's tables; else match is NONE. */
struct lineup_end {
  uint32_t match, row;
};

/* A table as it was when it was lined up. */
struct lineup_table {
  uint64_t order;
  uint32_t count;
};

struct lineup {
  uint32_t users;              /* the query, and walks */
  uint32_t changes;            /* of the ties */
  const struct ties *ties;
  uint32_t count, run_count;
  uint32_t *rows;              /* by position; of sources their entities' indices */
  uint32_t *targets;           /* of rows: whom each one's tie leads to, 0 for nobody */
  struct lineup_end *ends;     /* of rows, or NULL where they are not known */
  struct lineup_run *runs;
  uint32_t table_count;
  struct lineup_table *tables;
  uint32_t *entities;          /* of the tables' rows */
  size_t size;                 /* of the block in which all of it lies */
};

/* Parents first, of the rows that a walk of the query, which has just begun, comes to; NULL when
** out of memory. */
struct lineup *lineup_by_depth(ecs_query *query, const struct walk *walk);

/* The sources of a query whose order is theirs; no row is known. */
struct lineup *lineup_of_sources(ecs_query *query);

/* For ecs_check: whether what the query keeps, if it is not out of date, is as it should be. */
bool lineup_is_sound(const ecs_query *query);

/* Lets go of it; of none, nothing. */
void lineup_release(ecs_world *world, struct lineup *lineup);

#endif
