#include "lua/api/lua_prefab.h"

#include "core/entity/clone.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "lua/bind/any_values.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/living.h"
#include "lua/bind/settle.h"
#include "lua/bind/status.h"
#include "lua/api/composition.h"
#include "lua/api/lua_declare.h"
#include "lua/api/lua_spawn.h"
#include "lua/api/prefab_list.h"
#include "lua/live/registrar.h"

/* ---- copies ---- */

/* Each any value that is to be copied gets a slot of its own. Whatever ran meanwhile has left the
** world alone, or the call ends here. */
static void take_slots(lua_State *L, struct world_box *box) {
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
}

/* Pushes the id of a copy of an entity, which argument 2 names, with the plan over it. */
static int prefab_copy(lua_State *L, struct composition *plan, ecs_id id, enum clone_kind kind) {
  struct world_box *box = plan->input.box;
  bool tried = false;
  ecs_status status;
  composition_order(plan, 0, plan->count);
  do
    status = clone_find(box->world, id, kind);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_argument(L, box->world, status, 2);
  take_slots(L, box);
  tried = false;
  do
    status = clone_make(box->world, plan->parts, plan->count, &id);
  while (retry(L, box, status, &tried));
  if (UNLIKELY(status != ECS_OK)) return raise_status(L, box->world, status);
  return spawn_end(L, box, id);
}

static int world_clone(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_entity(L, box, 2);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  return prefab_copy(L, &plan, id, CLONE_PLAIN);
}

/* The prefab that argument 2 names, by a path or its id. */
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

static int world_instantiate(lua_State *L) {
  struct world_box *box = check_free_world(L, 1);
  ecs_id id = check_prefab(L, box);
  struct composition plan;
  composition_read(&plan, L, box, 3);
  return prefab_copy(L, &plan, id, CLONE_INSTANCE);
}

/* ---- declaring ---- */

/* Stack of world:prefab. */
enum { AT_NAME = 2, AT_COMPONENTS, AT_OPTIONS };

void prefab_push_list(lua_State *L) {
  need_stack(L, 20);
  lua_settop(L, AT_OPTIONS);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, AT_COMPONENTS);
  lua_setfield(L, -2, "components");
  lua_pushvalue(L, AT_OPTIONS);
  lua_setfield(L, -2, "options");
  declare_parse(L, AT_NAME, lua_gettop(L), "prefab");
}

/* Declares what the list at the top of the stack says, and pushes the id. */
static void declare_list(lua_State *L) {
  int list = lua_gettop(L);
  uint32_t count = (uint32_t)lua_rawlen(L, list);
  size_t shared_count = prefab_list_shared(L, list, count);
  struct prefab_node *nodes = lua_newuserdatauv(L, (count + (size_t)1) * sizeof *nodes, 0);
  ecs_id *shared = lua_newuserdatauv(L, (shared_count + 1) * sizeof *shared, 0);
  struct world_box *box = check_world(L, 1);
  struct composition plan;
  composition_begin(&plan, L, box);
  prefab_list_read(&plan, list, nodes, count, shared);
  bool tried = false;
  ecs_status status;
  ecs_id id = ECS_NULL;
  do
    status = prefab_declare(box->world, nodes, count, &id);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  values_stored(box);
  lua_pushinteger(L, (lua_Integer)id);
  settle(L, box, 1);
}

void prefab_now(lua_State *L, struct world_box *box) {
  (void)box;
  prefab_push_list(L);
  declare_list(L);
}

int prefab_declare_listed(lua_State *L) {
  check_world(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  need_stack(L, 20);
  lua_settop(L, 2);
  declare_list(L);
  return 1;
}

static int world_prefab(lua_State *L) {
  struct world_box *box = check_world(L, 1);
  size_t size;
  check_text(L, AT_NAME, &size);
  lua_settop(L, AT_OPTIONS);
  box->registrar->prefab(L, box);
  return 1;
}

const luaL_Reg world_prefab_methods[] = {
  {"clone", world_clone},
  {"instantiate", world_instantiate},
  {"prefab", world_prefab},
  {NULL, NULL}
};
