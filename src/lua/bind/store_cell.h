/* Storing in the cells of a column, for the loops. */
#ifndef ECS_LUA_BIND_STORE_CELL_H
#define ECS_LUA_BIND_STORE_CELL_H

#include <lauxlib.h>

#include "core/base/any.h"
#include "core/base/column_cells.h"
#include "core/base/one_cell.h"
#include "core/base/value.h"
#include "core/storage/fields.h"

/* Stores the value at an index in a float or integer column, by world:set's rules; false when
** it does not fit, and for other types. */
INLINE bool store_number_at(lua_State *L, ecs_type type, int index, void *data,
                                   uint32_t row) {
  if (UNLIKELY(lua_type(L, index) != LUA_TNUMBER)) return false;
  if (type == ECS_F32) {
    ((float *)data)[row] = (float)lua_tonumber(L, index);
    return true;
  }
  if (type == ECS_F64) {
    ((double *)data)[row] = (double)lua_tonumber(L, index);
    return true;
  }
  if (UNLIKELY(type_class(type) != CLASS_INTEGER)) return false;
  int is_integer;
  lua_Integer integer = lua_tointegerx(L, index, &is_integer);
  ecs_cell cell;
  if (!is_integer || !integer_to_cell(type, integer, &cell)) return false;
  cell_store(data, type_size(type, 0), row, cell);
  return true;
}

/* Stores a cell; what an any field held is released. */
static inline void store_cell_at(struct any_slots *any, const struct leaf *leaf, void *data,
                                 uint32_t row, ecs_cell cell) {
  if (UNLIKELY(leaf->type == ECS_ANY)) any_release(any, ((uint32_t *)data)[row]);
  cell_store(data, leaf->size, row, cell);
}

#endif
