#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define GUARD 0xA5
#define POISON 0xDB
#define GUARD_SIZE 32u
#define LIVE UINT64_C(0x6c69766520626c6b)

/* In front of each block; the guards stand around what the caller gets. */
struct block {
  uint64_t state;
  struct block *previous, *next;
  size_t size;
  unsigned char guard[GUARD_SIZE + 16];
};

static unsigned char *body(struct block *block) { return (unsigned char *)(block + 1); }

static void mistake(struct checked_alloc *alloc, const char *what) {
  if (alloc->mistakes++ == 0) alloc->mistake = what;
}

static bool is_guarded(struct block *block) {
  unsigned char guard[sizeof block->guard];
  memset(guard, GUARD, sizeof guard);
  return memcmp(block->guard, guard, sizeof guard) == 0 &&
         memcmp(body(block) + block->size, guard, GUARD_SIZE) == 0;
}

static void *take(struct checked_alloc *alloc, size_t size) {
  struct block *block = malloc(sizeof *block + size + GUARD_SIZE);
  if (!block) return NULL;
  block->state = LIVE;
  block->size = size;
  block->previous = NULL;
  block->next = alloc->blocks;
  if (alloc->blocks) alloc->blocks->previous = block;
  alloc->blocks = block;
  memset(block->guard, GUARD, sizeof block->guard);
  memset(body(block), POISON, size);
  memset(body(block) + size, GUARD, GUARD_SIZE);
  alloc->bytes += size;
  if (alloc->bytes > alloc->peak) alloc->peak = alloc->bytes;
  alloc->block_count++;
  return body(block);
}

static void give_back(struct checked_alloc *alloc, struct block *block) {
  if (block->previous)
    block->previous->next = block->next;
  else
    alloc->blocks = block->next;
  if (block->next) block->next->previous = block->previous;
  alloc->bytes -= block->size;
  alloc->block_count--;
  block->state = 0;
  memset(body(block), POISON, block->size);
  free(block);
}

/* The block of a pointer, once its state, size and guards have been looked at. */
static struct block *known_block(struct checked_alloc *alloc, void *ptr, size_t size) {
  struct block *block = (struct block *)ptr - 1;
  if (block->state != LIVE) {
    mistake(alloc, "a block that is not held");
    return NULL;
  }
  if (block->size != size) mistake(alloc, "an old size that is not exact");
  if (!is_guarded(block)) mistake(alloc, "a write past the end of a block");
  return block;
}

static bool refuses(struct checked_alloc *alloc, size_t size) {
  alloc->calls++;
  if (size > alloc->greatest) alloc->greatest = size;
  if (alloc->most && size > alloc->most) return true;
  if (alloc->fail_at == 0) return false;
  if (alloc->fail_at > 1) {
    alloc->fail_at--;
    return false;
  }
  if (!alloc->fail_on) alloc->fail_at = 0;
  alloc->refused++;
  return true;
}

void *checked_alloc(void *ud, void *ptr, size_t osize, size_t nsize) {
  struct checked_alloc *alloc = ud;
  struct block *block = ptr ? known_block(alloc, ptr, osize) : NULL;
  if (ptr && !block) return NULL;
  if (nsize == 0) {
    if (block) give_back(alloc, block);
    return NULL;
  }
  if (block && nsize < osize && !alloc->shrinks) {
    alloc->shrinks_refused++;
    return NULL;
  }
  if (refuses(alloc, nsize)) return NULL;
  void *moved = take(alloc, nsize);
  if (moved && block) {
    memcpy(moved, ptr, osize < nsize ? osize : nsize);
    give_back(alloc, block);
  }
  return moved;
}

void alloc_arm(struct checked_alloc *alloc, size_t k, bool from_there_on) {
  alloc->fail_at = k;
  alloc->fail_on = from_there_on;
  alloc->refused = 0;
  alloc->calls = 0;
}

bool alloc_is_sound(struct checked_alloc *alloc) {
  for (struct block *block = alloc->blocks; block; block = block->next)
    if (!is_guarded(block)) mistake(alloc, "a write past the end of a block");
  return alloc->mistakes == 0;
}

void alloc_clear(struct checked_alloc *alloc) {
  while (alloc->blocks) give_back(alloc, alloc->blocks);
}
