/* Arrays: columns that belong to the world. An array is registered as a component is, under a name
** and an id of its own, with a single leaf whose cells are its resource; but no entity can have it,
** and no field is made of it. */
#ifndef ECS_CORE_STORAGE_ARRAY_H
#define ECS_CORE_STORAGE_ARRAY_H

#include "core/base/base.h"

struct component;
struct ecs_component_desc;

#define ARRAY_FIELD "value"            /* what its leaf is called */
#define ARRAY_LENGTH_LIMIT 16777216u   /* up to there floats of every type count exactly */

/* Whether cells of a type can be those of an array: numbers, truth values, entities. */
bool array_takes(ecs_type type);

/* ECS_OK for what is no array's description, or a sound one's. */
ecs_status array_check_desc(const ecs_world *world, const struct ecs_component_desc *desc);

/* The array of an id, or a message that tells what it is instead; the id of the array of a name. */
ecs_status array_need(const ecs_world *world, ecs_id id, struct component **out);
ecs_status array_need_name(const ecs_world *world, const char *name, size_t size, ecs_id *out);

/* The invariants of one: ECS_OK or ECS_ECORRUPT. */
ecs_status array_check(const ecs_world *world, const struct component *array);

#endif
