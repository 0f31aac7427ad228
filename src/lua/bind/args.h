/* Arguments of functions that scripts call, and what messages say of them. */
#ifndef ECS_LUA_BIND_ARGS_H
#define ECS_LUA_BIND_ARGS_H

#include <lauxlib.h>

#include "core/base/base.h"

/* Raises "world expected, got table" for an argument that is no object of that kind; of a method
** that was called by a dot it says so. */
int no_object(lua_State *L, int arg, const void *kind, const char *name);

/* Whether an argument that is no object of that kind is one of another copy of this library, which
** was opened in the same state; pushes what it is, and where both came from. */
bool push_copies(lua_State *L, int arg, const void *kind);

/* A finite number that is not negative. */
double check_seconds(lua_State *L, int arg);

/* A text without zero bytes. */
const char *check_text(lua_State *L, int arg, size_t *size);

/* Raises what one more than the last argument is refused with, if it is there, and not nil. */
static inline void check_only(lua_State *L, int last, const char *what) {
  if (UNLIKELY(!lua_isnoneornil(L, last + 1))) luaL_argerror(L, last + 1, what);
}

/* Pushes a key of a table, at an absolute index, that is not 1 to count; false: none is. */
bool push_odd_key(lua_State *L, int index, lua_Unsigned count);

/* Pushes the method of a list whose name is the text at an index; false for any other key. */
bool push_method(lua_State *L, const luaL_Reg *methods, int index);

/* Room on the Lua stack, or the memory error. */
void need_stack(lua_State *L, int slots);

/* Writes a value into a buffer for a message: 12, 'text', true, a table. Returns it. */
const char *show_value(lua_State *L, int index, char *buffer, size_t size);

#endif
