/* What scripts have registered while they are read. */
#ifndef ECS_LUA_LOOP_STAGE_H
#define ECS_LUA_LOOP_STAGE_H

#include "core/base/chance.h"
#include "core/change/transaction.h"

struct component;
struct ecs_index;
struct query_box;
struct view_box;

struct pending_view {
  struct view_box *view;
  struct component *component;
};

struct stage {
  struct transaction transaction;
  struct chance chance;            /* of the world, for a reading that comes to nothing */
  struct query_box **queries;      /* made by the swap for scripts that hold them already */
  uint32_t query_count, query_capacity;
  struct pending_view *views;      /* of resources, likewise */
  uint32_t view_count, view_capacity;
  struct ecs_index **indexes;      /* built; from `entered` on they are not entered yet */
  uint32_t index_count, index_capacity, entered;
  struct ecs_index **leaving;      /* to be dropped */
  uint32_t leaving_count, leaving_capacity;
};

#endif
