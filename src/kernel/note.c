#include "kernel/note.h"

#include "kernel/build.h"
#include "kernel/ops.h"

#include "kernel/vector.h"

#define MOST_NOTES (UINT32_C(1) << 22)   /* of one block: loops may note down much */

enum {
  NOTE_ROOM = sizeof(int64_t) + sizeof(k_scalar) + 2 * sizeof(uint32_t) + sizeof(uint8_t)
};

static uint32_t note_capacity_for(const struct program *p) {
  return (uint32_t)(p->site_count < NOTE_SITES ? p->site_count : NOTE_SITES) * p->block;
}

size_t notes_room(const struct program *p) { return (size_t)note_capacity_for(p) * NOTE_ROOM; }

static void note_lay_out(struct notes *notes, void *room, uint32_t capacity) {
  notes->indexes = room;
  notes->values = (k_scalar *)(void *)(notes->indexes + capacity);
  notes->rows = (uint32_t *)(void *)(notes->values + capacity);
  notes->order = notes->rows + capacity;
  notes->sites = (uint8_t *)(notes->order + capacity);
  notes->capacity = capacity;
}

void notes_open(struct notes *notes, const struct program *p, void *room) {
  uint32_t capacity = note_capacity_for(p);
  if (notes->own_capacity > capacity)
    note_lay_out(notes, notes->own, notes->own_capacity);
  else
    note_lay_out(notes, room, capacity);
  notes->site_count = p->site_count;
  notes->noting = p->layout.noting;
  notes_clear(notes, 0);
}

void notes_free(struct notes *notes) {
  memory_free(notes->memory, notes->own, (size_t)notes->own_capacity * NOTE_ROOM);
}

/* ---- noting down ---- */

bool notes_grow(struct notes *notes, uint64_t need) {
  uint64_t capacity = 2 * need;
  assert(need > notes->capacity);
  if (capacity > MOST_NOTES) return false;
  void *room = memory_array(notes->memory, (size_t)capacity, NOTE_ROOM);
  if (!room) return false;
  struct notes old = *notes;
  note_lay_out(notes, room, (uint32_t)capacity);
  memcpy(notes->indexes, old.indexes, old.count * sizeof *old.indexes);
  memcpy(notes->values, old.values, old.count * sizeof *old.values);
  memcpy(notes->rows, old.rows, old.count * sizeof *old.rows);
  memcpy(notes->sites, old.sites, old.count * sizeof *old.sites);
  notes_free(&old);
  notes->own = room;
  notes->own_capacity = (uint32_t)capacity;
  return true;
}

static bool note_has_room(struct notes *notes, size_t more) {
  uint64_t need = (uint64_t)notes->count + more;
  if (need <= notes->capacity) return true;
  if (!notes->fixed) return notes_grow(notes, need);
  notes->outgrown = need;
  return false;
}

/* The rows that are in a mask; how many. */
static uint32_t note_find_among(uint16_t *among, const uint8_t *mask, size_t n) {
  uint32_t count = 0;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word;
    memcpy(&word, mask + i, sizeof word);
    if (!word) continue;
    for (size_t j = i; j < i + 8; j++) {
      among[count] = (uint16_t)j;
      count += mask[j];
    }
  }
  for (; i < n; i++) {
    among[count] = (uint16_t)i;
    count += mask[i];
  }
  return count;
}

/* Where programs do not show it, what follows each other mostly has one mask. */
static void note_find_rows(struct notes *notes, const uint8_t *mask, size_t n, bool shows) {
  assert(n > 0 && n <= K_BLOCK);
  if (!shows) {
    if (notes->masked == n && memcmp(notes->mask, mask, n) == 0) return;
    memcpy(notes->mask, mask, n);
  }
  notes->masked = (uint32_t)n;
  notes->masked_rows = NONE;
  notes->among_count = note_find_among(notes->among, mask, n);
}

static k_scalar note_value_at(k_type type, const void *values, size_t i) {
  k_scalar value = {.i64 = 0};
  assert(type == KT_BOOL || type == KT_I64 || type == KT_F64);
  if (type == KT_BOOL)
    value.b = ((const uint8_t *)values)[i];
  else
    memcpy(&value, (const k_scalar *)values + i, sizeof value);
  return value;
}

/* The values of some rows, or of the first ones where it is not said which. */
static void note_copy_values(const struct notes *notes, const struct noted *noted,
                             const uint16_t *among, uint32_t count) {
  k_scalar *to = notes->values + notes->count;
  const k_scalar *values = noted->values;
  if (noted->one_value) {
    k_scalar value = note_value_at(noted->type, values, 0);
    for (uint32_t i = 0; i < count; i++) to[i] = value;
  } else if (noted->type == KT_BOOL) {
    for (uint32_t i = 0; i < count; i++)
      to[i] = note_value_at(KT_BOOL, values, among ? among[i] : i);
  } else if (!among) {
    memcpy(to, values, count * sizeof *to);
  } else {
    for (uint32_t i = 0; i < count; i++) to[i] = values[among[i]];
  }
}

/* Copies the indexes of notes. */
static void note_copy_indexes(const struct notes *notes, const struct noted *noted,
                              const uint16_t *among, uint32_t count) {
  int64_t *to = notes->indexes + notes->count;
  const int64_t *indexes = noted->indexes;
  if (noted->one_index)
    for (uint32_t i = 0; i < count; i++) to[i] = *indexes;
  else if (!among)
    memcpy(to, indexes, count * sizeof *to);
  else
    for (uint32_t i = 0; i < count; i++) to[i] = indexes[among[i]];
}

/* Writes down the rows of a run, which are those of the last mask unless they are all. */
static void note_write_rows(struct notes *notes, struct note_run *run, bool all) {
  uint32_t *rows = notes->rows + run->from;
  for (uint32_t i = 0; i < run->count; i++) rows[i] = all ? i : notes->among[i];
  run->rows = run->from;
}

/* Writes down all of the notes of each site that programs show to be come to but once. */
static void note_spread(struct notes *notes) {
  for (uint32_t site = 0; site < notes->site_count; site++) {
    struct note_run *run = &notes->runs[site];
    if (!(notes->noting[site] & NOTING_ONCE) || run->count == 0) continue;
    if (run->indexes)
      memcpy(notes->indexes + run->from, run->indexes, run->count * sizeof *run->indexes);
    if (run->values)
      memcpy(notes->values + run->from, run->values, run->count * sizeof *run->values);
    run->indexes = NULL;
    run->values = NULL;
    for (uint32_t i = 1; run->one_index && i < run->count; i++)
      notes->indexes[run->from + i] = notes->indexes[run->from];
    for (uint32_t i = 1; run->one_value && i < run->count; i++)
      notes->values[run->from + i] = notes->values[run->from];
    run->one_index = run->one_value = false;
    memset(notes->sites + run->from, (int)site, run->count);
    if (run->rows == NONE)
      note_write_rows(notes, run, true);
    else if (run->rows != run->from)
      memcpy(notes->rows + run->from, notes->rows + run->rows, run->count * sizeof *notes->rows);
    run->rows = run->from;
  }
}

size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n) {
  uint8_t noting = notes->noting[site];
  bool whole = (noting & NOTING_ALL) != 0;
  bool once = (noting & NOTING_ONCE) != 0;
  if (!whole && !((noting & NOTING_SAME) && notes->masked == n))
    note_find_rows(notes, mask, n, once);
  uint32_t more = whole ? (uint32_t)n : notes->among_count, first = whole ? 0 : notes->among[0];
  if (more == 0) return n;
  assert(site < notes->site_count && more <= n);
  if (!note_has_room(notes, more)) return first;
  bool all = more == n;
  struct note_run run = {notes->count, more, all ? NONE : notes->masked_rows,
                         noted->one_index && once, noted->one_value && once, NULL, NULL};
  const uint16_t *among = all ? NULL : notes->among;
  if ((noting & NOTING_HELD) && !noted->one_value)
    run.values = noted->values;
  else
    note_copy_values(notes, noted, among, run.one_value ? 1 : more);
  if ((noting & NOTING_HELD) && !noted->one_index)
    run.indexes = noted->indexes;
  else
    note_copy_indexes(notes, noted, among, run.one_index ? 1 : more);
  if (!once || (!all && run.rows == NONE)) note_write_rows(notes, &run, all);
  if (!once) memset(notes->sites + notes->count, (int)site, more);
  if (!all) notes->masked_rows = run.rows;
  notes->again |= notes->runs[site].count != 0;
  notes->runs[site] = run;
  notes->sorted &= notes->count == 0 || first >= notes->last;
  notes->last = whole ? more - 1 : notes->among[more - 1];
  notes->count += more;
  assert(notes->count <= notes->capacity);
  return n;
}

/* ---- numbers as Lua has them ---- */

struct number {
  bool real;
  int64_t i;
  double d;
};

static struct number note_integer(int64_t i) { return (struct number){false, i, 0}; }
static struct number note_real(double d) { return (struct number){true, 0, d}; }
static double note_as_real(struct number x) { return x.real ? x.d : (double)x.i; }

static bool note_less(struct number x, struct number y) {
  if (x.real && y.real) return x.d < y.d;
  if (x.real) return less_real(x.d, y.i);
  return y.real ? less_integer(x.i, y.d) : x.i < y.i;
}

static int64_t note_whole(k_step step, int64_t x, int64_t y) {
  uint64_t a = (uint64_t)x, b = (uint64_t)y;
  return (int64_t)(step == KS_ADD ? a + b : step == KS_SUB ? a - b : a * b);
}

static struct number note_calculate(k_step step, struct number x, struct number y) {
  if (!x.real && !y.real && step != KS_DIV) return note_integer(note_whole(step, x.i, y.i));
  double a = note_as_real(x), b = note_as_real(y);
  switch (step) {
    case KS_ADD: return note_real(a + b);
    case KS_SUB: return note_real(a - b);
    case KS_MUL: return note_real(a * b);
    default: assert(step == KS_DIV); return note_real(a / b);
  }
}

/* x is what the cell has, or the step before has made of it. */
static struct number note_take_step(k_site site, struct number x, struct number y) {
  struct number left = site.turned ? y : x, right = site.turned ? x : y;
  switch ((k_step)site.step) {
    case KS_SET: return y;
    case KS_MIN: return note_less(right, left) ? right : left;
    case KS_MAX: return note_less(left, right) ? right : left;
    default: return note_calculate((k_step)site.step, left, right);
  }
}

/* ---- cells ---- */

static struct number note_load_cell(k_column type, const void *cells, size_t at) {
  switch (type) {
    case KC_F32: return note_real((double)((const float *)cells)[at]);
    case KC_F64: return note_real(((const double *)cells)[at]);
    case KC_I8: return note_integer(((const int8_t *)cells)[at]);
    case KC_I16: return note_integer(((const int16_t *)cells)[at]);
    case KC_I32: return note_integer(((const int32_t *)cells)[at]);
    case KC_U8: return note_integer(((const uint8_t *)cells)[at]);
    case KC_U16: return note_integer(((const uint16_t *)cells)[at]);
    case KC_U32: return note_integer(((const uint32_t *)cells)[at]);
    default: return note_integer(((const int64_t *)cells)[at]);
  }
}

/* A number as an integer of a column; what hinders it, if anything. */
static k_error note_fit(k_column type, struct number x, int64_t *out) {
  static const int64_t least[KC_COUNT] = {[KC_I64] = INT64_MIN, [KC_I8] = INT8_MIN,
                                          [KC_I16] = INT16_MIN, [KC_I32] = INT32_MIN};
  static const int64_t most[KC_COUNT] = {
      [KC_I64] = INT64_MAX, [KC_I8] = INT8_MAX,  [KC_I16] = INT16_MAX, [KC_I32] = INT32_MAX,
      [KC_U8] = UINT8_MAX,  [KC_U16] = UINT16_MAX, [KC_U32] = UINT32_MAX};
  assert(type >= KC_I64 && type < KC_ENTITY);
  if (x.real) {
    if (!(x.d >= -0x1p63 && x.d < 0x1p63) || floor(x.d) != x.d) return KE_FRACTION;
    x = note_integer((int64_t)x.d);
  }
  if (x.i < least[type] || x.i > most[type]) return KE_RANGE;
  *out = x.i;
  return KE_NONE;
}

static void note_store_integer(k_column type, void *cells, size_t at, int64_t i) {
  switch (type) {
    case KC_I8: ((int8_t *)cells)[at] = (int8_t)i; break;
    case KC_I16: ((int16_t *)cells)[at] = (int16_t)i; break;
    case KC_I32: ((int32_t *)cells)[at] = (int32_t)i; break;
    case KC_U8: ((uint8_t *)cells)[at] = (uint8_t)i; break;
    case KC_U16: ((uint16_t *)cells)[at] = (uint16_t)i; break;
    case KC_U32: ((uint32_t *)cells)[at] = (uint32_t)i; break;
    default: ((int64_t *)cells)[at] = i; break;
  }
}

static k_error note_store_cell(k_column type, void *cells, size_t at, struct number x) {
  int64_t i = 0;
  if (type == KC_F32) {
    ((float *)cells)[at] = (float)note_as_real(x);
    return KE_NONE;
  }
  if (type == KC_F64) {
    ((double *)cells)[at] = note_as_real(x);
    return KE_NONE;
  }
  k_error error = note_fit(type, x, &i);
  if (error == KE_NONE) note_store_integer(type, cells, at, i);
  return error;
}

/* ---- going through them ---- */

/* Sorts the notes of the first n rows by row into the order, those of a row as they came; how many
** they are. */
static uint32_t note_sort(struct notes *notes, size_t n) {
  uint32_t from[K_BLOCK + 1] = {0}, count = 0;
  assert(n <= K_BLOCK);
  for (uint32_t i = 0; i < notes->count; i++)
    if (notes->rows[i] < n) from[notes->rows[i] + 1]++;
  for (size_t row = 1; row <= n; row++) from[row] += from[row - 1];
  for (uint32_t i = 0; i < notes->count; i++) {
    if (notes->rows[i] >= n) continue;
    notes->order[from[notes->rows[i]]++] = i;
    count++;
  }
  return count;
}

/* Where a run of notes is, and what the steps on one cell have come to. */
struct doing {
  struct notes *notes;
  const struct program *p;
  const k_array *arrays;
  struct number now;
  k_failure *failure;
  bool joins;                  /* some notes go together: note_joined.h */
};

static k_column note_column_of(const struct program *p, k_site site) {
  assert(site.step != KS_ORDER);
  assert(site.array < p->array_count);
  return array_column(p->arrays[site.array]);
}

static bool note_refuse(const struct doing *doing, k_error error, struct number x) {
  k_failure *failure = doing->failure;
  failure->error = error;
  failure->type = x.real ? KT_F64 : KT_I64;
  failure->value.i64 = x.i;
  if (x.real) failure->value.f64 = x.d;
  return false;
}

static struct number note_operand_of(k_site site, k_scalar value) {
  return site.type == KT_F64 ? note_real(value.f64) : note_integer(value.i64);
}

static k_site note_site_of(const struct doing *doing, uint32_t note) {
  assert(note < doing->notes->count);
  return doing->p->sites[doing->notes->sites[note]];
}

/* The cell that a note is about: its row's, or that at its index; NULL when there is none. */
static void *note_cell_of(const struct doing *doing, uint32_t note) {
  k_site site = note_site_of(doing, note);
  const k_array *array = &doing->arrays[site.array];
  if (doing->p->arrays[site.array] & ARRAY_OF_CELLS) {
    size_t row = doing->notes->first + doing->notes->rows[note];
    assert(row < (size_t)array->count);
    return ((const k_cell *)array->data)[row].at;
  }
  int64_t index = doing->notes->indexes[note];
  if (index < 1 || index > array->count) return NULL;
  size_t size = column_size(note_column_of(doing->p, site));
  return (char *)(uintptr_t)array->data + ((size_t)index - 1) * size;
}

/* Stores what the steps have come to; the note then has what was there. */
static bool note_store(struct doing *doing, k_scalar *value, k_site site, void *cell) {
  k_column type = note_column_of(doing->p, site);
  k_scalar kept = {.i64 = 0};
  memcpy(&kept, cell, column_size(type));
  k_error error = KE_NONE;
  if (type == KC_BOOL)
    *(uint8_t *)cell = site.step == KS_OR    ? kept.b | value->b
                       : site.step == KS_AND ? kept.b & value->b
                                             : value->b;
  else
    error = note_store_cell(type, cell, 0, doing->now);
  *value = kept;
  return error == KE_NONE || note_refuse(doing, error, doing->now);
}

static bool do_note(struct doing *doing, uint32_t note) {
  k_site site = note_site_of(doing, note);
  k_scalar *value = &doing->notes->values[note];
  void *cell = note_cell_of(doing, note);
  if (!cell) return note_refuse(doing, KE_ABSENT, note_integer(doing->notes->indexes[note]));
  k_column type = note_column_of(doing->p, site);
  if (type != KC_BOOL) {
    if (site.first && site.step != KS_SET) doing->now = note_load_cell(type, cell, 0);
    doing->now = note_take_step(site, doing->now, note_operand_of(site, *value));
  }
  return !site.last || note_store(doing, value, site, cell);
}

static void undo_note(const struct doing *doing, uint32_t note) {
  k_site site = note_site_of(doing, note);
  if (!site.last || site.step == KS_ORDER) return;
  memcpy(note_cell_of(doing, note), &doing->notes->values[note],
         column_size(note_column_of(doing->p, site)));
}

static uint32_t note_at(const struct notes *notes, uint32_t i) {
  assert(i < notes->count);
  return notes->sorted ? i : notes->order[i];
}

static uint32_t note_row_at(const struct notes *notes, uint32_t i) {
  return notes->rows[note_at(notes, i)];
}

/* Of the row of the note at `from`: how many behind it are of that row, too. */
static uint32_t note_end_of_row(const struct notes *notes, uint32_t from, uint32_t count) {
  uint32_t end = from + 1, row = note_row_at(notes, from);
  while (end < count && note_row_at(notes, end) == row) end++;
  return end;
}

static bool note_is_order(const struct doing *doing, uint32_t note) {
  return note_site_of(doing, note).step == KS_ORDER;
}

/* Takes the steps of a row, all of them or none. */
static bool note_take_steps(struct doing *doing, uint32_t from, uint32_t end) {
  for (uint32_t i = from; i < end; i++) {
    uint32_t note = note_at(doing->notes, i);
    if (note_is_order(doing, note) || do_note(doing, note)) continue;
    while (i-- > from) undo_note(doing, note_at(doing->notes, i));
    return false;
  }
  return true;
}

static void give_orders(const struct doing *doing, const k_orders *orders, uint32_t from,
                        uint32_t end) {
  for (uint32_t i = from; i < end; i++) {
    uint32_t note = note_at(doing->notes, i);
    k_site site = note_site_of(doing, note);
    if (site.step != KS_ORDER) continue;
    if (doing->joins && doing->notes->joined[doing->notes->sites[note]])
      notes_give_joined(doing->notes, orders, site.array, note);
    else
      orders->give(orders->ud, site.array, doing->notes->indexes[note], doing->notes->values[note]);
  }
}

/* The first note of the row of one. */
static uint32_t note_begin_of_row(const struct notes *notes, uint32_t at) {
  while (at > 0 && note_row_at(notes, at - 1) == note_row_at(notes, at)) at--;
  return at;
}

/* How many of the notes are of rows before the first whose orders cannot be given. */
static uint32_t note_check_orders(const struct doing *doing, const k_orders *orders,
                                  uint32_t count) {
  uint32_t given = 0, first = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t note = note_at(doing->notes, i);
    if (!note_is_order(doing, note)) continue;
    int64_t index = doing->notes->indexes[note];
    uint8_t parts = doing->joins ? doing->notes->joined[doing->notes->sites[note]] : 0;
    bool (*check)(void *, uint32_t, int64_t, k_scalar) =
        parts ? orders->check_joined : orders->check;
    if (!check(orders->ud, note_site_of(doing, note).array, index, doing->notes->values[note])) {
      note_refuse(doing, KE_DEAD, note_integer(index));
      count = note_begin_of_row(doing->notes, i);
    } else {
      if (given == 0) first = i;
      given += 1u + parts;
    }
  }
  if (first >= count || !given || orders->reserve(orders->ud, given)) return count;
  note_refuse(doing, KE_ROOM, note_integer(0));
  return note_begin_of_row(doing->notes, first);
}

/* Does what the first notes say, of whole rows whose orders can be given; how many it did. */
static uint32_t do_rows(struct doing *doing, const k_orders *orders, uint32_t count) {
  for (uint32_t i = 0, end; i < count; i = end) {
    end = note_end_of_row(doing->notes, i, count);
    if (!note_take_steps(doing, i, end)) return i;
    if (orders) give_orders(doing, orders, i, end);
  }
  return count;
}

/* The first row that has noted something down. */
static uint32_t note_first_row(const struct notes *notes) {
  uint32_t first = NONE;
  for (uint32_t site = 0; site < notes->site_count; site++) {
    const struct note_run *run = &notes->runs[site];
    const uint32_t *rows = notes_rows(notes, run);
    uint32_t row = run->count == 0 ? NONE : rows ? rows[0] : 0;
    if (row < first) first = row;
  }
  return first;
}

/* Whether all notes are orders, which are given together; how many rows are sound then. */
static bool note_give_many(const struct doing *doing, const k_orders *orders, size_t n,
                           size_t *sound) {
  bool room = true;
  if (!notes_give_many(doing->notes, doing->p, orders, n, &room)) return false;
  *sound = n;
  if (room) return true;
  note_refuse(doing, KE_ROOM, note_integer(0));
  doing->failure->tag = 0;
  *sound = note_first_row(doing->notes);
  return true;
}

size_t notes_do(struct notes *notes, const struct program *p, const k_run *run, size_t n,
                k_failure *failure) {
  struct doing doing = {notes, p, run->arrays, {false, 0, 0}, failure, false};
  uint32_t count = notes->count;
  if (run->orders && run->orders->parts && !notes->again) {
    size_t sound;
    doing.joins = notes_join(notes, p, run->orders);
    if (note_give_many(&doing, run->orders, n, &sound)) return sound;
  }
  note_spread(notes);
  if (doing.joins) {
    notes->sorted = false;
    count = notes_sort_joined(notes, n);
  } else if (!notes->sorted) {
    count = note_sort(notes, n);
  }
  while (count > 0 && note_row_at(notes, count - 1) >= n) count--;
  uint32_t sound = run->orders ? note_check_orders(&doing, run->orders, count) : count;
  uint32_t done = do_rows(&doing, run->orders, sound);
  if (done == count) return n;
  failure->tag = 0;
  return note_row_at(notes, done);
}

bool site_check(const struct program *p, k_site site) {
  if (site.first > 1 || site.last > 1 || site.turned > 1) return false;
  bool got = site.cell > 0 && site.cell <= KC_ENTITY &&
             column_got((k_column)(site.cell - 1)) == (k_type)site.type;
  if (site.cell && (!got || site.step != KS_ORDER)) return false;
  if (site.step == KS_ORDER)
    return site.array < MAX_BITMAPS && site.type <= KT_I64 && site.type != KT_F32;
  if (site.array >= p->array_count || site.step > KS_ORDER) return false;
  if (array_column(p->arrays[site.array]) != KC_BOOL)
    return (site.type == KT_F64 || site.type == KT_I64) && site.step < KS_OR;
  bool takes = site.step == KS_SET || site.step == KS_OR || site.step == KS_AND;
  return site.type == KT_BOOL && takes && site.last;
}

/* ---- note joined ---- */

static bool note_joined_is_order(const struct program *p, uint32_t site, uint32_t order) {
  return site < p->site_count && p->sites[site].step == KS_ORDER && p->sites[site].array == order;
}

/* Whether the same rows were noted down at both. */
static bool note_same_rows(const struct notes *notes, uint32_t x, uint32_t y) {
  const struct note_run *a = &notes->runs[x], *b = &notes->runs[y];
  const uint32_t *rows = notes_rows(notes, a), *others = notes_rows(notes, b);
  if (a->count != b->count || rows == others) return a->count == b->count;
  return rows && others && memcmp(rows, others, a->count * sizeof *rows) == 0;
}

/* Joins the sites behind one to it, if all of its parts are there. */
static bool note_joined_pair(struct notes *notes, const struct program *p, uint32_t site,
                             uint32_t parts) {
  uint32_t order = p->sites[site].array;
  assert(parts > 0 && parts < NOTE_JOINED);
  for (uint32_t i = 1; i <= parts; i++)
    if (!note_joined_is_order(p, site + i, order + i) ||
        !note_same_rows(notes, site, site + i))
      return false;
  notes->joined[site] = (uint8_t)parts;
  memset(notes->joined + site + 1, NOTE_JOINED, parts);
  return true;
}

bool notes_join(struct notes *notes, const struct program *p, const k_orders *orders) {
  bool any = false;
  assert(!notes->again && notes->site_count == p->site_count);
  memset(notes->joined, 0, notes->site_count);
  for (uint32_t site = 0; site < notes->site_count; site++) {
    if (p->sites[site].step != KS_ORDER || !notes->runs[site].count) continue;
    uint32_t parts = orders->parts(orders->ud, p->sites[site].array);
    if (!parts || !note_joined_pair(notes, p, site, parts)) continue;
    any = true;
    site += parts;
  }
  return any;
}

/* The notes of the site that a note is of, all of them if it is not joined to another one. */
static struct note_run note_run_at(const struct notes *notes, uint32_t at) {
  struct note_run run = notes->runs[notes->sites[at]];
  assert(run.from == at && run.count > 0);
  return run;
}

static bool note_is_joined(const struct notes *notes, uint32_t note) {
  return notes->joined[notes->sites[note]] == NOTE_JOINED;
}

/* By how many there are in each row. */
static uint32_t note_joined_sort(const struct notes *notes, size_t n) {
  uint32_t from[K_BLOCK + 1] = {0}, count = 0;
  for (uint32_t at = 0; at < notes->count; at += note_run_at(notes, at).count) {
    struct note_run run = note_run_at(notes, at);
    for (uint32_t i = at; !note_is_joined(notes, at) && i < at + run.count; i++)
      if (notes->rows[i] < n) from[notes->rows[i] + 1]++;
  }
  for (size_t row = 1; row <= n; row++) from[row] += from[row - 1];
  for (uint32_t at = 0; at < notes->count; at += note_run_at(notes, at).count) {
    struct note_run run = note_run_at(notes, at);
    for (uint32_t i = at; !note_is_joined(notes, at) && i < at + run.count; i++) {
      if (notes->rows[i] >= n) continue;
      notes->order[from[notes->rows[i]]++] = i;
      count++;
    }
  }
  return count;
}

/* How many sites' notes are not joined to others: these, as they came; more than there is room for
** when they are too many. */
static uint32_t note_list_runs(const struct notes *notes, struct note_run *list, uint32_t room) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < notes->count && count <= room; at += note_run_at(notes, at).count) {
    if (note_is_joined(notes, at)) continue;
    if (count < room) list[count] = note_run_at(notes, at);
    count++;
  }
  return count;
}

/* Of few sites, whose rows are in their order, the first that is left is taken again and again. */
static uint32_t note_joined_merge(const struct notes *notes, struct note_run *runs,
                                  uint32_t count, size_t n) {
  uint32_t taken = 0;
  for (;;) {
    uint32_t best = count, least = (uint32_t)n;
    for (uint32_t i = 0; i < count; i++) {
      if (!runs[i].count || notes->rows[runs[i].from] >= least) continue;
      best = i;
      least = notes->rows[runs[i].from];
    }
    if (best == count) return taken;
    notes->order[taken++] = runs[best].from++;
    runs[best].count--;
  }
}

uint32_t notes_sort_joined(struct notes *notes, size_t n) {
  enum { FEW = 6 };
  struct note_run few[FEW];
  uint32_t count = note_list_runs(notes, few, FEW);
  assert(n <= K_BLOCK && !notes->again);
  return count <= FEW ? note_joined_merge(notes, few, count, n) : note_joined_sort(notes, n);
}

void notes_give_joined(const struct notes *notes, const k_orders *orders, uint32_t order,
                       uint32_t note) {
  k_scalar values[MAX_SITES];
  int64_t entities[MAX_SITES];
  uint32_t site = notes->sites[note], nth = note - notes->runs[site].from;
  uint32_t parts = notes->joined[site];
  assert(parts > 0 && parts != NOTE_JOINED && nth < notes->runs[site].count);
  for (uint32_t i = 0; i <= parts; i++) {
    values[i] = notes->values[notes->runs[site + i].from + nth];
    entities[i] = notes->indexes[notes->runs[site + i].from + nth];
  }
  orders->give_joined(orders->ud, order, entities, values);
}

/* The orders that the first n rows have noted down with their parts, and what is about them; NONE
** where rows have noted down something else, too. */
struct given_notes {
  k_given list[MAX_SITES];
  const int64_t *entities[MAX_SITES];
  const k_scalar *values[MAX_SITES];
};

static uint32_t note_list_given(const struct notes *notes, const struct program *p, size_t n,
                                struct given_notes *given) {
  uint32_t count = 0;
  for (uint32_t site = 0; site < notes->site_count; site++) {
    const struct note_run *run = &notes->runs[site];
    if (run->count == 0) continue;
    if (p->sites[site].step != KS_ORDER) return NONE;
    given->entities[site] = notes_indexes(notes, run);
    given->values[site] = notes_values(notes, run);
    if (notes->joined[site] == NOTE_JOINED) continue;
    uint32_t before = notes_before(notes, run, n);
    if (before == 0) continue;
    k_given *next = &given->list[count++];
    *next = (k_given){p->sites[site].array, before, notes_rows(notes, run),
                      given->entities + site, given->values + site, 0, 0};
    for (uint32_t i = 0; i <= notes->joined[site]; i++) {
      next->one_entity |= (uint64_t)run[i].one_index << i;
      next->one_value |= (uint64_t)run[i].one_value << i;
    }
  }
  return count;
}

bool notes_give_many(const struct notes *notes, const struct program *p, const k_orders *orders,
                     size_t n, bool *room) {
  struct given_notes given;
  uint32_t count = note_list_given(notes, p, n, &given);
  if (count == 0 || count == NONE) return false;
  uint32_t done = orders->give_many(orders->ud, given.list, count);
  *room = done != 0;
  return done != NONE;
}

/* ---- note plan ---- */

/* Whether no site is in a loop, nor in two instructions. */
static bool note_come_once(const struct program *p, const struct numbering *numbers) {
  uint64_t seen[K_SITES / 64] = {0};
  uint32_t end = 0;
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    if (k->op == OP_LOOP && k->c > end) end = k->c;
    if (!is_note(k->op)) continue;
    uint32_t site = k->dst - numbers->sites;
    if (pc < end || (seen[site / 64] >> site % 64 & 1)) return false;
    seen[site / 64] |= UINT64_C(1) << site % 64;
  }
  return true;
}

/* Whether an instruction puts something into the operand that a mask is. */
static bool note_sets_mask(const k_insn *k, uint32_t mask) {
  return !(k->op & OP_SCALAR) && op_table[k->op].signature[0] == 'm' && k->dst == mask;
}

/* Whether an instruction from one on up to another one puts something into an operand. */
static bool note_is_set_between(const struct program *p, uint32_t from, uint32_t to,
                                uint32_t operand) {
  for (uint32_t pc = from; pc < to; pc++) {
    const k_insn *k = &p->insns[pc];
    char letter = op_table[OP_NUMBER(k->op)].signature[0];
    bool other = letter == '-' || letter == 'x' || letter == 't' || letter == 's' || letter == 'q';
    if (!(k->op & OP_SCALAR) && !other && k->dst == operand) return true;
  }
  return false;
}

/* Whether what a note is about stays where it is up to where notes are done. */
static bool note_is_held(const struct program *p, uint32_t pc) {
  const k_insn *k = &p->insns[pc];
  uint32_t end = pc;
  while (end < p->insn_count && p->insns[end].op != OP_DO_NOTES) end++;
  return k->op < OP_NOTE_VV_BOOL && !note_is_set_between(p, pc, end, k->a) &&
         !note_is_set_between(p, pc, end, k->b);
}

/* A mask stays what it is between two instructions that nothing jumps between. */
void notes_plan(const struct program *p, uint8_t *noting) {
  uint32_t mask = K_NO_OPERAND, lands[MAX_DEPTH], open = 0;
  struct numbering numbers = program_numbering(p);
  memset(noting, 0, K_SITES);
  if (p->site_count == 0 || !note_come_once(p, &numbers)) return;
  memset(noting, NOTING_ONCE, K_SITES);
  for (uint32_t pc = p->prologue; pc < p->insn_count; pc++) {
    const k_insn *k = &p->insns[pc];
    for (; open > 0 && lands[open - 1] == pc; open--) mask = K_NO_OPERAND;
    if (k->op == OP_LOOP || k->op == OP_END || k->op == OP_SKIP) mask = K_NO_OPERAND;
    if (k->op == OP_SKIP) {
      assert(open < MAX_DEPTH);
      lands[open++] = k->c;
    }
    if (is_note(k->op)) {
      uint8_t *site = &noting[k->dst - numbers.sites];
      if (k->d == numbers.all) *site |= NOTING_ALL;
      if (k->d == mask) *site |= NOTING_SAME;
      if (k->d == numbers.all && note_is_held(p, pc)) *site |= NOTING_HELD;
      mask = k->d;
    } else if (note_sets_mask(k, mask)) {
      mask = K_NO_OPERAND;
    }
  }
}
