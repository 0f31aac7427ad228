/* The threads of a world: they share a job, and are gone when the pool is freed, whatever they do
** then; in a child of the process there are none; a host's own may take their place. To be run
** under ThreadSanitizer, too. */
#define _POSIX_C_SOURCE 200112L
#include <fenv.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

#include "core/base/pool.h"
#include "core/base/thread.h"

enum { WIDTH = 4, ITEMS = 200 };

/* Items that threads take one by one. */
struct count {
  uint32_t next, calls[WIDTH];
  uint32_t done[ITEMS];
  int modes[WIDTH];            /* in which they round */
};

static void take_items(void *ud, uint32_t who) {
  struct count *count = ud;
  shared_add(&count->calls[who], 1);
  count->modes[who] = fegetround();
  for (uint32_t i = shared_add(&count->next, 1); i < ITEMS; i = shared_add(&count->next, 1))
    count->done[i] += i;
}

static struct memory checked(struct checked_alloc *alloc) {
  memset(alloc, 0, sizeof *alloc);
  return (struct memory){checked_alloc, alloc, 0, 0};
}

static uint32_t share(struct pool *pool, struct count *count) {
  uint32_t others = 0;
  memset(count, 0, sizeof *count);
  pool_run(pool, WIDTH, take_items, count);
  for (uint32_t i = 0; i < ITEMS; i++) CHECK(count->done[i] == i);
  CHECK(count->calls[0] == 1);
  for (int i = 1; i < WIDTH; i++) others += count->calls[i];
  return others;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL); }

static void end(struct pool *pool, struct checked_alloc *alloc) {
  pool_free(pool);
  CHECK(alloc->bytes == 0 && alloc->mistakes == 0);
}

static void threads_share_jobs(void) {
  struct checked_alloc alloc;
  struct memory memory = checked(&alloc);
  struct pool *pool = pool_new(&memory, WIDTH, NULL);
  size_t before = alloc.bytes;
  struct count count;
  uint32_t others = 0;
  CHECK(!pool_is_awake(pool));
  pool_be_eager(pool);
  for (int i = 0; i < 300; i++) {
    others += share(pool, &count);
    if (i % 100 == 50) nap();
    CHECK(alloc.bytes > before);
  }
  CHECK(others > 0);
  end(pool, &alloc);
}

static void pools_end_whatever_threads_do(void) {
  struct count count;
  for (int i = 0; i < 30; i++) {
    struct checked_alloc alloc;
    struct memory memory = checked(&alloc);
    struct pool *pool = pool_new(&memory, WIDTH, NULL);
    if (i % 3) share(pool, &count);
    if (i % 3 == 2) nap();
    end(pool, &alloc);
  }
}

static void threads_calculate_as_the_caller(void) {
  struct checked_alloc alloc;
  struct memory memory = checked(&alloc);
  struct pool *pool = pool_new(&memory, WIDTH, NULL);
  static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
  struct count count;
  pool_be_eager(pool);
  for (int i = 0; i < 60; i++) {
    CHECK(fesetround(modes[i % 3]) == 0);
    share(pool, &count);
    for (int who = 0; who < WIDTH; who++)
      if (count.calls[who]) CHECK_INTEGER(modes[i % 3], count.modes[who]);
  }
  fesetround(FE_TONEAREST);
  end(pool, &alloc);
}

/* Without memory, and with no thread, the caller does it all. */
static void callers_do_it_alone(void) {
  struct checked_alloc alloc;
  struct memory memory = checked(&alloc);
  struct pool *pool = pool_new(&memory, WIDTH, NULL);
  struct count count;
  alloc_arm(&alloc, 1, true);
  CHECK_INTEGER(0, (int)share(pool, &count));
  alloc_arm(&alloc, 0, false);
  CHECK(!pool_is_awake(pool));
  end(pool, &alloc);
  alloc_arm(&alloc, 1, true);
  CHECK(!pool_new(&memory, WIDTH, NULL));
}

static int live_as_child(struct pool *pool, struct checked_alloc *alloc) {
  struct count count;
  uint32_t others = share(pool, &count);
  pool_free(pool);
  return others == 0 && alloc->bytes == 0;
}

static void children_have_none(void) {
  struct checked_alloc alloc;
  struct memory memory = checked(&alloc);
  struct pool *pool = pool_new(&memory, WIDTH, NULL);
  struct count count;
  for (int i = 0; i < 6; i++) {
    int status = 1;
    share(pool, &count);
    if (i % 2) nap();
    pid_t child = fork();
    if (child == 0) _exit(live_as_child(pool, &alloc) ? 0 : 9);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    share(pool, &count);
  }
  end(pool, &alloc);
}

/* ---- a host's threads ---- */

struct hosted {
  void (*task)(void *job, uint32_t i);
  void *job;
  uint32_t i;
  pthread_t thread;
};

static void *run_one(void *ud) {
  struct hosted *hosted = ud;
  hosted->task(hosted->job, hosted->i);
  return NULL;
}

static void run_on_threads(void *ud, uint32_t n, void (*task)(void *job, uint32_t i), void *job) {
  struct hosted all[WIDTH];
  CHECK(n <= WIDTH);
  *(int *)ud += 1;
  for (uint32_t i = 0; i < n; i++) {
    all[i] = (struct hosted){task, job, i, 0};
    CHECK(pthread_create(&all[i].thread, NULL, run_one, &all[i]) == 0);
  }
  for (uint32_t i = 0; i < n; i++) CHECK(pthread_join(all[i].thread, NULL) == 0);
}

static void run_in_turn(void *ud, uint32_t n, void (*task)(void *job, uint32_t i), void *job) {
  *(int *)ud += 1;
  while (n-- > 0) task(job, n);
}

static void hosts_share_jobs(void) {
  struct count count;
  for (int i = 0; i < 2; i++) {
    int runs = 0;
    struct checked_alloc alloc;
    struct memory memory = checked(&alloc);
    ecs_jobs jobs = {i ? run_in_turn : run_on_threads, &runs};
    struct pool *pool = pool_new(&memory, WIDTH, &jobs);
    fesetround(FE_UPWARD);
    CHECK_INTEGER(WIDTH - 1, (int)share(pool, &count));
    for (int who = 0; who < WIDTH; who++) CHECK_INTEGER(FE_UPWARD, count.modes[who]);
    fesetround(FE_TONEAREST);
    CHECK_INTEGER(1, runs);
    CHECK(!pool_is_own(pool));
    end(pool, &alloc);
  }
}

static void worlds_have_pools(void) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  ecs_world *world = NULL;
  ecs_jobs none = {NULL, NULL};
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &alloc, .tag = 1, .threads = 65};
  CHECK_INTEGER(ECS_EINVAL, ecs_world_new(&desc, &world));
  desc.threads = 2;
  desc.jobs = &none;
  CHECK_INTEGER(ECS_EINVAL, ecs_world_new(&desc, &world));
  desc.jobs = NULL;
  for (uint32_t threads = 0; threads <= 64; threads += 16) {
    desc.threads = threads;
    CHECK_INTEGER(ECS_OK, ecs_world_new(&desc, &world));
    CHECK_OK(world, ecs_check(world));
    ecs_world_free(world);
    CHECK(alloc.bytes == 0);
  }
}

/* Of portions, in the order in which one thread takes them, that has begun with its own. */
static void take_alone(uint32_t count, uint32_t threads, uint32_t who) {
  struct portions portions;
  uint32_t done[ITEMS] = {0};
  portions_begin(&portions, count, threads);
  struct taker taker = portions_taker(&portions, who);
  uint32_t own = count * (who % portions.width) / portions.width;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t chunk = portions_take(&portions, &taker);
    CHECK_INTEGER((own + i) % count, chunk);
    done[chunk % ITEMS]++;
  }
  for (uint32_t i = 0; i < count; i++) CHECK(done[i] == 1);
  CHECK(portions_take(&portions, &taker) == NONE && portions_take(&portions, &taker) == NONE);
}

static void threads_begin_with_their_own(void) {
  for (uint32_t threads = 1; threads <= 2 * PORTIONS_MOST; threads++)
    for (uint32_t who = 0; who < threads; who++)
      for (uint32_t count = 0; count <= 20; count++) take_alone(count, threads, who);
  take_alone(1, 1, 0);
  take_alone(ITEMS, 1, 0);
}

struct portioned {
  struct portions portions;
  uint32_t done[ITEMS];
};

static void take_portions(void *ud, uint32_t who) {
  struct portioned *p = ud;
  struct taker taker = portions_taker(&p->portions, who);
  for (uint32_t i; (i = portions_take(&p->portions, &taker)) != NONE;) p->done[i]++;
}

static void portions_are_taken_once(void) {
  struct checked_alloc alloc;
  struct memory memory = checked(&alloc);
  struct pool *pool = pool_new(&memory, WIDTH, NULL);
  pool_be_eager(pool);
  for (uint32_t times = 0; times < 200; times++) {
    struct portioned p = {.done = {0}};
    portions_begin(&p.portions, ITEMS, WIDTH);
    pool_run(pool, WIDTH, take_portions, &p);
    for (uint32_t i = 0; i < ITEMS; i++) CHECK(p.done[i] == 1);
  }
  end(pool, &alloc);
}

static const struct test tests[] = {
  {"threads take their own chunks first, and then those of others", threads_begin_with_their_own},
  {"each chunk of portions is taken once", portions_are_taken_once},
  {"threads share a job, each item of which is done once", threads_share_jobs},
  {"a pool ends whether its threads never began, wait or sleep", pools_end_whatever_threads_do},
  {"threads calculate in the mode of the caller", threads_calculate_as_the_caller},
  {"without memory for threads the caller does it alone", callers_do_it_alone},
  {"a child of the process does it alone, and its parent goes on", children_have_none},
  {"a host's threads, or its loop, do the same", hosts_share_jobs},
  {"worlds take from 0 to 64 threads, and a host's with a function", worlds_have_pools},
};

int main(void) { return RUN_TESTS(tests); }
