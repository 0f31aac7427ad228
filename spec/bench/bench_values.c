/* Values that hosts give: set by ids, and spawned with, against the stores by hand. */
#include "library.h"

#define MOST 25u

static ecs_id *spawned(struct library *library, uint32_t n) {
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids);
  library_open(library);
  need_ok(ecs_spawn_many(library->world, n, library->both, 2, ids));
  return ids;
}

/* ---- set ---- */

#define ROUNDS(n) (n < 1000000 ? 1000000 / n : 1)

static struct sample set_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids);
  hand_open(&hand, 1);
  for (uint32_t i = 0; i < n; i++) ids[i] = hand_spawn(&hand, hand.tables[1]);
  bench_shuffle(ids, n);
  double start = bench_now();
  for (uint32_t round = 0; round < ROUNDS(n); round++)
    for (uint32_t i = 0; i < n; i++)
      NEED(hand_set(&hand, ids[i], &(struct position){(float)(i % 1000), (float)round}));
  struct sample sample = {(double)n * ROUNDS(n), bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample set(uint32_t n) {
  struct library library;
  ecs_id *ids = spawned(&library, n);
  bench_shuffle(ids, n);
  double start = bench_now();
  for (uint32_t round = 0; round < ROUNDS(n); round++)
    for (uint32_t i = 0; i < n; i++)
      need_ok(ecs_set(library.world, ids[i], library.both[0],
                      &(struct position){(float)(i % 1000), (float)round}));
  struct sample sample = {(double)n * ROUNDS(n), bench_now() - start,
                          library_checksum(&library)};
  library_close(&library);
  free(ids);
  return sample;
}

/* ---- spawn with values ---- */

static uint32_t fields;        /* of the component, 2 to MOST */

static ecs_id wide_component(ecs_world *world) {
  ecs_field list[MOST];
  char names[MOST][8];
  for (uint32_t i = 0; i < fields; i++) {
    snprintf(names[i], sizeof names[i], "f%u", (unsigned)i);
    list[i] = (ecs_field){.name = names[i], .type = ECS_F32, .offset = i * sizeof(float)};
  }
  ecs_component_desc desc = {.name = "Wide", .fields = list, .field_count = fields};
  ecs_id id;
  need_ok(ecs_component(world, &desc, &id));
  return id;
}

/* The sum of an entity's fields, which the last one alone has by the entity's number. */
static void fill(float *values, uint32_t nth) {
  for (uint32_t i = 0; i < fields; i++) values[i] = (float)(i + 1);
  values[fields - 1] = (float)(nth % 1000);
}

/* ecs_spawn, and stores to columns that the host has beside. */
static struct sample spawn_and_store(uint32_t n) {
  struct library library;
  library_open(&library);
  ecs_id wide = wide_component(library.world), id;
  float *columns[MOST], values[MOST];
  for (uint32_t f = 0; f < fields; f++) columns[f] = bench_resize(NULL, n * sizeof(float));
  for (uint32_t f = 0; f < fields; f++) memset(columns[f], 0, n * sizeof(float));
  double start = bench_now(), sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    fill(values, i);
    need_ok(ecs_spawn(library.world, &wide, 1, &id));
    for (uint32_t f = 0; f < fields; f++) columns[f][i] = values[f];
  }
  double seconds = bench_now() - start;
  for (uint32_t f = 0; f < fields; f++) {
    for (uint32_t i = 0; i < n; i++) sum += (double)columns[f][i] * (1 + i % 7);
    free(columns[f]);
  }
  library_close(&library);
  return (struct sample){n, seconds, sum};
}

static struct sample spawn_and_set(uint32_t n) {
  struct library library;
  library_open(&library);
  ecs_id wide = wide_component(library.world), id;
  float values[MOST];
  double start = bench_now(), sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    fill(values, i);
    need_ok(ecs_spawn(library.world, &wide, 1, &id));
    need_ok(ecs_set(library.world, id, wide, values));
  }
  double seconds = bench_now() - start;
  ecs_query *query;
  ecs_iter it;
  need_ok(ecs_query_new(library.world, "Wide", &query));
  need_ok(ecs_iter_open(query, &it));
  NEED(ecs_iter_next(&it) && it.count == n);
  for (uint32_t f = 0; f < fields; f++) {
    const float *column = ecs_iter_column(&it, 0, f);
    for (uint32_t i = 0; i < n; i++) sum += (double)column[i] * (1 + i % 7);
  }
  need_ok(ecs_iter_close(&it));
  library_close(&library);
  return (struct sample){n, seconds, sum};
}

int main(void) {
  static const uint32_t widths[] = {2, 5, MOST};
  bench_begin();
  bench_row("set of a struct by id, shuffled", 100000, 9, set_by_hand, set, 2);
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    char name[64];
    fields = widths[i];
    snprintf(name, sizeof name, "spawn with values of %u fields", (unsigned)fields);
    bench_row(name, 100000, 9, spawn_and_store, spawn_and_set, 1.5);
  }
  return 0;
}
