/* What an index is made of. */
#ifndef ECS_CORE_INDEX_EDITION_H
#define ECS_CORE_INDEX_EDITION_H

#include "core/base/base.h"
#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/base/types.h"
#include "core/index/grid.h"
#include "core/index/keyed.h"
#include "core/world/lifetime.h"
#include "ecs_index.h"

struct edition;
struct query_terms;

/* Cells of number types as doubles, as arithmetic with floats in Lua has them. */

/* The number in a row of a column; integers are rounded, those of u64 as scripts read them. */
static inline double cell_number(ecs_type type, const void *data, uint32_t row) {
  switch ((enum type_column)type_table[type].column) {
    case COLUMN_F32: return (double)((const float *)data)[row];
    case COLUMN_F64: return ((const double *)data)[row];
    case COLUMN_I8: return ((const int8_t *)data)[row];
    case COLUMN_I16: return ((const int16_t *)data)[row];
    case COLUMN_I32: return ((const int32_t *)data)[row];
    case COLUMN_U8: return ((const uint8_t *)data)[row];
    case COLUMN_U16: return ((const uint16_t *)data)[row];
    case COLUMN_U32: return ((const uint32_t *)data)[row];
    default:
      assert(type_table[type].column == COLUMN_I64);
      return (double)((const int64_t *)data)[row];
  }
}

/* Copies of what a query gives, as it was at one moment: the rows of an index, in an order of its
** own. */

struct copy_column {
  ecs_id component;          /* ECS_NULL: whether the term's component is there, a byte a row */
  uint32_t leaf;             /* of the component */
  uint32_t term, term_leaf;  /* what ecs_iter_column calls it */
  uint32_t slot;             /* of the term */
  ecs_type type;
  uint32_t size;             /* bytes of a cell */
  struct column_buffer cells;
};

/* What one of the query's terms gives. */
struct copy_slot {
  uint32_t first, count;     /* its columns */
  uint32_t flags;            /* the column that says in which rows it is there; NONE: in all */
  bool single;               /* a field, not a component */
};

struct copies {
  uint32_t count;            /* rows */
  uint32_t capacity;         /* rows that every buffer has room for */
  struct copy_column *columns;
  uint32_t column_count;
  struct copy_slot *slots;
  uint32_t slot_count;
  struct column_buffer entities;   /* ecs_id */
  struct column_buffer order;      /* uint32_t: which row of the query it was */
};

static inline const ecs_id *copies_entities(const struct copies *copies) {
  return copies->entities.data;
}

static inline const uint32_t *copies_order(const struct copies *copies) {
  return copies->order.data;
}

/* Whether a row has what a slot gives. */
static inline bool copies_have(const struct copies *copies, uint32_t slot, uint32_t row) {
  assert(slot < copies->slot_count && row < copies->count);
  uint32_t flags = copies->slots[slot].flags;
  return flags == NONE || ((const uint8_t *)copies->columns[flags].cells.data)[row];
}

/* The columns that the terms give, without rows. ECS_EINVAL for what cannot be copied; `name`, the
** index's, begins the message. Columns of the same kind stay, with their memory. */
ecs_status copies_lay_out(ecs_world *world, struct copies *copies,
                          const struct query_terms *terms, const char *name);

/* All rows of the query that they are laid out for, in its order. */
ecs_status copies_gather(struct copies *copies, ecs_query *query);

/* Room for so many rows. */
ecs_status copies_reserve(ecs_world *world, struct copies *copies, uint64_t rows);

/* The rows of `from`, laid out alike, that `order` names; there is room. */
void copies_arrange(struct copies *copies, const struct copies *from, const uint32_t *order,
                    uint32_t count);

/* A row of `from`, laid out alike, takes a place. */
void copies_bring(struct copies *copies, uint32_t to, const struct copies *from, uint32_t row);

/* The column of a component's leaf, or NULL. */
const struct copy_column *copies_column(const struct copies *copies, ecs_id component,
                                        uint32_t leaf);

size_t copies_bytes(const struct copies *copies);
void copies_free(ecs_world *world, struct copies *copies);

/* Rows of an edition that come to other places, while all others keep their order. */

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

/* What of an index's rows is no longer as they were gathered: found by the marks of what its query
** gives (core/storage/marks.h), which are kept from its declaration on. */

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

/* An index as it was at one moment. */
struct edition {
  struct edition *next;      /* of its index; the newest first */
  struct copies copies;
  struct grid grid;          /* of what is by a grid; of everything else: */
  struct keyed keyed;
  uint32_t holders;          /* loops that still go through it, */
  uint64_t held;             /* since that moment of the world: in another one nobody does */
};

struct ecs_index {
  struct ecs_index *next;    /* in the order of their first declaration */
  ecs_world *world;
  ecs_index_desc desc;       /* its texts are the index's own; `query` and variables are not kept */
  struct arena texts;
  ecs_query *query;
  ecs_id of;                 /* the component of `desc.of`, whatever it is called now; */
  const char *leaf;          /* its field: the end of `desc.of`; neither where a function tells */
  struct copies rows;        /* of the query, in its order */
  struct grid_room room;
  struct key_room key_room;
  struct staleness stale;
  struct splice_room splice;
  bool anew;                 /* the edition of now is filled from all rows */
  bool busy;                 /* its keys are being computed */
  double began;              /* when it was begun to be brought up to date */
  struct edition *now;       /* NULL: never brought up to date */
  uint64_t fresh;            /* the moment for which it is up to date; 0: for none */
  uint32_t lost;             /* rows without a place or key, when it was brought up to date last, */
  uint32_t brought;          /* how many had changed; NONE: it was done with all */
  double seconds;            /* what that took, */
  uint64_t times;            /* and how often it was */
};

/* Of a world that has had an index. */
struct finding {
  struct attachment link;
  ecs_index *first;
  uint32_t count;
  uint64_t version;          /* counts indexes that came, went, or were replaced */
};

/* Without rows, and without memory. */
void edition_empty(struct edition *edition);
void edition_free(ecs_world *world, struct edition *edition);

/* A loop outside of systems goes through the edition of now, which stays until the loop lets go of
** it, or another moment begins. */
struct edition *edition_hold(const ecs_index *index);
void edition_release(const ecs_world *world, struct edition *edition);

/* The next row of a search. */
static inline uint32_t edition_next(struct ecs_search *search) {
  if (search->grid) return search_next(search);
  return search->keyed ? keyed_next(search) : NONE;
}

/* Frees those behind the newest that nobody holds any more. */
void edition_drop_old(ecs_index *index);

/* Whether a loop still goes through it. */
bool edition_is_held(const ecs_world *world, const struct edition *edition);

/* The edition of now to be filled, or a new one while loops go through that; NULL without
** memory. */
struct edition *edition_to_fill(ecs_index *index);

#endif
