/* What observers are to be told of commands that are about to apply. */
#ifndef ECS_CORE_COMMAND_WATCH_APPLY_H
#define ECS_CORE_COMMAND_WATCH_APPLY_H

#include "core/base/base.h"

struct table;

/* Once all commands are planned: a new round; notes down whom they change, in the order of their
** first commands, and who is given values. */
ecs_status watch_changes(ecs_world *world);

/* Then, while everything is what it was, ties too: notes down what of these matches. From then on
** nothing is missing, and watching.due says that somebody is to be told. */
ecs_status watch_matches(ecs_world *world);

/* The same of rows that are about to change alike without any command: begin, then the rows of one
** table after the other, those whose bits are set, or all where there are no bits, with the table
** that they come to (NULL: their entities die), then end: somebody is to be told. It takes, and
** returns, what came of the others: with an error nothing is noted down. */
ecs_status watch_rows_begin(ecs_world *world);
ecs_status watch_rows(ecs_world *world, struct table *from, struct table *to,
                      const uint64_t *bits);
ecs_status watch_rows_end(ecs_world *world, ecs_status status);

#endif
