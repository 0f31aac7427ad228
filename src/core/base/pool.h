/* A world's threads: the caller, and others that share its jobs. A job is a function that each
** thread calls at most once; the caller always does. Work that one thread leaves is done by
** another, so it does not matter how many take part. */
#ifndef ECS_CORE_BASE_POOL_H
#define ECS_CORE_BASE_POOL_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "ecs_world.h"

struct pool;

typedef void (*pool_task)(void *job, uint32_t who);

/* Creates a pool of that many threads, at least 2, including the caller; or, with `jobs`, one that
** uses the host's threads. Starts no thread yet. NULL when out of memory. */
struct pool *pool_new(struct memory *memory, uint32_t threads, const ecs_jobs *jobs);

/* Ends its threads and frees it. A child process has none of its parent's threads. */
void pool_free(struct pool *pool);

/* The most threads that can call a task at once; `who` is less than that. */
uint32_t pool_width(const struct pool *pool);

/* Whether threads are spinning, not asleep: a job is then shared in less than a microsecond,
** otherwise in tens of microseconds. */
bool pool_is_awake(const struct pool *pool);

/* Whether work is worth sharing, given as a number of instructions on single rows. The answer may
** depend on the pool's history, but no result does. */
bool pool_is_worth(const struct pool *pool, uint64_t work);

/* Calls run(job, who) here with 0, and on other threads with other numbers below `width`, and
** returns when all have returned. They use the caller's floating-point mode. A host's jobs may run
** on any threads, or one after the other on this one. */
void pool_run(struct pool *pool, uint32_t width, pool_task run, void *job);

/* Whether the caller itself takes part as 0 (if a host runs the jobs, another thread may). */
bool pool_is_own(const struct pool *pool);

/* The number of rows that a thread takes at a time: a multiple of `unit`, so that each thread takes
** about eight times; 64 in tests. */
uint32_t pool_share(const struct pool *pool, size_t rows, uint32_t unit);

/* For tests: everything is worth sharing, and the caller waits a while for others. */
void pool_be_eager(struct pool *pool);
bool pool_is_eager(const struct pool *pool);
#define POOL_SMALLEST 64u      /* the number of rows in tests */

/* Chunks of rows that threads take. Each thread first takes those of its own portion, which are in
** its cache from last time, then those that others have left. */

enum { PORTIONS_MOST = 8 };    /* with more threads some share one */

struct portion {
  uint32_t next;               /* next chunk to take */
  char apart[60];              /* padding: other threads write other portions */
};

struct portions {
  uint32_t count;              /* of chunks */
  uint32_t width;              /* of portions */
  char apart[56];
  struct portion each[PORTIONS_MOST];
};

/* The state of one thread. */
struct taker {
  uint32_t portion;
  uint32_t left;               /* portions not yet exhausted, this one included */
};

/* The first chunk after those of the portions before one. */
static inline uint32_t portion_begins(const struct portions *p, uint32_t portion) {
  return (uint32_t)((uint64_t)p->count * portion / p->width);
}

/* Divides chunks 0 to count - 1 among that many threads; one portion is taken in order. */
static inline void portions_begin(struct portions *p, uint32_t count, uint32_t threads) {
  assert(threads > 0);
  p->count = count;
  p->width = threads < PORTIONS_MOST ? threads : PORTIONS_MOST;
  for (uint32_t i = 0; i < p->width; i++) p->each[i].next = portion_begins(p, i);
}

static inline struct taker portions_taker(const struct portions *p, uint32_t who) {
  return (struct taker){who % p->width, p->width};
}

/* Takes a chunk that no other thread gets, or NONE. Each thread gets those of a portion in
** order. */
static inline uint32_t portions_take(struct portions *p, struct taker *taker) {
  while (taker->left > 0) {
    uint32_t chunk = shared_add(&p->each[taker->portion].next, 1);
    if (chunk < portion_begins(p, taker->portion + 1)) return chunk;
    taker->left--;
    taker->portion = (taker->portion + 1) % p->width;
  }
  return NONE;
}

#endif
