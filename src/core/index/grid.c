#include <math.h>

#include "core/index/grid.h"

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/base/sets.h"
#include "core/index/edition.h"

/* ---- sorting --------------------------------------------------------------------------- */

static bool grid_sort_by_counting(struct memory *memory, struct grid_room *room,
                                  const double *numbers, uint32_t count, double least,
                                  uint32_t range) {
  if (!GROW(memory, room->counts, room->count_capacity, range)) return false;
  uint32_t *counts = room->counts;
  memset(counts, 0, range * sizeof *counts);
  for (uint32_t i = 0; i < count; i++) counts[(uint32_t)(numbers[room->order[i]] - least)]++;
  /* Sums of how often each number occurs become places in the sorted order. */
  uint32_t sum = 0;
  for (uint32_t i = 0; i < range; i++) {
    uint32_t here = counts[i];
    counts[i] = sum;
    sum += here;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = room->order[i];
    room->other[counts[(uint32_t)(numbers[row] - least)]++] = row;
  }
  return true;
}

/* One stable pass, by one axis. */
static bool grid_sort_by(struct memory *memory, struct grid_room *room, const double *numbers,
                         uint32_t count) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (uint32_t i = 0; i < count; i++) {
    double number = numbers[room->order[i]];
    if (number < least) least = number;
    if (number > most) most = number;
  }
  if (!(least < most)) return true;
  if (!(most - least < 2.0 * count + 1024)) {
    MERGE_SORT(uint32_t, room->order, room->other, count, a, b, numbers[a] < numbers[b]);
    return true;
  }
  uint32_t range = (uint32_t)(most - least) + 1;
  if (!grid_sort_by_counting(memory, room, numbers, count, least, range)) return false;
  uint32_t *order = room->order, capacity = room->order_capacity;
  room->order = room->other;
  room->order_capacity = room->other_capacity;
  room->other = order;
  room->other_capacity = capacity;
  return true;
}

/* ---- places ---------------------------------------------------------------------------- */

static double grid_place_of(const struct grid_source *from, uint32_t axis, uint32_t row) {
  const struct copy_column *column = &from->copies->columns[from->columns[axis]];
  return cell_number(column->type, column->cells.data, row);
}

/* Takes the numbers of all rows. */
static LOOPS void grid_take_places(const struct grid_source *from, uint32_t axis, double *places) {
  const struct copy_column *column = &from->copies->columns[from->columns[axis]];
  const void *cells = column->cells.data;
  uint32_t rows = from->copies->count;
  if (column->type == ECS_F32)
    for (uint32_t i = 0; i < rows; i++) places[i] = (double)((const float *)cells)[i];
  else if (column->type == ECS_F64 && rows)
    memcpy(places, cells, rows * sizeof *places);
  else
    for (uint32_t i = 0; i < rows; i++) places[i] = cell_number(column->type, cells, i);
}

ecs_status grid_reserve(struct memory *memory, struct grid *grid, uint32_t rows) {
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    if (!buffer_grow(memory, &grid->places[axis], (rows + (size_t)1) * sizeof(double), 0))
      return ECS_ENOMEM;
  return ECS_OK;
}

void grid_place(struct grid *grid, const struct grid_source *sorted) {
  assert(sorted->copies->count == grid->rows);
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    grid_take_places(sorted, axis, grid->places[axis].data);
}

/* ---- which cells ----------------------------------------------------------------------- */

static bool grid_has_place(const struct grid_source *from, uint32_t row) {
  const struct copies *copies = from->copies;
  return from->flags == NONE ||
         ((const uint8_t *)copies->columns[from->flags].cells.data)[row] != 0;
}

/* NaN for a place that is infinite or NaN. */
static inline double grid_cell_of(double place, double size) {
  return fabs(place) <= DBL_MAX ? grid_floor(place / size) : NAN;
}

struct cell_span {
  double least, most;
  bool all;                  /* every row has a finite number */
};

static struct cell_span grid_span_of(const struct copy_column *column, uint32_t rows) {
  struct cell_span span = {HUGE_VAL, -HUGE_VAL, true};
  for (uint32_t row = 0; row < rows; row++) {
    double place = cell_number(column->type, column->cells.data, row);
    bool finite = fabs(place) <= DBL_MAX;
    span.all = span.all && finite;
    if (finite && place < span.least) span.least = place;
    if (finite && place > span.most) span.most = place;
  }
  return span;
}

/* The span of f32 cells, four rows at a time. A value that is not finite makes the sum of products
** with 0 NaN. */
static LOOPS struct cell_span grid_span_of_floats(const struct copy_column *column, uint32_t rows) {
  const float *cells = column->cells.data;
  float least[4], most[4], none[4] = {0, 0, 0, 0};
  uint32_t row = 0;
  if (rows < 4) return grid_span_of(column, rows);
  for (int i = 0; i < 4; i++) least[i] = most[i] = cells[i];
  for (; row + 4 <= rows; row += 4)
    for (int i = 0; i < 4; i++) {
      float place = cells[row + (uint32_t)i];
      least[i] = place < least[i] ? place : least[i];
      most[i] = place > most[i] ? place : most[i];
      none[i] += place * 0.0f;
    }
  struct column_buffer behind = {.data = (void *)(uintptr_t)(cells + row)};
  const struct copy_column rest = {.type = ECS_F32, .cells = behind};
  struct cell_span span = grid_span_of(&rest, rows - row);
  for (int i = 0; i < 4; i++) {
    span.all = span.all && none[i] == 0;
    if ((double)least[i] < span.least) span.least = (double)least[i];
    if ((double)most[i] > span.most) span.most = (double)most[i];
  }
  return span.all ? span : grid_span_of(column, rows);
}

/* The span of cells on an axis: division and floor preserve order. */
static struct cell_span grid_find_span(const struct grid *grid, const struct grid_source *from,
                             uint32_t axis) {
  const struct copy_column *column = &from->copies->columns[from->columns[axis]];
  uint32_t rows = from->copies->count;
  struct cell_span span = column->type == ECS_F32 ? grid_span_of_floats(column, rows)
                                             : grid_span_of(column, rows);
  span.least = grid_floor(span.least / grid->size);
  span.most = grid_floor(span.most / grid->size);
  return span;
}

/* ---- cells that have numbers ----------------------------------------------------------- */

#define NEAR 1048576.0         /* numbers of cells below this are counted fast */

struct box {
  bool all;                  /* every row has a place, */
  bool near;                 /* and a number below NEAR */
};

/* Whether the box around all places has few enough cells. */
static bool grid_find_box(struct grid *grid, const struct grid_source *from, struct box *box) {
  double cells = 1, far = 0;
  box->all = from->flags == NONE;
  if (grid->inverse == 0) return false;
  for (uint32_t axis = 0; axis < GRID_AXES; axis++) {
    struct cell_span span = {0, 0, true};
    if (axis < grid->axes) span = grid_find_span(grid, from, axis);
    double count = span.most - span.least + 1, low = fabs(span.least), high = fabs(span.most);
    cells *= count;
    box->all = box->all && span.all;
    if (!(count >= 1 && cells <= 4.0 * from->copies->count + 1024)) return false;
    far = far > low ? far : low;
    far = far > high ? far : high;
    grid->low[axis] = span.least;
    grid->extent[axis] = (uint32_t)count;
  }
  box->near = far < NEAR;
  return far < 4503599627370496.0;
}

/* The number of a row's cell; NONE if it has no place. */
static uint32_t cell_in_box(const struct grid *grid, const struct grid_source *from,
                            uint32_t row) {
  uint32_t cell = 0;
  if (!grid_has_place(from, row)) return NONE;
  for (uint32_t axis = grid->axes; axis-- > 0;) {
    double place = grid_place_of(from, axis, row);
    if (!(fabs(place) <= DBL_MAX)) return NONE;
    cell = cell * grid->extent[axis] +
           (uint32_t)(int64_t)(grid_floor(place / grid->size) - grid->low[axis]);
  }
  return cell;
}

/* The number of a place that is not far out: floor(place / size). Multiplying by 1 / size differs
** only by rounding, so both have the same floor unless they are next to a whole number; for a power
** of two they are equal. */
static inline uint32_t grid_number_nearby(double place, double size, double inverse, bool exact,
                                          int32_t low) {
  double product = place * inverse;
  int32_t whole = (int32_t)product;
  double rest = product - whole;
  if (!exact && UNLIKELY(fabs(rest) < 1e-9 || fabs(rest) > 1 - 1e-9))
    return (uint32_t)((int32_t)grid_floor(place / size) - low);
  return (uint32_t)(whole - (rest < 0) - low);
}

/* Numbers and counts the cells of rows that all have places, in a grid with two axes. */
static inline void grid_count_nearby(const ecs_type type, const bool exact, const struct grid *grid,
                                     const struct grid_source *from, uint32_t *cells,
                                     uint32_t *counts) {
  const struct copy_column *columns = from->copies->columns;
  const void *xs = columns[from->columns[0]].cells.data;
  const void *ys = columns[from->columns[1]].cells.data;
  const double size = grid->size, inverse = grid->inverse;
  const int32_t low_x = (int32_t)grid->low[0], low_y = (int32_t)grid->low[1];
  const uint32_t width = grid->extent[0], rows = from->copies->count;
  for (uint32_t row = 0; row < rows; row++) {
    uint32_t x = grid_number_nearby(cell_number(type, xs, row), size, inverse, exact, low_x);
    uint32_t y = grid_number_nearby(cell_number(type, ys, row), size, inverse, exact, low_y);
    uint32_t cell = y * width + x;
    assert(x < width && y < grid->extent[1]);
    cells[row] = cell;
    counts[cell]++;
  }
}

static void grid_count_cells(const struct grid *grid, const struct grid_source *from,
                             const struct box *box, uint32_t *cells, uint32_t *counts) {
  const struct copy_column *columns = from->copies->columns;
  ecs_type type = columns[from->columns[0]].type;
  bool flat = box->all && box->near && grid->axes == 2 &&
              columns[from->columns[1]].type == type;
  int exponent;
  bool exact = frexp(grid->size, &exponent) == 0.5;
  if (flat && type == ECS_F32 && exact) {
    grid_count_nearby(ECS_F32, true, grid, from, cells, counts);
  } else if (flat && type == ECS_F32) {
    grid_count_nearby(ECS_F32, false, grid, from, cells, counts);
  } else if (flat && type == ECS_F64) {
    grid_count_nearby(ECS_F64, exact, grid, from, cells, counts);
  } else {
    for (uint32_t row = 0; row < from->copies->count; row++) {
      cells[row] = cell_in_box(grid, from, row);
      if (cells[row] != NONE) counts[cells[row]]++;
    }
  }
}

/* Counting sort: the sums, advanced by the rows before, end as the cells' first rows. */
static bool grid_sort_in_box(struct memory *memory, struct grid_room *room, struct grid *grid,
                             const struct grid_source *from, const struct box *box) {
  uint32_t count = grid->extent[0] * grid->extent[1] * grid->extent[2];
  uint32_t rows = from->copies->count, *cells = room->other, *order = room->order;
  if (!GROW(memory, grid->starts, grid->start_capacity, count + 2ull)) return false;
  uint32_t *starts = grid->starts;
  memset(starts, 0, (count + (size_t)2) * sizeof *starts);
  grid_count_cells(grid, from, box, cells, starts + 2);
  for (uint32_t i = 2; i < count + 2; i++) starts[i] += starts[i - 1];
  for (uint32_t row = 0; row < rows; row++) {
    assert(cells[row] == NONE || cells[row] < count);
    if (LIKELY(cells[row] != NONE)) order[starts[cells[row] + 1]++] = row;
  }
  grid->rows = starts[count];
  grid->boxed = true;
  return true;
}

/* ---- cells that are occupied ----------------------------------------------------------- */

static double grid_cell_at(const struct grid_room *room, const struct grid *grid, uint32_t axis,
                           uint32_t row) {
  return axis < grid->axes ? room->numbers[axis][room->order[row]] : 0;
}

static bool grid_add_row(struct memory *memory, struct grid *grid, const struct grid_room *room,
                         uint32_t row) {
  double x = grid_cell_at(room, grid, 0, row), y = grid_cell_at(room, grid, 1, row);
  double z = grid_cell_at(room, grid, 2, row);
  const struct grid_line *line = grid->line_count ? &grid->lines[grid->line_count - 1] : NULL;
  bool begins = !line || line->z != z || line->y != y;
  if (!begins && grid->cells[grid->cell_count - 1].x == x) return true;
  if (!GROW(memory, grid->lines, grid->line_capacity, grid->line_count + 2ull) ||
      !GROW(memory, grid->cells, grid->cell_capacity, grid->cell_count + 2ull))
    return false;
  assert(grid->lines && grid->cells);
  if (begins) grid->lines[grid->line_count++] = (struct grid_line){z, y, grid->cell_count};
  grid->cells[grid->cell_count++] = (struct grid_cell){x, row};
  return true;
}

/* Records the cell of a row. Returns whether it has a place. */
static bool grid_note_cell(const struct grid *grid, struct grid_room *room,
                           const struct grid_source *from, uint32_t row) {
  bool placed = grid_has_place(from, row);
  for (uint32_t axis = 0; axis < grid->axes; axis++) {
    double cell = placed ? grid_cell_of(grid_place_of(from, axis, row), grid->size) : NAN;
    room->numbers[axis][row] = cell;
    placed = placed && cell == cell;
  }
  if (!placed) room->numbers[0][row] = NAN;
  return placed;
}

static bool grid_sort_by_axis(struct memory *memory, struct grid_room *room, struct grid *grid,
                              const struct grid_source *from) {
  uint32_t placed = 0, rows = from->copies->count;
  for (uint32_t i = 0; i < grid->axes; i++)
    if (!GROW(memory, room->numbers[i], room->number_capacity[i], rows + 1ull)) return false;
  for (uint32_t row = 0; row < rows; row++)
    if (grid_note_cell(grid, room, from, row)) room->order[placed++] = row;
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    if (!grid_sort_by(memory, room, room->numbers[axis], placed)) return false;
  for (uint32_t row = 0; row < placed; row++)
    if (!grid_add_row(memory, grid, room, row)) return false;
  if (placed) {
    grid->cells[grid->cell_count].first = placed;
    grid->lines[grid->line_count].first = grid->cell_count;
  }
  grid->rows = placed;
  return true;
}

ecs_status grid_sort(struct memory *memory, struct grid_room *room, struct grid *grid,
                     const struct grid_source *from, uint32_t *count) {
  struct box box;
  bool usual = grid->size > 1e-100 && grid->size < 1e100;
  grid->inverse = usual ? 1 / grid->size : 0;
  assert(grid->axes >= 2 && grid->axes <= GRID_AXES && grid->size > 0);
  grid_clear(grid);
  uint64_t need = from->copies->count + 1ull;
  if (!GROW(memory, room->order, room->order_capacity, need) ||
      !GROW(memory, room->other, room->other_capacity, need))
    return ECS_ENOMEM;
  bool ok = grid_find_box(grid, from, &box) ? grid_sort_in_box(memory, room, grid, from, &box)
                                       : grid_sort_by_axis(memory, room, grid, from);
  if (!ok) grid_clear(grid);
  *count = grid->rows;
  assert(grid_is_sound(grid, grid->rows));
  return ok ? ECS_OK : ECS_ENOMEM;
}

/* ---- rows that have changed ------------------------------------------------------------ */

/* Whether a row has no place, or one in the box. */
static bool grid_is_in_box(const struct grid *grid, const struct grid_source *from, uint32_t row) {
  bool placed = grid_has_place(from, row), in = true;
  for (uint32_t axis = 0; placed && axis < grid->axes; axis++) {
    double cell = grid_cell_of(grid_place_of(from, axis, row), grid->size) - grid->low[axis];
    placed = cell == cell;
    in = in && cell >= 0 && cell < grid->extent[axis];
  }
  return in || !placed;
}

static bool grid_stays(const struct grid *grid, const struct grid_room *room,
                       const struct grid_source *from, uint32_t row, bool *placed) {
  if (grid->boxed) {
    if (!grid_is_in_box(grid, from, row)) return false;
    uint32_t cell = cell_in_box(grid, from, row);
    *placed = cell != NONE;
    return cell == room->other[row];
  }
  bool was = room->numbers[0][row] == room->numbers[0][row], same = true;
  *placed = grid_has_place(from, row);
  for (uint32_t axis = 0; *placed && axis < grid->axes; axis++) {
    double cell = grid_cell_of(grid_place_of(from, axis, row), grid->size);
    *placed = cell == cell;
    same = same && room->numbers[axis][row] == cell;
  }
  return *placed == was && (same || !was);
}

/* The cell of a row, among those that are occupied. */
static uint32_t grid_find_cell(const struct grid *grid, const struct grid_room *room,
                               uint32_t row) {
  double x = room->numbers[0][row], y = room->numbers[1][row];
  double z = grid->axes == 3 ? room->numbers[2][row] : 0;
  uint32_t line = 0;
  BISECT(line, grid->line_count, at, grid_line_precedes(&grid->lines[at], z, y));
  assert(line < grid->line_count && grid->lines[line].y == y && grid->lines[line].z == z);
  uint32_t cell = grid->lines[line].first;
  BISECT(cell, grid->lines[line + 1].first, at, grid->cells[at].x < x);
  assert(cell < grid->cell_count && grid->cells[cell].x == x);
  return cell;
}

bool grid_follow(struct grid *grid, const struct grid_room *room, const struct grid_source *from,
                 const uint32_t *changed, uint32_t count, struct copies *copies) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = changed[i];
    bool placed;
    if (!grid_stays(grid, room, from, row, &placed)) return false;
    if (!placed) continue;
    const uint32_t *order = copies_order(copies);
    uint32_t cell = grid->boxed ? room->other[row] : grid_find_cell(grid, room, row);
    uint32_t at = grid->boxed ? grid->starts[cell] : grid->cells[cell].first;
    uint32_t end = grid->boxed ? grid->starts[cell + 1] : grid->cells[cell + 1].first;
    BISECT(at, end, middle, order[middle] < row);
    assert(order[at] == row);
    copies_bring(copies, at, from->copies, row);
    for (uint32_t axis = 0; axis < grid->axes; axis++)
      ((double *)grid->places[axis].data)[at] = grid_place_of(from, axis, row);
  }
  return true;
}

/* ---- the whole grid -------------------------------------------------------------------- */

static bool grid_line_is_sound(const struct grid *grid, uint32_t at) {
  const struct grid_line *line = &grid->lines[at];
  uint32_t end = line[1].first;
  if (line->first >= end || end > grid->cell_count) return false;
  if (at > 0 && !(line[-1].z < line->z || (line[-1].z == line->z && line[-1].y < line->y)))
    return false;
  for (uint32_t i = line->first; i < end; i++) {
    if (i > line->first && !(grid->cells[i - 1].x < grid->cells[i].x)) return false;
    if (grid->cells[i].first >= grid->cells[i + 1].first) return false;
  }
  return true;
}

static bool box_is_sound(const struct grid *grid) {
  uint32_t cells = grid->extent[0] * grid->extent[1] * grid->extent[2];
  for (uint32_t cell = 0; cell < cells; cell++)
    if (grid->starts[cell] > grid->starts[cell + 1]) return false;
  return grid->starts[0] == 0 && grid->starts[cells] == grid->rows;
}

bool grid_is_sound(const struct grid *grid, uint32_t rows) {
  if (grid->rows != rows) return false;
  if (grid->boxed) return box_is_sound(grid) && grid->line_count == 0;
  if (grid->cell_count == 0) return rows == 0 && grid->line_count == 0;
  if (grid->lines[0].first != 0 || grid->cells[0].first != 0) return false;
  for (uint32_t i = 0; i < grid->line_count; i++)
    if (!grid_line_is_sound(grid, i)) return false;
  return grid->cells[grid->cell_count].first == rows &&
         grid->lines[grid->line_count].first == grid->cell_count;
}

void grid_clear(struct grid *grid) {
  grid->cell_count = grid->line_count = grid->rows = 0;
  grid->boxed = false;
}

void grid_free(struct memory *memory, struct grid *grid) {
  for (uint32_t i = 0; i < GRID_AXES; i++) buffer_free(memory, &grid->places[i]);
  FREE_LIST(memory, grid->cells, grid->cell_capacity);
  FREE_LIST(memory, grid->lines, grid->line_capacity);
  FREE_LIST(memory, grid->starts, grid->start_capacity);
  memset(grid, 0, sizeof *grid);
}

void grid_room_free(struct memory *memory, struct grid_room *room) {
  FREE_LIST(memory, room->order, room->order_capacity);
  FREE_LIST(memory, room->other, room->other_capacity);
  for (uint32_t i = 0; i < GRID_AXES; i++)
    FREE_LIST(memory, room->numbers[i], room->number_capacity[i]);
  FREE_LIST(memory, room->counts, room->count_capacity);
  memset(room, 0, sizeof *room);
}
