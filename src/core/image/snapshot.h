/* Snapshots: a world's content copied aside, column by column. */
#ifndef ECS_CORE_IMAGE_SNAPSHOT_H
#define ECS_CORE_IMAGE_SNAPSHOT_H

#include "core/base/base.h"

/* Who a snapshot belongs to, for the host. */
void *snapshot_owner(const ecs_snapshot *snapshot);
void snapshot_set_owner(ecs_snapshot *snapshot, void *owner);
ecs_snapshot *snapshot_next(const ecs_snapshot *snapshot);

/* Marks the strings of snapshots that can still be restored. */
void snapshots_mark_strings(ecs_world *world);

#endif
