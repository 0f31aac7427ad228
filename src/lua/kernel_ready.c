#include "lua/kernel_ready.h"

#include "core/store/query.h"
#include "core/store/world.h"
#include "kernel/run.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/kernel_variant.h"

/* Why no function over the query becomes a program; NULL when it can. */
static const char *unfit(const ecs_query *query) {
  if (query->terms.slots > KERNEL_SLOTS) return "its query has too many terms";
  if (query->terms.step_count)
    return "its query has terms that are decided row by row ((Relation, target), A->B): programs "
           "go over whole tables";
  return NULL;
}

static bool is_refused(struct kernel *kernel) {
  uint64_t version = *kernel->box->version;
  return kernel->refused && kernel->refused_version == version &&
         kernel->runs < kernel->retry_at;
}

static void note_success(struct kernel *kernel) {
  kernel->refused = false;
  kernel->retry_step = 0;
}

/* A refused function is tried again now and then: an outside value may have changed. */
static void note_refusal(struct kernel *kernel) {
  kernel->retry_step = kernel->retry_step ? kernel->retry_step * 2 : 1;
  kernel->retry_at = kernel->runs + kernel->retry_step;
  kernel->refused_version = *kernel->box->version;
  kernel->refused = true;
}

/* Remembers the reason at the top of the stack. */
static void keep_reason(lua_State *L, int handle) {
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, handle, KERNEL_REASON);
}

static struct variant *find_or_compile(lua_State *L, int handle, int anchors,
                                       struct kernel *kernel, const struct table *table) {
  struct variant *variant = variant_find(L, anchors, kernel, table);
  if (variant || !variant_compile(L, handle, anchors, kernel, table)) return variant;
  return variant_find(L, anchors, kernel, table);
}

/* Whether there is a program for a table (NULL: for one that has every term), and memory to run
** it. If not, the reason is pushed. */
static bool ready_for(lua_State *L, int handle, struct kernel *kernel,
                      const struct table *table) {
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  const struct variant *variant = find_or_compile(L, handle, anchors, kernel, table);
  if (!variant) {
    note_refusal(kernel);
    keep_reason(L, handle);
    lua_replace(L, anchors);
    return false;
  }
  if (!runner_reserve(&kernel->set->runner, &variant->plan, table ? table->count : 0))
    raise_memory(L);
  lua_pop(L, 1);
  return true;
}

bool kernel_waits(const struct kernel_box *box) {
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  bool waits = is_refused(kernel);
  if (!waits) kernel->runs--;
  return waits;
}

/* For each table that has rows; if there is none, and `ahead`, for one that has every term. */
static bool all_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  for (uint32_t i = 0; i < query_reach(kernel->query); i++) {
    const struct table *table = world_table(kernel->box->world, kernel->query->tables[i]);
    if (!table->count) continue;
    ahead = false;
    if (!ready_for(L, handle, kernel, table)) return false;
  }
  return !ahead || kernel->query->broken || ready_for(L, handle, kernel, NULL);
}

static bool is_ready(lua_State *L, int handle, bool ahead) {
  struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) {
    lua_pushliteral(L, "the Lua state is being closed");
    return false;
  }
  kernel->runs++;
  if (is_refused(kernel)) {
    lua_getiuservalue(L, handle, KERNEL_REASON);
    return false;
  }
  const char *reason = unfit(kernel->query);
  if (reason) {
    note_refusal(kernel);
    lua_pushstring(L, reason);
    keep_reason(L, handle);
    return false;
  }
  if (!all_ready(L, handle, kernel, ahead)) return false;
  note_success(kernel);
  return true;
}

bool kernel_ready_here(lua_State *L, int handle, const struct table *table) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  bool ready = !is_refused(kernel) && !unfit(kernel->query) &&
               ready_for(L, handle, kernel, table);
  if (ready) note_success(kernel);
  return ready;
}

bool kernel_ready(lua_State *L, int handle) { return is_ready(L, handle, false); }

bool kernel_ready_again(lua_State *L, int handle) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  if (box->kernel) box->kernel->refused = false;
  return is_ready(L, handle, false);
}

bool kernel_ready_ahead(lua_State *L, int handle) { return is_ready(L, handle, true); }

bool kernel_has_run(const struct kernel_box *box) { return box->kernel->runs > 0; }

bool kernel_breaks_promise(const struct kernel_box *box) { return box->kernel->breaks_promise; }
