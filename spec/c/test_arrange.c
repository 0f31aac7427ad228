/* The order of systems, against the rule itself: of those that wait for nobody the one that was
** registered first. C46. */
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/schedule/schedule.h"
#include "fixture.h"

#define SYSTEMS 12u
#define NAMES 2u

static struct fixture f;

static const char *const names[SYSTEMS] = {"a", "b", "c", "d", "e", "f",
                                           "g", "h", "i", "j", "k", "l"};
static const char *const phases[] = {"update", "render"};

/* A system as it is to be. */
struct known {
  bool there, placed;
  unsigned phase, registered;
  const char *before[NAMES + 1], *after[NAMES + 1];
};

static struct known known[SYSTEMS];
static unsigned next_registered;
static uint64_t state;

static unsigned random_below(unsigned n) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(state >> 33) % n;
}

static bool lists(const char *const *list, const char *name) {
  for (; *list; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

static bool precedes(const struct known *first, const struct known *second) {
  return lists(first->before, names[second - known]) || lists(second->after, names[first - known]);
}

static bool waits(const struct known *of) {
  for (unsigned i = 0; i < SYSTEMS; i++) {
    const struct known *other = &known[i];
    if (other->there && !other->placed && other->phase == of->phase && precedes(other, of))
      return true;
  }
  return false;
}

/* Writes the names in order; false when there is none. */
static bool order(char *out) {
  *out = '\0';
  for (unsigned i = 0; i < SYSTEMS; i++) known[i].placed = false;
  for (unsigned phase = 0; phase < 2;) {
    struct known *next = NULL;
    bool left = false;
    for (unsigned i = 0; i < SYSTEMS; i++) {
      struct known *at = &known[i];
      if (!at->there || at->placed || at->phase != phase) continue;
      left = true;
      if (!waits(at) && (!next || at->registered < next->registered)) next = at;
    }
    if (!next && left) return false;
    if (!next) {
      phase++;
      continue;
    }
    next->placed = true;
    strcat(out, names[next - known]);
  }
  return true;
}

static ecs_status run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_OK;
}

static void some_names(const char **list) {
  unsigned count = random_below(8) ? random_below(2) : NAMES;
  for (unsigned i = 0; i < count; i++) list[i] = names[random_below(SYSTEMS)];
  list[count] = NULL;
}

static void try_register(unsigned at) {
  struct known was = known[at], *to = &known[at];
  char text[SYSTEMS + 1];
  to->phase = random_below(6) == 0;
  if (!was.there) to->registered = next_registered++;
  to->there = true;
  if (!was.there || random_below(2)) {
    some_names(to->before);
    some_names(to->after);
  }
  ecs_system_desc desc = {.name = names[at], .run = run, .phase = phases[to->phase],
                          .before = to->before, .after = to->after};
  bool possible = order(text);
  CHECK_STATUS(f.world, possible ? ECS_OK : ECS_ECYCLE, ecs_system_new(f.world, &desc));
  if (!possible) *to = was;
}

static void change_one(void) {
  unsigned at = random_below(SYSTEMS);
  if (!known[at].there || random_below(3)) {
    try_register(at);
  } else {
    CHECK_OK(f.world, ecs_system_remove(f.world, names[at]));
    known[at].there = false;
  }
}

static void orders_by_the_rule(void) {
  long seeds = by_scale(100, 400, 4000);
  for (long seed = 1; seed <= seeds && check_failures() == 0; seed++) {
    check_context("seed %ld", seed);
    state = (uint64_t)seed * 7919;
    memset(known, 0, sizeof known);
    open_world(&f);
    for (int i = 0; i < 40 && check_failures() == 0; i++) {
      char wanted[SYSTEMS + 1], got[SYSTEMS + 1] = "";
      change_one();
      CHECK(order(wanted));
      for (uint32_t j = 0; j < f.world->schedule->system_count; j++)
        strcat(got, f.world->schedule->systems[j]->name);
      CHECK_TEXT(wanted, got);
      CHECK_SOUND(f.world);
    }
    close_world(&f);
  }
  check_context(NULL);
}

/* Those that were registered first wait for those that come later. */
static void orders_what_waits_for_the_next(void) {
  enum { COUNT = 300 };
  open_world(&f);
  for (int i = 0; i < COUNT; i++) {
    char name[16], next[16];
    snprintf(name, sizeof name, "s%d", i);
    snprintf(next, sizeof next, "s%d", i + 1);
    const char *list[] = {next, NULL};
    CHECK_OK(f.world, ecs_system_new(f.world, &(ecs_system_desc){.name = name, .run = run,
                                                                 .after = list}));
  }
  CHECK_TEXT("s299", f.world->schedule->systems[0]->name);
  CHECK_TEXT("s0", f.world->schedule->systems[COUNT - 1]->name);
  const char *list[] = {"s0", NULL};
  CHECK_FAILS(f.world, ECS_ECYCLE, "s300 -> s299",
              ecs_system_new(f.world, &(ecs_system_desc){.name = "s300", .run = run,
                                                         .after = list}));
  CHECK_INTEGER(COUNT, f.world->schedule->system_count);
  close_world(&f);
}

static const struct test tests[] = {
  {"C46: whatever is registered, replaced and removed, the order is that of the rule",
   orders_by_the_rule},
  {"systems wait for those that are registered later", orders_what_waits_for_the_next},
};

int main(void) { return RUN_TESTS(tests); }
