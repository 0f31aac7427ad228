/* Between native structs, which hosts in C have, and cells. */
#ifndef ECS_CORE_ENTITY_NATIVE_H
#define ECS_CORE_ENTITY_NATIVE_H

#include "core/base/base.h"
#include "core/base/one_cell.h"

struct component;

/* Reads a component's native struct into a write for each of its leaves, in memory of the world's
** that is used again by the next call. */
ecs_status component_read_native(ecs_world *world, const struct component *component,
                                 const void *native, const struct write **out);

/* Puts the cell of one leaf into a native struct. */
void component_write_native(const ecs_world *world, const struct component *component,
                            uint32_t leaf, ecs_cell cell, void *native);

#endif
