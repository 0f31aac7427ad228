/* Going through a query's matches row by row, where terms about ties and about others say which
** rows match, how often, and whose cells they give. Nothing is allocated on the way. */
#ifndef ECS_CORE_QUERY_WALK_H
#define ECS_CORE_QUERY_WALK_H

#include "core/base/many.h"
#include "core/storage/layout.h"
#include "core/query/term.h"

struct lineup;
struct table;

/* Where the cells are that a step gives. */
struct walk_end {
  const struct table *table;     /* NULL: it is not there */
  uint32_t row;
  uint32_t first;                /* number of the first column */
};

struct walk {
  const ecs_query *query;
  const struct table *table;     /* of the row */
  uint32_t match;                /* of the query: the table's */
  uint32_t row;
  uint32_t reach;                /* how many of the query's tables there are to go through */
  uint32_t next_match, next_row; /* in the order of tables, or the row of packed ones */
  uint32_t run_end;              /* rows of the table up to this one match, but for steps */
  uint32_t limit;                /* of events: the row behind the last one */
  uint32_t next_source;          /* in the order of sources; 0 ends it */
  struct lineup *lineup;         /* parents first; NULL: in the order of tables, or of sources */
  uint32_t next_in_lineup, run;  /* of the lineup */
  bool even;                     /* a table's rows match alike, each as often as it has targets */
  bool repeats;                  /* a row may match more than once */
  bool inside;                   /* the row may match once more */
  struct walk_end ends[QUERY_STEPS];     /* by step, of alternatives those that are there */
  bool done[QUERY_STEPS];                /* the step has no other solution */
  ecs_id values[QUERY_VARIABLES];
};

/* Before the first match. The order is that of tables or sources, whatever the query asks for: for
** who does not care. Cannot fail, and needs no walk_end. */
void walk_begin(struct walk *walk, const ecs_query *query);

/* In the query's order. ECS_ENOMEM: as after walk_begin. */
ecs_status walk_begin_ordered(struct walk *walk, ecs_query *query);
void walk_end(struct walk *walk);

/* The next match; false at the end. No row moves while a walk is under way. */
bool walk_next(struct walk *walk);

/* The next row that matches but for the terms that are decided row by row; false at the end. */
bool walk_next_row(struct walk *walk);

/* After walk_next, for who needs no values: whether all rows of the table match as this one does,
** its first, and each once. Then the walk is behind them. Of an event alone, how many rows there
** are from this one on: behind them, too. */
bool walk_take_table(struct walk *walk);
uint32_t walk_take_events(struct walk *walk);

/* Comes to the row of an entity that is alive, out of order; false when it is in none of the
** query's tables, or something that is switched off says that it does not match. */
bool walk_come_to(struct walk *walk, uint32_t entity);

/* Which of the query's tables, as far as the walk goes through them, this one is; NONE: none. */
uint32_t walk_match_of(const struct walk *walk, const struct table *table);

/* The first match of an entity that is alive, or, `again`, its next one; false: none. */
bool walk_match(struct walk *walk, uint32_t entity, bool again);

/* Comes to the first row of the next table that has rows and goes behind them all, for who needs no
** values, if all of them match, alike and each once; false, and no match is passed over, if not. */
bool walk_next_table(struct walk *walk);

/* After walk_next_table that table's columns, by slot, as query_columns has them but for terms that
** are decided row by row. */
void walk_table_columns(const struct walk *walk, uint32_t *first);

/* Columns of the next table and of the one behind it; of none after the walk's last tables. */
struct walk_later {
  const struct column *next, *second;
  uint32_t count;
};

/* After walk_next_table. Asks for what is read of later tables before their columns are. */
struct walk_later walk_look_ahead(const struct walk *walk);

/* Asks for a column of the second table, and the cells of the next one's: processors go on from the
** third line by themselves. Takes a sixth off 1,000 tables of 100 rows. */
INLINE void walk_fetch_column(const struct walk_later *later, uint32_t at) {
  if (at >= later->count) return;
  uintptr_t cells = (uintptr_t)later->next[at].data;
  FETCH(&later->second[at].data);
  FETCH((const void *)cells);
  FETCH((const void *)(cells + 128));
}

/* Where a term's cells are in this match: the row's own, or an end's; .table is NULL where it is
** not there. Of a tag .first means nothing. */
struct walk_end walk_cells(const struct walk *walk, const struct term *term);

/* Which step finds the term's cells: they are in .ends of it then. NONE: walk_cells finds them. */
uint32_t walk_step_of(const struct walk *walk, const struct term *term);

/* The entity of the row. */
ecs_id walk_entity(const struct walk *walk);

/* How deep the row stands; 0 where the query does not visit parents first. */
uint32_t walk_depth(const struct walk *walk);

/* The n-th value that goes with the match. */
ecs_id walk_value(const struct walk *walk, uint32_t n);

/* How many matches there are, and the first one's entity (ECS_NULL for none). */
size_t walk_count(const ecs_query *query);
ecs_status walk_first(ecs_query *query, ecs_id *first);

#endif
