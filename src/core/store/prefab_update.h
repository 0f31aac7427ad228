/* A prefab that is declared again, and what is made of it. */
#ifndef ECS_CORE_STORE_PREFAB_UPDATE_H
#define ECS_CORE_STORE_PREFAB_UPDATE_H

#include "core/base/base.h"

struct prefab_node;

/* Stages what brings a prefab to what its declaration says now, and its base has, of which it is
** made from now on (ECS_NULL for nothing); and, if they follow, all that are made of it: in fields
** that have the value which the prefab they are made of had, while that one follows, too; and with
** components that were added. What leads from one of its tree to another leads so in theirs. */
ecs_status prefab_update(ecs_world *world, ecs_id entity, const struct prefab_node *node,
                         ecs_id base, bool follows);

#endif
