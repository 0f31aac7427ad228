/* What of an index's rows is no longer as they were gathered: found by the marks of what its query
** gives (core/storage/marks.h), which are kept from its declaration on. */
#ifndef ECS_CORE_INDEX_STALE_H
#define ECS_CORE_INDEX_STALE_H

#include "core/base/base.h"
#include "ecs_index.h"

struct memory;

/* Rows of one table, which follow each other. */
struct stretch {
  uint64_t order;            /* the table's */
  uint32_t first, count;
};

struct stretches {
  struct stretch *list;      /* in the order of the query */
  uint32_t count, capacity;
  uint32_t rows;             /* of all */
};

enum stale { STALE_NONE, STALE_ROWS, STALE_ALL };

struct staleness {
  bool known;                /* the rest holds; else all may have changed */
  bool sound;                /* it will, once what was gathered has been sorted */
  uint64_t seen;             /* world.now at the time: what has changed since is marked later */
  uint64_t version;          /* of the registry, at the time */
  struct stretches then, now;
  enum stale what;
  bool keeps_keys;           /* which row had a row's key is in `from` */
  uint32_t *rows;            /* those that have changed, ascending; of STALE_ALL where */
  uint32_t count, capacity;  /* keys are kept, those that keep none */
  uint32_t *from;            /* by row: which it was; NONE: its key is another one */
  uint32_t from_capacity;
};

/* Has marks kept of what the query gives, unless something is under way that must not notice:
** ECS_ENOMEM. */
ecs_status stale_watch(ecs_index *index);

/* Finds out what has changed since stale_settle: nothing, some rows of tables that have the same
** rows as then, or all. ECS_ENOMEM. */
ecs_status stale_find(ecs_index *index);

/* The rows have been gathered, or what has changed of them; then, they have been sorted. */
void stale_settle(ecs_index *index);
void stale_end(ecs_index *index);

/* Copies what has changed, STALE_ROWS, to the rows. */
void stale_copy(ecs_index *index);

size_t stale_bytes(const struct staleness *stale);
void stale_free(struct memory *memory, struct staleness *stale);

#endif
