/* What the kernel tests share: a checking allocator, columns, random numbers, one scalar
** reference for every operation, written from Lua 5.4's definitions and not from ours. */
#ifndef kernel_test_h
#define kernel_test_h

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <malloc.h>
#endif

#include "kernel/build.h"
#include "kernel/random.h"

static int failures;

#define CHECK(condition) \
  ((condition) ? 1 : (failures++, fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
                                           #condition), 0))

/* {=====================================================================
** Memory: exact sizes; every block moves when it is resized; fails when told
** ====================================================================== */

static size_t bytes_in_use;
static long fail_at = -1;  /* the allocation that fails, counted down; -1 for none */
static int fails_on;       /* and all behind it */
static int poison = 0xa5;  /* what new memory holds */

static void *allocate(void *ud, void *p, size_t osize, size_t nsize) {
  (void)ud;
  size_t *old = p == NULL ? NULL : (size_t *)p - 8;
  if (old != NULL && *old != osize) {
    fprintf(stderr, "freed as %zu bytes, allocated as %zu\n", osize, *old);
    abort();
  }
  size_t *block = NULL;
  if (nsize > 0) {
    if (fail_at == 0 || (fail_at > 0 && --fail_at == 0)) {
      if (!fails_on) fail_at = -1;
      return NULL;
    }
    block = malloc(nsize + 64);
    if (block == NULL) abort();
    *block = nsize;
    memset(block + 8, poison, nsize);
    if (old != NULL) memcpy(block + 8, p, osize < nsize ? osize : nsize);
    bytes_in_use += nsize;
  }
  if (old != NULL) {
    memset(old, 0xdd, osize + 64);
    free(old);
    bytes_in_use -= osize;
  }
  return block == NULL ? NULL : block + 8;
}

struct memory test_memory = {allocate, NULL, 0, 0};

/* }===================================================================== */

/* {=====================================================================
** Random numbers
** ====================================================================== */

static uint64_t random_state = 1;

/* SplitMix64. */
static uint64_t random_bits(void) {
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static int random_below(int n) {
  return (int)(random_bits() % (uint64_t)n);
}

/* }===================================================================== */

/* {=====================================================================
** Values
** ====================================================================== */

typedef struct value {
  k_type type;
  k_scalar k;
} value;

static inline value of_bool(int x) {
  value v = {KT_BOOL, {0}};
  v.k.b = x != 0;
  return v;
}

static inline value of_f32(float x) {
  value v = {KT_F32, {0}};
  v.k.f32 = x;
  return v;
}

static inline value of_f64(double x) {
  value v = {KT_F64, {0}};
  v.k.f64 = x;
  return v;
}

static inline value of_i64(int64_t x) {
  value v = {KT_I64, {0}};
  v.k.i64 = x;
  return v;
}

/* A float result of type t; f32 rounds. */
static inline value of_real(k_type t, double x) {
  return t == KT_F32 ? of_f32((float)x) : of_f64(x);
}

static inline double real(value v) {
  return v.type == KT_F32 ? (double)v.k.f32 : v.k.f64;
}

/* The same bits; NaNs count as one. */
static inline int equal(value x, value y) {
  if (x.type != y.type) return 0;
  switch (x.type) {
    case KT_BOOL: return x.k.b == y.k.b;
    case KT_F32: return (isnan(x.k.f32) && isnan(y.k.f32)) || memcmp(&x.k, &y.k, 4) == 0;
    case KT_F64: return (isnan(x.k.f64) && isnan(y.k.f64)) || memcmp(&x.k, &y.k, 8) == 0;
    default: return x.k.i64 == y.k.i64;
  }
}

static inline void print_value(value v) {
  switch (v.type) {
    case KT_BOOL: fprintf(stderr, "%s", v.k.b ? "true" : "false"); break;
    case KT_F32: fprintf(stderr, "%af", (double)v.k.f32); break;
    case KT_F64: fprintf(stderr, "%a", v.k.f64); break;
    default: fprintf(stderr, "%lld", (long long)v.k.i64);
  }
}

static const double special_reals[] = {
  0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.0, 2.5, -2.5, 3.0, 7.0, -7.0, 0.1, 1e-3, 100.25,
  1e9, -1e9, 2147483647.0, 2147483648.0, 4294967295.0, 4294967296.0, 9007199254740992.0,
  9007199254740993.0, -9007199254740992.0, 9223372036854775807.0, -9223372036854775808.0,
  18446744073709551616.0, 1e30, -1e30, 3.402823466e38, -3.402823466e38, 1.17549435e-38,
  1e-45, -1e-45, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1e300,
  3.4028235677973366e38, -3.4028235677973366e38, 1e-46, 1.0000000001, 0.99999999999,
  16777216.0, 16777217.0, 3.14159265358979, 88.7, -103.9, 709.7, 2251799813685248.0,
  2251799813685247.5, 4503599627370495.5, 9223372036854774784.0, INFINITY, -INFINITY, NAN
};

static const int64_t special_integers[] = {
  0, 1, -1, 2, -2, 3, -3, 7, -7, 10, -10, 63, 64, 65, -63, -64, -65, 100, 127, 128, -128,
  -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536, 2147483647, 2147483648,
  -2147483648, -2147483649, 4294967295, 4294967296, 9007199254740991, 9007199254740992,
  9007199254740993, -9007199254740993, 4611686018427387904, 9223372036854775806,
  9223372036854774784, 9223372036854774783, INT64_MAX, INT64_MIN, INT64_MIN + 1
};

#define COUNT(array) ((int)(sizeof (array) / sizeof *(array)))

static inline int special_count(k_type t) {
  return t == KT_BOOL ? 2 : t == KT_I64 ? COUNT(special_integers) : COUNT(special_reals);
}

static inline value special(k_type t, int i) {
  switch (t) {
    case KT_BOOL: return of_bool(i);
    case KT_I64: return of_i64(special_integers[i]);
    default: return of_real(t, special_reals[i]);
  }
}

/* Often special, often small, sometimes any bits. */
static inline value random_value(k_type t) {
  const int how = random_below(4);
  if (how == 0) return special(t, random_below(special_count(t)));
  switch (t) {
    case KT_BOOL: return of_bool(random_below(2));
    case KT_I64:
      if (how == 1) {
        const int64_t x = (int64_t)random_bits();
        return of_i64(x >> random_below(64));
      }
      return of_i64(random_below(41) - 20);
    default: {
      if (how == 1) {
        const uint64_t u = random_bits();
        value v = {t, {0}};
        memcpy(&v.k, &u, t == KT_F32 ? 4 : 8);
        return v;
      }
      return of_real(t, (random_below(2001) - 1000) / 8.0);
    }
  }
}

/* }===================================================================== */

/* {=====================================================================
** Columns
** ====================================================================== */

static inline size_t size_of_column(k_column c) {
  static const size_t size[KC_COUNT] = {1, 4, 8, 8, 1, 2, 4, 1, 2, 4, 8};
  return c & KC_CELLS ? sizeof(k_cell) : size[c];
}

static inline k_type type_of_column(k_column c) {
  return c == KC_BOOL ? KT_BOOL : c == KC_F32 ? KT_F32 : c == KC_F64 ? KT_F64 : KT_I64;
}

/* The least and the greatest integer of a column. */
static inline void column_range(k_column c, int64_t *lo, int64_t *hi) {
  *lo = INT64_MIN;
  *hi = INT64_MAX;
  switch (c) {
    case KC_I8: *lo = INT8_MIN; *hi = INT8_MAX; break;
    case KC_I16: *lo = INT16_MIN; *hi = INT16_MAX; break;
    case KC_I32: *lo = INT32_MIN; *hi = INT32_MAX; break;
    case KC_U8: *lo = 0; *hi = UINT8_MAX; break;
    case KC_U16: *lo = 0; *hi = UINT16_MAX; break;
    case KC_U32: *lo = 0; *hi = UINT32_MAX; break;
    default: break;
  }
}

static inline value column_get(k_column c, const void *column, size_t row) {
  switch (c) {
    case KC_BOOL: return of_bool(((const uint8_t *)column)[row]);
    case KC_F32: return of_f32(((const float *)column)[row]);
    case KC_F64: return of_f64(((const double *)column)[row]);
    case KC_I8: return of_i64(((const int8_t *)column)[row]);
    case KC_I16: return of_i64(((const int16_t *)column)[row]);
    case KC_I32: return of_i64(((const int32_t *)column)[row]);
    case KC_U8: return of_i64(((const uint8_t *)column)[row]);
    case KC_U16: return of_i64(((const uint16_t *)column)[row]);
    case KC_U32: return of_i64(((const uint32_t *)column)[row]);
    default: return of_i64(((const int64_t *)column)[row]);
  }
}

static inline void column_set(k_column c, void *column, size_t row, value v) {
  switch (c) {
    case KC_BOOL: ((uint8_t *)column)[row] = v.k.b; break;
    case KC_F32: ((float *)column)[row] = v.k.f32; break;
    case KC_F64: ((double *)column)[row] = v.k.f64; break;
    case KC_I8: ((int8_t *)column)[row] = (int8_t)v.k.i64; break;
    case KC_I16: ((int16_t *)column)[row] = (int16_t)v.k.i64; break;
    case KC_I32: ((int32_t *)column)[row] = (int32_t)v.k.i64; break;
    case KC_U8: ((uint8_t *)column)[row] = (uint8_t)v.k.i64; break;
    case KC_U16: ((uint16_t *)column)[row] = (uint16_t)v.k.i64; break;
    case KC_U32: ((uint32_t *)column)[row] = (uint32_t)v.k.i64; break;
    default: ((int64_t *)column)[row] = v.k.i64;
  }
}

/* Aligned as tables' columns are, and followed directly by bytes that must not change, or
** by memory that AddressSanitizer watches. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#endif
#ifdef WATCHED
enum { GUARD = 0 };
#else
enum { GUARD = 64 };
#endif

#ifdef _WIN32
static inline void *aligned_block(size_t size) { return _aligned_malloc(size, 64); }
static inline void column_free(void *column) { _aligned_free(column); }
#else
static inline void *aligned_block(size_t size) {
  void *block = NULL;
  return posix_memalign(&block, 64, size) == 0 ? block : NULL;
}
static inline void column_free(void *column) { free(column); }
#endif

static inline void *column_new(k_column c, size_t rows) {
  const size_t bytes = rows * size_of_column(c);
  char *p = aligned_block(bytes + GUARD);
  if (!p) abort();
  memset(p, 0, bytes);
  memset(p + bytes, 0x5a, GUARD);
  return p;
}

static inline int column_intact(k_column c, const void *column, size_t rows) {
  const char *p = (const char *)column + rows * size_of_column(c);
  for (int i = 0; i < GUARD; i++)
    if (p[i] != 0x5a) return 0;
  return 1;
}

static inline value random_for_column(k_column c) {
  if (type_of_column(c) != KT_I64) return random_value(type_of_column(c));
  int64_t lo, hi;
  column_range(c, &lo, &hi);
  value v = random_value(KT_I64);
  while (v.k.i64 < lo || v.k.i64 > hi)
    v.k.i64 =
        random_below(4) == 0 ? (random_below(2) ? lo : hi) : (int64_t)random_below(200);
  return v;
}

/* }===================================================================== */

/* {=====================================================================
** The reference
** ====================================================================== */

/* Where Lua or the design raises an error the result is 0 or the integer below. */
static inline value to_integer_below(double x, k_error *error, k_error which) {
  if (!(x >= -0x1p63 && x < 0x1p63)) {
    *error = which;
    return of_i64(0);
  }
  return of_i64((int64_t)floor(x));
}

static inline value reference_convert(k_type to, value x, k_error *error,
                                      k_error which) {
  if (x.type == to) return x;
  if (to == KT_I64) {
    const value v = to_integer_below(real(x), error, which);
    if (floor(real(x)) != real(x)) *error = which;
    return v;
  }
  return of_real(to, x.type == KT_I64 ? (double)x.k.i64 : real(x));
}

/* lvm.c: forlimit. */
static inline int64_t greatest_below(double x) {
  if (x != x || x < -9223372036854775808.0) return INT64_MIN;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  return (int64_t)floor(x);
}

static inline value reference_unary(k_op op, value x, k_error *error) {
  const k_type t = x.type;
  if (t == KT_BOOL) return of_bool(!x.k.b);
  if (t == KT_I64) {
    const uint64_t u = (uint64_t)x.k.i64;
    switch (op) {
      case KO_NEG: return of_i64((int64_t)(0 - u));
      case KO_BNOT: return of_i64((int64_t)~u);
      case KO_ABS: return of_i64(x.k.i64 < 0 ? (int64_t)(0 - u) : x.k.i64);
      default: return x;
    }
  }
  const double r = real(x);
  switch (op) {
    case KO_NEG: return of_real(t, -r);
    case KO_ABS: return of_real(t, fabs(r));
    case KO_SQRT: return of_real(t, sqrt(r));
    case KO_FLOOR: return to_integer_below(r, error, KE_INTEGER);
    case KO_CEIL: return to_integer_below(ceil(r), error, KE_INTEGER);
    case KO_BELOW: return of_i64(greatest_below(r));
    case KO_TRUNC: return of_real(t, r < 0 ? ceil(r) : floor(r));
    case KO_EXP: return t == KT_F32 ? of_f32(k_exp(x.k.f32)) : of_f64(exp(r));
    case KO_LOG: return t == KT_F32 ? of_f32(k_log(x.k.f32)) : of_f64(log(r));
    case KO_SIN: return t == KT_F32 ? of_f32(k_sin(x.k.f32)) : of_f64(sin(r));
    case KO_COS: return t == KT_F32 ? of_f32(k_cos(x.k.f32)) : of_f64(cos(r));
    case KO_LOG2: return of_real(t, log2(r));
    case KO_LOG10: return of_real(t, log10(r));
    case KO_TAN: return of_real(t, tan(r));
    case KO_ASIN: return of_real(t, asin(r));
    case KO_ACOS: return of_real(t, acos(r));
    case KO_OWN_ACOS: return of_f64(portable_acos(r));
    case KO_OWN_ASIN: return of_f64(portable_asin(r));
    case KO_OWN_COS: return of_f64(portable_cos(r));
    case KO_OWN_EXP: return of_f64(portable_exp(r));
    case KO_OWN_LOG: return of_f64(portable_log(r));
    case KO_OWN_LOG10: return of_f64(portable_log10(r));
    case KO_OWN_LOG2: return of_f64(portable_log2(r));
    case KO_OWN_SIN: return of_f64(portable_sin(r));
    case KO_OWN_TAN: return of_f64(portable_tan(r));
    default:
      fprintf(stderr, "no plain C for operation %d\n", (int)op);
      abort();
  }
}

/* lvm.c: luaV_shiftl. */
static inline int64_t reference_shift(int64_t x, int64_t y) {
  if (y <= -64 || y >= 64) return 0;
  return (int64_t)(y < 0 ? (uint64_t)x >> -y : (uint64_t)x << y);
}

static inline int64_t wrapped_difference(int64_t x, int64_t y) {
  return (int64_t)((uint64_t)x - (uint64_t)y);
}

static inline value reference_integers(k_op op, int64_t x, int64_t y, k_error *error) {
  const uint64_t u = (uint64_t)x, w = (uint64_t)y;
  switch (op) {
    case KO_ADD: return of_i64((int64_t)(u + w));
    case KO_SUB: return of_i64(wrapped_difference(x, y));
    case KO_MUL: return of_i64((int64_t)(u * w));
    case KO_IDIV: {
      if (y == 0) *error = KE_IDIV;
      if (y == 0) return of_i64(0);
      if (y == -1) return of_i64(wrapped_difference(0, x));
      return of_i64(x / y - ((x % y != 0) && ((x % y < 0) != (y < 0))));
    }
    case KO_MOD: {
      if (y == 0) *error = KE_MOD;
      if (y == 0 || y == -1) return of_i64(0);
      const int64_t r = x % y;
      return of_i64(r != 0 && ((r < 0) != (y < 0)) ? r + y : r);
    }
    case KO_FMOD:
      if (y == 0) *error = KE_FMOD;
      return of_i64(y == 0 || y == -1 ? 0 : x % y);
    case KO_MIN: return of_i64(x < y ? x : y);
    case KO_MAX: return of_i64(x > y ? x : y);
    case KO_BAND: return of_i64((int64_t)(u & w));
    case KO_BOR: return of_i64((int64_t)(u | w));
    case KO_BXOR: return of_i64((int64_t)(u ^ w));
    case KO_SHL: return of_i64(reference_shift(x, y));
    case KO_SHR: return of_i64(reference_shift(x, wrapped_difference(0, y)));
    default: return of_bool(u < w);
  }
}

static inline double reference_mod(double x, double y) {
  double m = fmod(x, y);
  if ((m > 0) ? y < 0 : (m < 0 && y > 0)) m += y;
  return m;
}

static inline value reference_reals(k_op op, k_type t, value x, value y) {
  const double a = real(x), b = real(y);
  switch (op) {
    case KO_ADD: return of_real(t, a + b);
    case KO_SUB: return of_real(t, a - b);
    case KO_MUL: return of_real(t, a * b);
    case KO_DIV: return of_real(t, a / b);
    case KO_IDIV: return of_real(t, floor(a / b));
    case KO_MOD: return of_real(t, reference_mod(a, b));
    case KO_POW: return of_real(t, b == 2 ? a * a : pow(a, b));
    case KO_FMOD: return of_real(t, fmod(a, b));
    case KO_ATAN2: return of_real(t, atan2(a, b));
    case KO_OWN_ATAN: return of_f64(portable_atan(a, b));
    case KO_OWN_MOD: return of_f64(portable_mod(a, b));
    case KO_OWN_POW: return of_f64(portable_pow(a, b));
    case KO_MIN: return b < a ? y : x;  /* math.min starts with its first argument */
    default: return a < b ? y : x;
  }
}

/* Which comes first: -1, 0, 1, or 2 when there is no order. */
static inline int order_of_reals(double a, double b) {
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

/* An integer beside a float: it is compared with the float's floor, which it can hold. */
static inline int order_of_mixed(int64_t i, double f) {
  if (f != f) return 2;
  if (f >= 0x1p63) return -1;
  if (f < -0x1p63) return 1;
  const int64_t whole = (int64_t)floor(f);
  if (i != whole) return i < whole ? -1 : 1;
  return f > floor(f) ? -1 : 0;
}

static inline int reference_order(value x, value y) {
  if (x.type == KT_BOOL) return (x.k.b != 0) - (y.k.b != 0);
  if (x.type == KT_I64 && y.type == KT_I64)
    return (x.k.i64 > y.k.i64) - (x.k.i64 < y.k.i64);
  if (x.type == KT_I64) return order_of_mixed(x.k.i64, real(y));
  if (y.type != KT_I64) return order_of_reals(real(x), real(y));
  const int order = order_of_mixed(y.k.i64, real(x));
  return order == 2 ? 2 : -order;
}

static inline value reference_binary(k_op op, value x, value y, k_error *error) {
  const int order = reference_order(x, y);
  switch (op) {
    case KO_EQ: return of_bool(order == 0);
    case KO_NE: return of_bool(order != 0);
    case KO_LT: return of_bool(order == -1);
    case KO_LE: return of_bool(order == -1 || order == 0);
    case KO_GT: return of_bool(order == 1);
    case KO_GE: return of_bool(order == 1 || order == 0);
    case KO_AND: return of_bool(x.k.b && y.k.b);
    case KO_OR: return of_bool(x.k.b || y.k.b);
    case KO_XOR: return of_bool(x.k.b != y.k.b);
    case KO_ANDN: return of_bool(x.k.b && !y.k.b);
    default:
      if (x.type == KT_I64) return reference_integers(op, x.k.i64, y.k.i64, error);
      return reference_reals(op, x.type, x, y);
  }
}

/* Does the operation take this type? As program.h says. */
static inline int takes_type(k_op op, k_type t) {
  const int f = t == KT_F32 || t == KT_F64, i = t == KT_I64, b = t == KT_BOOL;
  switch (op) {
    case KO_NEG: case KO_ABS: case KO_FLOOR: case KO_CEIL: case KO_ADD: case KO_SUB:
    case KO_MUL: case KO_IDIV: case KO_MOD: case KO_FMOD: case KO_MIN: case KO_MAX:
    case KO_LT: case KO_LE: case KO_GT: case KO_GE: return f || i;
    case KO_BNOT: case KO_BAND: case KO_BOR: case KO_BXOR: case KO_SHL: case KO_SHR:
    case KO_ULT: return i;
    case KO_NOT: case KO_AND: case KO_OR: case KO_XOR: case KO_ANDN: return b;
    case KO_EQ: case KO_NE: return 1;
    case KO_OWN_ACOS: case KO_OWN_ASIN: case KO_OWN_ATAN: case KO_OWN_COS: case KO_OWN_EXP:
    case KO_OWN_LOG: case KO_OWN_LOG10: case KO_OWN_LOG2: case KO_OWN_MOD: case KO_OWN_POW:
    case KO_OWN_SIN: case KO_OWN_TAN: return t == KT_F64;
    default: return f;
  }
}

static inline int is_relation(k_op op) {
  return op >= KO_EQ && op <= KO_GE;
}

/* }===================================================================== */

/* What a builder, which is freed, has built; NULL, and a failure, if it has not. */
static inline struct program *finish_build(struct builder *b) {
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  return p;
}

#endif
