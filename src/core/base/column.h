/* Cells: the values of fields, how they are converted, and how columns store them. */
#ifndef ECS_CORE_BASE_COLUMN_H
#define ECS_CORE_BASE_COLUMN_H

#include <stdint.h>

#include "core/base/base.h"
#include "core/base/types.h"

/* The value of any field, in the member of the field's type. */
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

/* Converting values to cells. */

/* Converts a number to the cell of a numeric type: ECS_OK, ECS_ETYPE (a fraction for an integer),
** ECS_ERANGE. A float too large for f32 becomes an infinity, as in C. */
ecs_status cell_of_integer(ecs_type type, int64_t value, ecs_cell *cell);
ecs_status cell_of_number(ecs_type type, double value, ecs_cell *cell);

/* Converts a double to the integer that it equals; false if it equals none. */
bool number_is_integer(double value, int64_t *integer);

/* Whether converting the integer to double is exact, and no other integer gives the same double. */
bool number_fits_float(int64_t integer);

/* The value of an integer field (bool, enum and entity included), widened. */
int64_t cell_integer(ecs_type type, uint32_t size, ecs_cell cell);

/* The value of a float field. */
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

/* The cell of an integer type; false if the value is out of range. */
static inline bool integer_to_cell(ecs_type type, int64_t value, ecs_cell *cell) {
  const struct type *integer = &type_table[type];
  uint64_t least = (uint64_t)integer->least;
  assert(integer->class == CLASS_INTEGER);
  if (UNLIKELY((uint64_t)value - least > integer->most - least)) return false;
  *cell = cell_of_bits(integer->size, (uint64_t)value);
  return true;
}

/* The kernel's view of each field type. */

/* The type of a kernel's column; COLUMN_NONE: kernels cannot use the cells. */
enum type_column {
  COLUMN_NONE,
  COLUMN_F32, COLUMN_F64,
  COLUMN_I8, COLUMN_I16, COLUMN_I32, COLUMN_I64,
  COLUMN_U8, COLUMN_U16, COLUMN_U32,
  COLUMN_BOOL, COLUMN_ENTITY,
  COLUMN_COUNT
};

/* The kernel's column for cells of that size. */
static inline enum type_column type_column(ecs_type type, uint32_t size) {
  if (type_class(type) == CLASS_NAMES) return size == 2 ? COLUMN_U16 : COLUMN_U8;
  return (enum type_column)type_table[type].column;
}

/* Cells in columns. */

/* Most cells have 4 bytes: that size is tested first. */
static inline ecs_cell cell_load(const void *data, uint32_t size, size_t row) {
  ecs_cell cell;
  cell.u64 = 0;
  if (LIKELY(size == 4))
    cell.u32 = ((const uint32_t *)data)[row];
  else if (size == 8)
    cell.u64 = ((const uint64_t *)data)[row];
  else if (size == 1)
    cell.u8 = ((const uint8_t *)data)[row];
  else
    cell.u16 = ((const uint16_t *)data)[row];
  return cell;
}

static inline void cell_store(void *data, uint32_t size, size_t row, ecs_cell cell) {
  if (LIKELY(size == 4))
    ((uint32_t *)data)[row] = cell.u32;
  else if (size == 8)
    ((uint64_t *)data)[row] = cell.u64;
  else if (size == 1)
    ((uint8_t *)data)[row] = cell.u8;
  else
    ((uint16_t *)data)[row] = cell.u16;
}

static inline void cell_copy(void *to, size_t to_row, const void *from, size_t row,
                             uint32_t size) {
  if (LIKELY(size == 4))
    ((uint32_t *)to)[to_row] = ((const uint32_t *)from)[row];
  else if (size == 8)
    ((uint64_t *)to)[to_row] = ((const uint64_t *)from)[row];
  else if (size == 1)
    ((uint8_t *)to)[to_row] = ((const uint8_t *)from)[row];
  else
    ((uint16_t *)to)[to_row] = ((const uint16_t *)from)[row];
}

/* Fills count cells with one value. */
void cell_fill(void *data, uint32_t size, size_t row, size_t count, ecs_cell cell);

/* For loops over many rows. */

/* For functions with such loops, which gcc does not vectorise at -O2. */
#if defined(__GNUC__) && !defined(__clang__)
#define LOOPS __attribute__((optimize("O3")))
#else
#define LOOPS
#endif

/* Hides a number's value from the compiler, which might otherwise replace it, after a comparison,
** by an equal one that the processor has to wait for. */
#if defined(__GNUC__)
#define UNKNOWN(number) __asm__("" : "+r"(number))
#else
#define UNKNOWN(number) ((void)(number))
#endif

/* Moves from one number of a list to the next. Most lists advance by a constant `step`, 0 at first:
** the processor predicts it while the number is being loaded. */
static inline uint32_t stride_to(uint32_t from, uint32_t to, uint32_t *step) {
  uint32_t expected = from + *step, at = expected;
  UNKNOWN(at);
  if (to == expected) return at;
  *step = to - from;
  return to;
}

static inline uint32_t round_up(uint32_t n, uint32_t unit) {
  return (n + unit - 1) / unit * unit;
}

#endif
