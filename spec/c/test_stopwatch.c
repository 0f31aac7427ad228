/* Stopwatches against the clock, by the processor's counter where it has one, and without. */
#include "core/base/stopwatch.h"
#include "harness.h"

static void wait(double seconds) {
  double end = clock_seconds() + seconds;
  while (clock_seconds() < end) continue;
}

/* Waits between two readings; what the clock says around them, and inside, bounds what they say. */
static void check_wait(struct stopwatch *watch, bool look) {
  double outer = clock_seconds();
  uint64_t start = stopwatch_start(watch);
  double inner = clock_seconds();
  wait(0.02);
  if (look) stopwatch_look(watch);
  inner = clock_seconds() - inner;
  uint64_t end = stopwatch_read(watch);
  outer = clock_seconds() - outer;
  double seconds = stopwatch_tick(watch) * (double)stopwatch_between(start, end);
  CHECK(start > 0 && end > start);
  CHECK(seconds > 0.98 * inner && seconds < 1.02 * outer);
}

static void times_as_the_clock(void) {
  struct stopwatch watch = stopwatch_new();
  for (int i = 0; i < 4; i++) check_wait(&watch, i % 2 == 1);
}

static void times_without_a_counter(void) {
  struct stopwatch watch = stopwatch_new();
  watch.counts = false;
  for (int i = 0; i < 2; i++) check_wait(&watch, i % 2 == 1);
}

/* As where a machine has slept, so that a tick seems to have been short. */
static void learns_anew(void) {
  struct stopwatch watch = stopwatch_new();
  stopwatch_look(&watch);
  wait(0.02);
  stopwatch_look(&watch);
  watch.tick /= 1000;
  watch.ticks -= STOPWATCH_WINDOW;
  watch.seconds = 0;
  stopwatch_start(&watch);
  check_wait(&watch, true);
}

static void never_goes_back(void) {
  CHECK_INTEGER(0, stopwatch_between(7, 5));
  CHECK_INTEGER(2, stopwatch_between(5, 7));
}

static const struct test tests[] = {
  {"a stopwatch times as the clock does", times_as_the_clock},
  {"it does where the processor has no counter that is even", times_without_a_counter},
  {"how long a tick is is found out anew", learns_anew},
  {"no time is less than none", never_goes_back},
};

int main(void) { return RUN_TESTS(tests); }
