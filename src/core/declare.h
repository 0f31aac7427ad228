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

struct migration;

/* Declares: registers a new component at once, puts a changed one into the migration, to be
** run by the caller. The desc's `was` is read until then. */
ecs_status declare(ecs_world *world, const ecs_component_desc *desc,
                   struct migration *migration, ecs_id *out);

/* Takes a component that no row has any more out of everything: its tables go, queries that
** name it break. Cannot fail. */
void declare_forget(ecs_world *world, struct component *component);

#endif
