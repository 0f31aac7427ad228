/* A walk as C iterators go along it: in runs of matches whose cells lie together, which are found
** many at a time where the query allows it. */
#ifndef ECS_CORE_QUERY_PASSAGE_H
#define ECS_CORE_QUERY_PASSAGE_H

#include "core/query/matches.h"
#include "core/storage/layout.h"

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

#endif
