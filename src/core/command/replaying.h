/* What staged commands write, once their entity's row is where it belongs. */
#ifndef ECS_CORE_COMMAND_REPLAYING_H
#define ECS_CORE_COMMAND_REPLAYING_H

#include "core/base/base.h"

struct chain;
struct command;
struct table;

/* Lets go of the values of a command that is not to be done. */
void replay_release(ecs_world *world, const struct command *command);

/* The row is in its final table: what was carried has its old values, what is new its
** defaults. Replays the commands so that the last word counts. */
void replay_chain(ecs_world *world, const struct chain *chain, struct table *table, uint32_t row);

/* The cells of targets are what the ties say. */
void replay_targets(ecs_world *world, const struct table *table, uint32_t entity, uint32_t row);

#endif
