#include <lauxlib.h>

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/index/edition.h"
#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/query/query.h"
#include "kernel/program.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "lua/loop/loop.h"
#include "runner/run.h"

/* User values of the object of a key function: the world's object, the function, and the handle of
** its kernel. */
enum { KEY_WORLD = 1, KEY_FUNCTION, KEY_KERNEL, KEY_VALUES = KEY_KERNEL };

/* A userdata that WORLD_REFS anchors by its address. */
struct key_box {
  struct world_box *box;
  struct key_box *next_gone;
};

/* ---- what the core has ----------------------------------------------------------------- */

/* The callback for a host, which cannot call script functions. */
static ecs_status script_key(const ecs_index *index, size_t row, void *ud, ecs_value *key) {
  (void)row, (void)ud, (void)key;
  return world_fail(index->world, ECS_EUSER, "index '%s' has a key function in Lua: only a script "
                    "can update it", index->desc.name);
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
  if (!box->world) no_world(L, 1);   /* closed by a finalizer */
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
    next = index->next;
    if (!index_has_script(index)) continue;
    const struct key_box *key = index->desc.ud;
    if (!box)
      index->desc.free = NULL;
    else if (key->box == box)
      index_remove(index);
  }
}

/* ---- the kernel ------------------------------------------------------------------------ */

/* The rows that still need keys. */
struct keyless {
  const char *query;           /* the query of these rows */
  const struct copies *rows;
  const uint32_t *list;        /* NULL: all rows */
  uint32_t count;
};

/* Pushes the handle of the function's kernel, over a query of its own with the index's text. */
static struct kernel_box *key_push_handle(lua_State *L, struct world_box *box,
                                          const char *query) {
  if (lua_getiuservalue(L, 1, KEY_KERNEL) == LUA_TUSERDATA) return lua_touserdata(L, -1);
  int top = lua_gettop(L);
  const struct query_text text = {.text = query};
  lua_getiuservalue(L, 1, KEY_WORLD);
  lua_getiuservalue(L, 1, KEY_FUNCTION);
  query_push(L, box, top + 1, &text);
  kernel_push(L, box, top + 1, top + 2, top + 3, (struct use){"index", RESULT_KEY, false});
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, 1, KEY_KERNEL);
  lua_replace(L, top);
  lua_settop(L, top);
  return lua_touserdata(L, top);
}

static struct variant *key_find_variant(lua_State *L, struct kernel *kernel, int handle) {
  ecs_query *query = (ecs_query *)(uintptr_t)kernel->query;
  if (query->broken || query->terms.step_count || query->terms.slots > KERNEL_SLOTS) return NULL;
  for (uint32_t i = 0; i < query->terms.count; i++) query->terms.terms[i].read_only = true;
  const struct which which = variant_wanted(kernel, NULL);
  int anchors = handle + 1;
  kernel->runs++;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  struct variant *variant = variant_need(L, handle, anchors, kernel, which);
  kernel->refused = !variant;
  if (!variant) lua_setiuservalue(L, handle, KERNEL_REASON);
  if (variant) variant = variant_find(L, anchors, kernel, which);
  lua_settop(L, anchors);
  const struct run_plan *plan = variant ? &variant->plan : NULL;
  /* It may do nothing except read copies. */
  bool plain = plan && plan->asked_count == 0 && plan->command_count == 0 &&
               plan->order_count == 0 && plan->mark_count == 0 && plan->whole_count == 0;
  return plain ? variant : NULL;
}

/* ---- its columns ----------------------------------------------------------------------- */

static size_t key_program_room_of(uint32_t count) { return round_up(count, 64) * sizeof(uint64_t); }

/* Binds the columns as they are if all rows need keys; otherwise copies of the cells of those that
** do, after the keys. */
static void key_program_bind(const struct keyless *keyless, const struct variant *variant,
                             char *room, void **columns) {
  const struct copies *rows = keyless->rows;
  uint32_t count = keyless->count;
  const uint32_t *list = keyless->list;
  char *at = room + key_program_room_of(count);
  for (uint32_t i = 0; i < variant->column_count; i++) {
    const struct run_column wanted = variant->plan.columns[i];
    if (wanted.slot == RUN_RESULT) {
      columns[i] = room;
      continue;
    }
    assert(wanted.slot == NONE || wanted.slot < rows->slot_count);
    const struct copy_column *column =
        wanted.slot == NONE ? NULL : &rows->columns[rows->slots[wanted.slot].first + wanted.leaf];
    const struct column_buffer *cells = column ? &column->cells : &rows->entities;
    uint32_t size = column ? column->size : sizeof(ecs_id);
    columns[i] = list ? at : cells->data;
    for (uint32_t row = 0; list && row < count; row++)
      cell_copy(at, row, cells->data, list[row], size);
    at += list ? key_program_room_of(count) : 0;
  }
}

/* ---- running the program --------------------------------------------------------------- */

/* The numbers, int64_t or double, that the program of the function whose object is at 1 yields for
** these rows, in an object that it pushes. NULL if there is no program, or a row fails: the
** function then makes all of them. */
static const void *key_program(lua_State *L, struct world_box *box, const struct keyless *keyless,
                               bool *integers) {
  int top = lua_gettop(L);
  /* One program serves all rows if they have every term that the query yields. */
  bool fits = box->kernels->on && !strchr(keyless->query, '$');
  for (uint32_t i = 0; i < keyless->rows->slot_count; i++)
    fits &= keyless->rows->slots[i].flags == NONE;
  if (!fits) return NULL;
  uint32_t read = keyless->list ? keyless->rows->column_count + 1 : 0;
  need_stack(L, 12);
  char *block = lua_newuserdatauv(
      L, (1 + (size_t)read) * key_program_room_of(keyless->count) + 64, 0);
  struct kernel *kernel = key_push_handle(L, box, keyless->query)->kernel;
  if (!box->world) luaL_error(L, "the world is closed");
  struct variant *variant = kernel ? key_find_variant(L, kernel, top + 2) : NULL;
  char *room = block + (64 - (uintptr_t)block % 64) % 64;
  bool keyed = false;
  if (variant) {   /* room for the keys and for what the program reads */
    void *columns[RUN_COLUMNS];
    struct runner *runner = &kernel->set->runner;
    const struct run run = {.plan = &variant->plan, .query = kernel->query,
                            .uniforms = variant->uniforms, .arrays = variant->arrays};
    struct run_failure failure;
    if (!runner_reserve(runner, run.plan, keyless->count)) raise_memory(L);
    key_program_bind(keyless, variant, room, columns);
    keyed = run_rows(runner, &run, keyless->count, columns, &failure);
  }
  for (uint32_t i = 0; keyed && i < variant->column_count; i++)
    if (variant->plan.columns[i].slot == RUN_RESULT) *integers = variant->columns[i].type == KC_I64;
  lua_settop(L, keyed ? top + 1 : top);
  return keyed ? room : NULL;
}

/* ---- calling --------------------------------------------------------------------------- */

/* Whether a program has made the keys, for the function whose object is at 1. */
static bool key_set_by_program(lua_State *L, struct world_box *box, ecs_index *index) {
  uint32_t count = index_unkeyed(index);
  const struct keyless keyless = {index_query(index)->text, &index->rows,
                                  count == index->rows.count ? NULL : index->stale.rows, count};
  bool integers = false;
  const void *keys = key_program(L, box, &keyless, &integers);
  for (uint32_t i = 0; keys && i < count; i++) {
    ecs_value key = {.kind = integers ? ECS_KIND_INTEGER : ECS_KIND_NUMBER};
    if (integers)
      key.integer = ((const int64_t *)keys)[i];
    else
      key.number = ((const double *)keys)[i];
    raise_failure(L, box->world, index_set_key(index, index_unkeyed_row(index, i), &key));
  }
  return keys != NULL;
}

/* A call of an index's function for its rows. The loop whose views the function gets ends with the
** call, even after an error, since its rows belong to the index. */
struct key_call {
  ecs_index *index;
  struct found_box *found;     /* NULL: none yet */
};

/* body(object, call): gives rows their keys. */
static int key_call_rows(lua_State *L) {
  struct key_call *call = lua_touserdata(L, 2);
  ecs_index *index = call->index;
  struct world_box *box = ((struct key_box *)lua_touserdata(L, 1))->box;
  if (key_set_by_program(L, box, index)) return 0;
  struct found_box *found = found_push(L, box, &index->rows, false);
  call->found = found;
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
    char got[80];
    if (!read_scalar(L, -1, &value) && !lua_isnil(L, -1))
      raise_error(L, "index '%s': the key of " SHOW_ID " is %s: a key is a number, a string, a "
                  "boolean or nil", index->desc.name, copies_entities(&index->rows)[row],
                  show_value(L, -1, got, sizeof got));
    raise_failure(L, box->world, index_set_key(index, row, &value));
  }
  return 0;
}

/* Calls the body in a scope, with the random stream of predicates. */
static void key_call_protected(lua_State *L, struct world_box *box, int world_index,
                               ecs_index *index) {
  struct chance outer = *box->chance;
  struct key_call call = {index, NULL};
  need_stack(L, 6);
  lua_pushcfunction(L, key_call_rows);
  lua_getiuservalue(L, world_index, WORLD_REFS);
  lua_rawgetp(L, -1, index->desc.ud);
  lua_remove(L, -2);
  lua_pushlightuserdata(L, &call);
  uint32_t scope;
  ecs_status status = scope_open(box->world, SCOPE_SYSTEM, &scope);
  if (status != ECS_OK) raise_status(L, box->world, status);
  *box->chance = chance_predicate(&outer);
  index->busy = true;
  int called = attempt_call(L, 2, 0);
  if (call.found) found_end(call.found);
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
  if (key->box != box)
    raise_error(L, "index '%s' has a key function that belongs to another Lua state: declare it "
                "again in this one", index->desc.name);
  RETRY_OR_RAISE(L, box, index_gather(index));
  if (index_unkeyed(index)) key_call_protected(L, box, world_index, index);
  raise_failure(L, box->world, index_make(index));
}
