#include "lua/bind/settle.h"

#include "core/store/sweeping.h"

void cells_stored(lua_State *L, struct world_box *box, int world_index) {
  values_stored(box);
  world_settle(box->world);
  settle(L, box, world_index);
}
