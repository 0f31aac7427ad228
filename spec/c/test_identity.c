/* Ids: generations, retirement, ranges, adopted ids, and the four ways to be no living entity.
** C35 to C40, C52 to C54, C57, C59, C63, C64, C80 to C82. */
#include <string.h>

#include "core/ids/world.h"
#include "fixture.h"

static struct fixture f;

static ecs_id make(uint32_t index, uint32_t generation, uint32_t tag) {
  return id_make(index, generation, tag);
}

static void packs_ids(void) {
  open_usual(&f);
  ecs_id id = spawn_empty(f.world);
  CHECK_INTEGER(65536, ecs_id_index(id));
  CHECK_INTEGER(0, ecs_id_generation(id));
  CHECK_INTEGER(1, ecs_id_tag(id));
  CHECK(id < UINT64_C(1) << 53);
  CHECK_INTEGER(1, f.position);
  CHECK_INTEGER(1, ecs_world_tag(f.world));
  CHECK(make(INDEX_LIMIT - 1, 65535, 255) < UINT64_C(1) << 52);
  close_world(&f);
}

static void recycles_last_in_first_out(void) {
  open_usual(&f);
  ecs_id ids[5];
  for (int i = 0; i < 5; i++) ids[i] = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, ids[1]));
  CHECK_OK(f.world, ecs_despawn(f.world, ids[3]));
  ecs_id first = spawn_empty(f.world), second = spawn_empty(f.world);
  CHECK_INTEGER(ecs_id_index(ids[3]), ecs_id_index(first));
  CHECK_INTEGER(ecs_id_index(ids[1]), ecs_id_index(second));
  CHECK_INTEGER(1, ecs_id_generation(first));
  CHECK_INTEGER(65541, ecs_id_index(spawn_empty(f.world)));
  close_world(&f);
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

/* ---- retirement ---- */

static ecs_id wear_out(ecs_id id) {
  ecs_id last = id;
  for (uint32_t life = ecs_id_generation(id); life <= GENERATION_LIMIT; life++) {
    last = id;
    if (!CHECK_OK(f.world, ecs_despawn(f.world, id))) break;
    if (!CHECK_OK(f.world, ecs_spawn(f.world, NULL, 0, &id))) break;
    if (ecs_id_index(id) != ecs_id_index(last)) break;
  }
  f.b = id;   /* what was spawned in its place */
  return last;
}

static void used_up_slots_retire(void) {
  open_usual(&f);
  ecs_id first = spawn_empty(f.world), last = wear_out(first);
  CHECK_INTEGER(ecs_id_index(first), ecs_id_index(last));
  CHECK_INTEGER(65535, ecs_id_generation(last));
  CHECK_INTEGER(65537, ecs_id_index(f.b));
  f.a = SPAWN(f.world, f.link);
  check_refused(first, ECS_EDEAD, "is dead");
  check_refused(last, ECS_EDEAD, "is dead");
  check_refused(make(65536, 77, 1), ECS_EDEAD, "is dead");
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_spawn_at(f.world, last, NULL, 0));
  CHECK_INTEGER(1, f.world->entities.retired);
  close_world(&f);
}

static void retired_slots_come_back(void) {
  open_usual(&f);
  ecs_id holder = SPAWN(f.world, f.link, f.position), other = SPAWN(f.world, f.link);
  CHECK_OK(f.world, ecs_resource(f.world, f.link));
  ecs_id last = make(65600, 65535, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, last, NULL, 0));
  CHECK_OK(f.world, ecs_set(f.world, holder, f.link, &(struct link){last}));
  CHECK_OK(f.world, ecs_set(f.world, other, f.link, &(struct link){holder}));
  CHECK_OK(f.world, ecs_resource_set(f.world, f.link, &(struct link){last}));
  CHECK_OK(f.world, ecs_despawn(f.world, last));
  size_t count = 0;
  CHECK_OK(f.world, ecs_recycle_retired(f.world, &count));
  CHECK_INTEGER(1, count);
  CHECK_OK(f.world, ecs_recycle_retired(f.world, &count));
  CHECK_INTEGER(0, count);
  CHECK(*(ecs_id *)ecs_cell_of(f.world, holder, f.link, 0) == ECS_NULL);
  CHECK(*(ecs_id *)ecs_cell_of(f.world, other, f.link, 0) == holder);
  ecs_id again = spawn_empty(f.world);
  CHECK_INTEGER(65600, ecs_id_index(again));
  CHECK_INTEGER(0, ecs_id_generation(again));
  /* The id comes again: nothing may name it from its former life. */
  CHECK_OK(f.world, ecs_despawn(f.world, again));
  CHECK_OK(f.world, ecs_spawn_at(f.world, last, NULL, 0));
  struct link link = {1};
  CHECK_OK(f.world, ecs_resource_get(f.world, f.link, &link));
  CHECK(link.target == ECS_NULL);
  CHECK_OK(f.world, ecs_get(f.world, holder, f.link, &link));
  CHECK(link.target == ECS_NULL);
  close_world(&f);
}

/* A slot outside of the range of spawns waits there until the range comes back. */
static void retired_slots_outside_of_the_range(void) {
  open_usual(&f);
  ecs_id last = make(70000, 65535, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, last, NULL, 0));
  CHECK_OK(f.world, ecs_entity_range(f.world, 80000, 80001));
  CHECK_OK(f.world, ecs_despawn(f.world, last));
  size_t count = 0;
  CHECK_OK(f.world, ecs_recycle_retired(f.world, &count));
  CHECK_INTEGER(1, count);
  CHECK_INTEGER(80000, ecs_id_index(spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_entity_range(f.world, 70000, 70000));
  CHECK(spawn_empty(f.world) == make(70000, 0, 1));
  close_world(&f);
}

static void components_retire_too(void) {
  open_world(&f);
  ecs_id tag = declare_tag(f.world, "T"), last = tag;
  for (uint32_t life = 0; life <= GENERATION_LIMIT; life++) {
    last = tag;
    if (!CHECK_OK(f.world, ecs_undeclare(f.world, tag))) break;
    tag = declare_tag(f.world, "T");
  }
  CHECK_INTEGER(65535, ecs_id_generation(last));
  CHECK_INTEGER(1, ecs_id_index(last));
  CHECK_INTEGER(2, tag);
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_entity_status(f.world, last));
  close_world(&f);
}

/* ---- ranges ---- */

static void ranges_part_the_index(void) {
  open_usual(&f);
  ecs_id here = spawn_empty(f.world), gone = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, gone));
  CHECK_OK(f.world, ecs_entity_range(f.world, 1000000, 1000003));
  ecs_id far = spawn_empty(f.world);
  CHECK_INTEGER(1000000, ecs_id_index(far));
  CHECK_OK(f.world, ecs_despawn(f.world, here));
  CHECK_INTEGER(1000001, ecs_id_index(spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_despawn(f.world, far));
  ecs_id again = spawn_empty(f.world);
  CHECK_INTEGER(1000000, ecs_id_index(again));
  CHECK_INTEGER(1, ecs_id_generation(again));
  CHECK_OK(f.world, ecs_entity_range(f.world, 65536, 100000));
  CHECK_INTEGER(65536, ecs_id_index(spawn_empty(f.world)));
  ecs_id back = spawn_empty(f.world);
  CHECK_INTEGER(65537, ecs_id_index(back));
  CHECK_INTEGER(1, ecs_id_generation(back));
  CHECK_INTEGER(65538, ecs_id_index(spawn_empty(f.world)));
  close_world(&f);
}

/* Where pages are few: no component is declared, and entities reach into the second million. */
static void ranges_part_near_slots(void) {
  open_world(&f);
  ecs_id first = spawn_empty(f.world), last;
  CHECK_OK(f.world, ecs_spawn_many(f.world, 1050000, NULL, 0, NULL));
  last = spawn_empty(f.world);
  CHECK_OK(f.world, ecs_despawn(f.world, last));
  CHECK_OK(f.world, ecs_despawn(f.world, first));
  CHECK_OK(f.world, ecs_entity_range(f.world, 2000000, 3000000));
  CHECK_SOUND(f.world);
  CHECK_INTEGER(2000000, ecs_id_index(spawn_empty(f.world)));
  CHECK_OK(f.world, ecs_entity_range(f.world, FIRST_ENTITY, 3000000));
  CHECK_INTEGER(ecs_id_index(first), ecs_id_index(spawn_empty(f.world)));
  CHECK_INTEGER(ecs_id_index(last), ecs_id_index(spawn_empty(f.world)));
  close_world(&f);
}

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

/* What was adopted inside the range is passed over. */
static void ranges_and_adopted_ids(void) {
  open_usual(&f);
  CHECK_OK(f.world, ecs_entity_range(f.world, 70000, 70003));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(70000, 4, 1), NULL, 0));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(70002, 0, 1), NULL, 0));
  CHECK_INTEGER(70001, ecs_id_index(spawn_empty(f.world)));
  CHECK_INTEGER(70003, ecs_id_index(spawn_empty(f.world)));
  CHECK_STATUS(f.world, ECS_ELIMIT, ecs_spawn(f.world, NULL, 0, &f.a));
  CHECK_OK(f.world, ecs_despawn(f.world, make(70000, 4, 1)));
  ecs_id again = spawn_empty(f.world);
  CHECK(again == make(70000, 5, 1));
  close_world(&f);
}

/* ---- adopted ids ---- */

static void adopts_ids(void) {
  open_usual(&f);
  ecs_id unborn = make(65540, 3, 1);
  CHECK_OK(f.world, ecs_spawn_at(f.world, unborn, &f.health, 1));
  CHECK(ecs_alive(f.world, unborn) && ecs_has(f.world, unborn, f.health));
  CHECK_FAILS(f.world, ECS_ETAKEN, "65540v3@1 has its index",
              ecs_spawn_at(f.world, unborn, NULL, 0));
  CHECK_FAILS(f.world, ECS_ETAKEN, "has its index",
              ecs_spawn_at(f.world, make(65540, 9, 1), NULL, 0));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_spawn_at(f.world, make(65540, 2, 1), NULL, 0));
  CHECK_OK(f.world, ecs_despawn(f.world, unborn));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_spawn_at(f.world, unborn, NULL, 0));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(65540, 4, 1), NULL, 0));
  CHECK_INTEGER(65536, ecs_id_index(spawn_empty(f.world)));
  close_world(&f);
}

static void adopts_free_slots(void) {
  open_usual(&f);
  ecs_id ids[5];
  for (int i = 0; i < 5; i++) ids[i] = spawn_empty(f.world);
  for (int i = 0; i < 5; i++) CHECK_OK(f.world, ecs_despawn(f.world, ids[i]));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(65538, 1, 1), NULL, 0));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(65540, 40000, 1), NULL, 0));
  CHECK_OK(f.world, ecs_spawn_at(f.world, make(65536, 1, 1), NULL, 0));
  CHECK_SOUND(f.world);
  CHECK(spawn_empty(f.world) == make(65539, 1, 1));
  CHECK(spawn_empty(f.world) == make(65537, 1, 1));
  CHECK(spawn_empty(f.world) == make(65541, 0, 1));
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

static void adopts_in_a_scope(void) {
  open_usual(&f);
  ecs_id id = make(123456, 5, 1);
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_spawn_at(f.world, id, &f.enemy, 1));
  CHECK(ecs_alive(f.world, id) && !ecs_has(f.world, id, f.enemy));
  CHECK_OK(f.world, ecs_cancel(f.world));
  CHECK_STATUS(f.world, ECS_EDEAD, ecs_entity_status(f.world, id));
  CHECK_OK(f.world, ecs_defer(f.world));
  CHECK_OK(f.world, ecs_spawn_at(f.world, id + (UINT64_C(1) << 28), &f.enemy, 1));
  CHECK_OK(f.world, ecs_commit(f.world));
  CHECK_INTEGER(1, count_of(f.world, "Enemy"));
  close_world(&f);
}

/* ---- many ---- */

static void stale_ids_never_hit_tenants(void) {
  open_usual(&f);
  enum { MANY = 2000 };
  static ecs_id ids[MANY], dead[MANY];
  for (int i = 0; i < MANY; i++) ids[i] = SPAWN(f.world, f.position);
  uint32_t random = 1;
  for (int round = 0; round < 5; round++)
    for (int i = 0; i < MANY; i++) {
      random = random * 1664525u + 1013904223u;
      if (random >> 30) continue;
      dead[i] = ids[i];
      CHECK_OK(f.world, ecs_despawn(f.world, ids[i]));
      ids[i] = SPAWN(f.world, f.velocity);
      CHECK_STATUS(f.world, ECS_EDEAD, ecs_despawn(f.world, dead[i]));
    }
  CHECK_INTEGER(MANY, ecs_alive_count(f.world));
  for (int i = 0; i < MANY; i++) CHECK(ecs_alive(f.world, ids[i]));
  for (int i = 0; i < MANY; i++) CHECK(dead[i] == 0 || !ecs_alive(f.world, dead[i]));
  close_world(&f);
}

static void inherits_nothing(void) {
  open_usual(&f);
  f.a = SPAWN(f.world, f.position, f.enemy);
  set_position(&f, f.a, 5, 6);
  CHECK_OK(f.world, ecs_name(f.world, f.a, "old"));
  CHECK_OK(f.world, ecs_despawn(f.world, f.a));
  f.b = spawn_empty(f.world);
  CHECK_INTEGER(ecs_id_index(f.a), ecs_id_index(f.b));
  CHECK(!ecs_has(f.world, f.b, f.position) && !ecs_has(f.world, f.b, f.enemy));
  CHECK_TEXT(NULL, ecs_name_of(f.world, f.b));
  CHECK(ecs_lookup(f.world, "old") == ECS_NULL);
  CHECK_OK(f.world, ecs_add(f.world, f.b, f.position));
  CHECK(get_position(&f, f.b).x == 0);
  close_world(&f);
}

static const struct test tests[] = {
  {"C35: an id is index, generation and tag below 2^53", packs_ids},
  {"C38: a freed index comes back with the next generation", recycles_last_in_first_out},
  {"C37, C63, C64: dead, unborn, foreign and senseless ids are four errors", four_errors},
  {"components are entities, but neither spawned nor despawned", ids_of_components},
  {"C39: a slot whose generations are used up is retired", used_up_slots_retire},
  {"C40: recycle_retired gives slots back and clears what names them",
   retired_slots_come_back},
  {"C40: retired slots come back outside of the range, too",
   retired_slots_outside_of_the_range},
  {"C39: slots of components retire too", components_retire_too},
  {"C82: ranges part the index", ranges_part_the_index},
  {"C82: ranges part slots where pages are few, too", ranges_part_near_slots},
  {"C82: far indices cost a page each", ranges_of_one_page_each},
  {"C82: adopted ids in a range are passed over", ranges_and_adopted_ids},
  {"spawn_at adopts unborn ids and refuses taken and dead ones", adopts_ids},
  {"spawn_at takes slots out of the middle of the free list", adopts_free_slots},
  {"spawn_at refuses what is no id of the world", refuses_to_adopt},
  {"spawn_at in a scope lives and dies with it", adopts_in_a_scope},
  {"C53, C54: a stale id never kills the new tenant", stale_ids_never_hit_tenants},
  {"C57: a recycled slot inherits nothing", inherits_nothing},
};

int main(void) { return RUN_TESTS(tests); }
