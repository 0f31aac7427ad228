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

/* Systems by name: registering one looks up many others. */

/* In the order of the names' hashes. */
struct system_names {
  ecs_system **list;
  uint32_t count, capacity;
};

/* Finds a system, or NULL. */
ecs_system *system_names_find(const struct system_names *names, const char *name, size_t size);

/* Adds a system in reserved room, or replaces that of the same name. */
void system_names_put(struct system_names *names, ecs_system *system);

/* Removes a system that is there. */
void system_names_drop(struct system_names *names, const ecs_system *system);

/* Timings: what a world records by name about its phases and systems: elapsed times, switches, and
** what they have seen of events and changes. Images and snapshots hold them, and those of absent
** systems are kept until the systems are registered.
**
** Each is a struct ecs_system without a function; that of a phase has only a timer, the
** accumulator, and a switch. Lists are unordered. */

struct timing_list {
  ecs_system **items;
  uint32_t count, capacity;
  struct system_names names;
};

struct timings {
  struct timing_list phases, systems;
};

/* Finds or makes the entry of a name; a new one is blank. */
ecs_status timings_need(ecs_world *world, struct timing_list *list, const char *name, size_t size,
                        ecs_system **out);

/* Takes the timings of a world, or adds copies of others; must be freed even after ECS_ENOMEM. */
ecs_status timings_take(ecs_world *world, struct timings *out);
ecs_status timings_add(ecs_world *world, struct timings *to, const struct timings *from);

/* Gives timings to the existing phases and systems, and keeps the others. Phases and systems
** without timings become as newly registered. */
void timings_give(ecs_world *world, struct timings *timings);

/* Gives a newly registered phase or system the timings that were kept for it. */
void timings_give_phase(ecs_world *world, struct phase *phase);
void timings_give_system(ecs_world *world, ecs_system *system);

/* The text of the query whose news it knows, or NULL. */
const char *timings_query(const ecs_system *system);

void timings_free(ecs_world *world, struct timings *timings);

/* Phases and systems in a world's schedule. */

struct phase {
  uint32_t first, count;     /* its range of systems, once counted */
  const char *name;
  const char *after, *before;  /* as declared, or NULL */
  uint64_t hash, after_hash, before_hash;   /* of these three names; 0 for NULL */
  double fixed;
  double accumulator;
  bool enabled;
  bool placed;               /* while sorting */
  uint32_t place;            /* among the phases, while a system is listed */
  uint32_t told;             /* names in after and before examined by schedule_tell */
  uint64_t declared;         /* kept when it is declared again */
  struct arena arena;
};

/* A system that must come after another one of its phase. */
struct follower {
  ecs_system *system;
  struct follower *next;
};

/* Begins with what a system without work needs: the less is touched, the cheaper it is. */
struct ecs_system {
  bool enabled, parked, has_run, removed;
  bool disabled, switched;   /* was registered disabled; has been switched since */
  bool needs_rows;           /* does nothing while its query has no rows */
  uint8_t abreast;           /* systems of its batch in its phase's last run, or 0 */
  uint64_t barren;           /* world_arrived when the query had no rows and nothing else decided on
                             ** runs */
  double timer;              /* since the interval last elapsed */
  double elapsed;            /* since its last run */
  uint64_t runs;
  uint64_t streams;          /* random streams opened in the tick below */
  uint64_t streams_tick;
  uint64_t last_ticks, total_ticks, peak_ticks;   /* of the schedule's stopwatch */
  uint64_t rows, all_rows;   /* that its function was called for: in its last run, and in all */
  double cpu;                /* processor seconds of its thread, while profiled */
  double *history;           /* seconds in the last updates: see profile.c; or NULL */
  uint64_t history_ticks;    /* total_ticks when the last update ended */
  double every;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);
  ecs_query *reads;          /* the query that it reads, possibly the host's; or NULL */
  ecs_system *next_reader;   /* of that query */
  ecs_query *query;          /* its own query, freed with it */
  ecs_run_fn run;            /* NULL for an observer, */
  ecs_rows_fn parallel;      /* called by `run` for ranges of rows, or NULL */
  ecs_observe_fn observe;    /* which has this, and the phase `reacting` */
  struct watch *watch;
  void *ud;
  uint64_t chance;           /* hash of its name: see core/base/chance.h */
  const char *name;
  const char *owner;         /* or NULL */
  struct phase *phase;
  uint64_t registered;       /* kept when it is replaced */
  const char **before, **after;  /* names, ended by NULL; or NULL */
  ecs_id event;              /* the event that it reads; numbers of its rows: see event.h */
  uint64_t seen;             /* the system has seen the rows before this one, */
  uint64_t awaited;          /* and was due for the rows before this one */
  uint64_t news;             /* world.now after its last run: later marks are new */
  const char *asked;         /* of an absent system: the query of these news; or NULL */
  bool placed;               /* while sorting */
  uint32_t told;             /* names in before and after examined by schedule_tell */
  uint32_t waits;            /* while sorting: systems that must come first, */
  struct follower *followers;    /* those after it, */
  ecs_system *leader;        /* and in a cycle, the first that it waits for */
  struct follower *links;    /* one for each name in before and after */
  ecs_system *next_gone;     /* replaced or removed while systems run */
  void (*free)(void *ud);
  struct arena arena;        /* of the names and lists */
};

#define RUNNING_AHEAD 8u       /* distance at which running systems are prefetched */

struct schedule {
  struct phase *reacting;    /* phase of observers, which never runs */
  struct phase **phases;     /* in running order */
  uint32_t phase_count;
  uint32_t phase_capacity;
  struct phase **placed;     /* while sorting; capacity for all */
  uint32_t placed_capacity;
  uint64_t next_declared;
  ecs_system **systems;      /* in running order: by phase, then constraints */
  uint32_t system_count;
  uint32_t system_capacity;
  ecs_system **running;      /* systems of the running phase, and the last one RUNNING_AHEAD */
                             /* times more; capacity for all */
  uint32_t running_count;
  uint32_t running_capacity;
  ecs_system **sorted;       /* while sorting; capacity for all */
  uint32_t sorted_capacity;
  bool placed_in_turn;       /* no phase has waited for a later one: see phase_place_last */
  bool counted;              /* phases have their ranges of systems */
  struct system_names names;
  struct map awaited;        /* hashes of the names that systems come after, */
  bool awaits_all;           /* complete if set; some systems may be gone */
  uint64_t next_registered;
  ecs_error_fn on_error;
  void *on_error_ud;
  ecs_system *gone;          /* freed when nothing runs */
  struct timings absent;     /* of saved systems that are absent */
  struct stopwatch stopwatch;    /* that times systems */
  uint64_t clock;            /* when the system before ended; 0: others have run since */
  struct ranges *ranges;     /* for systems that run on several threads; or NULL */
  bool untold;               /* schedule_tell may have something to report */
  ecs_system *current;       /* the running one */
  bool news;                 /* its query is about events or changes */
  struct together *together; /* the batch that runs in parallel; or NULL */
  const struct companions *companions;   /* callbacks of the binding; or NULL */
  struct chance outer;       /* the random stream around those of systems */
  struct profile *profile;   /* NULL unless updates are profiled */
};

#define CATCH_UP_STEPS 8

/* Distance between the numbers of two registrations, to leave room for a group of scripts. */
#define PLACES ((uint64_t)1 << 32)

/* Adds the built-in phases to a schedule that is all zero. */
ecs_status schedule_init(ecs_world *world);
void schedule_free(ecs_world *world);

/* Checks that every system is listed once, in an existing phase. ECS_OK or ECS_ECORRUPT. */
ecs_status schedule_check(const ecs_world *world);

ecs_system *schedule_system(const ecs_world *world, const char *name, size_t size);
struct phase *schedule_phase(const ecs_world *world, const char *name, uint32_t *at);

/* Builds an observer, which is a system of a phase that never runs. */
ecs_status schedule_build_observer(ecs_world *world, const struct ecs_observer_desc *desc,
                                   ecs_system **out);

/* Finds the systems of each phase, unless that is done. */
void schedule_count(struct schedule *schedule);

/* Adds an observer to the watching ones, or removes it, by its switch; has no effect for a system.
** schedule_relist does so for all systems, new ones included. Cannot fail. */
void schedule_watch(ecs_world *world, const ecs_system *system);
void schedule_relist(ecs_world *world);

/* Fails with "there is no system 'x' (did you mean 'y'?)". Returns ECS_ENAME. */
ecs_status schedule_unknown(const ecs_world *world, const char *name, bool phases);

/* Fails with "unknown phase 'x' (did you mean 'y'?)". Returns ECS_ENAME. */
ecs_status schedule_no_phase(const ecs_world *world, const char *name);

/* The parts of registering, for transactions: building a system or phase that is in no list yet;
** what a system takes over from the one it replaces, and where it is; freeing, with or without the
** free callback, and freeing the lists alone. */
ecs_status schedule_build(ecs_world *world, const struct ecs_system_desc *desc, ecs_system **out);
void schedule_inherit(ecs_system *system, const ecs_system *old);
uint32_t schedule_position_of(const struct schedule *schedule, const ecs_system *system);
void schedule_free_system(ecs_world *world, ecs_system *system, bool callback);
void schedule_free_lists(struct memory *memory, struct schedule *schedule);
ecs_status phase_build(ecs_world *world, const struct ecs_phase_desc *desc, struct phase **out);
void phase_free(ecs_world *world, struct phase *phase);
bool phase_is_builtin(const char *name);
bool phase_runs_once(const struct phase *phase);

/* Sorts the phases; leaves them unchanged if that is impossible. */
ecs_status phase_sort(ecs_world *world);

/* Puts a system in the place of the one of its name, or last. It is freed on failure. */
ecs_status schedule_enter(ecs_world *world, ecs_system *system);

/* Frees the systems that were removed while others ran. */
void schedule_free_gone(ecs_world *world);

/* Whether a name in the system's before or after is not a system of its phase. */
bool schedule_is_ignored(const ecs_world *world, const ecs_system *system,
                         const char *name);
bool phase_is_ignored(const ecs_world *world, const char *name);

/* Writes what is odd about a system or phase registered since the last call: a name in its before
** or after that does not exist, with the nearest one. Reports each once; false when there are no
** more. */
bool schedule_tell(ecs_world *world, char *text, size_t size);

/* When a system runs, and with what. */

/* How a phase is run. */
struct tempo {
  double dt;
  bool once;                   /* its systems run once */
  bool fixed;                  /* in steps of dt */
};

/* Whether its query is about events or changes. */
static inline bool reads_news(const ecs_system *system) {
  const ecs_query *query = system->reads;
  return UNLIKELY(query && (query->terms.event || query->terms.changes));
}

/* Whether its query is known to have no rows. */
static inline bool reads_nothing(const ecs_system *system) {
  const ecs_query *query = system->reads;
  if (!query || query->broken || reads_news(system)) return false;
  return query_is_barren(query);
}

/* The number of its earlier runs in this tick: each opened a random stream. */
static inline uint64_t streams_before(const ecs_world *world, const ecs_system *system) {
  return system->streams_tick == world->tick ? system->streams : 0;
}

/* The random stream of a run after `before` other runs in this tick. */
static inline struct chance stream_of(const ecs_world *world, const ecs_system *system,
                                      uint64_t before) {
  return (struct chance){chance_key(world->seed + system->chance, before), 0, 0};
}

/* The time since its last run, if it runs now. */
static inline double dt_of(const ecs_system *system, const struct tempo *tempo) {
  bool step = tempo->fixed && system->every <= 0;
  return system->has_run && !step ? system->elapsed : tempo->dt;
}

/* The order of systems: by phase, then by before and after, then by registration. */

/* Sorts systems. With ECS_ECYCLE, whose message shows the cycle, they are unchanged. Stable:
** registration decides what constraints leave open. */
ecs_status schedule_sort(ecs_world *world);

/* Records the names that systems must come after, those of this unlisted one included. */
ecs_status arrange_note(ecs_world *world, const ecs_system *system);

/* Whether no other system must come after this one, so that it leaves the order of the others
** unchanged; after arrange_note. */
bool arrange_leads_nobody(const struct schedule *schedule, const ecs_system *system);

/* Lists such a system, registered last, after those of its phase. */
void arrange_append(struct schedule *schedule, ecs_system *system);

/* What surrounds calls of functions in a schedule: what they leave open, how they fail, how long
** they take. */

/* Called before a callback: clears the message, since an earlier failure is not its reason. Returns
** what restores it afterwards, if the callback sets none. */
static inline char callback_begin(const ecs_world *world) {
  char first = world->message[0];
  world->message[0] = '\0';
  return first;
}

static inline void callback_end(const ecs_world *world, ecs_status status, char first) {
  if (status == ECS_OK && !world->message[0]) world->message[0] = first;
}

/* The kind of function that runs, and the name of its system or observer; NULL for none. */
const char *callback_running(const ecs_world *world, const char **kind);

/* Ends what was left open inside a scope. */
void callback_end_inner(ecs_world *world, uint32_t scope, bool keep);

/* Ends everything left open by conditions and error handlers, which have no scope of their own:
** commits it, or cancels it if they fail. */
ecs_status callback_end_left(ecs_world *world, ecs_status status);

/* Parks the system if there is an error handler; otherwise passes on the failure with its name. */
ecs_status callback_failed(ecs_world *world, ecs_system *system, ecs_status status);

/* Counts the time for the present system of that name: the one that ran may have been replaced or
** removed. */
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

/* What updates took while the world was profiled: a ring of the last ones. */

#define PROFILE_FRAMES 600u

struct profile_frame {
  double seconds;            /* the whole update */
  uint64_t entities;         /* alive when it ended */
};

struct profile {
  uint64_t count;            /* number of updates; the last is at (count - 1) % PROFILE_FRAMES */
  bool has_cpu;              /* there is a clock of a thread's processor time */
  struct profile_frame frames[PROFILE_FRAMES];
};

/* Starts profiling, or stops and forgets it; no effect if that is done already. */
ecs_status profile_switch(ecs_world *world, bool on);

/* Whether to read the processor's time for this run: some run of the system was long. */
bool profile_is_long(const struct schedule *schedule, const ecs_system *system);

/* Adds an update that began at a reading of the stopwatch. Leaves out a system for whose history
** there is no memory. */
void profile_add_update(ecs_world *world, uint64_t start);

/* Frees a system's history, if it has one. */
void profile_drop_history(ecs_world *world, ecs_system *system);

/* Resets the counters of systems and observers. */
void profile_reset(ecs_world *world);

/* Calling observers: in rounds, each for what the one before has changed. */

#define ROUND_LIMIT 64

/* Calls the observers of applied changes that they have not been told of (watching.due), until
** nothing changes; no effect inside a scope. Returns the failure of the first one that failed,
** after all others. With ECS_ENOMEM and watching.due still set, none was called. */
ecs_status observers_run(ecs_world *world);

/* What systems read: the events and changes that each has seen, and how long events stay for
** them. */

/* Ends what a run of a system reads: the first for events, the second for changes. */
void reading_end(ecs_world *world);
void news_end(const ecs_world *world, ecs_system *system);

/* Attaches a system to a query, which may be NULL; the second detaches it. */
void reading_join(ecs_system *system, ecs_query *query);
void reading_leave(ecs_system *system);

/* Detaches all systems from a query that is freed: at the end of a Lua state, which frees objects
** in any order. */
void reading_forget(ecs_query *query);

#endif
