#include "core/index/splice.h"

#include "core/base/column_cells.h"
#include "core/base/many.h"
#include "core/base/memory.h"
#include "core/index/edition.h"
#include "core/ids/world.h"

/* ---- what goes, and what comes --------------------------------------------------------- */

static bool splice_make_room(struct memory *memory, struct splice_room *room, uint32_t count) {
  struct shift *cuts = memory_grow(memory, room->cuts, &room->cut_capacity, count + 1ull,
                                   sizeof *cuts);
  if (cuts) room->cuts = cuts;
  struct shift *puts = memory_grow(memory, room->puts, &room->put_capacity, count + 1ull,
                                   sizeof *puts);
  if (puts) room->puts = puts;
  struct span *spans = memory_grow(memory, room->spans, &room->span_capacity, 2ull * count + 2,
                                   sizeof *spans);
  if (spans) room->spans = spans;
  uint64_t *list = memory_grow(memory, room->list, &room->list_capacity, 2ull * count + 2,
                               sizeof *list);
  if (list) room->list = list;
  struct shift *sorted = memory_grow(memory, room->sorted, &room->sorted_capacity, count + 1ull,
                                     sizeof *sorted);
  if (sorted) room->sorted = sorted;
  room->cut_count = room->put_count = room->span_count = 0;
  return cuts && puts && spans && list && sorted;
}

static void add_shift(struct shift *shifts, uint32_t *count, const struct keyed *keyed,
                      const uint32_t *order, struct key key, uint32_t row) {
  shifts[(*count)++] = (struct shift){row, keyed_bound(keyed, order, key, row), 0,
                                      keyed_rank(keyed, key)};
}

/* One changed row: where its key is the same, its cells are; else it moves. False where all have to
** be sorted. */
static bool note_row(struct splice_room *room, struct edition *edition,
                     const struct rekeyed *rekeyed, uint32_t i) {
  struct keyed *keyed = &edition->keyed;
  const uint32_t *order = copies_order(&edition->copies);
  uint32_t row = rekeyed->changed[i];
  struct key old = rekeyed->old[i], key = rekeyed->keys[row];
  bool had = old.kind != KEY_NONE, has = key.kind != KEY_NONE;
  if (!had && !has) return true;
  bool same = had && has && key_equal(old, key);
  if (same || (had && has && keyed->by == ECS_BY_MAYBE)) {
    uint32_t at = keyed_bound(keyed, order, old, row);
    assert(order[at] == row);
    copies_bring(&edition->copies, at, rekeyed->rows, row);
    if (!same) keyed_change(keyed, at, key);
    return true;
  }
  if (keyed->by == ECS_BY_MAYBE) return false;
  if (had) add_shift(room->cuts, &room->cut_count, keyed, order, old, row);
  if (has) add_shift(room->puts, &room->put_count, keyed, order, key, row);
  assert(!had || order[room->cuts[room->cut_count - 1].at] == row);
  return true;
}

/* Of those that come to one place. */
static bool splice_precedes(const struct shift *a, const struct shift *b) {
  if (key_precedes(a->rank, b->rank)) return true;
  return !key_precedes(b->rank, a->rank) && a->row < b->row;
}

/* By their high halves, a digit of 8 bits after the other (Knuth, TAOCP 5.2.5), with as much room
** behind the list. */
static uint64_t *sort_list(uint64_t *list, uint32_t count) {
  uint64_t *from = list, *to = list + count, all = 0;
  for (uint32_t i = 0; i < count; i++) all |= from[i];
  for (uint32_t shift = 32; shift < 64 && all >> shift; shift += 8) {
    uint32_t begins[256] = {0}, sum = 0;
    for (uint32_t i = 0; i < count; i++) begins[from[i] >> shift & 255]++;
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t here = begins[i];
      begins[i] = sum;
      sum += here;
    }
    for (uint32_t i = 0; i < count; i++) to[begins[from[i] >> shift & 255]++] = from[i];
    uint64_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

/* In the order of their places. */
static void sort_shifts(struct splice_room *room, struct shift **shifts, uint32_t count) {
  struct shift *sorted = room->sorted;
  for (uint32_t i = 0; i < count; i++) room->list[i] = (uint64_t)(*shifts)[i].at << 32 | i;
  const uint64_t *list = sort_list(room->list, count);
  for (uint32_t i = 0; i < count; i++) {
    const struct shift *shift = &(*shifts)[(uint32_t)list[i]];
    uint32_t to = i;
    for (; to > 0 && sorted[to - 1].at == shift->at &&
           splice_precedes(shift, &sorted[to - 1]);
         to--)
      sorted[to] = sorted[to - 1];
    sorted[to] = *shift;
  }
  room->sorted = *shifts;
  *shifts = sorted;
}

/* ---- what stays ------------------------------------------------------------------------ */

static void splice_add_span(struct splice_room *room, uint32_t from, uint32_t to, uint32_t end) {
  if (from == end) return;
  assert(room->span_count < room->span_capacity && from < end);
  room->spans[room->span_count++] = (struct span){from, to, end - from};
}

/* Where each row comes to lie: those between cuts and puts stay beside each other. Returns how many
** there are then. */
static uint32_t splice_lay_out(struct splice_room *room, uint32_t count) {
  uint32_t from = 0, to = 0, cut = 0, put = 0;
  while (cut < room->cut_count || put < room->put_count) {
    uint32_t gap = cut < room->cut_count ? room->cuts[cut].at : UINT32_MAX;
    bool puts = put < room->put_count && room->puts[put].at <= gap;
    uint32_t end = puts ? room->puts[put].at : gap;
    assert(from <= end && end <= count);
    splice_add_span(room, from, to, end);
    to += end - from;
    from = end + !puts;
    if (puts)
      room->puts[put++].to = to++;
    else
      cut++;
  }
  splice_add_span(room, from, to, count);
  return to + (count - from);
}

/* Moves items: first those that go down, from the lowest up, then the others, from the highest
** down, so that none is overwritten before it has gone. */
static void move_items(const struct splice_room *room, void *items, uint32_t size) {
  char *base = items;
  for (uint32_t i = 0; i < room->span_count; i++) {
    const struct span *span = &room->spans[i];
    if (span->to < span->from)
      memmove(base + (size_t)span->to * size, base + (size_t)span->from * size,
              (size_t)span->count * size);
  }
  for (uint32_t i = room->span_count; i-- > 0;) {
    const struct span *span = &room->spans[i];
    if (span->to > span->from)
      memmove(base + (size_t)span->to * size, base + (size_t)span->from * size,
              (size_t)span->count * size);
  }
}

static ecs_status splice_reserve(ecs_world *world, struct edition *edition, uint32_t count) {
  struct keyed *keyed = &edition->keyed;
  struct key *keys = memory_grow(&world->memory, keyed->keys, &keyed->capacity, count + 1ull,
                                 sizeof *keys);
  if (!keys) return world_nomem(world);
  keyed->keys = keys;
  return copies_reserve(world, &edition->copies, count);
}

/* Moves cells, and puts those of rows that come into their places: one column after the other, as
** what is far away is on its way for many rows at a time then. */
static void splice_move_cells(const struct splice_room *room, void *cells, const void *from,
                              uint32_t size) {
  move_items(room, cells, size);
  for (uint32_t i = 0; i < room->put_count; i++)
    cell_copy(cells, room->puts[i].to, from, room->puts[i].row, size);
}

static void move_order(const struct splice_room *room, uint32_t *order) {
  move_items(room, order, sizeof *order);
  for (uint32_t i = 0; i < room->put_count; i++) order[room->puts[i].to] = room->puts[i].row;
}

static void move_keys(const struct splice_room *room, struct key *keys, const struct key *from) {
  move_items(room, keys, sizeof *keys);
  for (uint32_t i = 0; i < room->put_count; i++)
    keys[room->puts[i].to] = from[room->puts[i].row];
}

static void splice_move_all(const struct splice_room *room, struct edition *edition,
                            const struct rekeyed *rekeyed, uint32_t count) {
  struct copies *copies = &edition->copies;
  const struct copies *rows = rekeyed->rows;
  assert(copies->column_count == rows->column_count);
  copies->count = edition->keyed.count = count;
  splice_move_cells(room, copies->entities.data, rows->entities.data, sizeof(ecs_id));
  move_order(room, copies->order.data);
  for (uint32_t i = 0; i < copies->column_count; i++)
    splice_move_cells(room, copies->columns[i].cells.data, rows->columns[i].cells.data,
                      copies->columns[i].size);
  move_keys(room, edition->keyed.keys, rekeyed->keys);
}

/* ---- buckets --------------------------------------------------------------------------- */

static LOOPS void add_to(uint32_t *numbers, uint32_t count, uint32_t more) {
  for (uint32_t i = 0; more && i < count; i++) numbers[i] += more;
}

/* Each bucket begins later by the rows that have come to those before, sooner by those that have
** gone from them. */
static void move_starts(const struct splice_room *room, struct keyed *keyed) {
  uint32_t cut = 0, put = 0, at = 0, more = 0;
  while (cut < room->cut_count || put < room->put_count) {
    uint64_t gone = cut < room->cut_count ? room->cuts[cut].rank.bits : UINT64_MAX;
    uint64_t come = put < room->put_count ? room->puts[put].rank.bits : UINT64_MAX;
    uint64_t bucket = gone < come ? gone : come;
    assert(bucket < keyed->buckets);
    if (at <= bucket) add_to(keyed->starts + at, (uint32_t)bucket + 1 - at, more);
    if (at <= bucket) at = (uint32_t)bucket + 1;
    if (come <= gone) put++;
    else cut++;
    more += come <= gone ? 1u : UINT32_MAX;
  }
  add_to(keyed->starts + at, keyed->buckets + 2 - at, more);
}

/* ---- the whole ------------------------------------------------------------------------- */

ecs_status splice_keyed(ecs_world *world, struct splice_room *room, struct edition *edition,
                        const struct rekeyed *rekeyed, bool *done) {
  struct keyed *keyed = &edition->keyed;
  *done = false;
  if (!splice_make_room(&world->memory, room, rekeyed->count)) return world_nomem(world);
  for (uint32_t i = 0; i < rekeyed->count; i++)
    if (!note_row(room, edition, rekeyed, i)) return ECS_OK;
  uint32_t count = keyed->count - room->cut_count + room->put_count;
  if (keyed->by == ECS_BY_HASH && keyed_buckets(count) != keyed->buckets) return ECS_OK;
  ecs_status status = splice_reserve(world, edition, count);
  if (status != ECS_OK) return status;
  sort_shifts(room, &room->cuts, room->cut_count);
  sort_shifts(room, &room->puts, room->put_count);
  uint32_t laid = splice_lay_out(room, keyed->count);
  assert(laid == count);
  splice_move_all(room, edition, rekeyed, laid);
  if (keyed->by == ECS_BY_HASH) move_starts(room, keyed);
  assert(keyed_is_sound(keyed, count));
  *done = true;
  return ECS_OK;
}

size_t splice_bytes(const struct splice_room *room) {
  return (room->cut_capacity + room->put_capacity + room->sorted_capacity) * sizeof *room->cuts +
         room->span_capacity * sizeof *room->spans + room->list_capacity * sizeof *room->list;
}

void splice_free(struct memory *memory, struct splice_room *room) {
  memory_free(memory, room->cuts, room->cut_capacity * sizeof *room->cuts);
  memory_free(memory, room->puts, room->put_capacity * sizeof *room->puts);
  memory_free(memory, room->spans, room->span_capacity * sizeof *room->spans);
  memory_free(memory, room->list, room->list_capacity * sizeof *room->list);
  memory_free(memory, room->sorted, room->sorted_capacity * sizeof *room->sorted);
  memset(room, 0, sizeof *room);
}
