#include "core/change/declare_check.h"

#include "core/storage/array.h"
#include "core/storage/event.h"
#include "core/ids/world.h"

/* What an exclusive relation begins with. */
static bool declare_is_target(const ecs_field *field) {
  return strcmp(field->name, "target") == 0 && field->type == ECS_ENTITY && !field->count &&
         field->value.kind == ECS_KIND_NONE;
}

static ecs_status declare_check_relation(const ecs_world *world, const ecs_component_desc *desc) {
  if (!desc->relation && (desc->exclusive || desc->acyclic))
    return world_fail(world, ECS_EINVAL, "component '%s' is no relation: only those are "
                      "exclusive or acyclic", desc->name);
  if (!desc->relation) return ECS_OK;
  if (desc->toggle)
    return world_fail(world, ECS_EINVAL, "relation '%s' takes no toggle: only components and tags "
                      "are switched off", desc->name);
  if (desc->sparse)
    return world_fail(world, ECS_EINVAL, "relation '%s' cannot be sparse: only components and tags "
                      "can", desc->name);
  if (desc->acyclic && !desc->exclusive)
    return world_fail(world, ECS_EINVAL, "relation '%s' is acyclic and not exclusive; only "
                      "exclusive ones can be", desc->name);
  if (desc->exclusive && (desc->field_count == 0 || !declare_is_target(&desc->fields[0])))
    return world_fail(world, ECS_EINVAL, "exclusive relation '%s' does not begin with a field "
                      "'target' of type entity", desc->name);
  for (uint32_t i = desc->exclusive; i < desc->field_count; i++)
    if (desc->fields[i].name && strcmp(desc->fields[i].name, "target") == 0)
      return world_fail(world, ECS_EINVAL, "relation '%s': a field cannot be called 'target', "
                        "which is what the entity is tied to", desc->name);
  return ECS_OK;
}

ecs_status declare_check_options(const ecs_world *world, const ecs_component_desc *desc) {
  ecs_status status = event_check_desc(world, desc);
  if (status == ECS_OK) status = array_check_desc(world, desc);
  return status == ECS_OK ? declare_check_relation(world, desc) : status;
}
