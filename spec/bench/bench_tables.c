/* Many tables: what a new one costs among many queries, and moves among many. */
#include "library.h"

#define TAGS 14u
#define RARE 990u              /* components that no table has, a query for each */
#define FITTING 10u            /* queries that may match */

struct many {
  struct library library;
  ecs_id tags[TAGS], extra;
};

static void many_open(struct many *many) {
  library_open(&many->library);
  for (uint32_t i = 0; i < TAGS; i++) {
    char name[8];
    snprintf(name, sizeof name, "T%u", (unsigned)i);
    need_ok(ecs_tag(many->library.world, name, &many->tags[i]));
  }
  need_ok(ecs_tag(many->library.world, "Extra", &many->extra));
}

/* The components of the table that a number stands for. */
static uint32_t set_of(const struct many *many, uint32_t table, ecs_id *ids) {
  uint32_t count = 0;
  ids[count++] = many->library.both[0];
  for (uint32_t i = 0; i < TAGS; i++)
    if (table >> i & 1) ids[count++] = many->tags[i];
  return count;
}

/* ---- new tables ---- */

static struct sample make_tables(uint32_t n, bool rare) {
  struct many many;
  many_open(&many);
  ecs_world *world = many.library.world;
  ecs_query *query;
  for (uint32_t i = 0; i < RARE; i++) {
    char name[32];
    ecs_id id;
    snprintf(name, sizeof name, "Rare%u", (unsigned)i);
    need_ok(ecs_tag(world, name, &id));
    snprintf(name, sizeof name, "Position, Rare%u", (unsigned)i);
    if (rare) need_ok(ecs_query_new(world, name, &query));
  }
  for (uint32_t i = 0; i < FITTING; i++) {
    char text[32];
    snprintf(text, sizeof text, "Position, !T%u", (unsigned)i);
    need_ok(ecs_query_new(world, text, &query));
  }
  ecs_id ids[TAGS + 1], id;
  double start = bench_now();
  for (uint32_t i = 0; i < n; i++) need_ok(ecs_spawn(world, ids, set_of(&many, i, ids), &id));
  struct sample sample = {n, bench_now() - start, library_checksum(&many.library)};
  library_close(&many.library);
  return sample;
}

static struct sample new_tables(uint32_t n) { return make_tables(n, true); }
static struct sample new_tables_few(uint32_t n) { return make_tables(n, false); }

/* ---- moves among tables ---- */

static uint32_t tables_in_use;

/* Every entity gets a tag and loses it, in an order that has nothing to do with tables. */
static struct sample move_in(uint32_t n, uint32_t tables) {
  struct many many;
  many_open(&many);
  ecs_world *world = many.library.world;
  ecs_id *ids = bench_resize(NULL, n * sizeof *ids), set[TAGS + 1];
  for (uint32_t i = 0; i < n; i++)
    need_ok(ecs_spawn(world, set, set_of(&many, i % tables, set), &ids[i]));
  bench_shuffle(ids, n);
  double start = 0;
  for (int round = 0; round < 2; round++) {
    start = bench_now();
    for (uint32_t i = 0; i < n; i++) {
      need_ok(ecs_add(world, ids[i], many.extra));
      need_ok(ecs_remove(world, ids[i], many.extra));
    }
  }
  struct sample sample = {n, bench_now() - start, (double)ecs_alive_count(world)};
  library_close(&many.library);
  free(ids);
  return sample;
}

static struct sample move_in_few(uint32_t n) { return move_in(n, 10); }
static struct sample move_in_many(uint32_t n) { return move_in(n, tables_in_use); }

int main(void) {
  bench_begin();
  bench_row("a new table, 1,000 queries of which 10 may match (1: those 10)", 4096, 7,
            new_tables_few, new_tables, 1.3);
  tables_in_use = 10000;
  bench_row("add + remove of a tag, 10,000 tables (1: 10 tables), shuffled", 100000, 7,
            move_in_few, move_in_many, 4);
  return 0;
}
