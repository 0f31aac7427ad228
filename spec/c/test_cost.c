/* Costs that do not grow: the same calls in a small world and in one a thousand times as large
** take about as long. What grew with the world would take hundreds of times as long; what else
** the machine does can only make a run longer, so the shortest of many counts. C9, C80. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/store/world.h"
#include "fixture.h"

enum { ASKED = 64, CALLS = 4096, TURNS = 40, FACTOR = 8 };

static struct fixture f;
static volatile size_t sink;   /* so that no call is left out */

/* What is timed: asks ASKED ids of f.world, CALLS times in all. */
typedef size_t work(const ecs_id *ids);

static clock_t shortest(work *run, const ecs_id *ids) {
  clock_t least = 0;
  for (int turn = 0; turn < TURNS; turn++) {
    clock_t start = clock();
    sink += run(ids);
    clock_t took = clock() - start;
    if (turn == 0 || took < least) least = took;
  }
  return least;
}

static void is_about_as_long(clock_t small, clock_t large) {
  if (!CHECK(large <= FACTOR * (small + 10)))
    printf("# %ld in the small world, %ld in the large one\n", (long)small, (long)large);
}

/* ---- the entity index: `count` entities, every other one dead ---- */

static void populate(size_t count, ecs_id *ids) {
  ecs_id *all = malloc(count * sizeof *all);
  open_usual(&f);
  if (!CHECK(all != NULL)) return;
  CHECK_OK(f.world, ecs_spawn_many(f.world, count, NULL, 0, all));
  for (size_t i = 1; i < count; i += 2) CHECK_OK(f.world, ecs_despawn(f.world, all[i]));
  memcpy(ids, all + count - ASKED, ASKED * sizeof *ids);
  free(all);
}

static size_t ask_alive(const ecs_id *ids) {
  size_t alive = 0;
  for (int i = 0; i < CALLS; i++) alive += ecs_alive(f.world, ids[i % ASKED]);
  return alive;
}

static clock_t alive_among(size_t count) {
  ecs_id ids[ASKED];
  populate(count, ids);
  CHECK_INTEGER(CALLS / 2, ask_alive(ids));
  clock_t took = shortest(ask_alive, ids);
  close_world(&f);
  return took;
}

static void alive_is_flat(void) {
  clock_t small = alive_among(ASKED);
  is_about_as_long(small, alive_among((size_t)by_scale(20000, 100000, 100000)));
}

/* ---- tables: one for each set of tags ---- */

enum { TAGS = 11 };

static void spawn_sets(uint32_t sets, ecs_id *ids) {
  ecs_id tags[TAGS];
  open_usual(&f);
  for (int i = 0; i < TAGS; i++) {
    char name[16];
    snprintf(name, sizeof name, "T%d", i);
    tags[i] = declare_tag(f.world, name);
  }
  for (uint32_t entity = 0; entity < sets || entity < ASKED; entity++) {
    uint32_t set = entity % sets;
    ecs_id chosen[TAGS + 1] = {f.health};
    size_t count = 1;
    for (int i = 0; i < TAGS; i++)
      if (set >> i & 1) chosen[count++] = tags[i];
    ids[entity % ASKED] = spawn(f.world, chosen, count);
  }
}

static size_t read_health(const ecs_id *ids) {
  struct health health;
  size_t sum = 0;
  for (int i = 0; i < CALLS; i++)
    if (ecs_get(f.world, ids[i % ASKED], f.health, &health) == ECS_OK) sum += (size_t)health.hp;
  return sum;
}

static clock_t read_among(uint32_t sets) {
  ecs_id ids[ASKED];
  spawn_sets(sets, ids);
  CHECK(f.world->graph.live >= sets);
  CHECK_INTEGER(100 * CALLS, read_health(ids));
  clock_t took = shortest(read_health, ids);
  close_world(&f);
  return took;
}

static void tables_are_found_at_once(void) {
  clock_t small = read_among(1);
  is_about_as_long(small, read_among(1u << TAGS));
}

static const struct test tests[] = {
  {"C80: asking who is alive costs the same among many, the living and the dead", alive_is_flat},
  {"C9: reading an entity costs the same among many tables", tables_are_found_at_once},
};

int main(void) { return RUN_TESTS(tests); }
