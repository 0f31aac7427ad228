#include <math.h>

#include "value.h"

#define SEEDS 16u      /* cells that are stored one by one */
#define PIECE 4096u    /* bytes, a multiple of every cell's */

static const struct {
  const char *name;
  uint8_t size;
  int64_t least, most;   /* of integers */
} types[] = {
  [ECS_F32] = {"f32", 4, 0, 0},
  [ECS_F64] = {"f64", 8, 0, 0},
  [ECS_I8] = {"i8", 1, INT8_MIN, INT8_MAX},
  [ECS_I16] = {"i16", 2, INT16_MIN, INT16_MAX},
  [ECS_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
  [ECS_I64] = {"i64", 8, INT64_MIN, INT64_MAX},
  [ECS_U8] = {"u8", 1, 0, UINT8_MAX},
  [ECS_U16] = {"u16", 2, 0, UINT16_MAX},
  [ECS_U32] = {"u32", 4, 0, UINT32_MAX},
  [ECS_BOOL] = {"bool", 1, 0, 1},
  [ECS_ENTITY] = {"entity", 8, 0, 0},
  [ECS_STRING] = {"string", 4, 0, 0},
  [ECS_ANY] = {"any", 4, 0, 0},
  [ECS_ENUM] = {"enum", 1, 0, 0},
  [ECS_NESTED] = {"component", 0, 0, 0},
};

uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size) {
  for (uint32_t i = 0; i < names->count; i++)
    if (names->names[i].size == size && memcmp(names->names[i].data, text, size) == 0)
      return i;
  return NONE;
}

const char *type_name(ecs_type type) { return types[type].name; }

uint32_t type_size(ecs_type type, const struct enumeration *names) {
  return type == ECS_ENUM && names->count > 256 ? 2 : types[type].size;
}

bool number_is_integer(double value, int64_t *integer) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return false;
  *integer = (int64_t)value;
  return (double)*integer == value;
}

ecs_status cell_of_integer(ecs_type type, int64_t value, ecs_cell *cell) {
  cell->u64 = 0;
  if (type == ECS_F32) {
    cell->f32 = (float)value;
  } else if (type == ECS_F64) {
    cell->f64 = (double)value;
  } else {
    assert(type <= ECS_U32);
    if (value < types[type].least || value > types[type].most) return ECS_ERANGE;
    switch (types[type].size) {
      case 1: cell->u8 = (uint8_t)value; break;
      case 2: cell->u16 = (uint16_t)value; break;
      case 4: cell->u32 = (uint32_t)value; break;
      default: cell->i64 = value; break;
    }
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
  switch (type) {
    case ECS_I8: return cell.i8;
    case ECS_I16: return cell.i16;
    case ECS_I32: return cell.i32;
    default: return size == 1 ? cell.u8 : size == 2 ? cell.u16 : size == 4 ? cell.u32 : cell.i64;
  }
}

/* Repeats what is there: doubles it up to a piece that stays in the cache, and copies that. */
static void repeat(char *to, size_t filled, size_t size) {
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
  repeat(to, seeds * size, count * size);
}
