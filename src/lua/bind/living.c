#include "lua/bind/living.h"

#include "core/entity/entity.h"
#include "lua/bind/status.h"

int no_entity(lua_State *L, const struct world_box *box, int arg) {
  return raise_argument(L, box->world, entity_need(box->world, check_id(L, arg)), arg);
}
