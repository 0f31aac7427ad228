/* Phases and systems as a world's schedule keeps them: see schedule.h. */
#ifndef ECS_CORE_SCHEDULE_TIMETABLE_H
#define ECS_CORE_SCHEDULE_TIMETABLE_H

#include "core/base/arena.h"
#include "core/base/chance.h"
#include "core/base/hash_map.h"
#include "core/base/stopwatch.h"
#include "core/schedule/timings.h"
#include "ecs_observer.h"
#include "ecs_system.h"

struct phase {
  uint32_t first, count;     /* its systems among all, once they are counted */
  const char *name;
  const char *after, *before;  /* as declared, or NULL */
  uint64_t hash, after_hash, before_hash;   /* of these three; 0 of NULL */
  double fixed;
  double accumulator;
  bool enabled;
  bool placed;               /* while ordering */
  uint32_t place;            /* among the phases, while a system is listed */
  uint32_t told;             /* names of after and before that schedule_tell has looked at */
  uint64_t declared;         /* kept when it is declared again */
  struct arena arena;
};

/* A system that must come behind another one of its phase. */
struct follower {
  ecs_system *system;
  struct follower *next;
};

/* In front what a system needs that has nothing to do: the less it touches, the more of them cost
** next to nothing. */
struct ecs_system {
  bool enabled, parked, has_run, removed;
  bool disabled, switched;   /* was registered so; was switched on or off since */
  bool needs_rows;           /* does nothing while its query has none */
  uint8_t abreast;           /* how many ran side by side when its phase last ran, with it; or 0 */
  uint64_t barren;           /* world_arrived when that had none and nothing else decided on runs */
  double timer;              /* since the interval last elapsed */
  double elapsed;            /* since it last ran */
  uint64_t runs;
  uint64_t streams;          /* of random numbers that it opened in the tick below */
  uint64_t streams_tick;
  uint64_t last_ticks, total_ticks;   /* of the schedule's stopwatch */
  double every;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);
  ecs_query *reads;          /* the query that it goes through, be it the host's; or NULL */
  ecs_query *query;          /* its own, that it is given; freed with it */
  ecs_run_fn run;            /* NULL for an observer, */
  ecs_rows_fn parallel;      /* what `run` calls for ranges of rows; or NULL */
  ecs_observe_fn observe;    /* which has these: its phase is the schedule's `reacting` */
  struct watch *watch;
  void *ud;
  uint64_t chance;           /* hash of its name: see core/base/chance.h */
  const char *name;
  const char *owner;         /* or NULL */
  struct phase *phase;
  uint64_t registered;       /* kept when it is replaced */
  const char **before, **after;  /* names, ended by NULL; or NULL */
  ecs_id event;              /* what it reads: of that it has seen those before a number, */
  uint64_t seen;
  uint64_t awaited;          /* and was due for these: see reading.h */
  uint64_t news;             /* world.now when it had run: what was marked then is none to it */
  const char *asked;         /* of one that is not there: the query whose news these are; or NULL */
  bool placed;               /* while sorting */
  uint32_t told;             /* names of before and after that schedule_tell has looked at */
  uint32_t waits;            /* while sorting: systems that must come first, */
  struct follower *followers;    /* those behind it, */
  ecs_system *leader;        /* and of a cycle the first that it waits for */
  struct follower *links;    /* room for one by each name of before and after */
  ecs_system *next_gone;     /* replaced or removed while systems run */
  void (*free)(void *ud);
  struct arena arena;        /* of the names and lists */
};

#define RUNNING_AHEAD 8u       /* places that running systems are looked ahead by */

struct schedule {
  struct phase *reacting;    /* of observers: none of the phases that run */
  struct phase **phases;     /* in running order */
  uint32_t phase_count;
  uint32_t phase_capacity;
  struct phase **placed;     /* while ordering; room for all */
  uint32_t placed_capacity;
  uint64_t next_declared;
  ecs_system **systems;      /* in running order: by phase, then constraints */
  uint32_t system_count;
  uint32_t system_capacity;
  ecs_system **running;      /* those of the phase that runs, and the last of them RUNNING_AHEAD */
                             /* times more; room for all */
  uint32_t running_count;
  uint32_t running_capacity;
  ecs_system **sorted;       /* while sorting; room for all */
  uint32_t sorted_capacity;
  bool placed_in_turn;       /* no phase has waited for one declared behind it: see place_last */
  bool counted;              /* phases know which systems are theirs */
  struct system_names names;
  struct map awaited;        /* hashes of what systems, of which some may be gone, come after, */
  bool awaits_all;           /* as far as they are noted: of all */
  uint64_t next_registered;
  ecs_error_fn on_error;
  void *on_error_ud;
  ecs_system *gone;          /* freed when nothing runs */
  struct timings absent;     /* of those that a world was saved with and that are not there */
  struct stopwatch stopwatch;    /* of what systems take */
  uint64_t clock;            /* when the system before ended; 0: others have run since */
  struct ranges *ranges;     /* of rows, of systems that run on several threads; or NULL */
  bool untold;               /* schedule_tell may have something to tell */
  ecs_system *current;       /* the one that runs */
  bool news;                 /* its query is about events, or what has changed */
  struct together *together; /* of systems that run side by side; or NULL */
  const struct companions *companions;   /* who knows what systems read and write; or NULL */
  struct chance outer;       /* the stream of random numbers around those of systems */
};

#endif
