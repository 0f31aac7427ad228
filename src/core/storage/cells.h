/* Where the cells of components are: whoever needs the cells of one entity, or all cells of one
** field type, asks here, and need not know what kinds of storage there are. */
#ifndef ECS_CORE_STORAGE_CELLS_H
#define ECS_CORE_STORAGE_CELLS_H

#include "core/base/base.h"

struct column;
struct component;
struct leaf;
struct table;

/* Cells of one leaf, one behind the other. */
struct cells {
  void *data;
  uint32_t count;
  const struct component *component;
  const struct leaf *leaf;
};

/* Returns false to end the walk. It may change the cells, and nothing else of the world. */
typedef bool (*cells_fn)(const struct cells *cells, void *ud);

enum {
  CELLS_STORED = 1,       /* of tables, resources, arrays and events */
  CELLS_STAGED = 2,       /* values of commands that are still to be applied */
  CELLS_KEPT = 4          /* what attachments keep: snapshots */
};

/* All cells of a field type in the places named by `where`; false when `visit` ended it. */
bool cells_each(const ecs_world *world, ecs_type type, unsigned where, cells_fn visit,
                void *ud);

/* An entity's row of a component. */
struct cells_row {
  struct table *table;
  struct column *columns;   /* the component's, one a leaf; NULL for a tag */
  uint32_t row;
};

/* False when the entity is dead or does not have the component. */
bool cells_find(const ecs_world *world, ecs_id entity, ecs_id component,
                struct cells_row *out);

#endif
