/* Between columns and Lua's stack, for the loops: numbers and truth values take no call of the
** other files. */
#ifndef ECS_LUA_BIND_CELL_H
#define ECS_LUA_BIND_CELL_H

#include <lauxlib.h>

#include "core/base/one_cell.h"
#include "core/base/value.h"

/* Pushes a value that is a number or a truth value; false when it is none. */
INLINE bool push_number_at(lua_State *L, ecs_type type, const void *data,
                                  uint32_t row) {
  switch (type) {
    case ECS_F32: lua_pushnumber(L, (lua_Number)((const float *)data)[row]); return true;
    case ECS_F64: lua_pushnumber(L, (lua_Number)((const double *)data)[row]); return true;
    case ECS_I8: lua_pushinteger(L, ((const int8_t *)data)[row]); return true;
    case ECS_I16: lua_pushinteger(L, ((const int16_t *)data)[row]); return true;
    case ECS_I32: lua_pushinteger(L, ((const int32_t *)data)[row]); return true;
    case ECS_I64:
    case ECS_U64: lua_pushinteger(L, ((const int64_t *)data)[row]); return true;
    case ECS_U8: lua_pushinteger(L, ((const uint8_t *)data)[row]); return true;
    case ECS_U16: lua_pushinteger(L, ((const uint16_t *)data)[row]); return true;
    case ECS_U32: lua_pushinteger(L, ((const uint32_t *)data)[row]); return true;
    case ECS_BOOL: lua_pushboolean(L, ((const uint8_t *)data)[row]); return true;
    default: return false;
  }
}

/* The cell of a float or integer type from the value at an index, by world:set's rules; false
** when it does not fit, and for other types. */
INLINE bool number_to_cell(lua_State *L, ecs_type type, int index, ecs_cell *cell) {
  if (UNLIKELY(lua_type(L, index) != LUA_TNUMBER)) return false;
  if (type == ECS_F32) {
    cell->f32 = (float)lua_tonumber(L, index);
    return true;
  }
  if (type == ECS_F64) {
    cell->f64 = (double)lua_tonumber(L, index);
    return true;
  }
  if (UNLIKELY(type_class(type) != CLASS_INTEGER)) return false;
  int is_integer;
  lua_Integer integer = lua_tointegerx(L, index, &is_integer);
  return is_integer && integer_to_cell(type, integer, cell);
}

#endif
