#include "lua/bind/id_args.h"

#include "core/base/text.h"
#include "lua/bind/args.h"

/* Whether a number is what most steps of time are. */
static bool is_between(lua_Number number) { return number > 0 && number < 1; }

ecs_id check_id(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  if (LIKELY(is_integer)) return id;
  char text[160], shown[80];
  if (lua_type(L, arg) == LUA_TSTRING) {
    text_format(text, sizeof text, "entity id expected, got string: the entity comes first, and "
                "world:lookup(%s) gives the id of a name", show_value(L, arg, shown, sizeof shown));
    luaL_argerror(L, arg, text);
  }
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity id");
  text_format(text, sizeof text, "%g is no entity id%s", (double)lua_tonumber(L, arg),
              is_between(lua_tonumber(L, arg)) ? ": what a function is given ends with dt, entity"
                                               : "");
  luaL_argerror(L, arg, text);
  return ECS_NULL;
}
