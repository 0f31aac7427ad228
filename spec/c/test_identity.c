/* Ids: the four ways to be no living entity, in each call of a host, and what far ones cost. C37,
** C63, C64, C82. */
#include <string.h>

#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;

static ecs_id make(uint32_t index, uint32_t generation, uint32_t tag) {
  return id_make(index, generation, tag);
}

static void check_refused(ecs_id id, ecs_status wanted, const char *words) {
  struct position value;
  CHECK(!ecs_alive(f.world, id));
  CHECK_FAILS(f.world, wanted, words, ecs_entity_status(f.world, id));
  CHECK_FAILS(f.world, wanted, words, ecs_despawn(f.world, id));
  CHECK_FAILS(f.world, wanted, words, ecs_add(f.world, id, f.enemy));
  CHECK_FAILS(f.world, wanted, words, ecs_remove(f.world, id, f.enemy));
  CHECK_FAILS(f.world, wanted, words, ecs_name(f.world, id, "x"));
  CHECK_FAILS(f.world, wanted, words, ecs_name(f.world, id, NULL));
  CHECK_FAILS(f.world, wanted, words,
              ecs_set(f.world, id, f.position, &(struct position){1, 2}));
  CHECK_FAILS(f.world, wanted, words, ecs_get(f.world, id, f.position, &value));
  CHECK(!ecs_has(f.world, id, f.enemy));
  CHECK(ecs_cell_of(f.world, id, f.position, 0) == NULL);
  CHECK_TEXT(NULL, ecs_name_of(f.world, id));
  if (id == ECS_NULL) return;
  CHECK_FAILS(f.world, wanted, words, ecs_set(f.world, f.a, f.link, &(struct link){id}));
  CHECK_FAILS(f.world, wanted, "Link.target",
              ecs_set(f.world, f.a, f.link, &(struct link){id}));
}

static void four_errors(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.link);
  ecs_id dead = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, dead));
  check_refused(dead, ECS_EDEAD, "65537v0@1 is dead");
  check_refused(make(65537, 1, 1), ECS_EUNBORN, "65537v1@1 was never spawned");
  check_refused(make(65536, 9, 1), ECS_EUNBORN, "65536v9@1 was never spawned");
  check_refused(make(70000, 0, 1), ECS_EUNBORN, "70000v0@1 was never spawned");
  check_refused(make(INDEX_LIMIT - 1, 0, 1), ECS_EUNBORN, "was never spawned");
  check_refused(make(900, 0, 0), ECS_EUNBORN, "900v0@0 was never spawned");
  check_refused(make(65536, 0, 2), ECS_EWORLD, "belongs to another world (tag 2)");
  check_refused(make(65536, 0, 255), ECS_EWORLD, "belongs to another world (tag 255)");
  check_refused(ECS_NULL, ECS_ENOID, "0 is not an entity id");
  check_refused(make(0, 5, 1), ECS_ENOID, "is not an entity id");
  check_refused(make(65536, 0, 0), ECS_ENOID, "is not an entity id");
  check_refused(make(3, 0, 1), ECS_ENOID, "is not an entity id");
  check_refused(PAIR_BIT | 65536, ECS_ENOID, "is not an entity id");
  check_refused(UINT64_C(1) << 53 | f.a, ECS_ENOID, "is not an entity id");
  check_refused(UINT64_MAX, ECS_ENOID, "-1 is not an entity id");
  check_refused(UINT64_C(1) << 63, ECS_ENOID, "-9223372036854775808 is not an entity id");
  close_world(&f);
}

static void ids_of_components(void) {
  open_usual(&f);
  struct position value;
  f.a = spawn_empty(f.world);
  CHECK(ecs_alive(f.world, f.position));
  CHECK_FAILS(f.world, ECS_EINVAL, "undeclare 'Position' instead",
              ecs_despawn(f.world, f.position));
  CHECK_FAILS(f.world, ECS_EINVAL, "is an entity, not a component",
              ecs_add(f.world, f.a, f.a));
  CHECK_FAILS(f.world, ECS_EINVAL, "is an entity, not a component",
              ecs_get(f.world, f.a, f.a, &value));
  CHECK_FAILS(f.world, ECS_EUNBORN, "was never spawned", ecs_add(f.world, f.a, 999));
  CHECK_FAILS(f.world, ECS_EUNBORN, "was never spawned",
              ecs_spawn(f.world, (ecs_id[]){999}, 1, &f.b));
  CHECK_OK(f.world, ecs_undeclare(f.world, f.velocity));
  CHECK_FAILS(f.world, ECS_EDEAD, "is dead", ecs_add(f.world, f.a, f.velocity));
  CHECK_INTEGER(1, ecs_alive_count(f.world));
  CHECK_OK(f.world, ecs_add(f.world, f.position, f.enemy));
  CHECK_INTEGER(1, ecs_alive_count(f.world));
  CHECK_INTEGER(1, count_of(f.world, "Enemy"));
  CHECK_OK(f.world, ecs_remove(f.world, f.position, f.enemy));
  CHECK_INTEGER(1, count_of(f.world, ""));
  close_world(&f);
}

static void refuses_to_adopt(void) {
  open_usual(&f);
  CHECK_STATUS(f.world, ECS_EWORLD, ecs_spawn_at(f.world, make(65540, 0, 2), NULL, 0));
  CHECK_STATUS(f.world, ECS_ENOID, ecs_spawn_at(f.world, make(65540, 0, 0), NULL, 0));
  CHECK_STATUS(f.world, ECS_ENOID, ecs_spawn_at(f.world, ECS_NULL, NULL, 0));
  CHECK_STATUS(f.world, ECS_ENOID,
               ecs_spawn_at(f.world, PAIR_BIT | make(65540, 0, 1), NULL, 0));
  CHECK_FAILS(f.world, ECS_EINVAL, "reserved for components",
              ecs_spawn_at(f.world, make(500, 0, 0), NULL, 0));
  CHECK_STATUS(f.world, ECS_ETAKEN, ecs_spawn_at(f.world, f.position, NULL, 0));
  ecs_id last = make(65536, 65535, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, last, NULL, 0));
  CHECK_OK(f.world, ecs_despawn(f.world, last));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_spawn_at(f.world, last, NULL, 0));
  CHECK_INTEGER(65537, ecs_id_index(spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_entity_range(f.world, 80000, 80001));
  CHECK_OK(f.world, ecs_despawn(f.world, make(65537, 0, 1)));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(65537, 1, 1), NULL, 0));
  close_world(&f);
}

/* ---- ranges ---- */

static void ranges_of_one_page_each(void) {
  open_usual(&f);
  spawn_empty(f.world);
  size_t bytes = ecs_bytes(f.world);
  CHECK_OK(f.world, ecs_entity_range(f.world, 200000000, 200000999));
  CHECK_OK(f.world, ecs_spawn_many(f.world, 200, NULL, 0, NULL));
  CHECK(ecs_bytes(f.world) - bytes < 50000);
  CHECK_OK(f.world, ecs_entity_range(f.world, INDEX_LIMIT - 5, INDEX_LIMIT - 1));
  CHECK_OK(f.world, ecs_spawn_many(f.world, 5, NULL, 0, NULL));
  CHECK_STATUS(f.world, ECS_ELIMIT, ecs_spawn(f.world, NULL, 0, &f.a));
  close_world(&f);
}

static const struct test tests[] = {
  {"C37, C63, C64: dead, unborn, foreign and senseless ids are four errors", four_errors},
  {"components are entities, but neither spawned nor despawned", ids_of_components},
  {"spawn_at refuses what is no id of the world", refuses_to_adopt},
  {"C82: far indices cost a page each", ranges_of_one_page_each},
};

int main(void) { return RUN_TESTS(tests); }
