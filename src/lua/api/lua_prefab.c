#include <lauxlib.h>

#include "core/entity/clone.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/value.h"
#include "lua/live/live.h"

/* ---- copies ---- */

/* Pushes the id of a copy of an entity, named by argument 2, with the components at 3 set in it. */
static int prefab_copy(lua_State *L, struct world_box *box, ecs_id id, enum clone_kind kind) {
  struct composition plan;
  composition_read(&plan, L, box, 3);
  composition_order(&plan, 0, plan.count);
  RETRY_OR_BLAME(L, box, 2, clone_find(box->world, id, kind));
  /* Gives each `any` value to be copied a slot. If anything that ran meanwhile has changed the
  ** world, the call ends here. */
  struct clone *clone = box->world->clone;
  uint32_t calls = box->calls;
  need_stack(L, 2);
  for (uint32_t i = 0; i < clone->slot_count; i++) {
    push_any(L, box, 1, clone->slots[i]);
    uint32_t slot = take_any(L, box, 1, -1);
    lua_pop(L, 1);
    if (calls != box->calls) raise_memory(L);
    clone_set_slot(clone, i, slot);
  }
  RETRY_OR_RAISE(L, box, clone_make(box->world, plan.parts, plan.count, &id));
  return spawn_end(L, box, id);
}

static int prefab_world_clone(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  return prefab_copy(L, box, check_entity(L, box, 2), CLONE_PLAIN);
}

/* The prefab that argument 2 names, by path or id. */
static ecs_id check_prefab(lua_State *L, const struct world_box *box) {
  size_t size;
  ecs_id id = ECS_NULL;
  ecs_status status;
  if (lua_type(L, 2) == LUA_TSTRING) {
    const char *path = lua_tolstring(L, 2, &size);
    status = prefab_need(box->world, path, size, &id);
  } else {
    if (lua_type(L, 2) != LUA_TNUMBER) luaL_typeerror(L, 2, "name of a prefab");
    id = check_entity(L, box, 2);
    status = prefab_need_id(box->world, id);
  }
  if (status != ECS_OK) raise_argument(L, box->world, status, 2);
  return id;
}

static int prefab_world_instantiate(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  return prefab_copy(L, box, check_prefab(L, box), CLONE_INSTANCE);
}

/* ---- the list that lua/ecs/prefab.lua makes from a declaration ---- */

/* Pushes an entry, counted from 0. Returns its stack index. */
static int prefab_open_entry(lua_State *L, int list, uint32_t at) {
  lua_rawgeti(L, list, (lua_Integer)at + 1);
  return lua_gettop(L);
}

/* The total number of shared components of the entities in the list. */
static uint32_t prefab_count_shared(lua_State *L, int list, uint32_t count) {
  size_t shared = 0;
  int top = lua_gettop(L);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, top)) {
    option(L, prefab_open_entry(L, list, i), "shared");
    shared += (size_t)lua_rawlen(L, -1);
  }
  return (uint32_t)shared;
}

/* What an entry is read into. */
struct entry_reading {
  struct composition *plan;
  struct prefab_node *node;
  ecs_id *shared;
  const char *key;           /* the current component's name, kept alive by a table of the list; or
                             ** NULL */
};

/* Records the name at a stack index, unless it is too long for messages. */
static void prefab_note_key(lua_State *L, int index, struct entry_reading *reading) {
  bool shown = lua_type(L, index) == LUA_TSTRING && lua_rawlen(L, index) <= 64;
  reading->key = shown ? lua_tostring(L, index) : NULL;
}

/* Reads the shared components of the entry. */
static void prefab_read_shared(lua_State *L, int entry, struct entry_reading *reading) {
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
    prefab_note_key(L, -1, reading);
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

static void prefab_read_is_a(lua_State *L, const struct world_box *box, int entry,
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

/* A C function, (world, entry, reading): reads an entry except for the place of its parts. Its base
** may not exist yet when a reload is checked. The list keeps its name alive. */
static int prefab_read_entry(lua_State *L) {
  struct entry_reading *reading = lua_touserdata(L, 3);
  struct composition *plan = reading->plan;
  struct prefab_node *node = reading->node;
  uint32_t before = plan->count;
  *node = (struct prefab_node){.name = {"", 0}, .is_a = ECS_NULL};
  if (option(L, 2, "name") == LUA_TSTRING)
    node->name.data = lua_tolstring(L, -1, &node->name.size);
  if (option(L, 2, "parent") == LUA_TNUMBER) node->parent = (uint32_t)lua_tointeger(L, -1) - 1;
  if (!plan->migration) prefab_read_is_a(L, plan->input.box, 2, node);
  prefab_read_shared(L, 2, reading);
  option(L, 2, "components");
  int value = lua_gettop(L) + 2;
  for (lua_pushnil(L); lua_next(L, value - 2); lua_pop(L, 1)) {
    prefab_note_key(L, -2, reading);
    composition_add_part(plan, value);
  }
  node->part_count = plan->count - before;
  return 0;
}

/* Reads an entry of the list; errors include its title. */
static void prefab_read_at(lua_State *L, int list, uint32_t at, struct entry_reading *reading) {
  reading->key = NULL;
  int entry = prefab_open_entry(L, list, at);
  lua_pushcfunction(L, prefab_read_entry);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, entry);
  lua_pushlightuserdata(L, reading);
  int status = lua_pcall(L, 3, 0, 0);
  if (status == LUA_ERRMEM) lua_error(L);
  if (status == LUA_OK) return;
  const char *key = reading->key;
  option(L, entry, "title");
  /* In Lua 5.5.0, luaL_error raises another text if there is no memory for this one. */
  lua_pushfstring(L, key ? "%s, '%s': %s" : "%s%s: %s", lua_tostring(L, -1), key ? key : "",
                  lua_tostring(L, -2));
  lua_error(L);
}

/* Reads the entities of the list; `shared` has room for their shared components. Nodes point into
** `shared`, into the composition, and to texts of the list. */
static void prefab_read_list(struct composition *plan, int list, struct prefab_node *nodes,
                             uint32_t count, ecs_id *shared) {
  lua_State *L = plan->input.L;
  int top = lua_gettop(L);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, top)) {
    prefab_read_at(L, list, i, &(struct entry_reading){plan, &nodes[i], shared, NULL});
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
  lua_settop(L, 3);
  uint32_t count = (uint32_t)lua_rawlen(L, 3);
  struct prefab_node node;
  ecs_id *shared = lua_newuserdatauv(L, (prefab_count_shared(L, 3, count) + 1) * sizeof *shared, 0);
  for (uint32_t i = 0; i < count; i++, lua_settop(L, 4)) {
    struct composition plan;
    composition_begin(&plan, L, box);
    plan.migration = &box->stage->transaction.migration;
    prefab_read_at(L, 3, i, &(struct entry_reading){&plan, &node, shared, NULL});
    values_begin(box);
  }
  return 0;
}

/* ---- declaring ---- */

/* The stack of world:prefab. */
enum { AT_NAME = 2, AT_COMPONENTS, AT_OPTIONS };

/* Declares a prefab from the list at the top of the stack, and pushes its id. */
static int prefab_declare_list(lua_State *L) {
  int list = lua_gettop(L);
  uint32_t count = (uint32_t)lua_rawlen(L, list);
  size_t shared_count = prefab_count_shared(L, list, count);
  struct prefab_node *nodes = lua_newuserdatauv(L, (count + (size_t)1) * sizeof *nodes, 0);
  ecs_id *shared = lua_newuserdatauv(L, (shared_count + 1) * sizeof *shared, 0);
  struct world_box *box = check_world(L, 1);
  struct composition plan;
  composition_begin(&plan, L, box);
  prefab_read_list(&plan, list, nodes, count, shared);
  ecs_id id = ECS_NULL;
  RETRY_OR_RAISE(L, box, prefab_declare(box->world, nodes, count, &id));
  return spawn_end(L, box, id);
}

int prefab_declare_listed(lua_State *L) {
  check_world(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  need_stack(L, 20);
  lua_settop(L, 2);
  return prefab_declare_list(L);
}

static int world_prefab(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  check_text(L, AT_NAME, NULL);
  lua_settop(L, AT_OPTIONS);
  need_stack(L, 20);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, AT_COMPONENTS);
  lua_setfield(L, -2, "components");
  lua_pushvalue(L, AT_OPTIONS);
  lua_setfield(L, -2, "options");
  declare_parse(L, AT_NAME, lua_gettop(L), "prefab");
  if (!box->stage) return prefab_declare_list(L);
  stage_record(L, box, REGISTERED_PREFAB, AT_NAME, -1);
  lua_pushnil(L);
  return 1;
}

const luaL_Reg world_prefab_methods[] = {
  {"clone", prefab_world_clone},
  {"instantiate", prefab_world_instantiate},
  {"prefab", world_prefab},
  {NULL, NULL}
};
