/* Comparing values x of a narrow type with a number y of a wider one without widening each
** x: y is replaced by a limit of the narrow type, with which every x compares as with y.
**
**   x < y, x >= y   x < up(y), x >= up(y)       the least that is not below y
**   x <= y, x > y   x <= down(y), x > down(y)   the greatest that is not above y
**   x == y, x ~= y  x == same(y), x ~= same(y)  y itself; NaN when there is no such value
*/
#ifndef ECS_KERNEL_LIMIT_H
#define ECS_KERNEL_LIMIT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef enum k_limit { LIMIT_UP, LIMIT_DOWN, LIMIT_SAME, LIMITS } k_limit;

/* The next greater float. */
static inline float next_f32(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  u = x == 0.0f ? 1 : x > 0.0f ? u + 1 : u - 1;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* The next greater double. */
static inline double next_f64(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  u = x == 0.0 ? 1 : x > 0.0 ? u + 1 : u - 1;
  memcpy(&x, &u, sizeof x);
  return x;
}

static inline float up_f32(double y) {
  const float x = (float)y;
  return (double)x < y ? next_f32(x) : x;
}

static inline float down_f32(double y) {
  return -up_f32(-y);
}

static inline float same_f32(double y) {
  const float x = (float)y;
  return (double)x == y ? x : NAN;
}

/* The sign of x - y, where x is one of the two doubles around y, or y. */
static inline int order_f64(double x, int64_t y) {
  if (x >= 0x1p63) return 1;
  return (int64_t)x < y ? -1 : (int64_t)x > y;
}

static inline double up_f64(int64_t y) {
  const double x = (double)y;
  return order_f64(x, y) < 0 ? next_f64(x) : x;
}

static inline double down_f64(int64_t y) {
  const double x = (double)y;
  return order_f64(x, y) > 0 ? -next_f64(-x) : x;
}

static inline double same_f64(int64_t y) {
  const double x = (double)y;
  return order_f64(x, y) == 0 ? x : (double)NAN;
}

#endif
