/* A checking allocator. Every block stands between guards; freed bytes are poisoned; a block
** that grows always moves; a block that should shrink stays as it is and NULL is returned.
** What a caller does wrong (an old size that is not exact, a write past an end, a block freed
** twice) is counted in `mistakes`. It can be told to fail. */
#ifndef SPEC_ALLOC_H
#define SPEC_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

struct block;

struct checked_alloc {
  struct block *blocks;   /* all that is held */
  size_t bytes;
  size_t peak;            /* the most bytes held at once; may be set back to `bytes` */
  size_t block_count;
  size_t calls;           /* that asked for memory */
  size_t fail_at;         /* the call that fails, counted from the last arming; 0: none */
  bool fail_on;           /* and all that follow */
  size_t refused;         /* how many were made to fail */
  size_t most;            /* more than this is refused; 0: anything goes */
  size_t greatest;        /* the greatest size asked for */
  bool shrinks;           /* shrinking works (in place of being refused) */
  size_t shrinks_refused;
  int mistakes;
  const char *mistake;    /* the first one */
};

/* An ecs_alloc (and a lua_Alloc); ud is a struct checked_alloc, all zero at first. */
void *checked_alloc(void *ud, void *ptr, size_t osize, size_t nsize);

/* The k-th request from now on fails, alone or with all behind it. 0 disarms. */
void alloc_arm(struct checked_alloc *alloc, size_t k, bool from_there_on);

/* Looks at the guards of all blocks; true when there was no mistake so far. */
bool alloc_is_sound(struct checked_alloc *alloc);

/* Gives everything back that is still held (after a leak, so that tests go on). */
void alloc_clear(struct checked_alloc *alloc);

#endif
