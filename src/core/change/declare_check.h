/* Whether the options of a description go together. */
#ifndef ECS_CORE_CHANGE_DECLARE_CHECK_H
#define ECS_CORE_CHANGE_DECLARE_CHECK_H

#include "core/base/base.h"
#include "ecs_component.h"

/* Those of components, relations and arrays, by themselves: ECS_OK, or ECS_EINVAL and the like with
** what is wrong. The description has a name. */
ecs_status declare_check_options(const ecs_world *world, const ecs_component_desc *desc);

#endif
