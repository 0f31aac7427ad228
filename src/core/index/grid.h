/* Rows in cells of a grid, of which there is no end: they stand by z, y, x ascending, in a cell by
** the order of the query. Where the box around all of them has not many more cells than there are
** rows, each of its cells has a number; else only those that are occupied are kept. */
#ifndef ECS_CORE_INDEX_GRID_H
#define ECS_CORE_INDEX_GRID_H

#include <math.h>

#include "core/base/memory.h"
#include "ecs_index.h"

struct copies;

#define GRID_AXES 3u

/* Those of one z and y, which follow each other, are a line. Numbers of cells are what floor gives:
** doubles without a fraction, or infinite where a place is too far out. */
struct grid_cell {
  double x;
  uint32_t first;            /* its first row; behind the last cell: all rows */
};

struct grid_line {
  double z, y;
  uint32_t first;            /* its first cell; behind the last line: all cells */
};

static inline bool grid_line_precedes(const struct grid_line *line, double z, double y) {
  return line->z < z || (line->z == z && line->y < y);
}

struct grid {
  double size;               /* of a cell */
  double inverse;            /* 1 / size; 0 where that is not precise enough */
  uint32_t axes;             /* 2 or 3; of 2, z is 0 */
  struct column_buffer places[GRID_AXES];   /* double, by row */
  uint32_t rows;
  bool boxed;                /* cells have numbers, x first: */
  double low[GRID_AXES];     /* the box's first cell, */
  uint32_t extent[GRID_AXES];   /* and how many it has on each axis */
  uint32_t *starts;          /* the first row of each cell, and behind the last one */
  uint32_t start_capacity;
  struct grid_cell *cells;   /* not boxed: those that are occupied */
  uint32_t cell_count, cell_capacity;
  struct grid_line *lines;
  uint32_t line_count, line_capacity;
};

/* Room for sorting, kept from one time to the next. */
struct grid_room {
  uint32_t *order;
  uint32_t *other;           /* boxed: the numbers of cells, by row; NONE: it has no place */
  uint32_t order_capacity, other_capacity;
  double *numbers[GRID_AXES];   /* else; in the first NaN: it has no place */
  uint32_t number_capacity[GRID_AXES];
  uint32_t *counts;
  uint32_t count_capacity;
};

/* floor, rather than a call of it; of the two zeros always the same one. */
static inline double grid_floor(double number) {
  if (!(fabs(number) < 4503599627370496.0)) return number;
  double whole = (double)(int64_t)number;
  return whole - (whole > number) + 0.0;
}

/* Which columns of the copies a row's place is in. */
struct grid_source {
  const struct copies *copies;
  uint32_t columns[GRID_AXES];
  uint32_t flags;            /* the column that says whether it has one; NONE: every row has */
};

/* Puts the rows of the source that have a place into cells: room->order says how they come to lie.
** ECS_ENOMEM: there are none. */
ecs_status grid_sort(struct memory *memory, struct grid_room *room, struct grid *grid,
                     const struct grid_source *from, uint32_t *count);

/* Room for the places of so many rows. ECS_ENOMEM. */
ecs_status grid_reserve(struct memory *memory, struct grid *grid, uint32_t rows);

/* The places of rows that lie in that order. */
void grid_place(struct grid *grid, const struct grid_source *sorted);

/* No rows. */
void grid_clear(struct grid *grid);

/* Some rows of the source have changed since grid_sort. Whether each is in the cell in which it
** was, or has no place as before: then those of `copies`, which lie in its order, have changed. */
bool grid_follow(struct grid *grid, const struct grid_room *room, const struct grid_source *from,
                 const uint32_t *changed, uint32_t count, struct copies *copies);

/* Whether cells and lines are in order and have all rows. */
bool grid_is_sound(const struct grid *grid, uint32_t rows);

size_t grid_bytes(const struct grid *grid);
size_t grid_room_bytes(const struct grid_room *room);
void grid_free(struct memory *memory, struct grid *grid);
void grid_room_free(struct memory *memory, struct grid_room *room);

/* Looking into a grid: who is near a place. Distances are sqrt(dx*dx + dy*dy (+ dz*dz)), each step
** rounded to a double, as Lua computes them. */

/* The search for those no farther than `reach` from a place; for none with one below 0, or with
** what is no number. */
void search_begin(struct ecs_search *search, const struct grid *grid, const double *at,
                  double reach);

/* Comes to the rows from search->row to search->end of the next line, in cells that may have
** something in reach; false at the end. */
bool search_line(struct ecs_search *search);

/* The next row, by cells, then in the order of the query; NONE at the end. */
uint32_t search_next(struct ecs_search *search);

/* Whom to pass over, and what tells rows apart that are equally near. */
struct rivals {
  const ecs_id *entities;
  const uint32_t *order;
  ecs_id except;             /* ECS_NULL: nobody */
};

/* The nearest row no farther than `reach`, of several the first in the order of the query; NONE
** when there is none. Goes outward, and not through all that are in reach. */
uint32_t search_nearest(const struct grid *grid, const double *at, double reach,
                        const struct rivals *rivals, double *distance);

#endif
