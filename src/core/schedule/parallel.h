/* Which systems of a phase can run side by side: what the runs of each read and write. */
#ifndef ECS_CORE_SCHEDULE_PARALLEL_H
#define ECS_CORE_SCHEDULE_PARALLEL_H

#include "core/base/base.h"
#include "core/base/memory.h"
#include "ecs_system.h"

struct ranges;
struct tempo;

#define BESIDE_MOST 32         /* systems that run side by side */

/* A field of a component, of a resource, or the elements of an array, that a run gets at. */
struct access {
  ecs_id component;
  uint32_t leaf;
  bool writes;                 /* or reads */
};

/* What is known beforehand of a system's run. */
struct prospect {
  const char *alone;           /* why it runs beside no other one; NULL: it may */
  const void *of;              /* what `next` below tells more of; NULL: it gets at nothing */
  const void *owner;           /* runs of several are not prepared together */
  uint64_t reads, writes;      /* bits: runs that share none get at nothing in common */
  uint64_t work;               /* about so many instructions, of a row each */
};

/* What somebody whose systems may run side by side knows of them, and does. */
struct companions {
  /* Neither can fail, and changes anything. */
  void (*look)(const ecs_system *system, struct prospect *out);
  /* What a run gets at, one after the other; *at is 0 at first. */
  bool (*next)(const struct prospect *prospect, uint32_t *at, struct access *out);
  /* Prepares a system's run, that of the first of those to be side by side or one more, with the
  ** world's random numbers as they are now; false: it cannot be so now. */
  bool (*add)(ecs_system *system, double dt, const ecs_system *first);
  /* Runs all of them, of which this is one; false: nothing was done. */
  bool (*run)(ecs_system *system);
  /* Ends the run of each, in the order in which they were added; cannot fail. */
  void (*end)(ecs_system *system, uint32_t number);
};

/* Says who knows. */
void beside_know(ecs_world *world, const struct companions *companions);

/* Whether a system may run beside others, and how much it does; and then what it gets at, too. */
void beside_weigh(const ecs_world *world, const ecs_system *system, struct prospect *out);
void beside_look(const ecs_world *world, const ecs_system *system, struct prospect *out);

/* Why a system cannot run beside an earlier one of its phase, and for what. */
enum clash {
  CLASH_NONE,
  CLASH_ORDER,                 /* it is to come after it */
  CLASH_OWNER,                 /* they are prepared by different ones */
  CLASH_READ,                  /* it reads what that one writes, */
  CLASH_WRITTEN,               /* writes what it reads, */
  CLASH_BOTH                   /* or both write */
};
struct side {
  const ecs_system *system;
  struct prospect prospect;
};
enum clash beside_clash(const ecs_world *world, const struct side *earlier,
                        const struct side *later, struct access *at);

/* Systems of a phase that run side by side. */

struct together {
  struct side sides[BESIDE_MOST];
  uint32_t places[BESIDE_MOST];    /* among those of the phase that runs */
  uint32_t count, ended;
  uint64_t work;
  uint64_t ticks;                  /* that all of them took */
  ecs_run_fn run[BESIDE_MOST];     /* what the systems are called by otherwise */
};

/* Whether some of the phase that runs may be worth it; each is noted not to have run so yet. */
bool together_is_worth(const ecs_world *world, const struct tempo *tempo);

/* From a place of the phase that runs on: takes as many systems as can run side by side, and runs
** them if that is worth it. Returns the place behind them. All up to there are to be stepped, what
** each does being done already; none will fail. Of a batch of 0 nothing is done. */
uint32_t together_begin(ecs_world *world, uint32_t from, const struct tempo *tempo,
                     struct together *batch);
void together_end(ecs_world *world, struct together *batch);

/* Systems of hosts that are called for ranges of rows, on the world's threads. */

/* Room for those of one run, kept from run to run; NULL: none. */
void ranges_free(struct memory *memory, struct ranges *ranges);

/* ECS_EINVAL when the rows of its query do not lie together in tables, or it has none. */
ecs_status parallel_query_suits(ecs_world *world, const ecs_system *system);

/* An ecs_run_fn, of systems that have `parallel`. */
ecs_status ranges_run(ecs_world *world, ecs_query *query, double dt, void *ud);

#endif
