/* Declaring once more what is declared already, here or in another world. */
#include "core/change/declare.h"
#include "core/store/entity.h"
#include "core/store/world.h"

/* An entity that does not live there is none. */
static ecs_value value_of(const ecs_world *there, const ecs_world *world,
                          const struct leaf *leaf) {
  ecs_value value = {0};
  ecs_cell cell = leaf->value;
  switch (type_class(leaf->type)) {
    case CLASS_ID:
      value.kind = ECS_KIND_INTEGER;
      value.integer = (int64_t)entity_target(there, entity_target(world, cell.u64));
      break;
    case CLASS_FLOAT:
      value.kind = ECS_KIND_NUMBER;
      value.number = cell_float(leaf->size, cell);
      break;
    case CLASS_TRUTH:
      value.kind = ECS_KIND_BOOL;
      value.boolean = cell.u8 != 0;
      break;
    case CLASS_TEXT:
      value.kind = ECS_KIND_STRING;
      value.string = intern_text(&world->strings, cell.u32);
      break;
    case CLASS_NAMES:
      value.kind = ECS_KIND_STRING;
      value.string = leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
      break;
    case CLASS_INTEGER:
      value.kind = ECS_KIND_INTEGER;
      value.integer = cell_integer(leaf->type, leaf->size, cell);
      break;
    default: break;
  }
  return value;
}

static ecs_status describe_field(ecs_world *world, const ecs_world *from,
                                 struct arena *arena, const struct component *component,
                                 uint32_t at, ecs_field *out) {
  const struct field *field = &component->fields[at];
  *out = (ecs_field){.name = field->name, .type = field->type, .count = field->count,
                     .offset = field->offset, .doc = field->doc, .unit = field->unit,
                     .min = field->min, .max = field->max, .text = field->text};
  if (field->nested) out->nested = field->nested->id;
  if (field->has_value) out->value = value_of(world, from, &component->leaves[field->first_leaf]);
  if (!field->names) return ECS_OK;
  const char **names =
      arena_take(&world->memory, arena, field->names->count * sizeof *names);
  if (!names) return world_nomem(world);
  for (uint32_t i = 0; i < field->names->count; i++) names[i] = field->names->names[i].data;
  out->names = names;
  out->name_count = field->names->count;
  return ECS_OK;
}

ecs_status redeclare(ecs_world *world, const ecs_world *from, const struct component *like,
                     struct component **out) {
  struct arena arena = {NULL};
  ecs_field *fields =
      arena_take(&world->memory, &arena, like->field_count * sizeof *fields);
  ecs_status status = fields ? ECS_OK : world_nomem(world);
  assert(fields || status != ECS_OK);
  for (uint32_t i = 0; i < like->field_count && status == ECS_OK; i++)
    status = describe_field(world, from, &arena, like, i, &fields[i]);
  ecs_component_desc desc = {.name = like->name, .fields = fields,
                             .field_count = like->field_count,
                             .native_size = like->native ? like->size : 0,
                             .doc = like->doc, .was = like->was,
                             .was_count = like->was_count, .required = like->requires,
                             .required_count = like->require_count,
                             .relation = like->ties.relation,
                             .exclusive = like->ties.exclusive,
                             .acyclic = like->ties.acyclic,
                             .on_target_despawn = like->ties.policy};
  if (status == ECS_OK) status = declare_build(world, &desc, out);
  arena_free(&world->memory, &arena);
  return status;
}
