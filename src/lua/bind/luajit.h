/* The interface of Lua 5.4 on LuaJIT 2.1, as far as the binding uses it. The Makefile includes this
** before everything else that is compiled for LuaJIT.
**
** What remains different:
**   - Every number is a double. What has no fraction and fits 64 bits is an integer here.
**   - The user values of a userdata are in its environment, a table made with it.
**   - There are no variables to be closed. What warns is a global function `warn`, if there is one.
**   - The memory of LuaJIT's own allocator is short, and belongs to its collector: worlds have
**     malloc's. */
#ifndef ECS_LUA_BIND_LUAJIT_H
#define ECS_LUA_BIND_LUAJIT_H

#if !defined(_WIN32) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700   /* must precede the first system header */
#endif

#include <lauxlib.h>
#include <luajit.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LUA_OPEQ 0
#define LUA_OPLT 1
#define LUA_GNAME "_G"
#define LUA_LOADED_TABLE "_LOADED"
#define LUA_PRELOAD_TABLE "_PRELOAD"
#define NUMBERS_ARE_DOUBLES true

typedef long long jit_Integer;
typedef unsigned long long lua_Unsigned;
#define lua_Integer jit_Integer   /* LuaJIT's own is as wide as a pointer */

/* ---- the stack ---- */

static inline int jit_absindex(lua_State *L, int index) {
  return index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(L) + index + 1;
}

static inline void jit_reverse(lua_State *L, int from, int to) {
  for (; from < to; from++, to--) {
    lua_pushvalue(L, from);
    lua_pushvalue(L, to);
    lua_replace(L, from);
    lua_replace(L, to);
  }
}

static inline void jit_rotate(lua_State *L, int index, int n) {
  int first = jit_absindex(L, index), last = lua_gettop(L);
  int middle = n >= 0 ? last - n : first - n - 1;
  jit_reverse(L, first, middle);
  jit_reverse(L, middle + 1, last);
  jit_reverse(L, first, last);
}

/* ---- reading tables, with the type of what was pushed ---- */

static inline int jit_getfield(lua_State *L, int index, const char *key) {
  lua_getfield(L, index, key);
  return lua_type(L, -1);
}

static inline int jit_rawget(lua_State *L, int index) {
  lua_rawget(L, index);
  return lua_type(L, -1);
}

static inline int jit_rawgeti(lua_State *L, int index, lua_Integer at) {
  if (at == (int)at) {
    lua_rawgeti(L, index, (int)at);
  } else {
    index = jit_absindex(L, index);
    lua_pushnumber(L, (lua_Number)at);
    lua_rawget(L, index);
  }
  return lua_type(L, -1);
}

static inline void jit_rawseti(lua_State *L, int index, lua_Integer at) {
  lua_rawseti(L, index, (int)at);
}

static inline int jit_rawgetp(lua_State *L, int index, const void *key) {
  index = jit_absindex(L, index);
  lua_pushlightuserdata(L, (void *)(uintptr_t)key);
  lua_rawget(L, index);
  return lua_type(L, -1);
}

static inline void jit_rawsetp(lua_State *L, int index, const void *key) {
  index = jit_absindex(L, index);
  lua_pushlightuserdata(L, (void *)(uintptr_t)key);
  lua_insert(L, -2);
  lua_rawset(L, index);
}

static inline int jit_getsubtable(lua_State *L, int index, const char *key) {
  index = jit_absindex(L, index);
  lua_getfield(L, index, key);
  if (lua_type(L, -1) == LUA_TTABLE) return 1;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, index, key);
  return 0;
}

static inline void jit_requiref(lua_State *L, const char *name, lua_CFunction open, int global) {
  jit_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, name);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushcfunction(L, open);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, name);
  }
  lua_remove(L, -2);
  if (!global) return;
  lua_pushvalue(L, -1);
  lua_setglobal(L, name);
}

static inline int jit_getmetafield(lua_State *L, int index, const char *key) {
  return luaL_getmetafield(L, index, key) ? lua_type(L, -1) : LUA_TNIL;
}

/* ---- functions ---- */

/* After the upvalues of a Lua function comes the table that holds its globals. */
static inline const char *jit_getupvalue(lua_State *L, int function, int n) {
  const char *name = lua_getupvalue(L, function, n);
  if (name || n < 1 || lua_iscfunction(L, function)) return name;
  bool behind = n == 1 || lua_getupvalue(L, function, n - 1);
  if (!behind) return NULL;
  if (n > 1) lua_pop(L, 1);
  lua_getfenv(L, function);
  return "_ENV";
}

/* This table counts as an upvalue of all functions with these globals; it has another id. */
static inline const void *jit_upvalueid(lua_State *L, int function, int n) {
  function = jit_absindex(L, function);
  bool own = lua_getupvalue(L, function, n) != NULL;
  if (!own && !jit_getupvalue(L, function, n)) return NULL;
  const void *id = own ? lua_upvalueid(L, function, n) : (const char *)lua_topointer(L, -1) + 1;
  lua_pop(L, 1);
  return id;
}

/* A function of LuaJIT's own libraries has no address in C. Its object stands for it, and is only
** compared. */
static inline lua_CFunction jit_tocfunction(lua_State *L, int index) {
  lua_CFunction function = lua_tocfunction(L, index);
  const void *object = lua_topointer(L, index);
  if (!function && lua_iscfunction(L, index)) memcpy(&function, &object, sizeof function);
  return function;
}

/* ---- user values ---- */

static inline void *jit_newuserdatauv(lua_State *L, size_t size, int user_values) {
  void *data = lua_newuserdata(L, size);
  if (user_values == 0) return data;
  lua_createtable(L, user_values, 0);
  lua_setfenv(L, -2);
  return data;
}

static inline int jit_getiuservalue(lua_State *L, int index, int n) {
  lua_getfenv(L, index);
  lua_rawgeti(L, -1, n);
  lua_replace(L, -2);
  return lua_type(L, -1);
}

static inline void jit_setiuservalue(lua_State *L, int index, int n) {
  lua_getfenv(L, index);
  lua_insert(L, -2);
  lua_rawseti(L, -2, n);
  lua_pop(L, 1);
}

/* ---- numbers ---- */

/* Whether a double has no fraction and fits 64 bits. */
static inline int jit_is_integral(double number) {
  return number >= -0x1p63 && number < 0x1p63 && (double)(int64_t)number == number;
}

static inline int jit_isinteger(lua_State *L, int index) {
  return lua_type(L, index) == LUA_TNUMBER && jit_is_integral(lua_tonumber(L, index));
}

static inline lua_Integer jit_tointegerx(lua_State *L, int index, int *is_integer) {
  int is_number;
  double number = lua_tonumberx(L, index, &is_number);
  int fits = is_number && jit_is_integral(number);
  if (is_integer) *is_integer = fits;
  return fits ? (lua_Integer)number : 0;
}

static inline void jit_pushinteger(lua_State *L, lua_Integer n) {
  lua_pushnumber(L, (lua_Number)n);
}

static inline size_t jit_stringtonumber(lua_State *L, const char *text) {
  int is_number;
  lua_pushstring(L, text);
  double number = lua_tonumberx(L, -1, &is_number);
  lua_pop(L, 1);
  if (is_number) lua_pushnumber(L, number);
  return is_number ? strlen(text) + 1 : 0;
}

static inline int jit_compare(lua_State *L, int a, int b, int how) {
  return how == LUA_OPEQ ? lua_equal(L, a, b) : lua_lessthan(L, a, b);
}

/* ---- errors ---- */

static inline int jit_do_nothing(lua_State *L) {
  (void)L;
  return 0;
}

/* Tells LuaJIT which thread is running. After a call in another one, such as that which keeps a
** message, it does not know, and if an error follows, the next exit from compiled code crashes. */
static inline lua_State *jit_current(lua_State *L) {
  lua_cpcall(L, jit_do_nothing, NULL);
  return L;
}

/* ---- texts and messages ---- */

static inline const char *jit_tolstring(lua_State *L, int index, size_t *size) {
  index = jit_absindex(L, index);
  if (!luaL_callmeta(L, index, "__tostring")) {
    switch (lua_type(L, index)) {
      case LUA_TNUMBER: case LUA_TSTRING: lua_pushvalue(L, index); break;
      case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false"); break;
      case LUA_TNIL: lua_pushliteral(L, "nil"); break;
      default: {
        int named = jit_getmetafield(L, index, "__name") == LUA_TSTRING;
        lua_pushfstring(L, "%s: %p", named ? lua_tostring(L, -1) : luaL_typename(L, index),
                        lua_topointer(L, index));
        if (named) lua_remove(L, -2);
      }
    }
  }
  return lua_tolstring(L, -1, size);
}

static inline int jit_typeerror(lua_State *L, int arg, const char *expected) {
  const char *got = luaL_typename(L, arg);
  if (jit_getmetafield(L, arg, "__name") == LUA_TSTRING) got = lua_tostring(L, -1);
  if (lua_type(L, arg) == LUA_TLIGHTUSERDATA) got = "light userdata";
  return luaL_argerror(jit_current(L), arg,
                       lua_pushfstring(L, "%s expected, got %s", expected, got));
}

/* Collects the pieces of a warning in the registry. */
static inline void jit_warning(lua_State *L, const char *text, int to_continue) {
  lua_getfield(L, LUA_REGISTRYINDEX, "ecs.warning");
  lua_pushstring(L, lua_isstring(L, -1) ? lua_tostring(L, -1) : "");
  lua_pushstring(L, text);
  lua_concat(L, 2);
  if (to_continue)
    lua_pushvalue(L, -1);
  else
    lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "ecs.warning");
  lua_getglobal(L, "warn");
  if (!to_continue && lua_isfunction(L, -1)) {
    lua_insert(L, -2);
    lua_call(L, 1, 0);
    lua_pop(L, 1);
  } else {
    lua_pop(L, 3);
  }
}

/* ---- memory ---- */

static inline void *jit_allocate(void *ud, void *block, size_t old_size, size_t size) {
  (void)ud;
  (void)old_size;
  if (size) return realloc(block, size);
  free(block);
  return NULL;
}

static inline lua_Alloc jit_getallocf(lua_State *L, void **ud) {
  (void)L;
  *ud = NULL;
  return jit_allocate;
}

#define lua_absindex jit_absindex
#define lua_rotate jit_rotate
#define lua_getfield jit_getfield
#define lua_rawget jit_rawget
#define lua_rawgeti jit_rawgeti
#define lua_rawseti jit_rawseti
#define lua_rawgetp jit_rawgetp
#define lua_rawsetp jit_rawsetp
#define lua_getupvalue jit_getupvalue
#define lua_upvalueid jit_upvalueid
#define lua_tocfunction jit_tocfunction
#define lua_rawlen lua_objlen
#define luaL_getsubtable jit_getsubtable
#define luaL_getmetafield jit_getmetafield
#define lua_newuserdatauv jit_newuserdatauv
#define lua_getiuservalue jit_getiuservalue
#define lua_setiuservalue jit_setiuservalue
#define luaL_requiref jit_requiref
#define lua_pushinteger jit_pushinteger
#define lua_isinteger jit_isinteger
#define lua_tointegerx jit_tointegerx
#undef lua_tointeger
#define lua_tointeger(L, index) jit_tointegerx(L, index, NULL)
#define lua_stringtonumber jit_stringtonumber
#define lua_compare jit_compare
#define luaL_tolstring jit_tolstring
#define luaL_typeerror jit_typeerror
#define lua_warning jit_warning
#define lua_getallocf jit_getallocf
#define lua_error(L) lua_error(jit_current(L))
#define luaL_error(L, ...) luaL_error(jit_current(L), __VA_ARGS__)
#define luaL_argerror(L, arg, text) luaL_argerror(jit_current(L), arg, text)
#define lua_dump(L, writer, ud, strip) ((void)(strip), lua_dump(L, writer, ud))
#define luaL_checkversion(L) ((void)(L))

#endif
