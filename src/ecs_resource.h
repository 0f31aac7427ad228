/* What a world has beside entities: resources, arrays, events. */
#ifndef ECS_RESOURCE_H
#define ECS_RESOURCE_H

#include "ecs_component.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One value of a component, owned by the world. */
ECS_API ecs_status ecs_resource(ecs_world *world, ecs_id component);
ECS_API ecs_status ecs_resource_set(ecs_world *world, ecs_id component, const void *value);
ECS_API ecs_status ecs_resource_get(const ecs_world *world, ecs_id component, void *value);

/* Declares an array: a column of `length` cells (1 to 16,777,216) of a number type, bool or entity,
** that belongs to the world and no entity has. Its name is one among those of components. Declared
** again it is found; with another type or length its values are kept by index, converted as those
** of components are, and what is new is 0. ECS_ERANGE names the element that would not fit,
** ECS_EBUSY comes inside scopes; the array is then as it was. ecs_undeclare drops it. */
ECS_API ecs_status ecs_array(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                             ecs_id *out);

/* The cells of an array and how many they are; NULL with a message when it is none. Good until it
** is declared with another type or length or undeclared, or the world is loaded. Ids in it may be
** of entities that have died since: scripts read those as ECS_NULL. What is written must be values
** of the type: 0 or 1 for bool, living entities or ECS_NULL. */
ECS_API void *ecs_array_data(ecs_world *world, ecs_id array, size_t *length);

/* Declares an event: rows of the fields that belong to the world and that no entity has. Its name
** is one among those of components; desc->event need not be set. Declared again it is found, or its
** rows are migrated as those of components are. ecs_undeclare drops it with its rows. */
ECS_API ecs_status ecs_event(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* Emits one, with the event's native struct (NULL for one without fields). It is there at once, not
** when the scope ends; what a scope that fails or is cancelled has emitted is dropped with it. A
** query whose first term names the event goes through them in the order of emission, and a system
** with such a query is given each of them once. One is dropped when the update behind its own has
** ended (emitted between updates, its own is the next), but not before each fixed phase and each
** system with an interval that reads it was due once. Columns that an iterator has given go on
** showing the events that were there when one more is emitted. */
ECS_API ecs_status ecs_emit(ecs_world *world, ecs_id event, const void *value);

/* Puts one off: it is emitted at the beginning of the first update by which so many seconds have
** passed in updates, not counting one that is under way. A scope that fails drops it. */
ECS_API ecs_status ecs_after(ecs_world *world, double seconds, ecs_id event, const void *value);

#ifdef __cplusplus
}
#endif

#endif
