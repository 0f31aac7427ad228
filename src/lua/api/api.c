/* What other modules in C find in the registry of their Lua state. */
#include "lua/api/api.h"

#include "ecs_entity.h"
#include "ecs_image.h"
#include "ecs_index.h"
#include "ecs_lua_module.h"
#include "ecs_lua_open.h"
#include "ecs_resource.h"
#include "ecs_world.h"
#include "lua/bind/check_world.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"

ecs_world *ecs_lua_to_world(lua_State *L, int index) {
  struct world_box *box = box_test(L, index, &kind_world, sizeof *box);
  if (!box || !box->world) return NULL;
  box->calls++;
  values_begin(box);
  return box->world;
}

static ecs_world *world_argument(lua_State *L, int arg) {
  return check_free_world(L, arg)->world;
}

static const ecs_lua_api api = {
  .version = ECS_LUA_API_VERSION,
  .to_world = ecs_lua_to_world,
  .check_world = world_argument,
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

void api_open(lua_State *L) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)&api);
  lua_setfield(L, LUA_REGISTRYINDEX, ECS_LUA_API_KEY);
}
