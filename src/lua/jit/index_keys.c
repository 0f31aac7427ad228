#include <lauxlib.h>

#include "lua/jit/index_keys.h"

#include "core/base/text.h"
#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/command/command.h"
#include "core/query/query.h"
#include "core/ids/world.h"
#include "lua/bind/attempt.h"
#include "lua/bind/args.h"
#include "lua/bind/check_world.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/loop/index_loop.h"
#include "lua/jit/key_program.h"
#include "lua/api/lua_query.h"
#include "lua/loop/scan.h"
#include "lua/api/system_box.h"

/* A userdata that WORLD_REFS anchors by its address. */
struct key_box {
  struct world_box *box;
  struct key_box *next_gone;
};

/* ---- what the core has ----------------------------------------------------------------- */

/* For a host that asks: it cannot call scripts. */
static ecs_status script_key(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  (void)row, (void)ud, (void)key;
  return world_fail(index->world, ECS_EUSER, "index '%s' has a key function of a script: only "
                    "scripts bring it up to date", index->desc.name);
}

static void free_key(void *ud) {
  struct key_box *key = ud;
  key->next_gone = key->box->systems->gone_keys;
  key->box->systems->gone_keys = key;
}

bool index_has_script(const ecs_index *index) { return index->desc.key == script_key; }

void index_keys_push(lua_State *L, struct world_box *box, int function,
                     const struct query_text *query, ecs_index_desc *desc) {
  char what[128];
  const struct scan scan = {.box = box, .what = what, .form = FORM_KEY,
                            .query = query_push(L, box, 1, query)->query};
  text_format(what, sizeof what, "index '%s'", desc->name);
  scan_function(L, &scan, function);
  struct key_box *key = lua_newuserdatauv(L, sizeof *key, KEY_VALUES);
  if (!box->world) no_world(L, 1);   /* a finalizer has closed it */
  *key = (struct key_box){.box = box};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, KEY_WORLD);
  lua_pushvalue(L, function);
  lua_setiuservalue(L, -2, KEY_FUNCTION);
  lua_getiuservalue(L, 1, WORLD_REFS);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, key);
  lua_pop(L, 1);
  desc->key = script_key;
  desc->free = free_key;
  desc->ud = key;
}

void index_keys_sweep(lua_State *L, struct world_box *box, int world_index) {
  if (LIKELY(!box->systems->gone_keys)) return;
  lua_getiuservalue(L, world_index, WORLD_REFS);
  while (box->systems->gone_keys) {
    struct key_box *key = box->systems->gone_keys;
    box->systems->gone_keys = key->next_gone;
    lua_pushnil(L);
    lua_rawsetp(L, -2, key);
  }
  lua_pop(L, 1);
}

void indexes_disown(ecs_world *world, const struct world_box *box) {
  for (ecs_index *index = index_first(world), *next; index; index = next) {
    next = index_next(index);
    if (!index_has_script(index)) continue;
    const struct key_box *key = index->desc.ud;
    if (!box)
      index->desc.free = NULL;
    else if (key->box == box)
      index_remove(index);
  }
}

/* ---- calling --------------------------------------------------------------------------- */

/* The value at the top of the stack, which stays there. */
static void index_keys_read_value(lua_State *L, const ecs_index *index, uint32_t row,
                                  ecs_value *value) {
  char got[80];
  *value = (ecs_value){.kind = ECS_KIND_NONE};
  switch (lua_type(L, -1)) {
    case LUA_TNIL: break;
    case LUA_TBOOLEAN:
      value->kind = ECS_KIND_BOOL;
      value->boolean = lua_toboolean(L, -1);
      break;
    case LUA_TNUMBER:
      value->kind = lua_isinteger(L, -1) ? ECS_KIND_INTEGER : ECS_KIND_NUMBER;
      value->integer = lua_tointeger(L, -1);
      value->number = (double)lua_tonumber(L, -1);
      break;
    case LUA_TSTRING:
      value->kind = ECS_KIND_STRING;
      value->string.data = lua_tolstring(L, -1, &value->string.size);
      break;
    default:
      raise_error(L, "index '%s': the key of " SHOW_ID " is %s: a key is a number, a string, a "
                  "boolean or nil", index->desc.name, copies_entities(&index->rows)[row],
                  show_value(L, -1, got, sizeof got));
  }
}

/* Whether a program has given them, for the function whose object is at 1. */
static bool set_by_program(lua_State *L, struct world_box *box, ecs_index *index) {
  uint32_t count = index_unkeyed(index);
  const struct keyless keyless = {index_query(index)->text, &index->rows,
                                  count == index->rows.count ? NULL : index->stale.rows, count};
  bool integers;
  const void *keys = key_program(L, box, &keyless, &integers);
  for (uint32_t i = 0; keys && i < count; i++) {
    ecs_value key = {.kind = integers ? ECS_KIND_INTEGER : ECS_KIND_NUMBER};
    if (integers)
      key.integer = ((const int64_t *)keys)[i];
    else
      key.number = ((const double *)keys)[i];
    ecs_status status = index_set_key(index, index_unkeyed_row(index, i), &key);
    if (status != ECS_OK) raise_status(L, box->world, status);
  }
  return keys != NULL;
}

/* body(object, index): gives rows their keys. The loop whose views the function is given ends with
** it, by an error, too: the rows that it shows are those of the index. */
static int call_rows(lua_State *L) {
  ecs_index *index = lua_touserdata(L, 2);
  struct world_box *box = ((struct key_box *)lua_touserdata(L, 1))->box;
  if (set_by_program(L, box, index)) return 0;
  struct found_box *found = found_push(L, box, &index->rows, false);
  lua_toclose(L, 3);
  found->ended = false;
  lua_getiuservalue(L, 1, KEY_FUNCTION);
  for (uint32_t i = 0; box->world && i < index_unkeyed(index); i++) {
    uint32_t row = index_unkeyed_row(index, i);
    ecs_value value;
    lua_settop(L, 4);
    lua_pushvalue(L, 4);
    found_push_row(L, 3, found, row);
    box->chance->calls = 0;
    lua_call(L, lua_gettop(L) - 5, 1);
    if (!box->world) return luaL_error(L, "the world is closed");
    index_keys_read_value(L, index, row, &value);
    ecs_status status = index_set_key(index, row, &value);
    if (status != ECS_OK) return raise_status(L, box->world, status);
  }
  return 0;
}

/* Calls it in a scope, with the random numbers that predicates draw. */
static void call_protected(lua_State *L, struct world_box *box, int world_index,
                           ecs_index *index) {
  struct chance outer = *box->chance;
  need_stack(L, 6);
  lua_pushcfunction(L, call_rows);
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_rawgetp(L, -1, index->desc.ud);
  lua_remove(L, -2);
  lua_pushlightuserdata(L, index);
  uint32_t scope;
  ecs_status status = scope_open(box->world, SCOPE_SYSTEM, &scope);
  if (status != ECS_OK) raise_status(L, box->world, status);
  *box->chance = chance_predicate(&outer);
  index->busy = true;
  int called = attempt_call(L, 2, 0);
  if (!box->world) {
    if (called != LUA_OK) lua_error(L);
    luaL_error(L, "the world is closed");
  }
  index->busy = false;
  *box->chance = outer;
  if (called == LUA_OK) status = scope_commit(box->world, scope);
  if (called != LUA_OK || scope_stays_open(status)) scope_cancel(box->world, scope);
  if (called != LUA_OK || status != ECS_OK) index_spoil(index);
  if (called != LUA_OK) lua_error(L);
  if (status != ECS_OK) raise_status(L, box->world, status);
}

void index_keys_refresh(lua_State *L, struct world_box *box, int world_index, ecs_index *index) {
  const struct key_box *key = index->desc.ud;
  ecs_status status;
  if (key->box != box)
    raise_error(L, "index '%s' has a key function of another Lua state: declare it again in this "
                "one", index->desc.name);
  bool tried = false;
  do
    status = index_gather(index);
  while (retry(L, box, status, &tried));
  if (status != ECS_OK) raise_status(L, box->world, status);
  if (index_unkeyed(index)) call_protected(L, box, world_index, index);
  status = index_make(index);
  if (status != ECS_OK) raise_status(L, box->world, status);
}
