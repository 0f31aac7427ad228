/* How tables come and go, get rows, and have cells written: see layout.h for what they are. */
#ifndef ECS_CORE_STORAGE_TABLE_H
#define ECS_CORE_STORAGE_TABLE_H

#include "core/base/column.h"
#include "core/base/memory.h"

struct component;
struct marks;
struct toggle;
struct watch;

/* A table holds the entities with one set of components: a column for each leaf field, a
** list of rows. Columns of an empty table may be absent. What changes tables is in table.h. */

struct column {
  ecs_id id;                 /* of the table's ids the one that it is for */
  void *data;                /* of the buffer: what the loops read */
  ecs_cell value;            /* the default */
  uint32_t size;             /* bytes of a value */
  uint32_t leaf;
  const struct component *component;
  struct column_buffer buffer;
};

/* Where the column has a row. */
static inline void *column_at(const struct column *column, uint32_t row) {
  assert(column->data);
  assert(!column->buffer.data || (size_t)row * column->size < column->buffer.size);
  return (char *)column->data + (size_t)row * column->size;
}

/* What stands behind a table's last column for its id, and of that column there is no more: loops
** over two tables' columns need not look for both ends. */
#define COLUMN_END UINT64_MAX

/* Where a table has the cells of one of its ids. */
struct layout {
  ecs_id id;
  struct column *columns;    /* one a leaf; for a tag where they would be */
  uint16_t count;            /* of columns */
  uint16_t words;            /* the same of a component of words, else 0 */
  bool taken;                /* else a free slot */
  bool stores;               /* to write its cells is to store them: numbers, and no relation's */
  uint16_t lends;            /* `words`, unless what is written has to be marked: then 0 */
};

/* A short cut to the table with one id more, or less when this one has it. The columns that only
** the larger table has follow each other. */
struct edge {
  ecs_id id;
  struct table *table;       /* has the edge back; NULL in a free slot */
  uint32_t first;            /* where the columns of the id are, or would be, in the larger one */
  uint16_t count;            /* of them */
  uint8_t kind;              /* see edge.h */
};

#define GUESSES 8u           /* a table has as many slots for layouts, or more */

/* Layouts, which follow this struct, and edges are found by open addressing: their masks are one
** less than there are slots, a power of two. What moving a row needs comes last, in one line of the
** cache where pointers have 8 bytes: among 10,000 tables little else is waited for. */
struct table {
  void *block;               /* what was allocated */
  uint64_t order;            /* by when it got its first row: tables are visited in this order */
  uint64_t hash;
  size_t block_size;         /* of this struct with all its arrays */
  struct edge no_edge;       /* the free slot of a table without edges */
  struct column_buffer row_buffer;
  uint64_t watch_stamp;      /* when the observers that may match its rows were listed */
  struct watch **watchers;
  uint32_t watcher_count, watcher_capacity;
  uint32_t serial;           /* told apart from an earlier table of the same index */
  uint32_t edge_count;
  uint32_t incoming;         /* rows a commit is about to add */
  uint32_t lane;             /* one more than its place among the lanes of the batch, or 0 */
  uint32_t leaving;          /* the last round of a cascade that took any of its rows */
  uint32_t next_same_hash;   /* NONE ends it */
  bool doomed;               /* while reclaiming */
  bool packs;                /* is packed while it may be: see packed.h */
  bool has_ties;             /* has exclusive relations */
  bool has_pairs;
  bool hidden;               /* of prefabs, which queries pass over */
  ecs_id *ids;               /* sorted */
  struct edge *edges;
  struct toggle *toggles;    /* in the order of ids, of those that can be switched off */
  uint32_t toggle_count;
  uint32_t off;              /* how often something is switched off: see toggle.h */
  struct marks *marks;       /* of the ids that are watched: see marks.h */
  uint32_t mark_count, mark_capacity;
  uint32_t id_count;
  uint32_t edge_mask;
  uint32_t layout_mask;
  struct edge near_edge;     /* one of the edges once more: the line begins here */
  uint32_t *rows;            /* entity index by row */
  struct column *columns;    /* in the order of ids, then of leaves */
  uint32_t count;
  uint32_t capacity;         /* rows that every column has room for */
  uint32_t column_count;
  uint32_t index;
  bool packed;
  bool plain;                /* rows are cells of 4 bytes: no any, no toggles, no marks */
  bool has_any;
  bool was_empty;            /* at the end of the last update */
  bool in_empties;           /* listed for reclaiming */
  bool has_pair_alone;       /* one, and no other */
};

/* Fibonacci hashing (Knuth, TAOCP 6.4): ids of components follow each other, pairs may differ in
** any of their bits, and both spread well. */
INLINE uint64_t id_hash(ecs_id id) {
#ifdef ECS_CONSTANT_HASH
  return id & 0;
#else
  return id * UINT64_C(0x9E3779B97F4A7C15);
#endif
}

/* The slot where an id is looked for first. */
INLINE uint32_t id_slot(ecs_id id, uint32_t mask) {
  return (uint32_t)(id_hash(id) >> 32) & mask;
}

INLINE struct layout *table_layouts(const struct table *table) {
  return (struct layout *)(uintptr_t)(table + 1);
}

/* The slot that the first id to come has taken, which most ids are, as those of components follow
** each other: found without the table's mask, which takes 11 % of the time off a random get of a
** cell. */
INLINE struct layout *table_guess(const struct table *table, ecs_id id) {
#ifdef ECS_CONSTANT_HASH
  id = 0;
#endif
  return table_layouts(table) + (id & (GUESSES - 1));
}

/* Where the table has an id; a free slot, without columns, when it has not. O(1). */
INLINE const struct layout *table_find(const struct table *table, ecs_id id) {
  const struct layout *layout = table_guess(table, id);
  if (LIKELY(layout->id == id)) return layout;
  uint32_t at = id_slot(id, table->layout_mask);
  layout = table_layouts(table) + at;
  while (UNLIKELY(layout->id != id) && layout->taken) {
    at = (at + 1) & table->layout_mask;
    layout = table_layouts(table) + at;
  }
  return layout;
}

static inline bool table_has(const struct table *table, ecs_id id) {
  return table_find(table, id)->taken;
}

/* Whether a table has exactly these ids, in whatever order. */
static inline bool table_is_of(const struct table *table, const ecs_id *ids, size_t count) {
  if (table->id_count != count) return false;
  for (size_t i = 0; i < count; i++) {
    size_t at = i;
    if (LIKELY(ids[at] == table->ids[i])) continue;
    for (at = 0; at < count && ids[at] != table->ids[i];) at++;
    if (at == count) return false;
  }
  return true;
}

/* The number of a component's first column, NONE when it is absent or a tag. */
static inline uint32_t table_column(const struct table *table, ecs_id id) {
  const struct layout *layout = table_find(table, id);
  return layout->count ? (uint32_t)(layout->columns - table->columns) : NONE;
}

/* The edges of the graph as those see them who follow them: graph.c makes them. */

/* What kinds there are. */
#define EDGE_ADDS 1u         /* to the table with one id more, */
#define EDGE_TAKES 2u        /* or with one less */
#define EDGE_SLOW 4u         /* with either: the larger one is not plain */

/* The slot where an edge is looked for first. Relations have none, and the ids of components
** follow each other: they need no mixing. */
INLINE uint32_t edge_slot(ecs_id id, uint32_t mask) {
#ifdef ECS_CONSTANT_HASH
  id = 0;
#endif
  return (uint32_t)id & mask;
}

/* The slot of a table's edge for an id, or the free one where it would be. */
INLINE const struct edge *edge_find(const struct table *from, ecs_id id) {
  uint32_t at = edge_slot(id, from->edge_mask);
  const struct edge *edge = &from->edges[at];
  while (UNLIKELY(edge->id != id) && edge->table) {
    at = (at + 1) & from->edge_mask;
    edge = &from->edges[at];
  }
  return edge;
}

/* A table's edge for an id; one without a table when it has none. */
INLINE const struct edge *graph_edge(const struct table *from, ecs_id id) {
  const struct edge *near = &from->near_edge;
  return LIKELY(near->id == id) ? near : edge_find(from, id);
}

/* Tables of few rows. One whose cells have 4 bytes, and that has not had more rows than these yet,
** has its list of rows and its columns in the one buffer of the list, PACKED_BYTES each: moving a
** row waits for less memory. It is packed then; a column without a buffer of its own is there. */

#define PACKED_ROWS 16u
#define PACKED_BYTES 64u

/* Where a packed table has the cells of its first column; those of the next follow. */
static inline uint32_t *packed_cells(const struct table *table) {
  assert(table->packed && table->plain && table->capacity == PACKED_ROWS);
  return table->rows + PACKED_BYTES / sizeof(uint32_t);
}

/* Where a column's cells are, by the column's number: where the table is packed, its columns need
** not be looked at. */
static inline void *packed_column(const struct table *table, uint32_t at) {
  assert(at < table->column_count);
  if (!table->packed) return table->columns[at].data;
  char *cells = (char *)table->rows + (at + (size_t)1) * PACKED_BYTES;
  assert(cells == table->columns[at].data);
  return cells;
}

/* A table without rows; it is in no list yet. ids are sorted and alive. */
ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out);

/* A table of one component alone, which will have that id. */
ecs_status table_new_of_one(ecs_world *world, ecs_id id, const struct component *component,
                            struct table **out);
void table_free(ecs_world *world, struct table *table);

/* Room for `more` rows, more than the columns have now. */
ecs_status table_grow(ecs_world *world, struct table *table, uint64_t more);

/* Room for `more` rows: ECS_ENOMEM, ECS_ELIMIT. */
static inline ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more) {
  assert(table);
  bool ready = more <= table->capacity - table->count;
  return LIKELY(ready) ? ECS_OK : table_grow(world, table, more);
}

/* count rows with defaults, entities already in table->rows. */
void table_fill_defaults(const ecs_world *world, struct table *table, uint32_t row,
                         uint32_t count);

/* Writes cells of one component's row, whose columns begin at `columns`; replaced any slots are
** released. */
void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count);
void table_write_defaults(ecs_world *world, const struct layout *layout, uint32_t row);

/* Lets go of the any slots in the columns of one id. */
void table_release_any(ecs_world *world, const struct layout *layout, uint32_t row,
                       uint32_t count);

/* Lets go of those in cells that rows leave behind when they move to another table, or, where that
** is NULL, of all. */
void table_release(ecs_world *world, const struct table *from, const struct table *to,
                   uint32_t row, uint32_t count);

/* Gives column memory back when there are no rows. */
void table_shrink(ecs_world *world, struct table *table);

size_t table_bytes(const struct table *table);

#endif
