#include "core/base/types.h"

#include "core/base/column.h"
#include "core/base/text.h"

const struct type type_table[] = {
  [ECS_F32] = {"f32", 4, CLASS_FLOAT, 0, COLUMN_F32, 0, 0},
  [ECS_F64] = {"f64", 8, CLASS_FLOAT, 1, COLUMN_F64, 0, 0},
  [ECS_I8] = {"i8", 1, CLASS_INTEGER, 2, COLUMN_I8, INT8_MIN, INT8_MAX},
  [ECS_I16] = {"i16", 2, CLASS_INTEGER, 3, COLUMN_I16, INT16_MIN, INT16_MAX},
  [ECS_I32] = {"i32", 4, CLASS_INTEGER, 4, COLUMN_I32, INT32_MIN, INT32_MAX},
  [ECS_I64] = {"i64", 8, CLASS_INTEGER, 5, COLUMN_I64, INT64_MIN, INT64_MAX},
  [ECS_U8] = {"u8", 1, CLASS_INTEGER, 6, COLUMN_U8, 0, UINT8_MAX},
  [ECS_U16] = {"u16", 2, CLASS_INTEGER, 7, COLUMN_U16, 0, UINT16_MAX},
  [ECS_U32] = {"u32", 4, CLASS_INTEGER, 8, COLUMN_U32, 0, UINT32_MAX},
  [ECS_BOOL] = {"bool", 1, CLASS_TRUTH, 9, COLUMN_BOOL, 0, 1},
  [ECS_ENTITY] = {"entity", 8, CLASS_ID, 10, COLUMN_ENTITY, 0, 0},
  [ECS_STRING] = {"string", 4, CLASS_TEXT, 11, COLUMN_NONE, 0, 0},
  [ECS_ANY] = {"any", 4, CLASS_SLOT, 12, COLUMN_NONE, 0, 0},
  [ECS_ENUM] = {"enum", 1, CLASS_NAMES, 13, COLUMN_NONE, 0, 0},
  [ECS_U64] = {"u64", 8, CLASS_INTEGER, 15, COLUMN_I64, 0, UINT64_MAX},
  [ECS_NESTED] = {"component", 0, CLASS_PART, 14, COLUMN_NONE, 0, 0},
};

#define TYPES (sizeof type_table / sizeof *type_table)

bool type_is_known(ecs_type type) { return (size_t)type < TYPES; }

bool type_of_code(uint8_t code, ecs_type *type) {
  for (size_t i = 0; i < TYPES; i++)
    if (type_table[i].code == code) return *type = (ecs_type)i, true;
  return false;
}

bool type_of_name(const char *name, ecs_type *type) {
  for (size_t i = 0; i < TYPES; i++) {
    if (type_table[i].class == CLASS_PART || strcmp(type_table[i].name, name) != 0) continue;
    *type = (ecs_type)i;
    return true;
  }
  return false;
}

const char *type_name_at(uint32_t at) {
  for (size_t i = 0; i < TYPES; i++)
    if (type_table[i].class != CLASS_PART && at-- == 0) return type_table[i].name;
  return NULL;
}

/* ---- enumeration ---- */

#define FEW_NAMES 8u   /* names that are found without buckets */

static bool types_is_named(const struct enumeration *names, uint32_t at, const char *text,
                           size_t size) {
  return text_same(names->names[at], (ecs_string){text, size});
}

static uint32_t types_find_in_order(const struct enumeration *names, uint32_t count,
                                    const char *text, size_t size) {
  for (uint32_t i = 0; i < count; i++)
    if (types_is_named(names, i, text, size)) return i;
  return NONE;
}

/* The bucket of the name, or the empty one for it. */
static uint32_t *types_find_bucket(const struct enumeration *names, const char *text, size_t size) {
  assert(names->bucket_count > names->count);
  uint32_t mask = names->bucket_count - 1, at = text_hash(text, size) & mask;
  while (names->buckets[at] && !types_is_named(names, names->buckets[at] - 1, text, size))
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
  assert(at < names->count);
  const ecs_string *name = &names->names[at];
  if (names->bucket_count == 0)
    return types_find_in_order(names, at, name->data, name->size) == NONE;
  uint32_t *bucket = types_find_bucket(names, name->data, name->size);
  if (*bucket) return false;
  *bucket = at + 1;
  return true;
}

uint32_t enumeration_find(const struct enumeration *names, const char *text, size_t size) {
  if (names->bucket_count == 0) return types_find_in_order(names, names->count, text, size);
  return *types_find_bucket(names, text, size) - 1;
}

bool enumeration_starts(const struct enumeration *names, const struct enumeration *with) {
  if (with->count > names->count) return false;
  for (uint32_t i = 0; i < with->count; i++)
    if (!text_same(with->names[i], names->names[i])) return false;
  return true;
}

bool enumeration_same(const struct enumeration *a, const struct enumeration *b) {
  if (a == b) return true;
  return a && b && a->count == b->count && enumeration_starts(a, b);
}
