#include "operations_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ids/world.h"
#include "core/storage/component.h"

static const char *const names[NAMES] = {"A", "B", "C", "D", "E", "F"};
static const char *const field_names[] = {"x", "y", "z", "kind", "of", "to"};

const char *take_name(struct machine *m) { return names[take_below(&m->in, NAMES)]; }

ecs_id take_component(struct machine *m) {
  uint8_t byte = take_byte(&m->in);
  if (byte >= 250) return m->ids[byte % KEPT];
  return ecs_component_find(m->world, names[byte % NAMES]);
}

/* One in 16 is a component, or no id at all. */
ecs_id take_entity(struct machine *m) {
  uint8_t byte = take_byte(&m->in);
  if (byte < 240) return m->ids[byte % KEPT];
  if (byte < 250) return ecs_component_find(m->world, names[byte % NAMES]);
  return (ecs_id)take_u32(&m->in) << (byte % 6 * 6);
}

size_t take_components(struct machine *m, ecs_id *list) {
  uint32_t count = take_below(&m->in, 5);
  for (uint32_t i = 0; i < count; i++) list[i] = take_component(m);
  return count;
}

/* ---- fields ---- */

static const char *const enums[][4] = {
  {"red", "green", "blue", NULL}, {"blue", "red", NULL, NULL}, {"red", NULL, NULL, NULL},
  {"red", "green", "blue", "grey"}
};

static void take_enum(struct machine *m, ecs_field *field) {
  field->names = enums[take_below(&m->in, 4)];
  while (field->name_count < 4 && field->names[field->name_count]) field->name_count++;
}

static double take_number(struct machine *m) {
  static const double special[] = {0, -0.0, 0.5, 1e30, 1e300, 16777217, 4294967296.0, 0};
  uint8_t byte = take_byte(&m->in);
  if (byte == 255) return (double)NAN;
  if (byte == 254) return (double)INFINITY;
  return byte < 240 ? (double)byte - 100 : special[byte % 8];
}

static int64_t take_integer(struct machine *m) {
  uint8_t byte = take_byte(&m->in);
  int64_t value = (int64_t)byte - 100;
  return byte < 230 ? value : value * (INT64_C(1) << (byte - 230) * 2);
}

static ecs_string take_text(struct machine *m) {
  static const char *const texts[] = {"", "red", "blue", "green", "a longer text", "zero\0byte"};
  uint32_t at = take_below(&m->in, 6);
  return (ecs_string){texts[at], at == 5 ? 9 : strlen(texts[at])};
}

static void take_default(struct machine *m, ecs_field *field) {
  ecs_value *value = &field->value;
  switch (take_below(&m->in, 8)) {
    case 0: *value = (ecs_value){.kind = ECS_KIND_NUMBER, .number = take_number(m)}; break;
    case 1: *value = (ecs_value){.kind = ECS_KIND_INTEGER, .integer = take_integer(m)}; break;
    case 2: *value = (ecs_value){.kind = ECS_KIND_STRING, .string = take_text(m)}; break;
    case 3: *value = (ecs_value){.kind = ECS_KIND_BOOL, .boolean = true}; break;
    default: break;
  }
}

/* One of the first types in their order. Some i64 are u64 instead, so that for all else the corpus
** means what it did before there were any. */
ecs_type take_type(struct machine *m, uint32_t count) {
  ecs_type type = (ecs_type)take_below(&m->in, count);
  return type == ECS_I64 && take_below(&m->in, 2) ? ECS_U64 : type;
}

static void take_field(struct machine *m, ecs_field *field) {
  memset(field, 0, sizeof *field);
  field->name = field_names[take_below(&m->in, 6)];
  field->type = take_type(m, ECS_NESTED + 1);
  uint32_t count = take_below(&m->in, 8);
  field->count = count > 4 ? count - 4 : 0;
  if (field->type == ECS_ENUM) take_enum(m, field);
  if (field->type == ECS_NESTED) field->nested = take_component(m);
  take_default(m, field);
}

void take_fields(struct machine *m, struct fields *fields) {
  fields->count = take_below(&m->in, MOST_FIELDS + 1);
  for (uint32_t i = 0; i < fields->count; i++) take_field(m, &fields->list[i]);
  uint8_t byte = take_byte(&m->in);
  fields->was_count = byte > 200 ? 2 : byte > 128;
  for (uint32_t i = 0; i < fields->was_count; i++) {
    fields->was[i].name = field_names[take_below(&m->in, 6)];
    fields->was[i].was = field_names[take_below(&m->in, 6)];
  }
  fields->old_name = byte % 8 == 6 ? take_name(m) : NULL;
  fields->toggle = byte % 8 == 4;
  fields->track = byte % 8 == 3;
  fields->required_count = byte % 8 == 5 ? (uint32_t)take_components(m, fields->required) : 0;
}

/* ---- queries ---- */

/* A component's name, at times with what asks for those who have it off, or where it has changed:
** by a byte that says the form as well. */
static void take_item(struct machine *m, uint8_t *form, char *text, size_t size) {
  const char *name = take_name(m), *state = "";
  const struct component *known = component_of(m->world, ecs_component_find(m->world, name));
  *form = take_byte(&m->in);
  if (known && known->toggle && *form >= 162) state = *form < 216 ? ":off" : ":any";
  if (known && known->track && *form >= 162) state = *form < 216 ? ":changed" : ":added";
  snprintf(text, size, "%s%s", name, state);
}

void take_query(struct machine *m, char *text, size_t size) {
  static const char *const around[][2] = {{"", ""},   {"!", ""},  {"", "?"},
                                          {"", ":in"}, {"", ".x"}, {"", "|A"},
                                          {"", ".z"}, {"with ", ""}, {"", ":in?"}};
  uint32_t count = take_below(&m->in, 3) + 1;
  size_t used = 0;
  for (uint32_t i = 0; i < count; i++) {
    char term[24], name[16];
    uint8_t form;
    take_item(m, &form, name, sizeof name);
    snprintf(term, sizeof term, "%s%s%s", around[form % 9][0], name, around[form % 9][1]);
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", term);
  }
}

/* ---- values ---- */

static void put_leaf(struct machine *m, const struct leaf *leaf, void *to) {
  ecs_cell cell = {0};
  switch (leaf->type) {
    case ECS_STRING: {
      ecs_string text = take_text(m);
      memcpy(to, &text, sizeof text);
      return;
    }
    case ECS_F32: cell.f32 = (float)take_number(m); break;
    case ECS_F64: cell.f64 = take_number(m); break;
    case ECS_BOOL: cell.u8 = take_byte(&m->in) & 1; break;
    case ECS_ENTITY: cell.u64 = take_entity(m); break;
    case ECS_ENUM: cell.u64 = take_below(&m->in, 5); break;
    case ECS_ANY: break;
    default: cell.u64 = (uint64_t)take_integer(m); break;
  }
  memcpy(to, &cell, leaf->size);
}

const void *take_value(struct machine *m, ecs_id id) {
  static union { char bytes[4096]; double align; } value;
  const struct component *component = component_of(m->world, id);
  if (!component || component->size > sizeof value) return NULL;
  memset(&value, 0, sizeof value);
  for (uint32_t i = 0; i < component->leaf_count; i++)
    put_leaf(m, &component->leaves[i], value.bytes + component->leaves[i].offset);
  return &value;
}
