/* A table holds the entities with one set of components: a column for each leaf field, a
** list of rows. Columns of an empty table may be absent. */
#ifndef ECS_CORE_TABLE_H
#define ECS_CORE_TABLE_H

#include "component.h"

struct column {
  void *data;                /* of the buffer: what the loops read */
  struct column_buffer buffer;
  uint32_t size;             /* bytes of a value */
  uint32_t leaf;
  const struct component *component;
  ecs_cell value;            /* the default */
};

/* A component with columns, in the order of ids. */
struct table_part {
  ecs_id id;
  struct component *component;
  uint32_t first;            /* its first column; the others follow */
};

struct edge {
  ecs_id id;
  uint32_t add, add_serial;        /* NONE while unknown */
  uint32_t remove, remove_serial;
};

struct table {
  uint32_t index;
  uint32_t serial;           /* told apart from an earlier table of the same index */
  uint64_t order;            /* when it was made: tables are visited in this order */
  uint64_t hash;
  uint32_t next_same_hash;   /* NONE ends it */
  uint32_t id_count;
  ecs_id *ids;               /* sorted */
  uint32_t *first_column;    /* by position in ids; NONE for a tag */
  uint32_t *slots;           /* hash of id -> position in ids, or NONE */
  uint32_t slot_mask;
  uint32_t part_count;
  struct table_part *parts;
  uint32_t column_count;
  struct column *columns;
  struct column_buffer row_buffer;
  uint32_t *rows;            /* entity index by row */
  uint32_t count;
  uint32_t capacity;         /* rows that every column has room for */
  uint32_t incoming;         /* rows a commit is about to add */
  bool has_any;
  bool in_empties;           /* listed for reclaiming */
  bool was_empty;            /* at the end of the last update */
  bool doomed;               /* while reclaiming */
  struct edge *edges;        /* open addressing by id, 0 is free */
  uint32_t edge_count;
  uint32_t edge_capacity;
  size_t block_size;         /* of this struct with all its arrays */
};

/* A table without rows; it is in no list yet. ids are sorted and alive. */
ecs_status table_new(ecs_world *world, const ecs_id *ids, uint32_t count,
                     struct table **out);
void table_free(ecs_world *world, struct table *table);

/* Position of an id in the table's ids, or NONE. O(1). */
static inline uint32_t table_position(const struct table *table, ecs_id id) {
  uint32_t at = (uint32_t)hash_u64(id) & table->slot_mask;
  for (;; at = (at + 1) & table->slot_mask) {
    uint32_t position = table->slots[at];
    if (position == NONE || table->ids[position] == id) return position;
  }
}

/* The first column of a component, NONE when it is absent or a tag. */
static inline uint32_t table_column(const struct table *table, ecs_id id) {
  uint32_t position = table_position(table, id);
  return position == NONE ? NONE : table->first_column[position];
}

/* Room for `more` rows: ECS_ENOMEM, ECS_ELIMIT. */
ecs_status table_reserve(ecs_world *world, struct table *table, uint64_t more);

/* After table_reserve. Appends the entity with defaults in every column; returns the row. */
uint32_t table_append(ecs_world *world, struct table *table, uint32_t entity);
/* count rows with defaults, entities already in table->rows. */
void table_fill_defaults(struct table *table, uint32_t row, uint32_t count);

/* Moves a row, after table_reserve on `to`: shared columns are carried, new ones get
** defaults, lost ones go (any slots are released). The entity's record follows. */
void table_move_row(ecs_world *world, struct table *from, uint32_t row, struct table *to);

/* The same for all rows at once. */
void table_move_all(ecs_world *world, struct table *from, struct table *to);

/* Takes a row out by moving the last one into its place. */
void table_remove_row(ecs_world *world, struct table *table, uint32_t row);

/* Writes cells of one component's row; replaced any slots are released. */
void table_write(ecs_world *world, struct table *table, uint32_t first, uint32_t row,
                 const struct write *writes, uint32_t count);
void table_write_defaults(ecs_world *world, struct table *table,
                          const struct component *component, uint32_t row);

/* Gives column memory back when there are no rows. */
void table_shrink(ecs_world *world, struct table *table);

size_t table_bytes(const struct table *table);

#endif
