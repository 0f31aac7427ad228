#include <fenv.h>

#include "core/base/pool.h"

#include "core/base/thread.h"

enum {
  SPINS = 2000,                /* checks for a job, for tens of us, before a thread sleeps */
  PATIENCE = 200,              /* checks whether the others have ended, before yielding */
  EAGER = 400                  /* likewise, whether they have arrived */
};

#define OPEN 0x80000000u       /* in `inside`: threads may enter */

struct pool {
  struct memory *memory;
  struct crew *crew;           /* NULL before the first job, or without threads */
  uint64_t process;            /* the process that made it */
  uint32_t threads;
  ecs_jobs jobs;               /* its `run` is NULL if the threads are the pool's own */
  bool tried;                  /* whether making a crew was tried */
  bool eager;
  /* The function of the job. */
  pool_task run;
  void *job;
  uint32_t width;
  fenv_t mode;
  /* Shared. */
  uint32_t number;             /* of the job, or of the request to end */
  uint32_t ending;
  uint32_t inside;             /* threads doing it, and whether others may enter */
  uint32_t asleep;
};

struct pool *pool_new(struct memory *memory, uint32_t threads, const ecs_jobs *jobs) {
  assert(threads > 1 && threads <= CREW_LIMIT + 1);
  struct pool *pool = memory_array(memory, 1, sizeof *pool);
  if (!pool) return NULL;
  pool->memory = memory;
  pool->threads = threads;
  if (jobs) pool->jobs = *jobs;
  return pool;
}

uint32_t pool_width(const struct pool *pool) { return pool->threads; }
bool pool_is_own(const struct pool *pool) { return !pool->jobs.run; }
void pool_be_eager(struct pool *pool) { pool->eager = true; }
bool pool_is_eager(const struct pool *pool) { return pool->eager; }

uint32_t pool_share(const struct pool *pool, size_t rows, uint32_t unit) {
  enum { PARTS = 8 };
  assert(unit > 0 && unit % POOL_SMALLEST == 0);
  if (pool->eager) return POOL_SMALLEST;
  size_t share = rows / ((size_t)pool->threads * PARTS);
  share -= share % unit;
  assert(share < UINT32_MAX);
  return share > unit ? (uint32_t)share : unit;
}

bool pool_is_awake(const struct pool *pool) {
  if (pool->jobs.run || pool->eager) return true;
  return pool->crew && shared_get(&pool->asleep) < crew_size(pool->crew);
}

bool pool_is_worth(const struct pool *pool, uint64_t work) {
  enum { AWAKE = 1 << 15, WAKING = 1 << 19 };
  if (pool->eager) return true;
  return work >= AWAKE && (work >= WAKING || pool_is_awake(pool));
}

/* ---- the threads of the pool ---- */

static bool pool_come_in(struct pool *pool) {
  for (;;) {
    uint32_t inside = shared_get(&pool->inside);
    if (!(inside & OPEN)) return false;
    if (shared_replace(&pool->inside, inside, inside + 1)) return true;
  }
}

/* The life of a thread. The first job waits until the crew is known. */
static void pool_live(void *ud, uint32_t who) {
  struct pool *pool = ud;
  uint32_t seen = 0;
  while (shared_get(&pool->number) == 0) thread_yield();
  for (;;) {
    /* Wait for the next job, or for the end. */
    for (uint32_t i = 0; i < SPINS && shared_get(&pool->number) == seen; i++) thread_pause();
    if (shared_get(&pool->number) == seen)
      crew_sleep(pool->crew, &pool->number, seen, &pool->asleep);
    seen = shared_get(&pool->number);
    if (shared_get(&pool->ending)) return;
    if (!pool_come_in(pool)) continue;
    if (who < pool->width) {
      fesetenv(&pool->mode);
      pool->run(pool->job, who);
    }
    shared_add(&pool->inside, UINT32_MAX);
  }
}

/* ---- the caller ---- */

/* A child process has none of the threads that its parent made. */
static void pool_forget_parents(struct pool *pool) {
  if (!pool->crew || pool->process == thread_process()) return;
  crew_forget(pool->crew);
  pool->crew = NULL;
}

static bool pool_has_crew(struct pool *pool) {
  pool_forget_parents(pool);
  if (pool->tried) return pool->crew != NULL;
  pool->tried = true;
  pool->process = thread_process();
  pool->crew = crew_new(pool->memory, pool->threads - 1, pool_live, pool);
  return pool->crew != NULL;
}

static void pool_next_number(struct pool *pool) {
  uint32_t number = shared_add(&pool->number, 1);
  if (number == UINT32_MAX) shared_add(&pool->number, 1);
  if (shared_get_last(&pool->asleep)) crew_wake(pool->crew);
}

static void pool_wait_for_all(struct pool *pool) {
  uint32_t inside = shared_get(&pool->inside);
  while (!shared_replace(&pool->inside, inside, inside & ~OPEN))
    inside = shared_get(&pool->inside);
  for (uint32_t i = 0; shared_get(&pool->inside) != 0; i++)
    (i < PATIENCE ? thread_pause : thread_yield)();
}

/* A task of a host, whose thread may have another floating-point mode. */
static void pool_run_hosted(void *ud, uint32_t who) {
  struct pool *pool = ud;
  fenv_t kept;
  if (who >= pool->width) return;
  fegetenv(&kept);
  fesetenv(&pool->mode);
  pool->run(pool->job, who);
  fesetenv(&kept);
}

void pool_run(struct pool *pool, uint32_t width, pool_task run, void *job) {
  assert(width > 0 && width <= pool->threads);
  bool own = pool_is_own(pool);
  if (own && !pool_has_crew(pool)) {
    run(job, 0);
    return;
  }
  assert(shared_get(&pool->inside) == 0);
  pool->run = run;
  pool->job = job;
  pool->width = width;
  fegetenv(&pool->mode);
  if (!own) {
    pool->jobs.run(pool->jobs.ud, width, pool_run_hosted, pool);
    return;
  }
  shared_set(&pool->inside, OPEN);
  pool_next_number(pool);
  if (pool->eager)
    for (uint32_t i = 0; i < EAGER && shared_get(&pool->inside) == OPEN; i++) thread_yield();
  run(job, 0);
  pool_wait_for_all(pool);
}

void pool_free(struct pool *pool) {
  pool_forget_parents(pool);
  if (pool->crew) {
    assert(shared_get(&pool->inside) == 0);
    shared_set(&pool->ending, 1);
    pool_next_number(pool);
    crew_free(pool->crew);
  }
  memory_free(pool->memory, pool, sizeof *pool);
}
