#include <math.h>

#include "core/change/convert.h"

#include "core/store/world.h"

static bool is_float(ecs_type type) { return type == ECS_F32 || type == ECS_F64; }
static bool is_number(ecs_type type) { return type <= ECS_BOOL; }

static bool same_names(const struct enumeration *a, const struct enumeration *b) {
  if (a->count > b->count) return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->names[i].size != b->names[i].size ||
        memcmp(a->names[i].data, b->names[i].data, a->names[i].size) != 0)
      return false;
  return true;
}

bool convert_is_copy(const struct leaf *from, const struct leaf *to) {
  if (from->type != to->type || from->size != to->size) return false;
  return from->type != ECS_ENUM || same_names(from->names, to->names);
}

static double float_of(ecs_type type, ecs_cell cell) {
  return type == ECS_F32 ? (double)cell.f32 : cell.f64;
}

static ecs_status from_float(const struct leaf *to, double value, ecs_cell *out) {
  if (to->type == ECS_F32) {
    out->f32 = (float)value;
    return isinf(out->f32) && !isinf(value) ? ECS_ERANGE : ECS_OK;
  }
  if (to->type == ECS_BOOL) {
    out->u8 = value == 1;
    return value == 0 || value == 1 ? ECS_OK : ECS_ERANGE;
  }
  return cell_of_number(to->type, value, out) == ECS_OK ? ECS_OK : ECS_ERANGE;
}

static ecs_status from_integer(const struct leaf *to, int64_t value, ecs_cell *out) {
  if (to->type == ECS_BOOL) {
    out->u8 = value == 1;
    return value == 0 || value == 1 ? ECS_OK : ECS_ERANGE;
  }
  ecs_status status = cell_of_integer(to->type, value, out);
  if (status != ECS_OK || !is_float(to->type)) return status;
  int64_t back;
  bool exact = number_is_integer(float_of(to->type, *out), &back) && back == value;
  return exact ? ECS_OK : ECS_ERANGE;
}

static ecs_string name_in(const ecs_world *world, const struct leaf *leaf, ecs_cell cell) {
  if (leaf->type == ECS_STRING) return intern_text(&world->strings, cell.u32);
  return leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
}

static ecs_status from_name(ecs_world *world, const struct leaf *to, ecs_string name,
                            ecs_cell *out) {
  if (to->type == ECS_STRING) {
    ecs_status status =
        intern(&world->strings, &world->memory, name.data, name.size, &out->u32);
    return status == ECS_ENOMEM ? ECS_ENOMEM : status == ECS_OK ? ECS_OK : ECS_ERANGE;
  }
  uint32_t at = enumeration_find(to->names, name.data, name.size);
  if (to->size == 1)
    out->u8 = (uint8_t)at;
  else
    out->u16 = (uint16_t)at;
  return at == NONE ? ECS_ERANGE : ECS_OK;
}

ecs_status convert_cell(ecs_world *world, const struct leaf *from, const struct leaf *to,
                        ecs_cell cell, ecs_cell *out) {
  bool named = from->type == ECS_ENUM || from->type == ECS_STRING;
  bool to_named = to->type == ECS_ENUM || to->type == ECS_STRING;
  out->u64 = 0;
  if (from->type == to->type && from->type != ECS_ENUM) {
    *out = cell;
    return ECS_OK;
  }
  if (named && to_named) return from_name(world, to, name_in(world, from, cell), out);
  if (is_number(from->type) && is_number(to->type)) {
    if (is_float(from->type)) return from_float(to, float_of(from->type, cell), out);
    return from_integer(to, cell_integer(from->type, from->size, cell), out);
  }
  *out = to->value;
  if (from->type == ECS_ENTITY) cell.u64 = entity_target(world, cell.u64);
  return cell.u64 == 0 ? ECS_OK : ECS_ETYPE;
}

void convert_show(const ecs_world *world, const struct leaf *leaf, ecs_cell cell,
                  char *text, size_t size) {
  switch (leaf->type) {
    case ECS_F32:
    case ECS_F64: text_format(text, size, "%g", float_of(leaf->type, cell)); break;
    case ECS_BOOL: text_format(text, size, "%s", cell.u8 ? "true" : "false"); break;
    case ECS_ENTITY: text_format(text, size, "%e", cell.u64); break;
    case ECS_ANY: text_format(text, size, "a value"); break;
    case ECS_ENUM:
    case ECS_STRING: {
      ecs_string name = name_in(world, leaf, cell);
      if (name.size > 64) name.size = 64;
      text_format(text, size, "'%S'", &name);
      break;
    }
    default: text_format(text, size, "%d", cell_integer(leaf->type, leaf->size, cell)); break;
  }
}
