/* C71: commands that requirements forbid, for hosts in C, and many requirements. */
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

static const struct test tests[] = {
  {"one command is dropped, the others apply, and the end of an iteration fails",
   fails_the_iteration},
  {"a cancel drops it, and tells nobody", dropped_by_cancel},
  {"thousands in a row, and all of all, need no recursion", many},
};

int main(void) { return RUN_TESTS(tests); }
