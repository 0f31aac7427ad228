/* Calls outside of scopes that are done as a scope of their own. */
#ifndef ECS_CORE_STORE_ALONE_H
#define ECS_CORE_STORE_ALONE_H

#include "core/store/command.h"
#include "core/store/world.h"

/* Whether changes outside of scopes are done so: where they are not one table's affair alone, or
** observers are to be told. */
static inline bool changes_go_alone(const ecs_world *world) {
  return sparse_is_mixed(world) || world->staging.watched;
}

/* Not 0 where a change may have to be kept for the end of a scope. Both numbers are read at once:
** apart they took 4 % of a change. */
static inline uint64_t changes_waiting(const ecs_world *world) {
  const char *open = (const char *)&world->staging + offsetof(struct staging, open);
  uint64_t both;
  assert(offsetof(struct staging, watched) == offsetof(struct staging, open) + 4);
  memcpy(&both, open, sizeof both);
  return both;
}

static inline bool changes_wait(const ecs_world *world) { return changes_waiting(world) != 0; }

/* command_stage_pair in a scope of its own, which ends at once; there is no other. */
ecs_status command_alone(ecs_world *world, enum command_kind kind, ecs_id entity, ecs_id component,
                         ecs_id target, const struct write *writes, uint32_t count);

/* Ends a scope in which something was staged, with this status, and which is no use without: it is
** gone afterwards, and writes whose commands could not apply are their caller's. Where nothing
** could, what was spawned in it never was. */
ecs_status scope_end_alone(ecs_world *world, uint32_t scope, ecs_status status);

/* Cancels a scope, in which staging something has failed, within another one: writes are their
** caller's. */
void scope_take_back(ecs_world *world, uint32_t scope);

#endif
