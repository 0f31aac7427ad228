#include "lua/api/prefab_list.h"

#include "core/storage/component.h"
#include "core/ids/fail.h"
#include "core/storage/fields.h"
#include "core/entity/prefab.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/id_args.h"
#include "lua/bind/options.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/api/composition.h"

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
    shared += (size_t)lua_rawlen(L, -1);
  }
  return (uint32_t)shared;
}

/* What an entry is read into. */
struct entry_reading {
  struct composition *plan;
  struct prefab_node *node;
  ecs_id *shared;
  const char *key;           /* the component at hand, which a table of the list keeps; or NULL */
};

/* Notes the name at a stack index, unless it is too long for messages. */
static void note_key(lua_State *L, int index, struct entry_reading *reading) {
  bool shown = lua_type(L, index) == LUA_TSTRING && lua_rawlen(L, index) <= 64;
  reading->key = shown ? lua_tostring(L, index) : NULL;
}

/* The components that the entry names as shared. */
static void read_shared(lua_State *L, int entry, struct entry_reading *reading) {
  const struct world_box *box = reading->plan->input.box;
  struct prefab_node *node = reading->node;
  option(L, entry, "shared");
  int list = lua_gettop(L);
  node->shared = reading->shared;
  node->shared_count = (uint32_t)lua_rawlen(L, list);
  for (uint32_t i = 0; i < node->shared_count; i++, lua_pop(L, 1)) {
    struct component *component;
    size_t size;
    lua_rawgeti(L, list, (lua_Integer)i + 1);
    note_key(L, -1, reading);
    const char *name = lua_tolstring(L, -1, &size);
    ecs_status status = component_need(box->world, name, size, &component);
    if (status == ECS_OK && component->relation)
      status = world_fail(box->world, ECS_EINVAL, "relation '%s' cannot be shared",
                          component->name);
    if (status != ECS_OK) raise_status(L, box->world, status);
    reading->shared[i] = component->id;
  }
  reading->key = NULL;
}

static void read_is_a(lua_State *L, const struct world_box *box, int entry,
                      struct prefab_node *node) {
  int is_integer, type = option(L, entry, "is_a");
  size_t size;
  ecs_status status = ECS_OK;
  if (type == LUA_TSTRING) {
    const char *path = lua_tolstring(L, -1, &size);
    status = prefab_need(box->world, path, size, &node->is_a);
  } else if (type == LUA_TNUMBER) {
    node->is_a = to_id(L, -1, &is_integer);
    status = prefab_need_id(box->world, node->is_a);
  }
  if (status != ECS_OK) raise_status(L, box->world, status);
}

/* A C function, (world, entry, reading): all of the entry but where its parts are. What it is made
** of may not be there yet when a reload is checked. The list keeps its name. */
static int read_entry(lua_State *L) {
  struct entry_reading *reading = lua_touserdata(L, 3);
  struct composition *plan = reading->plan;
  struct prefab_node *node = reading->node;
  uint32_t before = plan->count;
  *node = (struct prefab_node){.name = {"", 0}, .is_a = ECS_NULL};
  if (option(L, 2, "name") == LUA_TSTRING)
    node->name.data = lua_tolstring(L, -1, &node->name.size);
  if (option(L, 2, "parent") == LUA_TNUMBER) node->parent = (uint32_t)lua_tointeger(L, -1) - 1;
  if (!plan->migration) read_is_a(L, plan->input.box, 2, node);
  read_shared(L, 2, reading);
  option(L, 2, "components");
  int value = lua_gettop(L) + 2;
  for (lua_pushnil(L); lua_next(L, value - 2); lua_pop(L, 1)) {
    note_key(L, -2, reading);
    composition_add_part(plan, value);
  }
  node->part_count = plan->count - before;
  return 0;
}

/* Reads an entry of the list; what is wrong with it is raised with its title. */
static void read_at(lua_State *L, int list, uint32_t at, struct entry_reading *reading) {
  reading->key = NULL;
  int entry = open_entry(L, list, at);
  lua_pushcfunction(L, read_entry);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, entry);
  lua_pushlightuserdata(L, reading);
  int status = lua_pcall(L, 3, 0, 0);
  if (status == LUA_ERRMEM) lua_error(L);
  if (status == LUA_OK) return;
  const char *key = reading->key;
  option(L, entry, "title");
  luaL_error(L, key ? "%s, '%s': %s" : "%s%s: %s", lua_tostring(L, -1), key ? key : "",
             lua_tostring(L, -2));
}

void prefab_list_read(struct composition *plan, int list, struct prefab_node *nodes,
                      uint32_t count, ecs_id *shared) {
  lua_State *L = plan->input.L;
  int top = lua_gettop(L);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, top)) {
    read_at(L, list, i, &(struct entry_reading){plan, &nodes[i], shared, NULL});
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
  struct prefab_node node;
  ecs_id *shared = lua_newuserdatauv(L, (prefab_list_shared(L, 2, count) + 1) * sizeof *shared, 0);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, 4)) {
    struct composition plan;
    composition_begin(&plan, L, box);
    plan.migration = lua_touserdata(L, 3);
    read_at(L, 2, i, &(struct entry_reading){&plan, &node, shared, NULL});
    values_begin(box);
  }
  return 0;
}
