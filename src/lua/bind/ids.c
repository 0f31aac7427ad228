#include "lua/bind/ids.h"

#include "core/base/text.h"
#include "lua/bind/args.h"

ecs_id check_id(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  if (LIKELY(is_integer)) return id;
  char text[160], shown[80];
  if (lua_type(L, arg) == LUA_TSTRING) {
    text_format(text, sizeof text, "entity id expected, got string: world:lookup(%s) gives the "
                "id of a name", show_value(L, arg, shown, sizeof shown));
    luaL_argerror(L, arg, text);
  }
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity id");
  text_format(text, sizeof text, "%g is no entity id", (double)lua_tonumber(L, arg));
  luaL_argerror(L, arg, text);
  return ECS_NULL;
}
