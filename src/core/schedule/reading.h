/* Systems that read events or changes: what each has seen, and how long events stay for them. */
#ifndef ECS_CORE_SCHEDULE_READING_H
#define ECS_CORE_SCHEDULE_READING_H

#include "core/base/base.h"

/* While a system runs, its query yields the events it has not seen, and then it has seen them. */
void reading_begin(ecs_world *world, ecs_system *system);
void reading_end(ecs_world *world);

/* While a system runs, its query is about changes since its last run, whatever other uses the query
** has. Its own writes are not new to it. ECS_ENOMEM: it must not run. */
ecs_status news_begin(ecs_system *system);
void news_end(const ecs_world *world, ecs_system *system);

/* The system is due: existing events need not stay for it any longer. Returns the former
** `awaited`. */
uint64_t reading_is_due(ecs_system *system);

/* Attaches a system to a query, which may be NULL; the second detaches it. */
void reading_join(ecs_system *system, ecs_query *query);
void reading_leave(ecs_system *system);

/* Detaches all systems from a query that is freed: at the end of a Lua state, which frees objects
** in any order. */
void reading_forget(ecs_query *query);

/* At the end of an update, drops the events of the update before, except those that systems in
** fixed phases or with an interval still await. */
void reading_drop(ecs_world *world);

#endif
