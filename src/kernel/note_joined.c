#include "kernel/note_joined.h"

static bool note_joined_is_order(const struct program *p, uint32_t site, uint32_t order) {
  return site < p->site_count && p->sites[site].step == KS_ORDER && p->sites[site].array == order;
}

/* Whether the same rows were noted down at both. */
static bool same_rows(const struct notes *notes, uint32_t x, uint32_t y) {
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
        !same_rows(notes, site, site + i))
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
static struct note_run run_at(const struct notes *notes, uint32_t at) {
  struct note_run run = notes->runs[notes->sites[at]];
  assert(run.from == at && run.count > 0);
  return run;
}

static bool is_joined(const struct notes *notes, uint32_t note) {
  return notes->joined[notes->sites[note]] == NOTE_JOINED;
}

/* By how many there are in each row. */
static uint32_t note_joined_sort(const struct notes *notes, size_t n) {
  uint32_t from[K_BLOCK + 1] = {0}, count = 0;
  for (uint32_t at = 0; at < notes->count; at += run_at(notes, at).count) {
    struct note_run run = run_at(notes, at);
    for (uint32_t i = at; !is_joined(notes, at) && i < at + run.count; i++)
      if (notes->rows[i] < n) from[notes->rows[i] + 1]++;
  }
  for (size_t row = 1; row <= n; row++) from[row] += from[row - 1];
  for (uint32_t at = 0; at < notes->count; at += run_at(notes, at).count) {
    struct note_run run = run_at(notes, at);
    for (uint32_t i = at; !is_joined(notes, at) && i < at + run.count; i++) {
      if (notes->rows[i] >= n) continue;
      notes->order[from[notes->rows[i]]++] = i;
      count++;
    }
  }
  return count;
}

/* How many sites' notes are not joined to others: these, as they came; more than there is room for
** when they are too many. */
static uint32_t list_runs(const struct notes *notes, struct note_run *list, uint32_t room) {
  uint32_t count = 0;
  for (uint32_t at = 0; at < notes->count && count <= room; at += run_at(notes, at).count) {
    if (is_joined(notes, at)) continue;
    if (count < room) list[count] = run_at(notes, at);
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
  uint32_t count = list_runs(notes, few, FEW);
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

static uint32_t list_given(const struct notes *notes, const struct program *p, size_t n,
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
  uint32_t count = list_given(notes, p, n, &given);
  if (count == 0 || count == NONE) return false;
  uint32_t done = orders->give_many(orders->ud, given.list, count);
  *room = done != 0;
  return done != NONE;
}
