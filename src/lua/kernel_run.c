#include "lua/kernel_run.h"

#include "kernel/run.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/failure.h"
#include "lua/kernel_ready.h"
#include "lua/kernel_variant.h"
#include "lua/loop.h"
#include "lua/lua_query.h"

static ecs_status stage(const struct kernel *kernel, const struct run *run, uint32_t match) {
  assert(run->plan);
  return run->plan->command_count ? run_stage(&kernel->set->runner, run, match) : ECS_OK;
}

/* Over the loop's current table. */
static void run_variant(lua_State *L, int handle, struct loop_box *loop,
                        struct variant *variant, const struct kernel_run *how) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  struct run run = {&variant->plan, kernel->query, variant->uniforms, how->total, how->dt};
  struct run_failure failure;
  uint32_t match = loop->match - 1;
  assert(loop->query->query == kernel->query);
  assert((how->truth != NULL) == (kernel->result == RESULT_TRUTH));
  if (!runner_reserve(runner, run.plan, loop->table->count)) raise_memory(L);
  if (!run_table(runner, &run, match, &failure)) kernel_fail(L, handle, variant, &failure);
  if (how->truth) {
    how->truth(L, loop, runner->bitmaps[0], how->ud);
    return;
  }
  ecs_status status = stage(kernel, &run, match);
  if (status != ECS_OK) raise_status(L, loop->box->world, status);
}

void kernel_run(lua_State *L, int handle, struct loop_box *loop,
                const struct kernel_run *run) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  while (loop_next_run(loop)) {
    struct variant *variant = variant_find(L, anchors, kernel, loop->table);
    if (!variant) luaL_error(L, "finalizers keep using the world");
    run_variant(L, handle, loop, variant, run);
  }
  lua_pop(L, 1);
}

bool kernel_here(lua_State *L, int handle, struct loop_box *loop,
                 const struct kernel_run *run) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  int top = lua_gettop(L);
  bool ready = kernel_ready_here(L, handle, loop->table);
  if (ready) {
    lua_getiuservalue(L, handle, KERNEL_ANCHORS);
    run_variant(L, handle, loop, variant_find(L, top + 1, box->kernel, loop->table), run);
  }
  lua_settop(L, top);
  return ready;
}

bool kernel_run_settled(struct kernel *kernel, struct variant *variant, double dt) {
  struct run run = {.plan = &variant->plan, .query = kernel->query,
                    .uniforms = variant->uniforms, .dt = dt};
  struct run_failure failure;
  assert(variant->quiet);
  ecs_status status = run_query(&kernel->set->runner, &run, &failure);
  assert(status == ECS_OK || status == ECS_ENOMEM);
  return status == ECS_OK;
}
