#include "kernel/fold.h"

#include "kernel/ops.h"

/* Flips all bits of a negative number but the sign, so that it is its own inverse. */
int64_t fold_key(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return (int64_t)(u ^ ((0 - (u >> 63)) >> 1));
}

double fold_unkey(int64_t key) {
  uint64_t u = (uint64_t)key;
  u ^= (0 - (u >> 63)) >> 1;
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* What a part is before a row has joined it: 0.0 and 0 have the same bits. */
void k_fold_begin(k_folding *f, k_reduce how, k_type type) {
  assert(type == KT_F64 || type == KT_I64);
  (void)type;
  memset(f, 0, sizeof *f);
  for (int j = 0; j < 16 && how != KR_SUM; j++)
    f->part[j].i64 = how == KR_MIN ? INT64_MAX : INT64_MIN;
  f->key = how == KR_MIN ? INT64_MAX : INT64_MIN;
}

void fold_be_leaf(k_folding *f, uint32_t leaf) {
  assert(f->rows == 0);
  f->leaf = leaf;
  f->row = leaf * K_LEAF;
}

static bool fold_beats(int64_t x, int64_t y, k_reduce how) { return how == KR_MIN ? x < y : x > y; }

/* The key of a value, of which an array has 8 bytes each. */
static int64_t fold_key_at(const void *values, size_t at, k_type type) {
  k_scalar value;
  memcpy(&value, (const char *)values + at * sizeof value, sizeof value);
  return type == KT_F64 ? fold_key(value.f64) : value.i64;
}

void fold_note(k_folding *f, k_reduce how, k_type type, const void *values, const uint8_t *mask,
               size_t n) {
  int64_t key = f->key;
  for (int j = 0; j < 16; j++)
    if (fold_beats(f->part[j].i64, key, how)) key = f->part[j].i64;
  bool better = key != f->key;
  if (!better && (f->found || f->rows == 0)) return;
  size_t i = 0;
  while (i < n && !(mask[i] && (!better || fold_key_at(values, i, type) == key))) i++;
  assert(i < n);
  f->first = f->row + (uint32_t)i;
  f->key = key;
  f->found = true;
}

static void fold_pair(k_scalar *part, k_reduce how, k_type type, k_scalar v) {
  if (how == KR_SUM && type == KT_F64)
    part->f64 += v.f64;
  else if (how == KR_SUM)
    part->i64 = (int64_t)((uint64_t)part->i64 + (uint64_t)v.i64);
  else if (how == KR_MIN)
    part->i64 = v.i64 < part->i64 ? v.i64 : part->i64;
  else
    part->i64 = v.i64 > part->i64 ? v.i64 : part->i64;
}

/* Adds the parts up: the order is fixed. */
static k_scalar fold_add_up(const k_folding *f, k_reduce how, k_type type) {
  k_scalar part[16];
  memcpy(part, f->part, sizeof part);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) fold_pair(&part[j], how, type, part[j + half]);
  return part[0];
}

static void close_leaf(k_folding *f, k_type type) {
  if (type == KT_F64) {
    f->leaves.f64 += fold_add_up(f, KR_SUM, KT_F64).f64;
    return;
  }
  k_scalar sum = fold_add_up(f, KR_SUM, KT_I64);
  fold_pair(&f->leaves, KR_SUM, KT_I64, sum);
  f->floats += (double)sum.i64;
}

void fold_leaf(k_folding *f, k_type type) {
  assert(f->row / K_LEAF > f->leaf);
  close_leaf(f, type);
  memset(f->part, 0, sizeof f->part);
  f->leaf = f->row / K_LEAF;
}

void fold_floats(k_folding *floats, const k_folding *integers) {
  *floats = *integers;
  floats->leaves.f64 = integers->floats;
  for (int j = 0; j < 16; j++) floats->part[j].f64 = (double)integers->part[j].i64;
}

void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins) {
  uint32_t row = f->row++;
  k_scalar *part = &f->part[row % 16];
  assert(f->nans <= f->rows && f->rows < f->row);
  if (!joins) return;
  if (how == KR_SUM && row / K_LEAF != f->leaf) {
    f->row = row;
    fold_leaf(f, type);
    f->row++;
  }
  f->rows++;
  if (!f->found) f->first = row;
  f->found = true;
  if (how != KR_SUM && type == KT_F64) {
    if (isnan(v.f64)) {
      f->nans++;
      return;
    }
    v.i64 = fold_key(v.f64);
  }
  fold_pair(part, how, type, v);
  if (how == KR_SUM || !fold_beats(v.i64, f->key, how)) return;
  f->key = v.i64;
  f->first = row;
}

/* Whether a value is less, or greater, than what tables before came to: any number than NaN. */
static bool fold_wins(k_reduce how, k_type type, k_scalar value, const k_total *total) {
  if (total->rows == 0) return true;
  if (type == KT_I64) return fold_beats(value.i64, total->value.i64, how);
  if (isnan(value.f64) || isnan(total->value.f64)) return !isnan(value.f64);
  return fold_beats(fold_key(value.f64), fold_key(total->value.f64), how);
}

void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total) {
  assert(type == KT_F64 || type == KT_I64);
  assert(f->nans <= f->rows);
  total->won = false;
  total->runs++;
  if (f->rows == 0) return;
  k_scalar v = fold_add_up(f, how, type);
  if (how == KR_SUM) fold_pair(&v, how, type, f->leaves);
  bool keys = how != KR_SUM && type == KT_F64;
  if (keys) v.f64 = f->nans == f->rows ? (double)NAN : fold_unkey(v.i64);
  total->won = how != KR_SUM && fold_wins(how, type, v, total);
  if (total->won || total->rows == 0)
    total->value = v;
  else if (how == KR_SUM)
    fold_pair(&total->value, how, type, v);
  if (total->won) total->row = f->first;
  if (total->won) total->run = total->runs;
  total->rows += f->rows;
}

void fold_join(k_folding *f, const k_folding *next, k_reduce how, k_type type) {
  bool sum = how == KR_SUM;
  assert(next->row >= f->row);
  if (sum) {
    assert(next->leaf >= f->leaf);
    close_leaf(f, type);
    fold_pair(&f->leaves, how, type, next->leaves);
    f->floats += next->floats;
    memcpy(f->part, next->part, sizeof f->part);
    f->leaf = next->leaf;
  } else {
    for (int j = 0; j < 16; j++) fold_pair(&f->part[j], how, type, next->part[j]);
  }
  if (!sum && next->found && (!f->found || fold_beats(next->key, f->key, how))) {
    f->first = next->first;
    f->key = next->key;
  }
  f->found |= next->found;
  f->rows += next->rows;
  f->nans += next->nans;
  f->row = next->row;
}
