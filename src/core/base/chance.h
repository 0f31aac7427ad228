/* Streams of random numbers. A number depends on its stream's key, the world's tick, an entity, and
** how many were drawn from the stream before: in the row, if a function is called for rows. Each
** run of a system in a tick has a stream, keyed by the system's name; a function form has one keyed
** by its place among its caller's forms. So no number depends on other systems, on plain loops, or
** on what happens between updates. */
#ifndef ECS_CORE_BASE_CHANCE_H
#define ECS_CORE_BASE_CHANCE_H

#include "core/base/base.h"

/* The place of the stream of predicates, after all numbered streams. */
#define CHANCE_PREDICATE UINT64_MAX

/* The open stream. Opening another keeps it on the C stack and restores it at the end. */
struct chance {
  uint64_t key;
  uint64_t opened;             /* streams of function forms opened inside it */
  uint64_t calls;              /* numbers drawn */
};

/* The stream that is open outside of all others. */
static inline struct chance chance_outermost(uint64_t seed) {
  return (struct chance){seed, 0, 0};
}

/* The key of a stream inside another: what SplitMix64 (Steele, Lea, Flood; OOPSLA 2014) yields at
** that place, seeded with the outer key. */
static inline uint64_t chance_key(uint64_t key, uint64_t place) {
  uint64_t x = key + (place + 1) * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
  return x ^ x >> 31;
}

/* The stream of the next function form. */
static inline struct chance chance_form(const struct chance *outer) {
  return (struct chance){chance_key(outer->key, outer->opened), 0, 0};
}

/* The stream of predicates, which is not numbered. */
static inline struct chance chance_predicate(const struct chance *outer) {
  return (struct chance){chance_key(outer->key, CHANCE_PREDICATE), 0, 0};
}

#endif
