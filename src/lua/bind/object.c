#include "lua/bind/object.h"

void *new_box(lua_State *L, const void *kind, size_t size, int user_values) {
  struct head *head = lua_newuserdatauv(L, size, user_values);
  memset(head, 0, size);
  head->kind = kind;
  head->self = head;
  lua_rawgetp(L, LUA_REGISTRYINDEX, kind);
  lua_setmetatable(L, -2);
  return head;
}

int loop_refuse(lua_State *L) {
  return luaL_error(L, "this is a loop, without length, elements or methods: go through it by "
                    "'for ... in', and count what it gives there");
}

void new_weak_table(lua_State *L, const char *mode) {
  static const char keys = 0, values = 0;
  const char *kept = *mode == 'k' ? &keys : &values;
  lua_newtable(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, kept) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, kept);
  }
  lua_setmetatable(L, -2);
}
