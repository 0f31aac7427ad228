/* Events: rows of columns that belong to the world. An event type is registered like a component,
** with a name and an id, but no entity can have it. Its rows are in a table outside the graph, in
** the order in which they were emitted and will be removed. Each row has a number, counted from the
** first one of its type, by which readers know what they have seen. */
#ifndef ECS_CORE_STORAGE_EVENT_H
#define ECS_CORE_STORAGE_EVENT_H

#include "core/base/base.h"
#include "core/storage/table.h"

struct ecs_component_desc;
struct event;

/* Checks the description of an event; ECS_OK for any other. */
ecs_status event_check_desc(const ecs_world *world, const struct ecs_component_desc *desc);

/* Finds the event of an id or name, or fails with a message that says what it is instead. */
ecs_status event_need(const ecs_world *world, ecs_id id, struct component **out);
ecs_status event_need_name(const ecs_world *world, const char *name, size_t size,
                           struct component **out);

/* The rows of an event. */
struct event *event_of(const struct component *component);

/* Makes the rows of a component that will have that id. registry_enter adds them, in room by
** OWNED_RESERVE, to the world's list, and event_leave_list removes them; event_free frees them. */
ecs_status event_new(ecs_world *world, struct component *component, ecs_id id);
void event_leave_list(ecs_world *world, const struct event *event);
void event_free(ecs_world *world, struct component *component);
void events_free(ecs_world *world);

/* Reserves room for more rows. While a scope is open, old cells are kept, since loops may still
** show them; events_forget_retired frees them after the last scope. */
ecs_status event_reserve(ecs_world *world, struct event *event, uint32_t more);
void events_forget_retired(ecs_world *world);

/* Appends a row in reserved room to one of an event's tables, its rows or the delayed ones:
** defaults, then the writes, whose any slots are taken over. */
void event_append(ecs_world *world, struct table *table, const struct write *writes,
                  uint32_t count);

/* The first drops rows before a number. The second drops any rows of one of an event's tables;
** later rows take over their numbers. */
void event_drop(ecs_world *world, struct event *event, uint64_t number);
void event_cut_from(ecs_world *world, struct table *table, uint32_t row, uint32_t count);

/* Forgets all rows; their any slots have been released or handed over. */
void event_clear(struct event *event);

/* Checks the invariants of one event. ECS_OK or ECS_ECORRUPT. */
ecs_status event_check(const ecs_world *world, const struct component *component);

/* The rows of an event. */

/* Delayed events: see command/emission.h. */
struct later {
  struct table *table;         /* rows like those of the event */
  double *due;                 /* when each is due, by the clock */
  uint32_t *order;             /* used while some are emitted */
  uint32_t capacity, order_capacity;
  double clock;                /* seconds of updates since there were no delayed events */
};

struct event {
  struct component *component;
  struct table *table;         /* its index is NONE, and its rows have no entities */
  uint64_t first;              /* number of the first row */
  uint64_t aged;               /* events before this number existed when the last update ended */
  uint64_t leaving;            /* while an update ends: events before this number are dropped */
  uint32_t cursors[2];         /* used while emissions are dropped: its rows, delayed rows */
  struct later later;
};

/* The number that the next event gets. */
static inline uint64_t event_end(const struct event *event) {
  return event->first + event->table->count;
}

/* The row of a number, or of the first remaining one if that is gone. */
static inline uint32_t event_row(const struct event *event, uint64_t number) {
  if (number <= event->first) return 0;
  return number >= event_end(event) ? event->table->count : (uint32_t)(number - event->first);
}

#endif
