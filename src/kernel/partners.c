#include "kernel/partners.h"

#include "core/find/edition.h"
#include "kernel/list.h"
#include "kernel/vector.h"

/* A reach, and the largest sum of squares whose root is not above it: no root need be taken. */
struct bound {
  double reach, sum;
};

/* The float that is so many behind one of at least 0. */
static double neighbour(double x, int64_t behind) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += behind;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Roots are rounded, so that the sum is the square, or a neighbour of it. */
static double largest_sum(double reach) {
  if (!(reach >= 0)) return -1;
  if (reach > DBL_MAX) return reach;
  double sum = reach * reach + 0.0;
  if (sum > DBL_MAX) sum = DBL_MAX;
  while (sum > 0 && sqrt(sum) > reach) sum = neighbour(sum, -1);
  while (sum < DBL_MAX && sqrt(neighbour(sum, 1)) <= reach) sum = neighbour(sum, 1);
  return sum;
}

/* Most rows have the reach of the one before. */
static double sum_within(struct bound *bound, double reach) {
  if (reach != bound->reach) *bound = (struct bound){reach, largest_sum(reach)};
  return bound->sum;
}

static const double *axis_of(const struct grid *grid, uint32_t axis) {
  return grid->places[axis].data;
}

/* Appends rows from one on up to another; `to` has room for all of them. How many there are. */
static uint32_t append_near(const struct grid *grid, const struct ecs_search *walk, double most,
                            uint32_t *to) {
  const double *x = axis_of(grid, 0), *y = axis_of(grid, 1), *z = axis_of(grid, 2);
  double at_x = walk->at[0], at_y = walk->at[1], at_z = walk->at[2];
  uint32_t count = 0;
  if (grid->axes == 2) {
    for (uint32_t row = walk->row; row < walk->end; row++) {
      double dx = x[row] - at_x, dy = y[row] - at_y;
      to[count] = row;
      count += dx * dx + dy * dy <= most;
    }
    return count;
  }
  for (uint32_t row = walk->row; row < walk->end; row++) {
    double dx = x[row] - at_x, dy = y[row] - at_y, dz = z[row] - at_z;
    to[count] = row;
    count += dx * dx + dy * dy + dz * dz <= most;
  }
  return count;
}

/* The place that a row looks around, and how far. */
static double take_place(const struct grid *grid, const k_listing *listing, size_t i, double *at) {
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    at[axis] = ((const double *)listing->arguments[PLACE_X + axis])[i];
  return ((const double *)listing->arguments[PLACE_REACH])[i];
}

/* Lists those around row i; false when there is no room. */
static bool list_within(const struct grid *grid, const k_listing *listing, struct bound *bound,
                        size_t i) {
  double at[GRID_AXES] = {0, 0, 0}, reach = take_place(grid, listing, i, at);
  struct ecs_search walk;
  search_begin(&walk, grid, at, reach);
  double most = sum_within(bound, reach);
  while (search_line(&walk)) {
    uint32_t *to = items_room(listing->items, walk.end - walk.row);
    if (!to) return false;
    listing->items->count += append_near(grid, &walk, most, to);
  }
  return true;
}

static bool list_nearest(const ecs_index *index, const k_listing *listing, size_t i) {
  const struct copies *copies = &index->now->copies;
  const struct grid *grid = &index->now->grid;
  double at[GRID_AXES] = {0, 0, 0}, reach = take_place(grid, listing, i, at);
  ecs_id except = (ecs_id)((const int64_t *)listing->arguments[PLACE_EXCEPT])[i];
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t *to = items_room(listing->items, 1);
  if (!to) return false;
  double *distance = (double *)listing->arguments[PLACE_DISTANCE] + i;
  *to = search_nearest(grid, at, reach, &rivals, distance);
  listing->items->count += *to != NONE;
  return true;
}

size_t partners_list(const ecs_index *index, enum list_kind kind, const k_listing *listing,
                     size_t n) {
  struct bound bound = {0, 0};
  size_t failed = n;
  assert(index->now && index->desc.by == ECS_BY_GRID);
  memset(listing->spans, 0, n * sizeof *listing->spans);
  for (size_t i = 0; i < n && failed == n; i++) {
    if (listing->mask && !listing->mask[i]) continue;
    uint32_t first = listing->items->count;
    bool room = kind == LIST_WITHIN ? list_within(&index->now->grid, listing, &bound, i)
                                    : list_nearest(index, listing, i);
    if (!room) failed = i;
    listing->spans[i] = (k_span){first, listing->items->count - first};
  }
  return failed;
}
