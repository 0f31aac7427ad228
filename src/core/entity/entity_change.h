/* Adding a component to an entity, and removing one. Inside a scope these stage. */
#ifndef ECS_CORE_ENTITY_ENTITY_CHANGE_H
#define ECS_CORE_ENTITY_ENTITY_CHANGE_H

#include "core/base/base.h"

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component);
ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component);

#endif
