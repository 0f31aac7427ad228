/* Building a component from its description. */
#ifndef ECS_CORE_CHANGE_DECLARE_H
#define ECS_CORE_CHANGE_DECLARE_H

#include "core/base/base.h"
#include "ecs_component.h"

struct component;
struct migration;

#define LEAF_LIMIT 4096u          /* leaf fields of one component */
#define NESTING_LIMIT 6u          /* components inside components */

/* Checks a description and lays its leaves out, in memory of the component's own arena. It
** has no id and is not registered. What it requires is taken as it is. */
ecs_status declare_build(ecs_world *world, const ecs_component_desc *desc,
                         struct component **out);

/* Builds a component like one of `from` (the same world, or another), made of the components
** that this world's registry has under the same ids. */
ecs_status redeclare(ecs_world *world, const ecs_world *from, const struct component *like,
                     struct component **out);

/* What a component requires from now on, in memory of its arena; duplicates are dropped. False
** without memory. */
bool declare_requirements(ecs_world *world, struct component *component, const ecs_id *ids,
                          uint32_t count);

/* Whether two components require the same. */
bool declare_requires_same(const struct component *a, const struct component *b);

/* Whether two components, each of its world, have the same fields (names, types, defaults, native
** layout), are kept in the same way, require the same and can both be switched off or not. */
bool declare_same(const ecs_world *a_world, const struct component *a,
                  const ecs_world *b_world, const struct component *b);

/* When they have so, the native layout excepted, gives that of `from` to a component in no table.
** Images know no native layout. */
void declare_lay_out_as(ecs_world *world, struct component *component,
                        const ecs_world *from_world, const struct component *from);

/* Declares: registers a new component at once, puts a changed one into the migration, to be
** run by the caller. */
ecs_status declare(ecs_world *world, const ecs_component_desc *desc,
                   struct migration *migration, ecs_id *out);

/* The description of a tag: one that is there stays what it is. Refuses to make one of a
** component that has fields, as a migration (NULL: no) leaves it: that takes a declaration that
** says so. */
ecs_status declare_as_tag(ecs_world *world, const struct migration *migration, const char *name,
                       ecs_component_desc *desc);

/* ECS_ETAKEN when a name is what another component than `self` was called, unless nobody declares
** that one any more. */
ecs_status declare_check_name(const ecs_world *world, const char *name,
                              const struct component *self);

/* Takes a component that no row has any more out of everything: its tables go, queries that
** name it break. Cannot fail. */
void declare_forget(ecs_world *world, struct component *component);

/* Declaring arrays. */

/* What an array is as a component's description; the field must live as long as that. */
void declare_array_describe(ecs_component_desc *desc, ecs_field *field, const char *name,
                            ecs_type type, uint32_t length);

/* Whether the options of a description go together. */

/* Those of components, relations and arrays, by themselves: ECS_OK, or ECS_EINVAL and the like with
** what is wrong. The description has a name. */
ecs_status declare_check_options(const ecs_world *world, const ecs_component_desc *desc);

#endif
