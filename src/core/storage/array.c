#include "core/storage/array.h"

#include "core/base/nearest.h"
#include "core/storage/array_cells.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/world/check.h"
#include "core/storage/component.h"
#include "core/ids/world.h"
#include "ecs_component.h"
#include "ecs_resource.h"

bool array_takes(ecs_type type) {
  return type_is_number(type) || type_class(type) == CLASS_TRUTH || type_class(type) == CLASS_ID;
}

static bool array_is_plain(const ecs_component_desc *desc) {
  return desc->field_count == 1 && !desc->native_size && !desc->relation && !desc->toggle &&
         !desc->track && !desc->sparse && !desc->required_count && !desc->was_count &&
         !desc->old_name;
}

ecs_status array_check_desc(const ecs_world *world, const ecs_component_desc *desc) {
  if (desc->length == 0) return ECS_OK;
  if (desc->length > ARRAY_LENGTH_LIMIT)
    return world_fail(world, ECS_ELIMIT, "array '%s': it has 1 to %u elements, got %u", desc->name,
                      ARRAY_LENGTH_LIMIT, desc->length);
  if (!array_is_plain(desc))
    return world_fail(world, ECS_EINVAL, "array '%s' has more than a type and a length",
                      desc->name);
  const ecs_field *field = &desc->fields[0];
  bool single = field->count == 0 && field->value.kind == ECS_KIND_NONE;
  if (type_is_known(field->type) && array_takes(field->type) && single && field->name &&
      strcmp(field->name, ARRAY_FIELD) == 0)
    return ECS_OK;
  return world_fail(world, ECS_EINVAL, "array '%s': its type is a number's (f32 to u64), bool or "
                    "entity", desc->name);
}

static ecs_status array_no_array(const ecs_world *world, const struct component *component) {
  return world_fail(world, ECS_EINVAL, "'%s' is %s, not an array", component->name,
                    component->is_event ? "an event" : component->ties.relation ? "a relation"
                    : component->leaf_count ? "a component" : "a tag");
}

ecs_status array_need(const ecs_world *world, ecs_id id, struct component **out) {
  ecs_status status = component_need_any(world, id, out);
  return status == ECS_OK && (*out)->length == 0 ? array_no_array(world, *out) : status;
}

ecs_status array_need_name(const ecs_world *world, const char *name, size_t size, ecs_id *out) {
  const struct component *found = component_find(world, name, size);
  if (found && !found->length) return array_no_array(world, found);
  *out = found ? found->id : ECS_NULL;
  if (found) return ECS_OK;
  ecs_string text = {name, size};
  struct nearest nearest;
  nearest_begin(&nearest, name, size);
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *known = world->registry.components[i];
    if (known && known->length) nearest_offer(&nearest, known->name, known->name_size);
  }
  char hint[96];
  return world_fail(world, ECS_ENAME, "unknown array '%.*s'%s", SHOW(text),
                    nearest_hint(&nearest, hint, sizeof hint));
}

void *ecs_array_data(ecs_world *world, ecs_id id, size_t *length) {
  struct component *array;
  world_be_sure(world);
  *length = 0;
  if (array_need(world, id, &array) != ECS_OK) return NULL;
  *length = array->length;
  return array_data(array);
}

ecs_status array_check(const ecs_world *world, const struct component *array) {
  bool sound = array->leaf_count == 1 && array->resource && array->length <= ARRAY_LENGTH_LIMIT &&
               !array->ties.relation && !array->is_sparse && array->require_count == 0;
  if (!sound || !array_takes(array_type(array)))
    return world_fail(world, ECS_ECORRUPT, "array '%s' is none", array->name);
  const uint8_t *truths = array_data(array);
  for (uint32_t i = 0; array_type(array) == ECS_BOOL && i < array->length; i++)
    if (truths[i] > 1)
      return world_fail(world, ECS_ECORRUPT, "array '%s' has a truth value that is none",
                        array->name);
  return ECS_OK;
}
