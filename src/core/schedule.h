/* Phases and systems: what runs, in which order, and when. */
#ifndef ECS_CORE_SCHEDULE_H
#define ECS_CORE_SCHEDULE_H

#include "query.h"

#define CATCH_UP_STEPS 8

struct phase {
  char *name;
  char *after, *before;      /* as declared, or NULL */
  double fixed;
  double accumulator;
  bool enabled;
  bool builtin;
};

struct ecs_system {
  char *name;
  char *owner;               /* or NULL */
  uint32_t phase;
  uint64_t registered;       /* kept when it is replaced */
  char **before, **after;    /* names, ended by NULL; or NULL */
  double every;
  double timer;              /* since the interval last elapsed */
  double elapsed;            /* since it last ran */
  bool enabled, parked, has_run, removed, fresh;
  bool started;              /* a startup system that has run */
  bool running;
  ecs_query *query;
  ecs_run_fn run;
  bool (*when)(ecs_world *world, void *ud);
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
  ecs_system **systems;      /* in running order: by phase, then constraints */
  uint32_t system_count;
  uint32_t system_capacity;
  ecs_system **running;      /* those of the phase that runs; room for all */
  uint32_t running_count;
  uint32_t running_capacity;
  uint64_t next_registered;
  ecs_error_fn on_error;
  void *on_error_ud;
  bool updating;
  ecs_system *current;       /* the one that runs */
};

ecs_status schedule_init(ecs_world *world);
void schedule_free(ecs_world *world);

ecs_system *schedule_system(const ecs_world *world, const char *name, size_t size);
struct phase *schedule_phase(const ecs_world *world, const char *name, size_t size,
                             uint32_t *at);

/* Puts systems in order; ECS_ECYCLE with the cycle in the message leaves them as they were.
** Stable: what constraints leave open is decided by registration. */
ecs_status schedule_sort(ecs_world *world);

/* Whether a before/after name of the system names no system of its phase. */
bool schedule_is_ignored(const ecs_world *world, const ecs_system *system,
                         const char *name);

#endif
