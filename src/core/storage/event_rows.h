/* The rows of an event: see event.h. */
#ifndef ECS_CORE_STORAGE_EVENT_ROWS_H
#define ECS_CORE_STORAGE_EVENT_ROWS_H

#include "core/storage/layout.h"

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
