/* Chunks of rows that threads take, each first those of a portion of its own, which it had the last
** time, too, and has in its cache; then those that others have left. */
#ifndef ECS_CORE_BASE_PORTIONS_H
#define ECS_CORE_BASE_PORTIONS_H

#include "core/base/base.h"
#include "core/base/thread.h"

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
