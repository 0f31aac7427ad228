#include <float.h>

#include "lua/bind/options.h"

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "lua/bind/args.h"
#include "lua/bind/status.h"

static void unknown_key(lua_State *L, int index, const char *what,
                        const char *const *known) {
  char got[128], hint[96], list[256];
  struct nearest nearest;
  struct text all = {list, sizeof list, 0};
  show_value(L, index, got, sizeof got);
  hint[0] = '\0';
  for (const char *const *at = known; *at; at++)
    text_add(&all, "%s%s", at == known ? "" : ", ", **at == '$' ? "[\"$variable\"]" : *at);
  text_end(&all);
  if (lua_type(L, index) == LUA_TSTRING) {
    size_t size;
    const char *key = lua_tolstring(L, index, &size);
    nearest_begin(&nearest, key, size);
    for (; *known; known++) nearest_offer(&nearest, *known, strlen(*known));
    nearest_hint(&nearest, hint, sizeof hint);
  }
  if (*hint) raise_error(L, "%s: unknown option %s%s", what, got, hint);
  raise_error(L, "%s: unknown option %s (there are %s)", what, got, list);
}

void check_keys(lua_State *L, int index, const char *what, const char *const *known) {
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    const char *const *at = known;
    while (*at && strcmp(*at, key) != 0 && !(*at[0] == '$' && key[0] == '$')) at++;
    if (!*at) unknown_key(L, -2, what, known);
  }
}

int option(lua_State *L, int index, const char *key) {
  lua_pushstring(L, key);
  return lua_rawget(L, index);
}

void wrong_option(lua_State *L, const char *what, const char *key, const char *expected) {
  char got[128];
  raise_error(L, "%s: option '%s' is %s, got %s", what, key, expected,
              show_value(L, -1, got, sizeof got));
}

const char *text_option(lua_State *L, int index, const char *what, const char *key) {
  int type = option(L, index, key);
  if (type == LUA_TNIL) return NULL;
  if (type == LUA_TTABLE && strcmp(key, "query") == 0) wrong_option(L, what, key, ONE_TEXT);
  if (type != LUA_TSTRING) wrong_option(L, what, key, "a string");
  size_t size;
  const char *text = lua_tolstring(L, -1, &size);
  if (memchr(text, 0, size)) wrong_option(L, what, key, "a string without zero bytes");
  return text;
}

double seconds_option(lua_State *L, int index, const char *what, const char *key) {
  int type = option(L, index, key);
  double seconds = type == LUA_TNUMBER ? (double)lua_tonumber(L, -1) : 0;
  if (type == LUA_TNIL) return 0;
  if (type != LUA_TNUMBER || !(seconds > 0 && seconds <= DBL_MAX))
    wrong_option(L, what, key, "a number of seconds above 0");
  return seconds;
}

const char *const *names_option(lua_State *L, int index, const char *what, const char *key) {
  static const char expected[] = "a string or a list of strings";
  int type = option(L, index, key);
  if (type == LUA_TNIL) return NULL;
  if (type == LUA_TSTRING) {
    lua_createtable(L, 1, 0);
    lua_insert(L, -2);
    lua_rawseti(L, -2, 1);
  } else if (type != LUA_TTABLE) {
    wrong_option(L, what, key, expected);
  }
  int list = lua_gettop(L);
  lua_Unsigned count = lua_rawlen(L, list);
  if (push_odd_key(L, list, count)) wrong_option(L, what, key, "a list of strings, without keys");
  if (count > 1000) wrong_option(L, what, key, "a list of at most 1000 strings");
  need_stack(L, (int)count + 4);
  const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
  for (size_t i = 0; i < count; i++) {
    size_t size;
    if (lua_rawgeti(L, list, (lua_Integer)i + 1) != LUA_TSTRING)
      wrong_option(L, what, key, expected);
    names[i] = lua_tolstring(L, -1, &size);
    if (memchr(names[i], 0, size)) wrong_option(L, what, key, "without zero bytes");
  }
  names[count] = NULL;
  return names;
}
