#include "lua/bind/slot.h"

#include "core/base/column_cells.h"
#include "core/storage/fields.h"
#include "lua/bind/lua_value.h"

void slot_push_slowly(lua_State *L, int loop_index, const struct loop_box *loop,
                      const struct slot *slot, uint32_t row) {
  if (!slot->present) {
    lua_pushnil(L);
    return;
  }
  if (!slot->leaf) {
    lua_pushboolean(L, 1);
    return;
  }
  ecs_cell cell = cell_load(slot->data, slot->leaf->size, row);
  if (loop->copied && slot->type == ECS_ENTITY) {
    lua_pushinteger(L, (lua_Integer)cell.u64);
    return;
  }
  lua_getiuservalue(L, loop_index, LOOP_WORLD);
  push_cell(L, loop->box, lua_gettop(L), slot->leaf, cell);
  lua_remove(L, -2);
  if (!loop->open) loop_gone(L, loop);
}
