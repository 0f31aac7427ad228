#include "runner/partners.h"

#include <math.h>

#include "core/base/column.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/index/edition.h"
#include "core/query/cursor.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "kernel/ops.h"
#include "runner/run.h"

#include "kernel/vector.h"

/* A distance, and the largest sum of squares whose root does not exceed it, so that no root is
** needed. */
struct bound {
  double reach, sum;
};

/* The float `behind` steps after a given one, which is at least 0. */
static double partner_neighbour(double x, int64_t behind) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits += behind;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Roots are rounded, so the sum is the square, or a neighbour of it. */
static double partners_largest_sum(double reach) {
  if (!(reach >= 0)) return -1;
  if (reach > DBL_MAX) return reach;
  double sum = reach * reach + 0.0;
  if (sum > DBL_MAX) sum = DBL_MAX;
  while (sum > 0 && sqrt(sum) > reach) sum = partner_neighbour(sum, -1);
  while (sum < DBL_MAX && sqrt(partner_neighbour(sum, 1)) <= reach) sum = partner_neighbour(sum, 1);
  return sum;
}

/* Most rows have the same distance as the row before. */
static double partners_sum_within(struct bound *bound, double reach) {
  if (reach != bound->reach) *bound = (struct bound){reach, partners_largest_sum(reach)};
  return bound->sum;
}

static const double *partners_axis_of(const struct grid *grid, uint32_t axis) {
  return grid->places[axis].data;
}

/* Rows of one line of the index that may be in reach of a row; `begins`: its first ones. */
struct partner_part {
  uint32_t row, first, end;
  bool begins;
};

enum { PARTS = 128 };

/* Parts whose rows are examined next; they are prefetched while more are found. */
struct parts {
  const struct grid *grid;
  const k_listing *listing;
  struct bound bound;
  uint32_t count;
  struct partner_part list[PARTS];
};

/* The position around which a row searches, and its distance. */
static double partners_take_place(const struct grid *grid, const k_listing *listing,
                                  size_t i, double *at) {
  for (uint32_t axis = 0; axis < grid->axes; axis++)
    at[axis] = ((const double *)listing->arguments[PLACE_X + axis])[i];
  return ((const double *)listing->arguments[PLACE_REACH])[i];
}

/* Examines the parts. Returns NONE, or the row for whose items there is no room. */
static uint32_t partners_list_parts(struct parts *parts) {
  const k_listing *listing = parts->listing;
  const struct grid *grid = parts->grid;
  struct k_items *items = listing->items;
  uint32_t (*near)(const double *const *axes, const double *at, double most, uint32_t row,
                   uint32_t end, uint32_t *to) = listing->loops->near[grid->axes - 2];
  const double *axes[GRID_AXES] = {NULL};
  for (uint32_t i = 0; i < grid->axes; i++) axes[i] = partners_axis_of(grid, i);
  double at[GRID_AXES] = {0, 0, 0};
  for (uint32_t i = 0; i < parts->count; i++) {
    const struct partner_part *part = &parts->list[i];
    k_span *span = &listing->spans[part->row];
    uint32_t *to = items_room(items, part->end - part->first);
    if (!to) return part->row;
    double reach = partners_take_place(grid, listing, part->row, at);
    double most = partners_sum_within(&parts->bound, reach);
    uint32_t count = near(axes, at, most, part->first, part->end, to);
    if (part->begins) span->first = items->count;
    span->count += count;
    items->count += count;
  }
  parts->count = 0;
  return NONE;
}

/* Adds the parts around a row. Returns as partners_list_parts. */
static uint32_t partner_add_parts(struct parts *parts, uint32_t row) {
  const struct grid *grid = parts->grid;
  double at[GRID_AXES] = {0, 0, 0}, reach = partners_take_place(grid, parts->listing, row, at);
  struct ecs_search walk;
  bool begins = true;
  for (search_begin(&walk, grid, at, reach); search_line(&walk); begins = false) {
    uint32_t failed = parts->count == PARTS ? partners_list_parts(parts) : NONE;
    if (failed != NONE) return failed;
    parts->list[parts->count++] = (struct partner_part){row, walk.row, walk.end, begins};
    for (uint32_t axis = 0; axis < grid->axes; axis++) {
      FETCH(partners_axis_of(grid, axis) + walk.row);
      FETCH(partners_axis_of(grid, axis) + walk.row + 8);
    }
  }
  return NONE;
}

static bool partners_list_nearest(const ecs_index *index, const k_listing *listing, size_t i) {
  const struct copies *copies = &index->now->copies;
  const struct grid *grid = &index->now->grid;
  double at[GRID_AXES] = {0, 0, 0}, reach = partners_take_place(grid, listing, i, at);
  ecs_id except = (ecs_id)((const int64_t *)listing->arguments[PLACE_EXCEPT])[i];
  const struct rivals rivals = {copies_entities(copies), copies_order(copies), except};
  uint32_t *to = items_room(listing->items, 1);
  if (!to) return false;
  double *distance = (double *)listing->arguments[PLACE_DISTANCE] + i;
  *to = search_nearest(grid, at, reach, &rivals, distance);
  listing->items->count += *to != NONE;
  return true;
}

static size_t partners_list_within(const ecs_index *index, const k_listing *listing, size_t n) {
  struct parts parts = {.grid = &index->now->grid, .listing = listing};
  uint32_t failed = NONE;
  for (uint32_t i = 0; i < n && failed == NONE; i++)
    if (!listing->mask || listing->mask[i]) failed = partner_add_parts(&parts, i);
  if (failed == NONE) failed = partners_list_parts(&parts);
  return failed == NONE ? n : failed;
}

/* ---- by keys ---- */

static struct key partner_key_at(const k_listing *listing, uint8_t kind,
                                 uint32_t argument, size_t i) {
  const void *values = listing->arguments[argument];
  if (kind == KEY_FLOAT) return key_of_number(((const double *)values)[i]);
  int64_t value = ((const int64_t *)values)[i];
  if (kind == KEY_INTEGER) return key_of_integer(value);
  return (struct key){(enum key_kind)kind, (uint64_t)value};
}

static void partners_begin_search(const struct keyed *keyed, const struct run_list *list,
                                  const k_listing *listing, size_t i, struct ecs_search *search) {
  uint64_t most = (uint64_t)((const int64_t *)listing->arguments[0])[i];
  uint32_t count = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
  switch (list->kind) {
  case LIST_EQUAL:
    keyed_equal(keyed, partner_key_at(listing, list->keys[0], 0, i), search);
    break;
  case LIST_RANGE:
    keyed_range(keyed, partner_key_at(listing, list->keys[0], 0, i),
                partner_key_at(listing, list->keys[1], 1, i), search);
    break;
  case LIST_LOWEST: keyed_lowest(keyed, count, search); break;
  default: assert(list->kind == LIST_HIGHEST); keyed_highest(keyed, count, search);
  }
}

static bool partners_list_keyed(const ecs_index *index, const struct run_list *list,
                                const k_listing *listing, size_t i) {
  struct k_items *items = listing->items;
  struct ecs_search search;
  partners_begin_search(&index->now->keyed, list, listing, i, &search);
  for (uint32_t row; (row = keyed_next(&search)) != NONE; items->count++) {
    uint32_t *to = items_room(items, 1);
    if (!to) return false;
    *to = row;
  }
  return true;
}

/* ---- partners tied ---- */

/* Sources are first listed as ids in the same buffer, which has room for them from a multiple of
** their size on. */
static bool partners_tied_list_sources(const ecs_world *world, const struct component *relation,
                                       const k_listing *listing, size_t i) {
  struct k_items *items = listing->items;
  ecs_id target = (ecs_id)((const int64_t *)listing->arguments[0])[i];
  size_t count = relate_sources(world, target, relation, NULL, 0);
  if (count == 0) return true;
  if (count > UINT32_MAX / 4) return false;
  uint32_t *to = items_room(items, 2 * (uint32_t)count + 1);
  if (!to) return false;
  ecs_id *ids = (ecs_id *)(void *)(to + (uintptr_t)to / sizeof *to % 2);
  relate_sources(world, target, relation, ids, count);
  for (size_t j = 0; j < count; j++) {
    uint32_t index = ecs_id_index(ids[j]);
    memcpy(to + j, &index, sizeof index);
  }
  items->count += (uint32_t)count;
  return true;
}

static bool partners_tied_list_targets(const ecs_world *world, const struct component *relation,
                                       const k_listing *listing, size_t i) {
  struct k_items *items = listing->items;
  ecs_id id = (ecs_id)((const int64_t *)listing->arguments[0])[i];
  ecs_id target = relate_target(world, id, relation);
  for (; target != ECS_NULL; target = relate_next_target(world, id, relation, target)) {
    uint32_t *to = items_room(items, 1);
    if (!to) return false;
    *to = ecs_id_index(target);
    items->count++;
  }
  return true;
}

static bool partners_keys(const struct run_list *list, const k_listing *listing, size_t i) {
  uint32_t count = (uint32_t)((const int64_t *)listing->arguments[0])[i];
  uint32_t *to = count ? items_room(listing->items, count) : NULL;
  if (count && (!to || !list->order(list, count, to))) return false;
  listing->items->count += count;
  return true;
}

/* ---- all partners ---- */

static bool partners_list_rows(const ecs_query *query, struct k_items *items) {
  struct walk walk;
  for (walk_begin(&walk, query); walk_next(&walk); items->count++) {
    uint32_t *to = items_room(items, 1);
    if (!to) return false;
    *to = walk.table->rows[walk.row];
  }
  return true;
}

static bool partners_list_events(const struct event *event, struct k_items *items) {
  uint32_t count = event->table->count, *to = count ? items_room(items, count) : NULL;
  for (uint32_t i = 0; to && i < count; i++) to[i] = i;
  items->count += to ? count : 0;
  return to || !count;
}

static size_t partners_all(const ecs_world *world, const struct run_list *list,
                           const k_listing *listing, size_t n) {
  struct k_items *items = listing->items;
  k_span all = {items->count, 0};
  size_t i = 0;
  while (listing->mask && i < n && !listing->mask[i]) i++;
  if (i == n) return n;
  bool room = list->kind == LIST_ROWS
                  ? partners_list_rows(list->query, items)
                  : partners_list_events(event_of(component_of(world, list->relation)), items);
  if (!room) return i;
  all.count = items->count - all.first;
  for (; i < n; i++)
    if (!listing->mask || listing->mask[i]) listing->spans[i] = all;
  return n;
}

/* ---- by row ---- */

/* Lists the items of a row; false without room. */
static bool partners_of_row(const ecs_world *world, const ecs_index *index,
                            const struct component *relation, const struct run_list *list,
                            const k_listing *listing, size_t i) {
  switch (list->kind) {
  case LIST_NEAREST: return partners_list_nearest(index, listing, i);
  case LIST_SOURCES: return partners_tied_list_sources(world, relation, listing, i);
  case LIST_TARGETS: return partners_tied_list_targets(world, relation, listing, i);
  case LIST_KEYS: return partners_keys(list, listing, i);
  default: return partners_list_keyed(index, list, listing, i);
  }
}

size_t partners_list(const ecs_world *world, const ecs_index *index, const struct run_list *list,
                     const k_listing *listing, size_t n) {
  assert(!index || (index->desc.by == ECS_BY_GRID) == (list->kind <= LIST_NEAREST));
  memset(listing->spans, 0, n * sizeof *listing->spans);
  if (list->kind == LIST_WITHIN) return partners_list_within(index, listing, n);
  if (list->kind == LIST_ROWS || list->kind == LIST_EVENTS)
    return partners_all(world, list, listing, n);
  const struct component *relation = lookup_relation(world, list->relation);
  if (!relation && (list->kind == LIST_SOURCES || list->kind == LIST_TARGETS)) return n;
  for (size_t i = 0; i < n; i++) {
    if (listing->mask && !listing->mask[i]) continue;
    uint32_t first = listing->items->count;
    if (!partners_of_row(world, index, relation, list, listing, i)) return i;
    listing->spans[i] = (k_span){first, listing->items->count - first};
  }
  return n;
}
