#include "lua/kernel_ready.h"

#include "core/store/query_rows.h"
#include "core/store/walk.h"
#include "core/store/world.h"
#include "kernel/run.h"
#include "lua/bind/status.h"
#include "lua/bind/world_box.h"
#include "lua/kernel_variant.h"

#define MATCH_KINDS 16         /* sets of terms that matches have */
#define CHOICES 2              /* terms that may be absent, all sets of which are looked for */

/* Why the function cannot become a program, whatever it does; NULL when it can. */
static const char *unfit(const struct kernel *kernel) {
  const struct query_terms *terms = &kernel->query->terms;
  if (terms->slots > KERNEL_SLOTS) return "its query has too many terms";
  if (terms->step_count && kernel->result != RESULT_NONE)
    return "it gives a result, and its query has terms that are decided row by row";
  return NULL;
}

/* Remembers the reason at the top of the stack, for explain. */
static void keep_reason(lua_State *L, int handle, struct kernel *kernel) {
  kernel->refused = true;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, handle, KERNEL_REASON);
}

/* Whether there is a program for where these terms are there, and memory to run it over so many
** rows. If not, the reason is pushed. */
static bool ready_for(lua_State *L, int handle, struct kernel *kernel, uint64_t present,
                      uint32_t rows) {
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  const struct variant *variant = variant_need(L, handle, anchors, kernel, present);
  if (!variant) {
    keep_reason(L, handle, kernel);
    lua_replace(L, anchors);
    return false;
  }
  if (!runner_reserve(&kernel->set->runner, &variant->plan, rows)) raise_memory(L);
  lua_pop(L, 1);
  return true;
}

/* For each table that has rows; if there is none, and `ahead`, for one that has every term. */
static bool all_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  for (uint32_t i = 0; i < query_reach(kernel->query); i++) {
    const struct table *table = world_table(kernel->box->world, kernel->query->tables[i]);
    if (!table->count) continue;
    ahead = false;
    if (!ready_for(L, handle, kernel, variant_present(kernel->query, table), table->count))
      return false;
  }
  return !ahead || kernel->query->broken ||
         ready_for(L, handle, kernel, variant_present(kernel->query, NULL), 0);
}

/* Whether there are programs for all that matches can have, so that nobody need look at the
** matches: a third of what it takes to run over a tree. */
static bool any_is_ready(lua_State *L, int handle, struct kernel *kernel) {
  const struct query_terms *terms = &kernel->query->terms;
  uint64_t lacking[CHOICES], kinds = 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    if (!term_may_lack(&terms->terms[i])) continue;
    if (count == CHOICES) return false;
    lacking[count++] = (uint64_t)1 << terms->terms[i].slot % KERNEL_SLOTS;
    kinds *= 2;
  }
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  bool ready = true;
  for (uint64_t kind = 0; ready && kind < kinds; kind++) {
    uint64_t present = 0;
    for (uint32_t i = 0; i < count; i++) present |= kind >> i & 1 ? lacking[i] : 0;
    const struct variant *variant = variant_find(L, anchors, kernel, present);
    ready = variant && runner_reserve(&kernel->set->runner, &variant->plan, 0);
  }
  lua_pop(L, 1);
  return ready;
}

/* The same for the matches of a query whose terms are decided row by row: for each set of terms
** that are there. */
static bool matches_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  const ecs_query *query = kernel->query;
  uint64_t known[MATCH_KINDS];
  uint32_t count = 0;
  struct walk walk;
  struct choices choices;
  if (any_is_ready(L, handle, kernel)) return true;
  walk_begin(&walk, query);
  variant_choices(&walk, &choices);
  while (walk_next(&walk)) {
    uint64_t present = variant_present_in_match(&walk, &choices);
    uint32_t at = 0;
    while (at < count && known[at] != present) at++;
    if (at < count) continue;
    if (count == MATCH_KINDS) {
      lua_pushliteral(L, "too many of its query's terms may be absent");
      keep_reason(L, handle, kernel);
      return false;
    }
    known[count++] = present;
    if (!query->terms.choices) break;
  }
  if (count == 0 && ahead) known[count++] = variant_present(query, NULL);
  for (uint32_t i = 0; i < count; i++)
    if (!ready_for(L, handle, kernel, known[i], 0)) return false;
  return true;
}

static bool is_ready(lua_State *L, int handle, bool ahead) {
  struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) {
    lua_pushliteral(L, "the Lua state is being closed");
    return false;
  }
  kernel->runs++;
  const char *reason = unfit(kernel);
  if (reason) {
    lua_pushstring(L, reason);
    keep_reason(L, handle, kernel);
    return false;
  }
  bool by_matches = !kernel->query->broken &&
                    (kernel->query->terms.step_count || query_has_runs(kernel->query));
  if (!(by_matches ? matches_ready : all_ready)(L, handle, kernel, ahead)) return false;
  kernel->refused = false;
  return true;
}

bool kernel_ready_here(lua_State *L, int handle, const struct table *table) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  bool ready = !unfit(kernel) &&
               ready_for(L, handle, kernel, variant_present(kernel->query, table), table->count);
  if (ready) kernel->refused = false;
  return ready;
}

bool kernel_ready(lua_State *L, int handle) { return is_ready(L, handle, false); }

bool kernel_ready_ahead(lua_State *L, int handle) { return is_ready(L, handle, true); }

bool kernel_has_run(const struct kernel_box *box) { return box->kernel->runs > 0; }

bool kernel_breaks_promise(const struct kernel_box *box) { return box->kernel->breaks_promise; }
