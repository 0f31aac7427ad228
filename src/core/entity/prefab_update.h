/* A prefab that is declared again, and what is made of it. */
#ifndef ECS_CORE_ENTITY_PREFAB_UPDATE_H
#define ECS_CORE_ENTITY_PREFAB_UPDATE_H

#include "core/base/base.h"

struct prefab_plan;

/* Stages what brings a prefab that there is to what its node says, and what it is made of from now
** on has; and, of the first node, all that are made of it: in fields that have the value which the
** prefab they are made of had, while that one follows, too; and with components that were added.
** What leads from one of its tree to another leads so in theirs. All nodes have their entities. */
ecs_status prefab_update(ecs_world *world, const struct prefab_plan *plan, uint32_t at);

/* Lets copies that are staged lead as the whole of what they are copied from leads; then what their
** nodes say is to come. */
ecs_status prefab_lead_copies(ecs_world *world, const struct prefab_plan *plan);

/* The child that is made of another entity; 0 for none. */
uint32_t prefab_child_made_of(const ecs_world *world, uint32_t parent, uint32_t source);

#endif
