/* sin, cos, exp and log of f32, one lane at a time without branches, so that loops over
** them become vector code. They are evaluated in f64 by minimax polynomials (Remez,
** relative error below 2^-33), so that the only rounding that matters is the last one:
** within 0.51 ulp. Included after vector.h.
*/
#ifndef ECS_KERNEL_MATH32_H
#define ECS_KERNEL_MATH32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

static inline double of_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* x + SHIFT - SHIFT rounds |x| < 2^51 to an integer, whose low bits are those of x +
** SHIFT. */
#define SHIFT 0x1.8p52

/* Below this, k * (the high part of pi / 2) is exact for all quadrants k. */
#define REDUCIBLE 0x1p20

/* sin (quadrant 0) or cos (1) of r in [-pi/4, pi/4], further quadrants on; by bits, since
** SSE2 compares no 64-bit lanes. */
static inline double sin_part(double r, uint64_t quadrant) {
  const double z = r * r;
  const double s = r * (1.0 + z * (-0x1.5555554d9705fp-3 + z * (0x1.1111087120a8cp-7
                 + z * (-0x1.a00f33f4d706ap-13 + z * 0x1.6cb61b3efb386p-19))));
  const double c = 1.0 + z * (-0x1.ffffffd57cea0p-2 + z * (0x1.55553da80725cp-5
                 + z * (-0x1.6c07ec94c94f4p-10 + z * 0x1.9904fdca295d0p-16)));
  const uint64_t odd = 0 - (quadrant & 1);
  const uint64_t v = (bits_of(s) & ~odd) | (bits_of(c) & odd);
  return of_bits(v ^ ((quadrant & 2) << 62));
}

/* |x| < REDUCIBLE. Reduction by a two-part pi / 2 after W. Cody and W. Waite, "Software
** Manual for the Elementary Functions", 1980. */
static inline float sin_reduced(float xf, uint64_t quadrant) {
  const double x = (double)xf;
  const double t = x * 0x1.45f306dc9c883p-1 + SHIFT;
  const double k = t - SHIFT;
  const double r = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a626331p-34;
  return (float)sin_part(r, bits_of(t) + quadrant);
}

/* Any x. Large ones are multiplied by the bits of 2 / pi that matter to them, after M.
** Payne and R. Hanek, "Radian reduction for trigonometric functions", SIGNUM 18, 1983. */
static inline float sin_any(float xf, uint64_t quadrant) {
  static const uint32_t two_over_pi[9] = {
    0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561
  };
  if (fabsf(xf) < (float)REDUCIBLE) return sin_reduced(xf, quadrant);
  if (!(fabsf(xf) <= 0x1.fffffep127f)) return xf - xf;
  uint32_t u;
  memcpy(&u, &xf, sizeof u);
  const uint64_t m = (u & 0x7fffff) | 0x800000;
  const unsigned start = ((u >> 23) & 0xff) - 150 + 30;  /* |x| = m * 2^(start - 30) */
  const uint32_t *w = two_over_pi + start / 32;
  const unsigned off = start % 32;
  const uint64_t w2 = ((((uint64_t)w[0] << 32) | w[1]) << off) >> 32;
  const uint64_t w1 = ((((uint64_t)w[1] << 32) | w[2]) << off) >> 32;
  const uint64_t w0 = ((((uint64_t)w[2] << 32) | w[3]) << off) >> 32;
  const uint64_t p1 = m * w1 + ((m * w0) >> 32);
  const uint64_t v = ((m * w2 + (p1 >> 32)) << 32) | (p1 & 0xffffffff); /* 2^62: pi / 2 */
  const uint64_t q = (v >> 62) + ((v >> 61) & 1);
  const int64_t part = (int64_t)(v - (q << 62));
  const double r = (double)part * 0x1.921fb54442d18p-62;
  if (u >> 31)  /* sin is odd, cos is even */
    return (float)(quadrant ? sin_part(r, q + 1) : -sin_part(r, q));
  return (float)sin_part(r, q + quadrant);
}

static inline float exp_lane(float xf) {
  const double low = (double)xf < -150.0 ? -150.0 : (double)xf;
  const double x = low > 150.0 ? 150.0 : low;
  const double t = x * 0x1.71547652b82fep+0 + SHIFT;
  const double r = x - (t - SHIFT) * 0x1.62e42fefa39efp-1;
  const double p = 1.0 + r + r * r * (0x1.00000045d3223p-1 + r * (0x1.5555557459f9dp-3
                 + r * (0x1.55546fbbdb2cbp-5 + r * (0x1.1110ab11707d8p-7
                 + r * (0x1.6da824f6d6837p-10 + r * 0x1.a17eaca7ad323p-13)))));
  return (float)(p * of_bits((bits_of(t) - bits_of(SHIFT) + 1023) << 52));
}

static inline float log_lane(float xf) {
  const double x = (double)xf;
  const uint64_t bias = (uint64_t)1024 << 52;
  /* the exponent, plus 1024, and what is left in [sqrt 1/2, sqrt 2), minus 1 */
  const uint64_t up = ((bits_of(x) - 0x3fe6a09e667f3bcd) + bias) >> 52;
  const double e = of_bits(up | 0x4330000000000000) - (0x1p52 + 1024.0);
  const double f = of_bits(bits_of(x) - (up << 52) + bias) - 1.0;
  const double s = f / (2.0 + f), z = s * s;
  const double m = s * (2.0 + z * (0x1.55555506a2609p-1 + z * (0x1.999a7e5eadcc5p-2
                 + z * (0x1.24352f8ea8e64p-2 + z * 0x1.e3bdc63baa5c3p-3))));
  const float y = (float)(e * 0x1.62e42fefa39efp-1 + m);
  const float inside = xf < HUGE_VALF ? y : xf;
  const float edge = xf == 0.0f ? -HUGE_VALF : (float)NAN;
  return xf > 0.0f ? inside : edge;
}

#endif
