/* Included before all else where Lua's own functions that take formats are checked: they take %d,
** %s, %c, %f and %p as printf does, and nothing else may be used. */
#ifndef ECS_SPEC_TOOLS_FORMATS_H
#define ECS_SPEC_TOOLS_FORMATS_H

struct lua_State;

extern const char *lua_pushfstring(struct lua_State *L, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
extern int luaL_error(struct lua_State *L, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

#endif
