/* Cells of number types as doubles, as arithmetic with floats in Lua has them. */
#ifndef ECS_CORE_INDEX_CELL_NUMBER_H
#define ECS_CORE_INDEX_CELL_NUMBER_H

#include "core/base/types.h"

/* The number in a row of a column; integers are rounded, those of u64 as scripts read them. */
static inline double cell_number(ecs_type type, const void *data, uint32_t row) {
  switch (type) {
    case ECS_F32: return (double)((const float *)data)[row];
    case ECS_F64: return ((const double *)data)[row];
    case ECS_I8: return ((const int8_t *)data)[row];
    case ECS_I16: return ((const int16_t *)data)[row];
    case ECS_I32: return ((const int32_t *)data)[row];
    case ECS_U8: return ((const uint8_t *)data)[row];
    case ECS_U16: return ((const uint16_t *)data)[row];
    case ECS_U32: return ((const uint32_t *)data)[row];
    default:
      assert(type == ECS_I64 || type == ECS_U64);
      return (double)((const int64_t *)data)[row];
  }
}

#endif
