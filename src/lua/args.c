#include <float.h>

#include "binding.h"

ecs_id check_id(lua_State *L, int arg) {
  int is_integer;
  ecs_id id = to_id(L, arg, &is_integer);
  if (LIKELY(is_integer)) return id;
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "entity id");
  char text[128];
  text_format(text, sizeof text, "%g is no entity id", (double)lua_tonumber(L, arg));
  luaL_argerror(L, arg, text);
  return ECS_NULL;
}

int no_entity(lua_State *L, const struct world_box *box, int arg) {
  return raise_argument(L, box->world, entity_need(box->world, check_id(L, arg)), arg);
}

double check_seconds(lua_State *L, int arg) {
  if (lua_type(L, arg) != LUA_TNUMBER) luaL_typeerror(L, arg, "number of seconds");
  double seconds = (double)lua_tonumber(L, arg);
  if (seconds >= 0 && seconds <= DBL_MAX) return seconds;
  char text[128];
  text_format(text, sizeof text, "%g is no number of seconds (finite, not negative)",
              seconds);
  luaL_argerror(L, arg, text);
  return 0;
}

const char *check_text(lua_State *L, int arg, size_t *size) {
  if (lua_type(L, arg) != LUA_TSTRING) luaL_typeerror(L, arg, "string");
  const char *text = lua_tolstring(L, arg, size);
  if (memchr(text, 0, *size)) luaL_argerror(L, arg, "the string has a zero byte");
  return text;
}

void need_stack(lua_State *L, int slots) {
  if (UNLIKELY(!lua_checkstack(L, slots))) raise_memory(L);
}

const char *show_value(lua_State *L, int index, char *buffer, size_t size) {
  switch (lua_type(L, index)) {
    case LUA_TNIL: text_format(buffer, size, "nil"); break;
    case LUA_TBOOLEAN:
      text_format(buffer, size, "%s", lua_toboolean(L, index) ? "true" : "false");
      break;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index))
        text_format(buffer, size, "%d", (int64_t)lua_tointeger(L, index));
      else
        text_format(buffer, size, "%g", (double)lua_tonumber(L, index));
      break;
    case LUA_TSTRING: {
      ecs_string text;
      text.data = lua_tolstring(L, index, &text.size);
      text_format(buffer, size, "'%S'", &text);
      break;
    }
    default: text_format(buffer, size, "a %s", luaL_typename(L, index)); break;
  }
  return buffer;
}
