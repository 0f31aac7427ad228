/* Finds cells wherever components are stored: those of one entity, or all cells of a field type.
** Callers need not know the kinds of storage. */
#ifndef ECS_CORE_STORAGE_CELLS_H
#define ECS_CORE_STORAGE_CELLS_H

#include "core/base/base.h"

struct column;
struct component;
struct leaf;
struct table;

/* Consecutive cells of one leaf. */
struct cells {
  void *data;
  uint32_t count;
  const struct component *component;
  const struct leaf *leaf;
};

/* Returns false to end the walk. It may change the cells, but nothing else of the world. */
typedef bool (*cells_fn)(const struct cells *cells, void *ud);

enum {
  CELLS_STORED = 1,       /* in tables, resources, arrays and events */
  CELLS_STAGED = 2,       /* values of commands that are not applied yet */
  CELLS_KEPT = 4          /* what attachments keep: snapshots */
};

/* Visits all cells of a field type in the places named by `where`. Returns false if `visit` ended
** it. */
bool cells_each(const ecs_world *world, ecs_type type, unsigned where, cells_fn visit,
                void *ud);

/* An entity's row of a component. */
struct cells_row {
  struct table *table;
  struct column *columns;   /* the component's columns, one for each leaf; NULL for a tag */
  uint32_t row;
};

/* Finds the row; false if the entity is dead or lacks the component. */
bool cells_find(const ecs_world *world, ecs_id entity, ecs_id component,
                struct cells_row *out);

#endif
