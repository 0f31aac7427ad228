#include "lua/bind/lua_value.h"

#include "core/base/enumeration.h"
#include "core/base/intern.h"
#include "core/base/text.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "ecs_value.h"
#include "ecs_world.h"
#include "lua/bind/any_values.h"
#include "lua/bind/args.h"
#include "lua/bind/cell.h"
#include "lua/bind/id_args.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

static uint32_t intern_value(lua_State *L, struct world_box *box,
                             const struct component *component, uint32_t leaf, int index) {
  ecs_value value = {.kind = ECS_KIND_STRING};
  value.string.data = lua_tolstring(L, index, &value.string.size);
  ecs_cell cell;
  bool tried = false;
  ecs_status status;
  do
    status = component_cell(box->world, component, leaf, &value, &cell);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  return cell.u32;
}

/* Says why a value did not convert; the core finds the words for what is nearly right. */
static void lua_value_refuse(lua_State *L, struct world_box *box, const struct component *component,
                             uint32_t leaf, int index) {
  const struct leaf *into = &component->leaves[leaf];
  ecs_value value = {ECS_KIND_NONE, false, 0, 0, {NULL, 0}};
  if (lua_type(L, index) == LUA_TNUMBER &&
      (type_is_number(into->type) || into->type == ECS_ENTITY)) {
    value.kind = lua_isinteger(L, index) ? ECS_KIND_INTEGER : ECS_KIND_NUMBER;
    value.integer = (int64_t)lua_tointeger(L, index);
    value.number = (double)lua_tonumber(L, index);
  } else if (lua_type(L, index) == LUA_TSTRING && into->type == ECS_ENUM) {
    value.kind = ECS_KIND_STRING;
    value.string.data = lua_tolstring(L, index, &value.string.size);
  } else {
    char got[128];
    bool named = into->type == ECS_ENTITY && lua_type(L, index) == LUA_TSTRING;
    char label[LABEL_SIZE];
    raise_error(L, "%s is %s, got %s%s", component_label(component, into, label, sizeof label),
                type_name(into->type), show_value(L, index, got, sizeof got),
                named ? " (world:lookup gives the id of a name)" : "");
  }
  ecs_cell cell;
  raise_status(L, box->world, component_cell(box->world, component, leaf, &value, &cell));
}

static bool to_enum(lua_State *L, const struct leaf *leaf, int index, ecs_cell *cell) {
  if (lua_type(L, index) != LUA_TSTRING) return false;
  size_t size;
  const char *text = lua_tolstring(L, index, &size);
  uint32_t at = enumeration_find(leaf->names, text, size);
  if (leaf->size == 1)
    cell->u8 = (uint8_t)at;
  else
    cell->u16 = (uint16_t)at;
  return at != NONE;
}

static bool to_entity(lua_State *L, const struct world_box *box, int index,
                      ecs_cell *cell) {
  int is_integer;
  cell->u64 = to_id(L, index, &is_integer);
  return is_integer &&
         (cell->u64 == ECS_NULL || ecs_alive(box->world, cell->u64));
}

/* False when the value does not fit. */
static inline bool lua_value_convert(lua_State *L, struct world_box *box, int world_index,
                                     const struct component *component, uint32_t at, int index,
                                     ecs_cell *cell) {
  const struct leaf *leaf = &component->leaves[at];
  cell->u64 = 0;
  switch (type_class(leaf->type)) {
    case CLASS_TRUTH:
      cell->u8 = (uint8_t)lua_toboolean(L, index);
      return lua_isboolean(L, index);
    case CLASS_ID: return to_entity(L, box, index, cell);
    case CLASS_NAMES: return to_enum(L, leaf, index, cell);
    case CLASS_TEXT:
      if (UNLIKELY(lua_type(L, index) != LUA_TSTRING)) return false;
      cell->u32 = intern_value(L, box, component, at, index);
      return true;
    case CLASS_SLOT: cell->u32 = take_any(L, box, world_index, index); return true;
    default: return number_to_cell(L, leaf->type, index, cell);
  }
}

void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell) {
  if (UNLIKELY(!lua_value_convert(L, box, world_index, component, leaf, index, cell)))
    lua_value_refuse(L, box, component, leaf, index);
}

void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct leaf *leaf, ecs_cell cell) {
  if (push_number_at(L, leaf->type, &cell, 0)) return;
  switch (type_class(leaf->type)) {
    case CLASS_ID:
      if (!ecs_alive(box->world, cell.u64)) cell.u64 = ECS_NULL;
      lua_pushinteger(L, (lua_Integer)cell.u64);
      break;
    case CLASS_TEXT: {
      ecs_string text = intern_text(box->strings, cell.u32);
      lua_pushlstring(L, text.data, text.size);
      break;
    }
    case CLASS_NAMES: {
      const ecs_string *name =
          &leaf->names->names[cell_integer(leaf->type, leaf->size, cell)];
      lua_pushlstring(L, name->data, name->size);
      break;
    }
    case CLASS_SLOT: push_any(L, box, world_index, cell.u32); break;
    default: assert(false); break;
  }
}

lua_Unsigned check_list(lua_State *L, int arg, lua_Unsigned most, const char *what, bool holes) {
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_Unsigned count = lua_rawlen(L, arg);
  char got[128];
  text_format(got, sizeof got, "%zu values for %zu %s", (size_t)count, (size_t)most, what);
  if (count > most) luaL_argerror(L, arg, got);
  if (push_odd_key(L, arg, holes ? most : count))
    luaL_argerror(L, arg, lua_pushfstring(L, "a list without keys expected, got the key %s",
                                          show_value(L, -1, got, sizeof got)));
  return count;
}
