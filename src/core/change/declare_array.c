#include "core/change/declare_array.h"

#include "core/storage/array.h"
#include "core/ids/world.h"
#include "ecs_resource.h"

void declare_array_describe(ecs_component_desc *desc, ecs_field *field, const char *name,
                            ecs_type type, uint32_t length) {
  *field = (ecs_field){.name = ARRAY_FIELD, .type = type};
  *desc = (ecs_component_desc){.name = name, .fields = field, .field_count = 1, .length = length};
}

ecs_status ecs_array(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                     ecs_id *out) {
  ecs_field field;
  ecs_component_desc desc;
  if (length == 0)
    return world_fail(world, ECS_ELIMIT, "array '%s': it has 1 to %u elements, got 0",
                      name ? name : "", ARRAY_LENGTH_LIMIT);
  declare_array_describe(&desc, &field, name, type, length);
  return ecs_component(world, &desc, out);
}
