/* The cells of an array: see array.h. */
#ifndef ECS_CORE_STORAGE_ARRAY_CELLS_H
#define ECS_CORE_STORAGE_ARRAY_CELLS_H

#include "core/base/buffer.h"
#include "core/storage/fields.h"

#define ARRAY_LEAF 0u

static inline ecs_type array_type(const struct component *array) {
  assert(array->length > 0);
  return array->leaves[ARRAY_LEAF].type;
}

/* Its cells: as long as it is not migrated, undeclared or loaded. */
static inline void *array_data(const struct component *array) {
  assert(array->length > 0 && array->resource);
  return array->resource[ARRAY_LEAF].data;
}

#endif
