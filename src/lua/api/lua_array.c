#include <lauxlib.h>

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/live/live.h"

const char kind_array = 0;

/* ---- finding an array ----------------------------------------------------------------- */

/* Finds no array that only a swap of scripts shows before its commit: it has no cells yet. */
const struct component *array_find(lua_State *L, int index, struct array_box *array) {
  if (!array->box->world) return NULL;
  if (array->component && array->version == *array->box->version) return array->component;
  size_t size;
  lua_getiuservalue(L, index, ARRAY_NAME);
  const char *name = lua_tolstring(L, -1, &size);
  const ecs_world *world = array->box->world;
  const struct component *component = array->id == ECS_NULL ? component_find(world, name, size)
                                                            : component_of(world, array->id);
  lua_pop(L, 1);
  if (!component || !component->length || !component->resource) return NULL;
  array->id = component->id;
  array->component = component;
  array->version = *array->box->version;
  return component;
}

static const struct component *array_missing(lua_State *L, int index,
                                             const struct array_box *array) {
  lua_getiuservalue(L, index, ARRAY_NAME);
  const char *name = lua_tostring(L, -1);
  if (!array->box->world) raise_error(L, "array '%s': its world is closed", name);
  raise_error(L, array->id == ECS_NULL ? "array '%s' cannot be used until all scripts have been "
              "read"
                                       : "array '%s' is no longer declared", name);
  return NULL;
}

/* The array of the array object at an index. */
static inline const struct component *array_open(lua_State *L, int index) {
  struct array_box *array = lua_touserdata(L, index);
  const struct world_box *box = array->box;
  if (LIKELY(box->world && array->version == *box->version && array->component))
    return array->component;
  const struct component *component = array_find(L, index, array);
  return component ? component : array_missing(L, index, array);
}

static struct array_box *check_array(lua_State *L, int arg) {
  struct array_box *array = box_test(L, arg, &kind_array, sizeof *array);
  if (!array) no_object(L, arg, &kind_array, "array");
  return array;
}

/* ---- elements --------------------------------------------------------------------------- */

/* The place of a key, from 0; NONE for a number that is not a valid index. */
static inline uint32_t array_place_of(lua_State *L, const struct component *array, int index) {
  int is_integer;
  lua_Integer at = lua_tointegerx(L, index, &is_integer);
  return is_integer && at >= 1 && at <= array->length ? (uint32_t)(at - 1) : NONE;
}

static int array_no_place(lua_State *L, const struct component *array, int index) {
  char text[64];
  return raise_error(L, "array '%s' has elements 1 to %u, got %s", array->name, array->length,
                     show_value(L, index, text, sizeof text));
}

/* Pushes an element that is not a string, so no finalizer runs. */
static void array_push_element(lua_State *L, struct world_box *box, const struct component *array,
                               uint32_t at) {
  const struct leaf *leaf = &array->leaves[ARRAY_LEAF];
  if (LIKELY(push_number_at(L, leaf->type, array_data(array), at))) return;
  push_cell(L, box, 0, array, leaf, cell_load(array_data(array), leaf->size, at));
}

static int array_index(lua_State *L) {
  if (push_method(L, array_methods, 2)) return 1;
  const struct component *array = array_open(L, 1);
  if (UNLIKELY(lua_type(L, 2) != LUA_TNUMBER)) return array_no_place(L, array, 2);
  uint32_t at = array_place_of(L, array, 2);
  if (UNLIKELY(at == NONE))
    lua_pushnil(L);
  else
    array_push_element(L, ((struct array_box *)lua_touserdata(L, 1))->box, array, at);
  return 1;
}

/* A cell from the value at an index. Numbers, booleans and ids take no memory. */
static ecs_cell array_to_cell(lua_State *L, struct world_box *box, const struct component *array,
                              int index) {
  ecs_cell cell;
  if (UNLIKELY(!number_to_cell(L, array_type(array), index, &cell)))
    value_to_cell(L, box, 0, array, ARRAY_LEAF, index, &cell);
  return cell;
}

static int array_newindex(lua_State *L) {
  const struct component *array = array_open(L, 1);
  struct world_box *box = ((struct array_box *)lua_touserdata(L, 1))->box;
  check_free(L, box);
  uint32_t at = lua_type(L, 2) == LUA_TNUMBER ? array_place_of(L, array, 2) : NONE;
  if (UNLIKELY(at == NONE)) return array_no_place(L, array, 2);
  cell_store(array_data(array), array->leaves[ARRAY_LEAF].size, at,
             array_to_cell(L, box, array, 3));
  return 0;
}

static int array_length(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)array_open(L, 1)->length);
  return 1;
}

/* next(array, place): the next place and its value. */
static int array_next(lua_State *L) {
  struct array_box *box = check_array(L, 1);
  const struct component *array = array_open(L, 1);
  lua_Integer at = luaL_checkinteger(L, 2);
  if (at < 0 || at >= array->length) return 0;
  lua_pushinteger(L, at + 1);
  array_push_element(L, box->box, array, (uint32_t)at);
  return 2;
}

static int array_pairs(lua_State *L) {
  array_open(L, 1);
  lua_pushcfunction(L, array_next);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

static int array_tostring(lua_State *L) {
  struct array_box *box = lua_touserdata(L, 1);
  const struct component *array = array_find(L, 1, box);
  char text[160] = "ecs.array (stale)";
  if (array)
    text_format(text, sizeof text, "ecs.array (%s, %u of %s)", array->name, array->length,
                type_name(array_type(array)));
  lua_pushstring(L, text);
  return 1;
}

/* ---- all elements ----------------------------------------------------------------------- */

/* array:fill(value): sets all elements. */
static int array_fill(lua_State *L) {
  struct world_box *box = check_array(L, 1)->box;
  const struct component *array = array_open(L, 1);
  check_free(L, box);
  if (lua_isnoneornil(L, 2)) return luaL_typeerror(L, 2, type_name(array_type(array)));
  ecs_cell cell = array_to_cell(L, box, array, 2);
  cell_fill(array_data(array), array->leaves[ARRAY_LEAF].size, 0, array->length, cell);
  return 0;
}

/* array:copy(from): copies all elements of an array of the same type that is not longer. */
static int array_copy(lua_State *L) {
  struct world_box *box = check_array(L, 1)->box, *other = check_array(L, 2)->box;
  const struct component *array = array_open(L, 1), *from = array_open(L, 2);
  check_free(L, box);
  if (box != other) return luaL_argerror(L, 2, "the array belongs to another world");
  if (array_type(array) != array_type(from) || from->length > array->length)
    return raise_error(L, "array '%s' (%u of %s) cannot be copied to array '%s' (%u of %s): make "
                          "them alike", from->name, from->length, type_name(array_type(from)),
                       array->name, array->length, type_name(array_type(array)));
  memmove(array_data(array), array_data(from),
          (size_t)from->length * from->leaves[ARRAY_LEAF].size);
  return 0;
}

/* array:read(into): copies all elements into a list by raw access, and removes what follows them
** there; `into` is optional. */
static int array_read(lua_State *L) {
  struct world_box *box = check_array(L, 1)->box;
  lua_settop(L, 2);
  bool given = !lua_isnil(L, 2);
  if (!given) {
    lua_createtable(L, (int)array_open(L, 1)->length, 0);
    lua_replace(L, 2);
  }
  luaL_checktype(L, 2, LUA_TTABLE);
  const struct component *array = array_open(L, 1);
  for (uint32_t i = 0; i < array->length; i++) {
    array_push_element(L, box, array, i);
    lua_rawseti(L, 2, (lua_Integer)i + 1);
  }
  if (given) list_clear_tail(L, array_type(array), array->length);
  return 1;
}

/* array:write(from): sets the first elements from a list by raw access: all of them or, if a value
** does not fit, none. */
static int array_write(lua_State *L) {
  struct world_box *box = check_array(L, 1)->box;
  const struct component *array = array_open(L, 1);
  check_free(L, box);
  lua_settop(L, 2);
  lua_Unsigned count = check_list(L, 2, array->length, "elements", false);
  for (lua_Unsigned i = 1; i <= count; i++, lua_pop(L, 1)) {
    if (lua_rawgeti(L, 2, (lua_Integer)i) == LUA_TNIL)
      luaL_error(L, "bad argument #1 to 'write' (no value at %d)", (int)i);
    array_to_cell(L, box, array, -1);
  }
  uint32_t size = array->leaves[ARRAY_LEAF].size;
  for (lua_Unsigned i = 1; i <= count; i++, lua_pop(L, 1)) {
    lua_rawgeti(L, 2, (lua_Integer)i);
    cell_store(array_data(array), size, (size_t)(i - 1), array_to_cell(L, box, array, -1));
  }
  return 0;
}

/* Pushes an object for the array whose world is at 1 and name at 2, without looking it up. */
static struct array_box *array_push(lua_State *L, struct world_box *box) {
  struct array_box *array = new_box_of(L, &kind_array, sizeof *array, ARRAY_VALUES, 1);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, ARRAY_NAME);
  array->box = box;
  return array;
}

const luaL_Reg array_methods[] = {
  {"copy", array_copy}, {"fill", array_fill}, {"read", array_read}, {"write", array_write},
  {NULL, NULL}};

const luaL_Reg array_metamethods[] = {{"__index", array_index}, {"__newindex", array_newindex},
                                      {"__len", array_length},  {"__pairs", array_pairs},
                                      {"__tostring", array_tostring}, {NULL, NULL}};

/* ---- world array ---- */

static int declare_array(lua_State *L, struct world_box *box) {
  const char *name = check_text(L, 2, NULL), *given = check_text(L, 3, NULL);
  ecs_type type;
  lua_Integer length;
  char text[160], shown[48];
  if (!type_of_name(given, &type) || !array_takes(type)) {
    text_format(text, sizeof text, "an array's type is f32, f64, i8 to i64, u8 to u64, bool or "
                "entity, got %s", show_value(L, 3, shown, sizeof shown));
    return luaL_argerror(L, 3, text);
  }
  read_whole(L, 4, &length);
  if (length < 1 || length > ARRAY_LENGTH_LIMIT) {
    text_format(text, sizeof text, "a length from 1 to %u expected, got %s", ARRAY_LENGTH_LIMIT,
                show_value(L, 4, shown, sizeof shown));
    return luaL_argerror(L, 4, text);
  }
  lua_createtable(L, 0, 2);
  set_text(L, "array", type_name(type));
  set_integer(L, "length", (uint64_t)length);
  bool foreign = stage_announce(L, box, 2, lua_gettop(L));
  lua_pop(L, 1);
  struct array_box *array = array_push(L, box);
  ecs_field field;
  ecs_component_desc desc;
  declare_array_describe(&desc, &field, name, type, (uint32_t)length);
  box = check_world(L, 1);
  ecs_id id = ECS_NULL;
  RETRY_OR_RAISE(L, box, declare_desc(L, box, &desc, foreign, &id));
  array->id = id;
  lua_settop(L, 5);
  settle(L, box, 1);
  return 1;
}

/* world:array(name, type, length) declares an array; world:array(name) returns an existing one. */
static int world_array(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  bool declares = !lua_isnoneornil(L, 3) || !lua_isnoneornil(L, 4);
  check_only(L, 4, "one length expected: for a grid, width * height");
  lua_settop(L, 4);
  if (declares) return declare_array(L, box);
  lua_settop(L, 2);
  size_t size;
  const char *name = check_text(L, 2, &size);
  /* A script that is being read may name an array that is declared later. */
  bool later = box->stage && !component_find(box->world, name, size);
  struct array_box *array = array_push(L, box);
  if (!later) {
    ecs_id id = ECS_NULL;
    box = check_world(L, 1);
    RETRY_OR_BLAME(L, box, 2, array_need_name(box->world, name, size, &id));
    array->id = id;
  }
  if (box->stage) stage_record(L, box, REGISTERED_ARRAY, 2, 3);
  return 1;
}

const luaL_Reg world_array_methods[] = {{"array", world_array}, {NULL, NULL}};
