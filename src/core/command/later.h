/* Events that are put off: rows like those of events, in the order in which they were put off, each
** with the time when it is due, counted in updates since nothing was put off. */
#ifndef ECS_CORE_COMMAND_LATER_H
#define ECS_CORE_COMMAND_LATER_H

#include "core/base/base.h"

struct event;
struct write;

/* Puts one off: defaults, then the writes, whose any slots are taken over when ECS_OK. What the
** scopes that are open drop is taken back. */
ecs_status later_add(ecs_world *world, struct event *event, double seconds,
                     const struct write *writes, uint32_t count);

/* Room for the times of as many rows as the table of what is put off can have. */
ecs_status later_reserve(ecs_world *world, struct event *event);

/* Time passes: what is due is emitted, in the order of its time, then of being put off. On
** ECS_ENOMEM and ECS_ELIMIT no time has passed. */
ecs_status later_pass(ecs_world *world, double dt);

/* Drops some rows, whose any slots are released. */
void later_cut(ecs_world *world, struct event *event, uint32_t row, uint32_t count);

void later_free(ecs_world *world, struct event *event);

#endif
