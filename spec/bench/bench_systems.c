/* What one native system costs on one table of few rows, beyond what it does itself. */
#include "library.h"

static uint64_t seen;

static ecs_status visit(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world, (void)dt, (void)ud;
  ecs_iter it;
  need_ok(ecs_iter_open(query, &it));
  while (ecs_iter_next(&it)) {
    const float *x = ecs_iter_column(&it, 0, 0);
    for (size_t i = 0; i < it.count; i++) seen += x[i] > 0;
  }
  return ecs_iter_close(&it);
}

static void add_system(struct library *library, uint32_t number) {
  char name[32];
  snprintf(name, sizeof name, "s%u", (unsigned)number);
  ecs_system_desc desc = {.name = name, .query = "Position", .run = visit};
  need_ok(ecs_system_new(library->world, &desc));
}

/* ns of an update divided by `parts`. */
static double update_ns(struct library *library, uint32_t parts) {
  double best = 0;
  for (int i = 0; i < 200; i++) {
    double start = bench_now();
    need_ok(ecs_update(library->world, 0.5));
    best = bench_best(best, (struct sample){parts, bench_now() - start, 0});
  }
  return best;
}

static void many_systems(uint32_t systems) {
  struct library library;
  library_open(&library);
  need_ok(ecs_spawn_many(library.world, 4, library.both, 1, NULL));
  for (uint32_t i = 0; i < systems; i++) add_system(&library, i);
  seen = 0;
  bench_print("native: one system on one table of 4 rows", systems,
              update_ns(&library, systems), NAN, 100, "ns");
  NEED(seen == 200u * 4 * systems);
  library_close(&library);
}

/* Tables by the tags in them. */
static void many_tables(uint32_t tags) {
  struct library library;
  library_open(&library);
  ecs_id ids[32] = {library.both[0]};
  uint32_t tables = 1u << tags;
  for (uint32_t i = 0; i < tags; i++) {
    char name[32];
    snprintf(name, sizeof name, "T%u", (unsigned)i);
    need_ok(ecs_tag(library.world, name, &ids[tags + 1 + i]));
  }
  for (uint32_t i = 0; i < tables; i++) {
    uint32_t count = 1;
    for (uint32_t bit = 0; bit < tags; bit++)
      if (i >> bit & 1) ids[count++] = ids[tags + 1 + bit];
    need_ok(ecs_spawn_many(library.world, 4, ids, count, NULL));
  }
  add_system(&library, 0);
  seen = 0;
  bench_print("native: one system on one more table of 4 rows", tables,
              update_ns(&library, tables), NAN, 100, "ns");
  NEED(seen == 200u * 4 * tables);
  library_close(&library);
}

int main(void) {
  bench_begin();
  many_systems(500);
  many_tables(10);
  return 0;
}
