/* Declaring arrays. */
#ifndef ECS_CORE_CHANGE_DECLARE_ARRAY_H
#define ECS_CORE_CHANGE_DECLARE_ARRAY_H

#include "core/base/base.h"
#include "ecs_component.h"

/* What an array is as a component's description; the field must live as long as that. */
void declare_array_describe(ecs_component_desc *desc, ecs_field *field, const char *name,
                            ecs_type type, uint32_t length);

#endif
