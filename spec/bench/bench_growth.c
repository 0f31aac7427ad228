/* Growth: what a row costs must not depend on how many entities or tables there are. Memory
** does, so the far end is compared with the near end grown as the hand-written code grows. */
#include "library.h"

#define TAGS 14u
#define TABLES (1u << TAGS)

/* A world whose entities are spread over tables in turns. In the library, a table's number is
** its set of tags. */
struct stage {
  struct hand hand;
  struct library library;
  ecs_query *used;               /* matches the tables in use */
  bool by_hand;
  uint32_t n, tables, in_use;
  uint32_t counts[TABLES];       /* components of each table */
  ecs_id sets[TABLES][TAGS + 3];
  ecs_id *ids;
};

static struct stage *stage;

static void open_sets(void) {
  ecs_id tags[TAGS], used;
  need_ok(ecs_tag(stage->library.world, "Used", &used));
  for (uint32_t i = 0; i < TAGS; i++) {
    char name[32];
    snprintf(name, sizeof name, "T%u", (unsigned)i);
    need_ok(ecs_tag(stage->library.world, name, &tags[i]));
  }
  for (uint32_t i = 0; i < stage->tables; i++) {
    uint32_t count = 0;
    stage->sets[i][count++] = stage->library.both[0];
    stage->sets[i][count++] = stage->library.both[1];
    if (i < stage->in_use) stage->sets[i][count++] = used;
    for (uint32_t bit = 0; bit < TAGS; bit++)
      if (i >> bit & 1) stage->sets[i][count++] = tags[bit];
    stage->counts[i] = count;
  }
  need_ok(ecs_query_new(stage->library.world, "Used, Position", &stage->used));
}

/* Every table has had an entity before anything is timed; those not in use keep it. */
static void make_tables(void) {
  struct hand *hand = &stage->hand;
  ecs_id id;
  for (uint32_t i = 0; i < stage->tables; i++) {
    if (stage->by_hand)
      id = hand_spawn(hand, hand->tables[2 * i + 1]);
    else
      need_ok(ecs_spawn(stage->library.world, stage->sets[i], stage->counts[i], &id));
    if (i >= stage->in_use) continue;
    if (stage->by_hand)
      hand_despawn(hand, id);
    else
      need_ok(ecs_despawn(stage->library.world, id));
  }
}

static void open_stage(bool by_hand, uint32_t n, uint32_t tables, uint32_t in_use) {
  stage->by_hand = by_hand;
  stage->n = n;
  stage->tables = tables;
  stage->in_use = in_use;
  stage->ids = bench_resize(NULL, n * sizeof *stage->ids);
  if (by_hand) {
    hand_open(&stage->hand, tables);
  } else {
    library_open(&stage->library);
    open_sets();
  }
  make_tables();
}

static void close_stage(void) {
  if (stage->by_hand)
    hand_close(&stage->hand);
  else
    library_close(&stage->library);
  free(stage->ids);
}

/* ---- what is done to every row ---- */

static void spawn(void) {
  struct hand *hand = &stage->hand;
  for (uint32_t i = 0, table = 0; i < stage->n; i++) {
    if (stage->by_hand)
      stage->ids[i] = hand_spawn(hand, hand->tables[2 * table + 1]);
    else
      need_ok(ecs_spawn(stage->library.world, stage->sets[table], stage->counts[table],
                        &stage->ids[i]));
    if (++table == stage->in_use) table = 0;
  }
}

static void despawn(void) {
  for (uint32_t i = 0; i < stage->n; i++) {
    if (stage->by_hand)
      hand_despawn(&stage->hand, stage->ids[i]);
    else
      need_ok(ecs_despawn(stage->library.world, stage->ids[i]));
  }
}

static void get(void) {
  struct position position = {0, 0};
  double sum = 0;
  for (uint32_t i = 0; i < stage->n; i++) {
    if (stage->by_hand)
      NEED(hand_get(&stage->hand, stage->ids[i], &position));
    else
      need_ok(ecs_get(stage->library.world, stage->ids[i], stage->library.both[0],
                      &position));
    sum += (double)position.x;
  }
  NEED(sum == stage->n);
}

static void move(void) {
  ecs_id velocity = stage->library.both[1];
  for (uint32_t i = 0; i < stage->n; i++) {
    if (stage->by_hand) {
      hand_remove(&stage->hand, stage->ids[i]);
      hand_add(&stage->hand, stage->ids[i]);
    } else {
      need_ok(ecs_remove(stage->library.world, stage->ids[i], velocity));
      need_ok(ecs_add(stage->library.world, stage->ids[i], velocity));
    }
  }
}

static double sum_rows(const float *x, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (double)x[i];
  return sum;
}

static void iterate(void) {
  double sum = 0;
  if (stage->by_hand) {
    for (uint32_t i = 0; i < stage->in_use; i++) {
      const struct hand_table *table = stage->hand.tables[2 * i + 1];
      sum += sum_rows(table->px, table->count);
    }
  } else {
    ecs_iter it;
    need_ok(ecs_iter_open(stage->used, &it));
    while (ecs_iter_next(&it)) sum += sum_rows(ecs_iter_column(&it, 1, 0), it.count);
    need_ok(ecs_iter_close(&it));
  }
  NEED(sum == stage->n);
}

/* ---- comparing ---- */

struct job {
  const char *name;
  void (*run)(void);
  bool fresh;        /* on an empty world, else on spawned entities */
  bool shuffled;
  bool again;        /* has been run once before, so that tables and edges are there */
};

static const struct job jobs[] = {
  {"spawn", spawn, true, false, false},
  {"despawn, shuffled", despawn, false, true, false},
  {"remove + add, shuffled", move, false, true, true},
  {"get, shuffled", get, false, true, false},
  {"iterate", iterate, false, false, true},
};

struct size {
  uint32_t n, tables, in_use;
};

static double run_job(const struct job *job, bool by_hand, struct size size) {
  double best = 0;
  int runs = size.n < 10000 ? 60 : 4;
  for (int i = 0; i < runs; i++) {
    open_stage(by_hand, size.n, size.tables, size.in_use);
    if (!job->fresh) spawn();
    if (job->shuffled) bench_shuffle(stage->ids, size.n);
    if (job->again) job->run();
    double start = bench_now();
    job->run();
    best = bench_best(best, (struct sample){size.n, bench_now() - start, 0});
    close_stage();
  }
  return best;
}

/* Memory may only make things dearer: what gets cheaper by hand counts as flat. */
static void compare(const char *what, struct size near, struct size far, const char *kind) {
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    const struct job *job = &jobs[i];
    double near_hand = run_job(job, true, near), near_ns = run_job(job, false, near);
    double far_hand = run_job(job, true, far), far_ns = run_job(job, false, far);
    double growth = far_hand > near_hand ? far_hand / near_hand : 1;
    char name[80];
    snprintf(name, sizeof name, "%s: %s", what, job->name);
    bench_print(name, far.n, far_ns, near_ns * growth, 1.5, kind);
  }
}

int main(void) {
  bench_begin();
  stage = bench_resize(NULL, sizeof *stage);
  compare("1,000 -> 1,000,000 entities", (struct size){1000, 1, 1},
          (struct size){1000000, 1, 1}, "ratio");
  compare("10 -> 10,000 tables, 10 in use", (struct size){100000, 10, 10},
          (struct size){100000, 10000, 10}, "ratio");
  compare("10 -> 10,000 tables, all in use", (struct size){1000000, 10, 10},
          (struct size){1000000, 10000, 10000}, "note");
  free(stage);
  return 0;
}
