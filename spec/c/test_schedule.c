/* Systems whose functions are a host's: conditions, errors, when they are freed, changes while they
** run. Order and time are compared with a model by spec/random/random_model_spec.lua. C45, C48. */
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/schedule/schedule.h"
#include "fixture.h"

static struct fixture f;
static char ran[256];        /* the names of what ran, in order */
static double last_dt[26];   /* by the first letter of the name */
static int freed;

/* What a system does when it runs, by its ud. */
struct script {
  const char *name;
  ecs_status result;
  void (*then)(void);
};

static ecs_status run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const struct script *script = ud;
  (void)query;
  CHECK(world == f.world);
  size_t size = strlen(ran);
  snprintf(ran + size, sizeof ran - size, "%s", script->name);
  last_dt[script->name[0] - 'a'] = dt;
  if (script->then) script->then();
  return script->result;
}

static void count_free(void *ud) {
  (void)ud;
  freed++;
}

static ecs_system_desc describe(struct script *script) {
  return (ecs_system_desc){.name = script->name, .run = run, .free = count_free,
                           .ud = script};
}

static void open_schedule(void) {
  open_usual(&f);
  ran[0] = '\0';
  freed = 0;
  memset(last_dt, 0, sizeof last_dt);
}

static void add(ecs_system_desc desc) { CHECK_OK(f.world, ecs_system_new(f.world, &desc)); }

static void add_to(struct script *script, const char *phase) {
  ecs_system_desc desc = describe(script);
  desc.phase = phase;
  add(desc);
}

static void update(double dt) {
  ran[0] = '\0';
  CHECK_OK(f.world, ecs_update(f.world, dt));
}

static struct script a = {"a", ECS_OK, NULL}, b = {"b", ECS_OK, NULL},
                     c = {"c", ECS_OK, NULL}, d = {"d", ECS_OK, NULL};

/* ---- order ---- */

static void refuses_systems(void) {
  open_schedule();
  ecs_system_desc desc = describe(&a);
  desc.phase = "updat";
  CHECK_FAILS(f.world, ECS_ENAME, "unknown phase 'updat' (did you mean 'update'?)",
              ecs_system_new(f.world, &desc));
  desc = describe(&a);
  desc.name = "";
  CHECK_FAILS(f.world, ECS_EINVAL, "a system needs a name", ecs_system_new(f.world, &desc));
  desc.name = NULL;
  CHECK_FAILS(f.world, ECS_EINVAL, "a system needs a name", ecs_system_new(f.world, &desc));
  desc = describe(&a);
  desc.run = NULL;
  CHECK_FAILS(f.world, ECS_EINVAL, "'a' has no function to run", ecs_system_new(f.world, &desc));
  desc = describe(&a);
  desc.query = "Postion";
  CHECK_FAILS(f.world, ECS_ENAME, "did you mean 'Position'", ecs_system_new(f.world, &desc));
  update(1);
  CHECK_TEXT("", ran);
  CHECK_INTEGER(0, freed);
  close_world(&f);
}

static ecs_status when_status;

static ecs_status ask(ecs_world *world, void *ud, bool *run_it) {
  (void)ud;
  CHECK_STATUS(world, ECS_EBUSY, ecs_update(world, 0));
  CHECK_STATUS(world, ECS_EBUSY, ecs_run(world, "a", 0));
  *run_it = true;
  return when_status;
}

/* ---- errors ---- */

static char reported[64];

static void on_error(ecs_world *world, const char *system, ecs_status status, void *ud) {
  CHECK(ud == &f && world == f.world);
  CHECK_STATUS(world, ECS_EBUSY, ecs_update(world, 0));
  size_t size = strlen(reported);
  snprintf(reported + size, sizeof reported - size, "%s:%d ", system, (int)status);
}

static void spawn_and_write(void) {
  ecs_id id;
  CHECK_OK(f.world, ecs_spawn(f.world, &f.enemy, 1, &id));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  set_position(&f, f.a, 9, 9);
}

static void errors_reach_the_caller(void) {
  open_schedule();
  struct script bad = {"b", ECS_EUSER, spawn_and_write};
  f.a = SPAWN(f.world, f.position);
  add(describe(&a));
  add(describe(&bad));
  add(describe(&c));
  CHECK_STATUS(f.world, ECS_EUSER, ecs_update(f.world, 1));
  CHECK_TEXT("ab", ran);
  CHECK(ecs_alive(f.world, f.a) && get_position(&f, f.a).x == 9);
  CHECK_INTEGER(1, ecs_alive_count(f.world));
  CHECK_SOUND(f.world);
  bad.result = ECS_OK;
  update(1);
  CHECK_TEXT("abc", ran);
  CHECK(!ecs_alive(f.world, f.a));
  CHECK_INTEGER(1, count_of(f.world, "Enemy"));
  close_world(&f);
}

static void fail_inside(void) { CHECK_STATUS(f.world, ECS_EBUSY, ecs_update(f.world, 1)); }

/* What failed before is not why a system fails; one that says nothing is named all the same. */
static void errors_name_the_system(void) {
  open_schedule();
  struct script bad = {"a", ECS_EUSER, NULL};
  ecs_system_desc desc = describe(&bad);
  desc.when = ask;
  when_status = ECS_EUSER;
  add(desc);
  CHECK_FAILS(f.world, ECS_EUSER, "system 'a': run is not possible", ecs_update(f.world, 1));
  add(describe(&bad));
  for (int i = 0; i < 2; i++) {
    CHECK_FAILS(f.world, ECS_EINVAL, "commit without a defer", ecs_commit(f.world));
    CHECK_STATUS(f.world, ECS_EUSER, ecs_update(f.world, 1));
    CHECK_TEXT("system 'a': it failed with status 15", ecs_message(f.world));
  }
  bad.result = ECS_ENOMEM;
  CHECK_STATUS(f.world, ECS_ENOMEM, ecs_update(f.world, 1));
  CHECK_TEXT("system 'a': not enough memory", ecs_message(f.world));
  bad.result = ECS_OK;
  update(1);
  CHECK_TEXT("system 'a': not enough memory", ecs_message(f.world));
  CHECK_FAILS(f.world, ECS_EINVAL, "commit without a defer", ecs_commit(f.world));
  update(1);
  CHECK_TEXT("commit without a defer: call defer first", ecs_message(f.world));
  bad.then = fail_inside;
  bad.result = ECS_EUSER;
  CHECK_FAILS(f.world, ECS_EUSER, "system 'a': update is not possible", ecs_update(f.world, 1));
  close_world(&f);
}

/* One that has run out of memory counts as not having run; those behind it wait for their time. */
static void time_of_failed_updates(void) {
  open_schedule();
  struct script failing = {"a", ECS_ENOMEM, NULL};
  ecs_system_desc desc = describe(&failing);
  desc.every = 2;
  add(desc);
  add(describe(&b));
  add_to(&c, "render");
  update(1);
  ran[0] = '\0';
  CHECK_STATUS(f.world, ECS_ENOMEM, ecs_update(f.world, 2));
  CHECK_STATUS(f.world, ECS_ENOMEM, ecs_update(f.world, 4));
  CHECK_TEXT("aa", ran);
  failing.result = ECS_OK;
  update(0.5);
  CHECK_TEXT("abc", ran);
  CHECK(last_dt[0] == 0.5 && last_dt[1] == 6.5 && last_dt[2] == 6.5);
  failing.result = ECS_EINVAL;
  CHECK_STATUS(f.world, ECS_EINVAL, ecs_update(f.world, 3));
  failing.result = ECS_OK;
  update(2);
  CHECK(last_dt[0] == 2 && last_dt[1] == 5);
  close_world(&f);
}

static void errors_park(void) {
  open_schedule();
  struct script bad = {"b", ECS_ERANGE, NULL};
  ecs_on_error(f.world, on_error, &f);
  reported[0] = '\0';
  add(describe(&a));
  add(describe(&bad));
  add(describe(&c));
  update(1);
  CHECK_TEXT("abc", ran);
  update(1);
  CHECK_TEXT("ac", ran);
  CHECK_TEXT("b:6 ", reported);
  CHECK_FAILS(f.world, ECS_EINVAL, "system 'b' is parked", ecs_run(f.world, "b", 1));
  add(describe(&b));
  update(1);
  CHECK_TEXT("abc", ran);
  CHECK(last_dt[1] == 2);
  ecs_on_error(f.world, NULL, NULL);
  add(describe(&bad));
  CHECK_STATUS(f.world, ECS_ERANGE, ecs_update(f.world, 1));
  close_world(&f);
}

/* ---- changes while systems run ---- */

static void remove_all(void) {
  CHECK_OK(f.world, ecs_system_remove(f.world, "a"));
  CHECK_OK(f.world, ecs_system_remove(f.world, "b"));
  CHECK_OK(f.world, ecs_system_remove(f.world, "d"));
  CHECK_INTEGER(0, freed);
}

static void remove_while_running(void) {
  open_schedule();
  struct script removes = {"a", ECS_OK, remove_all};
  ecs_system_desc desc = describe(&removes);
  desc.query = "Position";
  add(desc);
  add(describe(&b));
  add(describe(&c));
  add_to(&d, "render");
  update(1);
  CHECK_TEXT("ac", ran);
  CHECK_INTEGER(3, freed);
  update(1);
  CHECK_TEXT("c", ran);
  close_world(&f);
}

static struct script fresh_a = {"a", ECS_OK, NULL}, fresh_b = {"b", ECS_OK, NULL};

static void replace_both(void) {
  ecs_system_desc desc = describe(&fresh_a);
  desc.query = "Velocity";
  add(desc);
  add(describe(&fresh_b));
  CHECK_INTEGER(0, freed);
}

static void replace_while_running(void) {
  open_schedule();
  struct script replaces = {"a", ECS_OK, replace_both};
  ecs_system_desc desc = describe(&replaces);
  desc.query = "Position";
  add(desc);
  add(describe(&b));
  update(1);
  CHECK_TEXT("ab", ran);
  CHECK_INTEGER(2, freed);
  update(1);
  CHECK_TEXT("ab", ran);
  CHECK(schedule_system(f.world, "b", 1)->ud == &fresh_b);
  close_world(&f);
  CHECK_INTEGER(4, freed);
}

static void ask_for_the_impossible(void) {
  size_t count;
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_update(f.world, 1));
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_run(f.world, "a", 1));
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_undeclare(f.world, f.position));
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_recycle_retired(f.world, &count));
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_phase(f.world, &(ecs_phase_desc){"p", 0, 0, 0}));
  CHECK_STATUS(f.world, ECS_EINVAL, ecs_commit(f.world));
  CHECK_STATUS(f.world, ECS_EINVAL, ecs_cancel(f.world));
}

static void refused_while_running(void) {
  open_schedule();
  struct script asks = {"a", ECS_OK, ask_for_the_impossible};
  add(describe(&asks));
  update(1);
  CHECK_TEXT("a", ran);
  close_world(&f);
}

static const struct test tests[] = {
  {"C45: a system that makes no sense is refused", refuses_systems},
  {"an error drops the commands and reaches the caller", errors_reach_the_caller},
  {"an error names its system, and nothing that failed before", errors_name_the_system},
  {"C48: a failed update loses no time of the systems behind", time_of_failed_updates},
  {"with on_error the system is parked and the others go on", errors_park},
  {"a system removed meanwhile does not run, and goes at the end", remove_while_running},
  {"a system replaced meanwhile goes at the end", replace_while_running},
  {"what cannot be done while systems run is refused", refused_while_running},
};

int main(void) { return RUN_TESTS(tests); }
