/* What staged commands make of the set of ids that an entity has. */
#ifndef ECS_CORE_COMMAND_MERGE_H
#define ECS_CORE_COMMAND_MERGE_H

#include "core/command/command.h"

/* Whether it changes no set of ids, only what is on. */
static inline bool command_is_switch(const struct command *command) {
  return command->kind == COMMAND_ENABLE || command->kind == COMMAND_DISABLE;
}

/* Whether its entity dies by it. */
static inline bool command_is_end(const struct command *command) {
  return command->kind == COMMAND_DESPAWN && !command->dropped;
}

/* What becomes of a set of ids, with room for `room`, by the commands of a chain that are not
** dropped; NONE when its entity dies. After cascade_decide. */
uint32_t merge_commands(const ecs_world *world, const struct chain *chain, ecs_id *ids,
                        uint32_t count, uint64_t room);

#endif
