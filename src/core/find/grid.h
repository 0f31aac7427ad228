/* Rows in cells of a grid, of which there is no end and only those that are occupied are kept: they
** stand by z, y, x ascending, in a cell by the order of the query. */
#ifndef ECS_CORE_FIND_GRID_H
#define ECS_CORE_FIND_GRID_H

#include "core/base/buffer.h"

struct copies;
struct memory;

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

struct grid {
  double size;               /* of a cell */
  uint32_t axes;             /* 2 or 3; of 2, z is 0 */
  struct column_buffer places[GRID_AXES];   /* double, by row */
  struct grid_cell *cells;
  uint32_t cell_count, cell_capacity;
  struct grid_line *lines;
  uint32_t line_count, line_capacity;
};

/* Room for sorting, kept from one time to the next. */
struct grid_room {
  uint32_t *order, *other;
  uint32_t order_capacity, other_capacity;
  double *numbers[GRID_AXES];          /* of cells, by row; NaN: it has no place */
  uint32_t number_capacity[GRID_AXES];
  uint32_t *counts;
  uint32_t count_capacity;
};

/* Which columns of the copies a row's place is in. */
struct grid_source {
  const struct copies *copies;
  uint32_t columns[GRID_AXES];
  uint32_t flags;            /* the column that says whether it has one; NONE: every row has */
};

/* The rows of the source that have a place, sorted: room->order. ECS_ENOMEM. */
ecs_status grid_sort(struct memory *memory, struct grid_room *room, const struct grid *grid,
                     const struct grid_source *from, uint32_t *count);

/* The cells of these rows, which come to lie in that order. ECS_ENOMEM. */
ecs_status grid_fill(struct memory *memory, struct grid *grid, const struct grid_room *room,
                     const struct grid_source *from, uint32_t count);

/* Some rows of the source have changed since grid_fill. Whether each is in the cell in which it
** was, or has no place as before: then those of `copies`, which lie in its order, have changed. */
bool grid_follow(struct grid *grid, const struct grid_room *room, const struct grid_source *from,
                 const uint32_t *changed, uint32_t count, struct copies *copies);

/* Whether cells and lines are in order and have all rows. */
bool grid_is_sound(const struct grid *grid, uint32_t rows);

size_t grid_bytes(const struct grid *grid);
size_t grid_room_bytes(const struct grid_room *room);
void grid_free(struct memory *memory, struct grid *grid);
void grid_room_free(struct memory *memory, struct grid_room *room);

#endif
