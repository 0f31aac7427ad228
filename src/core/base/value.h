/* Cells: how values become cells. How cells lie in columns is in column_cells.h. */
#ifndef ECS_CORE_BASE_VALUE_H
#define ECS_CORE_BASE_VALUE_H

#include "core/base/one_cell.h"
#include "core/base/types.h"

/* Turns a number into the cell of a numeric type: ECS_OK, ECS_ETYPE (a fraction into an
** integer), ECS_ERANGE. A float that does not fit an f32 becomes an infinity, as in C. */
ecs_status cell_of_integer(ecs_type type, int64_t value, ecs_cell *cell);
ecs_status cell_of_number(ecs_type type, double value, ecs_cell *cell);

/* A double as an integer, when it is one. */
bool number_is_integer(double value, int64_t *integer);

/* Whether a double can be that very integer, and none of its neighbours is the same double. */
bool number_fits_float(int64_t integer);

/* An integer field's value (bool, enumeration and entity included), widened. */
int64_t cell_integer(ecs_type type, uint32_t size, ecs_cell cell);

/* A float field's value. */
static inline double cell_float(uint32_t size, ecs_cell cell) {
  return size == 4 ? (double)cell.f32 : cell.f64;
}

/* A cell's bits as a number, the same on every machine, and back. */
static inline uint64_t cell_bits(uint32_t size, ecs_cell cell) {
  return size == 1 ? cell.u8 : size == 2 ? cell.u16 : size == 4 ? cell.u32 : cell.u64;
}

static inline ecs_cell cell_of_bits(uint32_t size, uint64_t bits) {
  ecs_cell cell;
  cell.u64 = 0;
  switch (size) {
    case 1: cell.u8 = (uint8_t)bits; break;
    case 2: cell.u16 = (uint16_t)bits; break;
    case 4: cell.u32 = (uint32_t)bits; break;
    default: cell.u64 = bits; break;
  }
  return cell;
}

/* The cell of an integer type; false when the value is out of its range. */
static inline bool integer_to_cell(ecs_type type, int64_t value, ecs_cell *cell) {
  const struct type *integer = &type_table[type];
  uint64_t least = (uint64_t)integer->least;
  assert(integer->class == CLASS_INTEGER);
  if (UNLIKELY((uint64_t)value - least > integer->most - least)) return false;
  *cell = cell_of_bits(integer->size, (uint64_t)value);
  return true;
}

#endif
