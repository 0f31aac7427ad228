#include <lauxlib.h>

#include "lua/jit/kernel.h"

#include "core/ids/world.h"
#include "core/index/indexing.h"
#include "core/index/refresh.h"
#include "core/storage/component.h"
#include "core/world/lifetime.h"
#include "lua/api/api.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/view.h"
#include "runner/run.h"

const char kind_kernel = 0;

static void free_kernel(struct kernel *kernel) {
  struct kernel_set *set = kernel->set;
  struct memory *memory = set->runner.memory;
  while (kernel->count) variant_free(memory, kernel->variants[--kernel->count]);
  memory_free(memory, kernel->variants, kernel->capacity * sizeof *kernel->variants);
  if (kernel->previous)
    kernel->previous->next = kernel->next;
  else
    set->list = kernel->next;
  if (kernel->next) kernel->next->previous = kernel->previous;
  memory_free(memory, kernel, sizeof *kernel);
}

static void kernel_free_set(ecs_world *world, struct attachment *link) {
  struct kernel_set *set = (struct kernel_set *)link;
  struct memory *memory = set->runner.memory;
  while (set->list) free_kernel(set->list);
  abreast_free(set->abreast);
  runner_free(&set->runner);
  world_detach_from(world, link);
  memory_free(memory, set, sizeof *set);
}

void kernels_free(struct world_box *box) {
  if (box->kernels->set) kernel_free_set(box->world, &box->kernels->set->link);
  box->kernels->set = NULL;
}

/* The world's set, created on first use; NULL when out of memory. */
static struct kernel_set *kernel_need_set(struct world_box *box) {
  if (box->kernels->set) return box->kernels->set;
  struct kernel_set *set = memory_array(box->memory, 1, sizeof *set);
  if (!set) return NULL;
  set->link.free = kernel_free_set;
  set->nothing.world = box->world;
  runner_open(&set->runner, box->memory, (k_isa)box->kernels->isa);
  world_attach_to(box->world, &set->link);
  box->kernels->set = set;
  return set;
}

static int kernel_collect(lua_State *L) {
  struct kernel_box *handle = box_test(L, 1, &kind_kernel, sizeof *handle);
  if (!handle || !handle->kernel) return 0;
  if (handle->box->world) free_kernel(handle->kernel);
  handle->kernel = NULL;
  return 0;
}

const luaL_Reg kernel_metamethods[] = {{"__gc", kernel_collect}, {NULL, NULL}};

/* Where WORLD_REFS has the handles, by their kernels' addresses and as weak values. */
static const char handles_key = 0;

static void kernel_push_handles(lua_State *L, int world_index) {
  if (lua_getiuservalue(L, world_index, WORLD_REFS) != LUA_TTABLE)
    luaL_error(L, "the world is closed");
  lua_pushlightuserdata(L, (void *)(uintptr_t)&handles_key);
  push_part(L, "v");
  lua_remove(L, -2);
}

void kernel_push_function(lua_State *L, int handle) {
  lua_getiuservalue(L, handle, KERNEL_FUNCTION);
  lua_rawgeti(L, -1, 1);
  lua_remove(L, -2);
}

/* Whether the handle at the top of the stack is for that function, and its query still exists:
** while a state is closed, finalizers run in any order. */
static bool kernel_has_function(lua_State *L, int function) {
  kernel_push_function(L, lua_gettop(L));
  lua_getiuservalue(L, -2, KERNEL_QUERY);
  const struct query_box *query = lua_touserdata(L, -1);
  bool has = lua_rawequal(L, -2, function) && (!query || query->query);
  lua_pop(L, 2);
  return has;
}

void kernels_of_function(lua_State *L, struct world_box *box, int world_index,
                         int function) {
  lua_Integer count = 0;
  kernel_push_handles(L, world_index);
  int handles = lua_gettop(L);
  lua_newtable(L);
  const struct kernel_set *set = box->kernels->set;
  /* Nothing here runs finalizers, which could remove kernels from the list. */
  for (const struct kernel *at = set ? set->list : NULL; at; at = at->next) {
    if (lua_rawgetp(L, handles, at) != LUA_TNIL && kernel_has_function(L, function))
      lua_rawseti(L, handles + 1, ++count);
    else
      lua_pop(L, 1);
  }
  lua_remove(L, handles);
}

/* Whether a function has parameters for values of a query's variables. */
static bool kernel_takes_values(lua_State *L, int function, const struct query_box *query,
                                enum front_result result) {
  const struct query_terms *terms = query && query->query ? &query->query->terms : NULL;
  bool any;
  if (!terms || !terms->values) return false;
  uint32_t others = terms->slots + 1 + !RESULT_IS_ASKED(result);
  return (uint32_t)parameter_count(L, function, &any) > others || any;
}

void kernel_push(lua_State *L, struct world_box *box, int world_index, int function,
                 int query_index, struct use use) {
  struct kernel_box *handle = new_box(L, &kind_kernel, sizeof *handle, KERNEL_VALUES);
  int index = lua_gettop(L);
  new_weak_table(L, "v");
  lua_pushvalue(L, function);
  lua_rawseti(L, -2, 1);
  lua_setiuservalue(L, index, KERNEL_FUNCTION);
  lua_newtable(L);
  lua_setiuservalue(L, index, KERNEL_ANCHORS);
  lua_pushvalue(L, world_index);
  lua_setiuservalue(L, index, KERNEL_WORLD);
  lua_pushvalue(L, query_index);
  lua_setiuservalue(L, index, KERNEL_QUERY);
  kernel_push_handles(L, world_index);
  if (!box->world) luaL_error(L, "the world is closed");
  struct kernel_set *set = kernel_need_set(box);
  struct kernel *kernel =
      set ? memory_array(box->memory, 1, sizeof *kernel) : NULL;
  if (!kernel) raise_memory(L);
  kernel->box = box;
  kernel->version = box->version;
  kernel->set = set;
  const struct query_box *query = lua_touserdata(L, query_index);
  kernel->query = query ? query->query : &set->nothing;
  kernel->result = use.result;
  kernel->takes_values = kernel_takes_values(L, function, query, use.result);
  kernel->filtered = use.filtered;
  handle->form = use.form;
  kernel->next = set->list;
  if (kernel->next) kernel->next->previous = kernel;
  set->list = kernel;
  handle->box = box;
  handle->kernel = kernel;
  lua_pushvalue(L, index);
  lua_rawsetp(L, -2, kernel);
  lua_settop(L, index);
}

/* ---- kernel object ---- */

/* A view in a loop, by the place of the row that it shows. */
static struct outside kernel_view(const struct view_box *view) {
  const struct loop_box *loop = view->loop;
  const struct component *component = view->component;
  bool shows = loop->open && !loop->copied && view->row == &loop->row && loop->row < ROW_SPECIAL;
  if (!shows || view->version != *view->box->version || component->relation)
    return (struct outside){.kind = OUTSIDE_OTHER};
  uint64_t row = view->first + loop->row;
  bool apart = component->sparse || component->is_event;
  if (!apart) row |= (uint64_t)view->table->index << INDEX_BITS;
  return (struct outside){.kind = OUTSIDE_VIEW, .resource = component, .place = (int64_t)row,
                          .read_only = view->read_only};
}

struct outside kernel_object(lua_State *L, int index, const void *owner) {
  const struct world_box *box = owner;
  if (lua_isfunction(L, index)) return spawner_object(L, index, box);
  if (box_test(L, index, &kind_world, sizeof *box) == box)
    return (struct outside){.kind = OUTSIDE_WORLD};
  struct array_box *array = box_test(L, index, &kind_array, sizeof *array);
  if (array && array->box == box && array_find(L, index, array))
    return (struct outside){.kind = OUTSIDE_ARRAY, .resource = array->component};
  struct index_box *looked = box_test(L, index, &kind_index, sizeof *looked);
  if (looked && looked->box == box)
    return (struct outside){.kind = OUTSIDE_INDEX, .index = index_find(L, index, looked)};
  const struct query_box *query = box_test(L, index, &kind_query, sizeof *query);
  if (query && query->box == box && !query->pending)
    return (struct outside){.kind = OUTSIDE_QUERY, .query = query->query};
  const struct view_box *view = view_test(L, index);
  bool is_root = view && view->box == box && view->root == view && !view->found;
  if (is_root && view->loop) return kernel_view(view);
  const struct component *component = is_root ? component_of(box->world, view->id) : NULL;
  if (component && component->resource)
    return (struct outside){.kind = OUTSIDE_RESOURCE, .resource = component};
  return (struct outside){.kind = OUTSIDE_OTHER};
}

/* ---- closure ---- */

#define KNOWN 16               /* most kernels remembered */

/* The arguments of share. */
enum { AT_KNOWN = 1, AT_FUNCTION, AT_HANDLE, AT_KEY };

/* Forgets everything if the table at 1 is full: it has handles by keys, and their number. */
static void kernel_closure_make_room(lua_State *L) {
  lua_rawgeti(L, AT_KNOWN, 1);
  lua_Integer count = lua_tointeger(L, -1) + 1;
  lua_pushnil(L);
  while (count > KNOWN && lua_next(L, AT_KNOWN)) {
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, AT_KNOWN);
  }
  lua_pushinteger(L, count > KNOWN ? 1 : count);
  lua_rawseti(L, AT_KNOWN, 1);
}

/* share(known, function, handle, key) */
static int kernel_closure_join(lua_State *L) {
  need_stack(L, 20);
  if (lua_isnil(L, AT_KEY)) {   /* with line numbers, since messages have them */
    lua_settop(L, AT_HANDLE);
    lua_pushvalue(L, AT_FUNCTION);
    if (!push_dump(L, false)) return 0;
    lua_replace(L, AT_KEY);
    lua_settop(L, AT_KEY);
  }
  lua_pushvalue(L, AT_KEY);
  if (lua_rawget(L, AT_KNOWN) == LUA_TUSERDATA)
    variants_share(L, AT_HANDLE, AT_KEY + 1, AT_FUNCTION);
  else
    kernel_closure_make_room(L);
  lua_pushvalue(L, AT_KEY);
  lua_pushvalue(L, AT_HANDLE);
  lua_rawset(L, AT_KNOWN);
  return 0;
}

void closure_share(lua_State *L, int known, int function, int handle, int key) {
  int top = lua_gettop(L);
  lua_pushvalue(L, known);
  lua_pushvalue(L, function);
  lua_pushvalue(L, handle);
  if (key)
    lua_pushvalue(L, key);
  else
    lua_pushnil(L);
  if (try_quietly(L, NULL, kernel_closure_join, 4, 0) != LUA_OK) lua_settop(L, top);
}

/* ---- kernel indexes ---- */

bool indexes_are_fresh(const struct variant *variant) {
  for (uint32_t i = 0; i < variant->index_count; i++) {
    const ecs_index *index = variant->indexes[i];
    bool outside = variant->fresh == variant->run && !index->world->running;
    if (!index->now || !(outside || index_is_fresh(index))) return false;
  }
  for (uint32_t i = 0; i < variant->list_count; i++) {
    if (variant->lists[i].kind >= LIST_SOURCES) continue;
    const ecs_index *index = variant->indexes[variant->lists[i].index];
    bool grid = index->desc.by == ECS_BY_GRID;
    if (grid && index->now->grid.axes != variant->lists[i].axes) return false;
  }
  return true;
}

/* Why an index is stale or cannot be updated here; NULL if it can be used. */
static const char *kernel_not_here(const ecs_index *index, const struct variant *variant) {
  if (index->world->running)
    return "system is not known to use it: add its name to the option uses";
  /* A kernel that changes nothing also runs outside systems: nothing else changes anything. */
  const struct run_plan *plan = &variant->plan;
  if (plan->command_count || plan->program->site_count || program_info(plan->program).stores ||
      memcmp(plan->writes, (uint64_t[RUN_COLUMNS / 64]){0}, sizeof plan->writes) != 0)
    return "function writes, and each call outside systems updates the index: call it in a system";
  if (index_has_script(index))
    return "keys come from a function, and each call outside systems updates it: call it in a "
           "system";
  return NULL;
}

bool indexes_ready(lua_State *L, struct variant *variant) {
  for (uint32_t i = 0; i < variant->index_count; i++) {
    ecs_index *index = variant->indexes[i];
    if (index_is_fresh(index)) continue;
    const char *why = kernel_not_here(index, variant);
    if (why) {
      lua_pushfstring(L, "it uses index '%s', and its %s", index_name(index), why);
      return false;
    }
    ecs_status status = variant->fresh == variant->run ? ECS_OK : index_refresh(index);
    if (status == ECS_ENOMEM) raise_memory(L);
    if (status == ECS_OK) continue;
    lua_pushstring(L, index->world->message);
    return false;
  }
  variant->fresh = variant->run;
  if (indexes_are_fresh(variant)) return true;
  lua_pushliteral(L, "it uses an index that has been renumbered");
  return false;
}
