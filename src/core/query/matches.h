/* Matches of a walk many at a time, for who copies their cells: of the row and of each step in
** which table and row they are. A batch ends where another set of optional terms is there, where
** rows stand deeper, and after so many rows. */
#ifndef ECS_CORE_QUERY_MATCHES_H
#define ECS_CORE_QUERY_MATCHES_H

#include "core/query/walk.h"

#define MATCHES_ROWS 1024u

/* From match `at` of a batch on, cells are in this table, up to the next part. */
struct matches_part {
  const struct table *table;
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

/* How a step finds its cells, and where it found the last ones. */
struct matches_step {
  const struct term *term;
  enum { STEP_SELF, STEP_TIED, STEP_PATH, STEP_FIELD, STEP_SPARSE, STEP_PACKED } kind;
  bool gives;                  /* its cells are wanted */
  bool hides;                  /* they may be switched off */
  bool cascades;               /* the lineup knows where it leads */
  uint32_t packed;             /* STEP_PACKED: which row of its own the next match is of */
  const struct ties *ties;     /* of a relation */
  uint32_t target;             /* STEP_TIED: that somebody known */
  uint32_t index;              /* of the last table; NONE */
  const struct table *table;
  uint32_t first;
  bool there;                  /* in that table */
};

struct matches {
  struct walk *walk;
  uint32_t count;
  uint32_t limit;              /* of a batch's rows */
  uint32_t absent;             /* a bit for each step that finds nothing in these rows */
  bool waits;                  /* the walk's row is that of the next batch's first match */
  uint32_t step_count;
  struct matches_spot own, spots[QUERY_STEPS];
  struct matches_step steps[QUERY_STEPS];
};

/* Whether the query's steps are such that each row matches once at most, and is told by itself. */
bool matches_suit(const ecs_query *query);

/* Bytes that matches_lay_out lays out for batches of so many rows, aligned to 8 bytes. */
size_t matches_room(const ecs_query *query, uint32_t rows);

/* Before the first batch of a walk that has begun, ordered or not. If it can be, the sources are
** lined up. */
void matches_begin(struct matches *matches, struct walk *walk, ecs_query *query);

/* Where the next batches are to be put, of so many rows at most: MATCHES_ROWS or fewer. */
void matches_lay_out(struct matches *matches, void *room, uint32_t rows);

/* The next matches, at least one; false at the end. No row moves while batches are under way. */
bool matches_next(struct matches *matches);

#endif
