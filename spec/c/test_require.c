/* C71: what a component requires, for hosts in C. */
#include <stdio.h>
#include <string.h>

#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/table.h"
#include "fixture.h"
#include "image_fixture.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static ecs_status declare(const char *name, const ecs_id *required, uint32_t count, ecs_id *out) {
  ecs_field field = {.name = "n", .type = ECS_I32, .value = {.kind = ECS_KIND_INTEGER,
                                                             .integer = 7}};
  return ecs_component(f.world, &(ecs_component_desc){.name = name, .fields = &field,
                                                      .field_count = 1, .required = required,
                                                      .required_count = count}, out);
}

#define REQUIRE(name, out, ...)                       \
  CHECK_OK(f.world, declare(name, (const ecs_id[]){__VA_ARGS__}, \
                            COUNT(((const ecs_id[]){__VA_ARGS__})), out))

/* a requires Health and b; b requires Frozen. */
static void open_required(void) {
  open_usual(&f);
  REQUIRE("B", &f.b, f.frozen);
  REQUIRE("A", &f.a, f.health, f.b, f.health);
}

static bool has_all(ecs_id id) {
  struct health health = {0, 0};
  int32_t n = 0;
  return ecs_has(f.world, id, f.a) && ecs_has(f.world, id, f.frozen) &&
         ecs_get(f.world, id, f.health, &health) == ECS_OK && health.hp == 100 &&
         ecs_get(f.world, id, f.b, &n) == ECS_OK && n == 7;
}

static void comes_with_what_adds(void) {
  open_required();
  CHECK(has_all(SPAWN(f.world, f.a)));
  CHECK(has_all(SPAWN(f.world, f.a)));
  CHECK(has_all(SPAWN(f.world, f.position, f.a, f.frozen)));
  CHECK_OK(f.world, ecs_spawn_many(f.world, 8, &f.a, 1, f.ids));
  for (int i = 0; i < 8; i++) CHECK(has_all(f.ids[i]));
  ecs_id adopted = UINT64_C(123456) | UINT64_C(1) << 44;
  CHECK_OK(f.world, ecs_spawn_at(f.world, adopted, &f.a, 1));
  CHECK(has_all(adopted));
  for (int i = 0; i < 3; i++) {
    f.c = spawn_empty(f.world);
    CHECK_OK(f.world, ecs_add(f.world, f.c, f.a));
    CHECK_OK(f.world, ecs_add(f.world, f.c, f.a));
    CHECK(has_all(f.c));
    f.c = spawn_empty(f.world);
    CHECK_OK(f.world, ecs_set(f.world, f.c, f.a, &(int32_t){i}));
    CHECK(has_all(f.c));
  }
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void keeps_what_is_there(void) {
  open_required();
  f.c = SPAWN(f.world, f.b);
  CHECK_OK(f.world, ecs_set(f.world, f.c, f.b, &(int32_t){3}));
  CHECK_OK(f.world, ecs_add(f.world, f.c, f.a));
  int32_t n = 0;
  CHECK_OK(f.world, ecs_get(f.world, f.c, f.b, &n));
  CHECK_INTEGER(3, n);
  close_world(&f);
}

static void cannot_be_removed(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  CHECK_FAILS(f.world, ECS_EINVAL, "'B' cannot be removed: 'A' requires it",
              ecs_remove(f.world, f.c, f.b));
  CHECK_FAILS(f.world, ECS_EINVAL, "'Frozen' cannot be removed: 'B' requires it",
              ecs_remove(f.world, f.c, f.frozen));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.velocity));
  CHECK(has_all(f.c));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.a));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.b));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.frozen));
  CHECK(ecs_has(f.world, f.c, f.health));
  close_world(&f);
}

static void whole_tables(void) {
  open_required();
  for (int i = 0; i < 6; i++)
    f.ids[i] = SPAWN(f.world, f.position, i % 2 ? f.velocity : f.label);
  f.query = new_query(f.world, "Position");
  CHECK_OK(f.world, ecs_query_add(f.query, f.a));
  for (int i = 0; i < 6; i++) CHECK(has_all(f.ids[i]));
  CHECK_FAILS(f.world, ECS_EINVAL, "'A' requires it", ecs_query_remove(f.query, f.b));
  for (int i = 0; i < 6; i++) CHECK(has_all(f.ids[i]));
  CHECK_OK(f.world, ecs_query_remove(f.query, f.a));
  CHECK_OK(f.world, ecs_query_remove(f.query, f.b));
  CHECK_INTEGER(6, count_of(f.world, "Frozen, Health, Position, !A, !B"));
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Relations, too, require, and what has ties is brought and kept as what has none. */
static void whole_tables_with_ties(void) {
  open_required();
  ecs_id docked = ECS_NULL, likes = ECS_NULL;
  ecs_component_desc desc = {.name = "Docked", .exclusive = true, .required = &f.b,
                             .required_count = 1};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &docked));
  desc = (ecs_component_desc){.name = "Likes", .required = &f.b, .required_count = 1};
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &likes));
  f.c = spawn_empty(f.world);
  f.ids[0] = SPAWN(f.world, f.position, ecs_pair(docked, f.c));
  f.ids[1] = SPAWN(f.world, f.position, ecs_pair(likes, f.c));
  f.ids[2] = SPAWN(f.world, f.position);
  f.query = new_query(f.world, "Position");
  for (int i = 0; i < 2; i++) CHECK(ecs_has(f.world, f.ids[i], f.frozen));
  CHECK_FAILS(f.world, ECS_EINVAL, "requires it", ecs_query_remove(f.query, f.b));
  CHECK_OK(f.world, ecs_query_add(f.query, f.a));
  for (int i = 0; i < 3; i++) CHECK(has_all(f.ids[i]));
  CHECK_OK(f.world, ecs_query_remove(f.query, f.a));
  CHECK_FAILS(f.world, ECS_EINVAL, "'B' cannot be removed: 'Docked' requires it",
              ecs_remove(f.world, f.ids[0], f.b));
  CHECK_FAILS(f.world, ECS_EINVAL, "'B' cannot be removed: 'Likes' requires it",
              ecs_remove(f.world, f.ids[1], f.b));
  CHECK_OK(f.world, ecs_despawn(f.world, f.c));
  CHECK_OK(f.world, ecs_query_remove(f.query, f.b));
  desc = (ecs_component_desc){.name = "Bad", .required = &docked, .required_count = 1};
  CHECK_FAILS(f.world, ECS_EINVAL, "component 'Bad', requires: 'Docked' is a relation",
              ecs_component(f.world, &desc, &f.enemy));
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* ---- scopes ---- */

/* The commands of a scope that ends with one failure: the others apply, and it has ended. */
static void stage_a_failure(void) {
  CHECK_OK(f.world, ecs_set(f.world, f.c, f.b, &(int32_t){5}));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.b));
  CHECK_OK(f.world, ecs_add(f.world, f.c, f.enemy));
  f.ids[0] = SPAWN(f.world, f.a);
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[0], f.frozen));
}

static void check_the_failure(void) {
  int32_t n = 0;
  CHECK(ecs_has(f.world, f.c, f.enemy) && has_all(f.ids[0]));
  CHECK_OK(f.world, ecs_get(f.world, f.c, f.b, &n));
  CHECK_INTEGER(5, n);
  CHECK_FAILS(f.world, ECS_EINVAL, "without a defer", ecs_commit(f.world));
  CHECK_SOUND(f.world);
}

static const char why[] = "'B' cannot be removed from entity 65536v0@1: 'A' requires it";

static void fails_the_commit(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_defer(f.world));
  stage_a_failure();
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_FAILS(f.world, ECS_EINVAL, why, ecs_commit(f.world));
  check_the_failure();
  close_world(&f);
}

static void fails_the_iteration(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  f.query = new_query(f.world, "A");
  ecs_iter it;
  CHECK_OK(f.world, ecs_iter_open(f.query, &it));
  CHECK(ecs_iter_next(&it));
  stage_a_failure();
  CHECK_FAILS(f.world, ECS_EINVAL, why, ecs_iter_close(&it));
  CHECK_OK(f.world, ecs_iter_close(&it));
  check_the_failure();
  close_world(&f);
}

static ecs_status run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)query, (void)dt, (void)ud;
  stage_a_failure();
  return ECS_OK;
}

static void on_error(ecs_world *world, const char *system, ecs_status status, void *ud) {
  CHECK_TEXT("robber", system);
  CHECK_STATUS(world, ECS_EINVAL, status);
  CHECK(strstr(ecs_message(world), why) != NULL);
  ++*(int *)ud;
}

static void fails_the_system(void) {
  for (int handled = 0; handled < 2; handled++) {
    int called = 0;
    open_required();
    f.c = SPAWN(f.world, f.a);
    CHECK_OK(f.world, ecs_system_new(f.world, &(ecs_system_desc){.name = "robber", .run = run}));
    if (handled) {
      ecs_on_error(f.world, on_error, &called);
      CHECK_OK(f.world, ecs_update(f.world, 1));
      CHECK_OK(f.world, ecs_update(f.world, 1));
    } else {
      CHECK_FAILS(f.world, ECS_EINVAL, why, ecs_update(f.world, 1));
      CHECK(strstr(ecs_message(f.world), "system 'robber': ") != NULL);
    }
    CHECK_INTEGER(handled, called);
    check_the_failure();
    close_world(&f);
  }
}

/* Commands that cancel leaves to others are applied; nobody is told of what they cannot. */
static void dropped_by_cancel(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.b));
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK(has_all(f.c));
  uint32_t outer, inner;
  CHECK_OK(f.world, scope_open(f.world, SCOPE_LOOP, &outer));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.b));
  CHECK_OK(f.world, ecs_add(f.world, f.c, f.enemy));
  CHECK_OK(f.world, scope_open(f.world, SCOPE_LOOP, &inner));
  CHECK_OK(f.world, ecs_remove(f.world, f.c, f.health));
  CHECK_OK(f.world, scope_commit(f.world, outer));
  scope_cancel(f.world, inner);
  CHECK(has_all(f.c) && ecs_has(f.world, f.c, f.enemy));
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* ---- declaring ---- */

static void declared_later(void) {
  open_required();
  f.ids[0] = SPAWN(f.world, f.enemy);
  f.ids[1] = SPAWN(f.world, f.enemy, f.frozen);
  f.ids[2] = SPAWN(f.world, f.enemy, f.position);
  CHECK_OK(f.world, ecs_despawn(f.world, f.ids[2]));
  CHECK_OK(f.world, ecs_add(f.world, f.position, f.enemy));
  f.query = new_query(f.world, "Enemy");
  ecs_component_desc desc = {.name = "Enemy", .required = &f.a, .required_count = 1};
  ecs_id id;
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_STATUS(f.world, ECS_EBUSY, ecs_component(f.world, &desc, &id));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_OK(f.world, ecs_component(f.world, &desc, &id));
  CHECK(id == f.enemy && has_all(f.ids[0]) && has_all(f.ids[1]) && has_all(f.position));
  CHECK_INTEGER(3, ecs_query_count(f.query));
  const struct id_record *record = graph_record(f.world, f.enemy);
  for (uint32_t i = 0; i < record->table_count; i++)
    CHECK(table_has(world_table(f.world, record->tables[i]), f.a));
  CHECK_OK(f.world, ecs_tag(f.world, "Enemy", &id));
  CHECK_FAILS(f.world, ECS_EINVAL, "'Enemy' requires it", ecs_remove(f.world, f.ids[0], f.a));
  CHECK_OK(f.world, ecs_component(f.world, &(ecs_component_desc){.name = "Enemy"}, &id));
  CHECK_OK(f.world, ecs_remove(f.world, f.ids[0], f.a));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void refuses_cycles(void) {
  open_required();
  ecs_id id;
  CHECK_FAILS(f.world, ECS_ECYCLE, "component 'B' would require itself: B -> A -> B",
              declare("B", &f.a, 1, &id));
  CHECK_FAILS(f.world, ECS_ECYCLE, "B -> B", declare("B", &f.b, 1, &id));
  CHECK_FAILS(f.world, ECS_EUNBORN, "never spawned", declare("C", &(ecs_id){99}, 1, &id));
  f.c = spawn_empty(f.world);
  CHECK_FAILS(f.world, ECS_EINVAL, "not a component", declare("C", &f.c, 1, &id));
  CHECK_FAILS(f.world, ECS_ENOID, "", declare("C", &(ecs_id){UINT64_MAX}, 1, &id));
  CHECK(ecs_component_find(f.world, "C") == ECS_NULL);
  CHECK_SOUND(f.world);
  close_world(&f);
}

/* Requirements in a row, and all of all: what one brings is found without recursion. */
static void many(void) {
  enum { LINKS = 3000, BUNDLE = 40 };
  open_world(&f);
  ecs_id last = declare_tag(f.world, "Link0"), first = last, all[BUNDLE];
  char name[32];
  for (int i = 1; i < LINKS; i++) {
    snprintf(name, sizeof name, "Link%d", i);
    CHECK_OK(f.world, ecs_component(f.world, &(ecs_component_desc){.name = name, .required = &last,
                                                                   .required_count = 1}, &last));
  }
  for (uint32_t i = 0; i < BUNDLE; i++) {
    snprintf(name, sizeof name, "Bundle%u", i);
    CHECK_OK(f.world, ecs_component(f.world, &(ecs_component_desc){.name = name, .required = all,
                                                                   .required_count = i}, &all[i]));
  }
  f.a = SPAWN(f.world, last, all[BUNDLE - 1]);
  CHECK(ecs_has(f.world, f.a, first) && ecs_has(f.world, f.a, all[0]));
  const struct record *record = entity_find(&f.world->entities, f.a);
  CHECK_INTEGER(LINKS + BUNDLE, world_table(f.world, record->table)->id_count);
  CHECK_FAILS(f.world, ECS_ECYCLE, "...",
              ecs_component(f.world, &(ecs_component_desc){.name = "Link0", .required = &last,
                                                           .required_count = 1}, &first));
  CHECK_FAILS(f.world, ECS_EINVAL, "'Link1' requires it", ecs_remove(f.world, f.a, first));
  CHECK_SOUND(f.world);
  close_world(&f);
}

static void undeclared(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  CHECK_FAILS(f.world, ECS_EINVAL, "'B' cannot be undeclared: 'A' requires "
                                   "it", ecs_undeclare(f.world, f.b));
  CHECK_FAILS(f.world, ECS_EINVAL, "'Frozen' cannot be undeclared: 'B' requires it",
              ecs_undeclare(f.world, f.frozen));
  CHECK_OK(f.world, ecs_undeclare(f.world, f.a));
  CHECK_OK(f.world, ecs_undeclare(f.world, f.b));
  CHECK_OK(f.world, ecs_undeclare(f.world, f.frozen));
  CHECK(ecs_has(f.world, f.c, f.health));
  close_world(&f);
}

static void saved_and_loaded(void) {
  open_required();
  f.c = SPAWN(f.world, f.a);
  CHECK_OK(f.world, save(&f, &image));
  open_target();
  CHECK_OK(g.world, load(&g, &image));
  CHECK(ecs_digest(g.world) == ecs_digest(f.world));
  CHECK_FAILS(g.world, ECS_EINVAL, "'A' requires it",
              ecs_remove(g.world, f.c, ecs_component_find(g.world, "B")));
  CHECK_SOUND(g.world);
  close_both();
}

static const struct test tests[] = {
  {"C71: what is required comes with all that adds", comes_with_what_adds},
  {"what is there keeps its value", keeps_what_is_there},
  {"what is required cannot be removed, and the message names both", cannot_be_removed},
  {"whole tables get it, or none loses it", whole_tables},
  {"so with ties, by relations that require something, and none is required",
   whole_tables_with_ties},
  {"in a scope one command is dropped, the others apply, and commit fails", fails_the_commit},
  {"so does the end of an iteration", fails_the_iteration},
  {"so does a system", fails_the_system},
  {"cancel drops it", dropped_by_cancel},
  {"rows get what is required of them later, and lose nothing", declared_later},
  {"cycles and what is no component are refused", refuses_cycles},
  {"thousands in a row, and all of all, need no recursion", many},
  {"what is required cannot be undeclared", undeclared},
  {"images keep requirements", saved_and_loaded},
};

int main(void) { return RUN_TESTS(tests); }
