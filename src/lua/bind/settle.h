/* What public calls end with. */
#ifndef ECS_LUA_BIND_SETTLE_H
#define ECS_LUA_BIND_SETTLE_H

#include <lauxlib.h>

#include "core/world/check.h"
#include "lua/bind/world_box.h"

/* Forgets values of released any slots, and tells the collector what the world weighs. */
void settle_rest(lua_State *L, struct world_box *box, int world_index);

/* Whether there is anything to do then, but to see to observers. */
static inline bool settle_is_due(const struct world_box *box) {
  return box->any.owner.released_head || *box->bytes - box->weight.reported >= 65536;
}

/* The last thing that every public call does that may have grown or freed, or applied what is
** observed: the core must not be touched after it, box->world may be NULL. Raises what observers
** do. */
static inline void settle(lua_State *L, struct world_box *box, int world_index) {
  if (UNLIKELY(!box->world)) return;
  world_be_sure(box->world);
  if (UNLIKELY(*box->changes)) box->observe(L, box, world_index);
  if (UNLIKELY(!box->world || *box->changes)) return;   /* copies hold released any slots */
  if (UNLIKELY(settle_is_due(box))) settle_rest(L, box, world_index);
}

/* Ends a public call that has stored cells of any type. */
void cells_stored(lua_State *L, struct world_box *box, int world_index);

#endif
