/* Events: rows of columns that belong to the world. An event type is registered as a component is,
** under a name and an id of its own, but no entity can have it: its rows stand in a table that
** no graph knows, in the order in which they were emitted, and go in that order. Each has a number,
** counted from the type's first one on, so that readers know what they have seen. */
#ifndef ECS_CORE_STORAGE_EVENT_H
#define ECS_CORE_STORAGE_EVENT_H

#include "core/base/base.h"
#include "core/storage/table.h"

struct ecs_component_desc;
struct event;

/* ECS_OK for what is no event's description, or a sound one's. */
ecs_status event_check_desc(const ecs_world *world, const struct ecs_component_desc *desc);

/* The event of an id or name, or a message that tells what it is instead. */
ecs_status event_need(const ecs_world *world, ecs_id id, struct component **out);
ecs_status event_need_name(const ecs_world *world, const char *name, size_t size,
                           struct component **out);

/* What keeps the rows of an event, and what it is called. */
struct event *event_of(const struct component *component);
const char *event_name(const struct component *component);

/* Makes what keeps the rows of a component that will have that id. event_enter puts it into the
** world's list, where there is room, event_leave_list takes it out; it is freed with its rows. */
ecs_status events_reserve(ecs_world *world, uint32_t more);
ecs_status event_new(ecs_world *world, struct component *component, ecs_id id);
void event_enter(ecs_world *world, struct event *event);
void event_leave_list(ecs_world *world, const struct event *event);
void event_free(ecs_world *world, struct component *component);
void events_free(ecs_world *world);

/* Room for so many more rows. While a scope is open cells that move are kept where they were, too,
** since loops may show them; events_forget_retired frees those when none is. */
ecs_status event_reserve(ecs_world *world, struct event *event, uint32_t more);
void events_forget_retired(ecs_world *world);

/* Appends a row, for which there is room: defaults, then the writes, whose any slots are taken
** over. */
void event_append(ecs_world *world, struct event *event, const struct write *writes,
                  uint32_t count);

/* Drops the rows before a number; some rows anywhere, whose numbers go to those behind them. */
void event_drop(ecs_world *world, struct event *event, uint64_t number);
void event_cut(ecs_world *world, struct event *event, uint32_t row, uint32_t count);

/* Appends to one of its tables: to its rows, or to what is put off. */
void event_append_to(ecs_world *world, struct table *table, const struct write *writes,
                     uint32_t count);
void event_cut_from(ecs_world *world, struct table *table, uint32_t row, uint32_t count);

/* Forgets all rows, whose any slots are released or somebody else's by now. */
void event_clear(struct event *event);

/* The invariants of one: ECS_OK or ECS_ECORRUPT. */
ecs_status event_check(const ecs_world *world, const struct component *component);

/* The rows of an event: see event.h. */

/* What is put off: see later.h. */
struct later {
  struct table *table;         /* rows as those of the event */
  double *due;                 /* when each is due, by the clock */
  uint32_t *order;             /* while some are emitted */
  uint32_t capacity, order_capacity;
  double clock;                /* seconds of updates since nothing was put off */
};

struct event {
  struct component *component;
  struct table *table;         /* its index is NONE, its rows are of no entity */
  uint64_t first;              /* the number of the first row */
  uint64_t aged;               /* those before it were there when the last update ended */
  uint64_t leaving;            /* while an update ends: those before it go */
  uint32_t cursors[2];         /* while emissions are dropped: of its rows, of those put off */
  struct later later;
};

/* The number that the next one gets. */
static inline uint64_t event_end(const struct event *event) {
  return event->first + event->table->count;
}

/* The row of a number, of the first one that is left if it is gone. */
static inline uint32_t event_row(const struct event *event, uint64_t number) {
  if (number <= event->first) return 0;
  return number >= event_end(event) ? event->table->count : (uint32_t)(number - event->first);
}

#endif
