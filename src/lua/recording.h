/* While scripts are read: what they register is kept, to be swapped in at once (swap.h) or not at
** all. */
#ifndef ECS_LUA_RECORDING_H
#define ECS_LUA_RECORDING_H

#include "lua/bind/world_box.h"

#include "core/base/chance.h"
#include "core/change/transact.h"

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
};

/* Lets go of a transaction that was not committed, if there is one: from here on methods register
** now. */
void stage_drop(struct world_box *box);

/* native.stage(world, recorder, body) */
int ecs_native_stage(lua_State *L);

/* native.declared(world, name, kind): whether there is a "component" that somebody declares (no
** orphan), a "phase" or a "system" of that name. */
int ecs_native_declared(lua_State *L);

#endif
