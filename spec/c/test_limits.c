/* Reliability line 5: what is too large is refused as a limit, before memory is asked for;
** C62: used-up ids are loud. */
#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/change/declare.h"
#include "core/ids/world.h"
#include "core/storage/table.h"
#include "fixture.h"

static struct fixture f;

/* Nothing beyond 64 MB is ever asked for. */
#define MOST ((size_t)64 << 20)

/* What looks like 0 to who keeps 32 bits of it, where a size has more. */
#if SIZE_MAX > UINT32_MAX
#define BEYOND_32_BITS ((size_t)UINT32_MAX + 1)
#else
#define BEYOND_32_BITS SIZE_MAX
#endif

static void open_limited(void) {
  open_usual(&f);
  f.alloc.most = MOST;
}

static void close_limited(void) {
  CHECK(f.alloc.greatest <= MOST);
  close_world(&f);
}

static void huge_spawns(void) {
  static const size_t counts[] = {
    INDEX_LIMIT - FIRST_ENTITY + 1, INDEX_LIMIT, UINT32_MAX - 1, UINT32_MAX,
    BEYOND_32_BITS, SIZE_MAX / 16, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX
  };
  open_limited();
  uint64_t before = world_digest(f.world);
  size_t bytes = ecs_bytes(f.world);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    CHECK_FAILS(f.world, ECS_ELIMIT, "no entity ids are left",
                ecs_spawn_many(f.world, counts[i], &f.position, 1, NULL));
    CHECK_OK(f.world, ecs_defer(f.world));
    CHECK_FAILS(f.world, ECS_ELIMIT, "no entity ids are left",
                ecs_spawn_many(f.world, counts[i], &f.position, 1, NULL));
    CHECK_OK(f.world, ecs_cancel(f.world));
  }
  CHECK(world_digest(f.world) == before);
  CHECK(ecs_bytes(f.world) - bytes < 10000);
  close_limited();
}

static void too_many_components(void) {
  open_limited();
  ecs_id id;
  static const size_t counts[] = {UINT32_MAX, SIZE_MAX / 8, SIZE_MAX - 1, SIZE_MAX};
  for (size_t i = 0; i < 4; i++) {
    ecs_id at = FIRST_ENTITY | (ecs_id)1 << 44;
    CHECK_FAILS(f.world, ECS_EINVAL, "more than are declared",
                ecs_spawn(f.world, &f.position, counts[i], &id));
    CHECK_FAILS(f.world, ECS_EINVAL, "more than are declared",
                ecs_spawn_many(f.world, 1, &f.position, counts[i], NULL));
    CHECK_FAILS(f.world, ECS_EINVAL, "more than are declared",
                ecs_spawn_at(f.world, at, &f.position, counts[i]));
  }
  close_limited();
}

static void check_declaring(const ecs_field *field, uint32_t count, ecs_status wanted,
                            const char *words) {
  ecs_component_desc desc = {.name = "Big", .fields = field, .field_count = count};
  ecs_id id;
  CHECK_FAILS(f.world, wanted, words, ecs_component(f.world, &desc, &id));
  CHECK(ecs_component_find(f.world, "Big") == ECS_NULL);
}

static void huge_components(void) {
  open_limited();
  ecs_field row[] = {{.name = "m", .type = ECS_F32, .count = 1024}};
  ecs_id block = DECLARE(f.world, "Row", row);
  ecs_field five[] = {{.name = "rows", .type = ECS_NESTED, .nested = block, .count = 5}};
  check_declaring(five, 1, ECS_ELIMIT, "the limit is 4096");
  ecs_field all[] = {{.name = "rows", .type = ECS_NESTED, .nested = block, .count = 1024}};
  check_declaring(all, 1, ECS_ELIMIT, "the limit is 4096");
  ecs_field array[] = {{.name = "m", .type = ECS_U8, .count = 1025}};
  check_declaring(array, 1, ECS_ELIMIT, "1 to 1024");
  array[0].count = UINT32_MAX;
  check_declaring(array, 1, ECS_ELIMIT, "1 to 1024");
  check_declaring(array, 4097, ECS_ELIMIT, "4096");
  check_declaring(array, UINT32_MAX, ECS_ELIMIT, "4096");
  const char *const names[] = {"a"};
  ecs_field choice[] = {{.name = "e", .type = ECS_ENUM, .names = names}};
  check_declaring(choice, 1, ECS_ELIMIT, "0 names");
  choice[0].name_count = UINT32_MAX;
  check_declaring(choice, 1, ECS_ELIMIT, "65535");
  close_limited();
}

static void deep_components(void) {
  open_limited();
  ecs_id inner = f.position, id;
  char name[] = "Level1";
  for (int depth = 1; depth <= 7; depth++, name[5]++) {
    ecs_field fields[] = {{.name = "x", .type = ECS_NESTED, .nested = inner}};
    ecs_component_desc desc = {.name = name, .fields = fields, .field_count = 1};
    if (depth <= 6) {
      CHECK_OK(f.world, ecs_component(f.world, &desc, &inner));
      continue;
    }
    CHECK_FAILS(f.world, ECS_ELIMIT, "nest at most 6 deep",
                ecs_component(f.world, &desc, &id));
  }
  f.a = SPAWN(f.world, inner);
  CHECK(ecs_cell_of(f.world, f.a, inner, 1) != NULL);
  close_limited();
}

static void huge_native_structs(void) {
  open_limited();
  static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 1024};
  ecs_field fields[] = {{.name = "x", .type = ECS_F64}};
  ecs_id id;
  for (size_t i = 0; i < 4; i++) {
    ecs_component_desc desc = {
      .name = "Wide", .fields = fields, .field_count = 1, .native_size = sizes[i]
    };
    fields[0].offset = sizes[i] - 8;
    CHECK_FAILS(f.world, ECS_ELIMIT, "Wide", ecs_component(f.world, &desc, &id));
  }
  ecs_component_desc desc = {
    .name = "Wide", .fields = fields, .field_count = 1, .native_size = 64
  };
  static const size_t offsets[] = {57, 64, SIZE_MAX, SIZE_MAX - 7};
  for (size_t i = 0; i < 4; i++) {
    fields[0].offset = offsets[i];
    CHECK_FAILS(f.world, ECS_EINVAL, "outside the native struct",
                ecs_component(f.world, &desc, &id));
  }
  close_limited();
}

/* 4,096 leaves are possible, and as many columns. */
static void widest_component(void) {
  open_usual(&f);
  ecs_field fields[] = {{.name = "m", .type = ECS_U8, .count = 1024},
                        {.name = "n", .type = ECS_F64, .count = 1024},
                        {.name = "o", .type = ECS_I16, .count = 1024},
                        {.name = "p", .type = ECS_ENTITY, .count = 1024}};
  ecs_id wide = DECLARE(f.world, "Wide", fields);
  static struct {
    uint8_t m[1024];
    double n[1024];
    int16_t o[1024];
    ecs_id p[1024];
  } value, got;
  f.a = SPAWN(f.world, f.position, wide);
  for (int i = 0; i < 1024; i++) {
    value.m[i] = (uint8_t)i;
    value.n[i] = i * 0.5;
    value.o[i] = (int16_t)-i;
    value.p[i] = i % 2 ? f.a : ECS_NULL;
  }
  CHECK_OK(f.world, ecs_set(f.world, f.a, wide, &value));
  CHECK_OK(f.world, ecs_get(f.world, f.a, wide, &got));
  CHECK(memcmp(&value, &got, sizeof got) == 0);
  CHECK(ecs_cell_of(f.world, f.a, wide, 4095) != NULL);
  CHECK(ecs_cell_of(f.world, f.a, wide, 4096) == NULL);
  CHECK(ecs_cell_of(f.world, f.a, wide, UINT32_MAX) == NULL);
  close_world(&f);
}

static void huge_strings(void) {
  open_limited();
  static const size_t sizes[] = {(size_t)UINT32_MAX / 2 + 1, UINT32_MAX,
                                 BEYOND_32_BITS, SIZE_MAX / 2 + 1, SIZE_MAX};
  f.a = SPAWN(f.world, f.label);
  CHECK_OK(f.world, ecs_resource(f.world, f.label));
  for (size_t i = 0; i < 5; i++) {
    struct label label = {{"x", sizes[i]}};
    CHECK_FAILS(f.world, ECS_ELIMIT, "Label.text",
                ecs_set(f.world, f.a, f.label, &label));
    CHECK_FAILS(f.world, ECS_ELIMIT, "too long",
                ecs_resource_set(f.world, f.label, &label));
  }
  close_limited();
}

static void huge_ranges(void) {
  static const uint32_t ranges[][2] = {
    {0, 100000}, {1, 2}, {65535, 70000}, {65536, INDEX_LIMIT}, {65536, UINT32_MAX},
    {UINT32_MAX, UINT32_MAX}, {70001, 70000}, {INDEX_LIMIT, INDEX_LIMIT}
  };
  open_limited();
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    CHECK_FAILS(f.world, ECS_EINVAL, "entity range",
                ecs_entity_range(f.world, ranges[i][0], ranges[i][1]));
  CHECK_OK(f.world, ecs_entity_range(f.world, INDEX_LIMIT - 1, INDEX_LIMIT - 1));
  f.a = spawn_empty(f.world);
  CHECK_INTEGER(INDEX_LIMIT - 1, ecs_id_index(f.a));
  close_limited();
}

static void exhausted_ids(void) {
  open_limited();
  CHECK_OK(f.world, ecs_entity_range(f.world, 65536, 65539));
  ecs_id ids[4], more;
  CHECK_FAILS(f.world, ECS_ELIMIT, "no entity ids are left between 65536 and 65539",
              ecs_spawn_many(f.world, 5, &f.enemy, 1, NULL));
  CHECK_OK(f.world, ecs_spawn_many(f.world, 4, &f.enemy, 1, ids));
  CHECK_FAILS(f.world, ECS_ELIMIT, "no entity ids are left between 65536 and 65539",
              ecs_spawn(f.world, NULL, 0, &more));
  CHECK_OK(f.world, ecs_despawn(f.world, ids[2]));
  CHECK_OK(f.world, ecs_spawn(f.world, NULL, 0, &more));
  CHECK_INTEGER(ecs_id_index(ids[2]), ecs_id_index(more));
  CHECK_INTEGER(1, ecs_id_generation(more));
  CHECK_STATUS(f.world, ECS_ELIMIT, ecs_spawn(f.world, NULL, 0, &more));
  close_limited();
}

static void exhausted_component_ids(void) {
  open_world(&f);
  char name[16];
  ecs_id id = ECS_NULL;
  for (unsigned i = 1; i < FIRST_ENTITY; i++) {
    snprintf(name, sizeof name, "T%u", i);
    if (!CHECK_OK(f.world, ecs_tag(f.world, name, &id))) break;
    CHECK_INTEGER(i, id);
  }
  CHECK_FAILS(f.world, ECS_ELIMIT, "65535", ecs_tag(f.world, "OneMore", &id));
  CHECK_OK(f.world, ecs_undeclare(f.world, 777));
  CHECK_OK(f.world, ecs_tag(f.world, "OneMore", &id));
  CHECK_INTEGER(777, ecs_id_index(id));
  CHECK_INTEGER(1, ecs_id_generation(id));
  close_world(&f);
}

/* The helpers that every size goes through. */
static void sizes_that_overflow(void) {
  open_limited();
  struct memory *memory = &f.world->memory;
  f.alloc.greatest = 0;
  size_t calls = f.alloc.calls;
  uint32_t capacity = 0;
  CHECK(memory_array(memory, SIZE_MAX, 2) == NULL);
  CHECK(memory_array(memory, SIZE_MAX / 2, 3) == NULL);
  CHECK(memory_array(memory, SIZE_MAX / 16 + 1, 16) == NULL);
  CHECK(memory_grow(memory, NULL, &capacity, UINT64_MAX, 4) == NULL);
  CHECK(memory_grow(memory, NULL, &capacity, UINT32_MAX, 1) == NULL);
  CHECK(memory_grow(memory, NULL, &capacity, 1000, SIZE_MAX / 100) == NULL);
  CHECK_INTEGER(0, capacity);
  struct column_buffer buffer = {NULL, NULL, 0};
  CHECK(!buffer_grow(memory, &buffer, SIZE_MAX, 0));
  CHECK(!buffer_grow(memory, &buffer, SIZE_MAX - 63, 0));
  CHECK(buffer.data == NULL && buffer.size == 0);
  struct arena arena = {NULL};
  CHECK(arena_take(memory, &arena, SIZE_MAX) == NULL);
  CHECK(arena_take(memory, &arena, SIZE_MAX - 8) == NULL);
  struct map map = {NULL, 0, 0};
  CHECK(!map_reserve(memory, &map, UINT32_MAX));
  CHECK(!map_reserve(memory, &map, UINT64_MAX / 8));
  CHECK_INTEGER(calls, f.alloc.calls);
  struct table *table = f.world->graph.empty;
  CHECK_FAILS(f.world, ECS_ELIMIT, "rows", table_reserve(f.world, table, UINT32_MAX));
  CHECK_FAILS(f.world, ECS_ELIMIT, "rows", table_reserve(f.world, table, ROW_LIMIT + 1u));
  CHECK_INTEGER(calls, f.alloc.calls);
  close_limited();
}

static void huge_queries(void) {
  open_limited();
  static char text[1025 * 9];
  ecs_query *query;
  size_t size = 0;
  for (int i = 0; i < 1024; i++) {
    memcpy(text + size, "Position,", 9);
    size += 9;
  }
  text[size - 1] = '\0';
  f.a = SPAWN(f.world, f.position);
  CHECK_OK(f.world, ecs_query_new(f.world, text, &query));
  CHECK_INTEGER(1, ecs_query_count(query));
  memcpy(text + size - 1, ",Frozen", 8);
  CHECK_FAILS(f.world, ECS_ELIMIT, "1024 terms", ecs_query_new(f.world, text, &query));
  close_limited();
}

static void senseless_times(void) {
  open_limited();
  const double zero = f.alloc.bytes ? 0.0 : 1.0;
  const double times[] = {-1, -1e-300, 1e18, 1e300, 1 / zero, -1 / zero, zero / zero};
  for (size_t i = 0; i < 7; i++) {
    ecs_phase_desc phase = {"p", NULL, NULL, times[i]};
    CHECK_FAILS(f.world, ECS_EINVAL, "not a time", ecs_update(f.world, times[i]));
    CHECK_FAILS(f.world, ECS_EINVAL, "not a time", ecs_run(f.world, "update", times[i]));
    CHECK_FAILS(f.world, ECS_EINVAL, "not a step", ecs_phase(f.world, &phase));
  }
  close_limited();
}

static const struct test tests[] = {
  {"spawning more than there are ids is refused at once", huge_spawns},
  {"more components than are declared are refused", too_many_components},
  {"components of too many fields are refused", huge_components},
  {"components nest at most 6 deep", deep_components},
  {"native structs of absurd sizes are refused", huge_native_structs},
  {"a component may have 4,096 leaves", widest_component},
  {"strings of absurd sizes are refused", huge_strings},
  {"C82: entity ranges outside of the index are refused", huge_ranges},
  {"C62: used-up ids are an error, never a duplicate", exhausted_ids},
  {"C62: used-up ids of components are an error", exhausted_component_ids},
  {"sizes that overflow are refused before memory is asked for", sizes_that_overflow},
  {"a query has at most 1,024 terms", huge_queries},
  {"times that are no times are refused", senseless_times},
};

int main(void) { return RUN_TESTS(tests); }
