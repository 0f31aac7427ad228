/* Resources: one value of a component, owned by the world. Each leaf is a column of one row; that
** of an array has as many as it is long. */
#ifndef ECS_CORE_STORAGE_RESOURCE_H
#define ECS_CORE_STORAGE_RESOURCE_H

#include "core/base/base.h"

struct component;
struct write;

/* Gives the component its value, with defaults; no effect when it has one. */
ecs_status resource_new(ecs_world *world, struct component *component);
void resource_free(ecs_world *world, struct component *component);

/* Writes cells; replaced any slots are released. */
void resource_write(ecs_world *world, struct component *component,
                    const struct write *writes, uint32_t count);

#endif
