/* Indexes: finding entities by place or by value without visiting all of them. */
#ifndef ECS_INDEX_H
#define ECS_INDEX_H

#include "ecs_types.h"
#include "ecs_value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ecs_index ecs_index;

/* How an index finds entities. */
typedef enum ecs_index_by {
  ECS_BY_GRID,             /* by place: ecs_index_within, ecs_index_nearest */
  ECS_BY_HASH,             /* by an equal key: ecs_index_equal */
  ECS_BY_ORDER,            /* by a range of numeric keys: ecs_index_range and so on */
  ECS_BY_MAYBE             /* like ECS_BY_HASH, but slower and in less memory */
} ecs_index_by;

/* Computes the key of a row; rows are in query order, and ecs_index_column gives their copies
** meanwhile. A key of kind ECS_KIND_NONE leaves the row out. The function must change nothing and
** search no index, and the key must depend on the row alone: it is called again only for rows that
** have changed. */
typedef ecs_status (*ecs_key_fn)(const ecs_index *index, size_t row, void *ud, ecs_value *key);

typedef struct ecs_index_desc {
  const char *name;
  const char *query;               /* what it copies: Position:in, Velocity:in, with Boid */
  const ecs_variable *variables;   /* values of the query's $names */
  uint32_t variable_count;
  ecs_index_by by;
  const char *of;                  /* for a grid: a component of the query with numbers x, y and
                                   ** perhaps z; otherwise a field of its first term, or
                                   ** "Component.x" */
  double cell;                     /* for a grid: the width of a cell, about the usual reach */
  ecs_key_fn key;                  /* instead of a field */
  const char *owner;               /* who declared it, for describe; or NULL */
  void *ud;                        /* the host's */
  void (*free)(void *ud);          /* called when the index is dropped or replaced; may be NULL */
} ecs_index_desc;

/* Declares an index, or replaces the one of that name, whose address stays the same. Every field
** that its query gives is copied to a column, in the index's order. An index is not part of the
** world's content: it is neither saved nor compared, and it survives a load. ECS_EBUSY for
** replacing or dropping one inside a system, function form or defer. */
ECS_API ecs_status ecs_index_new(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);

/* The index of that name, valid until it is dropped; NULL with a message if there is none. */
ECS_API ecs_index *ecs_index_find(ecs_world *world, const char *name);
ECS_API ecs_status ecs_index_drop(ecs_world *world, const char *name);

/* How far a search has got: private. */
struct ecs_search {
  const struct grid *grid;
  const struct keyed *keyed;
  double low[3], high[3];          /* cell numbers, both inclusive */
  double at[3], reach;
  uint64_t key;
  uint32_t kind, key_kind, left;
  uint32_t line, row, end;
};

/* The result of a search: the search fills it, ecs_found_next steps through it. */
typedef struct ecs_found {
  const ecs_index *index;
  size_t row;                      /* in the copies */
  ecs_id entity;
  double distance;                 /* of the nearest entity */
  struct ecs_search search;
} ecs_found;

/* Finds the entities whose distance to a place, sqrt(dx*dx + dy*dy (+ dz*dz)) in doubles, is at
** most `reach`: by cells, ascending in z, y, x, and within a cell in query order. `at` has as many
** numbers as the component, 2 or 3. Finds none if reach is negative or any number is NaN. Inside a
** system the first search brings the index up to date, and it stays so until the system ends;
** elsewhere every search does, which invalidates earlier results. A search sees all earlier writes;
** those through a pointer from ecs_cell_of only if no search came between getting the pointer and
** writing. */
ECS_API ecs_status ecs_index_within(ecs_index *index, const double *at, double reach,
                                    ecs_found *found);
ECS_API bool ecs_found_next(ecs_found *found);

/* The nearest entity other than `except` (or ECS_NULL); of equally near ones, the first in query
** order. ECS_EABSENT if none is within reach. */
ECS_API ecs_status ecs_index_nearest(ecs_index *index, const double *at, double reach,
                                     ecs_id except, ecs_found *found);

/* Finds the entities whose key equals a value, compared as in Lua (1 equals 1.0; NaN equals
** nothing), in query order. */
ECS_API ecs_status ecs_index_equal(ecs_index *index, const ecs_value *key, ecs_found *found);

/* The first finds the entities whose keys lie between two numbers, both inclusive, in ascending
** order. The others find at most `most` of those with the lowest keys, ascending, or with the
** highest, descending. Equal keys are in query order. */
ECS_API ecs_status ecs_index_range(ecs_index *index, const ecs_value *least, const ecs_value *most,
                                   ecs_found *found);
ECS_API ecs_status ecs_index_lowest(ecs_index *index, uint32_t most, ecs_found *found);
ECS_API ecs_status ecs_index_highest(ecs_index *index, uint32_t most, ecs_found *found);

/* Copies of a leaf (terms and leaves count from 0), by row, in the index's order; NULL if it is not
** copied. Valid for as long as the results of a search. */
ECS_API const void *ecs_index_column(const ecs_index *index, uint32_t term, uint32_t leaf);
ECS_API size_t ecs_index_count(const ecs_index *index);
ECS_API ecs_id ecs_index_entity(const ecs_index *index, size_t row);

#ifdef __cplusplus
}
#endif

#endif
