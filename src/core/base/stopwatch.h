/* Timing what is short: to ask the clock how late it is takes longer than many systems do. A
** processor's own counter takes a third of that; how long its ticks are is found out beside. */
#ifndef ECS_CORE_BASE_STOPWATCH_H
#define ECS_CORE_BASE_STOPWATCH_H

#include "core/base/clock.h"

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#define STOPWATCH_COUNTS 1
#else
#define STOPWATCH_COUNTS 0
#endif

/* Ticks of it that may pass until the length of one is looked at again: less than a second. The
** counter goes on while a machine sleeps, and the clock does not: what was found before may be
** wrong then. */
#define STOPWATCH_WINDOW ((uint64_t)1 << 28)

struct stopwatch {
  bool counts;                 /* by the processor's counter; else in nanoseconds of the clock */
  uint64_t ticks;              /* when the clock was looked at last; 0: not yet */
  double seconds;              /* what it said then */
  double tick;                 /* how long one is, as far as that was known; or 0 */
};

/* One that has not looked at the clock. */
struct stopwatch stopwatch_new(void);

/* Looks at the clock. */
void stopwatch_look(struct stopwatch *watch);

/* The clock, by ticks. */
uint64_t stopwatch_nanoseconds(void);

/* Ticks since any time, never 0. */
static inline uint64_t stopwatch_read(const struct stopwatch *watch) {
#if STOPWATCH_COUNTS
  if (LIKELY(watch->counts)) return __builtin_ia32_rdtsc() | 1;
#else
  (void)watch;
#endif
  return stopwatch_nanoseconds();
}

/* The time where something begins: looks first whether ticks are still to be trusted. */
static inline uint64_t stopwatch_start(struct stopwatch *watch) {
  uint64_t now = stopwatch_read(watch);
  if (UNLIKELY(now - watch->ticks > STOPWATCH_WINDOW)) stopwatch_look(watch);
  return now;
}

/* From a reading to a later one. Counters of two processors may differ a little. */
static inline uint64_t stopwatch_between(uint64_t start, uint64_t end) {
  return LIKELY(end > start) ? end - start : 0;
}

/* Seconds of a tick, as far as that is known: not always the same. */
double stopwatch_tick(const struct stopwatch *watch);

#endif
