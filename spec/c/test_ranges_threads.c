/* Systems of hosts that are called for ranges of rows on the world's threads: each row once, the
** same whatever threads there are. To be run under ThreadSanitizer, too. C33, C47. */
#include <string.h>

#include "core/base/pool.h"
#include "core/base/thread.h"
#include "core/ids/world.h"
#include "core/schedule/schedule.h"
#include "fixture.h"

enum { ROWS = 3000 };

static struct fixture f;
static uint32_t calls;

static void open_threads(uint32_t threads) {
  memset(&f, 0, sizeof f);
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &f.alloc, .tag = 1,
                         .threads = threads};
  CHECK_INTEGER(ECS_OK, ecs_world_new(&desc, &f.world));
  if (f.world->pool) pool_be_eager(f.world->pool);
  declare_usual(&f);
  for (int i = 0; i < ROWS; i++) {
    ecs_id parts[] = {f.position, f.velocity, f.frozen};
    ecs_id e = spawn(f.world, parts, i % 7 == 0 ? 1 : i % 3 == 0 ? 3 : 2);
    set_position(&f, e, (float)i, 0);
  }
}

static ecs_status move(const ecs_rows *rows, double dt, void *ud) {
  float *x = ecs_rows_column(rows, 0, 0);
  const float *vx = ecs_rows_column(rows, 1, 0);
  CHECK(ecs_rows_column(rows, 0, 2) == NULL && ecs_rows_column(rows, 5, 0) == NULL);
  CHECK(rows->count > 0 && x && ud == &f);
  for (size_t i = 0; i < rows->count; i++) x[i] += (float)dt + (vx ? vx[i] + 1 : 0);
  shared_add(&calls, 1);
  return ECS_OK;
}

static void add(const char *query, ecs_rows_fn parallel) {
  ecs_system_desc desc = {.name = "each", .query = query, .parallel = parallel, .ud = &f};
  CHECK_OK(f.world, ecs_system_new(f.world, &desc));
}

static uint64_t digest_after(uint32_t threads, const char *query) {
  uint64_t digest;
  open_threads(threads);
  add(query, move);
  calls = 0;
  for (int i = 0; i < 5; i++) CHECK_OK(f.world, ecs_update(f.world, 0.5));
  CHECK(threads < 2 ? calls <= 5 * 3 : calls > 5 * 3);
  digest = ecs_digest(f.world);
  CHECK_INTEGER(5, (int)schedule_system(f.world, "each", 4)->runs);
  close_world(&f);
  return digest;
}

static void threads_share_ranges(void) {
  static const char *const queries[] = {"Position, Velocity:in", "Position, Velocity?",
                                        "Position, Velocity:in, !Frozen"};
  for (int i = 0; i < 3; i++) {
    uint64_t alone = digest_after(0, queries[i]);
    for (uint32_t threads = 2; threads <= 8; threads += 3)
      CHECK(digest_after(threads, queries[i]) == alone);
  }
}

static ecs_status count_ids(const ecs_rows *rows, double dt, void *ud) {
  (void)dt;
  (void)ud;
  float *y = ecs_rows_column(rows, 0, 1);
  for (size_t i = 0; i < rows->count; i++) y[i] += (float)ecs_id_index(ecs_rows_entity(rows, i));
  return ECS_OK;
}

static void rows_are_called_once(void) {
  open_threads(3);
  add("Position", count_ids);
  CHECK_OK(f.world, ecs_update(f.world, 0.5));
  ecs_query *query = new_query(f.world, "Position");
  CHECK_OK(f.world, ecs_iter_open(query, &f.it));
  while (ecs_iter_next(&f.it)) {
    const float *y = ecs_iter_column(&f.it, 0, 1);
    for (size_t i = 0; i < f.it.count; i++)
      CHECK(y[i] == (float)ecs_id_index(ecs_iter_entity(&f.it, i)));
  }
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  ecs_query_free(query);
  close_world(&f);
}

/* What they may write to counts as written. */
static void writes_are_marked(void) {
  open_threads(3);
  ecs_query *moved = new_query(f.world, "Position:changed"),
            *pushed = new_query(f.world, "Velocity:changed");
  ecs_query_count(moved);
  ecs_query_count(pushed);
  CHECK_INTEGER(0, (int)ecs_query_count(moved));
  add("Position, Velocity:in", move);
  CHECK_OK(f.world, ecs_update(f.world, 0.5));
  CHECK(ecs_query_count(moved) >= ROWS / 7 * 6);
  CHECK_INTEGER(0, (int)ecs_query_count(pushed));
  ecs_query_free(moved);
  ecs_query_free(pushed);
  close_world(&f);
}

/* Of the ranges that fail the first one's status. */
static ecs_status fail_late(const ecs_rows *rows, double dt, void *ud) {
  const float *x = ecs_rows_column(rows, 0, 0);
  (void)dt;
  (void)ud;
  for (size_t i = 0; i < rows->count; i++)
    if (x[i] >= 1000) return x[i] < 1200 ? ECS_EUSER : ECS_EINVAL;
  return ECS_OK;
}

static void failures_are_the_first(void) {
  open_threads(4);
  add("Position, !Velocity", fail_late);
  for (int i = 0; i < 20; i++) {
    CHECK_STATUS(f.world, ECS_EUSER, ecs_update(f.world, 0.5));
    CHECK(strstr(ecs_message(f.world), "'each'"));
  }
  close_world(&f);
}

static void refuse(const ecs_system_desc *desc, const char *what) {
  CHECK_STATUS(f.world, ECS_EINVAL, ecs_system_new(f.world, desc));
  CHECK(strstr(ecs_message(f.world), "'each'") && strstr(ecs_message(f.world), what));
}

static ecs_status nothing(ecs_world *world, ecs_query *query, double dt, void *ud) {
  (void)world;
  (void)query;
  (void)dt;
  (void)ud;
  return ECS_OK;
}

static void what_does_not_suit_is_refused(void) {
  open_threads(2);
  ecs_system_desc desc = {.name = "each", .parallel = move, .ud = &f};
  refuse(&desc, "query");
  desc.query = "Position:changed";
  refuse(&desc, "use run");
  desc.query = "Position, ChildOf->Velocity";
  refuse(&desc, "use run");
  desc.query = "Position";
  desc.run = nothing;
  refuse(&desc, "`parallel`");
  close_world(&f);
}

static void memory_runs_short(void) {
  open_threads(2);
  add("Position, Velocity:in", move);
  for (size_t k = 1; k < 8; k++) {
    alloc_arm(&f.alloc, k, true);
    ecs_status status = ecs_update(f.world, 0.5);
    alloc_arm(&f.alloc, 0, false);
    CHECK(status == ECS_OK || status == ECS_ENOMEM);
    CHECK_OK(f.world, ecs_check(f.world));
  }
  CHECK_OK(f.world, ecs_update(f.world, 0.5));
  close_world(&f);
}

static const struct test tests[] = {
  {"threads share ranges of rows, and results are those of one (C33, C47)", threads_share_ranges},
  {"each row is in one range, with its entity", rows_are_called_once},
  {"what may be written to counts as written, :in does not", writes_are_marked},
  {"of the ranges that fail the first one decides", failures_are_the_first},
  {"what has no rows that lie together is refused", what_does_not_suit_is_refused},
  {"short of memory a run has changed nothing", memory_runs_short},
};

int main(void) { return RUN_TESTS(tests); }
