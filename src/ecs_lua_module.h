/* For Lua modules in C that scripts load beside ecs. */
#ifndef ECS_LUA_MODULE_H
#define ECS_LUA_MODULE_H

#include <lua.h>

#include "ecs_component.h"
#include "ecs_entity.h"
#include "ecs_index.h"
#include "ecs_observer.h"
#include "ecs_query.h"
#include "ecs_system.h"
#include "ecs_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the ecs of a Lua state offers to other modules there. The functions are those of ecs.h
** without the prefix ecs_ (but switch_system is ecs_switch), for worlds that belong to Lua:
** creating, freeing, running, saving and loading them is left to scripts. world:update calls a
** native system. It returns a status and must neither raise nor yield; the module stays loaded
** until the state is closed, and worlds are freed before that. */
typedef struct ecs_lua_api {
  uint32_t version;   /* the module's ECS_LUA_API_VERSION, at least yours */

  /* ecs_lua_to_world. */
  ecs_world *(*to_world)(lua_State *L, int index);
  /* The world that is argument `arg`; otherwise raises the error that a world's methods raise: it
  ** is not a world, it is closed, or a live session is reading scripts. */
  ecs_world *(*check_world)(lua_State *L, int arg);
  /* Raises the message of a call on this world that returned a status other than ECS_OK. */
  int (*raise)(lua_State *L, const ecs_world *world, ecs_status status);

  const char *(*message)(const ecs_world *world);
  size_t (*bytes)(const ecs_world *world);
  uint32_t (*world_tag)(const ecs_world *world);
  size_t (*alive_count)(const ecs_world *world);
  ecs_status (*check)(ecs_world *world);
  ecs_status (*entity_status)(const ecs_world *world, ecs_id id);
  bool (*alive)(const ecs_world *world, ecs_id id);
  ecs_status (*entity_range)(ecs_world *world, uint32_t first, uint32_t last);
  ecs_status (*recycle_retired)(ecs_world *world, size_t *count);
  ecs_status (*component)(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);
  ecs_status (*tag)(ecs_world *world, const char *name, ecs_id *out);
  ecs_id (*component_find)(const ecs_world *world, const char *name);
  const char *(*component_name)(const ecs_world *world, ecs_id component);
  ecs_status (*undeclare)(ecs_world *world, ecs_id component);
  ecs_status (*resource)(ecs_world *world, ecs_id component);
  ecs_status (*resource_set)(ecs_world *world, ecs_id component, const void *value);
  ecs_status (*resource_get)(const ecs_world *world, ecs_id component, void *value);
  ecs_status (*spawn)(ecs_world *world, const ecs_id *components, size_t n, ecs_id *out);
  ecs_status (*spawn_many)(ecs_world *world, size_t count, const ecs_id *components,
                           size_t n, ecs_id *ids);
  ecs_status (*spawn_at)(ecs_world *world, ecs_id id, const ecs_id *components, size_t n);
  ecs_status (*despawn)(ecs_world *world, ecs_id entity);
  ecs_status (*add)(ecs_world *world, ecs_id entity, ecs_id component);
  ecs_status (*remove)(ecs_world *world, ecs_id entity, ecs_id component);
  bool (*has)(const ecs_world *world, ecs_id entity, ecs_id component);
  ecs_status (*set)(ecs_world *world, ecs_id entity, ecs_id component, const void *value);
  ecs_status (*get)(const ecs_world *world, ecs_id entity, ecs_id component, void *value);
  void *(*cell_of)(const ecs_world *world, ecs_id entity, ecs_id component,
                   uint32_t leaf);
  ecs_status (*leaf)(const ecs_world *world, const char *path, ecs_id *component,
                     uint32_t *leaf);
  void *(*cell_named)(const ecs_world *world, ecs_id entity, const char *path);
  ecs_status (*name)(ecs_world *world, ecs_id entity, const char *name);
  const char *(*name_of)(const ecs_world *world, ecs_id entity);
  ecs_id (*lookup)(const ecs_world *world, const char *name);
  ecs_status (*defer)(ecs_world *world);
  ecs_status (*commit)(ecs_world *world);
  ecs_status (*cancel)(ecs_world *world);
  ecs_status (*query_new)(ecs_world *world, const char *text, ecs_query **out);
  void (*query_free)(ecs_query *query);
  size_t (*query_count)(const ecs_query *query);
  ecs_status (*count)(ecs_world *world, const char *text, size_t *out);
  ecs_status (*query_add)(ecs_query *query, ecs_id component);
  ecs_status (*query_remove)(ecs_query *query, ecs_id component);
  ecs_status (*query_despawn)(ecs_query *query);
  ecs_status (*iter_open)(ecs_query *query, ecs_iter *it);
  bool (*iter_next)(ecs_iter *it);
  ecs_status (*iter_close)(ecs_iter *it);
  ecs_id (*iter_entity)(const ecs_iter *it, size_t row);
  void *(*iter_column)(const ecs_iter *it, uint32_t term, uint32_t leaf);
  ecs_status (*phase)(ecs_world *world, const ecs_phase_desc *desc);
  ecs_status (*system_new)(ecs_world *world, const ecs_system_desc *desc);
  ecs_status (*system_remove)(ecs_world *world, const char *name);
  ecs_status (*switch_system)(ecs_world *world, const char *name, bool on);
  ecs_status (*alpha)(ecs_world *world, const char *phase, double *out);
  uint64_t (*digest)(const ecs_world *world);
  bool (*iter_has)(const ecs_iter *it, uint32_t term);
  ecs_status (*relation)(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);
  ecs_id (*target)(const ecs_world *world, ecs_id source, ecs_id relation);
  ecs_id (*next_target)(const ecs_world *world, ecs_id source, ecs_id relation, ecs_id after);
  size_t (*sources)(const ecs_world *world, ecs_id target, ecs_id relation, ecs_id *ids,
                    size_t room);
  ecs_status (*query_with)(ecs_world *world, const char *text, const ecs_variable *variables,
                           uint32_t count, ecs_query **out);
  ecs_id (*iter_value)(const ecs_iter *it, uint32_t variable);
  ecs_status (*child_of)(ecs_world *world, ecs_id *out);
  size_t (*children)(const ecs_world *world, ecs_id parent, ecs_id *ids, size_t room);
  ecs_status (*enable)(ecs_world *world, ecs_id entity, ecs_id component);
  ecs_status (*disable)(ecs_world *world, ecs_id entity, ecs_id component);
  bool (*enabled)(const ecs_world *world, ecs_id entity, ecs_id component);
  ecs_status (*array)(ecs_world *world, const char *name, ecs_type type, uint32_t length,
                      ecs_id *out);
  void *(*array_data)(ecs_world *world, ecs_id array, size_t *length);
  ecs_status (*event)(ecs_world *world, const ecs_component_desc *desc, ecs_id *out);
  ecs_status (*emit)(ecs_world *world, ecs_id event, const void *value);
  ecs_status (*after)(ecs_world *world, double seconds, ecs_id event, const void *value);
  ecs_status (*clone)(ecs_world *world, ecs_id entity, const ecs_id *components, size_t n,
                      ecs_id *out);
  ecs_status (*prefab)(ecs_world *world, const ecs_prefab_desc *list, size_t count, ecs_id *out);
  ecs_status (*instantiate)(ecs_world *world, ecs_id prefab, const ecs_id *components, size_t n,
                            ecs_id *out);
  ecs_status (*index_new)(ecs_world *world, const ecs_index_desc *desc, ecs_index **out);
  ecs_index *(*index_find)(ecs_world *world, const char *name);
  ecs_status (*index_drop)(ecs_world *world, const char *name);
  ecs_status (*index_within)(ecs_index *index, const double *at, double reach, ecs_found *found);
  ecs_status (*index_nearest)(ecs_index *index, const double *at, double reach, ecs_id except,
                              ecs_found *found);
  ecs_status (*index_equal)(ecs_index *index, const ecs_value *key, ecs_found *found);
  ecs_status (*index_range)(ecs_index *index, const ecs_value *least, const ecs_value *most,
                            ecs_found *found);
  ecs_status (*index_lowest)(ecs_index *index, uint32_t most, ecs_found *found);
  ecs_status (*index_highest)(ecs_index *index, uint32_t most, ecs_found *found);
  bool (*found_next)(ecs_found *found);
  const void *(*index_column)(const ecs_index *index, uint32_t term, uint32_t leaf);
  size_t (*index_count)(const ecs_index *index);
  ecs_id (*index_entity)(const ecs_index *index, size_t row);
  ecs_status (*observer_new)(ecs_world *world, const ecs_observer_desc *desc);
  bool (*sight_next)(ecs_sight *sight);
  ecs_id (*sight_entity)(const ecs_sight *sight);
  const void *(*sight_cell)(const ecs_sight *sight, uint32_t term, uint32_t leaf);
  bool (*sight_has)(const ecs_sight *sight, uint32_t term);
  ecs_id (*sight_value)(const ecs_sight *sight, uint32_t variable);
  bool (*iter_next_rows)(ecs_iter *it);
  void *(*iter_cells)(const ecs_iter *it, uint32_t term, uint32_t leaf, const uint32_t **rows);
  void *(*rows_column)(const struct ecs_rows *rows, uint32_t term, uint32_t leaf);
  ecs_id (*rows_entity)(const struct ecs_rows *rows, size_t row);
} ecs_lua_api;

/* Functions are only ever added at the end, and the version is then increased. Any other change,
** including one of parameters, comes under another key. */
#define ECS_LUA_API_VERSION 1u

/* Its key in the registry, where it is a light userdata. */
#define ECS_LUA_API_KEY "ecs.lua_api.3"

/* The functions of the ecs in this state; valid until the state is closed. Raises an error if there
** is none (the module must require "ecs" first), or if it is older than this header. */
static inline const ecs_lua_api *ecs_lua_functions(lua_State *L) {
  const ecs_lua_api *api;
  lua_getfield(L, LUA_REGISTRYINDEX, ECS_LUA_API_KEY);
  api = (const ecs_lua_api *)lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!api) {
    lua_pushliteral(L, "no ecs with the interface " ECS_LUA_API_KEY " is loaded: call require "
                       "\"ecs\", of the version this module was built for, before the module");
    lua_error(L);
  } else if (api->version < ECS_LUA_API_VERSION) {
    lua_pushfstring(L, "this module was built for version %d of " ECS_LUA_API_KEY
                       ", but ecs has version %d: update ecs, or rebuild the module with its "
                       "headers", (int)ECS_LUA_API_VERSION, (int)api->version);
    lua_error(L);
  }
  return api;
}

#ifdef __cplusplus
}
#endif

#endif
