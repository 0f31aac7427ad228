#include "core/index/edition.h"

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "ecs_query.h"

void edition_empty(struct edition *edition) {
  edition->copies.count = 0;
  grid_clear(&edition->grid);
  edition->keyed.count = 0;
}

void edition_free(ecs_world *world, struct edition *edition) {
  copies_free(world, &edition->copies);
  grid_free(&world->memory, &edition->grid);
  keyed_free(&world->memory, &edition->keyed);
  memory_free(&world->memory, edition, sizeof *edition);
}

bool edition_is_held(const ecs_world *world, const struct edition *edition) {
  return edition->holders && edition->held == world->moment;
}

struct edition *edition_hold(const ecs_index *index) {
  struct edition *edition = index->now;
  assert(edition);
  if (!edition_is_held(index->world, edition)) edition->holders = 0;
  edition->held = index->world->moment;
  edition->holders++;
  return edition;
}

void edition_release(const ecs_world *world, struct edition *edition) {
  if (edition_is_held(world, edition)) edition->holders--;
}

void edition_drop_old(ecs_index *index) {
  struct edition **at = index->now ? &index->now->next : &index->now;
  while (*at) {
    struct edition *edition = *at;
    if (edition_is_held(index->world, edition)) {
      at = &edition->next;
      continue;
    }
    *at = edition->next;
    edition_free(index->world, edition);
  }
}

struct edition *edition_to_fill(ecs_index *index) {
  ecs_world *world = index->world;
  if (index->now && !edition_is_held(world, index->now)) {
    edition_empty(index->now);
    return index->now;
  }
  struct edition *edition = memory_array(&world->memory, 1, sizeof *edition);
  if (!edition) return NULL;
  edition->next = index->now;
  return index->now = edition;
}

/* ---- laying out ------------------------------------------------------------------------ */

/* Iterates over the columns of a query's terms: for an optional term first a column of flags, then
** one for each leaf. */
struct copy_cursor {
  const struct query_terms *terms;
  uint32_t term, step;
};

static bool edition_next_column(struct copy_cursor *cursor, struct copy_column *out) {
  for (; cursor->term < cursor->terms->count; cursor->term++, cursor->step = 0) {
    const struct term *term = &cursor->terms->terms[cursor->term];
    if (term->slot == NONE) continue;
    bool flagged = term_may_lack(term);
    uint32_t step = cursor->step++;
    *out = (struct copy_column){.term = cursor->term, .slot = term->slot};
    if (flagged && step == 0) {
      out->type = ECS_BOOL;
      out->size = 1;
      return true;
    }
    out->term_leaf = step - flagged;
    if (out->term_leaf >= term_cell_count(term)) continue;
    out->leaf = term->leaf == NONE ? out->term_leaf : term->leaf;
    const struct leaf *leaf = &term->component->leaves[out->leaf];
    out->component = term->component->id;
    out->type = leaf->type;
    out->size = leaf->size;
    return true;
  }
  return false;
}

static bool edition_copies_are_same(const struct copy_column *a, const struct copy_column *b) {
  return a->component == b->component && a->leaf == b->leaf && a->term == b->term &&
         a->term_leaf == b->term_leaf && a->slot == b->slot && a->type == b->type &&
         a->size == b->size;
}

/* Whether the copies already have this layout. */
static bool edition_is_laid_out(const struct copies *copies, const struct query_terms *terms) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  uint32_t at = 0;
  if (copies->slot_count != terms->slots) return false;
  while (edition_next_column(&cursor, &column))
    if (at == copies->column_count || !edition_copies_are_same(&copies->columns[at++], &column))
      return false;
  return at == copies->column_count;
}

static ecs_status copy_check_terms(const ecs_world *world, const struct query_terms *terms,
                                   const char *name, uint32_t *count) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  for (*count = 0; edition_next_column(&cursor, &column); ++*count) {
    const struct component *component = terms->terms[column.term].component;
    if (column.type != ECS_ANY) continue;
    return world_fail(world, ECS_EINVAL, "index '%s': '%s.%s' has type any, which an index cannot "
                      "copy: name the fields you want, as in '%s.x'", name, component->name,
                      component->leaves[column.leaf].name, component->name);
  }
  return ECS_OK;
}

static void copy_fill(struct copies *copies, const struct query_terms *terms) {
  struct copy_cursor cursor = {terms, 0, 0};
  struct copy_column column;
  for (uint32_t i = 0; i < copies->slot_count; i++)
    copies->slots[i] = (struct copy_slot){0, 0, NONE, false};
  for (uint32_t at = 0; edition_next_column(&cursor, &column); at++) {
    assert(at < copies->column_count && column.slot < copies->slot_count);
    struct copy_slot *slot = &copies->slots[column.slot];
    copies->columns[at] = column;
    slot->single = terms->terms[column.term].leaf != NONE;
    if (column.component == ECS_NULL)
      slot->flags = at;
    else if (slot->count++ == 0)
      slot->first = at;
  }
}

ecs_status copies_lay_out(ecs_world *world, struct copies *copies,
                          const struct query_terms *terms, const char *name) {
  uint32_t count;
  copies->count = 0;
  if (edition_is_laid_out(copies, terms)) return ECS_OK;
  ecs_status status = copy_check_terms(world, terms, name, &count);
  if (status != ECS_OK) return status;
  copies_free(world, copies);
  struct copy_column *columns = memory_array(&world->memory, (size_t)count + 1, sizeof *columns);
  struct copy_slot *slots = memory_array(&world->memory, (size_t)terms->slots + 1, sizeof *slots);
  if (!columns || !slots) {
    memory_free(&world->memory, columns, ((size_t)count + 1) * sizeof *columns);
    memory_free(&world->memory, slots, ((size_t)terms->slots + 1) * sizeof *slots);
    return world_nomem(world);
  }
  *copies = (struct copies){.columns = columns, .column_count = count, .slots = slots,
                            .slot_count = terms->slots};
  copy_fill(copies, terms);
  return ECS_OK;
}

void copies_free(ecs_world *world, struct copies *copies) {
  struct memory *memory = &world->memory;
  for (uint32_t i = 0; i < copies->column_count; i++)
    buffer_free(memory, &copies->columns[i].cells);
  buffer_free(memory, &copies->entities);
  buffer_free(memory, &copies->order);
  memory_free(memory, copies->columns,
              ((size_t)copies->column_count + 1) * sizeof *copies->columns);
  memory_free(memory, copies->slots, ((size_t)copies->slot_count + 1) * sizeof *copies->slots);
  memset(copies, 0, sizeof *copies);
}

/* ---- rows ------------------------------------------------------------------------------ */

static bool copy_grow(struct memory *memory, struct column_buffer *buffer,
                      const struct copies *copies, uint32_t rows, uint32_t size) {
  return buffer_grow(memory, buffer, (size_t)rows * size, (size_t)copies->count * size);
}

ecs_status copies_reserve(ecs_world *world, struct copies *copies, uint64_t rows) {
  if (rows <= copies->capacity) return ECS_OK;
  struct memory *memory = &world->memory;
  if (rows > ROW_LIMIT) return world_fail(world, ECS_ELIMIT, "an index has too many rows");
  uint32_t wanted = copies->capacity * 2 < 16 ? 16 : copies->capacity * 2;
  if (wanted < rows) wanted = (uint32_t)rows;
  bool ok = copy_grow(memory, &copies->entities, copies, wanted, sizeof(ecs_id)) &&
            copy_grow(memory, &copies->order, copies, wanted, sizeof(uint32_t));
  for (uint32_t i = 0; ok && i < copies->column_count; i++)
    ok = copy_grow(memory, &copies->columns[i].cells, copies, wanted, copies->columns[i].size);
  if (!ok) return world_nomem(world);
  copies->capacity = wanted;
  return ECS_OK;
}

/* Fills a column's cells for a run of rows that all have them or all lack them. */
static void edition_copies_fill_cells(const struct copies *copies, const struct copy_column *column,
                                      const ecs_iter *it) {
  char *to = (char *)column->cells.data + (size_t)copies->count * column->size;
  size_t size = it->count * column->size;
  if (column->component == ECS_NULL) {
    memset(to, ecs_iter_has(it, column->term), size);
    return;
  }
  const void *from = ecs_iter_column(it, column->term, column->term_leaf);
  if (from)
    memcpy(to, from, size);
  else
    memset(to, 0, size);
}

static ecs_status edition_take_run(struct copies *copies, const ecs_iter *it) {
  ecs_world *world = it->query->world;
  /* A row that a `with` term finds several times comes several times in succession. */
  if (copies->count && it->count == 1 &&
      copies_entities(copies)[copies->count - 1] == ecs_iter_entity(it, 0))
    return ECS_OK;
  ecs_status status = copies_reserve(world, copies, copies->count + (uint64_t)it->count);
  if (status != ECS_OK) return status;
  ecs_id *entities = copies->entities.data;
  for (size_t i = 0; i < it->count; i++)
    entities[copies->count + i] = entity_id(&world->entities, it->rows[i]);
  for (uint32_t i = 0; i < copies->column_count; i++)
    edition_copies_fill_cells(copies, &copies->columns[i], it);
  copies->count += (uint32_t)it->count;
  return ECS_OK;
}

/* Copying does not mark cells as written, even without `:in`: the query belongs to the index. */
ecs_status copies_gather(struct copies *copies, ecs_query *query) {
  ecs_iter it;
  copies->count = 0;
  for (uint32_t i = 0; i < query->terms.count; i++) query->terms.terms[i].read_only = true;
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (status == ECS_OK && ecs_iter_next(&it)) status = edition_take_run(copies, &it);
  ecs_status closed = ecs_iter_close(&it);
  return status == ECS_OK ? closed : status;
}

static LOOPS void edition_arrange_column(struct copy_column *to, const struct copy_column *from,
                           const uint32_t *order, uint32_t count) {
  const void *cells = from->cells.data;
  assert(edition_copies_are_same(to, from));
  if (to->size == 4) {
    uint32_t *words = to->cells.data;
    for (uint32_t i = 0; i < count; i++) words[i] = ((const uint32_t *)cells)[order[i]];
    return;
  }
  for (uint32_t i = 0; i < count; i++) cell_copy(to->cells.data, i, cells, order[i], to->size);
}

void copies_arrange(struct copies *copies, const struct copies *from, const uint32_t *order,
                    uint32_t count) {
  assert(count <= copies->capacity && copies->column_count == from->column_count);
  ecs_id *entities = copies->entities.data;
  const ecs_id *ids = copies_entities(from);
  for (uint32_t i = 0; i < count; i++) entities[i] = ids[order[i]];
  if (count) memcpy(copies->order.data, order, count * sizeof *order);
  for (uint32_t i = 0; i < copies->column_count; i++)
    edition_arrange_column(&copies->columns[i], &from->columns[i], order, count);
  copies->count = count;
}

void copies_bring(struct copies *copies, uint32_t to, const struct copies *from, uint32_t row) {
  assert(to < copies->count && row < from->count && copies->column_count == from->column_count);
  ((ecs_id *)copies->entities.data)[to] = copies_entities(from)[row];
  ((uint32_t *)copies->order.data)[to] = row;
  for (uint32_t i = 0; i < copies->column_count; i++)
    cell_copy(copies->columns[i].cells.data, to, from->columns[i].cells.data, row,
              copies->columns[i].size);
}

const struct copy_column *copies_column(const struct copies *copies, ecs_id component,
                                        uint32_t leaf) {
  for (uint32_t i = 0; i < copies->column_count; i++)
    if (copies->columns[i].component == component && copies->columns[i].leaf == leaf)
      return &copies->columns[i];
  return NULL;
}

/* ---- rows that leave or enter ---------------------------------------------------------- */

static void edition_add_shift(struct shift *shifts, uint32_t *count, const struct keyed *keyed,
                              const uint32_t *order, struct key key, uint32_t row) {
  shifts[(*count)++] = (struct shift){row, keyed_bound(keyed, order, key, row), 0,
                                      keyed_rank(keyed, key)};
}

/* Handles one changed row: with the same key, only its cells change; otherwise it moves. False if
** all rows must be sorted. */
static bool edition_note_row(struct splice_room *room, struct edition *edition,
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
  if (had) edition_add_shift(room->cuts, &room->cut_count, keyed, order, old, row);
  if (has) edition_add_shift(room->puts, &room->put_count, keyed, order, key, row);
  assert(!had || order[room->cuts[room->cut_count - 1].at] == row);
  return true;
}

/* The order of rows that move to one place. */
static bool edition_splice_precedes(const struct shift *a, const struct shift *b) {
  if (key_precedes(a->rank, b->rank)) return true;
  return !key_precedes(b->rank, a->rank) && a->row < b->row;
}

/* Radix sort by the high halves, 8 bits at a time (Knuth, TAOCP 5.2.5), of a list followed by as
** much free room. */
static uint64_t *edition_sort_list(uint64_t *list, uint32_t count) {
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

/* Sorts the shifts by place. */
static void edition_sort_shifts(struct splice_room *room, struct shift **shifts, uint32_t count) {
  struct shift *sorted = room->sorted;
  for (uint32_t i = 0; i < count; i++) room->list[i] = (uint64_t)(*shifts)[i].at << 32 | i;
  const uint64_t *list = edition_sort_list(room->list, count);
  for (uint32_t i = 0; i < count; i++) {
    const struct shift *shift = &(*shifts)[(uint32_t)list[i]];
    uint32_t to = i;
    for (; to > 0 && sorted[to - 1].at == shift->at &&
           edition_splice_precedes(shift, &sorted[to - 1]);
         to--)
      sorted[to] = sorted[to - 1];
    sorted[to] = *shift;
  }
  room->sorted = *shifts;
  *shifts = sorted;
}

/* ---- rows that stay -------------------------------------------------------------------- */

static void edition_splice_add_span(struct splice_room *room, uint32_t from, uint32_t to,
                                    uint32_t end) {
  if (from == end) return;
  assert(room->span_count < room->span_capacity && from < end);
  room->spans[room->span_count++] = (struct span){from, to, end - from};
}

/* Works out where each row goes: rows between cuts and puts stay together. Returns the new
** count. */
static uint32_t edition_splice_lay_out(struct splice_room *room, uint32_t count) {
  uint32_t from = 0, to = 0, cut = 0, put = 0;
  while (cut < room->cut_count || put < room->put_count) {
    uint32_t gap = cut < room->cut_count ? room->cuts[cut].at : UINT32_MAX;
    bool puts = put < room->put_count && room->puts[put].at <= gap;
    uint32_t end = puts ? room->puts[put].at : gap;
    assert(from <= end && end <= count);
    edition_splice_add_span(room, from, to, end);
    to += end - from;
    from = end + !puts;
    if (puts)
      room->puts[put++].to = to++;
    else
      cut++;
  }
  edition_splice_add_span(room, from, to, count);
  return to + (count - from);
}

/* Moves items, first those that go down, from the lowest up, then the others, from the highest
** down, so that none is overwritten. */
static void edition_move_items(const struct splice_room *room, void *items, uint32_t size) {
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

/* Moves cells, and puts new rows in place, column by column, so that many distant reads overlap. */
static void edition_splice_move_cells(const struct splice_room *room, void *cells, const void *from,
                                      uint32_t size) {
  edition_move_items(room, cells, size);
  for (uint32_t i = 0; i < room->put_count; i++)
    cell_copy(cells, room->puts[i].to, from, room->puts[i].row, size);
}

static void edition_splice_move_all(const struct splice_room *room, struct edition *edition,
                                    const struct rekeyed *rekeyed, uint32_t count) {
  struct copies *copies = &edition->copies;
  const struct copies *rows = rekeyed->rows;
  assert(copies->column_count == rows->column_count);
  copies->count = edition->keyed.count = count;
  edition_splice_move_cells(room, copies->entities.data, rows->entities.data, sizeof(ecs_id));
  uint32_t *order = copies->order.data;
  edition_move_items(room, order, sizeof *order);
  for (uint32_t i = 0; i < room->put_count; i++) order[room->puts[i].to] = room->puts[i].row;
  for (uint32_t i = 0; i < copies->column_count; i++)
    edition_splice_move_cells(room, copies->columns[i].cells.data, rows->columns[i].cells.data,
                              copies->columns[i].size);
  struct key *keys = edition->keyed.keys;
  edition_move_items(room, keys, sizeof *keys);
  for (uint32_t i = 0; i < room->put_count; i++)
    keys[room->puts[i].to] = rekeyed->keys[room->puts[i].row];
}

/* ---- buckets --------------------------------------------------------------------------- */

static LOOPS void edition_add_to(uint32_t *numbers, uint32_t count, uint32_t more) {
  for (uint32_t i = 0; more && i < count; i++) numbers[i] += more;
}

/* Moves the start of each bucket by the rows added to, and removed from, the ones before it. */
static void edition_move_starts(const struct splice_room *room, struct keyed *keyed) {
  uint32_t cut = 0, put = 0, at = 0, more = 0;
  while (cut < room->cut_count || put < room->put_count) {
    uint64_t gone = cut < room->cut_count ? room->cuts[cut].rank.bits : UINT64_MAX;
    uint64_t come = put < room->put_count ? room->puts[put].rank.bits : UINT64_MAX;
    uint64_t bucket = gone < come ? gone : come;
    assert(bucket < keyed->buckets);
    if (at <= bucket) edition_add_to(keyed->starts + at, (uint32_t)bucket + 1 - at, more);
    if (at <= bucket) at = (uint32_t)bucket + 1;
    if (come <= gone) put++;
    else cut++;
    more += come <= gone ? 1u : UINT32_MAX;
  }
  edition_add_to(keyed->starts + at, keyed->buckets + 2 - at, more);
}

/* ---- the whole edition ----------------------------------------------------------------- */

ecs_status splice_keyed(ecs_world *world, struct splice_room *room, struct edition *edition,
                        const struct rekeyed *rekeyed, bool *done) {
  struct memory *memory = &world->memory;
  struct keyed *keyed = &edition->keyed;
  uint64_t most = rekeyed->count + 1ull;
  *done = false;
  room->cut_count = room->put_count = room->span_count = 0;
  if (!GROW(memory, room->cuts, room->cut_capacity, most) ||
      !GROW(memory, room->puts, room->put_capacity, most) ||
      !GROW(memory, room->spans, room->span_capacity, 2 * most) ||
      !GROW(memory, room->list, room->list_capacity, 2 * most) ||
      !GROW(memory, room->sorted, room->sorted_capacity, most))
    return world_nomem(world);
  for (uint32_t i = 0; i < rekeyed->count; i++)
    if (!edition_note_row(room, edition, rekeyed, i)) return ECS_OK;
  uint32_t count = keyed->count - room->cut_count + room->put_count;
  if (keyed->by == ECS_BY_HASH && keyed_buckets(count) != keyed->buckets) return ECS_OK;
  if (!GROW(memory, keyed->keys, keyed->capacity, count + 1ull)) return world_nomem(world);
  ecs_status status = copies_reserve(world, &edition->copies, count);
  if (status != ECS_OK) return status;
  edition_sort_shifts(room, &room->cuts, room->cut_count);
  edition_sort_shifts(room, &room->puts, room->put_count);
  uint32_t laid = edition_splice_lay_out(room, keyed->count);
  assert(laid == count);
  edition_splice_move_all(room, edition, rekeyed, laid);
  if (keyed->by == ECS_BY_HASH) edition_move_starts(room, keyed);
  assert(keyed_is_sound(keyed, count));
  *done = true;
  return ECS_OK;
}

void splice_free(struct memory *memory, struct splice_room *room) {
  FREE_LIST(memory, room->cuts, room->cut_capacity);
  FREE_LIST(memory, room->puts, room->put_capacity);
  FREE_LIST(memory, room->spans, room->span_capacity);
  FREE_LIST(memory, room->list, room->list_capacity);
  FREE_LIST(memory, room->sorted, room->sorted_capacity);
  memset(room, 0, sizeof *room);
}
