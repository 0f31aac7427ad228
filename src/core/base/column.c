#include <math.h>

#include "core/base/column.h"

bool number_is_integer(double value, int64_t *integer) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return false;
  *integer = (int64_t)value;
  return (double)*integer == value;
}

bool number_fits_float(int64_t integer) {
  int64_t most = (int64_t)1 << 53;
  return integer >= -most && integer <= most;
}

ecs_status cell_of_integer(ecs_type type, int64_t value, ecs_cell *cell) {
  cell->u64 = 0;
  if (type == ECS_F32) {
    cell->f32 = (float)value;
  } else if (type == ECS_F64) {
    cell->f64 = (double)value;
  } else {
    return integer_to_cell(type, value, cell) ? ECS_OK : ECS_ERANGE;
  }
  return ECS_OK;
}

ecs_status cell_of_number(ecs_type type, double value, ecs_cell *cell) {
  cell->u64 = 0;
  if (type == ECS_F32) {
    cell->f32 = (float)value;
  } else if (type == ECS_F64) {
    cell->f64 = value;
  } else {
    int64_t integer;
    if (!number_is_integer(value, &integer))
      return floor(value) == value ? ECS_ERANGE : ECS_ETYPE;
    return cell_of_integer(type, integer, cell);
  }
  return ECS_OK;
}

int64_t cell_integer(ecs_type type, uint32_t size, ecs_cell cell) {
  bool is_signed = type_is_signed(type);
  switch (size) {
    case 1: return is_signed ? cell.i8 : cell.u8;
    case 2: return is_signed ? cell.i16 : cell.u16;
    case 4: return is_signed ? cell.i32 : (int64_t)cell.u32;
    default: return cell.i64;
  }
}

/* ---- column cells ---- */

#define SEEDS 16u      /* cells that are stored one by one */
#define PIECE 4096u    /* bytes, a multiple of every cell's */

/* Repeats the first cells: doubles them up to a piece that stays in the cache, and copies that. */
static void column_cells_repeat(char *to, size_t filled, size_t size) {
  while (filled < size) {
    size_t piece = filled < PIECE ? filled : PIECE;
    if (piece > size - filled) piece = size - filled;
    memcpy(to + filled, to, piece);
    filled += piece;
  }
}

void cell_fill(void *data, uint32_t size, size_t row, size_t count, ecs_cell cell) {
  char *to = (char *)data + row * size;
  if (cell.u64 == 0) {
    memset(to, 0, count * size);
    return;
  }
  size_t seeds = count < SEEDS ? count : SEEDS;
  for (size_t i = 0; i < seeds; i++) cell_store(to, size, i, cell);
  column_cells_repeat(to, seeds * size, count * size);
}
