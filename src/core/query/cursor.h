/* Stretches: rows of a table that lie together, whole groups of them (marks.h) but at its end, that
** a query about what has changed goes through. Rows between them are in groups that nobody has
** written to, and do not match. Of other queries all rows are one stretch. */
#ifndef ECS_CORE_QUERY_CURSOR_H
#define ECS_CORE_QUERY_CURSOR_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/query/query.h"
#include "core/storage/table.h"

struct walk;

struct row_stretch {
  uint32_t row, count;         /* without any: none, before the first one */
  uint32_t next;               /* the word that the next one begins with; 0: not known */
};

/* Goes on to a table's next stretch; false when there is none. */
bool stretch_next(const struct query_terms *terms, const struct table *table,
                  struct row_stretch *stretch);

/* The first word of 64 rows, from one on, that is in a stretch; all that there are for none. */
uint32_t stretch_next_word(const struct query_terms *terms, const struct table *table,
                           uint32_t word);

/* Whether all rows of a table's stretches match, of a query about what has changed. */
bool stretches_are_full(const struct query_terms *terms, const struct table *table);

/* Whether a table's rows may differ in what a term that is not decided row by row asks for. */
bool term_splits(const struct term *term, const struct table *table);

/* Which rows of a table match a query, where components of it may be switched off: 64 of them at a
** time. Terms that are decided row by row are not looked at: see walk.h. */

/* Whether a row has what a term asks for, as far as that depends on what is switched off; of a
** table that has the component. */
bool term_shows(const struct term *term, const struct table *table, uint32_t row);

/* The next rows, from a row on, that match and in which the same terms are there. Where nothing is
** off these are all that are left. *count is 0 at the end. */
uint32_t query_next_run(const struct query_terms *terms, const struct table *table, uint32_t from,
                        uint32_t *count);

/* Which of 64 rows of a table match, from row 64 * word on; nothing behind the last row. */
uint64_t query_rows_at(const struct query_terms *terms, const struct table *table, uint32_t word);

/* Whether rows that match may differ in which terms are there. */
bool query_varies(const struct query_terms *terms);

/* query_rows_at for all rows of a table, as many words as they take; for words from one on. */
void query_mark_rows(const struct query_terms *terms, const struct table *table, uint64_t *bits);
void query_mark_words(const struct query_terms *terms, const struct table *table, uint32_t from,
                      uint32_t words, uint64_t *bits);

/* Which rows of a table match. */
enum table_rows { ROWS_NONE, ROWS_ALL, ROWS_SOME };
enum table_rows query_table_rows(const struct query_terms *terms, const struct table *table);

/* Which terms that may be absent are there in some rows of a table and not in others, a bit by
** slot; and in which rows such a term is, a byte each. */
uint64_t query_rows_varying(const struct query_terms *terms, const struct table *table);
void query_tell_shown(const struct term *term, const struct table *table, uint32_t row,
                      uint32_t count, uint8_t *to);

/* Whether a row matches. */
bool query_takes_row(const struct query_terms *terms, const struct table *table, uint32_t row);

/* Whether a table's rows differ: all of them match else, with the terms that its columns say. */
bool query_splits(const struct query_terms *terms, const struct table *table);

/* Whether any of its tables that have rows does so. */
bool query_has_runs(const ecs_query *query);

/* How many rows of a table match. */
uint32_t query_count_rows(const struct query_terms *terms, const struct table *table);

/* The order in which a walk comes to rows where it is not that of tables: parents first, or that in
** which a target's sources were tied. A query keeps the last one it made, and has it as long as it
** would come out the same; walks that are under way hold it, too. */

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

/* Going through a query's matches row by row, where terms about ties and about others say which
** rows match, how often, and whose cells they give. Nothing is allocated on the way. */

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

/* Where the cells are that a path to the nearest ends at, from an entity on. */
bool walk_nearest(const ecs_query *query, const struct term *term, uint32_t from,
                  struct walk_end *end);

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

/* After walk_next_table or walk_take_table that table's columns, by slot, as query_columns has them
** but for terms that are decided row by row. */
void walk_table_columns(const struct walk *walk, uint32_t *first);

/* Columns of the next table and of the one behind it; of none after the walk's last tables. */
struct walk_later {
  const struct column *next, *second;
  uint32_t count;
};

/* After walk_next_table. Asks for what is read of later tables before their columns are. */
struct walk_later walk_prefetch(const struct walk *walk);

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

/* How many matches there are; after so many matches, and rows that do not match, false, and those
** so far. */
bool walk_count(const ecs_query *query, size_t most, size_t *count);
/* The first one's entity (ECS_NULL for none). */
ecs_status walk_first(ecs_query *query, ecs_id *first);

/* Matches of a walk many at a time, for who copies their cells: of the row and of each step in
** which table and row they are. A batch ends where another set of optional terms of the row's own
** table is there, where rows stand deeper, and after so many rows. */

#define MATCHES_ROWS 1024u

/* From match `at` of a batch on, cells are in this table, up to the next part. */
struct matches_part {
  const struct table *table;   /* NULL: an optional term is not there */
  uint32_t first;              /* the term's first column; of the row the query's match */
  uint32_t at;
  bool together;               /* for who copies: its rows follow each other */
};

/* Which rows of tables have the cells of a term. */
struct matches_spot {
  uint32_t part_count;
  struct matches_part *parts;
  uint32_t *rows;
};

/* What there is of a step's term in a table. */
struct matches_seen {
  const struct table *table;
  uint32_t index;              /* NONE: in none yet */
  uint32_t first;
  bool there;
};

/* How a step finds its cells, and where it found the last ones. */
struct matches_step {
  const ecs_query *query;
  const struct term *term;
  enum { STEP_SELF, STEP_TIED, STEP_PATH, STEP_NEAREST, STEP_FIELD, STEP_SPARSE,
         STEP_PACKED } kind;
  bool gives;                  /* its cells are wanted, or whether it is there */
  bool hides;                  /* they may be switched off */
  bool cascades;               /* the lineup knows where it leads */
  const struct ties *ties;     /* of a relation */
  uint32_t target;             /* STEP_TIED: that somebody known */
  struct matches_seen seen, before;   /* in the last table, and in the one before */
};

struct matches {
  struct walk *walk;
  uint32_t count;
  uint32_t limit;              /* of a batch's rows */
  bool mixes;                  /* an optional term may be there in some rows of a batch */
  bool waits;                  /* the walk's row is that of the next batch's first match */
  uint32_t step_count;
  struct matches_spot own, spots[QUERY_STEPS];
  struct matches_step steps[QUERY_STEPS];
};

/* Whether the query's steps are such that each row matches once at most, and is told by itself:
** also with terms of its own table that may be absent in some rows (`mixes`). */
bool matches_suit(const ecs_query *query, bool mixes);

/* Bytes that matches_lay_out lays out for batches of so many rows, aligned to 8 bytes. */
size_t matches_room(const ecs_query *query, uint32_t rows);

/* Before the first batch of a walk that has begun, ordered or not. If it can be, the sources are
** lined up. */
void matches_begin(struct matches *matches, struct walk *walk, ecs_query *query, bool mixes);

/* Where the next batches are to be put, of so many rows at most: MATCHES_ROWS or fewer. */
void matches_lay_out(struct matches *matches, void *room, uint32_t rows);

/* The next matches, at least one; false at the end. No row moves while batches are under way. */
bool matches_next(struct matches *matches);

/* A walk as C iterators go along it: in runs of matches whose cells lie together, which are found
** many at a time where the query allows it. */

/* Where the cells of a term are in the matches of a batch, up to where a part of it ends. */
struct passage_term {
  const struct column *columns;
  const uint32_t *rows;        /* by match */
  uint32_t leaves;             /* 0: it gives none there */
  uint32_t plain_leaves;       /* the same; 0 also where handing them out */
  bool marks;                  /* marks them as written */
  const struct table *table;
  uint32_t step;               /* that finds them; NONE: the row's own */
};

struct passage {
  struct passage *next;        /* in the world's list: the newest first */
  struct walk walk;
  uint32_t match;              /* of the run: of the query, its table's */
  size_t size;                 /* of the passage, with the room of its batches */
  bool batched;                /* else each run is the walk's match */
  bool listed;                 /* the run's rows need not lie together */
  uint32_t at;                 /* the run: its first match in the batch, */
  uint32_t turn;               /* the match where the next part begins, of any spot, */
  uint32_t end;                /* and the one behind the run */
  uint32_t part;               /* where the run is in the batch's spots: of the rows, */
  uint32_t parts[QUERY_STEPS]; /* and of each step */
  const uint32_t *entities;    /* of the part's rows; NULL of events */
  uint32_t list_count;         /* lists of rows, by match, that the batch's matches have cells in */
  const uint32_t *lists[QUERY_STEPS + 1];
  uint32_t term_count;         /* 0 where not batched */
  struct passage_term *terms;  /* all of the query's */
  struct matches batch;
};

/* Makes one before the first run of a query that has steps; NULL when out of memory. */
struct passage *passage_new(ecs_query *query);
void passage_free(ecs_world *world, struct passage *passage);

/* Frees all that there are: nothing closes their iterations any more. */
void passages_free(ecs_world *world);

/* Whether the match behind one has its row, and the cells of all steps, behind those of that. */
INLINE bool passage_goes_on(const struct passage *passage, uint32_t at) {
  for (uint32_t i = 0; i < passage->list_count; i++)
    if (passage->lists[i][at + 1] != passage->lists[i][at] + 1) return false;
  return true;
}

/* Where the run that begins with a match ends: behind it, most often. */
INLINE uint32_t passage_run_end(const struct passage *passage, uint32_t at) {
  uint32_t end = at + 1;
  assert(at < passage->turn && passage->turn <= passage->batch.count);
  while (end < passage->turn && passage_goes_on(passage, end - 1)) end++;
  return end;
}

/* Behind the last run of a part, or before the first one: comes to the first run of the next part,
** or batch; false at the end. No row moves while a passage is under way, and no tie. */
bool passage_turn(struct passage *passage);

/* All that is left of a part as one run, whose rows need not lie together, or all of the next part;
** false at the end. No plain leaves are known of it. Of what is not batched one match. */
bool passage_take_part(struct passage *passage);

/* The run's first row, in the table of the match. */
INLINE uint32_t passage_row(const struct passage *passage) {
  return LIKELY(passage->batched) ? passage->batch.own.rows[passage->at] : passage->walk.row;
}

/* Where batched, the cells from the run's first one on of a term that has that leaf; and whether a
** term that is decided row by row is there. */
INLINE void *passage_column(const struct passage *passage, uint32_t term, uint32_t leaf) {
  const struct passage_term *cells = &passage->terms[term];
  assert(term < passage->term_count && leaf < cells->leaves);
  return column_at(&cells->columns[leaf], cells->rows[passage->at]);
}
bool passage_has(const struct passage *passage, uint32_t term);

/* What an observer is called for: the matches that have come or gone, one after the other. */

/* ecs_sight */
struct ecs_sight {
  const ecs_world *world;
  struct watch *watch;
  ecs_id entity;
  const ecs_id *values;          /* of the query's variables */
  const uint32_t *places;        /* of copies, by slot; NULL: the match is there */
  uint32_t span;                 /* what it has come to, among those of the watch, */
  uint32_t change;               /* among the changes in their order, */
  uint32_t sighting;             /* and among the watch's sightings */
  bool inside;                   /* the entity may match once more */
  bool moved;                    /* the changes are rows that moved, and nothing more is to be asked
                                 ** than whether they match */
  struct walk walk;
};

/* Where cells are; no columns for a tag, and no table for copies. */
struct sight_cells {
  const struct table *table;
  const struct column *columns;
  uint32_t row;
  bool there;
};

/* Before the first one. Until the last one no row moves. */
void sight_begin(struct ecs_sight *sight, const ecs_world *world, struct watch *watch);

/* The next one; false at the end. */
bool sight_next(struct ecs_sight *sight);

/* What the match has, or had, for a term that gives something. */
struct sight_cells sight_find(const struct ecs_sight *sight, const struct term *term);

/* The n-th value that goes with the match. */
ecs_id sight_value(const struct ecs_sight *sight, uint32_t n);

#endif
