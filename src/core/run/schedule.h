/* Phases and systems: what runs, in which order, and when. */
#ifndef ECS_CORE_RUN_SCHEDULE_H
#define ECS_CORE_RUN_SCHEDULE_H

#include "core/base/arena.h"
#include "core/base/chance.h"
#include "core/base/memory.h"
#include "ecs_system.h"

#define CATCH_UP_STEPS 8

/* Between the numbers of two registrations, for those that a group of scripts registers. */
#define PLACES ((uint64_t)1 << 32)

struct phase {
  const char *name;
  const char *after, *before;  /* as declared, or NULL */
  double fixed;
  double accumulator;
  bool enabled;
  bool placed;               /* while ordering */
  uint32_t told;             /* names of after and before that schedule_tell has looked at */
  uint64_t declared;         /* kept when it is declared again */
  struct arena arena;
};

struct ecs_system {
  const char *name;
  const char *owner;         /* or NULL */
  struct phase *phase;
  uint64_t registered;       /* kept when it is replaced */
  const char **before, **after;  /* names, ended by NULL; or NULL */
  double every;
  double timer;              /* since the interval last elapsed */
  double elapsed;            /* since it last ran */
  uint64_t chance;           /* of its name: see core/base/chance.h */
  uint64_t streams;          /* of random numbers that it opened in the tick below */
  uint64_t streams_tick;
  ecs_id event;              /* what it reads: of that it has seen those before a number, */
  uint64_t seen;
  uint64_t awaited;          /* and was due for these: see reading.h */
  bool enabled, parked, has_run, removed;
  bool placed;               /* while sorting */
  uint32_t told;             /* names of before and after that schedule_tell has looked at */
  uint32_t waits;            /* while sorting: systems that must come first */
  ecs_system *next_gone;     /* replaced or removed while systems run */
  ecs_query *query;          /* its own, that it is given; freed with it */
  const ecs_query *reads;    /* the one that it goes through, be it the host's; or NULL */
  ecs_run_fn run;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);
  void (*free)(void *ud);
  void *ud;
  uint64_t runs;
  double total_seconds, last_seconds;
  struct arena arena;        /* of the names and lists */
};

struct schedule {
  struct phase **phases;     /* in running order */
  uint32_t phase_count;
  uint32_t phase_capacity;
  struct phase **placed;     /* while ordering; room for all */
  uint32_t placed_capacity;
  uint64_t next_declared;
  ecs_system **systems;      /* in running order: by phase, then constraints */
  uint32_t system_count;
  uint32_t system_capacity;
  ecs_system **running;      /* those of the phase that runs; room for all */
  uint32_t running_count;
  uint32_t running_capacity;
  ecs_system **sorted;       /* while sorting; room for all */
  uint32_t sorted_capacity;
  uint64_t next_registered;
  ecs_error_fn on_error;
  void *on_error_ud;
  ecs_system *gone;          /* freed when nothing runs */
  double clock;              /* when the system before ended; 0: others have run since */
  bool untold;               /* schedule_tell may have something to tell */
  ecs_system *current;       /* the one that runs */
  struct chance outer;       /* the stream of random numbers around those of systems */
};

/* A world's schedule is all zero at first; this gives it the phases of the runtime. */
ecs_status schedule_init(ecs_world *world);
void schedule_free(ecs_world *world);

/* Whether every system is listed once, in a phase that there is; ECS_ECORRUPT else. */
ecs_status schedule_check(const ecs_world *world);

ecs_system *schedule_system(const ecs_world *world, const char *name, size_t size);
struct phase *schedule_phase(const ecs_world *world, const char *name, size_t size,
                             uint32_t *at);

/* Puts systems in order; ECS_ECYCLE with the cycle in the message leaves them as they were.
** Stable: what constraints leave open is decided by registration. */
ecs_status schedule_sort(ecs_world *world);

/* "no system is named 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status schedule_unknown(const ecs_world *world, const char *name, bool phases);

/* "unknown phase 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status schedule_no_phase(const ecs_world *world, const char *name);

/* The parts of registering, for transactions: a system or phase that is in no list yet; what a
** system takes over from the one it replaces; freeing (with the free callback, or not). */
ecs_status schedule_build(ecs_world *world, const ecs_system_desc *desc, ecs_system **out);
void schedule_inherit(ecs_system *system, const ecs_system *old);
void schedule_free_system(ecs_world *world, ecs_system *system, bool callback);
ecs_status phase_build(ecs_world *world, const ecs_phase_desc *desc, struct phase **out);
void phase_free(ecs_world *world, struct phase *phase);
bool phase_is_builtin(const char *name);
bool phase_runs_once(const struct phase *phase);

/* Puts the phases in order; leaves them as they were when that cannot be. */
ecs_status phase_sort(ecs_world *world);

/* Frees the systems that went while others ran. */
void schedule_free_gone(ecs_world *world);

/* Whether a before/after name of the system names no system of its phase. */
bool schedule_is_ignored(const ecs_world *world, const ecs_system *system,
                         const char *name);
bool phase_is_ignored(const ecs_world *world, const char *name);

/* How many streams of random numbers the system has opened in this tick, and what makes it so
** many. */
uint64_t schedule_streams(const ecs_world *world, const ecs_system *system);
void schedule_set_streams(const ecs_world *world, ecs_system *system, uint64_t opened);

/* Writes what is odd about a system or phase that was registered since: a name in its before or
** after that names nothing, with the nearest one. Each is told once; false when all are. */
bool schedule_tell(ecs_world *world, char *text, size_t size);

#endif
