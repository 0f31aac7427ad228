/* Copies of a world's events in memory, for snapshots. */
#ifndef ECS_CORE_IMAGE_EVENT_COPY_H
#define ECS_CORE_IMAGE_EVENT_COPY_H

#include "core/image/table_copy.h"

struct event_copy {
  ecs_id id;
  uint64_t first, aged;
  struct table_copy rows, later;   /* those that are there, and what is put off */
  double clock, *due;
};

/* Takes one of each event; *list is the arena's, and *count what event_copy_free is to free, also
** when out of memory. */
ecs_status event_copy_take(ecs_world *world, struct arena *arena, struct event_copy **list,
                           uint32_t *count);
void event_copy_free(ecs_world *world, const struct event_copy *list, uint32_t count);

/* As cells_each, of one of them. */
bool event_copy_each(const ecs_world *world, const struct event_copy *copy, ecs_type type,
                     cells_fn visit, void *ud);

/* Room for what is to be restored; then events are what they were, those declared since empty. */
ecs_status event_copy_reserve(ecs_world *world, struct event_copy *list, uint32_t count);
void event_copy_restore(const ecs_world *world, const struct event_copy *list, uint32_t count);

#endif
