/* Systems of hosts that are called for ranges of rows, on the world's threads. */
#ifndef ECS_CORE_SCHEDULE_RANGES_H
#define ECS_CORE_SCHEDULE_RANGES_H

#include "core/base/memory.h"
#include "ecs_system.h"

/* Room for those of one run, kept from run to run; NULL: none. */
struct ranges;
void ranges_free(struct memory *memory, struct ranges *ranges);

/* ECS_EINVAL when the rows of its query do not lie together in tables, or it has none. */
ecs_status ranges_suit(ecs_world *world, const ecs_system *system);

/* An ecs_run_fn, of systems that have `parallel`. */
ecs_status ranges_run(ecs_world *world, ecs_query *query, double dt, void *ud);

#endif
