/* What the commands of a scope do to ties and names, and who dies of them. It is decided in the
** order in which the commands were given, over all entities, before any row moves, and can be taken
** back as long as none has. All that will die with an entity is found breadth first: relations by
** id, sources in their order. */
#ifndef ECS_CORE_COMMAND_CASCADE_H
#define ECS_CORE_COMMAND_CASCADE_H

#include "core/base/base.h"
#include "core/base/hash_map.h"
#include "core/ids/world.h"

/* Decides for all staged commands. A command that cannot apply is dropped, and the first reason
** is kept (staging_refuse). ECS_ENOMEM leaves ties and names as they were. */
ecs_status cascade_decide(ecs_world *world);

/* Ties and names are again what they were before cascade_decide. Cannot fail. */
void cascade_undo(ecs_world *world);

/* Nothing is decided any more. Cannot fail. */
void cascade_forget(struct cascade *cascade);

static inline bool cascade_takes(const struct cascade *cascade, uint32_t entity) {
  return cascade->count && entity / 64 < cascade->mark_capacity &&
         (cascade->marks[entity / 64] >> entity % 64 & 1);
}

void cascade_free(ecs_world *world);

/* The end of those who die by the commands of a scope, and of what was decided about it. */

/* After the rows have moved: ends those who die, in their order. Cannot fail. */
void cascade_finish(ecs_world *world);

/* cascade_finish where nothing is tied, so that nothing had to be decided. */
void cascade_none(ecs_world *world);

/* cascade_finish where every command ends an entity, and none was looked at. */
void cascade_ends(ecs_world *world);

#endif
