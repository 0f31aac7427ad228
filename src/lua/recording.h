/* While scripts are read: what they register is kept and swapped in at once, or not at all. */
#ifndef ECS_LUA_RECORDING_H
#define ECS_LUA_RECORDING_H

#include "lua/loop.h"

#include "core/change/transact.h"

struct pending_view {
  struct view_box *view;
  struct component *component;
};

struct stage {
  struct transaction transaction;
  struct chance chance;            /* of the world, for a reading that comes to nothing */
  bool swapping;
  struct query_box **queries;      /* made by the swap for scripts that hold them already */
  uint32_t query_count, query_capacity;
  struct pending_view *views;      /* of resources, likewise */
  uint32_t view_count, view_capacity;
};

/* Whether registrations are kept for a swap. */
static inline bool stage_is_open(const struct world_box *box) {
  return box->stage && !box->stage->swapping;
}

/* Tells who staged about a registration: recorder(kind, name, value), with the stack indices of
** the last two. It may raise; true when the name is not the scripts' own. */
bool stage_record(lua_State *L, int world_index, const char *kind, int name, int value);

/* Declares in the transaction; a foreign component cannot change. */
ecs_status stage_declare(struct world_box *box, const ecs_component_desc *desc, bool foreign,
                         ecs_id *id);

/* Lets go of a transaction that was not committed. */
void stage_drop(struct world_box *box);

/* Registers a system in the transaction that is being committed: name and spec are at 2 and 3,
** the world at 1; owner may be NULL. Raises. */
void stage_system(lua_State *L, struct world_box *box, uint64_t place, const char *owner);

/* Reads the options of a phase from the table at an index (nil: none), pushing what they need. */
void read_phase(lua_State *L, int index, ecs_phase_desc *desc);

/* native.stage(world, recorder, body), and native.swap(world, plan) inside body. */
int ecs_native_stage(lua_State *L);
int ecs_native_swap(lua_State *L);

/* native.declared(world, name): whether somebody declares a component: it is no orphan. */
int ecs_native_declared(lua_State *L);

#endif
