/* Rows of an edition that come to other places, while all others keep their order. */
#ifndef ECS_CORE_INDEX_SPLICE_H
#define ECS_CORE_INDEX_SPLICE_H

#include "core/index/key.h"

struct copies;
struct edition;
struct memory;

/* A row that goes from, or comes to, a place. */
struct shift {
  uint32_t row;
  uint32_t at;               /* where it is, or which of those that were there it comes before */
  uint32_t to;               /* where it comes to lie */
  struct key rank;           /* its key; by hash the number of its bucket */
};

/* Rows that stay beside each other. */
struct span {
  uint32_t from, to, count;
};

/* Room, kept from one time to the next. */
struct splice_room {
  struct shift *cuts, *puts;
  uint32_t cut_count, put_count, cut_capacity, put_capacity;
  struct span *spans;
  uint32_t span_count, span_capacity;
  struct shift *sorted;
  uint32_t sorted_capacity;
  uint64_t *list;            /* for sorting */
  uint32_t list_capacity;
};

/* What has changed of the query's rows: their numbers, ascending, the keys that they had, and those
** of all rows. */
struct rekeyed {
  const struct copies *rows;
  const struct key *keys, *old;
  const uint32_t *changed;
  uint32_t count;
};

/* Brings an edition by keys to what sorting all rows would make of it. *done is false where that is
** to be done after all: then, as with ECS_ENOMEM, the edition is good for nothing else. */
ecs_status splice_keyed(ecs_world *world, struct splice_room *room, struct edition *edition,
                        const struct rekeyed *rekeyed, bool *done);

size_t splice_bytes(const struct splice_room *room);
void splice_free(struct memory *memory, struct splice_room *room);

#endif
