#include <math.h>

#include "core/find/grid.h"

#include "core/base/memory.h"
#include "core/find/copies.h"
#include "core/find/cell_number.h"

/* ---- sorting --------------------------------------------------------------------------- */

/* The sums of how often each number comes, so that each is a place in the other order. */
static void add_up(uint32_t *counts, uint32_t range) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < range; i++) {
    uint32_t here = counts[i];
    counts[i] = sum;
    sum += here;
  }
}

static bool sort_by_counting(struct memory *memory, struct grid_room *room, const double *numbers,
                             uint32_t count, double least, uint32_t range) {
  uint32_t *counts = memory_grow(memory, room->counts, &room->count_capacity, range,
                                 sizeof *counts);
  if (!counts) return false;
  room->counts = counts;
  memset(counts, 0, range * sizeof *counts);
  for (uint32_t i = 0; i < count; i++) counts[(uint32_t)(numbers[room->order[i]] - least)]++;
  add_up(counts, range);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = room->order[i];
    room->other[counts[(uint32_t)(numbers[row] - least)]++] = row;
  }
  return true;
}

static void merge(const double *numbers, const uint32_t *from, uint32_t *to, uint32_t low,
                  uint32_t middle, uint32_t high) {
  uint32_t i = low, j = middle;
  for (uint32_t k = low; k < high; k++) {
    bool left = i < middle && (j == high || !(numbers[from[j]] < numbers[from[i]]));
    to[k] = left ? from[i++] : from[j++];
  }
}

static void swap_orders(struct grid_room *room) {
  uint32_t *order = room->order, capacity = room->order_capacity;
  room->order = room->other;
  room->order_capacity = room->other_capacity;
  room->other = order;
  room->other_capacity = capacity;
}

/* Numbers that lie far apart. */
static void sort_by_merging(struct grid_room *room, const double *numbers, uint32_t count) {
  for (uint64_t width = 1; width < count; width *= 2) {
    for (uint64_t low = 0; low < count; low += 2 * width) {
      uint64_t middle = low + width < count ? low + width : count;
      uint64_t high = low + 2 * width < count ? low + 2 * width : count;
      merge(numbers, room->order, room->other, (uint32_t)low, (uint32_t)middle, (uint32_t)high);
    }
    swap_orders(room);
  }
}

/* One pass by one axis, which keeps the order of equal ones. */
static bool sort_by(struct memory *memory, struct grid_room *room, const double *numbers,
                    uint32_t count) {
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (uint32_t i = 0; i < count; i++) {
    double number = numbers[room->order[i]];
    if (number < least) least = number;
    if (number > most) most = number;
  }
  if (!(least < most)) return true;
  if (!(most - least < 2.0 * count + 1024)) {
    sort_by_merging(room, numbers, count);
    return true;
  }
  uint32_t range = (uint32_t)(most - least) + 1;
  if (!sort_by_counting(memory, room, numbers, count, least, range)) return false;
  swap_orders(room);
  return true;
}

/* ---- places ---------------------------------------------------------------------------- */

static double place_of(const struct grid_source *from, uint32_t axis, uint32_t row) {
  const struct copy_column *column = &from->copies->columns[from->columns[axis]];
  return cell_number(column->type, column->cells.data, row);
}

/* Adding 0 makes one of the two zeros of the other. */
static double cell_of(const struct grid *grid, double place) {
  return floor(place / grid->size) + 0.0;
}

static bool make_room(struct memory *memory, struct grid_room *room, uint32_t axes,
                      uint32_t rows) {
  uint32_t *order =
      memory_grow(memory, room->order, &room->order_capacity, rows + 1ull, sizeof *order);
  if (order) room->order = order;
  uint32_t *other =
      memory_grow(memory, room->other, &room->other_capacity, rows + 1ull, sizeof *other);
  if (other) room->other = other;
  bool ok = order && other;
  for (uint32_t i = 0; ok && i < axes; i++) {
    double *numbers = memory_grow(memory, room->numbers[i], &room->number_capacity[i],
                                  rows + 1ull, sizeof *numbers);
    if (numbers) room->numbers[i] = numbers;
    ok = numbers != NULL;
  }
  return ok;
}

/* Whether a row has a place, and its cell then. */
static bool find_cell_of(const struct grid *grid, const struct grid_source *from, uint32_t row,
                         double *cell) {
  const struct copies *copies = from->copies;
  if (from->flags != NONE && !((const uint8_t *)copies->columns[from->flags].cells.data)[row])
    return false;
  for (uint32_t axis = 0; axis < grid->axes; axis++) {
    double place = place_of(from, axis, row);
    if (!(fabs(place) <= DBL_MAX)) return false;
    cell[axis] = cell_of(grid, place);
  }
  return true;
}

/* Whether a row has a place; its cell is noted. */
static bool note_cell(const struct grid *grid, struct grid_room *room,
                      const struct grid_source *from, uint32_t row) {
  double cell[GRID_AXES] = {0, 0, 0};
  bool placed = find_cell_of(grid, from, row, cell);
  if (!placed) cell[0] = NAN;
  for (uint32_t axis = 0; axis < grid->axes; axis++) room->numbers[axis][row] = cell[axis];
  return placed;
}

ecs_status grid_sort(struct memory *memory, struct grid_room *room, const struct grid *grid,
                     const struct grid_source *from, uint32_t *count) {
  uint32_t rows = from->copies->count, placed = 0;
  assert(grid->axes >= 2 && grid->axes <= GRID_AXES && grid->size > 0);
  if (!make_room(memory, room, grid->axes, rows)) return ECS_ENOMEM;
  for (uint32_t row = 0; row < rows; row++)
    if (note_cell(grid, room, from, row)) room->order[placed++] = row;
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    if (!sort_by(memory, room, room->numbers[axis], placed)) return ECS_ENOMEM;
  *count = placed;
  return ECS_OK;
}

/* ---- cells ----------------------------------------------------------------------------- */

static double cell_at(const struct grid_room *room, const struct grid *grid, uint32_t axis,
                      uint32_t row) {
  return axis < grid->axes ? room->numbers[axis][room->order[row]] : 0;
}

static bool add_line(struct memory *memory, struct grid *grid, double z, double y) {
  struct grid_line *lines = memory_grow(memory, grid->lines, &grid->line_capacity,
                                        grid->line_count + 2ull, sizeof *lines);
  if (!lines) return false;
  grid->lines = lines;
  lines[grid->line_count++] = (struct grid_line){z, y, grid->cell_count};
  return true;
}

static bool add_cell(struct memory *memory, struct grid *grid, double x, uint32_t row) {
  struct grid_cell *cells = memory_grow(memory, grid->cells, &grid->cell_capacity,
                                        grid->cell_count + 2ull, sizeof *cells);
  if (!cells) return false;
  grid->cells = cells;
  cells[grid->cell_count++] = (struct grid_cell){x, row};
  return true;
}

static bool add_row(struct memory *memory, struct grid *grid, const struct grid_room *room,
                    uint32_t row) {
  double x = cell_at(room, grid, 0, row), y = cell_at(room, grid, 1, row);
  double z = cell_at(room, grid, 2, row);
  const struct grid_line *line = grid->line_count ? &grid->lines[grid->line_count - 1] : NULL;
  bool begins = !line || line->z != z || line->y != y;
  if (begins && !add_line(memory, grid, z, y)) return false;
  if (!begins && grid->cells[grid->cell_count - 1].x == x) return true;
  return add_cell(memory, grid, x, row);
}

static bool copy_places(struct memory *memory, struct grid *grid, const struct grid_room *room,
                        const struct grid_source *from, uint32_t count) {
  for (uint32_t axis = 0; axis < grid->axes; axis++) {
    struct column_buffer *places = &grid->places[axis];
    if (!buffer_grow(memory, places, (size_t)from->copies->capacity * sizeof(double), 0))
      return false;
    double *numbers = places->data;
    for (uint32_t row = 0; row < count; row++)
      numbers[row] = place_of(from, axis, room->order[row]);
  }
  return true;
}

ecs_status grid_fill(struct memory *memory, struct grid *grid, const struct grid_room *room,
                     const struct grid_source *from, uint32_t count) {
  grid->cell_count = grid->line_count = 0;
  bool ok = copy_places(memory, grid, room, from, count);
  for (uint32_t row = 0; ok && row < count; row++) ok = add_row(memory, grid, room, row);
  if (!ok) {
    grid->cell_count = grid->line_count = 0;
    return ECS_ENOMEM;
  }
  if (count == 0) return ECS_OK;
  grid->cells[grid->cell_count].first = count;
  grid->lines[grid->line_count].first = grid->cell_count;
  assert(grid_is_sound(grid, count));
  return ECS_OK;
}

/* ---- rows that have changed ------------------------------------------------------------ */

static bool stays(const struct grid *grid, const struct grid_room *room,
                  const struct grid_source *from, uint32_t row, bool *placed) {
  double cell[GRID_AXES] = {0, 0, 0};
  bool was = room->numbers[0][row] == room->numbers[0][row];
  *placed = find_cell_of(grid, from, row, cell);
  if (!*placed || !was) return *placed == was;
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    if (room->numbers[axis][row] != cell[axis]) return false;
  return true;
}

static bool line_precedes(const struct grid_line *line, double z, double y) {
  return line->z < z || (line->z == z && line->y < y);
}

/* Where a row lies that is in a cell. */
static uint32_t find_row(const struct grid *grid, const struct grid_room *room,
                         const uint32_t *order, uint32_t row) {
  double x = room->numbers[0][row], y = room->numbers[1][row];
  double z = grid->axes == 3 ? room->numbers[2][row] : 0;
  uint32_t low = 0, high = grid->line_count, middle;
  while (low < high) {
    middle = low + (high - low) / 2;
    if (line_precedes(&grid->lines[middle], z, y)) low = middle + 1;
    else high = middle;
  }
  assert(low < grid->line_count && grid->lines[low].y == y && grid->lines[low].z == z);
  high = grid->lines[low + 1].first;
  for (low = grid->lines[low].first; low < high;) {
    middle = low + (high - low) / 2;
    if (grid->cells[middle].x < x) low = middle + 1;
    else high = middle;
  }
  assert(low < grid->cell_count && grid->cells[low].x == x);
  high = grid->cells[low + 1].first;
  for (low = grid->cells[low].first; low < high;) {
    middle = low + (high - low) / 2;
    if (order[middle] < row) low = middle + 1;
    else high = middle;
  }
  assert(order[low] == row);
  return low;
}

bool grid_follow(struct grid *grid, const struct grid_room *room, const struct grid_source *from,
                 const uint32_t *changed, uint32_t count, struct copies *copies) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t row = changed[i];
    bool placed;
    if (!stays(grid, room, from, row, &placed)) return false;
    if (!placed) continue;
    uint32_t at = find_row(grid, room, copies_order(copies), row);
    copies_bring(copies, at, from->copies, row);
    for (uint32_t axis = 0; axis < grid->axes; axis++)
      ((double *)grid->places[axis].data)[at] = place_of(from, axis, row);
  }
  return true;
}

/* ---- the whole ------------------------------------------------------------------------- */

static bool line_is_sound(const struct grid *grid, uint32_t at) {
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

bool grid_is_sound(const struct grid *grid, uint32_t rows) {
  if (grid->cell_count == 0) return rows == 0 && grid->line_count == 0;
  if (grid->lines[0].first != 0 || grid->cells[0].first != 0) return false;
  for (uint32_t i = 0; i < grid->line_count; i++)
    if (!line_is_sound(grid, i)) return false;
  return grid->cells[grid->cell_count].first == rows &&
         grid->lines[grid->line_count].first == grid->cell_count;
}

size_t grid_bytes(const struct grid *grid) {
  size_t bytes = grid->cell_capacity * sizeof *grid->cells +
                 grid->line_capacity * sizeof *grid->lines;
  for (uint32_t i = 0; i < GRID_AXES; i++) bytes += grid->places[i].size;
  return bytes;
}

size_t grid_room_bytes(const struct grid_room *room) {
  size_t bytes = (room->order_capacity + room->other_capacity) * sizeof *room->order +
                 room->count_capacity * sizeof *room->counts;
  for (uint32_t i = 0; i < GRID_AXES; i++)
    bytes += room->number_capacity[i] * sizeof *room->numbers[i];
  return bytes;
}

void grid_free(struct memory *memory, struct grid *grid) {
  for (uint32_t i = 0; i < GRID_AXES; i++) buffer_free(memory, &grid->places[i]);
  memory_free(memory, grid->cells, grid->cell_capacity * sizeof *grid->cells);
  memory_free(memory, grid->lines, grid->line_capacity * sizeof *grid->lines);
  memset(grid, 0, sizeof *grid);
}

void grid_room_free(struct memory *memory, struct grid_room *room) {
  memory_free(memory, room->order, room->order_capacity * sizeof *room->order);
  memory_free(memory, room->other, room->other_capacity * sizeof *room->other);
  for (uint32_t i = 0; i < GRID_AXES; i++)
    memory_free(memory, room->numbers[i], room->number_capacity[i] * sizeof *room->numbers[i]);
  memory_free(memory, room->counts, room->count_capacity * sizeof *room->counts);
  memset(room, 0, sizeof *room);
}
