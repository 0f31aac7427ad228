#include <math.h>

#include "core/index/grid.h"

#include "core/base/sets.h"

/* Distances must have the same bits on every machine. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

static double search_square(double x) { return x * x; }

static inline double search_place(const struct grid *grid, uint32_t axis, uint32_t row) {
  return ((const double *)grid->places[axis].data)[row];
}

/* The square of a row's distance. */
static inline double search_square_to(const struct grid *grid, const double *at, uint32_t row) {
  double sum = search_square(search_place(grid, 0, row) - at[0]) +
               search_square(search_place(grid, 1, row) - at[1]);
  if (grid->axes == 3) sum = sum + search_square(search_place(grid, 2, row) - at[2]);
  return sum;
}

/* ---- boxes ----------------------------------------------------------------------------- */

/* How far something in reach can be on one axis. The margin is far larger than any rounding of
** differences, squares and roots; squares of less than 1e-150 may be 0. */
static inline double search_width_of(double at, double reach) {
  return reach * (1 + 1e-12) + fabs(at) * 1e-12 + 1e-150;
}

/* The cells that may be in reach; exact, since division and floor preserve order. */
static void search_reach_on_axis(struct ecs_search *walk, uint32_t axis, double at, double reach) {
  double wide = search_width_of(at, reach), size = walk->grid->size;
  bool all = reach > DBL_MAX;
  walk->low[axis] = all ? -HUGE_VAL : grid_floor((at - wide) / size);
  walk->high[axis] = all ? HUGE_VAL : grid_floor((at + wide) / size);
}

/* The range of cells that may be in reach, by their numbers from the box's first cell on; false if
** it is empty. A cell too many does no harm, so no division is needed: a millionth of a cell
** exceeds any rounding of numbers in the box. */
static inline bool search_box(struct ecs_search *walk, uint32_t axis, double at, double reach) {
  const struct grid *grid = walk->grid;
  double here = at * grid->inverse - grid->low[axis];
  double wide = search_width_of(at, reach) * grid->inverse + 1e-6;
  double low = here - wide, high = here + wide, last = (double)(grid->extent[axis] - 1);
  if (UNLIKELY(!(fabs(here) < 1e15 && wide < 1e15))) {
    search_reach_on_axis(walk, axis, at, reach);
    low = walk->low[axis] - grid->low[axis];
    high = walk->high[axis] - grid->low[axis];
  }
  if (!(low <= last + 1 && high >= 0)) return false;
  low = low < last ? low : last;
  walk->low[axis] = low > 0 ? low : 0;
  walk->high[axis] = high < last ? high : last;
  return true;
}

/* Lines and cells have whole coordinates, so one that is sought lies at most as many places after
** the first as their coordinates differ, and exactly there if none is missing. */

/* The first line, from line `from` on, that does not precede z and y. */
static uint32_t search_find_line(const struct grid *grid, uint32_t from, double z, double y) {
  uint32_t low = from, high = grid->line_count;
  const struct grid_line *lines = grid->lines;
  if (low < high && lines[low].z == z && y - lines[low].y < (double)(high - low)) {
    high = low + (y > lines[low].y ? (uint32_t)(y - lines[low].y) : 0);
    if (high > low && grid_line_precedes(&lines[high - 1], z, y)) return high;
  }
  BISECT(low, high, at, grid_line_precedes(&lines[at], z, y));
  return low;
}

static bool search_is_cell_before(const struct grid_cell *cell, double x, bool behind) {
  return cell->x < x || (behind && cell->x == x);
}

/* The first cell of a line from x on or, with `behind`, after x. */
static uint32_t search_find_cell(const struct grid *grid, uint32_t line, double x, bool behind) {
  uint32_t low = grid->lines[line].first, high = grid->lines[line + 1].first;
  const struct grid_cell *cells = grid->cells;
  double offset = low < high ? x - cells[low].x + behind : 0;
  if (offset > 0 && offset < (double)(high - low)) {
    high = low + (uint32_t)offset;
    if (search_is_cell_before(&cells[high - 1], x, behind)) return high;
  }
  BISECT(low, high, at, search_is_cell_before(&cells[at], x, behind));
  return low;
}

/* The first cell after x, from cell `at` on: usually one of the next few. */
static uint32_t search_find_end(const struct grid *grid, uint32_t line, uint32_t from, double x) {
  uint32_t end = grid->lines[line + 1].first, near = end - from < 4 ? end : from + 4;
  for (uint32_t at = from; at < near; at++)
    if (!(grid->cells[at].x <= x)) return at;
  return near == end ? end : search_find_cell(grid, line, x, true);
}

static bool search_line_in_box(struct ecs_search *walk) {
  const struct grid *grid = walk->grid;
  uint32_t height = grid->extent[1], lines = height * grid->extent[2];
  uint32_t low = (uint32_t)walk->low[1], high = (uint32_t)walk->high[1];
  while (walk->line < lines) {
    uint32_t z = grid->axes == 3 ? walk->line / height : 0, y = walk->line - z * height;
    if (z > (uint32_t)walk->high[2]) break;
    if (y > high) {
      walk->line = (z + 1) * height + low;
      continue;
    }
    const uint32_t *starts = grid->starts + (size_t)walk->line++ * grid->extent[0];
    walk->row = starts[(uint32_t)walk->low[0]];
    walk->end = starts[(uint32_t)walk->high[0] + 1];
    if (walk->row < walk->end) return true;
  }
  walk->line = UINT32_MAX;
  walk->row = walk->end = 0;
  return false;
}

bool search_line(struct ecs_search *walk) {
  const struct grid *grid = walk->grid;
  if (LIKELY(grid->boxed)) return search_line_in_box(walk);
  while (walk->line < grid->line_count) {
    const struct grid_line *line = &grid->lines[walk->line];
    if (line->z > walk->high[2]) break;
    if (line->z < walk->low[2] || line->y < walk->low[1]) {
      double z = line->z < walk->low[2] ? walk->low[2] : line->z;
      walk->line = search_find_line(grid, walk->line + 1, z, walk->low[1]);
      continue;
    }
    if (line->y > walk->high[1]) {
      walk->line++;
      BISECT(walk->line, grid->line_count, at, grid->lines[at].z <= line->z);
      continue;
    }
    uint32_t from = search_find_cell(grid, walk->line, walk->low[0], false);
    uint32_t to = search_find_end(grid, walk->line, from, walk->high[0]);
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
static bool search_is_sound(const struct grid *grid, const double *at, double reach) {
  bool sound = reach >= 0;
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    sound = sound && at[axis] == at[axis] && (fabs(at[axis]) <= DBL_MAX || reach > DBL_MAX);
  return sound;
}

static void search_begin_walk(struct ecs_search *walk, const struct grid *grid, const double *at,
                              double reach) {
  walk->grid = grid;
  walk->keyed = NULL;
  walk->line = walk->row = walk->end = 0;
  memset(walk->low, 0, sizeof walk->low);
  memset(walk->high, 0, sizeof walk->high);
  if (LIKELY(grid->boxed)) {
    bool some = true;
    for (uint32_t axis = 0; some && axis < walk->grid->axes; axis++)
      some = search_box(walk, axis, at[axis], reach);
    walk->line = (uint32_t)walk->low[2] * walk->grid->extent[1] + (uint32_t)walk->low[1];
    if (!some) walk->line = UINT32_MAX;
    return;
  }
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    search_reach_on_axis(walk, axis, at[axis], reach);
}

/* ---- within ---------------------------------------------------------------------------- */

void search_begin(struct ecs_search *search, const struct grid *grid, const double *at,
                  double reach) {
  *search = (struct ecs_search){.grid = grid, .reach = reach};
  memcpy(search->at, at, grid->axes * sizeof *at);
  if (search_is_sound(grid, at, reach))
    search_begin_walk(search, grid, at, reach);
  else
    search->line = UINT32_MAX;
}

uint32_t search_next(struct ecs_search *search) {
  const struct grid *grid = search->grid;
  /* Squares above this have roots above the reach, so no root is needed: the margin is far larger
  ** than any rounding. */
  double limit = search->reach * search->reach * (1 + 1e-14) + 1e-300;
  do {
    while (search->row < search->end) {
      uint32_t row = search->row++;
      double sum = search_square_to(grid, search->at, row);
      if (sum <= limit && sqrt(sum) <= search->reach) return row;
    }
  } while (search_line(search));
  return NONE;
}

/* ---- nearest --------------------------------------------------------------------------- */

/* The best row so far, by the square of its distance. The root is needed only if two squares are so
** close that their roots may be equal. */
struct best {
  const struct rivals *rivals;
  double reach;
  uint32_t row;              /* NONE: no row yet, and the square is that of the reach */
  double square, low, high;  /* squares below `low` have lower roots, those above `high` higher
                             ** ones */
};

static inline void search_set_best(struct best *best, uint32_t row, double square) {
  best->row = row;
  best->square = square;
  best->low = square * (1 - 1e-14) - 1e-300;
  best->high = square * (1 + 1e-14) + 1e-300;
}

static double best_distance(const struct best *best) {
  return best->row == NONE ? best->reach : sqrt(best->square);
}

/* Whether a row with almost the same square comes before the best one. */
static APART bool search_is_better(const struct best *best, uint32_t row, double square) {
  double distance = sqrt(square), other = best_distance(best);
  if (distance != other) return distance < other;
  return best->row == NONE || best->rivals->order[row] < best->rivals->order[best->row];
}

static inline void search_try_row(struct best *best, uint32_t row, double square) {
  const struct rivals *rivals = best->rivals;
  if (LIKELY(square > best->high)) return;
  if (UNLIKELY(square >= best->low) && !search_is_better(best, row, square)) return;
  if (rivals->except != ECS_NULL && rivals->entities[row] == rivals->except) return;
  search_set_best(best, row, square);
}

/* Tries rows of a grid with two axes. */
static inline void search_try_rows(const struct grid *grid, const double *at,
                                   uint32_t row, uint32_t end, struct best *best) {
  const double *xs = grid->places[0].data, *ys = grid->places[1].data;
  const double x = at[0], y = at[1];
  for (; row < end; row++)
    search_try_row(best, row, search_square(xs[row] - x) + search_square(ys[row] - y));
}

static void search_find_best_in_box(const struct ecs_search *walk, const double *at,
                                    struct best *best) {
  const struct grid *grid = walk->grid;
  uint32_t first = (uint32_t)walk->low[0], last = (uint32_t)walk->high[0] + 1;
  if (walk->line == UINT32_MAX) return;
  for (uint32_t y = walk->line, high = (uint32_t)walk->high[1]; y <= high; y++) {
    const uint32_t *starts = grid->starts + (size_t)y * grid->extent[0];
    search_try_rows(grid, at, starts[first], starts[last], best);
  }
}

/* Tries the rows of a box. */
static void search_find_best(struct ecs_search *walk, const double *at, struct best *best) {
  const struct grid *grid = walk->grid;
  if (LIKELY(grid->boxed && grid->axes == 2)) {
    search_find_best_in_box(walk, at, best);
    return;
  }
  while (search_line(walk)) {
    if (grid->axes == 2)
      search_try_rows(grid, at, walk->row, walk->end, best);
    else
      for (uint32_t row = walk->row; row < walk->end; row++)
        search_try_row(best, row, search_square_to(grid, at, row));
  }
}

/* The reach of the first search: a cell, or as far as the nearest possible cell. */
static double search_first_reach(const struct grid *grid, const double *at) {
  uint32_t axis = grid->axes - 1;
  double low, high;
  if (grid->boxed) {
    low = grid->low[axis];
    high = low + grid->extent[axis];
  } else {
    const struct grid_line *first = &grid->lines[0], *last = &grid->lines[grid->line_count - 1];
    low = axis == 2 ? first->z : first->y;
    high = (axis == 2 ? last->z : last->y) + 1;
  }
  double below = low * grid->size - at[axis], above = at[axis] - high * grid->size;
  double far = below > above ? below : above;
  return far > grid->size ? far : grid->size;
}

uint32_t search_nearest(const struct grid *grid, const double *at, double reach,
                        const struct rivals *rivals, double *distance) {
  struct ecs_search walk;
  if (grid->rows == 0 || !search_is_sound(grid, at, reach)) return NONE;
  double tried = search_first_reach(grid, at);
  for (;;) {
    if (!(tried < reach)) tried = reach;
    struct best best = {.rivals = rivals, .reach = reach};
    search_set_best(&best, NONE, search_square(reach));
    search_begin_walk(&walk, grid, at, tried);
    search_find_best(&walk, at, &best);
    double least = best_distance(&best);
    if (best.row != NONE && least <= tried) {
      *distance = least;
      return best.row;
    }
    if (tried == reach) return NONE;
    /* In a corner of the box: only rows as near as the best one, or nearer, still matter. */
    tried = best.row != NONE && least < 2 * tried ? least : 2 * tried;
  }
}
