/* Streams of random numbers. A number is made of a stream's key, the world's tick, an entity and
** how many were drawn from the stream before: in the row, where a function is called for rows.
** A system has a stream for each of its runs in a tick, keyed by its name; a function form one
** by its place among those of whatever called it. So no number depends on other systems, on
** plain loops, or on what is done between updates. */
#ifndef ECS_CORE_CHANCE_H
#define ECS_CORE_CHANCE_H

#include "base.h"

/* Behind all that are counted: the stream of predicates. */
#define CHANCE_PREDICATE UINT64_MAX

/* The open stream. Whoever opens one keeps the one before on its own stack, and puts it back. */
struct chance {
  uint64_t key;
  uint64_t opened;             /* streams of function forms inside it so far */
  uint64_t calls;              /* numbers drawn so far */
};

/* The key of a stream inside another one, or of one that has a name. */
uint64_t chance_key(uint64_t key, uint64_t place);
uint64_t chance_name(const char *name);

/* The stream that is open when no other is. */
static inline struct chance chance_outermost(uint64_t seed) {
  return (struct chance){seed, 0, 0};
}

/* The stream of a function form; counts it. */
struct chance chance_form(struct chance *outer);

/* The stream of predicates, which is not counted. */
struct chance chance_predicate(const struct chance *outer);

/* The stream of a system's next run in this tick; counts it. */
struct chance chance_system(uint64_t seed, ecs_system *system);

/* A new tick: every count begins again. */
void chance_tick(ecs_world *world);

#endif
