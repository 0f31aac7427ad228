/* Indexes: who is near a place, or has some value, without going through all. */
#ifndef ECS_INDEX_H
#define ECS_INDEX_H

#include "ecs_types.h"
#include "ecs_value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ecs_index ecs_index;

/* How entities are found. */
typedef enum ecs_index_by {
  ECS_BY_GRID,             /* who is near a place: ecs_index_within, ecs_index_nearest */
  ECS_BY_HASH,             /* who has a key: ecs_index_equal */
  ECS_BY_ORDER,            /* whose key, a number, is in a range: ecs_index_range and so on */
  ECS_BY_MAYBE             /* as by hash, more slowly and in less memory */
} ecs_index_by;

/* The key of a row, in the order of the query, whose copies ecs_index_column has for now; without
** one, its kind is ECS_KIND_NONE. It changes nothing, and looks into no index. It is called again
** only for rows that have changed since: the key depends on nothing else. */
typedef ecs_status (*ecs_key_fn)(const ecs_index *index, size_t row, void *ud, ecs_value *key);

typedef struct ecs_index_desc {
  const char *name;
  const char *query;               /* what it has copies of: Position:in, Velocity:in, with Boid */
  const ecs_variable *variables;   /* values of the query's $names */
  uint32_t variable_count;
  ecs_index_by by;
  const char *of;                  /* of a grid: a component of the query with numbers x, y and
                                   ** maybe z; else a field of its first term, or "Component.x" */
  double cell;                     /* of a grid: how wide a cell is, about the usual reach */
  ecs_key_fn key;                  /* instead of a field */
  const char *owner;               /* who declared it, for describe; or NULL */
  void *ud;                        /* the host's */
  void (*free)(void *ud);          /* called when the index goes or is replaced; may be NULL */
} ecs_index_desc;

/* Declares an index, or replaces the one of that name, whose address stays. What its query gives is
** copied, each field to a column, in the order of the index. It is no part of the world's content:
** neither saved nor compared, and there after loading as before. ECS_EBUSY for replacing or
** dropping one inside a system, function form or defer. */
ECS_API ecs_status ecs_index_new(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);

/* The one of a name, good until it is dropped; NULL with a message. */
ECS_API ecs_index *ecs_index_find(ecs_world *world, const char *name);
ECS_API ecs_status ecs_index_drop(ecs_world *world, const char *name);

/* How far a search has come: private. */
struct ecs_search {
  const struct grid *grid;
  const struct keyed *keyed;
  double low[3], high[3];          /* numbers of cells, both included */
  double at[3], reach;
  uint64_t key;
  uint32_t kind, key_kind, left;
  uint32_t line, row, end;
};

/* What has been found: filled by a search, and gone through by ecs_found_next. */
typedef struct ecs_found {
  const ecs_index *index;
  size_t row;                      /* of the copies */
  ecs_id entity;
  double distance;                 /* of the nearest one */
  struct ecs_search search;
} ecs_found;

/* Those whose distance to a place, sqrt(dx*dx + dy*dy (+ dz*dz)) in doubles, is not above `reach`:
** by cells, z, y, x ascending, in a cell in the order of the query. `at` has as many numbers as the
** component, 2 or 3. None when reach is below 0 or something is no number. Inside a system the
** index is brought up to date when that first asks it, and stays so until it ends; elsewhere each
** search does so, and what an earlier one has found is no longer good. It sees what was written
** before; through a pointer of ecs_cell_of, only what was before it was looked into. */
ECS_API ecs_status ecs_index_within(ecs_index *index, const double *at, double reach,
                                    ecs_found *found);
ECS_API bool ecs_found_next(ecs_found *found);

/* The nearest one but for `except` (or ECS_NULL); of several, the first in the order of the query.
** ECS_EABSENT when there is none in reach. */
ECS_API ecs_status ecs_index_nearest(ecs_index *index, const double *at, double reach,
                                     ecs_id except, ecs_found *found);

/* Those whose key is a value, as Lua compares (1 is 1.0; nobody is found by NaN): in the order of
** the query. */
ECS_API ecs_status ecs_index_equal(ecs_index *index, const ecs_value *key, ecs_found *found);

/* Those whose keys are between two numbers, both included, from the least on; so many with the
** lowest keys, from the lowest up; with the highest, from the highest down. Where keys are equal,
** in the order of the query. */
ECS_API ecs_status ecs_index_range(ecs_index *index, const ecs_value *least, const ecs_value *most,
                                   ecs_found *found);
ECS_API ecs_status ecs_index_lowest(ecs_index *index, uint32_t most, ecs_found *found);
ECS_API ecs_status ecs_index_highest(ecs_index *index, uint32_t most, ecs_found *found);

/* Copies of a leaf (terms and leaves count from 0), by row, in the order of the index; NULL for
** what has none. Good as long as what was found is. */
ECS_API const void *ecs_index_column(const ecs_index *index, uint32_t term, uint32_t leaf);
ECS_API size_t ecs_index_count(const ecs_index *index);
ECS_API ecs_id ecs_index_entity(const ecs_index *index, size_t row);

#ifdef __cplusplus
}
#endif

#endif
