#include "kernel/note.h"

#include "kernel/vector.h"

#define MOST_NOTES (UINT32_C(1) << 22)   /* of one block: loops may make many notes */
#define FEW_RUNS 32u           /* up to this many are merged, more are sorted */
#define NOTE_SITES 16u         /* this many have room for all rows of a block from the start */

enum {
  NOTE_ROOM =
      sizeof(int64_t) + sizeof(k_scalar) + sizeof(struct note_run) + 2 * sizeof(uint32_t)
};

static uint32_t note_capacity_for(const struct program *p) {
  return (uint32_t)(p->site_count < NOTE_SITES ? p->site_count : NOTE_SITES) * p->block;
}

size_t notes_room(const struct program *p) { return (size_t)note_capacity_for(p) * NOTE_ROOM; }

static void note_lay_out(struct notes *notes, void *room, uint32_t capacity) {
  notes->entities = room;
  notes->values = (k_scalar *)(void *)(notes->entities + capacity);
  notes->runs = (struct note_run *)(void *)(notes->values + capacity);
  notes->rows = (uint32_t *)(void *)(notes->runs + capacity);
  notes->order = notes->rows + capacity;
  notes->capacity = capacity;
}

void notes_open(struct notes *notes, const struct program *p, void *room) {
  uint32_t capacity = note_capacity_for(p);
  if (notes->own_capacity > capacity)
    note_lay_out(notes, notes->own, notes->own_capacity);
  else
    note_lay_out(notes, room, capacity);
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
  memcpy(notes->entities, old.entities, old.count * sizeof *old.entities);
  memcpy(notes->values, old.values, old.count * sizeof *old.values);
  memcpy(notes->rows, old.rows, old.count * sizeof *old.rows);
  memcpy(notes->runs, old.runs, old.run_count * sizeof *old.runs);
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

/* Lists the rows that are in a mask. Returns their number. */
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

/* Consecutive notes mostly have the same mask. */
static void note_find_rows(struct notes *notes, const uint8_t *mask, size_t n) {
  assert(n > 0 && n <= K_BLOCK);
  if (notes->masked == n && memcmp(notes->mask, mask, n) == 0) return;
  memcpy(notes->mask, mask, n);
  notes->masked = (uint32_t)n;
  notes->masked_rows = NONE;
  notes->among_count = note_find_among(notes->among, mask, n);
}

k_scalar note_value_at(k_type type, const void *values, size_t i) {
  assert(type == KT_BOOL || type == KT_I64 || type == KT_F64);
  if (type == KT_BOOL) return (k_scalar){.i64 = ((const uint8_t *)values)[i]};
  k_scalar value;
  memcpy(&value, (const k_scalar *)values + i, sizeof value);
  return value;
}

/* Copies what the rows of a list, or the first rows, note; or the one value for all. */
static void note_copy(k_scalar *to, k_type type, const void *from, bool one,
                      const uint16_t *among, uint32_t count) {
  const k_scalar *values = from;
  if (one)
    *to = note_value_at(type, from, 0);
  else if (type == KT_BOOL)
    for (uint32_t i = 0; i < count; i++)
      to[i] = note_value_at(KT_BOOL, from, among ? among[i] : i);
  else if (!among)
    memcpy(to, from, count * sizeof *to);
  else
    for (uint32_t i = 0; i < count; i++) to[i] = values[among[i]];
}

size_t notes_add(struct notes *notes, uint32_t site, const struct noted *noted,
                 const uint8_t *mask, size_t n) {
  if (mask) note_find_rows(notes, mask, n);
  uint32_t more = mask ? notes->among_count : (uint32_t)n;
  if (more == 0) return n;
  assert(site < MAX_SITES && more <= n);
  if (!note_has_room(notes, more)) return mask ? notes->among[0] : 0;
  bool every = more == n, told = !every || notes->from > 0;
  const uint16_t *among = every ? NULL : notes->among;
  k_scalar *values = notes->values + notes->count;
  k_scalar *entities = (k_scalar *)(void *)notes->entities + notes->count;
  note_copy(values, noted->type, noted->values, noted->one_value, among, more);
  note_copy(entities, KT_I64, noted->entities, noted->one_entity, among, more);
  uint32_t rows = told && mask ? notes->masked_rows : NONE;
  if (told && rows == NONE) {
    rows = notes->count;
    for (uint32_t i = 0; i < more; i++)
      notes->rows[rows + i] = notes->from + (among ? among[i] : i);
    if (mask) notes->masked_rows = rows;
  }
  notes->runs[notes->run_count++] = (struct note_run){
      notes->count, more, rows, (uint8_t)site, 0, 0, noted->one_entity, noted->one_value};
  notes->count += more;
  assert(notes->run_count <= notes->count && notes->count <= notes->capacity);
  return n;
}

/* ---- orders of many rows ---- */

/* An order with parts, such as a spawn, is carried out together with them: their runs follow its
** own, and the nth note of each belongs to the same row. Parts may lack rows that have failed, for
** which nothing is carried out. */
static void note_join(struct notes *notes, const struct program *p, const k_orders *orders) {
  for (uint32_t i = 0; i < notes->run_count;) {
    struct note_run *run = &notes->runs[i++];
    run->order = p->sites[run->site].order;
    uint32_t parts = orders->parts ? orders->parts(orders->ud, run->order) : 0;
    assert(parts < NOTE_PART && run->site + parts < p->site_count);
    for (run->parts = 0; run->parts < parts && i < notes->run_count; run->parts++, i++) {
      if (notes->runs[i].site != run->site + run->parts + 1) break;
      notes->runs[i].parts = NOTE_PART;
    }
  }
}

/* The rows of a run, in order; NULL: 0, 1, 2 ... */
static const uint32_t *note_rows(const struct notes *notes, const struct note_run *run) {
  return run->rows == NONE ? NULL : notes->rows + run->rows;
}

/* The number of a run's notes that belong to the first n rows and are not parts. */
static uint32_t note_count_before(const struct notes *notes, const struct note_run *run, size_t n) {
  const uint32_t *rows = note_rows(notes, run);
  uint32_t count = run->count;
  if (run->parts == NOTE_PART) return 0;
  if (!rows) return count < n ? count : (uint32_t)n;
  while (count > 0 && rows[count - 1] >= n) count--;
  return count;
}

/* The orders of the first n rows with their parts, and what they concern. */
struct given_notes {
  k_given list[MAX_SITES];
  const int64_t *entities[MAX_SITES];
  const k_scalar *values[MAX_SITES];
};

static uint32_t note_list_given(const struct notes *notes, size_t n, struct given_notes *given) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < notes->run_count; i++) {
    const struct note_run *run = &notes->runs[i];
    given->entities[i] = notes->entities + run->from;
    given->values[i] = notes->values + run->from;
    uint32_t before = note_count_before(notes, run, n);
    if (before == 0) continue;
    k_given *next = &given->list[count++];
    *next = (k_given){run->order, before, note_rows(notes, run),
                      given->entities + i, given->values + i, 0, 0};
    for (uint32_t j = 0; j <= run->parts; j++) {
      next->one_entity |= (uint64_t)run[j].one_entity << j;
      next->one_value |= (uint64_t)run[j].one_value << j;
    }
  }
  return count;
}

/* Carries out the orders of the first n rows at once, if the runner can do that; then returns true,
** and *room is false if there was none. */
static bool note_give_many(const struct notes *notes, const k_orders *orders, size_t n,
                           bool *room) {
  struct given_notes given;
  if (!orders->give_many || notes->run_count > MAX_SITES) return false;
  uint32_t count = note_list_given(notes, n, &given);
  if (count == 0) return false;
  uint32_t done = orders->give_many(orders->ud, given.list, count);
  *room = done != 0;
  return done != NONE;
}

/* ---- carrying out one after the other ---- */

/* The orders that are carried out, and how. */
struct handing {
  const struct notes *notes;
  const struct program *p;
  const k_orders *orders;
  k_failure *failure;
};

/* A note, with those of its order's parts. */
struct joined_note {
  uint32_t order, parts;
  const int64_t *entities;
  const k_scalar *values;
};

/* Memory in which notes are joined with those of their parts. */
struct note_room {
  int64_t entities[MAX_SITES];
  k_scalar values[MAX_SITES];
};

/* Records why a row fails: its order, from a run of notes, is refused or finds no room. */
static void note_refuse(const struct handing *handing, const struct note_run *run,
                        k_error error) {
  handing->failure->error = error;
  handing->failure->tag = handing->p->sites[run->site].tag;
}

static const struct note_run *note_run_of(const struct notes *notes, uint32_t at) {
  return &notes->runs[notes->order[at] / K_BLOCK];
}

static uint32_t note_row_at(const struct notes *notes, uint32_t at) {
  const uint32_t *rows = note_rows(notes, note_run_of(notes, at));
  uint32_t nth = notes->order[at] % K_BLOCK;
  return rows ? rows[nth] : nth;
}

/* Lists the notes of the first n rows, by row and within a row in the order in which they were
** made: the run of each, and its number in that run. Returns their number. Merges run by run. */
static uint32_t note_merge(const struct notes *notes, size_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < notes->run_count; i++) {
    const uint32_t *rows = note_rows(notes, &notes->runs[i]);
    uint32_t left = note_count_before(notes, &notes->runs[i], n), at = count;
    for (count += left; left > 0; left--) {
      uint32_t row = rows ? rows[left - 1] : left - 1;
      for (; at > 0 && note_row_at(notes, at - 1) > row; at--)
        notes->order[at + left - 1] = notes->order[at - 1];
      notes->order[at + left - 1] = i * K_BLOCK + left - 1;
    }
  }
  return count;
}

/* As note_merge, for many runs: counts the notes of each row. */
static uint32_t note_sort(const struct notes *notes, size_t n) {
  uint32_t from[K_BLOCK + 1];
  assert(n > 0 && n <= K_BLOCK);
  memset(from, 0, (n + 1) * sizeof *from);
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < notes->run_count; i++) {
      const uint32_t *rows = note_rows(notes, &notes->runs[i]);
      uint32_t count = note_count_before(notes, &notes->runs[i], n);
      for (uint32_t j = 0; j < count && pass == 0; j++) from[(rows ? rows[j] : j) + 1]++;
      for (uint32_t j = 0; j < count && pass == 1; j++)
        notes->order[from[rows ? rows[j] : j]++] = i * K_BLOCK + j;
    }
    for (size_t row = 1; row <= n && pass == 0; row++) from[row] += from[row - 1];
  }
  return from[n - 1];
}

/* The first note of the row that has a given note. */
static uint32_t note_begin_of_row(const struct notes *notes, uint32_t at) {
  while (at > 0 && note_row_at(notes, at - 1) == note_row_at(notes, at)) at--;
  return at;
}

static APART void note_bring_parts(const struct notes *notes, const struct note_run *run,
                                   uint32_t nth, struct note_room *room) {
  for (uint32_t i = 0; i <= run->parts; i++) {
    assert(nth < run[i].count);
    room->entities[i] = notes->entities[run[i].from + (run[i].one_entity ? 0 : nth)];
    room->values[i] = notes->values[run[i].from + (run[i].one_value ? 0 : nth)];
  }
}

INLINE struct joined_note note_take(const struct handing *handing, uint32_t at,
                                    struct note_room *room) {
  const struct notes *notes = handing->notes;
  const struct note_run *run = note_run_of(notes, at);
  uint32_t nth = notes->order[at] % K_BLOCK;
  assert(run->parts != NOTE_PART && nth < run->count);
  if (run->parts) {
    note_bring_parts(notes, run, nth, room);
    return (struct joined_note){run->order, run->parts, room->entities, room->values};
  }
  return (struct joined_note){run->order, 0,
                              notes->entities + run->from + (run->one_entity ? 0 : nth),
                              notes->values + run->from + (run->one_value ? 0 : nth)};
}

/* The number of notes of rows before the first row with an order that cannot be carried out. */
static uint32_t note_check(const struct handing *handing, uint32_t count) {
  const k_orders *orders = handing->orders;
  struct note_room room;
  uint32_t given = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct joined_note note = note_take(handing, i, &room);
    given += 1 + note.parts;
    if (orders->check(orders->ud, note.order, note.entities, note.values)) continue;
    note_refuse(handing, note_run_of(handing->notes, i), KE_DEAD);
    count = note_begin_of_row(handing->notes, i);
  }
  if (count == 0 || orders->reserve(orders->ud, given)) return count;
  note_refuse(handing, handing->notes->runs, KE_ROOM);
  return 0;
}

static void note_give(const struct handing *handing, uint32_t count) {
  const k_orders *orders = handing->orders;
  struct note_room room;
  for (uint32_t i = 0; i < count; i++) {
    struct joined_note note = note_take(handing, i, &room);
    orders->give(orders->ud, note.order, note.entities, note.values);
  }
}

/* The first row that has a note. */
static uint32_t note_first_row(const struct notes *notes) {
  uint32_t first = NONE;
  for (uint32_t i = 0; i < notes->run_count; i++) {
    const uint32_t *rows = note_rows(notes, &notes->runs[i]);
    uint32_t row = rows ? rows[0] : 0;
    if (row < first) first = row;
  }
  return first;
}

size_t notes_do(struct notes *notes, const struct program *p, const k_orders *orders, size_t n,
                k_failure *failure) {
  struct handing handing = {notes, p, orders, failure};
  bool room;
  assert(orders);
  note_join(notes, p, orders);
  if (note_give_many(notes, orders, n, &room)) {
    if (room) return n;
    note_refuse(&handing, notes->runs, KE_ROOM);
    return note_first_row(notes);
  }
  uint32_t count = (notes->run_count <= FEW_RUNS ? note_merge : note_sort)(notes, n);
  uint32_t sound = note_check(&handing, count);
  note_give(&handing, sound);
  return sound == count ? n : note_row_at(notes, sound);
}
