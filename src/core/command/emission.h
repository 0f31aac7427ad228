/* Emitting: an event is there at once, and the scopes that were open then may still drop it. */
#ifndef ECS_CORE_COMMAND_EMISSION_H
#define ECS_CORE_COMMAND_EMISSION_H

#include "core/base/base.h"

struct event;
struct write;

/* Events of one type that were emitted one behind the other. */
struct emission {
  ecs_id event;
  uint32_t count;
  uint32_t scope;              /* as of commands */
  bool later;                  /* they were put off */
  bool dropped;
};

/* Emits one: defaults, then the writes, whose any slots are taken over when ECS_OK. */
ecs_status emission_add(ecs_world *world, struct event *event, const struct write *writes,
                        uint32_t count);

/* Emits where there is room for it (event_reserve, emissions_reserve); then fields of the last one
** are given values. */
void emission_append(ecs_world *world, struct event *event, const struct write *writes,
                     uint32_t count);
void emission_put(ecs_world *world, struct event *event, const struct write *writes,
                  uint32_t count);

/* Emits many one after the other, with defaults, where there is room; the first one's row. */
uint32_t emission_append_many(ecs_world *world, struct event *event, uint32_t count);

/* Room for what the scopes that are open know of so many more, of whatever types. */
ecs_status emissions_reserve(ecs_world *world, uint32_t more);

/* Room for what the scopes that are open, if any, know of one more, emitted or put off; then notes
** it. */
ecs_status emission_reserve(ecs_world *world, const struct event *event, bool later);
void emission_note(ecs_world *world, const struct event *event, bool later);

/* Drops what a scope holds (all of it for NONE): at once, or when the last scope ends where loops
** that were begun since may go over it. */
void emissions_drop(ecs_world *world, uint32_t scope);

/* When the last scope has ended: what is not dropped stays. */
void emissions_settle(ecs_world *world);

/* Events that are put off: rows like those of events, in the order in which they were put off, each
** with the time when it is due, counted in updates since nothing was put off. */

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
