#include "core/base/stopwatch.h"

#define TRIES 4
#define AT_ONCE 4096           /* most ticks between two readings that nothing interrupted */

uint64_t stopwatch_nanoseconds(void) { return (uint64_t)(clock_seconds() * 1e9) | 1; }

/* Processors with AVX2 count at a constant rate, whatever their speed. Asking for just that
** property takes some microseconds on a virtual machine. */
struct stopwatch stopwatch_new(void) {
  struct stopwatch watch = {.counts = false};
#if STOPWATCH_COUNTS
  watch.counts = __builtin_cpu_supports("avx2") != 0;
#endif
  return watch;
}

/* Reads the counter and the clock together; again if the thread was interrupted in between. */
static uint64_t stopwatch_calibrate(const struct stopwatch *watch, double *seconds) {
  uint64_t before = 0, after = 0;
  for (uint32_t i = 0; i < TRIES; i++) {
    before = stopwatch_read(watch);
    *seconds = clock_seconds();
    after = stopwatch_read(watch);
    if (after - before < AT_ONCE) break;
  }
  return after;
}

/* Computes a tick from the time since the last reading; keeps the known value if no time has
** passed. */
static double stopwatch_tick_by(const struct stopwatch *watch, uint64_t ticks, double seconds) {
  bool later = watch->ticks && ticks > watch->ticks && seconds > watch->seconds;
  return later ? (seconds - watch->seconds) / (double)(ticks - watch->ticks) : watch->tick;
}

void stopwatch_look(struct stopwatch *watch) {
  double seconds;
  if (!watch->counts) return;
  uint64_t ticks = stopwatch_calibrate(watch, &seconds);
  watch->tick = stopwatch_tick_by(watch, ticks, seconds);
  watch->ticks = ticks;
  watch->seconds = seconds;
  assert(watch->ticks > 0 && watch->tick >= 0);
}

double stopwatch_tick(const struct stopwatch *watch) {
  double seconds;
  if (!watch->counts) return 1e-9;
  if (watch->tick > 0) return watch->tick;
  uint64_t ticks = stopwatch_calibrate(watch, &seconds);
  return stopwatch_tick_by(watch, ticks, seconds);
}
