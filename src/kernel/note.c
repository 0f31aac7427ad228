#include "kernel/note.h"

#include "kernel/vector.h"

#define MOST_NOTES (UINT32_C(1) << 22)   /* of one block: loops may note down much */
#define NOTE_SITES 16u         /* so many have room for all rows of a block from the beginning */

enum {
  NOTE_ROOM = sizeof(int64_t) + sizeof(k_scalar) + 2 * sizeof(uint32_t) + sizeof(uint8_t)
};

static uint32_t note_capacity_for(const struct program *p) {
  return (uint32_t)(p->site_count < NOTE_SITES ? p->site_count : NOTE_SITES) * p->block;
}

size_t notes_room(const struct program *p) { return (size_t)note_capacity_for(p) * NOTE_ROOM; }

static void note_lay_out(struct notes *notes, void *room, uint32_t capacity) {
  notes->entities = room;
  notes->values = (k_scalar *)(void *)(notes->entities + capacity);
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
  memcpy(notes->entities, old.entities, old.count * sizeof *old.entities);
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

/* Copies the entities of notes. */
static void note_copy_entities(const struct notes *notes, const struct noted *noted,
                              const uint16_t *among, uint32_t count) {
  int64_t *to = notes->entities + notes->count;
  const int64_t *entities = noted->entities;
  if (noted->one_entity)
    for (uint32_t i = 0; i < count; i++) to[i] = *entities;
  else if (!among)
    memcpy(to, entities, count * sizeof *to);
  else
    for (uint32_t i = 0; i < count; i++) to[i] = entities[among[i]];
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
    if (run->entities)
      memcpy(notes->entities + run->from, run->entities, run->count * sizeof *run->entities);
    if (run->values)
      memcpy(notes->values + run->from, run->values, run->count * sizeof *run->values);
    run->entities = NULL;
    run->values = NULL;
    for (uint32_t i = 1; run->one_entity && i < run->count; i++)
      notes->entities[run->from + i] = notes->entities[run->from];
    for (uint32_t i = 1; run->one_value && i < run->count; i++)
      notes->values[run->from + i] = notes->values[run->from];
    run->one_entity = run->one_value = false;
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
                         noted->one_entity && once, noted->one_value && once, NULL, NULL};
  const uint16_t *among = all ? NULL : notes->among;
  if ((noting & NOTING_HELD) && !noted->one_value)
    run.values = noted->values;
  else
    note_copy_values(notes, noted, among, run.one_value ? 1 : more);
  if ((noting & NOTING_HELD) && !noted->one_entity)
    run.entities = noted->entities;
  else
    note_copy_entities(notes, noted, among, run.one_entity ? 1 : more);
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

/* ---- orders that are given together ---- */

/* Such is one that the orders behind it say more of, as with what an entity is spawned. Their notes
** are neither sorted nor looked at one by one: the nth of each site is of the same row. */

/* The rows of a run, in their order; NULL: 0, 1, 2 ... */
static const uint32_t *note_rows(const struct notes *notes, const struct note_run *run) {
  return run->rows == NONE ? NULL : notes->rows + run->rows;
}

static const int64_t *note_entities(const struct notes *notes, const struct note_run *run) {
  return run->entities ? run->entities : notes->entities + run->from;
}

static const k_scalar *note_values(const struct notes *notes, const struct note_run *run) {
  return run->values ? run->values : notes->values + run->from;
}

/* How many notes of a run are of the first n rows. */
static uint32_t note_count_before(const struct notes *notes, const struct note_run *run, size_t n) {
  const uint32_t *rows = note_rows(notes, run);
  uint32_t count = run->count;
  if (!rows) return count < n ? count : (uint32_t)n;
  while (count > 0 && rows[count - 1] >= n) count--;
  return count;
}

static bool note_joined_is_order(const struct program *p, uint32_t site, uint32_t order) {
  return site < p->site_count && p->sites[site].order == order;
}

/* Whether the same rows were noted down at both. */
static bool note_same_rows(const struct notes *notes, uint32_t x, uint32_t y) {
  const struct note_run *a = &notes->runs[x], *b = &notes->runs[y];
  const uint32_t *rows = note_rows(notes, a), *others = note_rows(notes, b);
  if (a->count != b->count || rows == others) return a->count == b->count;
  return rows && others && memcmp(rows, others, a->count * sizeof *rows) == 0;
}

/* Joins the sites behind one to it, if all of its parts are there. */
static bool note_joined_pair(struct notes *notes, const struct program *p, uint32_t site,
                             uint32_t parts) {
  uint32_t order = p->sites[site].order;
  assert(parts > 0 && parts < NOTE_JOINED);
  for (uint32_t i = 1; i <= parts; i++)
    if (!note_joined_is_order(p, site + i, order + i) ||
        !note_same_rows(notes, site, site + i))
      return false;
  notes->joined[site] = (uint8_t)parts;
  memset(notes->joined + site + 1, NOTE_JOINED, parts);
  return true;
}

/* Says in notes->joined which sites' notes go together in this block, where each was come to once
** at most; false when none do. */
static bool note_join(struct notes *notes, const struct program *p, const k_orders *orders) {
  bool any = false;
  assert(!notes->again && notes->site_count == p->site_count);
  memset(notes->joined, 0, notes->site_count);
  for (uint32_t site = 0; site < notes->site_count; site++) {
    if (!notes->runs[site].count) continue;
    uint32_t parts = orders->parts(orders->ud, p->sites[site].order);
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

/* Sorts the others of the first n rows by row into the order, those of a row as they came; how many
** they are. */
static uint32_t note_sort_joined(const struct notes *notes, size_t n) {
  enum { FEW = 6 };
  struct note_run few[FEW];
  uint32_t count = note_list_runs(notes, few, FEW);
  assert(n <= K_BLOCK && !notes->again);
  return count <= FEW ? note_joined_merge(notes, few, count, n) : note_joined_sort(notes, n);
}

/* Gives the order of a note together with those that are joined to it. */
static void note_give_joined(const struct notes *notes, const k_orders *orders, uint32_t order,
                             uint32_t note) {
  k_scalar values[MAX_SITES];
  int64_t entities[MAX_SITES];
  uint32_t site = notes->sites[note], nth = note - notes->runs[site].from;
  uint32_t parts = notes->joined[site];
  assert(parts > 0 && parts != NOTE_JOINED && nth < notes->runs[site].count);
  for (uint32_t i = 0; i <= parts; i++) {
    values[i] = notes->values[notes->runs[site + i].from + nth];
    entities[i] = notes->entities[notes->runs[site + i].from + nth];
  }
  orders->give_joined(orders->ud, order, entities, values);
}

/* The orders that the first n rows have noted down with their parts, and what is about them. */
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
    given->entities[site] = note_entities(notes, run);
    given->values[site] = note_values(notes, run);
    if (notes->joined[site] == NOTE_JOINED) continue;
    uint32_t before = note_count_before(notes, run, n);
    if (before == 0) continue;
    k_given *next = &given->list[count++];
    *next = (k_given){p->sites[site].order, before, note_rows(notes, run),
                      given->entities + site, given->values + site, 0, 0};
    for (uint32_t i = 0; i <= notes->joined[site]; i++) {
      next->one_entity |= (uint64_t)run[i].one_entity << i;
      next->one_value |= (uint64_t)run[i].one_value << i;
    }
  }
  return count;
}

/* Where whoever gives orders gives those of many rows at once: does it, for the first n rows; true
** then, and *room is false when there was none for them. */
static bool note_give_many(const struct notes *notes, const struct program *p,
                           const k_orders *orders, size_t n, bool *room) {
  struct given_notes given;
  uint32_t count = note_list_given(notes, p, n, &given);
  if (count == 0) return false;
  uint32_t done = orders->give_many(orders->ud, given.list, count);
  *room = done != 0;
  return done != NONE;
}

/* ---- giving them ---- */

/* What is given, and by whom. */
struct handing {
  const struct notes *notes;
  const struct program *p;
  const k_orders *orders;
  k_failure *failure;
  bool joins;                  /* some notes go together: note_join */
};

static void note_refuse(const struct handing *handing, k_error error, int64_t entity) {
  handing->failure->error = error;
  handing->failure->type = KT_I64;
  handing->failure->value.i64 = entity;
  handing->failure->tag = 0;
}

static uint32_t note_at(const struct notes *notes, uint32_t i) {
  assert(i < notes->count);
  return notes->sorted ? i : notes->order[i];
}

static uint32_t note_row_at(const struct notes *notes, uint32_t i) {
  return notes->rows[note_at(notes, i)];
}

/* The first note of the row of one. */
static uint32_t note_begin_of_row(const struct notes *notes, uint32_t at) {
  while (at > 0 && note_row_at(notes, at - 1) == note_row_at(notes, at)) at--;
  return at;
}

/* Which order a note is of, and how many behind it say more of that. */
static uint32_t note_order(const struct handing *handing, uint32_t note, uint32_t *parts) {
  uint32_t site = handing->notes->sites[note];
  *parts = handing->joins ? handing->notes->joined[site] : 0;
  return handing->p->sites[site].order;
}

/* How many of the notes are of rows before the first whose orders cannot be given. */
static uint32_t note_check(const struct handing *handing, uint32_t count) {
  const struct notes *notes = handing->notes;
  const k_orders *orders = handing->orders;
  uint32_t given = 0, parts;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t note = note_at(notes, i), order = note_order(handing, note, &parts);
    bool (*check)(void *, uint32_t, int64_t, k_scalar) =
        parts ? orders->check_joined : orders->check;
    given += 1u + parts;
    if (check(orders->ud, order, notes->entities[note], notes->values[note])) continue;
    note_refuse(handing, KE_DEAD, notes->entities[note]);
    count = note_begin_of_row(notes, i);
  }
  if (count == 0 || orders->reserve(orders->ud, given)) return count;
  note_refuse(handing, KE_ROOM, 0);
  return 0;
}

static void note_give(const struct handing *handing, uint32_t count) {
  const struct notes *notes = handing->notes;
  const k_orders *orders = handing->orders;
  uint32_t parts;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t note = note_at(notes, i), order = note_order(handing, note, &parts);
    if (parts)
      note_give_joined(notes, orders, order, note);
    else
      orders->give(orders->ud, order, notes->entities[note], notes->values[note]);
  }
}

/* The first row that has noted something down. */
static uint32_t note_first_row(const struct notes *notes) {
  uint32_t first = NONE;
  for (uint32_t site = 0; site < notes->site_count; site++) {
    const struct note_run *run = &notes->runs[site];
    const uint32_t *rows = note_rows(notes, run);
    uint32_t row = run->count == 0 ? NONE : rows ? rows[0] : 0;
    if (row < first) first = row;
  }
  return first;
}

size_t notes_do(struct notes *notes, const struct program *p, const k_orders *orders, size_t n,
                k_failure *failure) {
  struct handing handing = {notes, p, orders, failure, false};
  uint32_t count = notes->count;
  assert(orders);
  if (orders->parts && !notes->again) {
    bool room;
    handing.joins = note_join(notes, p, orders);
    if (note_give_many(notes, p, orders, n, &room)) {
      if (room) return n;
      note_refuse(&handing, KE_ROOM, 0);
      return note_first_row(notes);
    }
  }
  note_spread(notes);
  if (handing.joins) {
    notes->sorted = false;
    count = note_sort_joined(notes, n);
  } else if (!notes->sorted) {
    count = note_sort(notes, n);
  }
  while (count > 0 && note_row_at(notes, count - 1) >= n) count--;
  uint32_t sound = note_check(&handing, count);
  note_give(&handing, sound);
  return sound == count ? n : note_row_at(notes, sound);
}

/* ---- what programs show of their notes ---- */

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
