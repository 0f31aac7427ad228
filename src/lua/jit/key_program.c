#include "lua/jit/key_program.h"

#include "core/base/column_cells.h"
#include "core/base/many.h"
#include "core/index/copies.h"
#include "core/query/query.h"
#include "core/ids/world.h"
#include "kernel/program.h"
#include "runner/run.h"
#include "lua/bind/status.h"
#include "lua/bind/variables.h"
#include "lua/bind/world_box.h"
#include "lua/api/lua_query.h"
#include "lua/jit/variant.h"

/* ---- the kernel ------------------------------------------------------------------------ */

/* Pushes the handle of the function's kernel, over a query of its own that is like the index's. */
static struct kernel_box *push_handle(lua_State *L, struct world_box *box,
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

/* Whether all rows have all that the query gives, so that one program is for them. */
static bool is_fit(const struct keyless *keyless) {
  const struct copies *rows = keyless->rows;
  if (strchr(keyless->query, '$')) return false;
  for (uint32_t i = 0; i < rows->slot_count; i++)
    if (rows->slots[i].flags != NONE) return false;
  return true;
}

/* Programs only read copies; and that is all that they do. */
static bool key_program_is_plain(const struct run_plan *plan) {
  return plan->asked_count == 0 && plan->other_count == 0 && plan->command_count == 0 &&
         plan->order_count == 0 && plan->mark_count == 0 && plan->whole_count == 0;
}

static struct variant *find_variant(lua_State *L, struct kernel *kernel, int handle) {
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
  return variant && key_program_is_plain(&variant->plan) ? variant : NULL;
}

/* ---- its columns ----------------------------------------------------------------------- */

/* Cells of the program's column `at`, in the copies. */
static const struct column_buffer *key_program_cells_of(const struct copies *rows,
                                                        const struct variant *variant, uint32_t at,
                                                        uint32_t *size) {
  const struct run_column wanted = variant->cells[at];
  *size = sizeof(ecs_id);
  if (wanted.slot == NONE) return &rows->entities;
  assert(wanted.slot < rows->slot_count);
  const struct copy_column *column = &rows->columns[rows->slots[wanted.slot].first + wanted.leaf];
  *size = column->size;
  return &column->cells;
}

static size_t key_program_room_of(uint32_t count) { return round_up(count, 64) * sizeof(uint64_t); }

/* Says where the columns are: those of all rows where these are, else cells of those that want keys
** in the room, which has the keys first. */
static void key_program_bind(const struct keyless *keyless, const struct variant *variant,
                             char *room, void **columns) {
  uint32_t count = keyless->count, size;
  const uint32_t *list = keyless->list;
  char *at = room + key_program_room_of(count);
  for (uint32_t i = 0; i < variant->column_count; i++) {
    if (variant->cells[i].slot == RUN_RESULT) {
      columns[i] = room;
      continue;
    }
    const struct column_buffer *cells = key_program_cells_of(keyless->rows, variant, i, &size);
    columns[i] = list ? at : cells->data;
    for (uint32_t row = 0; list && row < count; row++)
      cell_copy(at, row, cells->data, list[row], size);
    at += list ? key_program_room_of(count) : 0;
  }
}

/* ---- the whole ------------------------------------------------------------------------- */

/* Runs the program over the rows that want keys, with room for these and for what it reads. */
static bool run_over(lua_State *L, const struct keyless *keyless, struct kernel *kernel,
                     struct variant *variant, char *room) {
  void *columns[RUN_COLUMNS];
  struct runner *runner = &kernel->set->runner;
  const struct run run = {.plan = &variant->plan, .query = kernel->query,
                          .uniforms = variant->uniforms, .arrays = variant->arrays};
  const struct run_rows rows = {keyless->count, columns};
  struct run_failure failure;
  if (!runner_reserve(runner, run.plan, rows.count)) raise_memory(L);
  key_program_bind(keyless, variant, room, columns);
  return run_rows(runner, &run, &rows, &failure);
}

static bool gives_integers(const struct variant *variant) {
  uint32_t i = 0;
  while (variant->cells[i].slot != RUN_RESULT) i++;
  assert(i < variant->column_count);
  return variant->columns[i].type == KC_I64;
}

const void *key_program(lua_State *L, struct world_box *box, const struct keyless *keyless,
                        bool *integers) {
  int top = lua_gettop(L);
  if (!box->kernels->on || !is_fit(keyless)) return NULL;
  uint32_t read = keyless->list ? keyless->rows->column_count + 1 : 0;
  luaL_checkstack(L, 12, "keys of an index");
  char *block = lua_newuserdatauv(
      L, (1 + (size_t)read) * key_program_room_of(keyless->count) + 64, 0);
  struct kernel *kernel = push_handle(L, box, keyless->query)->kernel;
  if (!box->world) luaL_error(L, "the world is closed");
  struct variant *variant = kernel ? find_variant(L, kernel, top + 2) : NULL;
  char *room = block + (64 - (uintptr_t)block % 64) % 64;
  bool keyed = variant && run_over(L, keyless, kernel, variant, room);
  if (keyed) *integers = gives_integers(variant);
  lua_settop(L, keyed ? top + 1 : top);
  return keyed ? room : NULL;
}
