/* Streams of random numbers. A number is made of a stream's key, the world's tick, an entity and
** how many were drawn from the stream before: in the row, where a function is called for rows.
** A system has a stream for each of its runs in a tick, keyed by its name; a function form one
** by its place among those of whatever called it. So no number depends on other systems, on
** plain loops, or on what is done between updates. */
#ifndef ECS_CORE_BASE_CHANCE_H
#define ECS_CORE_BASE_CHANCE_H

#include "core/base/base.h"

/* Behind all that are counted: the stream of predicates. */
#define CHANCE_PREDICATE UINT64_MAX

/* The open stream. Whoever opens one keeps the one before on its own stack, and puts it back. */
struct chance {
  uint64_t key;
  uint64_t opened;             /* streams of function forms inside it so far */
  uint64_t calls;              /* numbers drawn so far */
};

/* The stream that is open when no other is. */
static inline struct chance chance_outermost(uint64_t seed) {
  return (struct chance){seed, 0, 0};
}

/* The key of a stream inside another one: what SplitMix64 (Steele, Lea, Flood; OOPSLA 2014) gives
** at that place when it starts from the other key. */
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

/* The stream of predicates, which is not counted. */
static inline struct chance chance_predicate(const struct chance *outer) {
  return (struct chance){chance_key(outer->key, CHANCE_PREDICATE), 0, 0};
}

#endif
