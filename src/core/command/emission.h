/* Emitting: an event is visible at once, and the scopes that are open may still drop it. */
#ifndef ECS_CORE_COMMAND_EMISSION_H
#define ECS_CORE_COMMAND_EMISSION_H

#include "core/base/base.h"

struct event;
struct write;

/* Consecutive events of one type, emitted in one scope. */
struct emission {
  ecs_id event;
  uint32_t count;
  uint32_t scope;              /* as for commands */
  bool later;                  /* emitted by world:after */
  bool dropped;
};

/* Emits one event: defaults, then the writes, whose any slots are taken over when it returns
** ECS_OK. */
ecs_status emission_add(ecs_world *world, struct event *event, const struct write *writes,
                        uint32_t count);

/* Emits with reserved room (event_reserve, emissions_reserve); then writes fields of the last
** row. */
void emission_append(ecs_world *world, struct event *event, const struct write *writes,
                     uint32_t count);
void emission_put(ecs_world *world, struct event *event, const struct write *writes,
                  uint32_t count);

/* Emits several events with defaults into reserved room. Returns the first row. */
uint32_t emission_append_many(ecs_world *world, struct event *event, uint32_t count);

/* Reserves room to record that open scopes emit that many more events, of any types. */
ecs_status emissions_reserve(ecs_world *world, uint32_t more);

/* Drops the emissions of a scope (NONE: all): at once, or when the last scope ends if open loops
** may read them. */
void emissions_drop(ecs_world *world, uint32_t scope);

/* Called when the last scope has ended: the remaining emissions stay. */
void emissions_settle(ecs_world *world);

/* Delayed events: rows like those of events, in order of delay, each with its due time. The clock
** counts seconds of updates since there were no delayed events. */

/* Delays an event: defaults, then the writes, whose any slots are taken over when it returns
** ECS_OK. If an open scope drops it, it is taken back. */
ecs_status later_add(ecs_world *world, struct event *event, double seconds,
                     const struct write *writes, uint32_t count);

/* Reserves times for as many rows as the table of delayed events can hold. */
ecs_status later_reserve(ecs_world *world, struct event *event);

/* Advances the clock and emits what is due, by due time, then in order of delay. With ECS_ENOMEM or
** ECS_ELIMIT, no time has passed. */
ecs_status later_pass(ecs_world *world, double dt);

void later_free(ecs_world *world, struct event *event);

#endif
