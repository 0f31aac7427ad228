/* Phases and systems: what runs, in which order, and when. */
#ifndef ECS_CORE_SCHEDULE_SCHEDULE_H
#define ECS_CORE_SCHEDULE_SCHEDULE_H

#include "core/base/base.h"

struct ecs_observer_desc;
struct ecs_phase_desc;
struct ecs_system_desc;
struct phase;

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

/* The same of an observer, which is a system of a phase that never runs. */
ecs_status schedule_build_observer(ecs_world *world, const struct ecs_observer_desc *desc,
                                   ecs_system **out);

/* Which systems are those of each phase, unless that is known. */
struct schedule;
void schedule_count(struct schedule *schedule);

/* An observer is on or off as it should be; of a system nothing. The same of all, among which
** others may have come. Cannot fail. */
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

/* How many streams of random numbers the system has opened in this tick. */
uint64_t schedule_streams(const ecs_world *world, const ecs_system *system);

/* Writes what is odd about a system or phase that was registered since: a name in its before or
** after that names nothing, with the nearest one. Each is told once; false when all are. */
bool schedule_tell(ecs_world *world, char *text, size_t size);

#endif
