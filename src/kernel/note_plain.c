#include "kernel/note.h"

#include "kernel/ops.h"
#include "kernel/vector.h"

static k_column note_plain_column_of(const struct program *p, k_site site) {
  assert(site.array < p->array_count);
  return array_column(p->arrays[site.array]);
}

static bool note_is_real(k_column type) { return type == KC_F32 || type == KC_F64; }

static bool step_is_plain(k_column type, k_site site) {
  bool compares = site.step == KS_MIN || site.step == KS_MAX;
  if (site.step >= KS_OR) return false;
  /* What a comparison leaves an integer, further steps would take as one. */
  if (note_is_real(type)) return site.type == KT_F64 || !compares || site.last;
  return type == KC_I64 && site.type == KT_I64 && site.step != KS_DIV;
}

bool notes_are_plain(const struct program *p) {
  uint64_t seen = 0;
  assert(MAX_ARRAYS <= 64);
  for (uint32_t i = 0; i < p->site_count; i++) {
    k_site site = p->sites[i];
    if (site.step == KS_ORDER) return false;
    if (!step_is_plain(note_plain_column_of(p, site), site)) return false;
    if (site.first && seen >> site.array & 1) return false;
    seen |= UINT64_C(1) << site.array;
  }
  return true;
}

/* The notes of one site, of the rows before one that fails, and what they are about: the elements
** of an array, or cells of others by rows. */
struct note_place {
  uint32_t count;
  const uint32_t *rows;        /* NULL: 0, 1, 2 ... */
  const int64_t *indexes;
  const k_scalar *values;
  char *elements;
  const k_cell *cells;         /* NULL: elements */
  bool one_index;              /* only the first one is there: it is that of all */
};

static struct note_place note_plain_place_of(const struct notes *notes, const struct program *p,
                                        const k_array *arrays, uint32_t site, size_t end) {
  struct note_run run = notes->runs[site];
  uint8_t number = p->sites[site].array;
  struct note_place place = {notes_before(notes, &run, end), notes_rows(notes, &run),
                        notes_indexes(notes, &run), notes_values(notes, &run), NULL, NULL,
                        run.one_index};
  assert(run.from + run.count <= notes->count);
  if (p->arrays[number] & ARRAY_OF_CELLS)
    place.cells = (const k_cell *)arrays[number].data + notes->first;
  else
    place.elements = (char *)(uintptr_t)arrays[number].data;
  return place;
}

INLINE uint32_t note_place_row(const struct note_place *place, uint32_t i) {
  return place->rows ? place->rows[i] : i;
}

INLINE int64_t note_place_index(const struct note_place *place, uint32_t i) {
  return place->indexes[place->one_index ? 0 : i];
}

INLINE void *note_cell_at(const struct note_place *place, uint32_t i, size_t size) {
  return place->cells ? place->cells[note_place_row(place, i)].at
                      : place->elements + ((size_t)note_place_index(place, i) - 1) * size;
}

/* The first row with an index beside its array, or `end`. Sign bits say whether there is one. */
static size_t note_first_outside(const struct note_place *place, const k_array *array, size_t end) {
  uint64_t length = (uint64_t)array->count, signs = 0;
  for (uint32_t i = 0; i < (place->one_index ? 1 : place->count); i++) {
    uint64_t index = (uint64_t)place->indexes[i];
    signs |= (index - 1) | (length - index);
  }
  if (!(signs >> 63)) return end;
  uint32_t at = 0;
  while ((uint64_t)note_place_index(place, at) - 1 < length) at++;
  assert(at < place->count && note_place_row(place, at) < end);
  return note_place_row(place, at);
}

INLINE double note_take_real(k_site site, double x, double y) {
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

/* A step beside an integer, which the cell, if it is the result, gets rounded. */
static double note_take_mixed(k_site site, double x, int64_t y) {
  bool less = site.step == KS_MIN, turned = site.turned;
  if (site.step != KS_MIN && site.step != KS_MAX) return note_take_real(site, x, (double)y);
  bool changes = less == turned ? less_real(x, y) : less_integer(y, x);
  return changes == turned ? x : (double)y;
}

INLINE int64_t note_take_integer(k_site site, int64_t x, int64_t y) {
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

/* One step of each row, the only one. */
INLINE void note_step_f64(const struct note_place *place, k_site site) {
  const k_scalar *values = place->values;
  const int64_t *at = place->indexes;
  double *elements = (double *)(void *)place->elements;
  uint32_t count = place->count;
  assert(!place->one_index || place->cells);
  for (uint32_t i = 0; place->cells && i < count; i++) {
    double *cell = place->cells[note_place_row(place, i)].at;
    *cell = note_take_real(site, *cell, values[i].f64);
  }
  for (uint32_t i = 0; elements && i < count; i++)
    elements[at[i] - 1] = note_take_real(site, elements[at[i] - 1], values[i].f64);
}

INLINE void note_step_f32(const struct note_place *place, k_site site) {
  const k_scalar *values = place->values;
  float *elements = (float *)(void *)place->elements;
  uint32_t count = place->count;
  for (uint32_t i = 0; place->cells && i < count; i++) {
    float *cell = place->cells[note_place_row(place, i)].at;
    *cell = (float)note_take_real(site, (double)*cell, values[i].f64);
  }
  for (uint32_t i = 0; elements && i < count; i++) {
    float *element = elements + note_place_index(place, i) - 1;
    *element = (float)note_take_real(site, (double)*element, values[i].f64);
  }
}

/* By way of a local, as all are about one element. */
INLINE void note_step_one(const struct note_place *place, k_site site) {
  assert(place->elements && !place->cells && place->count > 0);
  double *element = note_cell_at(place, 0, sizeof *element), x = *element;
  for (uint32_t i = 0; i < place->count; i++) x = note_take_real(site, x, place->values[i].f64);
  *element = x;
}

/* Sums, which most steps are, have loops of their own: a third of the time. */
#define BY_STEP(take, place, site)                                      \
  if ((site).step == KS_ADD && !(site).turned)                          \
    take(place, (k_site){.step = KS_ADD, .turned = 0});                 \
  else if ((site).step == KS_SUB && !(site).turned)                     \
    take(place, (k_site){.step = KS_SUB, .turned = 0});                 \
  else                                                                  \
    take(place, site)

static void note_take_one_step(const struct note_place *place, k_site site, k_column type,
                               bool one) {
  if (type == KC_F32) {
    BY_STEP(note_step_f32, place, site);
  } else if (one) {
    BY_STEP(note_step_one, place, site);
  } else {
    BY_STEP(note_step_f64, place, site);
  }
}

/* Further steps of a row stand `site` places on. */
static void note_change_real(const struct note_place *places, const k_site *sites, uint32_t steps,
                             uint32_t i, k_column type) {
  void *cell = note_cell_at(places, i, type == KC_F32 ? sizeof(float) : sizeof(double));
  double x = type == KC_F32 ? (double)*(float *)cell : *(double *)cell;
  for (uint32_t k = 0; k < steps; k++)
    x = sites[k].type == KT_F64 ? note_take_real(sites[k], x, places[k].values[i].f64)
                                : note_take_mixed(sites[k], x, places[k].values[i].i64);
  if (type == KC_F32)
    *(float *)cell = (float)x;
  else
    *(double *)cell = x;
}

static void note_change_integer(const struct note_place *places, const k_site *sites,
                                uint32_t steps, uint32_t i) {
  int64_t *cell = note_cell_at(places, i, sizeof *cell);
  for (uint32_t k = 0; k < steps; k++)
    *cell = note_take_integer(sites[k], *cell, places[k].values[i].i64);
}

/* What rows do to one place, by some steps each. */
static void note_change_place(const struct note_place *places, const k_site *sites, uint32_t steps,
                              k_column type, bool one) {
  assert(places->count <= places[steps - 1].count);
  if (places->count == 0) return;
  if (steps == 1 && note_is_real(type) && sites->type == KT_F64) {
    note_take_one_step(places, *sites, type, one);
    return;
  }
  for (uint32_t i = 0; i < places->count; i++) {
    if (note_is_real(type))
      note_change_real(places, sites, steps, i, type);
    else
      note_change_integer(places, sites, steps, i);
  }
}

/* The index beside its array for which a row fails: the first in the order of the function. */
static int64_t note_index_that_fails(const struct notes *notes, const struct program *p,
                                     const k_array *arrays, size_t row) {
  uint32_t first = NONE;
  int64_t index = 0;
  for (uint32_t site = 0; site < p->site_count; site++) {
    const struct note_run *run = &notes->runs[site];
    uint32_t at = notes_before(notes, run, row + 1) - 1;   /* its note of the row, if it has one */
    uint8_t array = p->sites[site].array;
    if (at == NONE || (p->arrays[array] & ARRAY_OF_CELLS)) continue;
    if (notes_rows(notes, run) && notes_rows(notes, run)[at] != row) continue;
    int64_t number = notes_indexes(notes, run)[run->one_index ? 0 : at];
    bool inside = (uint64_t)number - 1 < (uint64_t)arrays[array].count;
    if (inside || run->from >= first) continue;
    first = run->from;
    index = number;
  }
  assert(first != NONE);
  return index;
}

size_t notes_do_plain(const struct notes *notes, const struct program *p, const k_array *arrays,
                      size_t n, k_failure *failure) {
  struct note_place places[BUILD_STEPS];
  size_t end = n;
  assert(notes->plain && !notes->again);
  for (uint32_t i = 0; i < p->site_count; i++) {
    uint8_t array = p->sites[i].array;
    if (!p->sites[i].first || p->arrays[array] & ARRAY_OF_CELLS) continue;
    if (notes->noting[i] & NOTING_BOUND) continue;
    places[0] = note_plain_place_of(notes, p, arrays, i, end);
    end = note_first_outside(&places[0], &arrays[array], end);
  }
  for (uint32_t site = 0, next; site < p->site_count; site = next) {
    uint32_t steps = 0;
    do {
      assert(steps < BUILD_STEPS && site + steps < p->site_count);
      places[steps] = note_plain_place_of(notes, p, arrays, site + steps, end);
    } while (!p->sites[site + steps++].last);
    next = site + steps;
    note_change_place(
        places, &p->sites[site], steps, note_plain_column_of(p, p->sites[site]),
        !places->cells && (places->one_index || arrays[p->sites[site].array].count == 1));
  }
  if (end == n) return n;
  failure->error = KE_ABSENT;
  failure->type = KT_I64;
  failure->value.i64 = note_index_that_fails(notes, p, arrays, end);
  failure->tag = 0;
  return end;
}
