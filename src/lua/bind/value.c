#include "lua/bind/value.h"

#include "core/base/any.h"
#include "core/base/column.h"
#include "core/base/intern.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/sparse.h"
#include "ecs_value.h"
#include "ecs_world.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"

/* Raises why a value did not convert; the core writes the message for near misses. */
static void lua_value_refuse(lua_State *L, struct world_box *box, const struct component *component,
                             uint32_t leaf, int index) {
  const struct leaf *into = &component->leaves[leaf];
  int type = lua_type(L, index);
  bool near_miss = type == LUA_TNUMBER ? type_is_number(into->type) || into->type == ECS_ENTITY
                                       : type == LUA_TSTRING && into->type == ECS_ENUM;
  if (!near_miss) {
    char got[128];
    bool named = into->type == ECS_ENTITY && type == LUA_TSTRING;
    char label[LABEL_SIZE];
    raise_error(L, "%s is %s, got %s%s", component_label(component, into, label, sizeof label),
                type_name(into->type), show_value(L, index, got, sizeof got),
                named ? " (world:lookup returns the id of a name)" : "");
  }
  ecs_value value;
  ecs_cell cell;
  read_scalar(L, index, &value);
  raise_status(L, box->world, component_cell(box->world, component, leaf, &value, &cell));
}

bool integer_of_text(ecs_type type, const char *text, ecs_cell *cell) {
  bool negative = *text == '-';
  uint64_t value = 0, most = type == ECS_U64 ? UINT64_MAX : (uint64_t)INT64_MAX + negative;
  const char *at = text + negative;
  if (!*at || (negative && type == ECS_U64)) return false;
  for (; *at; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (*at < '0' || *at > '9' || value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  return integer_to_cell(type, (int64_t)(negative ? 0 - value : value), cell);
}

/* Converts a value to a cell; false if it does not fit. */
static inline bool lua_value_convert(lua_State *L, struct world_box *box, int world_index,
                                     const struct component *component, uint32_t at, int index,
                                     ecs_cell *cell) {
  const struct leaf *leaf = &component->leaves[at];
  cell->u64 = 0;
  switch (type_class(leaf->type)) {
    case CLASS_TRUTH:
      cell->u8 = (uint8_t)lua_toboolean(L, index);
      return lua_isboolean(L, index);
    case CLASS_ID: {
      int is_integer;
      cell->u64 = to_id(L, index, &is_integer);
      return is_integer && (cell->u64 == ECS_NULL || ecs_alive(box->world, cell->u64));
    }
    case CLASS_NAMES: {
      if (lua_type(L, index) != LUA_TSTRING) return false;
      size_t size;
      const char *text = lua_tolstring(L, index, &size);
      uint32_t name = enumeration_find(leaf->names, text, size);
      if (leaf->size == 1)
        cell->u8 = (uint8_t)name;
      else
        cell->u16 = (uint16_t)name;
      return name != NONE;
    }
    case CLASS_TEXT: {
      ecs_value text = {.kind = ECS_KIND_STRING};
      if (UNLIKELY(lua_type(L, index) != LUA_TSTRING)) return false;
      text.string.data = lua_tolstring(L, index, &text.string.size);
      RETRY_OR_RAISE(L, box, component_cell(box->world, component, at, &text, cell));
      return true;
    }
    case CLASS_SLOT: cell->u32 = take_any(L, box, world_index, index); return true;
    case CLASS_INTEGER:
      if (UNLIKELY(box->exact) && lua_type(L, index) == LUA_TSTRING)
        return integer_of_text(leaf->type, lua_tostring(L, index), cell);
      return number_to_cell(L, leaf->type, index, cell);
    default: return number_to_cell(L, leaf->type, index, cell);
  }
}

void value_to_cell(lua_State *L, struct world_box *box, int world_index,
                   const struct component *component, uint32_t leaf, int index,
                   ecs_cell *cell) {
  if (UNLIKELY(!lua_value_convert(L, box, world_index, component, leaf, index, cell)))
    lua_value_refuse(L, box, component, leaf, index);
}

static void integer_text(ecs_type type, ecs_cell cell, char *text, size_t size) {
  int64_t value = cell_integer(type, type_size(type, 0), cell);
  if (type == ECS_U64)
    text_format(text, size, "%llu", (unsigned long long)value);
  else
    text_format(text, size, "%lld", (long long)value);
}

void push_integer_text(lua_State *L, ecs_type type, ecs_cell cell) {
  char text[32];
  integer_text(type, cell, text, sizeof text);
  lua_pushstring(L, text);
}

/* Raises an error because a cell holds an integer that Lua's numbers cannot represent: in an entity
** or, for ECS_NULL, in the row that the innermost loop shows. */
static int refuse_wide(lua_State *L, const struct world_box *box, const struct component *component,
                       const struct leaf *leaf, ecs_cell cell, ecs_id entity) {
  char of[48] = "", text[32], label[LABEL_SIZE];
  if (entity == ECS_NULL) entity = failure_row(box->loops->open);
  if (entity != ECS_NULL) text_format(of, sizeof of, "entity " SHOW_ID ": ", entity);
  integer_text(leaf->type, cell, text, sizeof text);
  return raise_error(L, "%s%s is %s, and numbers are exact up to 2^53 here: world:get_text gives "
                     "it", of, component_label(component, leaf, label, sizeof label), text);
}

void push_cell(lua_State *L, struct world_box *box, int world_index,
               const struct component *component, const struct leaf *leaf, ecs_cell cell) {
  if (!cell_is_wide(leaf, cell) && push_number_at(L, leaf->type, &cell, 0)) return;
  switch (type_class(leaf->type)) {
    case CLASS_INTEGER:   /* an integer that Lua's numbers cannot represent */
      if (!box->exact) refuse_wide(L, box, component, leaf, cell, ECS_NULL);
      push_integer_text(L, leaf->type, cell);
      break;
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

/* ---- read ---- */

bool place_find_sparse(struct place *place) {
  const struct sparse *sparse = place->component->sparse;
  uint32_t row = sparse ? sparse_row(sparse, ecs_id_index(place->entity)) : NONE;
  if (row == NONE) return false;
  place->columns = sparse->table->columns;
  place->row = row;
  return true;
}

void place_hold(struct place *place) {
  struct world_box *box = place->box;
  if (LIKELY(place->calls == box->calls)) return;
  place->calls = box->calls;
  const struct component *component = box->world ? component_of(box->world, place->id) : NULL;
  /* A component declared again may be at the address of the first. */
  if (component && component == place->component && component->changed <= place->version) {
    const struct record *record = entity_find(box->entities, place->entity);
    if (record && place_look(place, record)) return;
  }
  raise_error(place->L, "the entity changed while it was read");
}

static void value_push_leaf(struct place *place, uint32_t at) {
  const struct leaf *leaf = &place->component->leaves[at];
  ecs_cell cell = leaf->value;
  if (place->columns) cell = cell_load(place->columns[at].data, leaf->size, place->row);
  bool is_wide = cell_is_wide(leaf, cell);
  bool makes_text = leaf->type == ECS_STRING || leaf->type == ECS_ENUM || is_wide;
  if (is_wide && !place->box->exact)
    refuse_wide(place->L, place->box, place->component, leaf, cell, place->entity);
  push_cell(place->L, place->box, place->world_index, place->component, leaf, cell);
  if (makes_text) place_hold(place);
}

/* Pushes a component, or a part of one that begins at a leaf. */
static void value_push_shape(struct place *place, const struct component *shape, uint32_t base);

static void value_read_push_element(struct place *place, const struct field *field, uint32_t base) {
  if (field->nested)
    value_push_shape(place, field->nested, base);
  else
    value_push_leaf(place, base);
}

void push_field(struct place *place, const struct field *field, uint32_t base) {
  if (LIKELY(field->count == 0)) {
    value_read_push_element(place, field, base + field->first_leaf);
    return;
  }
  uint32_t count = field->count, stride = field->leaf_count / count;
  lua_createtable(place->L, (int)count, 0);
  place_hold(place);
  for (uint32_t i = 0; i < count; i++) {
    value_read_push_element(place, field, base + field->first_leaf + i * stride);
    lua_rawseti(place->L, -2, i + 1);
  }
}

static void value_push_shape(struct place *place, const struct component *shape, uint32_t base) {
  need_stack(place->L, 4);
  lua_createtable(place->L, 0, (int)shape->field_count);
  place_hold(place);
  for (uint32_t i = 0; i < shape->field_count; i++) {
    push_field(place, &shape->fields[i], base);
    lua_setfield(place->L, -2, shape->fields[i].name);
  }
}

int push_values(struct place *place, uint32_t leaf) {
  if (leaf != NONE) {
    value_push_leaf(place, leaf);
    return 1;
  }
  int count = (int)place->component->field_count;
  need_stack(place->L, count + 4);
  for (int i = 0; i < count; i++) push_field(place, &place->component->fields[i], 0);
  return count;
}

const char value_reader_key;

/* (readers, world, id): enters the metatable of a component's tables, which Lua makes. */
static int value_make_reader(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &value_reader_key) != LUA_TFUNCTION) return 0;
  lua_pushvalue(L, 2);
  lua_pushvalue(L, 3);
  lua_call(L, 2, 1);
  lua_pushvalue(L, -1);
  lua_rawseti(L, 1, lua_tointeger(L, 3));
  return 1;
}

void push_component(struct place *place) {
  if (place->component->field_count == 0) {
    lua_pushboolean(place->L, 1);
  } else {
    value_push_shape(place, place->component, 0);
    /* tostring shows the table's fields, with the names of entities. */
    lua_State *L = place->L;
    lua_Integer id = (lua_Integer)place->component->id;
    lua_getiuservalue(L, place->world_index, WORLD_READERS);
    if (UNLIKELY(lua_rawgeti(L, -1, id) != LUA_TTABLE)) {
      lua_pop(L, 1);
      lua_pushvalue(L, -1);
      lua_pushvalue(L, place->world_index);
      lua_pushinteger(L, id);
      struct world_box *box = lua_touserdata(L, place->world_index);
      if (try_quietly(L, box, value_make_reader, 3, 1) != LUA_OK) lua_error(L);
    }
    lua_setmetatable(L, -3);
    lua_pop(L, 1);
  }
}

/* ---- any values ---- */

void settle_any(lua_State *L, struct world_box *box, int world_index) {
  if (!lua_checkstack(L, 2)) return;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  uint32_t slot;
  while ((slot = any_next_released(box->any.slots, &box->any.owner)) != 0) {
    int type = lua_rawgeti(L, -1, slot);
    lua_pop(L, 1);
    if (type == LUA_TNIL) continue;
    lua_pushnil(L);
    lua_rawseti(L, -2, slot);
  }
  lua_pop(L, 1);
}

/* The slot is pending before the value is stored, so an error in between loses nothing. */
uint32_t take_any(lua_State *L, struct world_box *box, int world_index, int index) {
  if (lua_isnil(L, index)) return 0;
  index = lua_absindex(L, index);
  need_stack(L, 2);
  uint32_t slot = 0;
  box->scratch->pending =
      scratch_grow(L, box, box->scratch->pending, &box->scratch->pending_capacity,
                   box->any.pending + 1ull, sizeof *box->scratch->pending);
  RETRY_OR_RAISE(L, box, any_take(box->any.slots, box->memory, &box->any.owner, &slot));
  box->scratch->pending[box->any.pending++] = slot;
  lua_getiuservalue(L, world_index, WORLD_ANY);
  lua_pushvalue(L, index);
  lua_rawseti(L, -2, slot);
  lua_pop(L, 1);
  return slot;
}

void push_any(lua_State *L, const struct world_box *box, int world_index, uint32_t slot) {
  if (any_is_of(box->any.slots, slot, &box->any.owner)) {
    lua_getiuservalue(L, world_index, WORLD_ANY);
    lua_rawgeti(L, -1, slot);
    lua_replace(L, -2);
  } else {
    lua_pushnil(L);
  }
}

void list_clear_tail(lua_State *L, ecs_type type, uint32_t count) {
  for (lua_Integer at = (lua_Integer)count + 1; lua_rawgeti(L, 2, at) != LUA_TNIL; at++) {
    lua_pushnil(L);
    lua_rawseti(L, 2, at);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  if (type != ECS_ANY) return;
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    if (!lua_isinteger(L, -2) || lua_tointeger(L, -2) <= (lua_Integer)count) continue;
    lua_pushvalue(L, -2);
    lua_pushnil(L);
    lua_rawset(L, 2);
  }
}
