#include "lua/bind/any_values.h"

#include "core/base/any.h"
#include "core/base/memory.h"
#include "core/ids/scratch.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

void settle_any(lua_State *L, struct world_box *box, int world_index) {
  if (!lua_checkstack(L, 2)) return;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  uint32_t slot;
  while ((slot = any_next_released(box->any.slots, &box->any.owner)) != 0) {
    int type = lua_rawgeti(L, -1, slot);
    lua_pop(L, 1);
    if (type == LUA_TNIL) continue;
    lua_pushnil(L);
    lua_rawseti(L, -2, slot);
  }
  lua_pop(L, 1);
}

/* The slot is pending before the value is stored, so that an error on the way loses
** nothing. */
uint32_t take_any(lua_State *L, struct world_box *box, int world_index, int index) {
  if (lua_isnil(L, index)) return 0;
  index = lua_absindex(L, index);
  need_stack(L, 2);
  bool tried = false;
  uint32_t slot = 0;
  ecs_status status;
  do {
    uint32_t *pending =
        memory_grow(box->memory, box->scratch->pending, &box->scratch->pending_capacity,
                    box->any.pending + 1ull, sizeof *pending);
    if (pending) box->scratch->pending = pending;
    status = pending ? any_take(box->any.slots, box->memory, &box->any.owner, &slot) : ECS_ENOMEM;
  } while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_memory(L);
  box->scratch->pending[box->any.pending++] = slot;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, slot);
  lua_pop(L, 1);
  return slot;
}

void push_any(lua_State *L, const struct world_box *box, int world_index, uint32_t slot) {
  if (any_is_of(box->any.slots, slot, &box->any.owner)) {
    lua_getiuservalue(L, world_index, WORLD_ANY);
    lua_rawgeti(L, -1, slot);
    lua_replace(L, -2);
  } else {
    lua_pushnil(L);
  }
}
