/* Phases and systems: what runs, in which order, and when. */
#ifndef ECS_CORE_SCHEDULE_SCHEDULE_H
#define ECS_CORE_SCHEDULE_SCHEDULE_H

#include "core/base/base.h"
#include "core/base/chance.h"
#include "core/base/hash_map.h"
#include "core/base/memory.h"
#include "core/base/stopwatch.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "ecs_observer.h"
#include "ecs_system.h"

struct ecs_observer_desc;
struct ecs_phase_desc;
struct ecs_system_desc;
struct phase;

/* Systems by their names: what registers one asks for many others by name. */

/* Found by open addressing; less than three quarters of the slots are taken. */
struct system_names {
  ecs_system **slots;
  uint32_t capacity;           /* a power of two, or 0 */
  uint32_t count;
};

/* NULL when there is none. */
ecs_system *system_names_find(const struct system_names *names, const char *name, size_t size);

/* Room for so many in all; false when out of memory. */
bool system_names_reserve(struct memory *memory, struct system_names *names, uint64_t count);

/* Enters a system, in the place of one of the same name. */
void system_names_put(struct system_names *names, ecs_system *system);

/* Takes one out that is there. */
void system_names_drop(struct system_names *names, const ecs_system *system);

void system_names_free(struct memory *memory, struct system_names *names);

/* What a world knows by name of its phases and systems: how far their time has come, what is
** switched, what they have seen of events and changes. It is what images and snapshots have of
** them, and what is kept of those that are not there until they are registered.
**
** Each is a struct ecs_system without anything to run, that of a phase with no more than a timer,
** the accumulator, and a switch. Lists are in no order. */

struct timing_list {
  ecs_system **items;
  uint32_t count, capacity;
  struct system_names names;
};

struct timings {
  struct timing_list phases, systems;
};

/* The one of a name, made when there is none: nothing has happened to it. */
ecs_status timings_need(ecs_world *world, struct timing_list *list, const char *name, size_t size,
                        ecs_system **out);

/* Those of a world, or what others know. Beside ECS_NOMEM leave what is to be freed. */
ecs_status timings_take(ecs_world *world, struct timings *out);
ecs_status timings_add(ecs_world *world, struct timings *to, const struct timings *from);

/* Gives what is known to the phases and systems that there are, and keeps the rest; those that it
** has not are as newly registered. */
void timings_give(ecs_world *world, struct timings *timings);

/* Gives what is kept to a phase or system that has just been registered. */
void timings_give_phase(ecs_world *world, struct phase *phase);
void timings_give_system(ecs_world *world, ecs_system *system);

/* What passes from one to another of its name. News are of one query. */
void timings_copy(ecs_system *to, const ecs_system *from);

/* The text of the query whose news it knows, or NULL. */
const char *timings_query(const ecs_system *system);

void timings_free(ecs_world *world, struct timings *timings);

/* Phases and systems as a world's schedule keeps them: see schedule.h. */

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
  uint64_t last_ticks, total_ticks, peak_ticks;   /* of the schedule's stopwatch */
  uint64_t rows, all_rows;   /* that its function was called for: in its last run, and in all */
  double cpu;                /* seconds of its thread's processor, while the world is profiled */
  double *history;           /* seconds in the last updates: see profile.c; or NULL */
  uint64_t history_ticks;    /* total_ticks when the last update ended */
  double every;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);
  ecs_query *reads;          /* the query that it goes through, be it the host's; or NULL */
  ecs_system *next_reader;   /* of that query */
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
  struct profile *profile;   /* what updates have taken; NULL unless they are profiled */
};

#define CATCH_UP_STEPS 8

/* Between the numbers of two registrations, for those that a group of scripts registers. */
#define PLACES ((uint64_t)1 << 32)

/* A world's schedule is all zero at first; this gives it the phases of the runtime. */
ecs_status schedule_init(ecs_world *world);
void schedule_free(ecs_world *world);

/* Whether every system is listed once, in a phase that there is; ECS_ECORRUPT else. */
ecs_status schedule_check(const ecs_world *world);

ecs_system *schedule_system(const ecs_world *world, const char *name, size_t size);
struct phase *schedule_phase(const ecs_world *world, const char *name, size_t size,
                             uint32_t *at);

/* Builds an observer, which is a system of a phase that never runs. */
ecs_status schedule_build_observer(ecs_world *world, const struct ecs_observer_desc *desc,
                                   ecs_system **out);

/* Which systems are those of each phase, unless that is known. */
void schedule_count(struct schedule *schedule);

/* An observer is on or off as it should be; of a system nothing. schedule_relist does so for all,
** among which others may have come. Cannot fail. */
void schedule_watch(ecs_world *world, const ecs_system *system);
void schedule_relist(ecs_world *world);

/* "no system is named 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status schedule_unknown(const ecs_world *world, const char *name, bool phases);

/* "unknown phase 'x' (did you mean 'y'?)"; returns ECS_ENAME. */
ecs_status schedule_no_phase(const ecs_world *world, const char *name);

/* The parts of registering, for transactions: a system or phase that is in no list yet; what a
** system takes over from the one it replaces; freeing (with the free callback, or not). */
ecs_status schedule_build(ecs_world *world, const struct ecs_system_desc *desc, ecs_system **out);
void schedule_inherit(ecs_system *system, const ecs_system *old);
void schedule_free_system(ecs_world *world, ecs_system *system, bool callback);
ecs_status phase_build(ecs_world *world, const struct ecs_phase_desc *desc, struct phase **out);
void phase_free(ecs_world *world, struct phase *phase);
bool phase_is_builtin(const char *name);
bool phase_runs_once(const struct phase *phase);

/* Puts the phases in order; leaves them as they were when that cannot be. */
ecs_status phase_sort(ecs_world *world);

/* Puts a system in place of the one of its name, or behind all. It is freed when it fails. */
ecs_status schedule_enter(ecs_world *world, ecs_system *system);

/* Frees the systems that went while others ran. */
void schedule_free_gone(ecs_world *world);

/* Whether a before/after name of the system names no system of its phase. */
bool schedule_is_ignored(const ecs_world *world, const ecs_system *system,
                         const char *name);
bool phase_is_ignored(const ecs_world *world, const char *name);

/* Writes what is odd about a system or phase that was registered since: a name in its before or
** after that names nothing, with the nearest one. Each is told once; false when all are. */
bool schedule_tell(ecs_world *world, char *text, size_t size);

/* When a system runs, and what with. */

/* How a phase is gone through. */
struct tempo {
  double dt;
  bool once;                   /* its systems run once */
  bool fixed;                  /* in steps of dt */
};

/* Whether its query is about events, or what has changed. */
static inline bool reads_news(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return UNLIKELY(query && (query->terms.event || query->terms.changes));
}

/* Whether it is known that its query has no rows. */
static inline bool reads_nothing(const ecs_system *system) {
  const ecs_query *query = system->reads;
  if (!query || query->broken || reads_news(system)) return false;
  return query_is_barren(query);
}

/* How many of its runs in this tick came before: as many streams of random numbers were opened. */
static inline uint64_t streams_before(const ecs_world *world, const ecs_system *system) {
  return system->streams_tick == world->tick ? system->streams : 0;
}

/* The stream of random numbers of a run behind so many in this tick. */
static inline struct chance stream_of(const ecs_world *world, const ecs_system *system,
                                      uint64_t before) {
  return (struct chance){chance_key(world->seed + system->chance, before), 0, 0};
}

/* How long it is since it last ran, when it runs now. */
static inline double dt_of(const ecs_system *system, const struct tempo *tempo) {
  bool step = tempo->fixed && system->every <= 0;
  return system->has_run && !step ? system->elapsed : tempo->dt;
}

/* The order of systems: by phase, then by what they must come before and after, then as they were
** registered. */

/* Puts systems in order; ECS_ECYCLE with the cycle in the message leaves them as they were.
** Stable: what constraints leave open is decided by registration. */
ecs_status schedule_sort(ecs_world *world);

/* Notes the names that systems must come after, this one's among them, which is in no list yet. */
ecs_status arrange_note(ecs_world *world, const ecs_system *system);

/* Whether no other system has to come behind this one, so that the others' order is the same with
** it and without; after arrange_note. */
bool arrange_leads_nobody(const struct schedule *schedule, const ecs_system *system);

/* Lists a system that leads nobody, and was registered last: behind those of its phase. */
void arrange_append(struct schedule *schedule, ecs_system *system);

/* What surrounds calls of functions that a schedule has: what they leave open, what they fail with,
** what time they take. */

/* Before a callback: what has failed earlier is not its reason. Returns what comes back, behind it,
** when it has nothing to say. */
static inline char callback_begin(const ecs_world *world) {
  char first = world->message[0];
  world->message[0] = '\0';
  return first;
}

static inline void callback_end(const ecs_world *world, ecs_status status, char first) {
  if (status == ECS_OK && !world->message[0]) world->message[0] = first;
}

/* What kind of function runs, and the name of its system or observer; NULL for none. */
const char *callback_running(const ecs_world *world, const char **kind);

/* Ends what was left open inside a scope. */
void callback_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* Ends all that is open, as of conditions and handlers of errors, which run in no scope of their
** own: it is committed, or cancelled where they fail. */
ecs_status callback_end_left(ecs_world *world, ecs_status status);

/* Parks the system when someone handles errors, else passes the failure on, with its name. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status);

/* The time counts for whoever has the system's place now: it may have been replaced, or gone, while
** it ran. */
void callback_add_time_by_name(ecs_world *world, ecs_system *system, uint64_t ticks);

static inline void system_add_time(ecs_system *system, uint64_t ticks) {
  system->last_ticks = ticks;
  system->total_ticks += ticks;
  if (ticks > system->peak_ticks) system->peak_ticks = ticks;
}

static inline void callback_add_time(ecs_world *world, ecs_system *system, uint64_t ticks) {
  if (LIKELY(!system->removed))
    system_add_time(system, ticks);
  else
    callback_add_time_by_name(world, system, ticks);
}

/* What updates have taken, kept while a world is profiled: a ring of the last ones. */

#define PROFILE_FRAMES 600u

struct profile_frame {
  double seconds;            /* the whole update */
  uint64_t entities;         /* alive when it ended */
};

struct profile {
  uint64_t count;            /* updates so far; the last one is at (count - 1) % PROFILE_FRAMES */
  bool has_cpu;              /* there is a clock of the thread's processor */
  struct profile_frame frames[PROFILE_FRAMES];
};

/* Begins, or ends and forgets; no effect where that is so. */
ecs_status profile_switch(ecs_world *world, bool on);

/* Whether the processor's time is worth a reading for this run: it was long the last time. */
bool profile_is_long(const struct schedule *schedule, const ecs_system *system);

/* Adds an update that began at a reading of the stopwatch. Where there is no memory for a system's
** history it has none yet. */
void profile_add_update(ecs_world *world, uint64_t start);

/* Frees a system's history, if it has one. */
void profile_drop_history(ecs_world *world, ecs_system *system);

/* Counters of systems and observers start anew. */
void profile_reset(ecs_world *world);

/* Observers are called: in rounds, each for what the one before has changed. */

#define ROUND_LIMIT 64

/* Calls the observers of what has been applied and nobody has been told of (watching.due), until
** nothing changes any more; no effect when there is nothing, or inside a scope. Returns what the
** first one that failed did, after all others; ECS_ENOMEM with watching.due still set: nobody was
** called. */
ecs_status observers_run(ecs_world *world);

#endif
