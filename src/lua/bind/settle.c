#include "lua/bind/settle.h"

#include "core/entity/sweeping.h"
#include "lua/bind/any_values.h"
#include "lua/bind/check_world.h"
#include "lua/bind/weight.h"

void settle_rest(lua_State *L, struct world_box *box, int world_index) {
  if (box->any.owner.released_head) settle_any(L, box, world_index);
  if (*box->bytes - box->weight.reported >= 65536) settle_weight(L, box);
}

void cells_stored(lua_State *L, struct world_box *box, int world_index) {
  values_stored(box);
  world_settle(box->world);
  settle(L, box, world_index);
}
