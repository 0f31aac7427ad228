/* Structure, from C: spawning, moving, despawning and reading entities of two components of
** two f32, against the same by hand. */
#include "library.h"

/* Small worlds are run several times a sample, so that it takes long enough to be timed. */
static uint32_t rounds_of(uint32_t n) { return n < 200000 ? 200000 / n : 1; }

static ecs_id *new_ids(uint32_t n) { return bench_resize(NULL, n * sizeof(ecs_id)); }

/* ---- spawning ---- */

static struct sample spawn_by_hand(uint32_t n) {
  struct sample sample = {0, 0, 0};
  for (uint32_t i = rounds_of(n); i > 0; i--) {
    struct hand hand;
    hand_open(&hand, 1);
    double start = bench_now();
    for (uint32_t j = 0; j < n; j++) hand_spawn(&hand, hand.tables[1]);
    sample.seconds += bench_now() - start;
    sample.rows += n;
    sample.checksum += hand_checksum(&hand);
    hand_close(&hand);
  }
  return sample;
}

static struct sample spawn(uint32_t n) {
  struct sample sample = {0, 0, 0};
  for (uint32_t i = rounds_of(n); i > 0; i--) {
    struct library library;
    ecs_id id;
    library_open(&library);
    double start = bench_now();
    for (uint32_t j = 0; j < n; j++) need_ok(ecs_spawn(library.world, library.both, 2, &id));
    sample.seconds += bench_now() - start;
    sample.rows += n;
    sample.checksum += library_checksum(&library);
    library_close(&library);
  }
  return sample;
}

/* Batches of n in one world. */
static struct sample spawn_many_by_hand(uint32_t n) {
  uint32_t rounds = rounds_of(n);
  ecs_id *ids = new_ids(n);
  memset(ids, 0, n * sizeof *ids);
  struct hand hand;
  hand_open(&hand, 1);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) hand_spawn_many(&hand, hand.tables[1], n, ids);
  struct sample sample = {(double)n * rounds, bench_now() - start,
                          hand_checksum(&hand) + ecs_id_index(ids[n - 1])};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample spawn_many(uint32_t n) {
  uint32_t rounds = rounds_of(n);
  ecs_id *ids = new_ids(n);
  memset(ids, 0, n * sizeof *ids);
  struct library library;
  library_open(&library);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++)
    need_ok(ecs_spawn_many(library.world, n, library.both, 2, ids));
  struct sample sample = {(double)n * rounds, bench_now() - start,
                          library_checksum(&library) + ecs_id_index(ids[n - 1]) - 65536};
  library_close(&library);
  free(ids);
  return sample;
}

/* ---- adding and removing ---- */

static void hand_begin(struct hand *hand, uint32_t n, uint32_t table, ecs_id *ids) {
  hand_open(hand, 1);
  for (uint32_t i = 0; i < n; i++) ids[i] = hand_spawn(hand, hand->tables[1]);
  if (table == 0) hand_remove_all(hand, hand->tables[1]);
}

static void library_begin(struct library *library, uint32_t n, uint32_t components,
                          ecs_id *ids) {
  library_open(library);
  for (uint32_t i = 0; i < n; i++)
    need_ok(ecs_spawn(library->world, library->both, components, &ids[i]));
}

/* Each entity gets Velocity and loses it. */
static struct sample add_remove_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_begin(&hand, n, 0, ids);
  uint32_t rounds = rounds_of(n);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    for (uint32_t j = 0; j < n; j++) {
      hand_add(&hand, ids[j]);
      hand_remove(&hand, ids[j]);
    }
  }
  struct sample sample = {(double)n * rounds, bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample add_remove(uint32_t n) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 1, ids);
  uint32_t rounds = rounds_of(n);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    for (uint32_t j = 0; j < n; j++) {
      need_ok(ecs_add(library.world, ids[j], library.both[1]));
      need_ok(ecs_remove(library.world, ids[j], library.both[1]));
    }
  }
  struct sample sample = {(double)n * rounds, bench_now() - start,
                          library_checksum(&library)};
  library_close(&library);
  free(ids);
  return sample;
}

/* All entities get Velocity, then all lose it. */
static struct sample add_all_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_begin(&hand, n, 0, ids);
  uint32_t rounds = rounds_of(n);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    for (uint32_t j = 0; j < n; j++) hand_add(&hand, ids[j]);
    for (uint32_t j = 0; j < n; j++) hand_remove(&hand, ids[j]);
  }
  struct sample sample = {(double)n * rounds, bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static void begin_scope(ecs_world *world, bool staged) {
  if (staged) need_ok(ecs_defer(world));
}

static void end_scope(ecs_world *world, bool staged) {
  if (staged) need_ok(ecs_commit(world));
}

static struct sample add_all_in(uint32_t n, bool staged) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 1, ids);
  uint32_t rounds = rounds_of(n);
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    begin_scope(library.world, staged);
    for (uint32_t j = 0; j < n; j++)
      need_ok(ecs_add(library.world, ids[j], library.both[1]));
    end_scope(library.world, staged);
    begin_scope(library.world, staged);
    for (uint32_t j = 0; j < n; j++)
      need_ok(ecs_remove(library.world, ids[j], library.both[1]));
    end_scope(library.world, staged);
  }
  struct sample sample = {(double)n * rounds, bench_now() - start,
                          library_checksum(&library)};
  library_close(&library);
  free(ids);
  return sample;
}

/* All entities lose Velocity. */
static struct sample remove_all_in(uint32_t n, bool staged) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 1, ids);
  uint32_t rounds = rounds_of(n);
  double seconds = 0;
  for (uint32_t i = 0; i < rounds; i++) {
    need_ok(ecs_query_add(library.all, library.both[1]));
    double start = bench_now();
    begin_scope(library.world, staged);
    for (uint32_t j = 0; j < n; j++)
      need_ok(ecs_remove(library.world, ids[j], library.both[1]));
    end_scope(library.world, staged);
    seconds += bench_now() - start;
  }
  struct sample sample = {(double)n * rounds, seconds, library_checksum(&library)};
  library_close(&library);
  free(ids);
  return sample;
}

static struct sample remove_all(uint32_t n) { return remove_all_in(n, false); }
static struct sample remove_all_staged(uint32_t n) { return remove_all_in(n, true); }
static struct sample add_all(uint32_t n) { return add_all_in(n, false); }
static struct sample add_all_staged(uint32_t n) { return add_all_in(n, true); }

/* ---- whole queries ---- */

static struct sample query_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_begin(&hand, n, 0, ids);
  uint32_t rounds = rounds_of(n) + 2;
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    hand_add_all(&hand, hand.tables[0]);
    hand_remove_all(&hand, hand.tables[1]);
  }
  struct sample sample = {(double)n * rounds, bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample query(uint32_t n) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 1, ids);
  uint32_t rounds = rounds_of(n) + 2;
  double start = bench_now();
  for (uint32_t i = 0; i < rounds; i++) {
    need_ok(ecs_query_add(library.all, library.both[1]));
    need_ok(ecs_query_remove(library.all, library.both[1]));
  }
  struct sample sample = {(double)n * rounds, bench_now() - start,
                          library_checksum(&library)};
  library_close(&library);
  free(ids);
  return sample;
}

/* ---- despawning ---- */

static bool shuffled;

/* All but the last thousandth, whose rows are then compared. */
static struct sample despawn_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_begin(&hand, n, 1, ids);
  if (shuffled) bench_shuffle(ids, n);
  uint32_t gone = n - n / 1000;
  double start = bench_now();
  for (uint32_t i = 0; i < gone; i++) hand_despawn(&hand, ids[i]);
  struct sample sample = {gone, bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample despawn(uint32_t n) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 2, ids);
  if (shuffled) bench_shuffle(ids, n);
  uint32_t gone = n - n / 1000;
  double start = bench_now();
  for (uint32_t i = 0; i < gone; i++) need_ok(ecs_despawn(library.world, ids[i]));
  struct sample sample = {gone, bench_now() - start, library_checksum(&library)};
  NEED(ecs_alive_count(library.world) == n / 1000);
  library_close(&library);
  free(ids);
  return sample;
}

/* All of them, several times in one world. */
static struct sample despawn_in(uint32_t n, bool staged) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, 1, 2, ids);
  uint32_t rounds = rounds_of(n) + 2;
  struct sample sample = {(double)n * rounds, 0, 0};
  for (uint32_t i = 0; i < rounds; i++) {
    need_ok(ecs_spawn_many(library.world, n, library.both, 2, ids));
    if (shuffled) bench_shuffle(ids, n);
    sample.checksum += library_checksum(&library);
    double start = bench_now();
    begin_scope(library.world, staged);
    for (uint32_t j = 0; j < n; j++) need_ok(ecs_despawn(library.world, ids[j]));
    end_scope(library.world, staged);
    sample.seconds += bench_now() - start;
  }
  NEED(ecs_alive_count(library.world) == 1);
  library_close(&library);
  free(ids);
  return sample;
}

static struct sample despawn_at_once(uint32_t n) { return despawn_in(n, false); }
static struct sample despawn_staged(uint32_t n) { return despawn_in(n, true); }

static struct sample despawn_all_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_begin(&hand, n, 1, ids);
  double start = bench_now();
  hand_despawn_all(&hand, hand.tables[1]);
  struct sample sample = {n, bench_now() - start, hand_checksum(&hand)};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample despawn_all(uint32_t n) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_begin(&library, n, 2, ids);
  double start = bench_now();
  need_ok(ecs_query_despawn(library.all));
  struct sample sample = {n, bench_now() - start, library_checksum(&library)};
  NEED(ecs_alive_count(library.world) == 0);
  library_close(&library);
  free(ids);
  return sample;
}

/* ---- reading ---- */

/* Goes through the entities, shuffled, again and again. */
#define READ_ALL(n, ids, statement)                                                      \
  for (uint32_t rounds = rounds_of(n); rounds > 0; rounds--)                              \
    for (uint32_t j = 0; j < (n); j++) { statement; }

static void hand_number(struct hand *hand, uint32_t n, ecs_id *ids) {
  hand_begin(hand, n, 1, ids);
  for (uint32_t i = 0; i < n; i++) hand->tables[1]->px[i] = (float)(i % 1000);
  bench_shuffle(ids, n);
}

/* Positions as by hand. */
static void library_number(struct library *library, uint32_t n, ecs_id *ids) {
  ecs_iter it;
  library_begin(library, n, 2, ids);
  need_ok(ecs_iter_open(library->all, &it));
  while (ecs_iter_next(&it)) {
    float *px = ecs_iter_column(&it, 0, 0);
    for (uint32_t i = 0; i < it.count; i++) px[i] = (float)(i % 1000);
  }
  need_ok(ecs_iter_close(&it));
  bench_shuffle(ids, n);
}

static struct sample get_by_hand(uint32_t n) {
  struct hand hand;
  struct position position;
  ecs_id *ids = new_ids(n);
  hand_number(&hand, n, ids);
  uint64_t sum = 0;
  double start = bench_now();
  READ_ALL(n, ids, NEED(hand_get(&hand, ids[j], &position));
           sum += (uint64_t)(int64_t)(position.x + position.y))
  struct sample sample = {(double)n * rounds_of(n), bench_now() - start, (double)sum};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample get(uint32_t n) {
  struct library library;
  struct position position;
  ecs_id *ids = new_ids(n);
  library_number(&library, n, ids);
  uint64_t sum = 0;
  double start = bench_now();
  READ_ALL(n, ids, need_ok(ecs_get(library.world, ids[j], library.both[0], &position));
           sum += (uint64_t)(int64_t)(position.x + position.y))
  struct sample sample = {(double)n * rounds_of(n), bench_now() - start, (double)sum};
  library_close(&library);
  free(ids);
  return sample;
}

static struct sample cell_by_hand(uint32_t n) {
  struct hand hand;
  ecs_id *ids = new_ids(n);
  hand_number(&hand, n, ids);
  uint64_t sum = 0;
  double start = bench_now();
  READ_ALL(n, ids, const float *x = hand_cell(&hand, ids[j]); NEED(x);
           sum += (uint64_t)(int64_t)*x)
  struct sample sample = {(double)n * rounds_of(n), bench_now() - start, (double)sum};
  hand_close(&hand);
  free(ids);
  return sample;
}

static struct sample cell(uint32_t n) {
  struct library library;
  ecs_id *ids = new_ids(n);
  library_number(&library, n, ids);
  uint64_t sum = 0;
  double start = bench_now();
  READ_ALL(n, ids, const float *x = ecs_cell_of(library.world, ids[j], library.both[0], 0);
           NEED(x); sum += (uint64_t)(int64_t)*x)
  struct sample sample = {(double)n * rounds_of(n), bench_now() - start, (double)sum};
  library_close(&library);
  free(ids);
  return sample;
}

/* ---- memory ---- */

static void print_bytes(uint32_t n) {
  struct library library;
  ecs_id id;
  library_open(&library);
  size_t before = ecs_bytes(library.world);
  for (uint32_t i = 0; i < n; i++) need_ok(ecs_spawn(library.world, library.both, 2, &id));
  double bytes = (double)(ecs_bytes(library.world) - before) / n;
  bench_print("bytes per entity, spawned one by one", n, bytes, 16, 32, "bytes");
  library_close(&library);
}

int main(void) {
  bench_begin();
  bench_row("spawn one by one", 10000, 15, spawn_by_hand, spawn, 2.0);
  bench_row("spawn one by one", 1000000, 7, spawn_by_hand, spawn, 2.0);
  bench_row("spawn in bulk", 1000, 15, spawn_many_by_hand, spawn_many, 1.5);
  bench_row("spawn in bulk", 1000000, 9, spawn_many_by_hand, spawn_many, 1.5);
  bench_row("add + remove, one by one", 10000, 15, add_remove_by_hand, add_remove, 1.5);
  bench_row("add + remove, one by one", 1000000, 7, add_remove_by_hand, add_remove, 1.5);
  bench_row("add to all, remove from all", 10000, 15, add_all_by_hand, add_all, 1.5);
  bench_row("add to all, remove from all", 1000000, 7, add_all_by_hand, add_all, 1.5);
  bench_row("add to all, remove from all, staged (1: at once)", 100000, 11, add_all, add_all_staged,
            2.5);
  bench_row("remove from all, staged (1: at once)", 100000, 11, remove_all, remove_all_staged, 2.5);
  bench_row("add + remove, whole query", 10000, 15, query_by_hand, query, 1.5);
  bench_row("add + remove, whole query", 1000000, 7, query_by_hand, query, 1.5);
  bench_row("despawn, whole query", 10000, 15, despawn_all_by_hand, despawn_all, 1.5);
  bench_row("despawn, whole query", 1000000, 7, despawn_all_by_hand, despawn_all, 1.5);
  bench_row("despawn, creation order", 1000000, 7, despawn_by_hand, despawn, 1.5);
  bench_row("despawn, creation order, staged (1: at once)", 100000, 11, despawn_at_once,
            despawn_staged, 2.5);
  shuffled = true;
  bench_row("despawn, shuffled", 1000000, 7, despawn_by_hand, despawn, 1.5);
  bench_row("despawn, shuffled, staged (1: at once)", 100000, 11, despawn_at_once,
            despawn_staged, 2.5);
  bench_row("random get into a struct", 100000, 15, get_by_hand, get, 1.5);
  bench_row("random get into a struct", 1000000, 7, get_by_hand, get, 1.5);
  bench_row("random get of a cell", 100000, 15, cell_by_hand, cell, 1.5);
  bench_row("random get of a cell", 1000000, 7, cell_by_hand, cell, 1.5);
  print_bytes(1000000);
  return 0;
}
