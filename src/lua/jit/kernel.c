#include "lua/jit/kernel.h"

#include "core/world/attachment.h"
#include "runner/abreast.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/jit/kernel_variant.h"
#include "lua/api/lua_query.h"
#include "lua/jit/variant.h"

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

static void free_set(ecs_world *world, struct attachment *link) {
  struct kernel_set *set = (struct kernel_set *)link;
  struct memory *memory = set->runner.memory;
  while (set->list) free_kernel(set->list);
  broods_free(set->runner.memory, &set->broods);
  abreast_free(set->abreast);
  runner_free(&set->runner);
  world_detach_from(world, link);
  memory_free(memory, set, sizeof *set);
}

void kernels_free(struct world_box *box) {
  if (box->kernels->set) free_set(box->world, &box->kernels->set->link);
  box->kernels->set = NULL;
}

/* The world's set, made when there is none; NULL when out of memory. */
static struct kernel_set *need_set(struct world_box *box) {
  if (box->kernels->set) return box->kernels->set;
  struct kernel_set *set = memory_array(box->memory, 1, sizeof *set);
  if (!set) return NULL;
  set->link.free = free_set;
  set->broods.memory = box->memory;
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

/* Where WORLD_REFS has the handles by their kernels' addresses, as weak values. */
static const char handles_key = 0;

static void push_handles(lua_State *L, int world_index) {
  if (lua_getiuservalue(L, world_index, WORLD_REFS) != LUA_TTABLE)
    luaL_error(L, "the world is closed");
  if (lua_rawgetp(L, -1, &handles_key) == LUA_TNIL) {
    lua_pop(L, 1);
    new_weak_table(L, "v");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, -3, &handles_key);
  }
  lua_remove(L, -2);
}

void kernel_push_function(lua_State *L, int handle) {
  lua_getiuservalue(L, handle, KERNEL_FUNCTION);
  lua_rawgeti(L, -1, 1);
  lua_remove(L, -2);
}

/* Whether the handle at the top of the stack is for that function, and of a query that there
** still is: while a state is closed, finalizers run in any order. */
static bool has_function(lua_State *L, int function) {
  kernel_push_function(L, lua_gettop(L));
  lua_getiuservalue(L, -2, KERNEL_QUERY);
  const struct query_box *query = lua_touserdata(L, -1);
  bool has = lua_rawequal(L, -2, function) && query->query;
  lua_pop(L, 2);
  return has;
}

void kernels_of_function(lua_State *L, struct world_box *box, int world_index,
                         int function) {
  lua_Integer count = 0;
  push_handles(L, world_index);
  int handles = lua_gettop(L);
  lua_newtable(L);
  const struct kernel_set *set = box->kernels->set;
  /* Nothing here runs finalizers, which could take kernels off the list. */
  for (const struct kernel *at = set ? set->list : NULL; at; at = at->next) {
    if (lua_rawgetp(L, handles, at) != LUA_TNIL && has_function(L, function))
      lua_rawseti(L, handles + 1, ++count);
    else
      lua_pop(L, 1);
  }
  lua_remove(L, handles);
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
  push_handles(L, world_index);
  if (!box->world) luaL_error(L, "the world is closed");
  struct kernel_set *set = need_set(box);
  struct kernel *kernel =
      set ? memory_array(box->memory, 1, sizeof *kernel) : NULL;
  if (!kernel) raise_memory(L);
  kernel->box = box;
  kernel->version = box->version;
  kernel->set = set;
  kernel->query = ((struct query_box *)lua_touserdata(L, query_index))->query;
  kernel->result = use.result;
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
