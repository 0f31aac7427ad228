/* Lua values as cells, and cells as Lua values. */
#ifndef ECS_LUA_BIND_VALUE_H
#define ECS_LUA_BIND_VALUE_H

#include <lauxlib.h>

#include "core/base/any.h"
#include "core/base/base.h"
#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/table.h"
#include "lua/bind/object.h"
#include "lua/bind/version.h"

/* Converts the Lua value at an index to a leaf's cell; errors name component, field and value. May
** take an `any` slot and intern a string; nothing is stored yet. Any slots are pending until
** values_stored (the core has taken them) or values_begin (they are released). */
void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell);

/* Pushes a leaf's cell. A string may run finalizers, after the cell has been read. An integer
** beyond Lua's numbers is an error or, if the world's object is `exact`, pushed as text. */
void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, const struct leaf *leaf, ecs_cell cell);

/* Pushes the digits of an integer. */
void push_integer_text(lua_State *L, ecs_type type, ecs_cell cell);
/* Converts digits to a cell of an integer type; false if the text is anything else, or does not
** fit. */
bool integer_of_text(ecs_type type, const char *text, ecs_cell *cell);

/* Whether a cell is an integer that Lua's numbers cannot represent. */
static inline bool cell_is_wide(const struct leaf *leaf, ecs_cell cell) {
  return type_table[leaf->type].column == COLUMN_I64 &&
         integer_is_wide(cell.i64, leaf->type == ECS_U64);
}

/* The length of the list at an argument, at most `most`. Raises an error for other keys or, if the
** list may have holes, for keys not from 1 to `most`. */
lua_Unsigned check_list(lua_State *L, int arg, lua_Unsigned most, const char *what, bool holes);

/* Reading an entity's component into Lua values. */

/* Where a component's cells are. Looked up again if a finalizer has used the world. */
struct place {
  lua_State *L;
  struct world_box *box;
  int world_index;
  uint32_t calls;
  ecs_id entity;
  const struct component *component;
  ecs_id id;                   /* the component's */
  uint64_t version;            /* registry.version when it was found */
  const struct column *columns;   /* NULL: it has none; its defaults are read */
  uint32_t row;
};

/* Finds a sparse component of a living entity; false if the entity does not have it. */
bool place_find_sparse(struct place *place);

/* Finds the component in any storage, from the entity's record. */
static inline bool place_look(struct place *place, const struct record *record) {
  const struct table *table = record_table(place->box->world, record);
  const struct layout *layout = table ? table_find(table, place->id) : NULL;
  if (!layout || !layout->taken) return place_find_sparse(place);
  place->columns = layout->columns;
  place->row = record->row;
  return true;
}

static inline void place_init(struct place *place, lua_State *L, struct world_box *box,
                              int world_index, ecs_id entity,
                              const struct component *component) {
  place->L = L;
  place->box = box;
  place->world_index = world_index;
  place->calls = box->calls;
  place->entity = entity;
  place->component = component;
  place->id = component->id;
  place->version = *box->version;
  place->columns = NULL;
}

/* Called after a Lua call that made an object: raises an error if a finalizer has meanwhile removed
** the entity, the component or the world. */
void place_hold(struct place *place);

/* Pushes a declared field's value, with its leaves counted from a base: a new table for an array or
** a nested component. */
void push_field(struct place *place, const struct field *field, uint32_t base);
/* Pushes one leaf or, for NONE, the values of all fields. Returns their number. */
int push_values(struct place *place, uint32_t leaf);
/* Pushes a new table of all fields; true for a tag. */
void push_component(struct place *place);
/* In the registry: reader(world, id), which makes the metatable of tables from push_component. */
extern const char value_reader_key;

/* Moves numbers and booleans between columns and Lua's stack, for loops, without calls into other
** files. */

/* Pushes a number or boolean; false if the value is neither, or is wide. */
INLINE bool push_number_at(lua_State *L, ecs_type type, const void *data,
                                  uint32_t row) {
  switch ((enum type_column)type_table[type].column) {
    case COLUMN_F32: lua_pushnumber(L, (lua_Number)((const float *)data)[row]); return true;
    case COLUMN_F64: lua_pushnumber(L, (lua_Number)((const double *)data)[row]); return true;
    case COLUMN_I8: lua_pushinteger(L, ((const int8_t *)data)[row]); return true;
    case COLUMN_I16: lua_pushinteger(L, ((const int16_t *)data)[row]); return true;
    case COLUMN_I32: lua_pushinteger(L, ((const int32_t *)data)[row]); return true;
    case COLUMN_I64: {
      int64_t value = ((const int64_t *)data)[row];
      if (integer_is_wide(value, type == ECS_U64)) return false;
      lua_pushinteger(L, value);
      return true;
    }
    case COLUMN_U8: lua_pushinteger(L, ((const uint8_t *)data)[row]); return true;
    case COLUMN_U16: lua_pushinteger(L, ((const uint16_t *)data)[row]); return true;
    case COLUMN_U32: lua_pushinteger(L, ((const uint32_t *)data)[row]); return true;
    case COLUMN_BOOL: lua_pushboolean(L, ((const uint8_t *)data)[row]); return true;
    default: return false;
  }
}

/* Converts the value at an index to a cell of a float or integer type, by world:set's rules; false
** if it does not fit, and for other types. */
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

/* Storing in the cells of a column, for loops. */

/* Stores the value at an index to a float or integer column, by world:set's rules; false if it does
** not fit, and for other types. */
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

/* Stores a cell; releases the old value of an any field. */
static inline void store_cell_at(struct any_slots *any, const struct leaf *leaf, void *data,
                                 uint32_t row, ecs_cell cell) {
  if (UNLIKELY(leaf->type == ECS_ANY)) any_release(any, ((uint32_t *)data)[row]);
  cell_store(data, leaf->size, row, cell);
}

/* Values of `any` fields, known only to this Lua state: WORLD_ANY keeps them by the number of their
** slot (core/base/any.h), which is what cells hold. */

/* A pending slot that holds the value at an index; 0 for nil. Slots are pending on their way into
** cells, until values_stored. */
uint32_t take_any(lua_State *L, struct world_box *box, int world_index, int index);

/* Pushes the value of a slot; nil if it has none, or another owner holds it. */
void push_any(lua_State *L, const struct world_box *box, int world_index, uint32_t slot);

/* Drops the values of released slots; frees what a failed call has left pending. */
void settle_any(lua_State *L, struct world_box *box, int world_index);

/* Removes what the list at 2 has after `count` values; a list of `any` values may have holes. */
void list_clear_tail(lua_State *L, ecs_type type, uint32_t count);

#endif
