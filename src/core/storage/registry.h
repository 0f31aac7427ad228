/* The registry: which components there are, by index and by name. */
#ifndef ECS_CORE_STORAGE_REGISTRY_H
#define ECS_CORE_STORAGE_REGISTRY_H

#include "core/ids/world.h"
#include "core/base/hash_map.h"

struct component;

#define NAME_LIMIT 63u            /* bytes of a component's or field's name */

/* Enters a component into the index of names, in which there is room, and takes it out again. */
void component_enter_name(ecs_world *world, const struct component *component);
void component_leave_name(ecs_world *world, const struct component *component);

/* Gives a component an id and makes its name known. */
ecs_status registry_add(ecs_world *world, struct component *component);

/* Takes that back: nothing knows the component, which is freed, and none was added since. */
void registry_take_back(ecs_world *world, struct component *component);

/* registry_add with a given index, whose slot in the entity index is alive; after registry_reserve
** for that index, and registry_equip with its id, which makes what relations and sparse components
** need beside, it cannot fail. */
ecs_status registry_reserve(ecs_world *world, uint32_t index);
ecs_status registry_equip(ecs_world *world, struct component *component, ecs_id id);
void registry_enter(ecs_world *world, struct component *component, uint32_t index);

void registry_free(ecs_world *world);

#endif
