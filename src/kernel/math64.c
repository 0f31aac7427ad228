/* The functions of ecs.math for any number. Scripts call them, and so do kernels for a block of
** rows in which math64.h does not take every row. They compute the same expressions, so the bits
** are the same. */
#include "kernel/program.h"
#include "kernel/vector.h"

#include "kernel/math64.h"

double portable_exp(double x) { return math64_exp_lane(x); }
double portable_log(double x) { return math64_log_lane(x); }
double portable_log2(double x) { return math64_log2_lane(x); }
double portable_log10(double x) { return math64_log10_lane(x); }
double portable_asin(double x) { return math64_asin_lane(x, sqrt(math64_half_less(x))); }
double portable_acos(double x) { return math64_acos_lane(x, sqrt(math64_half_less(x))); }

/* ---- sin, cos, tan ---- */

/* The last 192 bits of x * 2 / pi, highest limb first, of which two count quadrants: from the
** bits of 2 / pi that matter to x, after M. Payne and R. Hanek, "Radian reduction for
** trigonometric functions", SIGNUM 18, 1983. */
static void math64_turns(double x, uint32_t limbs[6]) {
  static const uint32_t two_over_pi[] = {
      0, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
      0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
      0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
      0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
      0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
      0x1f8d5d08, 0x56033046, 0xfc7b6bab};
  const uint64_t bits = bits_of(x), whole = (bits & 0xfffffffffffff) | 0x10000000000000;
  /* |x| = whole * 2^(start - 62), and a bit of 2 / pi before `start` gives whole turns. */
  const uint32_t start = (uint32_t)(bits >> 52 & 0x7ff) - 1075 + 62, off = start % 32;
  const uint64_t low = whole & 0xffffffff, high = whole >> 32;
  uint64_t carry = 0;
  assert(start / 32 + 6 < sizeof two_over_pi / sizeof *two_over_pi);
  for (uint32_t i = 6; i-- > 0;) {
    const uint32_t *at = two_over_pi + start / 32 + i;
    const uint32_t limb = (uint32_t)((((uint64_t)at[0] << 32 | at[1]) << off) >> 32);
    const uint64_t part = low * limb, sum = (part & 0xffffffff) + (carry & 0xffffffff);
    limbs[i] = (uint32_t)sum;
    carry = (sum >> 32) + (carry >> 32) + (part >> 32) + high * limb;
  }
}

/* The angle of a large x. */
static struct math64_angle math64_far(double x) {
  uint32_t limbs[6];
  math64_turns(x, limbs);
  struct math64_angle at = {0, 0, limbs[0] >> 30};
  const bool above = limbs[0] >> 29 & 1;   /* half a quadrant or more: measured from the next one */
  at.quadrant += above;
  limbs[0] &= 0x3fffffff;
  double scale = 0x1p-30;
  for (int i = 0; i < 6; i++, scale *= 0x1p-32) {
    /* one's complement: off by 2^-190 */
    const uint32_t limb = above ? ~limbs[i] & (i ? 0xffffffff : 0x3fffffff) : limbs[i];
    const struct math64_angle sum = math64_less(at.r, -((double)limb * scale));
    at.r = sum.r;
    at.rest += sum.rest;
  }
  /* times pi / 2, exact in two parts */
  const double r1 = math64_half(at.r), r2 = at.r - r1;
  const double p1 = 0x1.921fb54p+0, p2 = 0x1.10b4611a62633p-30;
  const double product = at.r * 0x1.921fb54442d18p+0;
  const double left = ((r1 * p1 - product) + r1 * p2 + r2 * p1) + r2 * p2;
  const double rest = left + at.rest * 0x1.921fb54442d18p+0, sum = product + rest;
  at.rest = (product - sum) + rest;
  at.r = sum;
  const bool back = above != (x < 0);
  at.r = back ? -at.r : at.r;
  at.rest = back ? -at.rest : at.rest;
  if (x < 0) at.quadrant = 0 - at.quadrant;
  return at;
}

double portable_sin(double x) {
  if (math64_sin_easy(x)) return math64_sin_lane(x);
  return fabs(x) < HUGE_VAL ? math64_sin_at(math64_far(x)) : MATH_NAN;
}

double portable_cos(double x) {
  if (math64_sin_easy(x)) return math64_cos_lane(x);
  if (!(fabs(x) < HUGE_VAL)) return MATH_NAN;
  struct math64_angle at = math64_far(x);
  at.quadrant++;
  return math64_sin_at(at);
}

double portable_tan(double x) {
  if (math64_sin_easy(x)) return math64_tan_lane(x);
  return fabs(x) < HUGE_VAL ? math64_tan_at(math64_far(x)) : MATH_NAN;
}

/* ---- pow, atan, mod ---- */

/* x^y for a positive x with a log2 far from 0 where y is great. */
static double math64_pow_positive(double x, double y) {
  if (x == 0.0 || x == HUGE_VAL) return (x == 0.0) == (y > 0.0) ? 0.0 : HUGE_VAL;
  const double most = y < -0x1p63 ? -0x1p63 : y, by = most > 0x1p63 ? 0x1p63 : most;
  return x < 0x1p-1022 ? math64_pow_of(x * 0x1p54, by, -54.0) : math64_pow_of(x, by, 0.0);
}

/* As C's pow: 1 to the power of NaN, and NaN to the power of 0, are 1. */
double portable_pow(double x, double y) {
  if (math64_pow_easy(x, y)) return math64_pow_of(x, y, 0.0);
  if (x == 1.0 || y == 0.0) return 1.0;
  if (x != x || y != y) return MATH_NAN;
  const double a = fabs(x);
  if (a == 1.0 && fabs(y) == HUGE_VAL) return 1.0;
  const bool whole = floor(y) == y, odd = whole && fabs(y) < 0x1p53 && (int64_t)y & 1;
  if (x < 0.0 && a < HUGE_VAL && !whole) return MATH_NAN;
  const double result = math64_pow_positive(a, y);
  return odd ? math64_signed(result, x) : result;
}

/* The angle of the point x, y. */
double portable_atan(double y, double x) {
  if (math64_atan_easy(y, x)) return math64_atan_lane(y, x);
  if (x != x || y != y) return MATH_NAN;
  double a = fabs(x), b = fabs(y);
  if (a == HUGE_VAL || b == HUGE_VAL) {
    a = a == HUGE_VAL ? 1.0 : 0.0;
    b = b == HUGE_VAL ? 1.0 : 0.0;
  } else if (a == 0.0 && b == 0.0) {
    a = 1.0;
  } else if (b < a * 0x1p-100) {
    if (bits_of(x) >> 63 == 0) return y / x;
    a = 1.0;
    b = 0.0;
  } else if (a < b * 0x1p-100) {
    a = 0.0;
    b = 1.0;
  } else {
    const double scale = a < 1.0 ? 0x1p600 : 0x1p-600;
    a *= scale;
    b *= scale;
  }
  return math64_atan_lane(math64_signed(b, y), math64_signed(a, x));
}

/* The remainder of the mantissas, 11 bits of the quotient at a time. */
static double math64_mod_far(double a, double b) {
  int from = 0, to = 0;
  uint64_t rest = (uint64_t)ldexp(frexp(a, &from), 53);
  const uint64_t by = (uint64_t)ldexp(frexp(b, &to), 53);
  int more = from - to;
  for (rest %= by; more > 0 && rest; more -= 11)
    rest = (rest << (more < 11 ? more : 11)) % by;
  return ldexp((double)rest, to - 53);
}

double portable_mod(double x, double y) {
  if (math64_mod_easy(x, y)) return math64_mod_lane(x, y);
  const double a = fabs(x), b = fabs(y);
  if (!(a < HUGE_VAL) || b != b || b == 0.0) return MATH_NAN;
  return a < b ? x : math64_signed(math64_mod_far(a, b), x);
}
