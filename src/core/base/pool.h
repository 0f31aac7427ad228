/* A world's threads: one that calls, and others that share a job with it when there is one. A job
** is a function that each of them calls once at most; the one that calls always does, and what one
** of them leaves another one does, so that it does not matter how many come. */
#ifndef ECS_CORE_BASE_POOL_H
#define ECS_CORE_BASE_POOL_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "core/base/thread.h"
#include "ecs_world.h"

struct pool;

typedef void (*pool_task)(void *job, uint32_t who);

/* For so many threads with the one that calls, 2 at least; or with the host's own, which `jobs`
** runs. Makes no thread yet. NULL when out of memory. */
struct pool *pool_new(struct memory *memory, uint32_t threads, const ecs_jobs *jobs);

/* Its threads have ended then. In a child of the process that has made them there are none. */
void pool_free(struct pool *pool);

/* How many may call a task at once; `who` is less. */
uint32_t pool_width(const struct pool *pool);

/* Whether threads wait for work and do not sleep: a job is shared in less than a microsecond, else
** in some dozens. */
bool pool_is_awake(const struct pool *pool);

/* Whether it is worth sharing: about so many instructions, of a row each. What the pool has done
** before may change that, and no result. */
bool pool_is_worth(const struct pool *pool, uint64_t work);

/* Calls run(job, who) here with 0 and on other threads with other numbers below `width`, and
** returns when all have returned. They calculate in the floating-point mode of the caller. A host's
** jobs may be on any threads, or one after the other on this one. */
void pool_run(struct pool *pool, uint32_t width, pool_task run, void *job);

/* Whether the one that calls does take part as 0 (where a host runs the jobs, another one may). */
bool pool_is_own(const struct pool *pool);

/* How many rows a thread takes at a time of so many: a multiple of `unit`, so that each takes about
** eight times; for tests 64. */
uint32_t pool_share(const struct pool *pool, size_t rows, uint32_t unit);

/* For tests: everything is worth sharing, and who calls waits a while for others to come. */
void pool_be_eager(struct pool *pool);
bool pool_is_eager(const struct pool *pool);
#define POOL_SMALLEST 64u      /* rows that are shared then */

/* Chunks of rows that threads take, each first those of a portion of its own, which it had the last
** time, too, and has in its cache; then those that others have left. */

enum { PORTIONS_MOST = 8 };    /* with more threads some share one */

struct portion {
  uint32_t next;               /* chunk to be taken */
  char apart[60];              /* other threads write others */
};

struct portions {
  uint32_t count;              /* of chunks */
  uint32_t width;              /* of portions */
  char apart[56];
  struct portion each[PORTIONS_MOST];
};

/* Where one thread is. */
struct taker {
  uint32_t portion;
  uint32_t left;               /* portions it has not seen the end of, this one among them */
};

/* The first chunk behind those of the portions before one. */
static inline uint32_t portion_begins(const struct portions *p, uint32_t portion) {
  return (uint32_t)((uint64_t)p->count * portion / p->width);
}

/* Chunks 0 to count - 1 for so many threads; with one portion they are taken in their order. */
static inline void portions_begin(struct portions *p, uint32_t count, uint32_t threads) {
  assert(threads > 0);
  p->count = count;
  p->width = threads < PORTIONS_MOST ? threads : PORTIONS_MOST;
  for (uint32_t i = 0; i < p->width; i++) p->each[i].next = portion_begins(p, i);
}

static inline struct taker portions_taker(const struct portions *p, uint32_t who) {
  return (struct taker){who % p->width, p->width};
}

/* A chunk that nobody else gets; NONE: all are taken. Of a portion each thread gets them in their
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
