#include <lauxlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/command/command.h"
#include "ecs_entity.h"
#include "ecs_image.h"
#include "ecs_index.h"
#include "ecs_lua_module.h"
#include "ecs_lua_open.h"
#include "ecs_resource.h"
#include "ecs_version.h"
#include "ecs_world.h"
#include "front/front.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/names.h"
#include "lua/bind/object.h"
#include "lua/bind/value.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/live/live.h"
#include "lua/loop/loop.h"
#include "lua/loop/view.h"

#define METHOD_LISTS 15

/* A kind of object: its metatable, and the methods that scripts can call on it. */
struct object {
  const char *name;
  const void *kind;
  const luaL_Reg *metamethods;
  const luaL_Reg *methods[METHOD_LISTS + 1];   /* ended by NULL */
};

static const struct object objects[] = {
  {"world", &kind_world, world_metamethods,
   {world_core_methods, world_component_methods, world_entity_methods, world_spawn_methods,
    world_query_methods, world_schedule_methods, world_system_methods, world_describe_methods,
    world_view_methods, world_image_methods, world_relation_methods, world_array_methods,
    world_event_methods, world_index_methods, world_prefab_methods}},
  {"query", &kind_query, query_metamethods, {query_methods}},
  {"loop", &kind_loop, loop_metamethods, {NULL}},
  {"view", &kind_view, view_metamethods, {NULL}},
  {"elements", &kind_elements, elements_metamethods, {NULL}},
  {"array", &kind_array, array_metamethods, {array_methods}},
  {"index", &kind_index, index_metamethods, {index_methods}},
  {"loop", &kind_found, found_metamethods, {NULL}},
  {"loop", &kind_held, held_metamethods, {NULL}},
  {"loop", &kind_listed, listed_metamethods, {NULL}},
  {"loop", &kind_parts, parts_metamethods, {NULL}},
  {"chunk", &kind_chunk, chunk_metamethods, {chunk_methods}},
  {"column", &kind_column, column_metamethods, {column_methods}},
  {"snapshot", &kind_snapshot, snapshot_metamethods, {NULL}},
  {"where", &kind_where, where_metamethods, {query_methods}},
  {"kernel", &kind_kernel, kernel_metamethods, {NULL}},
  {"image", &kind_image, image_metamethods, {NULL}},
  {NULL, NULL, NULL, {NULL}}
};

/* What other libraries call methods of a world. */
static const char *const elsewhere[][2] = {
  {"assign", "set"},        {"create", "spawn"}, {"delete", "despawn"}, {"destroy", "despawn"},
  {"emplace", "set"},       {"entity", "spawn"}, {"filter", "query"},   {"kill", "despawn"},
  {"new_entity", "spawn"},  {"patch", "set"},    {"register", "component"},
  {"unset", "remove"},      {"valid", "alive"},  {"view", "query"},
};

/* (methods, key): a key that almost matches a method's name is taken as misspelled; any other key
** is absent, as are names of metamethods. The upvalue is the kind's index among the objects. */
static int module_unknown_method(lua_State *L) {
  const struct object *object = &objects[lua_tointeger(L, lua_upvalueindex(1))];
  lua_settop(L, 2);
  size_t size;
  const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tolstring(L, 2, &size) : NULL;
  if (key && key[0] != '_') {
    struct nearest nearest;
    nearest_begin(&nearest, key, size);
    for (const luaL_Reg *const *list = object->methods; *list; list++)
      for (const luaL_Reg *method = *list; method->name; method++)
        nearest_offer(&nearest, method->name, strlen(method->name));
    const char *hint = nearest_hint(&nearest);
    size_t count = object->kind == &kind_world ? sizeof elsewhere / sizeof *elsewhere : 0;
    for (size_t i = 0; i < count; i++)
      if (strcmp(elsewhere[i][0], key) == 0)
        return luaL_error(L, "%s has no method '%s': write %s", object->name, key, elsewhere[i][1]);
    if (*hint) return luaL_error(L, "%s has no method '%s'%s", object->name, key, hint);
  }
  lua_pushnil(L);
  return 1;
}

/* Makes the kind's metatable, unless the module was already opened in this state. Its `__from` is
** what `require` passes besides the name: the module's file. */
static void module_open_object(lua_State *L, const struct object *object, const char *from) {
  bool known = lua_rawgetp(L, LUA_REGISTRYINDEX, object->kind) == LUA_TTABLE;
  lua_pop(L, 1);
  if (known) return;
  lua_newtable(L);
  lua_pushfstring(L, "ecs.%s", object->name);
  lua_setfield(L, -2, "__name");
  lua_pushstring(L, from);
  lua_setfield(L, -2, "__from");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_newtable(L);
  for (const luaL_Reg *const *list = object->methods; *list; list++)
    luaL_setfuncs(L, *list, 0);
  lua_createtable(L, 0, 1);
  lua_pushinteger(L, object - objects);
  lua_pushcclosure(L, module_unknown_method, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "__index");
  luaL_setfuncs(L, object->metamethods, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, object->kind);
}

/* Formats the parts of the id of an entity, component or pair. */
static int module_format_id(lua_State *L) {
  ecs_id id = check_id(L, 1);
  char text[96];
  if (id >> 53 || (id & PAIR_BIT && ecs_id_tag(id) != 0)) {
    text_format(text, sizeof text, "%lld is not an entity id", (long long)id);
    return luaL_argerror(L, 1, text);
  }
  if (id & PAIR_BIT)
    text_format(text, sizeof text, "(%u, %u)", ecs_id_generation(id), ecs_id_index(id));
  else
    text_format(text, sizeof text, SHOW_ID, id);
  lua_pushstring(L, text);
  return 1;
}

/* native.methods { name = function }: adds methods that are written in Lua to worlds. */
static int module_add_methods(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &kind_world);
  lua_getfield(L, 2, "__index");
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    luaL_checktype(L, -2, LUA_TSTRING);
    luaL_checktype(L, -1, LUA_TFUNCTION);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, 3);
  }
  return 0;
}

/* Like pairs, which in LuaJIT ignores metamethods. */
static int module_fields(lua_State *L) {
  if (luaL_getmetafield(L, 1, "__pairs") == LUA_TNIL) return luaL_typeerror(L, 1, "view");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 3);
  return 3;
}

/* native.exact(world, fn, ...): returns the results of fn. Inside fn, integers that Lua's numbers
** cannot represent are read and stored as text. */
static int module_exact(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  bool before = box->exact;
  box->exact = true;
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0);
  box->exact = before;
  if (status != LUA_OK) return lua_error(L);
  return lua_gettop(L) - 1;
}

/* native.whole(world): makes the changes of the open scope apply as a whole, or not at all. */
static int module_whole(lua_State *L) {
  scope_keep_whole(check_free_world(L, 1)->world);
  return 0;
}

/* The nearest number that fits an f32. */
static int module_f32(lua_State *L) {
  lua_pushnumber(L, (lua_Number)(float)luaL_checknumber(L, 1));
  return 1;
}

/* The text of a u64. */
static int module_unsigned(lua_State *L) {
  push_integer_text(L, ECS_U64, (ecs_cell){.u64 = (uint64_t)luaL_checkinteger(L, 1)});
  return 1;
}

static const luaL_Reg functions[] = {
  {"changes", ecs_native_changes},
  {"declare", ecs_native_declare},
  {"exact", module_exact},
  {"f32", module_f32},
  {"fields", module_fields},
  {"format", module_format_id},
  {"is_open", ecs_native_is_open},
  {"list", ecs_native_list},
  {"methods", module_add_methods},
#ifdef _WIN32
  {"noise", ecs_native_noise},
#endif
  {"now", ecs_native_now},
#ifdef _WIN32
  {"read", ecs_native_read},
#endif
  {"replace", ecs_native_replace},
  {"schema", ecs_native_schema},
  {"stage", ecs_native_stage},
  {"stat", ecs_native_stat},
  {"swap", ecs_native_swap},
  {"try", NULL},
  {"unsigned", module_unsigned},
  {"whole", module_whole},
  {"world", ecs_native_world},
  {NULL, NULL}
};

/* Appends the names of a list to the table at the top of the stack. */
static void module_add_names(lua_State *L, const luaL_Reg *list) {
  for (; list->name; list++) append_text(L, list->name);
}

/* Pushes { native = { names of functions }, world = { names of methods }, ... }. */
static void module_push_exports(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  module_add_names(L, functions);
  lua_setfield(L, -2, "native");
  lua_newtable(L);
  module_add_names(L, portable_functions);
  lua_setfield(L, -2, "math");
  for (const struct object *object = objects; object->name; object++) {
    if (!object->methods[0]) continue;
    lua_newtable(L);
    for (const luaL_Reg *const *list = object->methods; *list; list++) module_add_names(L, *list);
    lua_setfield(L, -2, object->name);
  }
}

/* ---- api ---- */

/* What other C modules find in the registry of their Lua state. */

ecs_world *ecs_lua_to_world(lua_State *L, int index) {
  struct world_box *box = box_test(L, index, &kind_world, sizeof *box);
  if (!box || !box->world) return NULL;
  box->calls++;
  values_begin(box);
  return box->world;
}

static ecs_world *module_world_argument(lua_State *L, int arg) {
  return check_free_world(L, arg)->world;
}

static const ecs_lua_api api = {
  .version = ECS_LUA_API_VERSION,
  .to_world = ecs_lua_to_world,
  .check_world = module_world_argument,
  .raise = raise_status,
  .message = ecs_message,
  .bytes = ecs_bytes,
  .world_tag = ecs_world_tag,
  .alive_count = ecs_alive_count,
  .check = ecs_check,
  .entity_status = ecs_entity_status,
  .alive = ecs_alive,
  .entity_range = ecs_entity_range,
  .recycle_retired = ecs_recycle_retired,
  .component = ecs_component,
  .tag = ecs_tag,
  .component_find = ecs_component_find,
  .component_name = ecs_component_name,
  .undeclare = ecs_undeclare,
  .resource = ecs_resource,
  .resource_set = ecs_resource_set,
  .resource_get = ecs_resource_get,
  .spawn = ecs_spawn,
  .spawn_many = ecs_spawn_many,
  .spawn_at = ecs_spawn_at,
  .despawn = ecs_despawn,
  .add = ecs_add,
  .remove = ecs_remove,
  .has = ecs_has,
  .set = ecs_set,
  .get = ecs_get,
  .cell_of = ecs_cell_of,
  .leaf = ecs_leaf,
  .cell_named = ecs_cell_named,
  .name = ecs_name,
  .name_of = ecs_name_of,
  .lookup = ecs_lookup,
  .defer = ecs_defer,
  .commit = ecs_commit,
  .cancel = ecs_cancel,
  .query_new = ecs_query_new,
  .query_free = ecs_query_free,
  .query_count = ecs_query_count,
  .count = ecs_count,
  .query_add = ecs_query_add,
  .query_remove = ecs_query_remove,
  .query_despawn = ecs_query_despawn,
  .iter_open = ecs_iter_open,
  .iter_next = ecs_iter_next,
  .iter_close = ecs_iter_close,
  .iter_entity = ecs_iter_entity,
  .iter_column = ecs_iter_column,
  .phase = ecs_phase,
  .system_new = ecs_system_new,
  .system_remove = ecs_system_remove,
  .switch_system = ecs_switch,
  .alpha = ecs_alpha,
  .digest = ecs_digest,
  .iter_has = ecs_iter_has,
  .relation = ecs_relation,
  .target = ecs_target,
  .next_target = ecs_next_target,
  .sources = ecs_sources,
  .query_with = ecs_query_with,
  .iter_value = ecs_iter_value,
  .child_of = ecs_child_of,
  .children = ecs_children,
  .enable = ecs_enable,
  .disable = ecs_disable,
  .enabled = ecs_enabled,
  .array = ecs_array,
  .array_data = ecs_array_data,
  .event = ecs_event,
  .emit = ecs_emit,
  .after = ecs_after,
  .clone = ecs_clone,
  .prefab = ecs_prefab,
  .instantiate = ecs_instantiate,
  .index_new = ecs_index_new,
  .index_find = ecs_index_find,
  .index_drop = ecs_index_drop,
  .index_within = ecs_index_within,
  .index_nearest = ecs_index_nearest,
  .index_equal = ecs_index_equal,
  .index_range = ecs_index_range,
  .index_lowest = ecs_index_lowest,
  .index_highest = ecs_index_highest,
  .found_next = ecs_found_next,
  .index_column = ecs_index_column,
  .index_count = ecs_index_count,
  .index_entity = ecs_index_entity,
  .observer_new = ecs_observer_new,
  .sight_next = ecs_sight_next,
  .sight_entity = ecs_sight_entity,
  .sight_cell = ecs_sight_cell,
  .sight_has = ecs_sight_has,
  .sight_value = ecs_sight_value,
  .iter_next_rows = ecs_iter_next_rows,
  .iter_cells = ecs_iter_cells,
  .rows_column = ecs_rows_column,
  .rows_entity = ecs_rows_entity,
};

/* ---- opening the module ---- */

int luaopen_ecs_native(lua_State *L) {
  luaL_checkversion(L);
  const char *from = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  world_environment_check(L);
  worlds_open(L);
  weights_open(L);
  names_open(L);
  lua_pushlightuserdata(L, (void *)(uintptr_t)&api);
  lua_setfield(L, LUA_REGISTRYINDEX, ECS_LUA_API_KEY);
  for (const struct object *object = objects; object->name; object++)
    module_open_object(L, object, from);
  if (NUMBERS_ARE_DOUBLES) library_push(L, portable_functions);   /* before scripts replace any */
  luaL_newlib(L, functions);
  attempt_push(L);
  lua_setfield(L, -2, "try");
  lua_newtable(L);
  luaL_setfuncs(L, portable_functions, 0);
  lua_setfield(L, -2, "math");
  lua_pushinteger(L, 0);
  lua_setfield(L, -2, "null");
  lua_pushliteral(L, ECS_VERSION);
  lua_setfield(L, -2, "version");
  module_push_exports(L);
  lua_setfield(L, -2, "exports");
  return 1;
}
