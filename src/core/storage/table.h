/* Tables: their layout, the edges between them, and how they are made, grow and get cells
** written. */
#ifndef ECS_CORE_STORAGE_TABLE_H
#define ECS_CORE_STORAGE_TABLE_H

#include "core/base/column.h"
#include "core/base/memory.h"

struct component;
struct marks;
struct toggle;
struct watch;

/* A table holds the entities with one set of components: a column for each leaf field, and a list
** of rows. Columns of an empty table may be absent. */

struct column {
  ecs_id id;                 /* the table's id that it belongs to */
  void *data;                /* start of the buffer: what loops read */
  ecs_cell value;            /* the default */
  uint32_t size;             /* bytes of a cell */
  uint32_t leaf;
  const struct component *component;
  struct column_buffer buffer;
};

/* The address of a row's cell. */
static inline void *column_at(const struct column *column, uint32_t row) {
  assert(column->data);
  assert(!column->buffer.data || (size_t)row * column->size < column->buffer.size);
  return (char *)column->data + (size_t)row * column->size;
}

/* An id that marks the entry after a table's last column, so that loops over the columns of two
** tables need not check both ends. */
#define COLUMN_END UINT64_MAX

/* Where a table has the cells of one of its ids. */
struct layout {
  ecs_id id;
  struct column *columns;    /* one for each leaf; for a tag, where they would be */
  uint16_t count;            /* number of columns */
  uint16_t words;            /* number of columns if all have 4 bytes, otherwise 0 */
  bool taken;                /* false in a free slot */
  bool stores;               /* writing its cells is a plain store: numbers, not of a relation */
  uint16_t lends;            /* `words`, or 0 if writes have to be marked */
};

/* A shortcut to the table with one id more, or one less if this one has it. The columns that only
** the larger table has are consecutive. */
struct edge {
  ecs_id id;
  struct table *table;       /* has the edge back; NULL in a free slot */
  uint32_t first;            /* first column of the id, or where it would be, in the larger table */
  uint16_t count;            /* number of its columns */
  uint8_t kind;              /* EDGE_ADDS, EDGE_TAKES or EDGE_SLOW */
};

#define GUESSES 8u           /* a table has at least this many slots for layouts */

/* Layouts, which follow this struct, and edges are hash tables with open addressing; a mask is
** their size, a power of two, minus one. What moving a row needs comes last, in one cache line with
** 8-byte pointers: among 10,000 tables, little else has to be loaded. */
struct table {
  void *block;               /* the allocation */
  uint64_t order;            /* rank of when it got its first row, by which tables are visited */
  uint64_t hash;
  size_t block_size;         /* of this struct with all its arrays */
  struct edge no_edge;       /* the free slot of a table without edges */
  struct column_buffer row_buffer;
  uint64_t watch_stamp;      /* when the list of observers that may match its rows was made */
  struct watch **watchers;
  uint32_t watcher_count, watcher_capacity;
  uint32_t serial;           /* distinguishes it from an earlier table with the same index */
  uint32_t edge_count;
  uint32_t incoming;         /* rows a commit is about to add */
  uint32_t lane;             /* its place among the batch's lanes plus 1, or 0 */
  uint32_t leaving;          /* last round of a cascade that removed any of its rows */
  uint32_t next_same_hash;   /* ended by NONE */
  bool doomed;               /* used while reclaiming */
  bool packs;                /* can be packed while it has few rows */
  bool has_ties;             /* has exclusive relations */
  bool has_pairs;
  bool hidden;               /* of prefabs, hidden from queries */
  ecs_id *ids;               /* sorted */
  struct edge *edges;
  struct toggle *toggles;    /* in the order of ids, for those that can be switched off */
  uint32_t toggle_count;
  uint32_t off;              /* number of bits that are set: see toggle.h */
  struct marks *marks;       /* for watched ids: see marks.h */
  uint32_t mark_count, mark_capacity;
  uint32_t id_count;
  uint32_t edge_mask;
  uint32_t layout_mask;
  struct edge near_edge;     /* a copy of one of the edges; the cache line begins here */
  uint32_t *rows;            /* entity index by row */
  struct column *columns;    /* in the order of ids, then of leaves */
  uint32_t count;
  uint32_t capacity;         /* rows that fit in every column */
  uint32_t column_count;
  uint32_t index;
  bool packed;
  bool plain;                /* all cells have 4 bytes: no any, toggles or marks */
  bool has_any;
  bool was_empty;            /* at the end of the last update */
  bool in_empties;           /* listed for reclaiming */
  bool has_pair_alone;       /* its only id is a pair */
};

/* Fibonacci hashing (Knuth, TAOCP 6.4): ids of components are consecutive, pairs may differ in any
** bits, and both spread well. */
INLINE uint64_t id_hash(ecs_id id) {
#ifdef ECS_CONSTANT_HASH
  return id & 0;
#else
  return id * UINT64_C(0x9E3779B97F4A7C15);
#endif
}

/* The first slot to look in for an id. */
INLINE uint32_t id_slot(ecs_id id, uint32_t mask) {
  return (uint32_t)(id_hash(id) >> 32) & mask;
}

INLINE struct layout *table_layouts(const struct table *table) {
  return (struct layout *)(uintptr_t)(table + 1);
}

/* The slot that an id has if no other came first, as for most components, whose ids are
** consecutive. Found without the table's mask, which takes 11 % off a random get of a cell. */
INLINE struct layout *table_guess(const struct table *table, ecs_id id) {
#ifdef ECS_CONSTANT_HASH
  id = 0;
#endif
  return table_layouts(table) + (id & (GUESSES - 1));
}

/* Where a table has an id; a free slot without columns if it does not. O(1). */
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

/* Whether a table has exactly these ids, in any order. */
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

/* The number of a component's first column; NONE if it is absent or a tag. */
static inline uint32_t table_column(const struct table *table, ecs_id id) {
  const struct layout *layout = table_find(table, id);
  return layout->count ? (uint32_t)(layout->columns - table->columns) : NONE;
}

/* Edges of the graph, for those that follow them; graph.c makes them. */

/* Kinds of edges. */
#define EDGE_ADDS 1u         /* to the table with one id more, */
#define EDGE_TAKES 2u        /* or with one less */
#define EDGE_SLOW 4u         /* added to either: the larger table is not plain */

/* The first slot to look in for an edge. Relations have no edges, and ids of components are
** consecutive, so no mixing is needed. */
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

/* A table's edge for an id; one without a table if there is none. */
INLINE const struct edge *graph_edge(const struct table *from, ecs_id id) {
  const struct edge *near = &from->near_edge;
  return LIKELY(near->id == id) ? near : edge_find(from, id);
}

/* Packed tables: a table whose cells all have 4 bytes, and that has not yet had more than
** PACKED_ROWS rows, keeps its list of rows and its columns in one buffer, PACKED_BYTES each, so
** moving a row loads less memory. A column without a buffer of its own is in it. */

#define PACKED_ROWS 16u
#define PACKED_BYTES 64u

/* The cells of a packed table's first column; those of the others follow. */
static inline uint32_t *packed_cells(const struct table *table) {
  assert(table->packed && table->plain && table->capacity == PACKED_ROWS);
  return table->rows + PACKED_BYTES / sizeof(uint32_t);
}

/* The cells of a column, by its number; in a packed table the columns need not be read. */
static inline void *packed_column(const struct table *table, uint32_t at) {
  assert(at < table->column_count);
  if (!table->packed) return table->columns[at].data;
  char *cells = (char *)table->rows + (at + (size_t)1) * PACKED_BYTES;
  assert(cells == table->columns[at].data);
  return cells;
}

/* Makes an empty table that is in no list yet. The ids must be sorted and alive. */
ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out);

/* Makes a table of a single component, which will have that id. */
ecs_status table_new_of_one(ecs_world *world, ecs_id id, const struct component *component,
                            struct table **out);
void table_free(ecs_world *world, struct table *table);

/* Grows for `more` rows, beyond what the columns have room for. */
ecs_status table_grow(ecs_world *world, struct table *table, uint64_t more);

/* Reserves room for `more` rows: ECS_ENOMEM, ECS_ELIMIT. */
static inline ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more) {
  assert(table);
  bool ready = more <= table->capacity - table->count;
  return LIKELY(ready) ? ECS_OK : table_grow(world, table, more);
}

/* Fills `count` rows, whose entities are already in table->rows, with defaults. */
void table_fill_defaults(const ecs_world *world, struct table *table, uint32_t row,
                         uint32_t count);

/* Writes cells of one component, whose columns begin at `columns`, in a row; releases the any slots
** that they replace. */
void table_write(ecs_world *world, struct column *columns, uint32_t row,
                 const struct write *writes, uint32_t count);
void table_write_defaults(ecs_world *world, const struct layout *layout, uint32_t row);

/* Releases the any slots in the columns of one id. */
void table_release_any(ecs_world *world, const struct layout *layout, uint32_t row,
                       uint32_t count);

/* Releases the any slots in cells that rows leave behind when they move to another table, or, if
** that is NULL, all of them. */
void table_release(ecs_world *world, const struct table *from, const struct table *to,
                   uint32_t row, uint32_t count);

size_t table_bytes(const struct table *table);

#endif
