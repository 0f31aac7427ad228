#include <math.h>

#include "core/change/convert.h"

#include "core/base/enumeration.h"
#include "core/base/text.h"
#include "core/base/value.h"
#include "core/entity/entity.h"
#include "core/storage/fields.h"
#include "core/ids/world.h"

/* An integer of any type, by what it is worth: its bits, or below zero what they are in two's
** complement. */
struct whole_number {
  uint64_t bits;
  bool below_zero;
};

static bool convert_is_float(ecs_type type) { return type_class(type) == CLASS_FLOAT; }

static bool convert_is_number(ecs_type type) {
  return type_is_number(type) || type_class(type) == CLASS_TRUTH;
}

bool convert_is_copy(const struct leaf *from, const struct leaf *to) {
  if (from->type != to->type || from->size != to->size) return false;
  return from->type != ECS_ENUM || enumeration_starts(to->names, from->names);
}

static struct whole_number whole_of_cell(const struct leaf *leaf, ecs_cell cell) {
  int64_t value = cell_integer(leaf->type, leaf->size, cell);
  return (struct whole_number){(uint64_t)value, value < 0 && type_is_signed(leaf->type)};
}

/* False when it is none, or beyond what 64 bits hold. */
static bool whole_of_float(double value, struct whole_number *whole) {
  if (!(value >= -0x1p63 && value < 0x1p64)) return false;
  whole->below_zero = value < 0;
  whole->bits = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
  return floor(value) == value;
}

static ecs_status whole_to_integer(const struct leaf *to, struct whole_number whole, ecs_cell *out) {
  const struct type *type = &type_table[to->type];
  bool fits = whole.below_zero ? (int64_t)whole.bits >= type->least : whole.bits <= type->most;
  *out = cell_of_bits(to->size, whole.bits);
  return fits ? ECS_OK : ECS_ERANGE;
}

static ecs_status whole_to_float(const struct leaf *to, struct whole_number whole, ecs_cell *out) {
  int64_t value = (int64_t)whole.bits;
  if (to->type == ECS_F32)
    out->f32 = whole.below_zero ? (float)value : (float)whole.bits;
  else
    out->f64 = whole.below_zero ? (double)value : (double)whole.bits;
  struct whole_number back;
  bool exact = whole_of_float(cell_float(to->size, *out), &back) && back.bits == whole.bits &&
               back.below_zero == whole.below_zero;
  return exact ? ECS_OK : ECS_ERANGE;
}

static ecs_status float_to_float(const struct leaf *to, double value, ecs_cell *out) {
  if (to->type == ECS_F64) {
    out->f64 = value;
    return ECS_OK;
  }
  out->f32 = (float)value;
  return isinf(out->f32) && !isinf(value) ? ECS_ERANGE : ECS_OK;
}

static ecs_status from_number(const struct leaf *from, const struct leaf *to, ecs_cell cell,
                              ecs_cell *out) {
  struct whole_number whole;
  if (convert_is_float(from->type)) {
    double value = cell_float(from->size, cell);
    if (convert_is_float(to->type)) return float_to_float(to, value, out);
    return whole_of_float(value, &whole) ? whole_to_integer(to, whole, out) : ECS_ERANGE;
  }
  whole = whole_of_cell(from, cell);
  return convert_is_float(to->type) ? whole_to_float(to, whole, out)
                                    : whole_to_integer(to, whole, out);
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
  if (convert_is_number(from->type) && convert_is_number(to->type))
    return from_number(from, to, cell, out);
  *out = to->value;
  if (from->type == ECS_ENTITY) cell.u64 = entity_target(world, cell.u64);
  return cell.u64 == 0 ? ECS_OK : ECS_ETYPE;
}

void convert_show(const ecs_world *world, const struct leaf *leaf, ecs_cell cell,
                  char *text, size_t size) {
  switch (type_class(leaf->type)) {
    case CLASS_FLOAT: text_format(text, size, "%g", cell_float(leaf->size, cell)); break;
    case CLASS_TRUTH: text_format(text, size, "%s", cell.u8 ? "true" : "false"); break;
    case CLASS_ID: text_format(text, size, SHOW_ID, cell.u64); break;
    case CLASS_SLOT: text_format(text, size, "a value"); break;
    case CLASS_NAMES:
    case CLASS_TEXT: {
      ecs_string name = name_in(world, leaf, cell);
      if (name.size > 64) name.size = 64;
      text_format(text, size, "'%.*s'", SHOW(name));
      break;
    }
    default: {
      struct whole_number whole = whole_of_cell(leaf, cell);
      if (whole.below_zero)
        text_format(text, size, "%lld", (long long)whole.bits);
      else
        text_format(text, size, "%llu", (unsigned long long)whole.bits);
      break;
    }
  }
}
