#include "kernel/ops.h"

/* Asserts are for debug builds, as in the core. */
#if !defined(ECS_DEBUG) && !defined(NDEBUG)
#define NDEBUG
#endif
#include <assert.h>
#include <math.h>
#include <string.h>

/* Doubles in the order of their value, -0.0 below 0.0, as integers. Its own inverse on
** the sign: keys of negative numbers are negative. */
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

void k_fold_begin(k_folding *f, k_reduce how, k_type type) {
  memset(f, 0, sizeof *f);
  for (int j = 0; j < 16; j++) {
    if (how == KR_MIN)
      f->part[j].i64 = INT64_MAX;
    else if (how == KR_MAX)
      f->part[j].i64 = INT64_MIN;
    else if (type == KT_F64)
      f->part[j].f64 = 0.0;
    else
      f->part[j].i64 = 0;
  }
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

void k_fold_row(k_folding *f, k_reduce how, k_type type, k_scalar v, int joins) {
  k_scalar *part = &f->part[f->row++ % 16];
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

void k_fold_end(const k_folding *f, k_reduce how, k_type type, k_total *total) {
  assert(type == KT_F64 || type == KT_I64);
  if (f->rows == 0) return;
  k_scalar part[16];
  memcpy(part, f->part, sizeof part);
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) join(&part[j], how, type, part[j + half]);
  k_scalar v = part[0];
  int floats = how != KR_SUM && type == KT_F64;
  if (floats && f->nans == f->rows)
    v.f64 = (double)NAN;
  else if (floats)
    v.f64 = fold_unkey(v.i64);
  if (total->rows == 0 || (floats && isnan(total->value.f64))) {
    total->value = v;
  } else if (!floats) {
    join(&total->value, how, type, v);
  } else if (!isnan(v.f64)) {
    k_scalar key, other;
    key.i64 = fold_key(total->value.f64);
    other.i64 = fold_key(v.f64);
    join(&key, how, type, other);
    total->value.f64 = fold_unkey(key.i64);
  }
  total->rows += f->rows;
}
