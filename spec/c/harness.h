/* What every C test stands on. A test is a function; checks that fail are printed and counted
** and the test goes on, so that one run shows all of them. Output is TAP. */
#ifndef SPEC_CHECK_H
#define SPEC_CHECK_H

#include "ecs.h"

struct test {
  const char *name;   /* a sentence that is true when the test passes */
  void (*run)(void);
};

/* Runs all and prints a line for each; the exit status of main. */
int run_tests(const struct test *tests, size_t count);
#define RUN_TESTS(tests) run_tests(tests, sizeof(tests) / sizeof *(tests))

/* For tests that are not functions of their own; end_test prints the line, 0 when it passed. */
void begin_test(void);
int end_test(const char *name);

/* How many checks of this test have failed so far. */
int check_failures(void);

/* Says on which case a check fails, until the next call; NULL: none. */
#if defined(__GNUC__) && !defined(_WIN32)
__attribute__((format(printf, 1, 2)))
#endif
void check_context(const char *format, ...);

bool check_that(bool holds, const char *text, const char *file, int line);
bool check_status(ecs_status got, ecs_status wanted, const ecs_world *world,
                  const char *text, const char *file, int line);
bool check_integer(long long got, long long wanted, const char *text, const char *file,
                   int line);
bool check_same_text(const char *got, const char *wanted, const char *text, const char *file,
                int line);
/* Whether `got` holds the wanted words. */
bool check_says(const char *got, const char *wanted, const char *text, const char *file,
                int line);

/* A condition. */
#define CHECK(condition) check_that(condition, #condition, __FILE__, __LINE__)
/* A status, with the world's message when it is another. */
#define CHECK_STATUS(world, wanted, call) \
  check_status(call, wanted, world, #call, __FILE__, __LINE__)
#define CHECK_OK(world, call) CHECK_STATUS(world, ECS_OK, call)
#define CHECK_INTEGER(wanted, got) \
  check_integer((long long)(got), (long long)(wanted), #got, __FILE__, __LINE__)
#define CHECK_TEXT(wanted, got) check_same_text(got, wanted, #got, __FILE__, __LINE__)
/* A failing call, its status and words of its message. */
#define CHECK_FAILS(world, wanted, words, call)                              \
  (check_status(call, wanted, world, #call, __FILE__, __LINE__),             \
   check_says(ecs_message(world), words, #call, __FILE__, __LINE__))
#define CHECK_SOUND(world) CHECK_STATUS(world, ECS_OK, ecs_check(world))

/* "small", "normal" or "deep" (ECS_SPEC_SCALE) picks one of three counts. */
long by_scale(long small, long normal, long deep);

#endif
