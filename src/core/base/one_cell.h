/* What a field of one row is. */
#ifndef ECS_CORE_BASE_ONE_CELL_H
#define ECS_CORE_BASE_ONE_CELL_H

#include "core/base/base.h"

/* Any one field's value. The member of the field's type is the one that counts. */
typedef union ecs_cell {
  float f32;
  double f64;
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
} ecs_cell;

/* A write to one leaf of a component. */
struct write {
  uint32_t leaf;
  ecs_cell cell;
};

#endif
