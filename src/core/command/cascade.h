/* Decides what the commands of a scope do to ties and names, and what dies because of them: in the
** order of the commands, over all entities, before any row moves. Until then it can be undone.
**
** What dies with an entity is found breadth first: relations by id, sources in order. */
#ifndef ECS_CORE_COMMAND_CASCADE_H
#define ECS_CORE_COMMAND_CASCADE_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/ids/world.h"

/* Decides all staged commands. Drops each one that cannot apply and keeps the first reason
** (staging_refuse). With ECS_ENOMEM, ties and names are unchanged. */
ecs_status cascade_decide(ecs_world *world);

/* Restores ties and names as they were before cascade_decide. Cannot fail. */
void cascade_undo(ecs_world *world);

static inline bool cascade_takes(const struct cascade *cascade, uint32_t entity) {
  return cascade->count && entity / 64 < cascade->mark_capacity &&
         (cascade->marks[entity / 64] >> entity % 64 & 1);
}

void cascade_free(ecs_world *world);

/* The deaths that a scope's commands cause. */

/* Kills what was decided, in order, after the rows have moved. Cannot fail. */
void cascade_finish(ecs_world *world);

/* As cascade_finish, if there are no ties and nothing had to be decided. */
void cascade_none(ecs_world *world);

/* As cascade_finish, if every command is a despawn and none was examined. */
void cascade_ends(ecs_world *world);

#endif
