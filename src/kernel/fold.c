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
}

static void join(k_scalar *part, k_reduce how, k_type type, k_scalar v) {
  if (how == KR_SUM && type == KT_F64)
    part->f64 += v.f64;
  else if (how == KR_SUM)
    part->i64 = (int64_t)((uint64_t)part->i64 + (uint64_t)v.i64);
  else if (how == KR_MIN)
    part->i64 = v.i64 < part->i64 ? v.i64 : part->i64;
  else
    part->i64 = v.i64 > part->i64 ? v.i64 : part->i64;
}

void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, bool joins) {
  k_scalar *part = &f->part[f->row++ % 16];
  assert(f->nans <= f->rows && f->rows < f->row);
  if (!joins) return;
  f->rows++;
  if (how != KR_SUM && type == KT_F64) {
    if (isnan(v.f64)) {
      f->nans++;
      return;
    }
    v.i64 = fold_key(v.f64);
  }
  join(part, how, type, v);
}

/* The least or greatest of two f64 of which at most one is NaN. */
static double join_floats(double x, double y, k_reduce how) {
  if (isnan(x) || isnan(y)) return isnan(x) ? y : x;
  k_scalar key, other;
  key.i64 = fold_key(x);
  other.i64 = fold_key(y);
  join(&key, how, KT_F64, other);
  return fold_unkey(key.i64);
}

void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total) {
  assert(type == KT_F64 || type == KT_I64);
  assert(f->nans <= f->rows);
  if (f->rows == 0) return;
  k_scalar part[16];
  memcpy(part, f->part, sizeof part);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) join(&part[j], how, type, part[j + half]);
  k_scalar v = part[0];
  bool keys = how != KR_SUM && type == KT_F64;
  if (keys) v.f64 = f->nans == f->rows ? (double)NAN : fold_unkey(v.i64);
  if (total->rows == 0)
    total->value = v;
  else if (keys)
    total->value.f64 = join_floats(total->value.f64, v.f64, how);
  else
    join(&total->value, how, type, v);
  total->rows += f->rows;
}
