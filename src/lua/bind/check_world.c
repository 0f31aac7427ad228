#include "lua/bind/check_world.h"

#include "core/base/any.h"
#include "core/ids/scratch.h"
#include "lua/bind/args.h"

int no_world(lua_State *L, int arg) {
  if (!box_test(L, arg, &kind_world, sizeof(struct world_box)))
    return no_object(L, arg, &kind_world, "world");
  const struct world_box *box = lua_touserdata(L, arg);
  return luaL_argerror(L, arg, box->hidden ? "a codec cannot use the world"
                                           : "the world is closed");
}

int no_change(lua_State *L) {
  return luaL_error(L, "a script changes the world in script:on_load and in systems, not while "
                       "it is read");
}

void drop_pending(struct world_box *box) {
  for (uint32_t i = 0; i < box->any.pending; i++)
    any_release(box->any.slots, box->scratch->pending[i]);
  box->any.pending = 0;
}
