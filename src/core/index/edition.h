/* The data of an index: copies of its query's rows, the marks that tell what has changed in them,
** and editions: the index as it was at one moment, which loops outside systems may hold. */
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

/* Cells of number types as doubles, as Lua's float arithmetic sees them. */

/* The number in a row of a column. Integers are rounded; u64 as scripts read them. */
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

/* Copies of a query's values at one moment: the rows of an index, in its own order. */

struct copy_column {
  ecs_id component;          /* ECS_NULL: a byte for each row, whether the term is present */
  uint32_t leaf;             /* of the component */
  uint32_t term, term_leaf;  /* its arguments for ecs_iter_column */
  uint32_t slot;             /* of the term */
  ecs_type type;
  uint32_t size;             /* bytes of a cell */
  struct column_buffer cells;
};

/* What one of the query's terms yields. */
struct copy_slot {
  uint32_t first, count;     /* its columns */
  uint32_t flags;            /* column that says in which rows it is present; NONE: all */
  bool single;               /* a field, not a component */
};

struct copies {
  uint32_t count;            /* rows */
  uint32_t capacity;         /* rows that fit in every buffer */
  struct copy_column *columns;
  uint32_t column_count;
  struct copy_slot *slots;
  uint32_t slot_count;
  struct column_buffer entities;   /* ecs_id */
  struct column_buffer order;      /* uint32_t: number of the row in the query */
};

static inline const ecs_id *copies_entities(const struct copies *copies) {
  return copies->entities.data;
}

static inline const uint32_t *copies_order(const struct copies *copies) {
  return copies->order.data;
}

/* Whether a row has what a slot yields. */
static inline bool copies_have(const struct copies *copies, uint32_t slot, uint32_t row) {
  assert(slot < copies->slot_count && row < copies->count);
  uint32_t flags = copies->slots[slot].flags;
  return flags == NONE || ((const uint8_t *)copies->columns[flags].cells.data)[row];
}

/* Lays out the columns of the terms, without rows. ECS_EINVAL for what cannot be copied; the
** message begins with `name`, the index. Columns of the same kind stay, with their memory. */
ecs_status copies_lay_out(ecs_world *world, struct copies *copies,
                          const struct query_terms *terms, const char *name);

/* Copies all rows of the query in its order, in a layout made for it. */
ecs_status copies_gather(struct copies *copies, ecs_query *query);

/* Reserves room for that many rows. */
ecs_status copies_reserve(ecs_world *world, struct copies *copies, uint64_t rows);

/* Copies, in reserved room, the rows of `from`, with the same layout, that `order` lists. */
void copies_arrange(struct copies *copies, const struct copies *from, const uint32_t *order,
                    uint32_t count);

/* Copies a row of `from`, with the same layout, to a place. */
void copies_bring(struct copies *copies, uint32_t to, const struct copies *from, uint32_t row);

/* The column of a component's leaf, or NULL. */
const struct copy_column *copies_column(const struct copies *copies, ecs_id component,
                                        uint32_t leaf);

void copies_free(ecs_world *world, struct copies *copies);

/* Rows of an edition that move, while all others keep their order. */

/* A row that leaves a place, or comes to one. */
struct shift {
  uint32_t row;
  uint32_t at;               /* its place, or the old row that it comes before */
  uint32_t to;               /* its new place */
  struct key rank;           /* its key; for hash, the number of its bucket */
};

/* Rows that stay together. */
struct span {
  uint32_t from, to, count;
};

/* Memory for splicing, kept between calls. */
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

/* What has changed in the query's rows: their numbers, ascending, their old keys, and the keys of
** all rows. */
struct rekeyed {
  const struct copies *rows;
  const struct key *keys, *old;
  const uint32_t *changed;
  uint32_t count;
};

/* Updates an edition by keys, with the result that sorting all rows would have. *done is false if
** that must be done instead; then, as with ECS_ENOMEM, the edition is unusable. */
ecs_status splice_keyed(ecs_world *world, struct splice_room *room, struct edition *edition,
                        const struct rekeyed *rekeyed, bool *done);

void splice_free(struct memory *memory, struct splice_room *room);

/* The rows of an index that have changed since they were gathered, found by the marks of its
** query's terms (core/storage/marks.h), which are kept from its declaration on. */

/* Consecutive rows of one table. */
struct stretch {
  uint64_t order;            /* of the table */
  uint32_t first, count;
};

struct stretches {
  struct stretch *list;      /* in query order */
  uint32_t count, capacity;
  uint32_t rows;             /* of all stretches */
};

enum stale { STALE_NONE, STALE_ROWS, STALE_ALL };

struct staleness {
  bool known;                /* the rest is valid; otherwise everything may have changed */
  bool sound;                /* it will be, once what was gathered has been sorted */
  uint64_t seen;             /* world.now at the gathering: later changes are marked later */
  uint64_t version;          /* of the registry at the gathering */
  struct stretches then, now;
  enum stale what;
  bool keeps_keys;           /* `from` says which old row had each row's key */
  uint32_t *rows;            /* the changed rows, ascending; with keeps_keys only */
  uint32_t count, capacity;  /* those whose key is not kept; not for STALE_ALL */
  uint32_t *from;            /* by row: its old number; NONE: its key has changed */
  uint32_t from_capacity;
};

/* Starts keeping marks for the query's terms, unless that might affect something in progress.
** ECS_ENOMEM. */
ecs_status stale_watch(ecs_index *index);

void stale_free(struct memory *memory, struct staleness *stale);

/* An index as it was at one moment. */
struct edition {
  struct edition *next;      /* next older one of its index */
  struct copies copies;
  struct grid grid;          /* for a grid; for the others: */
  struct keyed keyed;
  uint32_t holders;          /* loops that still use it, */
  uint64_t held;             /* during this moment of the world; at another one, none does */
};

struct ecs_index {
  struct ecs_index *next;    /* in the order of first declaration */
  ecs_world *world;
  ecs_index_desc desc;       /* its texts belong to the index; `query` and variables are not kept */
  struct arena texts;
  ecs_query *query;
  ecs_id of;                 /* the component of `desc.of`, even if it is renamed later; */
  const char *leaf;          /* its field, the end of `desc.of`; neither with a key function */
  struct copies rows;        /* of the query, in its order */
  struct grid_room room;
  struct key_room key_room;
  struct staleness stale;
  struct splice_room splice;
  bool anew;                 /* the current edition is filled from all rows */
  bool busy;                 /* its keys are being computed */
  double began;              /* when its update began */
  struct edition *now;       /* the current edition; NULL: never updated */
  uint64_t fresh;            /* moment at which it is up to date, or 0 */
  uint32_t lost;             /* rows without a position or key at its last update, */
  uint32_t brought;          /* how many had changed, or NONE if all rows were used */
  double seconds;            /* seconds that it took, */
  uint64_t times;            /* and the number of updates */
};

/* The indexes of a world. */
struct finding {
  struct attachment link;
  ecs_index *first;
  uint32_t count;
  uint64_t version;          /* counts indexes added, removed or replaced */
};

/* edition_empty removes all rows; the second also frees all memory. */
void edition_empty(struct edition *edition);
void edition_free(ecs_world *world, struct edition *edition);

/* Holds the current edition for a loop outside systems. It stays until the loop releases it or
** another moment begins. */
struct edition *edition_hold(const ecs_index *index);
void edition_release(const ecs_world *world, struct edition *edition);

/* The next row of a search. */
static inline uint32_t edition_next(struct ecs_search *search) {
  if (search->grid) return search_next(search);
  return search->keyed ? keyed_next(search) : NONE;
}

/* Frees older editions that are no longer held. */
void edition_drop_old(ecs_index *index);

/* Whether a loop still uses it. */
bool edition_is_held(const ecs_world *world, const struct edition *edition);

/* The current edition, or a new one while loops hold that, to be filled; NULL when out of
** memory. */
struct edition *edition_to_fill(ecs_index *index);

#endif
