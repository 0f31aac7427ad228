/* Building a component from its description. */
#ifndef ECS_CORE_DECLARE_H
#define ECS_CORE_DECLARE_H

#include "component.h"

/* Checks a description and lays its leaves out, in memory of the component's own arena. It
** has no id and is not registered. */
ecs_status declare_build(ecs_world *world, const ecs_component_desc *desc,
                         struct component **out);

/* Whether two components have the same fields: names, types, defaults, native layout. */
bool declare_same(const struct component *a, const struct component *b);

/* Gives it an id and makes its name known. */
ecs_status declare_register(ecs_world *world, struct component *component);

/* Forgets a component: every entity loses it, tables with it go, queries break. */
ecs_status declare_remove(ecs_world *world, struct component *component);

#endif
