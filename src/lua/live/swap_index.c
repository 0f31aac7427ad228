#include "lua/live/swap_index.h"

#include "core/base/text.h"
#include "core/change/migrate.h"
#include "core/index/indexing.h"
#include "core/query/query.h"
#include "core/ids/world.h"
#include "lua/bind/options.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/loop/stage.h"
#include "lua/live/swap_plan.h"
#include "lua/api/world_index.h"

/* Whether a list of the plan has an entry of that name. */
static bool is_listed(lua_State *L, const char *list, const char *name) {
  uint32_t count = swap_list(L, list);
  bool found = false;
  for (uint32_t i = 0; i < count && !found; i++) found = strcmp(swap_entry(L, i), name) == 0;
  lua_settop(L, SWAP_PLAN);
  return found;
}

/* build(world, name, spec, owner): into the list of the stage, in which there is room. */
static int build_index(lua_State *L) {
  struct world_box *box = lua_touserdata(L, 1);
  struct stage *stage = box->stage;
  const char *owner = lua_touserdata(L, 4);
  lua_settop(L, 3);
  ecs_status status = index_in_swap(L, box, owner, &stage->indexes[stage->index_count]);
  if (status != ECS_OK) return raise_status(L, box->world, status);
  ecs_index *index = stage->indexes[stage->index_count++];
  status = migration_check_query(&stage->transaction.migration, index_query(index));
  if (status != ECS_OK) raise_status(L, box->world, status);
  return 0;
}

static void plan_index(lua_State *L) {
  bool owned = option(L, SWAP_ENTRY, "owner") == LUA_TSTRING;
  const char *owner = owned ? lua_tostring(L, -1) : NULL;
  lua_pushcfunction(L, build_index);
  lua_pushvalue(L, SWAP_WORLD);
  lua_pushvalue(L, SWAP_NAME);
  if (option(L, SWAP_ENTRY, "spec") != LUA_TTABLE) luaL_error(L, "malformed plan");
  lua_pushlightuserdata(L, (void *)(uintptr_t)owner);
  swap_call(L, 4);
}

static bool is_replaced(const struct stage *stage, const ecs_index *index) {
  for (uint32_t i = 0; i < stage->index_count; i++)
    if (strcmp(index_name(stage->indexes[i]), index_name(index)) == 0) return true;
  return false;
}

/* Indexes that stay must find what their queries name, and what they are by. */
static void check_indexes(lua_State *L, struct world_box *box) {
  for (const ecs_index *index = index_first(box->world); index; index = index_next(index)) {
    bool goes = is_replaced(box->stage, index) || is_listed(L, "drop_indexes", index_name(index));
    if (goes || index_query(index)->broken) continue;
    char what[128];
    text_format(what, sizeof what, "index '%s': ", index_name(index));
    ecs_status status =
        migration_check_query(&box->stage->transaction.migration, index_query(index));
    if (status == ECS_OK && box->stage->transaction.migration.count)
      status = index_check_fields(index);
    swap_check(L, box, status, what);
  }
}

static void check_named_indexes(lua_State *L, const struct world_box *box, const char *list) {
  uint32_t count = swap_list(L, list);
  for (uint32_t i = 0; i < count; i++) {
    swap_list(L, list);
    const char *name = swap_entry(L, i);
    size_t size = strlen(name);
    bool known = index_named(box->world, name, size) && !is_listed(L, "drop_indexes", name);
    if (known || is_listed(L, "indexes", name)) continue;
    swap_list(L, list);
    swap_entry(L, i);
    swap_check(L, box, index_unknown(box->world, name, size), "");
  }
}

/* A list of indexes in the stage with room for one of each entry of a list of the plan. */
static uint32_t list_indexes(lua_State *L, const struct world_box *box, const char *list,
                             struct ecs_index ***indexes, uint32_t *capacity) {
  uint32_t count = swap_list(L, list);
  ecs_index **grown = memory_grow(box->memory, *indexes, capacity, count, sizeof *grown);
  if (!grown && count) raise_memory(L);
  *indexes = grown;
  return count;
}

void swap_indexes(lua_State *L, struct world_box *box) {
  struct stage *stage = box->stage;
  uint32_t count =
      list_indexes(L, box, "drop_indexes", &stage->leaving, &stage->leaving_capacity);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = swap_entry(L, i);
    ecs_index *index = index_named(box->world, name, strlen(name));
    if (index) stage->leaving[stage->leaving_count++] = index;
  }
  count = list_indexes(L, box, "indexes", &stage->indexes, &stage->index_capacity);
  for (uint32_t i = 0; i < count; i++) {
    swap_entry(L, i);
    if (option(L, SWAP_ENTRY, "kept") == LUA_TNIL) plan_index(L);
  }
  check_indexes(L, box);
  check_named_indexes(L, box, "named_indexes");
  check_named_indexes(L, box, "kept_named_indexes");
}
