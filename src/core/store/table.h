/* A table holds the entities with one set of components: a column for each leaf field, a
** list of rows. Columns of an empty table may be absent. */
#ifndef ECS_CORE_STORE_TABLE_H
#define ECS_CORE_STORE_TABLE_H

#include "core/store/component.h"

struct column {
  void *data;                /* of the buffer: what the loops read */
  ecs_cell value;            /* the default */
  uint32_t size;             /* bytes of a value */
  uint32_t leaf;
  size_t offset;             /* in the component's native struct */
  const struct component *component;
  struct column_buffer buffer;
};

/* Where a table has an id: open addressing by id; a free one has position NONE. The first to
** come has the one of the first QUICK_PLACES that goes by the id's last bits: to find it no more
** than the table's address is needed. */
#define QUICK_PLACES 8u
#if QUICK_PLACES & (QUICK_PLACES - 1)
#error "places are found by a mask: QUICK_PLACES is a power of two"
#endif

struct table_place {
  ecs_id id;
  struct column *columns;    /* of the id's component; NULL for a tag */
  uint32_t count;            /* of them */
  uint32_t words;            /* the same when the component is one of words, else 0 */
  uint32_t position;         /* in ids */
};

/* A component with columns, in the order of ids. */
struct table_part {
  ecs_id id;
  const struct component *component;
  uint32_t first;            /* its first column; the others follow */
};

#define EDGE_NONE 0u
#define EDGE_ADDS 1u       /* to the table with one id more, */
#define EDGE_TAKES 2u      /* or with one less */
#define EDGE_SLOW 4u       /* with either: the cells are not all of 4 bytes, or any slots */

/* A short cut to the table with one id more, or less when this one has it. The larger one
** has columns of the id; the others are in the same order in both. */
struct edge {
  ecs_id id;
  struct table *table;       /* has the edge back */
  struct column *columns;    /* of the id in the larger table: where they are or would be */
  uint16_t count;
  uint8_t kind;
};

#define FIRST_EDGES 4u       /* part of the table's own block */
#if FIRST_EDGES & (FIRST_EDGES - 1)
#error "edges are found by a mask: FIRST_EDGES is a power of two"
#endif

/* What moving a row needs comes first. */
struct table {
  uint32_t index;
  uint32_t serial;           /* told apart from an earlier table of the same index */
  uint32_t count;
  uint32_t capacity;         /* rows that every column has room for */
  uint32_t *rows;            /* entity index by row */
  struct column *columns;
  struct edge *edges;        /* open addressing by id: a free one is of no kind */
  uint32_t place_mask;       /* one less than there are places, which follow this struct, */
  uint32_t edge_mask;        /* and edges: powers of two */
  uint32_t column_count;
  uint32_t edge_count;
  bool words;                /* every column has cells of 4 bytes */
  bool has_any;
  bool in_empties;           /* listed for reclaiming */
  bool was_empty;            /* at the end of the last update */
  bool doomed;               /* while reclaiming */
  uint32_t incoming;         /* rows a commit is about to add */
  uint32_t id_count;
  ecs_id *ids;               /* sorted */
  uint32_t *first_column;    /* by position in ids; NONE for a tag */
  uint32_t part_count;
  uint32_t next_same_hash;   /* NONE ends it */
  struct table_part *parts;
  uint64_t order;            /* when it was made: tables are visited in this order */
  uint64_t hash;
  struct edge *first_edges;
  struct column_buffer row_buffer;
  size_t block_size;         /* of this struct with all its arrays */
};

/* A table without rows; it is in no list yet. ids are sorted and alive. */
ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out);
void table_free(ecs_world *world, struct table *table);

INLINE const struct table_place *table_places(const struct table *table) {
  return (const void *)(table + 1);
}

/* The place where an id is unless another one has come first: for quick ways, with table_find
** behind them. */
INLINE const struct table_place *table_probe(const struct table *table, ecs_id id) {
  return table_places(table) + (id & (QUICK_PLACES - 1));
}

/* Where the table has an id, or a free place. O(1): ids of components are small and follow
** each other, so that they need no mixing. */
INLINE const struct table_place *table_find(const struct table *table, ecs_id id) {
  const struct table_place *place = table_probe(table, id);
  if (LIKELY(place->id == id || place->position == NONE)) return place;
  uint32_t at = (uint32_t)id & table->place_mask;
  place = table_places(table) + at;
  while (UNLIKELY(place->id != id) && place->position != NONE) {
    at = (at + 1) & table->place_mask;
    place = table_places(table) + at;
  }
  return place;
}

/* Position of an id in the table's ids, or NONE. */
static inline uint32_t table_position(const struct table *table, ecs_id id) {
  return table_find(table, id)->position;
}

/* The number of a component's first column, NONE when it is absent or a tag. */
static inline uint32_t table_column(const struct table *table, ecs_id id) {
  const struct column *columns = table_find(table, id)->columns;
  return columns ? (uint32_t)(columns - table->columns) : NONE;
}

/* Room for `more` rows: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more);

/* count rows with defaults, entities already in table->rows. */
void table_fill_defaults(struct table *table, uint32_t row, uint32_t count);

/* Moves all rows, after table_reserve on `to`: shared columns are carried, new ones get
** defaults, lost ones go (any slots are released). The entities' records follow. */
void table_move_all(ecs_world *world, struct table *from, struct table *to);

/* Writes cells of one component's row, whose columns begin at `columns`; replaced any slots are
** released. */
void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count);
void table_write_defaults(ecs_world *world, struct table *table,
                          const struct component *component, uint32_t row);

/* Lets go of the any slots in a component's columns, of which `first` is the first. */
void table_release_any(ecs_world *world, struct table *table, uint32_t first, uint32_t row,
                       uint32_t count);
/* The same of a whole row. */
void table_release_row(ecs_world *world, struct table *table, uint32_t row);

/* Gives column memory back when there are no rows. */
void table_shrink(ecs_world *world, struct table *table);

size_t table_bytes(const struct table *table);

#endif
