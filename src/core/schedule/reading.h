/* Systems that go through events, or what has changed: what each has seen, and how long events stay
** for them. */
#ifndef ECS_CORE_SCHEDULE_READING_H
#define ECS_CORE_SCHEDULE_READING_H

#include "core/base/base.h"

/* What a system reads, NULL when that is no event. One that reads another event than before begins
** with those that are left. */
struct event *reading_of(ecs_system *system);

/* While a system runs its query goes through those that it has not seen, and has seen them. */
void reading_begin(ecs_world *world, ecs_system *system);
void reading_end(ecs_world *world);

/* What was written: while a system runs its query is about what has changed since it
** ran before, whoever else goes through that. What is written until it has run is no news to it.
** ECS_ENOMEM: it is not to run. */
ecs_status news_begin(ecs_system *system);
void news_end(const ecs_world *world, ecs_system *system);

/* The system is due: those that are there need not stay for it any longer. Returns what `awaited`
** was before. */
uint64_t reading_is_due(ecs_system *system);

/* The system goes through a query from now on, which may be NULL; and no longer. */
void reading_join(ecs_system *system, ecs_query *query);
void reading_leave(ecs_system *system);

/* A query goes, though systems may still be there that go through it: at the end of a state, which
** frees its objects in any order. */
void reading_forget(ecs_query *query);

/* At the end of an update: those emitted before the one before it go, but what systems in fixed
** phases and such with an interval are still to be due for stays. */
void reading_drop(ecs_world *world);

#endif
