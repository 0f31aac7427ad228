/* Timing of short runs: reading the clock takes longer than many systems do. A processor's own
** counter takes a third of that; the length of its ticks is measured on the side. */
#ifndef ECS_CORE_BASE_STOPWATCH_H
#define ECS_CORE_BASE_STOPWATCH_H

#include "core/base/clock.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define STOPWATCH_COUNTS 1
#else
#define STOPWATCH_COUNTS 0
#endif

/* Ticks after which the length of one is measured again: less than a second. The counter goes on
** while a machine sleeps, but the clock does not, so an old measurement may be wrong. */
#define STOPWATCH_WINDOW ((uint64_t)1 << 28)

struct stopwatch {
  bool counts;                 /* the processor's counter; otherwise nanoseconds of the clock */
  uint64_t ticks;              /* at the last reading of the clock; 0: none */
  double seconds;              /* of that reading */
  double tick;                 /* length of one, as far as known; or 0 */
};

/* A stopwatch that has not read the clock. */
struct stopwatch stopwatch_new(void);

/* Reads the clock. */
void stopwatch_look(struct stopwatch *watch);

/* The clock in nanoseconds, computed from ticks. */
uint64_t stopwatch_nanoseconds(void);

/* Ticks since an arbitrary time, never 0. */
static inline uint64_t stopwatch_read(const struct stopwatch *watch) {
#if STOPWATCH_COUNTS
  if (LIKELY(watch->counts)) return __builtin_ia32_rdtsc() | 1;
#else
  (void)watch;
#endif
  return stopwatch_nanoseconds();
}

/* The time when something begins; first checks whether ticks can still be trusted. */
static inline uint64_t stopwatch_start(struct stopwatch *watch) {
  uint64_t now = stopwatch_read(watch);
  if (UNLIKELY(now - watch->ticks > STOPWATCH_WINDOW)) stopwatch_look(watch);
  return now;
}

/* Ticks from a reading to a later one. The counters of two processors may differ a little. */
static inline uint64_t stopwatch_between(uint64_t start, uint64_t end) {
  return LIKELY(end > start) ? end - start : 0;
}

/* The length of a tick in seconds, as far as known: it may change. */
double stopwatch_tick(const struct stopwatch *watch);

#endif
