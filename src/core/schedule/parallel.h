/* Runs systems of a phase in parallel: decides by what the run of each reads and writes. Also
** systems of hosts that are called for ranges of rows. */
#ifndef ECS_CORE_SCHEDULE_PARALLEL_H
#define ECS_CORE_SCHEDULE_PARALLEL_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "ecs_system.h"

struct ranges;
struct tempo;

#define BESIDE_MOST 32         /* most systems in a batch */

/* A field of a component or resource, or the elements of an array, that a run accesses. */
struct access {
  ecs_id component;
  uint32_t leaf;
  bool writes;                 /* false: reads */
};

/* What is known of a system's run beforehand. */
struct prospect {
  const char *alone;           /* why it cannot run in parallel; NULL: it can */
  const void *of;              /* passed to `next` below; NULL: it accesses nothing */
  const void *owner;           /* runs of different owners are not prepared together */
  uint64_t reads, writes;      /* bits: runs without common bits access nothing in common */
  uint64_t work;               /* approximate number of instructions, for one row each */
};

/* Callbacks of a binding whose systems can run in parallel. */
struct companions {
  /* Describes a system's run. Neither this nor `next` can fail or change anything. */
  void (*look)(const ecs_system *system, struct prospect *out);
  /* Iterates over what a run accesses; *at is 0 at first. */
  bool (*next)(const struct prospect *prospect, uint32_t *at, struct access *out);
  /* Prepares a system's run, the first of a batch or one more, with the world's present random
  ** stream; false if that is impossible now. */
  bool (*add)(ecs_system *system, double dt, const ecs_system *first);
  /* Runs the whole batch, of which this is a member; false: nothing was done. */
  bool (*run)(ecs_system *system);
  /* Ends the run of each, in the order in which they were added; cannot fail. */
  void (*end)(ecs_system *system, uint32_t number);
};

/* Sets the callbacks. */
void beside_know(ecs_world *world, const struct companions *companions);

/* Says whether a system can run in parallel, how much it does, and what it accesses. */
void beside_look(const ecs_world *world, const ecs_system *system, struct prospect *out);

/* Why a system cannot run in parallel with an earlier one of its phase. */
enum clash {
  CLASH_NONE,
  CLASH_ORDER,                 /* it must come after it */
  CLASH_OWNER,                 /* they have different owners */
  CLASH_READ,                  /* it reads what the other writes, */
  CLASH_WRITTEN,               /* writes what the other reads, */
  CLASH_BOTH                   /* or both write */
};
struct side {
  const ecs_system *system;
  struct prospect prospect;
};
enum clash beside_clash(const ecs_world *world, const struct side *earlier,
                        const struct side *later, struct access *at);

/* A batch: systems of a phase that run in parallel. */

struct together {
  struct side sides[BESIDE_MOST];
  uint32_t places[BESIDE_MOST];    /* in the running phase */
  uint32_t count, ended;
  uint64_t work;
  uint64_t ticks;                  /* taken by all of them */
  ecs_run_fn run[BESIDE_MOST];     /* their usual run functions */
};

/* Whether systems of the running phase may be worth a batch. Resets what each records of its last
** batch. */
bool together_is_worth(const ecs_world *world, const struct tempo *tempo);

/* From a place of the running phase on, gathers as many systems as can run in parallel, and runs
** them if that is worth it. Returns the place after them. All systems up to there must then be
** stepped; the members' work is done and none will fail. With an empty batch, nothing was done. */
uint32_t together_begin(ecs_world *world, uint32_t from, const struct tempo *tempo,
                     struct together *batch);
void together_end(ecs_world *world, struct together *batch);

/* Systems of hosts that are called for ranges of rows, on the world's threads. */

/* Frees the ranges, which are kept from run to run; NULL: none. */
void ranges_free(struct memory *memory, struct ranges *ranges);

/* ECS_EINVAL if the system has no query, or one whose rows are not contiguous in tables. */
ecs_status parallel_query_suits(ecs_world *world, const ecs_system *system);

/* An ecs_run_fn for systems that have `parallel`. */
ecs_status ranges_run(ecs_world *world, ecs_query *query, double dt, void *ud);

#endif
