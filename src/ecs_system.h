/* Phases, systems, the update. */
#ifndef ECS_SYSTEM_H
#define ECS_SYSTEM_H

#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ecs_phase_desc {
  const char *name;
  const char *after;   /* NULL: after the last phase, or right before `before` */
  const char *before;
  double fixed;        /* seconds per fixed step; 0: once per update */
} ecs_phase_desc;

/* A fixed phase runs as often as the time demands, at most 8 steps per update. Declaring a phase
** again replaces its description. */
ECS_API ecs_status ecs_phase(ecs_world *world, const ecs_phase_desc *desc);

/* A system. dt: seconds since it last ran. */
typedef ecs_status (*ecs_run_fn)(ecs_world *world, ecs_query *query, double dt, void *ud);

/* A system that any of the world's threads calls for some of its rows: see ecs_rows.h. */
struct ecs_rows;
typedef ecs_status (*ecs_rows_fn)(const struct ecs_rows *rows, double dt, void *ud);
/* Like ecs_iter_column and ecs_iter_entity. */
ECS_API void *ecs_rows_column(const struct ecs_rows *rows, uint32_t term, uint32_t leaf);
ECS_API ecs_id ecs_rows_entity(const struct ecs_rows *rows, size_t row);

typedef struct ecs_system_desc {
  const char *name;
  const char *phase;              /* NULL: "update" */
  const char *query;              /* NULL: none */
  ecs_query *reads;               /* instead of `query`: a query of the caller's, which must outlive
                                  ** the system; or NULL */
  const char *const *before;      /* names of systems in the phase, terminated by NULL; or NULL */
  const char *const *after;
  double every;                   /* seconds between runs; 0: always */
  bool disabled;
  bool needs_rows;                /* skip the call while no table of `query` or `reads` has a row:
                                  ** it still counts as a run that takes no time. Events are rows,
                                  ** and a query with `:changed` is always visited */
  const char *owner;              /* who registered it, for ordering and describe */
  ecs_run_fn run;
  ecs_status (*when)(ecs_world *world, void *ud, bool *run);  /* NULL: always */
  void (*free)(void *ud);                    /* called when the system is removed; may be NULL */
  void *ud;
  ecs_rows_fn parallel;           /* instead of `run`: called for ranges of rows, on several
                                  ** threads */
} ecs_system_desc;

/* Registers a system, or replaces the one of that name, which keeps its place, its switch and its
** timings. ECS_ECYCLE, with the cycle in the message, changes nothing. */
ECS_API ecs_status ecs_system_new(ecs_world *world, const ecs_system_desc *desc);
ECS_API ecs_status ecs_system_remove(ecs_world *world, const char *name);

/* Switches a system or a phase on or off. */
ECS_API ecs_status ecs_switch(ecs_world *world, const char *name, bool on);

/* Called when a system fails; it is then parked: it does not run until it is registered again. */
typedef void (*ecs_error_fn)(ecs_world *world, const char *system, ecs_status status,
                             void *ud);
ECS_API void ecs_on_error(ecs_world *world, ecs_error_fn fn, void *ud);

/* Runs all phases; dt is in seconds, finite and not negative. */
ECS_API ecs_status ecs_update(ecs_world *world, double dt);

/* Runs one phase or system. */
ECS_API ecs_status ecs_run(ecs_world *world, const char *name, double dt);

/* How far a fixed phase is between two steps, 0 to 1; NULL: the first fixed phase. */
ECS_API ecs_status ecs_alpha(ecs_world *world, const char *phase, double *out);

#ifdef __cplusplus
}
#endif

#endif
