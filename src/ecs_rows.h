/* Rows of systems that are called for ranges of them, on the world's threads. */
#ifndef ECS_ROWS_H
#define ECS_ROWS_H

#include "ecs_system.h"

/* Rows that lie together in a table, of the query of a system with `parallel`: that is called once
** for each row, in ranges, by several threads at once where there are some. It writes to these rows
** alone, in terms without `:in`, all of which counts as written; it reads no other rows' cells that
** it writes, and calls nothing of the world but ecs_rows_column, ecs_rows_entity. Where it fails,
** ranges behind may have been done or not; its status is that of the first in the order of rows.
** Columns are 64-byte aligned, unless terms are about some rows of a table. The query is not about
** events, what has changed, ties or others, and has no sparse terms. */
typedef struct ecs_rows {
  ecs_query *query;
  size_t count;
  uint32_t match;      /* the rest is private */
  uint32_t first;
} ecs_rows;

#endif
