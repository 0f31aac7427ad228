/* What calls cost, counted in instructions: `cost CASE N` makes a world of size N and then does
** the same work whatever N is, inside `measured`, which is all that spec/tools/costs counts.
** Without a case it lists them: a name, and the sentence that holds when the count for 10 N is
** that for N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ecs.h"

#define ROUNDS 200
#define DIGITS 12      /* tags A0 to A11: their sets make 4,096 tables */

struct cost {
  const char *name;
  size_t n;
  const char *sentence;
  void (*prepare)(size_t n);
  void (*work)(void);
};

static ecs_world *world;
static ecs_id position, rare, tags[DIGITS], subject;
static ecs_query *query;

static void need(ecs_status status) {
  if (status == ECS_OK) return;
  fprintf(stderr, "cost: %s\n", ecs_message(world));
  exit(1);
}

static void *allocate(void *ud, void *block, size_t old_size, size_t size) {
  (void)ud, (void)old_size;
  if (size) return realloc(block, size);
  free(block);
  return NULL;
}

static void begin(void) {
  ecs_world_desc desc = {.alloc = allocate, .tag = 1};
  ecs_field fields[] = {{.name = "x", .type = ECS_F32}, {.name = "y", .type = ECS_F32}};
  ecs_component_desc component = {.name = "Position", .fields = fields, .field_count = 2};
  if (ecs_world_new(&desc, &world) != ECS_OK) exit(1);
  need(ecs_component(world, &component, &position));
  need(ecs_tag(world, "Rare", &rare));
  for (int i = 0; i < DIGITS; i++) {
    char name[8];
    snprintf(name, sizeof name, "A%d", i);
    need(ecs_tag(world, name, &tags[i]));
  }
}

/* The ids of the nth set of tags, with Position. */
static size_t set_of(size_t n, ecs_id *ids) {
  size_t count = 0;
  ids[count++] = position;
  for (int i = 0; i < DIGITS; i++)
    if (n >> i & 1) ids[count++] = tags[i];
  return count;
}

static void spawn_in_tables(size_t n) {
  ecs_id ids[DIGITS + 1];
  for (size_t i = 0; i < n; i++) need(ecs_spawn(world, ids, set_of(i, ids), &subject));
}

static void spawn_rows(size_t n) { need(ecs_spawn_many(world, n, &position, 1, NULL)); }

/* ---- the cases ---- */

static void tables_then_one(size_t n) {
  spawn_in_tables(n);
  need(ecs_spawn(world, (ecs_id[]){position, tags[0]}, 2, &subject));
}

static void spawn_into_known_table(void) {
  ecs_id ids[] = {position, tags[0], tags[2]}, entity;
  for (int i = 0; i < ROUNDS; i++) {
    ids[1] = tags[i % 2];
    need(ecs_spawn(world, ids, 3, &entity));
  }
}

static void add_and_remove(void) {
  for (int i = 0; i < ROUNDS; i++) {
    need(ecs_add(world, subject, rare));
    need(ecs_remove(world, subject, rare));
  }
}

static void prepare_moves(size_t n) {
  tables_then_one(n);
  add_and_remove();
}

static void ask_has(void) {
  for (int i = 0; i < ROUNDS; i++)
    if (ecs_has(world, subject, rare) || !ecs_has(world, subject, position)) exit(1);
}

static void prepare_wide(size_t n) {
  ecs_id ids[65];
  ids[0] = position;
  for (size_t i = 1; i <= n; i++) {
    char name[16];
    snprintf(name, sizeof name, "W%u", (unsigned)i);
    need(ecs_tag(world, name, &ids[i]));
  }
  need(ecs_spawn(world, ids, n + 1, &subject));
}

static void prepare_rare(size_t n) {
  spawn_in_tables(n);
  need(ecs_spawn(world, (ecs_id[]){position, rare}, 2, &subject));
}

static void query_for_rare(void) {
  for (int i = 0; i < ROUNDS; i++) {
    ecs_query *found;
    need(ecs_query_new(world, "Rare, Position", &found));
    if (ecs_query_count(found) != 1) exit(1);
    ecs_query_free(found);
  }
}

static void query_and_count(void) {
  size_t count;
  for (int i = 0; i < ROUNDS; i++) {
    ecs_query *found;
    need(ecs_query_new(world, "Position, !Rare", &found));
    need(ecs_count(world, "Position, !Rare", &count));
    if (ecs_query_count(found) != count) exit(1);
    ecs_query_free(found);
  }
}

static void spawn_and_despawn(void) {
  ecs_id entity;
  for (int i = 0; i < ROUNDS; i++) {
    need(ecs_spawn(world, &position, 1, &entity));
    need(ecs_despawn(world, entity));
  }
}

static void kill_first(void) {
  ecs_iter it;
  need(ecs_iter_open(query, &it));
  while (ecs_iter_next(&it))
    for (size_t row = 0; row < it.count && row < ROUNDS; row++)
      need(ecs_despawn(world, ecs_iter_entity(&it, row)));
  need(ecs_iter_close(&it));
}

/* One more than n: rows that are all there is of a table leave it in another way. */
static void prepare_kills(size_t n) {
  spawn_rows(n + 1);
  need(ecs_query_new(world, "Position", &query));
}

/* 100 of a kind that is left, among n of others and in place of n that are gone. */
static void prepare_few(size_t n) {
  ecs_id kind[] = {position, rare};
  ecs_query *all;
  need(ecs_spawn_many(world, n, kind, 2, NULL));
  need(ecs_query_new(world, "Rare", &all));
  need(ecs_query_despawn(all));
  spawn_rows(n);
  need(ecs_spawn_many(world, 100, kind, 2, NULL));
  need(ecs_query_new(world, "Rare, Position", &query));
}

static void iterate_few(void) {
  float sum = 0;
  for (int i = 0; i < ROUNDS; i++) {
    ecs_iter it;
    need(ecs_iter_open(query, &it));
    while (ecs_iter_next(&it)) {
      const float *x = ecs_iter_column(&it, 1, 0);
      for (size_t row = 0; row < it.count; row++) sum += x[row];
    }
    need(ecs_iter_close(&it));
  }
  if (sum != 0) exit(1);
}

static void prepare_subject(size_t n) {
  spawn_rows(n);
  need(ecs_spawn(world, &position, 1, &subject));
}

static void ask_alive(void) {
  for (int i = 0; i < ROUNDS; i++)
    if (!ecs_alive(world, subject) || ecs_alive(world, subject + 1)) exit(1);
}

/* n queries that no table matches which is made then. */
static void ask_for_others(size_t n) {
  for (size_t i = 0; i < n; i++) {
    char name[32];
    ecs_id id;
    snprintf(name, sizeof name, "B%u", (unsigned)i);
    need(ecs_tag(world, name, &id));
    snprintf(name, sizeof name, "Position, B%u", (unsigned)i);
    need(ecs_query_new(world, name, &query));
  }
}

static void make_tables(void) {
  static size_t made;
  ecs_id ids[DIGITS + 1], entity;
  for (int i = 0; i < ROUNDS; i++, made++) need(ecs_spawn(world, ids, set_of(made, ids), &entity));
}

/* Each comes after the one before, of which there are n. */
static size_t chained;

static ecs_status idle(ecs_world *of, ecs_query *reads, double dt, void *ud) {
  (void)of, (void)reads, (void)dt, (void)ud;
  return ECS_OK;
}

static void chain_systems(size_t n) {
  for (size_t i = 0; i < n; i++) {
    char name[24], last[24];
    snprintf(name, sizeof name, "chained %u", (unsigned)++chained);
    snprintf(last, sizeof last, "chained %u", (unsigned)chained - 1);
    need(ecs_system_new(world, &(ecs_system_desc){.name = name, .run = idle,
                                                  .after = (const char *[]){last, NULL}}));
  }
}

static void chain_more(void) { chain_systems(ROUNDS); }

static const struct cost costs[] = {
  {"table", 400, "C9: finding a table by its ids costs the same among ten times as many tables",
   tables_then_one, spawn_into_known_table},
  {"edge", 400, "C70: adding and removing costs the same among ten times as many tables",
   prepare_moves, add_and_remove},
  {"match", 400, "C24: matching costs the same with ten times as many entities in the same tables",
   spawn_rows, query_and_count},
  {"churn", 400, "C52: spawning and despawning costs the same among ten times as many entities",
   spawn_rows, spawn_and_despawn},
  {"kill", 400, "C52: despawning the first of all costs the same among ten times as many entities",
   prepare_kills, kill_first},
  {"dense", 400, "C56: a loop costs what its rows cost, whatever else lives or has died",
   prepare_few, iterate_few},
  {"index", 400, "C83: a query for a rare component costs the same among ten times as many tables",
   prepare_rare, query_for_rare},
  {"alive", 400, "C80: asking whether an entity is alive costs the same among ten times as many",
   prepare_subject, ask_alive},
  {"has", 6, "C83: asking a table for a component costs the same when it has ten times as many",
   prepare_wide, ask_has},
  {"others", 40, "C83: a table costs the same to make among ten times as many queries for others",
   ask_for_others, make_tables},
  {"system", 300, "C46: a system costs the same to register behind ten times as many",
   chain_systems, chain_more},
};

#if defined(__GNUC__)
__attribute__((noinline))
#endif
void measured(void (*work)(void));

void measured(void (*work)(void)) { work(); }

static void run(const struct cost *cost, size_t n) {
  begin();
  cost->prepare(n);
  cost->work();           /* once, so that memory has grown to what the work takes */
  measured(cost->work);
  ecs_world_free(world);
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
    const struct cost *cost = &costs[i];
    if (argc < 3)
      printf("%s %u %s\n", cost->name, (unsigned)cost->n, cost->sentence);
    else if (strcmp(cost->name, argv[1]) == 0)
      run(cost, (size_t)atol(argv[2]));
  }
  return 0;
}
