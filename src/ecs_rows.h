/* Rows for systems that the world's threads call for ranges of them. */
#ifndef ECS_ROWS_H
#define ECS_ROWS_H

#include "ecs_system.h"

/* Consecutive rows in a table, matched by the query of a system with `parallel`, which is called
** exactly once for each row, in ranges, by several threads at once if there are any. The system may
** write to these rows only, in terms without `:in`, all of which count as written; it must not read
** cells of other rows that it writes, and may call only ecs_rows_column and ecs_rows_entity. If it
** fails, later ranges may or may not have run; the status is that of the first failure in row
** order. Columns are 64-byte aligned, unless terms are about only some rows of a table. The query
** must not be about events, changes, ties or other entities, and must have no sparse terms. */
typedef struct ecs_rows {
  ecs_query *query;
  size_t count;
  uint32_t match;      /* the rest is private */
  uint32_t first;
} ecs_rows;

#endif
