/* The world: everything above, put together. */
#ifndef ECS_CORE_WORLD_H
#define ECS_CORE_WORLD_H

#include "any.h"
#include "command.h"
#include "entity.h"
#include "intern.h"
#include "mutate.h"
#include "name.h"
#include "query.h"
#include "schedule.h"
#include "text.h"

struct ecs_world {
  struct memory memory;
  struct entity_index entities;
  struct registry registry;
  struct graph graph;
  struct staging staging;
  struct intern_table strings;
  struct any_slots any;
  struct name_table names;
  struct schedule schedule;
  ecs_query *first_query, *last_query;
  struct table *last_spawn;      /* where the last spawn went, and by which ids */
  uint32_t last_spawn_serial;
  uint64_t seed;
  uint64_t tick;                 /* updates so far */
  char *message;                 /* MESSAGE_SIZE bytes, so that const readers can fail too */
};

/* Sets the message and returns the status. */
ecs_status world_fail(const ecs_world *world, ecs_status status, const char *format, ...);
ecs_status world_nomem(const ecs_world *world);

/* ECS_EBUSY naming the operation when a system, function form or defer is open. */
ecs_status world_not_busy(const ecs_world *world, const char *operation);

double clock_seconds(void);

static inline struct table *world_table(const ecs_world *world, uint32_t index) {
  return world->graph.tables[index];
}

#endif
