#include "lua/api/world_array.h"

#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/declare_array.h"
#include "core/storage/array.h"
#include "core/storage/component.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/api/lua_array.h"
#include "lua/live/registrar.h"

void array_now(lua_State *L, struct world_box *box) {
  size_t size;
  const char *name = check_text(L, 2, &size);
  struct array_box *array = array_push(L, box);
  ecs_id id;
  box = check_world(L, 1);
  ecs_status status = array_need_name(box->world, name, size, &id);
  if (status != ECS_OK) raise_argument(L, box->world, status, 2);
  array->id = id;
}

void array_pending(lua_State *L, struct world_box *box) {
  size_t size;
  const char *name = check_text(L, 2, &size);
  if (component_find(box->world, name, size)) {
    array_now(L, box);
    return;
  }
  array_push(L, box);
}

static ecs_type array_declaration_check_type(lua_State *L, int arg) {
  size_t size;
  const char *name = check_text(L, arg, &size);
  ecs_type type;
  char text[160];
  if (type_of_name(name, &type) && array_takes(type)) return type;
  char shown[48];
  text_format(text, sizeof text, "an array is of f32, f64, i8 to i64, u8 to u64, bool or entity, "
              "got %s", show_value(L, arg, shown, sizeof shown));
  luaL_argerror(L, arg, text);
  return ECS_F32;
}

static uint32_t check_length(lua_State *L, int arg) {
  int is_integer = 0;
  lua_Integer length = 0;
  if (lua_type(L, arg) == LUA_TNUMBER) length = lua_tointegerx(L, arg, &is_integer);
  if (is_integer && length >= 1 && length <= ARRAY_LENGTH_LIMIT) return (uint32_t)length;
  char text[128], shown[48];
  text_format(text, sizeof text, "a length from 1 to %u expected, got %s", ARRAY_LENGTH_LIMIT,
              show_value(L, arg, shown, sizeof shown));
  luaL_argerror(L, arg, text);
  return 0;
}

/* Tells those who read scripts, if any: what a declaration may differ in. */
static bool array_declaration_announce(lua_State *L, struct world_box *box,
                                       const char *type, uint32_t length) {
  lua_createtable(L, 0, 2);
  lua_pushstring(L, type);
  lua_setfield(L, -2, "array");
  lua_pushinteger(L, (lua_Integer)length);
  lua_setfield(L, -2, "length");
  bool foreign = box->registrar->announce(L, 2, lua_gettop(L));
  lua_pop(L, 1);
  return foreign;
}

static int declare_array(lua_State *L, struct world_box *box) {
  size_t size;
  const char *name = check_text(L, 2, &size);
  ecs_type type = array_declaration_check_type(L, 3);
  uint32_t length = check_length(L, 4);
  bool foreign = array_declaration_announce(L, box, type_name(type), length);
  struct array_box *array = array_push(L, box);
  ecs_field field;
  ecs_component_desc desc;
  declare_array_describe(&desc, &field, name, type, length);
  box = check_world(L, 1);
  ecs_id id = ECS_NULL;
  bool tried = false;
  ecs_status status;
  do
    status = box->registrar->declare(L, box, &desc, foreign, &id);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) return raise_status(L, box->world, status);
  array->id = id;
  lua_settop(L, 5);
  settle(L, box, 1);
  return 1;
}

/* world:array(name, type, length) declares one, world:array(name) gives the one of that name. */
static int world_array(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  bool declares = !lua_isnoneornil(L, 3) || !lua_isnoneornil(L, 4);
  check_only(L, 4, "one length expected: of a grid, its width * height");
  lua_settop(L, 4);
  if (declares) return declare_array(L, box);
  lua_settop(L, 2);
  box->registrar->array(L, box);
  return 1;
}

const luaL_Reg world_array_methods[] = {{"array", world_array}, {NULL, NULL}};
