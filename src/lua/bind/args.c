#include <float.h>

#include "lua/bind/args.h"

#include "core/base/text.h"
#include "lua/bind/status.h"

/* The name of the running function, a method of that kind, unless it is called as one; else NULL.
** *loops: it has been given to `for` itself, which calls it with nothing. */
static const char *called_otherwise(lua_State *L, const void *kind, bool *loops) {
  lua_Debug call;
  int top = lua_gettop(L);
  const char *method = NULL;
  if (!lua_getstack(L, 0, &call) || !lua_getinfo(L, "nf", &call)) return NULL;
  *loops = call.name && strcmp(call.namewhat, "for iterator") == 0;
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  bool plain = call.name && strcmp(call.namewhat, "method") != 0;
  if (plain && lua_getfield(L, -1, "__index") == LUA_TTABLE)
    for (lua_pushnil(L); !method && lua_next(L, top + 3); lua_pop(L, 1))
      if (lua_rawequal(L, -1, top + 1)) method = lua_tostring(L, -2);
  lua_settop(L, top);
  return method;
}

bool push_copies(lua_State *L, int arg, const void *kind) {
  int top = lua_gettop(L);
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  lua_getfield(L, top + 1, "__name");
  bool other = lua_type(L, arg) == LUA_TUSERDATA &&
               luaL_getmetafield(L, arg, "__name") != LUA_TNIL && lua_rawequal(L, -1, -2);
  if (other) {
    lua_getfield(L, top + 1, "__from");
    if (luaL_getmetafield(L, arg, "__from") != LUA_TSTRING) lua_pushliteral(L, "?");
    lua_pushfstring(L, "one of another copy of ecs: '%s' and '%s' are both loaded; load only one",
                    lua_tostring(L, top + 4), lua_tostring(L, top + 5));
    lua_replace(L, top + 1);
  }
  lua_settop(L, top + other);
  return other;
}

int no_object(lua_State *L, int arg, const void *kind, const char *name) {
  need_stack(L, 8);
  if (push_copies(L, arg, kind)) {
    lua_pushfstring(L, "%s expected, got %s", name, lua_tostring(L, -1));
    return luaL_argerror(L, arg, lua_tostring(L, -1));
  }
  bool loops = false;
  const char *method = arg == 1 ? called_otherwise(L, kind, &loops) : NULL;
  if (method && loops)
    return luaL_error(L, "for goes through what a call gives: write %s:%s()", name, method);
  if (!method) return luaL_typeerror(L, arg, name);
  const char *got = luaL_typename(L, arg);
  if (!lua_isnone(L, arg) && luaL_getmetafield(L, arg, "__name") == LUA_TSTRING)
    got = lua_tostring(L, -1);
  char text[160];
  text_format(text, sizeof text, "%s expected, got %s; write %s:%s(...), with a colon", name,
              got, name, method);
  return luaL_argerror(L, arg, text);
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

/* A long list is asked from its end on: what is kept as one has nothing but other keys behind its
** last elements, which follow each other there. Otherwise the whole table is gone through. */
bool push_odd_key(lua_State *L, int index, lua_Unsigned count) {
  lua_Unsigned at = count > 32 ? count - 32 : 0;
  if (lua_rawgeti(L, index, (lua_Integer)at) == LUA_TNIL) at = 0;
  lua_pop(L, 1);
  if (at)
    lua_pushinteger(L, (lua_Integer)at);
  else
    lua_pushnil(L);
  while (lua_next(L, index)) {
    lua_pop(L, 1);
    lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
    if (key < 1 || (lua_Unsigned)key > count) return true;
    if (!at || (lua_Unsigned)key == ++at) continue;
    at = 0;
    lua_pop(L, 1);
    lua_pushnil(L);
  }
  return false;
}

bool push_method(lua_State *L, const luaL_Reg *methods, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  const char *key = lua_tostring(L, index);
  while (methods->name && strcmp(methods->name, key) != 0) methods++;
  if (methods->name) lua_pushcfunction(L, methods->func);
  return methods->name != NULL;
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
        text_format(buffer, size, "%lld", lua_tointeger(L, index));
      else
        text_format(buffer, size, "%g", (double)lua_tonumber(L, index));
      break;
    case LUA_TSTRING: {
      ecs_string text;
      text.data = lua_tolstring(L, index, &text.size);
      text_format(buffer, size, "'%.*s'", SHOW(text));
      break;
    }
    default: {
      int top = lua_gettop(L);
      bool named = luaL_getmetafield(L, index, "__name") == LUA_TSTRING;
      const char *name = named ? lua_tostring(L, -1) : luaL_typename(L, index);
      text_format(buffer, size, *name == 'e' ? "an %s" : "a %s", name);
      lua_settop(L, top);
      break;
    }
  }
  return buffer;
}
