/* The functions of ecs.math for one f64, within 1 ulp and with the same bits everywhere: they
** use only integers and + - * / and sqrt, which IEEE 754 rounds correctly. Every NaN they return
** is the same. They have no branches, so that loops over them become vector code. Some take only
** arguments for which math64_..._easy holds; math64.c takes the others.
**
** Sums keep what is rounded off: after s = a + b that is (a - s) + b, exactly where |a| >= |b|.
** Products are exact where their operands have few enough bits. Included after vector.h.
*/
#ifndef ECS_KERNEL_MATH64_H
#define ECS_KERNEL_MATH64_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/base.h"
#include "kernel/math32.h"

#define MATH_NAN of_bits(0x7ff8000000000000)
#define MATH_PI 0x1.921fb54442d18p+1
#define MATH_PI_REST 0x1.1a62633145c07p-53
#define MATH_LN2 0x1.62e42fefa38p-1       /* times any exponent exact */
#define MATH_LN2_REST 0x1.ef35793c7673p-45

/* The first 21 bits of x. The second: the first 26. */
INLINE double math64_top(double x) { return of_bits(bits_of(x) & 0xffffffff00000000); }
INLINE double math64_half(double x) { return of_bits(bits_of(x) & 0xfffffffff8000000); }

/* |x|, with the sign of y. */
INLINE double math64_signed(double x, double y) {
  const uint64_t sign = bits_of(-0.0);
  return of_bits((bits_of(x) & ~sign) | (bits_of(y) & sign));
}

/* y if `second` is odd, otherwise x: by bits, so that compilers do not make it a branch. */
INLINE double math64_either(uint64_t second, double x, double y) {
  const uint64_t mask = 0 - (second & 1);
  return of_bits((bits_of(x) & ~mask) | (bits_of(y) & mask));
}

/* 1 where x is below y, otherwise 0: by the sign of the difference, since SSE2 cannot compare lanes
** of 64 bits. */
INLINE uint64_t math64_below(double x, double y) { return bits_of(x - y) >> 63; }

/* ---- exp ---- */

/* exp(r + rest) * 2^(k - 2048), for |r| below 0.3472. 2^k in two steps: the first is exact. */
INLINE double math64_exp_of(double r, double rest, uint64_t k) {
  const double r2 = r * r, r4 = r2 * r2;
  const double p = ((0x1.555555555555cp-3 + r * 0x1.555555555555ap-5)
                 + r2 * (0x1.111111110eb7ap-7 + r * 0x1.6c16c16c141c9p-10))
                 + r4 * (((0x1.a01a01b3d8521p-13 + r * 0x1.a01a01b1d58a6p-16)
                 + r2 * (0x1.71ddef3e073e1p-19 + r * 0x1.27e4c313dccdap-22))
                 + r4 * (0x1.af6d72d25a4aep-26 + r * 0x1.1f994bc31ee37p-29));
  const double s = 1.0 + r;
  const double y = s + ((r - (s - 1.0)) + (rest * s + r2 * (0.5 + r * p)));
  const uint64_t half = k >> 1;
  return y * of_bits((half - 1) << 52) * of_bits((k - half - 1) << 52);
}

/* Reduction by a two-part ln 2, after fdlibm's e_exp.c (Sun Microsystems, freely granted). */
INLINE double math64_exp_lane(double v) {
  const double low = v < -800.0 ? -800.0 : v, x = low > 800.0 ? 800.0 : low;
  const double t = x * 0x1.71547652b82fep+0 + SHIFT, k = t - SHIFT;
  const double near = x - k * MATH_LN2, w = k * MATH_LN2_REST, r = near - w;
  const double y = math64_exp_of(r, (near - r) - w, bits_of(t) - bits_of(SHIFT) + 2048);
  return v == v ? y : MATH_NAN;
}

/* ---- log ---- */

struct math64_log { double exponent, log, rest; };

/* log x = exponent * ln 2 + log + rest. log(1 + f) = f - f^2 / 2 + s * (f^2 / 2 + R(s^2)), where
** s = f / (2 + f), after fdlibm's e_log.c. The square is exact in two parts. */
INLINE struct math64_log math64_log_of(double x) {
  const uint64_t bias = (uint64_t)1024 << 52;
  const double tiny = x < 0x1p-1022 ? 54.0 : 0.0, v = x < 0x1p-1022 ? x * 0x1p54 : x;
  /* the exponent, plus 1024, and what is left in [sqrt 1/2, sqrt 2), minus 1 */
  const uint64_t up = ((bits_of(v) - 0x3fe6a09e667f3bcd) + bias) >> 52;
  const double f = of_bits(bits_of(v) - (up << 52) + bias) - 1.0;
  const double s = f / (2.0 + f), z = s * s;
  const double p = z * (0x1.5555555555592p-1 + z * (0x1.999999997fe44p-2
                 + z * (0x1.24924941ea182p-2 + z * (0x1.c71c520e49708p-3
                 + z * (0x1.74663e1653810p-3 + z * (0x1.39a1caec9a855p-3
                 + z * 0x1.2f04efe7666c0p-3))))));
  const double top = math64_top(f), square = 0.5 * top * top;
  const double less = 0.5 * (f - top) * (f + top), high = f - square;
  struct math64_log log = {of_bits(up | 0x4330000000000000) - (0x1p52 + 1024.0) - tiny, high, 0};
  log.rest = ((f - high) - square) + (s * ((square + less) + p) - less);
  return log;
}

/* y where x is positive and finite, otherwise what a logarithm yields there. */
INLINE double math64_log_edge(double x, double y) {
  const double inside = x < HUGE_VAL ? y : x, outside = x == 0.0 ? -HUGE_VAL : MATH_NAN;
  return x > 0.0 ? inside : outside;
}

INLINE double math64_log_lane(double x) {
  const struct math64_log l = math64_log_of(x);
  const double a = l.exponent * MATH_LN2, s = a + l.log;
  const double rest = ((a - s) + l.log) + (l.exponent * MATH_LN2_REST + l.rest);
  return math64_log_edge(x, s + rest);
}

/* The logarithm times a constant in two parts, the first of 32 bits, and an exponent's, after
** FreeBSD's e_log2.c (Sun Microsystems, freely granted). */
INLINE double math64_log_by(double x, double by, double by_rest, double two, double two_rest) {
  const struct math64_log l = math64_log_of(x);
  const double top = math64_top(l.log), low = (l.log - top) + l.rest, b = top * by;
  const double a = l.exponent * two, s = a + b;
  const double rest = low * by + (low + top) * by_rest + l.exponent * two_rest;
  return math64_log_edge(x, s + (((a - s) + b) + rest));
}

INLINE double math64_log2_lane(double x) {
  return math64_log_by(x, 0x1.71547652p+0, 0x1.705fc2eefa2p-33, 1.0, 0.0);
}

INLINE double math64_log10_lane(double x) {
  return math64_log_by(x, 0x1.bcb7b152p-2, 0x1.b9438ca9aadd5p-36, 0x1.34413509f78p-2,
                       0x1.fef311f12b358p-46);
}

/* ---- pow ---- */

/* log2 x + more, in two parts, the first of 21 bits, by a series around 1 or 1.5, after fdlibm's
** e_pow.c. */
INLINE struct math64_log math64_log2_of(double x, double more) {
  const uint64_t bias = (uint64_t)1024 << 52;
  const uint64_t up = ((bits_of(x) - 0x3febb67ae8584caa) + bias) >> 52;
  const double n = of_bits(up | 0x4330000000000000) - (0x1p52 + 1024.0) + more;
  const double m = of_bits(bits_of(x) - (up << 52) + bias);
  const bool below = m < 0x1.3988e1409212ep+0;
  const double about = below ? 1.0 : 1.5, log = below ? 0.0 : 0x1.2b8034p-1;   /* its log2 */
  const double log_rest = below ? 0.0 : 0x1.cfdeb43cfd006p-27;
  const double u = m - about, v = 1.0 / (m + about), s = u * v, s1 = math64_top(s);
  const double w1 = math64_top(m + about), w2 = m - (w1 - about);
  const double s2 = v * ((u - s1 * w1) - s1 * w2), z = s * s, square = s1 * s1;
  /* log = 2/3 s (3 + s^2 + r) */
  const double z2 = z * z, p = ((0x1.3333333333303p-1 + z * 0x1.b6db6db6fa6fep-2)
                 + z2 * (0x1.555555196800bp-2 + z * 0x1.17460a4129858p-2))
                 + z2 * z2 * (0x1.d864dd929bb46p-3 + z * 0x1.a7dc0888ae5d5p-3);
  const double r = s2 * (s1 + s) + z2 * p;
  const double t1 = math64_top(3.0 + square + r), t2 = r - ((t1 - 3.0) - square);
  const double a = s1 * t1, b = s2 * t1 + t2 * s, p1 = math64_top(a + b), p2 = b - (p1 - a);
  /* times 2/3 / ln 2 */
  const double c1 = p1 * 0x1.ec709c0000000p-1;
  const double c2 = p1 * 0x1.c3a03fd749fc1p-25 + p2 * 0x1.ec709dc3a03fdp-1 + log_rest;
  const double sum = math64_top(((c1 + c2) + log) + n);
  const struct math64_log result = {0, sum, c2 - (((sum - n) - log) - c1)};
  return result;
}

/* 2^(more * y) * x^y, for x from 2^-1022 and |y| below 2^64. */
INLINE double math64_pow_of(double x, double y, double more) {
  const struct math64_log l = math64_log2_of(x, more);
  const double top = math64_top(y), low = (y - top) * l.log + y * l.rest, high = top * l.log;
  const double sum = low + high, least = sum < -1200.0 ? -1200.0 : sum;
  const double z = least > 1200.0 ? 1200.0 : least;
  const double a = z == sum ? high : z, b = z == sum ? low : 0.0;
  const double t = z + SHIFT, k = t - SHIFT, c = a - k, d = math64_top(b + c);
  const double u = d * 0x1.62e42feep-1;
  const double v = (b - (d - c)) * 0x1.62e42fefa39efp-1 + d * 0x1.a39ef35793c76p-33, r = u + v;
  return math64_exp_of(r, v - (r - u), bits_of(t) - bits_of(SHIFT) + 2048);
}

INLINE bool math64_pow_easy(double x, double y) {
  return (x >= 0x1p-1022) & (x < HUGE_VAL) & (fabs(y) < 0x1p64);
}

/* ---- sin, cos, tan ---- */

/* An angle is quadrant * pi / 2 + r + rest. */
struct math64_angle { double r, rest; uint64_t quadrant; };

/* a - b, and its rounding error. */
INLINE struct math64_angle math64_less(double a, double b) {
  const double s = a - b, c = s - a;
  const struct math64_angle result = {s, (a - (s - c)) - (b + c), 0};
  return result;
}

INLINE bool math64_sin_easy(double x) { return fabs(x) < REDUCIBLE; }

/* Reduction by pi / 2 in four parts of 33 bits, except the last, after fdlibm's e_rem_pio2.c. */
INLINE struct math64_angle math64_reduced(double x) {
  const double t = x * 0x1.45f306dc9c883p-1 + SHIFT, k = t - SHIFT;
  const struct math64_angle a = math64_less(x - k * 0x1.921fb544p+0, k * 0x1.0b4611a6p-34);
  const struct math64_angle b = math64_less(a.r, k * 0x1.3198a2ep-69);
  const double rest = a.rest + b.rest - k * 0x1.b839a252049c1p-104, r = b.r + rest;
  const struct math64_angle result = {r, (b.r - r) + rest, bits_of(t)};
  return result;
}

/* sin and cos of r + rest, each as a sum, after fdlibm's k_sin.c and k_cos.c. Half of the square is
** exact in two parts. */
INLINE struct math64_angle math64_sin_of(double r, double rest) {
  const double z = r * r, v = z * r;
  const double p = 0x1.111111111110fp-7 + z * (-0x1.a01a01a019397p-13 + z * (0x1.71de3a53d2045p-19
                 + z * (-0x1.ae64534541197p-26 + z * (0x1.6120f4ace9e1ap-33
                 + z * -0x1.aad12399061bfp-41))));
  const double more = rest - z * (0.5 * rest - v * p);
  const struct math64_angle sum = {r, more - v * 0x1.5555555555555p-3, 0};
  return sum;
}

INLINE struct math64_angle math64_cos_of(double r, double rest) {
  const double z = r * r, top = math64_top(r), square = 0.5 * top * top, one = 1.0 - square;
  const double p = 0x1.555555555554cp-5 + z * (-0x1.6c16c16c15186p-10 + z * (0x1.a01a019cb2873p-16
                 + z * (-0x1.27e4f80a7bd60p-22 + z * (0x1.1ee9ec452611ap-29
                 + z * -0x1.8faecb35bd898p-37))));
  const struct math64_angle sum = {one, ((1.0 - one) - square) - 0.5 * (r - top) * (r + top) +
                                        (z * z * p - r * rest), 0};
  return sum;
}

/* The sine at a quadrant; the cosine is that of the next quadrant. */
INLINE double math64_sin_at(struct math64_angle at) {
  const struct math64_angle s = math64_sin_of(at.r, at.rest), c = math64_cos_of(at.r, at.rest);
  const double y = math64_either(at.quadrant, s.r + s.rest, c.r + c.rest);
  return of_bits(bits_of(y) ^ ((at.quadrant & 2) << 62));
}

/* The quotient of the sums, and its rounding error. */
INLINE struct math64_angle math64_over(struct math64_angle n, struct math64_angle d) {
  const double by = 1.0 / d.r, t = n.r * by, t1 = math64_half(t), t2 = t - t1;
  const double d1 = math64_half(d.r), d2 = d.r - d1;
  const double left = (((n.r - t1 * d1) - t1 * d2) - t2 * d1) - t2 * d2;
  const struct math64_angle result = {t, (left + (n.rest - t * d.rest)) * by, 0};
  return result;
}

INLINE struct math64_angle math64_summed(struct math64_angle x) {
  const double s = x.r + x.rest;
  const struct math64_angle sum = {s, (x.r - s) + x.rest, 0};
  return sum;
}

INLINE double math64_tan_at(struct math64_angle at) {
  const struct math64_angle s = math64_summed(math64_sin_of(at.r, at.rest));
  const struct math64_angle c = math64_summed(math64_cos_of(at.r, at.rest));
  const uint64_t odd = at.quadrant;
  const struct math64_angle n = {math64_either(odd, s.r, c.r),
                                 math64_either(odd, s.rest, c.rest), 0};
  const struct math64_angle d = {math64_either(odd, c.r, s.r),
                                 math64_either(odd, c.rest, s.rest), 0};
  const struct math64_angle t = math64_over(n, d);
  return of_bits(bits_of(t.r + t.rest) ^ ((odd & 1) << 63));
}

INLINE double math64_sin_lane(double x) {
  return x == 0.0 ? x : math64_sin_at(math64_reduced(x));
}

INLINE double math64_cos_lane(double x) {
  struct math64_angle at = math64_reduced(x);
  at.quadrant++;
  return math64_sin_at(at);
}

INLINE double math64_tan_lane(double x) {
  return x == 0.0 ? x : math64_tan_at(math64_reduced(x));
}

/* ---- asin, acos ---- */

/* Half of 1 - |x|; 0 where |x| is above 1. */
INLINE double math64_half_less(double x) {
  const double a = fabs(x);
  return a <= 1.0 ? (1.0 - a) * 0.5 : 0.0;
}

/* For |x|: asin as a sum below 1/2, acos from there on, after fdlibm's e_asin.c: asin x is x +
** x^3 R(x^2), and acos x is 2 asin sqrt((1 - x) / 2). `root` is the root of math64_half_less. */
INLINE struct math64_angle math64_arc(double x, double root) {
  const double a = fabs(x), half = math64_half_less(x);
  const uint64_t near = math64_below(a, 0.5);
  const double z = math64_either(near, half, a * a);
  const double p = z * (0x1.5555555555578p-3 + z * (0x1.333333332df80p-4 + z * (0x1.6db6db7226013p-5
                 + z * (0x1.f1c71a8dc5852p-6 + z * (0x1.6e8bdfa65159fp-6
                 + z * (0x1.1c49e2bbc90e5p-6 + z * (0x1.ca20ce222f10dp-7
                 + z * (0x1.757b78e5fe53ep-7 + z * (0x1.6173fbcec4142p-7
                 + z * (0x1.e2be09f2416f1p-9 + z * (0x1.6492d76898e28p-6
                 + z * (-0x1.5954b9d39e7e1p-6 + z * 0x1.0bb07368c754bp-5))))))))))));
  const double top = math64_top(root), sum = root + top, some = sum == 0.0 ? 1.0 : sum;
  const double low = (half - top * top) / some, rest = 2.0 * (low + root * p);
  const struct math64_angle result = {math64_either(near, 2.0 * top, a),
                                      math64_either(near, rest, a * p), 0};
  return result;
}

/* pi * turns plus the arc, with the sign of `sign`; pi * turns is 0 or at least the arc. */
INLINE double math64_turn(double turns, struct math64_angle arc, double sign) {
  const double b = math64_signed(arc.r, sign), a = turns * MATH_PI, s = a + b;
  const double rest = of_bits(bits_of(arc.rest) ^ (bits_of(sign) & bits_of(-0.0)));
  return s + (((a - s) + b) + (turns * MATH_PI_REST + rest));
}

INLINE double math64_asin_lane(double x, double root) {
  const double a = fabs(x), far = a < 0.5 ? 0.0 : 0.5;
  const double y = math64_turn(far, math64_arc(x, root), -far);
  return a <= 1.0 ? math64_signed(y, x) : MATH_NAN;
}

INLINE double math64_acos_lane(double x, double root) {
  const double a = fabs(x), turns = a < 0.5 ? 0.5 : x < 0.0 ? 1.0 : 0.0;
  const double y = math64_turn(turns, math64_arc(x, root), a < 0.5 ? -x : x);
  return a <= 1.0 ? y : MATH_NAN;
}

/* ---- atan ---- */

/* Whether neither is far from 1, or one of them is 0. */
INLINE bool math64_atan_easy(double y, double x) {
  const double a = fabs(y), b = fabs(x), most = a < b ? b : a, least = a < b ? a : b;
  return (most > 0x1p-400) & (most < 0x1p400) & ((least > 0x1p-400) | (least == 0.0));
}

/* The angle of the smaller of |y| and |x| over the greater, subtracted from pi / 4 if it is above
** pi / 8 (fdlibm's s_atan.c reduces at four places). The quotient is in two parts. */
INLINE double math64_atan_lane(double y, double x) {
  const double b = fabs(y), a = fabs(x), most = a < b ? b : a, least = a < b ? a : b;
  const uint64_t far = math64_below(most * 0.41421356, least), steep = math64_below(a, b);
  const double sum = most + least, difference = most - least;
  const struct math64_angle n = {math64_either(far, least, difference),
                                 math64_either(far, 0.0, (most - difference) - least), 0};
  const struct math64_angle d = {math64_either(far, most, sum),
                                 math64_either(far, 0.0, (most - sum) + least), 0};
  struct math64_angle t = math64_over(n, d);
  const double z = t.r * t.r;
  t.rest += t.r * z * (-0x1.5555555555554p-2 + z * (0x1.999999999965ap-3
          + z * (-0x1.2492492475d86p-3
          + z * (0x1.c71c71b77a5fap-4 + z * (-0x1.745d14c00bdddp-4 + z * (0x1.3b136eb4723b1p-4
          + z * (-0x1.110c7a2e628c7p-4 + z * (0x1.e17289efd4282p-5 + z * (-0x1.ab80d403626f9p-5
          + z * (0x1.70fa501a78a4ap-5 + z * (-0x1.12551528f96d4p-5
          + z * 0x1.f25c53e5b69e8p-7)))))))))));
  /* From 0, or from pi where x is below 0; to pi / 2 where |y| is greater; pi / 4 where `far`. */
  const double side = math64_signed(1.0, x);
  const double turns = math64_either(far, math64_either(steep, -0.5, 0.0), -0.25);
  const double sign = math64_either(far ^ steep, side, -side);
  return math64_signed(math64_turn(0.5 + side * turns, t, sign), y);
}

/* ---- mod ---- */

INLINE bool math64_mod_easy(double x, double y) {
  const double a = fabs(x), b = fabs(y);
  return (b > 0x1p-900) & (b < 0x1p900) & (a < b * 0x1p22);
}

/* fmod, if the quotient is so small that its products with both halves of y are exact. */
INLINE double math64_mod_lane(double x, double y) {
  const double a = fabs(x), b = fabs(y), top = math64_half(b);
  const double n = (a / b + SHIFT) - SHIFT, r = (a - n * top) - n * (b - top);
  return math64_signed(r < 0.0 ? r + b : r, x);
}

#endif
