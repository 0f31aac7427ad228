/* A grid without bounds that holds rows in cells: ordered by z, y, x, and within a cell in query
** order. If the box around all rows has not many more cells than rows, every cell has a number;
** otherwise only occupied cells are kept. */
#ifndef ECS_CORE_INDEX_GRID_H
#define ECS_CORE_INDEX_GRID_H

#include <math.h>

#include "core/base/memory.h"
#include "ecs_index.h"

struct copies;

#define GRID_AXES 3u

/* The cells of one z and y, which are consecutive, form a line. A cell's coordinates are results of
** floor: doubles without a fraction, or infinite far out. */
struct grid_cell {
  double x;
  uint32_t first;            /* its first row; after the last cell: number of rows */
};

struct grid_line {
  double z, y;
  uint32_t first;            /* its first cell; after the last line: number of cells */
};

static inline bool grid_line_precedes(const struct grid_line *line, double z, double y) {
  return line->z < z || (line->z == z && line->y < y);
}

struct grid {
  double size;               /* of a cell */
  double inverse;            /* 1 / size, or 0 if that is not precise enough */
  uint32_t axes;             /* 2 or 3; with 2, z is 0 */
  struct column_buffer places[GRID_AXES];   /* double, by row */
  uint32_t rows;
  bool boxed;                /* cells have numbers, x first: */
  double low[GRID_AXES];     /* the box's first cell, */
  uint32_t extent[GRID_AXES];   /* and its extent in cells on each axis */
  uint32_t *starts;          /* first row of each cell, and the end */
  uint32_t start_capacity;
  struct grid_cell *cells;   /* not boxed: the occupied cells */
  uint32_t cell_count, cell_capacity;
  struct grid_line *lines;
  uint32_t line_count, line_capacity;
};

/* Memory for sorting, kept between calls. */
struct grid_room {
  uint32_t *order;
  uint32_t *other;           /* boxed: cell number by row; NONE: no place */
  uint32_t order_capacity, other_capacity;
  double *numbers[GRID_AXES];   /* not boxed; NaN in the first: no place */
  uint32_t number_capacity[GRID_AXES];
  uint32_t *counts;
  uint32_t count_capacity;
};

/* floor without a call; always the same one of the two zeros. */
static inline double grid_floor(double number) {
  if (!(fabs(number) < 4503599627370496.0)) return number;
  double whole = (double)(int64_t)number;
  return whole - (whole > number) + 0.0;
}

/* The columns of the copies that hold a row's position. */
struct grid_source {
  const struct copies *copies;
  uint32_t columns[GRID_AXES];
  uint32_t flags;            /* column that says whether a row has one; NONE: all have */
};

/* Sorts the source's rows that have a place into cells: room->order is their order. With ECS_ENOMEM
** there are no rows. */
ecs_status grid_sort(struct memory *memory, struct grid_room *room, struct grid *grid,
                     const struct grid_source *from, uint32_t *count);

/* Reserves room for the places of that many rows. ECS_ENOMEM. */
ecs_status grid_reserve(struct memory *memory, struct grid *grid, uint32_t rows);

/* Copies the places of rows in that order. */
void grid_place(struct grid *grid, const struct grid_source *sorted);

/* Removes all rows. */
void grid_clear(struct grid *grid);

/* Called when some rows of the source have changed since grid_sort. If each is in the same cell, or
** still has no place, updates `copies`, which are in its order, and returns true. */
bool grid_follow(struct grid *grid, const struct grid_room *room, const struct grid_source *from,
                 const uint32_t *changed, uint32_t count, struct copies *copies);

/* Whether cells and lines are in order and hold all rows. */
bool grid_is_sound(const struct grid *grid, uint32_t rows);

void grid_free(struct memory *memory, struct grid *grid);
void grid_room_free(struct memory *memory, struct grid_room *room);

/* Searches in a grid. Distances are sqrt(dx*dx + dy*dy (+ dz*dz)), each step rounded to a double,
** as Lua computes them. */

/* Begins a search for rows within `reach` of a place; finds nothing if that is negative or NaN. */
void search_begin(struct ecs_search *search, const struct grid *grid, const double *at,
                  double reach);

/* Moves to rows search->row to search->end of the next line, in cells that may be in reach; false
** at the end. */
bool search_line(struct ecs_search *search);

/* The next row, by cells, then in query order; NONE at the end. */
uint32_t search_next(struct ecs_search *search);

/* What to skip, and what decides between rows at the same distance. */
struct rivals {
  const ecs_id *entities;
  const uint32_t *order;
  ecs_id except;             /* ECS_NULL: none */
};

/* The nearest row within `reach`; of several, the first in query order; NONE if there is none.
** Searches outward, without visiting everything in reach. */
uint32_t search_nearest(const struct grid *grid, const double *at, double reach,
                        const struct rivals *rivals, double *distance);

#endif
