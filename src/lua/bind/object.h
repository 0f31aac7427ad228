/* Objects that Lua sees: userdata that tell what they are. */
#ifndef ECS_LUA_BIND_OBJECT_H
#define ECS_LUA_BIND_OBJECT_H

#include <lauxlib.h>

#include "core/base/base.h"

/* Every object starts so; an address that is not at `self` is not one of ours. */
struct head {
  const void *kind;      /* the address of a kind_ variable */
  const void *self;
};

/* The object at an index when it is of that kind, else NULL. Safe for any value: foreign
** userdata are told apart by size, kind and self. */
static inline void *box_test(lua_State *L, int index, const void *kind, size_t size) {
  struct head *head = lua_touserdata(L, index);
  if (UNLIKELY(!head || lua_rawlen(L, index) < size)) return NULL;
  return head->kind == kind && head->self == head ? head : NULL;
}

/* Pushes a userdata of that kind with its metatable, all zero but for its head: born closed. Its
** user values are nil. */
void *new_box(lua_State *L, const void *kind, size_t size, int user_values);

/* Raises that an object is a loop. Metamethods of those that `for` calls. */
int loop_refuse(lua_State *L);
#define LOOP_REFUSALS {"__index", loop_refuse}, {"__len", loop_refuse}, {"__pairs", loop_refuse}

/* Pushes a table that keeps nothing alive by its keys ("k"), its values ("v"), or both. */
void new_weak_table(lua_State *L, const char *mode);

#endif
