/* Builds a component from its description. */
#ifndef ECS_CORE_CHANGE_DECLARE_H
#define ECS_CORE_CHANGE_DECLARE_H

#include "core/base/base.h"
#include "ecs_component.h"

struct component;
struct migration;

#define LEAF_LIMIT 4096u          /* leaf fields of one component */
#define NESTING_LIMIT 6u          /* levels of components inside components */

/* Checks a description and lays out its leaves in the component's own arena. The component has no
** id and is not registered. Its requirements are taken over unchecked. */
ecs_status declare_build(ecs_world *world, const ecs_component_desc *desc,
                         struct component **out);

/* Builds a component like one of `from` (this world or another), with nested components that this
** world's registry has under the same ids. */
ecs_status redeclare(ecs_world *world, const ecs_world *from, const struct component *like,
                     struct component **out);

/* Sets what a component requires, in its arena, without duplicates. False when out of memory. */
bool declare_requirements(ecs_world *world, struct component *component, const ecs_id *ids,
                          uint32_t count);

/* Whether two components require the same. */
bool declare_requires_same(const struct component *a, const struct component *b);

/* Whether two components, each of its own world, have the same fields (names, types, defaults,
** native layout), storage, requirements and toggle. */
bool declare_same(const ecs_world *a_world, const struct component *a,
                  const ecs_world *b_world, const struct component *b);

/* Gives a component that is in no table the native layout of `from`, which is otherwise the same.
** Images have no native layout. */
void declare_lay_out_as(ecs_world *world, struct component *component,
                        const ecs_world *from_world, const struct component *from);

/* Declares a component: registers a new one at once; adds a changed one to the migration, which the
** caller runs. */
ecs_status declare(ecs_world *world, const ecs_component_desc *desc,
                   struct migration *migration, ecs_id *out);

/* Describes a tag; an existing one stays as it is. Fails for a component with fields, as the
** migration leaves it if there is one: dropping fields takes an explicit declaration. */
ecs_status declare_as_tag(ecs_world *world, const struct migration *migration, const char *name,
                       ecs_component_desc *desc);

/* ECS_ETAKEN if another component than `self` had this name before and is still declared. */
ecs_status declare_check_name(const ecs_world *world, const char *name,
                              const struct component *self);

/* Removes a component without rows: its tables go, and queries that name it break. Cannot fail. */
void declare_forget(ecs_world *world, struct component *component);

/* Declaring arrays. */

/* Describes an array as a component; the field must live as long as the description. */
void declare_array_describe(ecs_component_desc *desc, ecs_field *field, const char *name,
                            ecs_type type, uint32_t length);

#endif
