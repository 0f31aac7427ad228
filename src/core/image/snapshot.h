/* Snapshots: a world's content copied aside, column by column. */
#ifndef ECS_CORE_IMAGE_SNAPSHOT_H
#define ECS_CORE_IMAGE_SNAPSHOT_H

#include "core/base/base.h"
#include "ecs_image.h"

/* Says whom a snapshot belongs to; frees all that belong to somebody. */
void snapshot_set_owner(ecs_snapshot *snapshot, void *owner);
void snapshots_free_of(ecs_world *world, const void *owner);

#endif
