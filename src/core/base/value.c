#include <math.h>

#include "core/base/text.h"
#include "core/base/value.h"

#define FEW_NAMES 8u   /* of an enumeration: found without buckets */
#define SEEDS 16u      /* cells that are stored one by one */
#define PIECE 4096u    /* bytes, a multiple of every cell's */

static const struct {
  const char *name;
  uint8_t size, code;
  int64_t least, most;   /* of integers */
} types[] = {
  [ECS_F32] = {"f32", 4, 0, 0, 0},
  [ECS_F64] = {"f64", 8, 1, 0, 0},
  [ECS_I8] = {"i8", 1, 2, INT8_MIN, INT8_MAX},
  [ECS_I16] = {"i16", 2, 3, INT16_MIN, INT16_MAX},
  [ECS_I32] = {"i32", 4, 4, INT32_MIN, INT32_MAX},
  [ECS_I64] = {"i64", 8, 5, INT64_MIN, INT64_MAX},
  [ECS_U8] = {"u8", 1, 6, 0, UINT8_MAX},
  [ECS_U16] = {"u16", 2, 7, 0, UINT16_MAX},
  [ECS_U32] = {"u32", 4, 8, 0, UINT32_MAX},
  [ECS_BOOL] = {"bool", 1, 9, 0, 1},
  [ECS_ENTITY] = {"entity", 8, 10, 0, 0},
  [ECS_STRING] = {"string", 4, 11, 0, 0},
  [ECS_ANY] = {"any", 4, 12, 0, 0},
  [ECS_ENUM] = {"enum", 1, 13, 0, 0},
  [ECS_NESTED] = {"component", 0, 14, 0, 0},
};

static bool is_named(const struct enumeration *names, uint32_t at, const char *text,
                     size_t size) {
  return names->names[at].size == size && memcmp(names->names[at].data, text, size) == 0;
}

static uint32_t find_in_order(const struct enumeration *names, uint32_t count, const char *text,
                              size_t size) {
  for (uint32_t i = 0; i < count; i++)
    if (is_named(names, i, text, size)) return i;
  return NONE;
}

/* The bucket that holds the name, or the empty one that is for it. */
static uint32_t *find_bucket(const struct enumeration *names, const char *text, size_t size) {
  uint32_t mask = names->bucket_count - 1, at = text_hash(text, size) & mask;
  while (names->buckets[at] && !is_named(names, names->buckets[at] - 1, text, size))
    at = (at + 1) & mask;
  return &names->buckets[at];
}

uint32_t enumeration_buckets(uint32_t count) {
  uint32_t buckets = 1;
  if (count <= FEW_NAMES) return 0;
  while (buckets < count * 2) buckets *= 2;
  return buckets;
}

bool enumeration_enter(const struct enumeration *names, uint32_t at) {
  const ecs_string *name = &names->names[at];
  if (names->bucket_count == 0) return find_in_order(names, at, name->data, name->size) == NONE;
  uint32_t *bucket = find_bucket(names, name->data, name->size);
  if (*bucket) return false;
  *bucket = at + 1;
  return true;
}

uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size) {
  if (names->bucket_count == 0) return find_in_order(names, names->count, text, size);
  return *find_bucket(names, text, size) - 1;
}

const char *type_name(ecs_type type) { return types[type].name; }

uint8_t type_code(ecs_type type) { return types[type].code; }

bool type_of_code(uint8_t code, ecs_type *type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].code == code) return *type = (ecs_type)i, true;
  return false;
}

uint32_t type_size(ecs_type type, const struct enumeration *names) {
  return type == ECS_ENUM && names->count > 256 ? 2 : types[type].size;
}

bool number_is_integer(double value, int64_t *integer) {
  if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0)) return false;
  *integer = (int64_t)value;
  return (double)*integer == value;
}

bool number_fits_float(int64_t integer) {
  int64_t back;
  return number_is_integer((double)integer, &back) && back == integer;
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
