/* What a world has besides entities: resources, arrays, events. */
#ifndef ECS_RESOURCE_H
#define ECS_RESOURCE_H

#include "ecs_component.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A resource: one value of a component, owned by the world. */
ECS_API ecs_status ecs_resource(ecs_world *world, ecs_id component);
ECS_API ecs_status ecs_resource_set(ecs_world *world, ecs_id component, const void *value);
ECS_API ecs_status ecs_resource_get(const ecs_world *world, ecs_id component, void *value);

/* Declares an array: a column of `length` cells (1 to 16,777,216) of a number type, bool or entity,
** which belongs to the world and not to an entity. It shares names with components. If it is
** already declared, it is found; with another type or length its values are kept by index and
** converted as those of components are, and new cells are 0. ECS_ERANGE names the element that
** would not fit, ECS_EBUSY is returned inside scopes; the array is then as it was. ecs_undeclare
** drops it. */
ECS_API ecs_status ecs_array(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                             ecs_id *out);

/* The cells of an array, and how many; NULL with a message if it is not an array. Valid until the
** array is declared with another type or length or undeclared, or the world is loaded. Ids in it
** may be of entities that have died: scripts read those as ECS_NULL. Write only values of the type:
** 0 or 1 for bool, living entities or ECS_NULL. */
ECS_API void *ecs_array_data(ecs_world *world, ecs_id array, size_t *length);

/* Declares an event: rows of the given fields that belong to the world and not to an entity. It
** shares names with components; desc->event need not be set. If it is already declared, it is
** found, or its rows are migrated as those of components are. ecs_undeclare drops it with its
** rows. */
ECS_API ecs_status ecs_event(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);

/* Emits an event, given its native struct (NULL for one without fields). It exists at once, not
** only when the scope ends; a scope that fails or is cancelled takes its events with it. A query
** whose first term names the event visits events in the order of emission, and a system with such a
** query gets each once. An event is dropped at the end of the update after its own (its own is the
** next one if it is emitted between updates), but not before every fixed phase and every system
** with an interval that reads it has been due once. Columns that an iterator gave still show the
** earlier events after another is emitted. */
ECS_API ecs_status ecs_emit(ecs_world *world, ecs_id event, const void *value);

/* Delays an event: it is emitted at the start of the first update by which that many seconds have
** passed in updates, not counting one in progress. A scope that fails drops it. */
ECS_API ecs_status ecs_after(ecs_world *world, double seconds, ecs_id event, const void *value);

#ifdef __cplusplus
}
#endif

#endif
