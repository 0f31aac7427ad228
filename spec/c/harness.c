#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int failures;
static char context[256];

void check_context(const char *format, ...) {
  context[0] = '\0';
  if (!format) return;
  va_list args;
  va_start(args, format);
  vsnprintf(context, sizeof context, format, args);
  va_end(args);
}

/* Only the first failures of a test are printed: a broken sweep has thousands. */
static bool fail(const char *file, int line) {
  failures++;
  if (failures > 20) return false;
  printf("# %s:%d: %s%s", file, line, context, context[0] ? ": " : "");
  return true;
}

bool check_that(bool holds, const char *text, const char *file, int line) {
  if (!holds && fail(file, line)) printf("%s does not hold\n", text);
  return holds;
}

static const char *status_name(ecs_status status) {
  static const char *const names[] = {
    "ECS_OK", "ECS_ENOMEM", "ECS_ELIMIT", "ECS_EINVAL", "ECS_ENAME", "ECS_ETYPE",
    "ECS_ERANGE", "ECS_EDEAD", "ECS_EUNBORN", "ECS_EWORLD", "ECS_ENOID", "ECS_ETAKEN",
    "ECS_EBUSY", "ECS_ECYCLE", "ECS_EABSENT", "ECS_EUSER", "ECS_ECORRUPT"
  };
  return (size_t)status < sizeof names / sizeof *names ? names[status] : "no status";
}

bool check_status(ecs_status got, ecs_status wanted, const ecs_world *world,
                  const char *text, const char *file, int line) {
  if (got == wanted) return true;
  if (fail(file, line))
    printf("%s gives %s (%s), not %s\n", text, status_name(got),
           world ? ecs_message(world) : "no world", status_name(wanted));
  return false;
}

bool check_integer(long long got, long long wanted, const char *text, const char *file,
                   int line) {
  if (got == wanted) return true;
  if (fail(file, line)) printf("%s is %lld, not %lld\n", text, got, wanted);
  return false;
}

bool check_same_text(const char *got, const char *wanted, const char *text, const char *file,
                int line) {
  bool same = got && wanted ? strcmp(got, wanted) == 0 : got == wanted;
  if (!same && fail(file, line))
    printf("%s is \"%s\", not \"%s\"\n", text, got ? got : "NULL", wanted ? wanted : "NULL");
  return same;
}

bool check_says(const char *got, const char *wanted, const char *text, const char *file,
                int line) {
  bool there = strstr(got, wanted) != NULL;
  if (!there && fail(file, line)) printf("%s says \"%s\", not \"%s\"\n", text, got, wanted);
  return there;
}

long by_scale(long small, long normal, long deep) {
  const char *scale = getenv("ECS_SPEC_SCALE");
  if (scale && strcmp(scale, "small") == 0) return small;
  if (scale && strcmp(scale, "deep") == 0) return deep;
  return normal;
}

int check_failures(void) { return failures; }

void begin_test(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  failures = 0;
  check_context(NULL);
}

int end_test(const char *name) {
  static int number;
  if (failures > 20) printf("# ... %d checks failed\n", failures);
  printf("%sok %d - %s\n", failures ? "not " : "", ++number, name);
  return failures != 0;
}

int run_tests(const struct test *tests, size_t count) {
  int bad = 0;
  for (size_t i = 0; i < count; i++) {
    begin_test();
    tests[i].run();
    bad |= end_test(tests[i].name);
  }
  return bad;
}
