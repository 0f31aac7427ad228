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
