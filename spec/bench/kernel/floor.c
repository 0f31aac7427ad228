/* The fused loops that kernels are measured against: the statements of performance.md
** over the same columns. Compiled once per instruction set, with -O3 -fno-math-errno
** -fno-trapping-math -ffp-contract=off, the set's -m flags and -DFLOOR=<name>.
*/
#include "floor.h"

#include <math.h>

#define PASTE(a, b) a##_##b
#define NAME(a, b) PASTE(a, b)
#define COLUMN float *restrict

static void move(float *const *c, size_t n, const double *u) {
  COLUMN px = c[0];
  COLUMN py = c[1];
  const COLUMN vx = c[2];
  const COLUMN vy = c[3];
  const float dt = (float)u[0];
  for (size_t i = 0; i < n; i++) {
    px[i] = px[i] + vx[i] * dt;
    py[i] = py[i] + vy[i] * dt;
  }
}

static void part(float *const *c, size_t n, const double *uniform) {
  COLUMN px = c[0];
  COLUMN py = c[1];
  COLUMN vx = c[2];
  COLUMN vy = c[3];
  COLUMN left = c[4];
  const float dt = (float)uniform[0], gdt = (float)uniform[1], ddt = (float)uniform[2];
  const float w = (float)uniform[3];
  for (size_t i = 0; i < n; i++) {
    float v = vy[i] - gdt, u = vx[i];
    const float k = 1.0f / (1.0f + ddt * sqrtf(u * u + v * v));
    u = u * k;
    v = v * k;
    const float x = px[i] + u * dt, y = py[i] + v * dt;
    px[i] = x;
    py[i] = y;
    vx[i] = x > w ? -u : u;
    vy[i] = y < 0.0f ? -v : v;
    left[i] = left[i] - dt;
  }
}

static void seek(float *const *c, size_t n, const double *uniform) {
  COLUMN px = c[0];
  COLUMN py = c[1];
  COLUMN vx = c[2];
  COLUMN vy = c[3];
  const float dt = (float)uniform[0], tx = (float)uniform[1], ty = (float)uniform[2];
  const float k = (float)uniform[3], m = (float)uniform[4], mm = (float)uniform[5];
  const float w = (float)uniform[6], h = (float)uniform[7];
  for (size_t i = 0; i < n; i++) {
    float x = px[i], y = py[i], u = vx[i], v = vy[i];
    const float dx = tx - x, dy = ty - y;
    const float s = k / sqrtf(dx * dx + dy * dy + 0.001f);
    u = u + dx * s * dt;
    v = v + dy * s * dt;
    const float q = u * u + v * v;
    const float r = m / sqrtf(q);
    u = q > mm ? u * r : u;
    v = q > mm ? v * r : v;
    x = x + u * dt;
    y = y + v * dt;
    u = x > w ? -u : u;
    x = x > w ? w : x;
    u = x < 0.0f ? -u : u;
    x = x < 0.0f ? 0.0f : x;
    v = y > h ? -v : v;
    y = y > h ? h : y;
    v = y < 0.0f ? -v : v;
    y = y < 0.0f ? 0.0f : y;
    px[i] = x;
    py[i] = y;
    vx[i] = u;
    vy[i] = v;
  }
}

static void twice(float *const *c, size_t n, const double *uniform) {
  COLUMN px = c[0];
  (void)uniform;
  for (size_t i = 0; i < n; i++) px[i] = px[i] * 2.0f;
}

const floor_fn NAME(floors, FLOOR)[FLOORS] = {move, part, seek, twice};
