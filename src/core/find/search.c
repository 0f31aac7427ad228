#include <math.h>

#include "core/find/search.h"

/* Distances are to have the same bits everywhere. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

static double square(double x) { return x * x; }

static inline double place(const struct grid *grid, uint32_t axis, uint32_t row) {
  return ((const double *)grid->places[axis].data)[row];
}

static inline double distance_to(const struct grid *grid, const double *at, uint32_t row) {
  double sum = square(place(grid, 0, row) - at[0]) + square(place(grid, 1, row) - at[1]);
  if (grid->axes == 3) sum = sum + square(place(grid, 2, row) - at[2]);
  return sqrt(sum);
}

/* ---- boxes ----------------------------------------------------------------------------- */

/* Cells that may have something in reach on one axis. What rounding does to differences, squares
** and roots is far less than what is added here, and squares of less than 1e-150 may be 0. That
** dividing and floor keep the order of numbers makes the rest exact. */
static void reach_on_axis(struct ecs_search *walk, uint32_t axis, double at, double reach) {
  double wide = reach * (1 + 1e-12) + fabs(at) * 1e-12 + 1e-150;
  double size = walk->grid->size;
  walk->low[axis] = floor((at - wide) / size);
  walk->high[axis] = floor((at + wide) / size);
}

/* Numbers of lines and of cells are whole, so that what is sought stands no farther behind the
** first one than its number is behind that one's, and just there where none is missing. */

static bool is_line_before(const struct grid_line *line, double z, double y) {
  return line->z < z || (line->z == z && line->y < y);
}

/* The first line, from one on that stands before it, that does not stand before a z and y. */
static uint32_t find_line(const struct grid *grid, uint32_t from, double z, double y) {
  uint32_t low = from, high = grid->line_count;
  const struct grid_line *lines = grid->lines;
  if (low < high && lines[low].z == z && y - lines[low].y < (double)(high - low)) {
    high = low + (y > lines[low].y ? (uint32_t)(y - lines[low].y) : 0);
    if (high > low && is_line_before(&lines[high - 1], z, y)) return high;
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (is_line_before(&lines[middle], z, y))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first line behind all those of a z. */
static uint32_t find_layer(const struct grid *grid, uint32_t from, double z) {
  uint32_t low = from, high = grid->line_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (grid->lines[middle].z <= z)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_cell_before(const struct grid_cell *cell, double x, bool behind) {
  return cell->x < x || (behind && cell->x == x);
}

/* The first cell of a line from x on; with `behind`, the first one behind x. */
static uint32_t find_cell(const struct grid *grid, uint32_t line, double x, bool behind) {
  uint32_t low = grid->lines[line].first, high = grid->lines[line + 1].first;
  const struct grid_cell *cells = grid->cells;
  double offset = low < high ? x - cells[low].x + behind : 0;
  if (offset > 0 && offset < (double)(high - low)) {
    high = low + (uint32_t)offset;
    if (is_cell_before(&cells[high - 1], x, behind)) return high;
  }
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (is_cell_before(&cells[middle], x, behind))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The first cell behind x, of those from one on: mostly one of the next. */
static uint32_t find_end(const struct grid *grid, uint32_t line, uint32_t from, double x) {
  uint32_t end = grid->lines[line + 1].first, near = end - from < 4 ? end : from + 4;
  for (uint32_t at = from; at < near; at++)
    if (!(grid->cells[at].x <= x)) return at;
  return near == end ? end : find_cell(grid, line, x, true);
}

bool search_line(struct ecs_search *walk) {
  const struct grid *grid = walk->grid;
  while (walk->line < grid->line_count) {
    const struct grid_line *line = &grid->lines[walk->line];
    if (line->z > walk->high[2]) break;
    if (line->z < walk->low[2] || line->y < walk->low[1]) {
      double z = line->z < walk->low[2] ? walk->low[2] : line->z;
      walk->line = find_line(grid, walk->line + 1, z, walk->low[1]);
      continue;
    }
    if (line->y > walk->high[1]) {
      walk->line = find_layer(grid, walk->line + 1, line->z);
      continue;
    }
    uint32_t from = find_cell(grid, walk->line, walk->low[0], false);
    uint32_t to = find_end(grid, walk->line, from, walk->high[0]);
    walk->line++;
    if (from >= to) continue;
    walk->row = grid->cells[from].first;
    walk->end = grid->cells[to].first;
    return true;
  }
  walk->row = walk->end = 0;
  return false;
}

/* Whether anything can be in reach. */
static bool begin_walk(struct ecs_search *walk, const struct grid *grid, const double *at,
                       double reach) {
  *walk = (struct ecs_search){.grid = grid};
  bool sound = reach >= 0;
  for (uint32_t axis = 0; axis < grid->axes; axis++) {
    double here = at[axis];
    sound = sound && here == here && (fabs(here) <= DBL_MAX || reach > DBL_MAX);
    reach_on_axis(walk, axis, here, reach);
    if (reach <= DBL_MAX) continue;
    walk->low[axis] = -HUGE_VAL;
    walk->high[axis] = HUGE_VAL;
  }
  if (!sound) walk->line = grid->line_count;
  return sound;
}

/* ---- within ---------------------------------------------------------------------------- */

void search_begin(struct ecs_search *search, const struct grid *grid, const double *at,
                  double reach) {
  begin_walk(search, grid, at, reach);
  memcpy(search->at, at, grid->axes * sizeof *at);
  search->reach = reach;
}

uint32_t search_next(struct ecs_search *search) {
  do {
    while (search->row < search->end) {
      uint32_t row = search->row++;
      if (distance_to(search->grid, search->at, row) <= search->reach) return row;
    }
  } while (search_line(search));
  return NONE;
}

/* ---- nearest --------------------------------------------------------------------------- */

/* The best row so far, and a sum of squares whose root is farther in any case. */
struct best {
  uint32_t row;
  double distance, beyond;
};

/* Whether a row whose place is so far away comes before it. */
static bool is_better(const struct best *best, const struct rivals *rivals, uint32_t row,
                      double distance) {
  if (rivals->entities[row] == rivals->except) return false;
  return best->row == NONE || distance < best->distance ||
         (distance == best->distance && rivals->order[row] < rivals->order[best->row]);
}

/* Of a box. */
static struct best best_of(struct ecs_search *walk, const double *at, const struct rivals *rivals) {
  struct best best = {NONE, 0, HUGE_VAL};
  const struct grid *grid = walk->grid;
  const double *x = grid->places[0].data, *y = grid->places[1].data, *z = grid->places[2].data;
  bool solid = grid->axes == 3;
  while (search_line(walk))
    for (uint32_t row = walk->row; row < walk->end; row++) {
      double sum = square(x[row] - at[0]) + square(y[row] - at[1]);
      if (solid) sum = sum + square(z[row] - at[2]);
      if (LIKELY(sum > best.beyond)) continue;
      double distance = sqrt(sum);
      if (is_better(&best, rivals, row, distance))
        best = (struct best){row, distance, sum * (1 + 1e-15)};
    }
  return best;
}

/* How far the first search goes: a cell, or to where there can be a cell at all. */
static double first_reach(const struct grid *grid, const double *at) {
  const struct grid_line *first = &grid->lines[0], *last = &grid->lines[grid->line_count - 1];
  double reach = grid->size;
  if (grid->axes == 3) {
    reach = fmax(reach, first->z * grid->size - at[2]);
    return fmax(reach, at[2] - (last->z + 1) * grid->size);
  }
  reach = fmax(reach, first->y * grid->size - at[1]);
  return fmax(reach, at[1] - (last->y + 1) * grid->size);
}

uint32_t search_nearest(const struct grid *grid, const double *at, double reach,
                        const struct rivals *rivals, double *distance) {
  struct ecs_search walk;
  if (!begin_walk(&walk, grid, at, reach) || grid->line_count == 0) return NONE;
  double tried = first_reach(grid, at);
  for (;;) {
    if (!(tried < reach)) tried = reach;
    begin_walk(&walk, grid, at, tried);
    struct best best = best_of(&walk, at, rivals);
    if (best.row != NONE && best.distance <= tried) {
      *distance = best.distance;
      return best.row;
    }
    if (tried == reach) return NONE;
    /* In a corner of the box: those as near need not be in it, but no farther ones matter. */
    tried = best.row != NONE && best.distance < 2 * tried ? best.distance : 2 * tried;
  }
}
