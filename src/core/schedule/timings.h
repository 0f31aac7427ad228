/* What a world knows by name of its phases and systems: how far their time has come, what is
** switched, what they have seen of events and changes. It is what images and snapshots have of
** them, and what is kept of those that are not there until they are registered.
**
** Each is a struct ecs_system without anything to run, that of a phase with no more than a timer,
** the accumulator, and a switch. Lists are in no order. */
#ifndef ECS_CORE_SCHEDULE_TIMINGS_H
#define ECS_CORE_SCHEDULE_TIMINGS_H

#include "core/schedule/system_names.h"

struct phase;

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

#endif
