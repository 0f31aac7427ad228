/* Bits of words, sets of ids, and sorting of pointers. */
#ifndef ECS_CORE_BASE_SETS_H
#define ECS_CORE_BASE_SETS_H

#include "core/base/base.h"

/* The lowest bit that is set; there is one. */
static inline uint32_t bits_first(uint64_t word) {
#ifdef __GNUC__
  return (uint32_t)__builtin_ctzll(word);
#else
  uint32_t at = 0;
  while (!(word >> at & 1)) at++;
  return at;
#endif
}

static inline uint32_t bits_count(uint64_t word) {
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Packs eight bytes, each 0 or 1, into bits, the first one lowest. */
static inline uint64_t bits_of_bytes(const uint8_t *bytes) {
  uint64_t all = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&all, bytes, 8);
#else
  for (int i = 0; i < 8; i++) all |= (uint64_t)bytes[i] << (8 * i);
#endif
  return all * UINT64_C(0x0102040810204080) >> 56;
}

/* Copies `count` bits, from bit `first` (below 64) of a list of words on, to the start of another
** list, followed by zeros. */
static inline void bits_move(uint64_t *to, const uint64_t *from, uint32_t first, uint32_t count) {
  uint32_t words = (count + 63) / 64, all = (first + count + 63) / 64;
  assert(first < 64 && count > 0);
  for (uint32_t i = 0; i < words; i++) {
    to[i] = from[i] >> first;
    if (first && i + 1 < all) to[i] |= from[i + 1] << (64 - first);
  }
  if (count % 64) to[words - 1] &= (UINT64_C(1) << count % 64) - 1;
}

/* Sets of ids as sorted arrays. */

/* Whether a set has an id; *at is its place, or where it would be. */
static inline bool id_set_find(const ecs_id *ids, uint32_t count, ecs_id id, uint32_t *at) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (ids[middle] < id)
      low = middle + 1;
    else
      high = middle;
  }
  *at = low;
  return low < count && ids[low] == id;
}

static inline bool id_set_has(const ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  return id_set_find(ids, count, id, &at);
}

/* Inserts an id into a set that has room for it. Returns the new count. */
static inline uint32_t id_set_insert(ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  if (id_set_find(ids, count, id, &at)) return count;
  memmove(ids + at + 1, ids + at, (count - at) * sizeof *ids);
  ids[at] = id;
  return count + 1;
}

static inline uint32_t id_set_remove(ecs_id *ids, uint32_t count, ecs_id id) {
  uint32_t at;
  if (!id_set_find(ids, count, id, &at)) return count;
  memmove(ids + at, ids + at + 1, (count - at - 1) * sizeof *ids);
  return count - 1;
}

/* Searching in sorted lists. */

/* Moves `low` to the first place below `high` for which `before`, about the place `middle`, is
** false; to `high` if there is none. It is true for all places up to there, and false after. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define BISECT(low, high, middle, before)           \
  do {                                              \
    uint32_t high_ = (high);                        \
    while ((low) < high_) {                         \
      uint32_t middle = (low) + (high_ - (low)) / 2; \
      if (before)                                   \
        (low) = middle + 1;                         \
      else                                          \
        high_ = middle;                             \
    }                                               \
  } while (0)

/* Sorting lists. */

/* Bottom-up merge sort (Knuth, TAOCP 5.2.4) of a list's `count` items, with equal room at `spare`.
** `before` says of two items, `a` and `b`, whether `a` comes first; equal ones stay in their
** order. */
#define MERGE_SORT(type, list, spare, count, a, b, before)                              \
  do {                                                                                  \
    type *from_ = (list);                                                               \
    type *to_ = (spare);                                                                \
    for (uint64_t width_ = 1; width_ < (count); width_ *= 2) {                          \
      for (uint64_t low_ = 0; low_ < (count); low_ += 2 * width_) {                     \
        uint64_t middle_ = low_ + width_ < (count) ? low_ + width_ : (count);           \
        uint64_t high_ = low_ + 2 * width_ < (count) ? low_ + 2 * width_ : (count);     \
        uint64_t left_ = low_, right_ = middle_;                                        \
        for (uint64_t k_ = low_; k_ < high_; k_++) {                                    \
          bool swaps_ = left_ == middle_;                                               \
          if (left_ < middle_ && right_ < high_) {                                      \
            type a = from_[right_];                                                     \
            type b = from_[left_];                                                      \
            swaps_ = (before);                                                          \
          }                                                                             \
          to_[k_] = swaps_ ? from_[right_++] : from_[left_++];                          \
        }                                                                               \
      }                                                                                 \
      type *swap_ = from_;                                                              \
      from_ = to_;                                                                      \
      to_ = swap_;                                                                      \
    }                                                                                   \
    if (from_ != (list)) memcpy((list), from_, (count) * sizeof *from_);                \
  } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

/* MERGE_SORT of a list of pointers that is followed by as much free room. */
void merge_sort(const void **list, uint32_t n, bool (*precedes)(const void *, const void *));

/* Room to sort `count` items, plus one, so it is never 0. */
static inline size_t merge_sort_room(uint32_t count) { return ((size_t)count + 1) * 2; }

#endif
