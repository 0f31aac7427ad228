#include "kernel/note_plain.h"

#include "kernel/ops.h"

/* The notes of a site in a block: those of a row stand in one place, in the order of rows. */
struct stretch {
  uint32_t from, count;
};

static k_column column_of(const struct program *p, k_site site) {
  assert(site.array < p->array_count);
  return (k_column)p->arrays[site.array];
}

static bool is_real(k_column type) { return type == KC_F32 || type == KC_F64; }

static bool step_is_plain(k_column type, k_site site) {
  bool compares = site.step == KS_MIN || site.step == KS_MAX;
  if (site.step >= KS_OR) return false;
  /* What a comparison leaves an integer, further steps would take as one. */
  if (is_real(type)) return site.type == KT_F64 || !compares || site.last;
  return type == KC_I64 && site.type == KT_I64 && site.step != KS_DIV;
}

bool notes_are_plain(const struct program *p) {
  uint64_t seen = 0;
  assert(MAX_ARRAYS <= 64);
  for (uint32_t i = 0; i < p->site_count; i++) {
    k_site site = p->sites[i];
    if (site.step == KS_ORDER || p->arrays[site.array] & ARRAY_OF_CELLS) return false;
    if (!step_is_plain(column_of(p, site), site)) return false;
    if (site.first && seen >> site.array & 1) return false;
    seen |= UINT64_C(1) << site.array;
  }
  return true;
}

static bool is_inside(const struct note *note, const k_array *array) {
  return (uint64_t)note->index - 1 < (uint64_t)array->count;
}

/* Finds the notes of each site, and the first row, before *end, with an index beside its array;
** false when they lie otherwise, as in loops. */
static bool find_stretches(const struct notes *notes, const struct program *p,
                           const k_array *arrays, struct stretch *stretches, size_t *end) {
  for (uint32_t i = 0, next; i < notes->count; i = next) {
    uint32_t site = notes->list[i].site;
    const k_array *array = &arrays[p->sites[site].array];
    for (next = i; next < notes->count && notes->list[next].site == site; next++) {
      const struct note *note = &notes->list[next];
      if (next > i && note->row <= note[-1].row) return false;
      if (note->row < *end && !is_inside(note, array)) *end = note->row;
    }
    if (next < notes->count && notes->list[next].site < site) return false;
    stretches[site] = (struct stretch){i, next - i};
  }
  return true;
}

static double take_real(k_site site, double x, double y) {
  double left = site.turned ? y : x, right = site.turned ? x : y;
  switch ((k_step)site.step) {
    case KS_SET: return y;
    case KS_ADD: return left + right;
    case KS_SUB: return left - right;
    case KS_MUL: return left * right;
    case KS_DIV: return left / right;
    case KS_MIN: return right < left ? right : left;
    default: assert(site.step == KS_MAX); return left < right ? right : left;
  }
}

/* The same beside an integer, which the cell, if it is the result, gets rounded. */
static double take_mixed(k_site site, double x, int64_t y) {
  bool less = site.step == KS_MIN, turned = site.turned;
  if (site.step != KS_MIN && site.step != KS_MAX) return take_real(site, x, (double)y);
  bool changes = less == turned ? less_real(x, y) : less_integer(y, x);
  return changes == turned ? x : (double)y;
}

static int64_t take_integer(k_site site, int64_t x, int64_t y) {
  int64_t left = site.turned ? y : x, right = site.turned ? x : y;
  switch ((k_step)site.step) {
    case KS_SET: return y;
    case KS_ADD: return (int64_t)((uint64_t)left + (uint64_t)right);
    case KS_SUB: return (int64_t)((uint64_t)left - (uint64_t)right);
    case KS_MUL: return (int64_t)((uint64_t)left * (uint64_t)right);
    case KS_MIN: return right < left ? right : left;
    default: assert(site.step == KS_MAX); return left < right ? right : left;
  }
}

/* The notes of one row, `count` further each, on one cell. */
static void change_real(const k_site *sites, uint32_t steps, const struct note *note,
                        uint32_t count, k_column type, void *cells) {
  size_t at = (size_t)note->index - 1;
  double x = type == KC_F32 ? (double)((float *)cells)[at] : ((double *)cells)[at];
  for (uint32_t i = 0; i < steps; i++, note += count)
    x = sites[i].type == KT_F64 ? take_real(sites[i], x, note->value.f64)
                                : take_mixed(sites[i], x, note->value.i64);
  if (type == KC_F32)
    ((float *)cells)[at] = (float)x;
  else
    ((double *)cells)[at] = x;
}

static void change_integer(const k_site *sites, uint32_t steps, const struct note *note,
                           uint32_t count, void *cells) {
  int64_t *cell = (int64_t *)cells + (note->index - 1);
  for (uint32_t i = 0; i < steps; i++, note += count)
    *cell = take_integer(sites[i], *cell, note->value.i64);
}

/* What rows before `end` do by the steps from a site on. */
static void change_place(const struct notes *notes, const struct program *p, const k_array *arrays,
                         const struct stretch *stretches, uint32_t site, uint32_t steps,
                         size_t end) {
  struct stretch rows = stretches[site];
  k_column type = column_of(p, p->sites[site]);
  void *cells = (void *)(uintptr_t)arrays[p->sites[site].array].data;
  const struct note *note = notes->list + rows.from;
  assert(rows.count == stretches[site + steps - 1].count);
  for (uint32_t i = 0; i < rows.count && note[i].row < end; i++) {
    if (is_real(type))
      change_real(&p->sites[site], steps, &note[i], rows.count, type, cells);
    else
      change_integer(&p->sites[site], steps, &note[i], rows.count, cells);
  }
}

/* The index beside its array for which a row fails: the first in the order of the function. */
static int64_t index_that_fails(const struct notes *notes, const struct program *p,
                                const k_array *arrays, size_t row) {
  const struct note *note = notes->list;
  while (note->row != row || is_inside(note, &arrays[p->sites[note->site].array])) {
    note++;
    assert(note < notes->list + notes->count);
  }
  return note->index;
}

bool notes_do_plain(const struct notes *notes, const struct program *p, const k_array *arrays,
                    size_t n, size_t *done, k_failure *failure) {
  struct stretch stretches[MAX_SITES] = {{0, 0}};
  *done = n;
  if (!find_stretches(notes, p, arrays, stretches, done)) return false;
  for (uint32_t site = 0, last; site < p->site_count; site = last + 1) {
    for (last = site; !p->sites[last].last; last++) assert(last + 1u < p->site_count);
    change_place(notes, p, arrays, stretches, site, last - site + 1, *done);
  }
  if (*done == n) return true;
  failure->error = KE_ABSENT;
  failure->type = KT_I64;
  failure->value.i64 = index_that_fails(notes, p, arrays, *done);
  failure->tag = 0;
  return true;
}
