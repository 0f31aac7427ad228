/* What kernels take the cells of each field type for. */
#ifndef ECS_CORE_BASE_TYPE_COLUMN_H
#define ECS_CORE_BASE_TYPE_COLUMN_H

#include "core/base/types.h"

/* What a kernel takes the cells for; COLUMN_NONE: it cannot use them. */
enum type_column {
  COLUMN_NONE,
  COLUMN_F32, COLUMN_F64,
  COLUMN_I8, COLUMN_I16, COLUMN_I32, COLUMN_I64,
  COLUMN_U8, COLUMN_U16, COLUMN_U32,
  COLUMN_BOOL, COLUMN_ENTITY,
  COLUMN_COUNT
};

/* The kernel's column of cells of that size. */
static inline enum type_column type_column(ecs_type type, uint32_t size) {
  if (type_class(type) == CLASS_NAMES && size == 2) return COLUMN_U16;
  return (enum type_column)type_table[type].column;
}

#endif
