#include "lua/bind/observed.h"

#include "core/base/text.h"
#include "ecs_world.h"
#include "lua/bind/check_world.h"
#include "lua/bind/status.h"

/* (world) */
static int observed_call(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  box->observe(L, box, 1);
  return 0;
}

int observed_raise(lua_State *L, struct world_box *box, int world_index, ecs_status status) {
  char text[MESSAGE_SIZE];
  if (status == ECS_ENOMEM || *box->changes == 0) return raise_status(L, box->world, status);
  text_format(text, sizeof text, "%s", ecs_message(box->world));
  lua_pushcfunction(L, observed_call);
  lua_pushvalue(L, world_index);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return raise_error(L, "%s", text);
}

void observed_loops(lua_State *L, struct world_box *box) {
  if (LIKELY(*box->changes == 0)) return;
  box->observe(L, box, 1);
  if (!box->world) no_world(L, 1);
}
