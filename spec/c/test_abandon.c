/* Functions of hosts that are left by longjmp, and ecs_abandon, after which a world is as it was
** before. C18, C50, C60. */
#include <setjmp.h>
#include <string.h>

#include "core/command/watch.h"
#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;
static jmp_buf boundary;
static bool leaves;                 /* else functions return */
static void (*work)(void);          /* what they do before */
static int calls, frees;
static size_t sights;               /* that observers were shown */
static ecs_id likes, hit;
static ecs_index *by_x;

static ecs_status leave(void) {
  calls++;
  if (work) work();
  if (leaves) longjmp(boundary, 1);
  return ECS_OK;
}

static ecs_status run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  CHECK(world == f.world);
  f.query = query;
  (void)dt, (void)ud;
  return leave();
}

static ecs_status run_reading(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)dt, (void)ud;
  CHECK(query == NULL);
  return leave();
}

static ecs_status observe(ecs_world *world, ecs_sight *sight, void *ud) {
  (void)world, (void)ud;
  while (ecs_sight_next(sight)) sights++;
  return leave();
}

static ecs_status ask(ecs_world *world, void *ud, bool *wanted) {
  (void)world, (void)ud;
  *wanted = false;
  return leave();
}

static ecs_status fail(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  return ECS_EINVAL;
}

static void handle(ecs_world *world, const char *system, ecs_status status, void *ud) {
  (void)world, (void)system, (void)ud;
  CHECK_INTEGER(ECS_EINVAL, status);
  (void)leave();
}

static ecs_status key_of(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  const float *x = ecs_index_column(index, 0, 0);
  (void)ud;
  *key = (ecs_value){.kind = ECS_KIND_NUMBER, .number = x[row]};
  return row == 1 ? leave() : ECS_OK;
}

static void count_free(void *ud) { frees += ud == &f; }

/* ---- worlds ---- */

static void declare_rest(void) {
  static const ecs_field fields[] = {{.name = "who", .type = ECS_ENTITY}};
  ecs_component_desc desc = {.name = "Likes"};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &likes));
  desc = (ecs_component_desc){.name = "Hit", .fields = fields, .field_count = 1};
  CHECK_OK(f.world, ecs_event(f.world, &desc, &hit));
}

static void open_left(void) {
  open_usual(&f);
  declare_rest();
  for (int i = 0; i < 8; i++) {
    f.ids[i] = SPAWN(f.world, f.position, i % 2 ? f.velocity : f.frozen);
    set_position(&f, f.ids[i], (float)i, 0);
  }
  CHECK_OK(f.world, ecs_name(f.world, f.ids[0], "first"));
  ecs_id parent;
  CHECK_OK(f.world, ecs_child_of(f.world, &parent));
  for (int i = 1; i < 8; i++)
    CHECK_OK(f.world, ecs_add(f.world, f.ids[i], ecs_pair(parent, f.ids[i / 2])));
  leaves = false;
  work = NULL;
  calls = frees = 0;
}

static void add_system(const char *name, const char *query, ecs_run_fn fn) {
  ecs_system_desc desc = {.name = name, .query = query, .run = fn, .free = count_free, .ud = &f};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
}

/* Changes of all kinds, at several depths of scopes. */
static void defer_all(void) {
  struct hit { ecs_id who; } value = {f.ids[1]};
  ecs_id made;
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[7]));
  CHECK_OK(f.world, ecs_defer(f.world));
  made = SPAWN(f.world, f.health, f.label);
  CHECK_OK(f.world, ecs_set(f.world, made, f.label, &(struct label){text_of("of a scope")}));
  CHECK_OK(f.world, ecs_name(f.world, made, "made"));
  CHECK_OK(f.world, ecs_name(f.world, f.ids[0], "renamed"));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[2], ecs_pair(likes, made)));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[3], f.velocity));
  for (int i = 0; i < 100; i++) CHECK_OK(f.world, ecs_emit(f.world, hit, &value));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_OK(f.world, ecs_spawn_many(f.world, 20, &f.enemy, 1, NULL));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[4], f.enemy));
}

/* Calls what is left on the way. */
static void get_left(void (*act)(void)) {
  leaves = true;
  if (setjmp(boundary) == 0) {
    act();
    CHECK(!leaves);   /* it came back */
  }
  leaves = false;
}

static bool count_bytes(void *ud, const void *data, size_t size) {
  *(size_t *)ud += data ? size : 0;
  return true;
}

/* The world can do all that a world can. */
static void check_usable(void) {
  ecs_snapshot *snapshot = NULL;
  size_t bytes = 0;
  ecs_id id;
  CHECK_SOUND(f.world);
  CHECK_OK(f.world, ecs_save(f.world, count_bytes, &bytes, NULL));
  CHECK(bytes > 0);
  CHECK_INTEGER(f.alloc.bytes, ecs_bytes(f.world));
  CHECK_OK(f.world, ecs_snapshot_new(f.world, &snapshot));
  CHECK_OK(f.world, ecs_update(f.world, 1));
  id = SPAWN(f.world, f.position, f.health);
  set_position(&f, id, 1, 2);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_FAILS(f.world, ECS_EBUSY, "form or defer", ecs_update(f.world, 1));
  CHECK(!strstr(ecs_message(f.world), "is running"));
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[5]));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK(!ecs_alive(f.world, f.ids[5]) && ecs_alive(f.world, id));
  CHECK_OK(f.world, ecs_restore(snapshot));
  ecs_snapshot_free(snapshot);
  CHECK(ecs_alive(f.world, f.ids[5]));
  CHECK_SOUND(f.world);
}

/* Left three times, with the same digest as before, and no more memory than the time before.
** `words` are in the message of what is refused then. */
static void check_left(void (*act)(void), const char *words) {
  uint64_t before = ecs_digest(f.world), content = world_content(f.world);
  size_t bytes = 0;
  for (int i = 0; i < 3; i++) {
    calls = 0;
    get_left(act);
    CHECK_INTEGER(1, calls);
    CHECK_FAILS(f.world, ECS_EBUSY, words, ecs_update(f.world, 1));
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK(ecs_digest(f.world) == before);
    CHECK(world_content(f.world) == content);
    CHECK_SOUND(f.world);
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK(ecs_digest(f.world) == before);
    if (i == 2) CHECK_INTEGER(bytes, f.alloc.bytes);
    bytes = f.alloc.bytes;
  }
  work = NULL;
  check_usable();
}

/* ---- systems ---- */

static void update(void) { (void)ecs_update(f.world, 1); }
static void run_a(void) { (void)ecs_run(f.world, "a", 1); }

static void by_systems(void) {
  for (int i = 0; i < 4; i++) {
    open_left();
    work = i % 2 ? defer_all : NULL;
    add_system("a", NULL, run);
    check_left(i < 2 ? update : run_a, "inside a system, a function form or defer: system 'a' is "
               "running (if a longjmp or an exception left a host's function, the host must "
               "call ecs_abandon)");
    CHECK_INTEGER(0, frees);
    close_world(&f);
  }
}

static void by_conditions(void) {
  open_left();
  ecs_system_desc desc = {.name = "a", .run = run, .when = ask};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  check_left(update, "system 'a' is running");
  work = defer_all;
  get_left(update);
  CHECK_OK(f.world, ecs_abandon(f.world));
  work = NULL;
  check_usable();
  close_world(&f);
}

static void by_who_handles_errors(void) {
  open_left();
  ecs_on_error(f.world, handle, NULL);
  for (int i = 0; i < 2; i++) {
    add_system("a", NULL, fail);
    uint64_t before = ecs_digest(f.world);
    work = i ? defer_all : NULL;
    get_left(update);
    CHECK_FAILS(f.world, ECS_EBUSY, "the host must call ecs_abandon", ecs_update(f.world, 1));
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK(ecs_digest(f.world) == before);
    work = NULL;
    check_usable();
  }
  close_world(&f);
}

/* Goes through its own query, and another one. */
static void go_through_all(void) {
  static ecs_iter own, left;
  CHECK_OK(f.world, ecs_iter_open(f.query, &own));
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &left));
  (void)ecs_iter_next(&left);
  defer_all();
}

/* Counts the rows of the system's query. */
static void count_rows(void) {
  ecs_iter it;
  size_t count = 0;
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  while (ecs_iter_next(&it)) count += it.count;
  CHECK_OK(f.world, ecs_iter_close(&it));
  calls = (int)count;
}

/* What was new to the system is known, as when it fails; what comes then is new. */
static void knows_what_was_new(void) {
  open_left();
  ecs_query *news = new_query(f.world, "Position:changed");
  f.it.query = news;
  add_system("a", "Position:changed:in", run);
  for (int i = 0; i < 2; i++) {
    work = go_through_all;
    get_left(update);
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK_SOUND(f.world);
    CHECK_INTEGER(0, ecs_query_count(news));
    work = count_rows;
    CHECK_OK(f.world, ecs_update(f.world, 1));
    CHECK_INTEGER(0, calls);
    set_position(&f, f.ids[0], 7, 7);
    CHECK_INTEGER(1, ecs_query_count(news));
  }
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_INTEGER(1, calls);
  check_usable();
  close_world(&f);
}

/* Events that it has emitted are gone; those that it has read are read. */
static void drops_events(void) {
  open_left();
  f.query = f.it.query = new_query(f.world, "Hit");
  CHECK_OK(f.world, ecs_emit(f.world, hit, &f.ids[0]));
  ecs_system_desc desc = {.name = "a", .reads = f.query, .run = run_reading};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  uint64_t before = ecs_digest(f.world);
  work = go_through_all;
  for (int i = 0; i < 2; i++) {
    get_left(run_a);
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK(ecs_digest(f.world) == before);
  }
  CHECK_OK(f.world, ecs_emit(f.world, hit, &f.ids[0]));
  CHECK_INTEGER(2, ecs_query_count(f.query));
  count_rows();
  CHECK_INTEGER(2, calls);
  work = count_rows;
  CHECK_OK(f.world, ecs_run(f.world, "a", 1));
  CHECK_INTEGER(1, calls);
  check_usable();
  close_world(&f);
}

static void remove_all(void) {
  CHECK_OK(f.world, ecs_system_remove(f.world, "a"));
  CHECK_OK(f.world, ecs_system_remove(f.world, "b"));
  CHECK_INTEGER(0, frees);
}

static void frees_what_went(void) {
  open_left();
  add_system("a", "Position", run);
  add_system("b", "Velocity", run);
  work = remove_all;
  get_left(update);
  CHECK_OK(f.world, ecs_abandon(f.world));
  CHECK_INTEGER(2, frees);
  check_usable();
  close_world(&f);
}

/* The phase ends where it was; the next update begins with its first system. */
static void goes_on_with_the_next_update(void) {
  open_left();
  add_system("a", NULL, run);
  add_system("b", NULL, run);
  CHECK_OK(f.world, ecs_phase(f.world, &(ecs_phase_desc){.name = "fixed", .fixed = 0.25}));
  ecs_system_desc desc = {.name = "c", .phase = "fixed", .run = run};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  get_left(update);
  CHECK_OK(f.world, ecs_abandon(f.world));
  calls = 0;
  CHECK_OK(f.world, ecs_update(f.world, 1));
  CHECK_INTEGER(2 + 4, calls);
  close_world(&f);
}

/* ---- observers ---- */

static void spawn_enemy(void) {
  ecs_id id;
  (void)ecs_spawn(f.world, &f.enemy, 1, &id);
}

static void set_place(void) {
  (void)ecs_set(f.world, f.ids[2], f.position, &(struct position){9, 9});
}

static void commit_enemy(void) {
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[3], f.enemy));
  (void)ecs_commit(f.world);
}

static void close_iterator(void) {
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &f.it));
  CHECK(ecs_iter_next(&f.it));
  CHECK_OK(f.world, ecs_add(f.world, f.ids[3], f.enemy));
  (void)ecs_iter_close(&f.it);
}

static ecs_status add_enemy(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)query, (void)dt, (void)ud;
  return ecs_add(world, f.ids[3], f.enemy);
}

/* What was applied stays; what the observer defers is dropped, and nobody else is told. */
static void by_observers(void) {
  static void (*const acts[])(void) = {spawn_enemy, set_place, commit_enemy, close_iterator,
                                       update};
  for (int i = 0; i < 10; i++) {
    ecs_observer_desc desc = {.name = "o", .on = i / 2 == 1 ? ECS_ON_SET : ECS_ON_ENTER,
                              .query = i / 2 == 1 ? "Position" : "Enemy", .run = observe};
    open_left();
    f.world->chance.opened = 3;   /* as if a script had drawn */
    CHECK_OK(f.world, ecs_query_new(f.world, "Position", &f.it.query));
    if (i / 2 == 4) add_system("a", NULL, add_enemy);
    acts[i / 2]();
    if (i / 2 == 4) CHECK_OK(f.world, ecs_system_remove(f.world, "a"));
    uint64_t wanted = ecs_digest(f.world);
    close_world(&f);
    open_left();
    f.world->chance.opened = 3;
    CHECK_OK(f.world, ecs_query_new(f.world, "Position", &f.it.query));
    CHECK_OK(f.world, ecs_observer_new(f.world, &desc));
    desc.name = "p";
    CHECK_OK(f.world, ecs_observer_new(f.world, &desc));
    if (i / 2 == 4) add_system("a", NULL, add_enemy);
    work = i % 2 ? defer_all : NULL;
    get_left(acts[i / 2]);
    CHECK_FAILS(f.world, ECS_EBUSY, "observer 'o' is running", ecs_update(f.world, 1));
    CHECK_OK(f.world, ecs_abandon(f.world));
    CHECK_INTEGER(1, calls);
    CHECK_INTEGER(0, f.world->watching->change_count);
    if (i / 2 != 4) CHECK(ecs_digest(f.world) == wanted);
    work = NULL;
    sights = 0;
    if (i / 2 == 0) spawn_enemy();
    CHECK_INTEGER(i / 2 == 0 ? 2 : 0, sights);
    check_usable();
    close_world(&f);
  }
}

/* ---- iterations ---- */

static void iterate(void) {
  static ecs_iter its[2];
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &its[0]));
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &its[1]));
  CHECK(ecs_iter_next(&its[0]) && ecs_iter_next(&its[1]));
  defer_all();
  (void)leave();
}

static void by_iterations(void) {
  static const char *const texts[] = {
      "Position", "Position, ChildOf->Position", "Position:changed",
      "Position, ChildOf->Position:cascade", "Hit", "(ChildOf, *)"};
  for (int i = 0; i < 6; i++) {
    check_context("%s", texts[i]);
    open_left();
    f.it.query = new_query(f.world, texts[i]);
    CHECK_OK(f.world, ecs_emit(f.world, hit, &f.ids[0]));
    check_left(iterate, "defer");
    close_world(&f);
  }
  check_context(NULL);
}

static void open_iteration(void) {
  static ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &it));
  (void)leave();
}

static void tells_of_iterations(void) {
  open_left();
  f.it.query = new_query(f.world, "Position");
  check_left(open_iteration, "update is not possible inside a loop (the host ends it with "
                             "ecs_iter_close, or ecs_abandon if a jump left it)");
  close_world(&f);
}

/* One that was closed before an outer one was left has handed on what it deferred. */
static void leave_overlapping(void) {
  static ecs_iter first, second;
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &first));
  CHECK_OK(f.world, ecs_iter_next(&first) ? ecs_add(f.world, f.ids[1], f.enemy) : ECS_EINVAL);
  CHECK_OK(f.world, ecs_iter_open(f.it.query, &second));
  CHECK_OK(f.world, ecs_iter_close(&first));
  (void)leave();
}

static void drops_what_ended_scopes_handed_on(void) {
  open_left();
  f.it.query = new_query(f.world, "Position");
  check_left(leave_overlapping, "loop");
  close_world(&f);
}

static void frees_worlds_that_were_left(void) {
  open_left();
  f.it.query = new_query(f.world, "Position, ChildOf->Position");
  get_left(iterate);
  ecs_world_free(f.world);
  CHECK_INTEGER(0, f.alloc.bytes);
  CHECK(alloc_is_sound(&f.alloc));
}

/* ---- indexes ---- */

static void look(void) {
  ecs_found found;
  ecs_value key = {.kind = ECS_KIND_NUMBER, .number = 3};
  (void)ecs_index_equal(by_x, &key, &found);
  CHECK(!leaves && ecs_found_next(&found) && found.entity == f.ids[3]);
}

static ecs_status look_in_system(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  look();
  return ECS_OK;
}

static void by_key_functions(void) {
  ecs_found found;
  ecs_value key = {.kind = ECS_KIND_NUMBER, .number = 3};
  ecs_index_desc desc = {.name = "by_x", .query = "Position:in", .by = ECS_BY_HASH, .key = key_of};
  open_left();
  CHECK_OK(f.world, ecs_index_new(f.world, &desc, &by_x));
  get_left(look);
  CHECK_FAILS(f.world, ECS_EBUSY, "ecs_abandon", ecs_index_equal(by_x, &key, &found));
  CHECK_OK(f.world, ecs_abandon(f.world));
  look();
  set_position(&f, f.ids[0], 49, 1);
  set_position(&f, f.ids[1], 50, 1);
  get_left(look);
  CHECK_OK(f.world, ecs_abandon(f.world));
  key.number = 0;
  CHECK_OK(f.world, ecs_index_equal(by_x, &key, &found));
  CHECK(!ecs_found_next(&found) && ecs_index_count(by_x) == 8);
  CHECK_SOUND(f.world);
  key.number = 50;
  CHECK_OK(f.world, ecs_index_equal(by_x, &key, &found));
  CHECK(ecs_found_next(&found) && found.entity == f.ids[1]);
  set_position(&f, f.ids[1], 1, 1);
  add_system("a", NULL, look_in_system);
  get_left(update);
  CHECK_OK(f.world, ecs_abandon(f.world));
  look();
  set_position(&f, f.ids[5], 50, 1);
  CHECK_OK(f.world, ecs_index_equal(by_x, &key, &found));
  CHECK(ecs_found_next(&found) && found.entity == f.ids[5]);
  set_position(&f, f.ids[1], 2, 1);
  check_left(update, "system 'a'");
  look();
  close_world(&f);
}

/* ---- others ---- */

static ecs_status leave_rows(const ecs_rows *rows, double dt, void *ud) {
  (void)rows, (void)dt, (void)ud;
  return leave();
}

static void refuses_what_runs_on_threads(void) {
  open_left();
  ecs_system_desc desc = {.name = "a", .query = "Position", .parallel = leave_rows};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
  get_left(update);
  CHECK_FAILS(f.world, ECS_EBUSY, "system 'a' runs on several threads", ecs_abandon(f.world));
  ecs_world_free(f.world);
  CHECK_INTEGER(0, f.alloc.bytes);
}

static void nothing_open_is_nothing_done(void) {
  open_left();
  uint64_t before = ecs_digest(f.world);
  ecs_world *next;
  CHECK_OK(f.world, ecs_abandon(f.world));
  CHECK(ecs_digest(f.world) == before);
  CHECK_INTEGER(ECS_OK, ecs_world_new(NULL, &next));
  CHECK_OK(next, ecs_abandon(next));
  CHECK_SOUND(next);
  ecs_world_free(next);
  check_usable();
  close_world(&f);
}

static const struct test tests[] = {
  {"C18: a system that is left has changed nothing", by_systems},
  {"a condition that is left has changed nothing", by_conditions},
  {"a handler of errors may be left", by_who_handles_errors},
  {"a system that was left knows what was new to it", knows_what_was_new},
  {"a system that was left has read events and emitted none", drops_events},
  {"C60: systems that were removed before go", frees_what_went},
  {"the next update begins anew", goes_on_with_the_next_update},
  {"C87: an observer that is left drops what it deferred", by_observers},
  {"C50: iterations that are left open end", by_iterations},
  {"an iteration that is left open is told of", tells_of_iterations},
  {"what ended scopes have handed on is dropped, too", drops_what_ended_scopes_handed_on},
  {"C60: a world that was left is freed whole", frees_worlds_that_were_left},
  {"an index whose key function is left is made anew", by_key_functions},
  {"a function for ranges of rows cannot be left", refuses_what_runs_on_threads},
  {"with nothing open it does nothing", nothing_open_is_nothing_done},
};

int main(void) { return RUN_TESTS(tests); }
