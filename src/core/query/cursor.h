/* Stretches: the ranges of a table's rows that a query about changes visits, whole groups (marks.h)
** except at the end. Rows between them are in groups without writes and do not match. For other
** queries, all rows are one stretch. */
#ifndef ECS_CORE_QUERY_CURSOR_H
#define ECS_CORE_QUERY_CURSOR_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/query/query.h"
#include "core/storage/table.h"

struct walk;

struct row_stretch {
  uint32_t row, count;         /* the rows; none before the first one */
  uint32_t next;               /* the word that the next stretch begins with; 0 if unknown */
};

/* Moves to the table's next stretch; false if there is none. */
bool stretch_next(const struct query_terms *terms, const struct table *table,
                  struct row_stretch *stretch);

/* Whether all rows of a table's stretches match a query about changes. */
bool stretches_are_full(const struct query_terms *terms, const struct table *table);

/* Which rows of a table match when components may be switched off, 64 rows at a time. Terms that
** are decided row by row (walk.c) are ignored. */

/* Whether a row has what a term asks for, as far as toggles and changes decide; the table has the
** component. */
bool term_shows(const struct term *term, const struct table *table, uint32_t row);

/* The next run of rows, from a row on, that match with the same terms present. Without toggles, all
** remaining rows. *count is 0 at the end. */
uint32_t query_next_run(const struct query_terms *terms, const struct table *table, uint32_t from,
                        uint32_t *count);

/* A bit for each of 64 rows of a table from row 64 * word on: whether it matches; 0 after the last
** row. */
uint64_t query_rows_at(const struct query_terms *terms, const struct table *table, uint32_t word);

/* Whether matching rows may differ in which terms are present. */
bool query_varies(const struct query_terms *terms);

/* query_mark_rows: query_rows_at for all rows of a table; query_mark_words: for some words. */
void query_mark_rows(const struct query_terms *terms, const struct table *table, uint64_t *bits);
void query_mark_words(const struct query_terms *terms, const struct table *table, uint32_t from,
                      uint32_t words, uint64_t *bits);

/* How many rows of a table match. */
enum table_rows { ROWS_NONE, ROWS_ALL, ROWS_SOME };
enum table_rows query_table_rows(const struct query_terms *terms, const struct table *table);

/* query_rows_varying: the optional terms that some rows of a table have and others lack, a bit for
** each slot. The other one: which rows have such a term, a byte for each. */
uint64_t query_rows_varying(const struct query_terms *terms, const struct table *table);
void query_tell_shown(const struct term *term, const struct table *table, uint32_t row,
                      uint32_t count, uint8_t *to);

/* Whether a row matches. */
bool query_takes_row(const struct query_terms *terms, const struct table *table, uint32_t row);

/* Whether rows of any of its non-empty tables differ. */
bool query_has_runs(const ecs_query *query);

/* The number of matching rows of a table. */
uint32_t query_count_rows(const struct query_terms *terms, const struct table *table);

/* A lineup is the order in which a walk visits rows if it is not that of tables: parents first, or
** that in which a target's sources were tied. A query keeps its last one while it stays valid;
** walks in progress share it. */

/* Consecutive rows of one table at the same depth. */
struct lineup_run {
  uint32_t match;              /* the table's place in the query */
  uint32_t depth;
  uint32_t end;
};

/* Where a row's tie leads, if to one of the query's tables; otherwise match is NONE. */
struct lineup_end {
  uint32_t match, row;
};

/* A table as it was when the lineup was made. */
struct lineup_table {
  uint64_t order;
  uint32_t count;
};

struct lineup {
  uint32_t users;              /* the query and walks */
  uint32_t changes;            /* of the ties, when it was made */
  const struct ties *ties;
  uint32_t count, run_count;
  uint32_t *rows;              /* by position; for sources, indices of their entities */
  uint32_t *targets;           /* for rows: the target of each one's tie, or 0 */
  struct lineup_end *ends;     /* for rows, or NULL if unknown */
  struct lineup_run *runs;
  uint32_t table_count;
  struct lineup_table *tables;
  uint32_t *entities;          /* of the rows in the tables */
  size_t size;                 /* of its allocation */
};

/* Orders the rows of a walk that has just begun, parents first; NULL when out of memory. */
struct lineup *lineup_by_depth(ecs_query *query, const struct walk *walk);

/* The lineup of a query in the order of sources; no row is known. */
struct lineup *lineup_of_sources(ecs_query *query);

/* For ecs_check: whether the kept lineup, unless out of date, is consistent. */
bool lineup_is_sound(const ecs_query *query);

/* Releases a lineup, which may be NULL. */
void lineup_release(ecs_world *world, struct lineup *lineup);

/* A walk visits a query's matches row by row, where terms about ties and other entities decide
** which rows match, how often, and which cells they yield. Walking allocates nothing. */

/* Where a step's cells are. */
struct walk_end {
  const struct table *table;     /* NULL if absent */
  uint32_t row;
  uint32_t first;                /* number of the first column */
};

struct walk {
  const ecs_query *query;
  const struct table *table;     /* the row's table */
  uint32_t match;                /* the table's place in the query */
  uint32_t row;
  uint32_t reach;                /* number of the query's tables to visit */
  uint32_t next_match, next_row; /* next in the order of tables; or the next packed row */
  uint32_t run_end;              /* rows up to this one match, apart from steps */
  uint32_t limit;                /* for events: the row after the last one */
  uint32_t next_source;          /* in the order of sources; 0 at the end */
  struct lineup *lineup;         /* parents first; NULL: the order of tables or sources */
  uint32_t next_in_lineup, run;  /* next position and run in the lineup */
  bool even;                     /* all rows of a table match alike, once for each target */
  bool repeats;                  /* a row may match more than once */
  bool inside;                   /* the current row may match again */
  struct walk_end ends[QUERY_STEPS];     /* by step; for alternatives, those present */
  bool done[QUERY_STEPS];                /* the step has no further solution */
  ecs_id values[QUERY_VARIABLES];
};

/* Where a path to the nearest (`*->`) ends, from an entity on. */
bool walk_nearest(const ecs_query *query, const struct term *term, uint32_t from,
                  struct walk_end *end);

/* Begins a walk in the order of tables or sources, whatever the query asks for. Cannot fail, and
** needs no walk_end. */
void walk_begin(struct walk *walk, const ecs_query *query);

/* Begins a walk in the query's order. With ECS_ENOMEM it is in the state after walk_begin. */
ecs_status walk_begin_ordered(struct walk *walk, ecs_query *query);
void walk_end(struct walk *walk);

/* Moves to the next match; false at the end. No row may move during a walk. */
bool walk_next(struct walk *walk);

/* Moves to the next row that matches apart from terms decided row by row; false at the end. */
bool walk_next_row(struct walk *walk);

/* After walk_next, for callers that need no values: if all rows of the table match as this first
** one does, each once, consumes the table. For an event alone, consumes and counts the rows from
** this one on. */
bool walk_take_table(struct walk *walk);
uint32_t walk_take_events(struct walk *walk);

/* Moves to the row of a living entity, out of order. Returns false if it is in none of the query's
** tables, or a toggle excludes it. */
bool walk_come_to(struct walk *walk, uint32_t entity);

/* The place of a table among those of the walk; NONE if it is not one of them. */
uint32_t walk_match_of(const struct walk *walk, const struct table *table);

/* The first match of a living entity or, with `again`, its next one; false if there is none. */
bool walk_match(struct walk *walk, uint32_t entity, bool again);

/* If every row of the next non-empty table matches exactly once and in the same way, moves to its
** first row and consumes the table. Otherwise returns false and consumes nothing. */
bool walk_next_table(struct walk *walk);

/* After walk_next_table or walk_take_table: the table's columns by slot, like query_columns but
** including terms that are decided row by row. */
void walk_table_columns(const struct walk *walk, uint32_t *first);

/* The columns of the next table and of the one after it; NULL after the last tables. */
struct walk_later {
  const struct column *next, *second;
  uint32_t count;
};

/* Called after walk_next_table: prefetches what is read of later tables before their columns. */
struct walk_later walk_prefetch(const struct walk *walk);

/* Prefetches a column of the second table, and the first cells of the next one; processors prefetch
** the rest themselves. Takes a sixth off 1,000 tables of 100 rows. */
INLINE void walk_fetch_column(const struct walk_later *later, uint32_t at) {
  if (at >= later->count) return;
  uintptr_t cells = (uintptr_t)later->next[at].data;
  FETCH(&later->second[at].data);
  FETCH((const void *)cells);
  FETCH((const void *)(cells + 128));
}

/* Where a term's cells are in this match: the row's own or those of an end; .table is NULL if
** absent. For a tag, .first is undefined. */
struct walk_end walk_cells(const struct walk *walk, const struct term *term);

/* The step whose .ends hold the term's cells; NONE if walk_cells finds them. */
uint32_t walk_step_of(const struct walk *walk, const struct term *term);

/* The entity of the row. */
ecs_id walk_entity(const struct walk *walk);

/* The depth of the row; 0 unless the query visits parents first. */
uint32_t walk_depth(const struct walk *walk);

/* The n-th value of the match. */
ecs_id walk_value(const struct walk *walk, uint32_t n);

/* Counts the matches. False, with the count so far, once it has visited `most` rows, matching or
** not. */
bool walk_count(const ecs_query *query, size_t most, size_t *count);
/* The entity of the first match, or ECS_NULL. */
ecs_status walk_first(ecs_query *query, ecs_id *first);

/* Batches of a walk's matches, for callers that copy cells: the table and row of each match and of
** each step. A batch ends where the set of optional terms of the row's own table changes, where
** depth increases, and at its size. */

#define MATCHES_ROWS 1024u

/* A part of a batch: from match `at` to the next part, cells are in this table. */
struct matches_part {
  const struct table *table;   /* NULL if an optional term is absent */
  uint32_t first;              /* the term's first column; for the row, the query's match */
  uint32_t at;
  bool together;               /* its rows are consecutive */
};

/* The rows of tables that hold a term's cells. */
struct matches_spot {
  uint32_t part_count;
  struct matches_part *parts;
  uint32_t *rows;
};

/* What a table has of a step's term. */
struct matches_seen {
  const struct table *table;
  uint32_t index;              /* NONE: no table yet */
  uint32_t first;
  bool there;
};

/* How a step finds its cells, and where it found the last ones. */
struct matches_step {
  const ecs_query *query;
  const struct term *term;
  enum { STEP_SELF, STEP_TIED, STEP_PATH, STEP_NEAREST, STEP_FIELD, STEP_SPARSE,
         STEP_PACKED } kind;
  bool gives;                  /* its cells, or its presence, are wanted */
  bool hides;                  /* it may be switched off */
  bool cascades;               /* the lineup knows its target */
  const struct ties *ties;     /* of its relation */
  uint32_t target;             /* STEP_TIED: the known target */
  struct matches_seen seen, before;   /* in the last table, and in the one before */
};

struct matches {
  struct walk *walk;
  uint32_t count;
  uint32_t limit;              /* rows in a batch */
  bool mixes;                  /* an optional term may vary inside a batch */
  bool waits;                  /* the walk is already at the next batch's first match */
  uint32_t step_count;
  struct matches_spot own, spots[QUERY_STEPS];
  struct matches_step steps[QUERY_STEPS];
};

/* Whether each row matches at most once and independently of others. With `mixes`, terms of the
** row's own table may be absent in some rows. */
bool matches_suit(const ecs_query *query, bool mixes);

/* Bytes that matches_lay_out lays out for batches of that many rows, aligned to 8 bytes. */
size_t matches_room(const ecs_query *query, uint32_t rows);

/* Called before the first batch of a walk that has begun, in either order. Lines up the sources if
** possible. */
void matches_begin(struct matches *matches, struct walk *walk, ecs_query *query, bool mixes);

/* Sets the buffer of the next batches, with at most that many rows: MATCHES_ROWS or fewer. */
void matches_lay_out(struct matches *matches, void *room, uint32_t rows);

/* The next batch, with at least one match; false at the end. No row may move meanwhile. */
bool matches_next(struct matches *matches);

/* A passage is a walk for C iterators: in runs of matches with contiguous cells, found in batches
** if the query allows it. */

/* Where a term's cells are in a batch, up to the end of a part. */
struct passage_term {
  const struct column *columns;
  const uint32_t *rows;        /* by match */
  uint32_t leaves;             /* 0: it yields none there */
  uint32_t plain_leaves;       /* as leaves; also 0 if handing them out */
  bool marks;                  /* marks them as written */
  const struct table *table;
  uint32_t step;               /* the step that finds them; NONE: the row's own */
};

struct passage {
  struct passage *next;        /* in the world's list, newest first */
  struct walk walk;
  uint32_t match;              /* the run's place in the query: that of its table */
  size_t size;                 /* of the passage, including its batches */
  bool batched;                /* otherwise each run is the walk's match */
  bool listed;                 /* the run's rows need not be contiguous */
  uint32_t at;                 /* the run: its first match in the batch, */
  uint32_t turn;               /* the first match of the next part of any spot, */
  uint32_t end;                /* and the match after the run */
  uint32_t part;               /* part of the run in the batch's spots: for rows, */
  uint32_t parts[QUERY_STEPS]; /* and for each step */
  const uint32_t *entities;    /* of the part's rows; NULL for events */
  uint32_t list_count;         /* number of lists of rows by match */
  const uint32_t *lists[QUERY_STEPS + 1];
  uint32_t term_count;         /* 0 if not batched */
  struct passage_term *terms;  /* all terms of the query */
  struct matches batch;
};

/* Makes one before the first run of a query with steps; NULL when out of memory. */
struct passage *passage_new(ecs_query *query);
void passage_free(ecs_world *world, struct passage *passage);

/* Frees all passages, when nothing will close their iterations any more. */
void passages_free(ecs_world *world);

/* Whether the next match directly follows this one, in its own row and all steps' cells. */
INLINE bool passage_goes_on(const struct passage *passage, uint32_t at) {
  for (uint32_t i = 0; i < passage->list_count; i++)
    if (passage->lists[i][at + 1] != passage->lists[i][at] + 1) return false;
  return true;
}

/* The end of the run that begins with a match, usually right after it. */
INLINE uint32_t passage_run_end(const struct passage *passage, uint32_t at) {
  uint32_t end = at + 1;
  assert(at < passage->turn && passage->turn <= passage->batch.count);
  while (end < passage->turn && passage_goes_on(passage, end - 1)) end++;
  return end;
}

/* After the last run of a part, or before the first: moves to the first run of the next part or
** batch; false at the end. Neither rows nor ties may move meanwhile. */
bool passage_turn(struct passage *passage);

/* Takes the rest of a part, or the next part, as one run whose rows need not be contiguous; false
** at the end. No plain leaves are known. Without batches, one match. */
bool passage_take_part(struct passage *passage);

/* The run's first row, in the table of the match. */
INLINE uint32_t passage_row(const struct passage *passage) {
  return LIKELY(passage->batched) ? passage->batch.own.rows[passage->at] : passage->walk.row;
}

/* passage_column: if batched, a leaf's cells from the run's first one on. passage_has: whether a
** term that is decided row by row is present. */
INLINE void *passage_column(const struct passage *passage, uint32_t term, uint32_t leaf) {
  const struct passage_term *cells = &passage->terms[term];
  assert(term < passage->term_count && leaf < cells->leaves);
  return column_at(&cells->columns[leaf], cells->rows[passage->at]);
}
bool passage_has(const struct passage *passage, uint32_t term);

/* Iterates over the matches that an observer is called for: those that have begun or ended. */

/* ecs_sight */
struct ecs_sight {
  const ecs_world *world;
  struct watch *watch;
  ecs_id entity;
  const ecs_id *values;          /* of the query's variables */
  const uint32_t *places;        /* places of copies, by slot; NULL: the match exists */
  uint32_t span;                 /* the current place among the watch's spans, */
  uint32_t change;               /* among the changes in order, */
  uint32_t sighting;             /* and among the watch's sightings; for what has begun, the
                                 ** first of the current change, */
  uint32_t next_sighting, last_sighting;   /* the one to compare next, and the end of these */
  bool inside;                   /* the entity may match again */
  bool moved;                    /* the changes are rows that moved, and the only question is
                                 ** whether they match */
  struct walk walk;
};

/* Where cells are: no columns for a tag, no table for copies. */
struct sight_cells {
  const struct table *table;
  const struct column *columns;
  uint32_t row;
  bool there;
};

/* Begins before the first match. No row may move until the last one has been visited. */
void sight_begin(struct ecs_sight *sight, const ecs_world *world, struct watch *watch);

/* Moves to the next match; false at the end. */
bool sight_next(struct ecs_sight *sight);

/* The cells that the match has, or had, for a term that yields something. */
struct sight_cells sight_find(const struct ecs_sight *sight, const struct term *term);

/* The n-th value of the match. */
ecs_id sight_value(const struct ecs_sight *sight, uint32_t n);

#endif
