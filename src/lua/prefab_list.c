#include "lua/prefab_list.h"

#include "core/store/component.h"
#include "core/store/fail.h"
#include "core/store/fields.h"
#include "core/store/prefab.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/ids.h"
#include "lua/bind/options.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/composition.h"

/* Pushes an entry, counted from 0; returns its stack index. */
static int open_entry(lua_State *L, int list, uint32_t at) {
  lua_rawgeti(L, list, (lua_Integer)at + 1);
  return lua_gettop(L);
}

uint32_t prefab_list_shared(lua_State *L, int list, uint32_t count) {
  size_t shared = 0;
  int top = lua_gettop(L);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, top)) {
    option(L, open_entry(L, list, i), "shared");
    shared += lua_rawlen(L, -1);
  }
  return (uint32_t)shared;
}

/* The components that the entry names as shared. */
static void read_shared(lua_State *L, const struct world_box *box, int entry,
                        struct prefab_node *node, ecs_id *ids) {
  option(L, entry, "shared");
  int list = lua_gettop(L);
  node->shared = ids;
  node->shared_count = (uint32_t)lua_rawlen(L, list);
  for (uint32_t i = 0; i < node->shared_count; i++, lua_pop(L, 1)) {
    struct component *component;
    size_t size;
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    const char *name = lua_tolstring(L, -1, &size);
    ecs_status status = component_need(box->world, name, size, &component);
    if (status == ECS_OK && component->relation)
      status = world_fail(box->world, ECS_EINVAL, "relation '%s' cannot be shared",
                          component->name);
    if (status != ECS_OK) raise_status(L, box->world, status);
    ids[i] = component->id;
  }
}

static void read_is_a(lua_State *L, const struct world_box *box, int entry,
                      struct prefab_node *node) {
  int is_integer, type = option(L, entry, "is_a");
  size_t size;
  node->is_a = ECS_NULL;
  if (type == LUA_TNUMBER) node->is_a = to_id(L, -1, &is_integer);
  if (type != LUA_TSTRING) return;
  const char *path = lua_tolstring(L, -1, &size);
  ecs_status status = prefab_need(box->world, path, size, &node->is_a);
  if (status != ECS_OK) raise_status(L, box->world, status);
}

/* All of the entry but where its parts are; the list keeps its name. */
static void read_node(struct composition *plan, int entry, struct prefab_node *node,
                      ecs_id *shared) {
  lua_State *L = plan->batch.L;
  const struct world_box *box = plan->batch.box;
  uint32_t before = plan->count;
  *node = (struct prefab_node){.parent = 0};
  node->name = (ecs_string){"", 0};
  if (option(L, entry, "name") == LUA_TSTRING)
    node->name.data = lua_tolstring(L, -1, &node->name.size);
  node->parent = option(L, entry, "parent") == LUA_TNUMBER
                     ? (uint32_t)lua_tointeger(L, -1) - 1 : 0;
  read_is_a(L, box, entry, node);
  read_shared(L, box, entry, node, shared);
  option(L, entry, "components");
  composition_add(plan, lua_gettop(L));
  node->part_count = plan->count - before;
}

void prefab_list_read(struct composition *plan, int list, struct prefab_node *nodes,
                      uint32_t count, ecs_id *shared) {
  lua_State *L = plan->batch.L;
  int top = lua_gettop(L);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, top)) {
    read_node(plan, open_entry(L, list, i), &nodes[i], shared);
    shared += nodes[i].shared_count;
  }
  composition_end(plan);
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    composition_order(plan, at, nodes[i].part_count);
    nodes[i].parts = plan->parts + at;
    at += nodes[i].part_count;
  }
}

int prefab_list_check(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  uint32_t count = (uint32_t)lua_rawlen(L, 2);
  need_stack(L, 20);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, 3)) {
    struct composition plan;
    composition_begin(&plan, L, box);
    plan.migration = lua_touserdata(L, 3);
    option(L, open_entry(L, 2, i), "components");
    composition_add(&plan, lua_gettop(L));
    values_begin(box);
  }
  return 0;
}
