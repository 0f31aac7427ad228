#include <lauxlib.h>

#include "core/query/changes.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/jit/kernel.h"
#include "runner/run.h"

#define MATCH_KINDS 16         /* most sets of terms that matches may have */
#define CHOICES 2              /* most optional terms of which all sets are tried */
#define MOST_TRIES 8           /* if indexes begin to watch, or finalizers declare, meanwhile */

/* Why the function can never become a program; NULL if it might. */
static const char *kernel_ready_unfit(const struct kernel *kernel) {
  const struct query_terms *terms = &kernel->query->terms;
  if (kernel->array && !kernel_elements(kernel)) return "its array is no longer declared";
  if (terms->slots > KERNEL_SLOTS) return "its query has too many terms";
  if (terms->step_count && kernel->result == RESULT_TRUTH)
    return "it returns a result, and its query has terms that are tested row by row: put the "
           "condition into the function of q:each";
  if (terms->step_count && kernel->filtered)
    return "it follows a q:where(fn), and its query has terms that are tested row by row: put "
           "the condition into the function of q:each";
  return NULL;
}

/* Remembers the reason at the top of the stack, for explain. */
static void kernel_ready_keep_reason(lua_State *L, int handle, struct kernel *kernel) {
  kernel->refused = true;
  kernel->sure = NULL;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, handle, KERNEL_REASON);
}

/* Whether it both writes and yields a result for each row, while matches are decided row by row: if
** a row failed, the writes of earlier rows would be lost. */
static bool kernel_ready_gives_and_writes(const struct kernel *kernel,
                                          const struct variant *variant) {
  const struct run_plan *plan = &variant->plan;
  if (!kernel->query->terms.step_count || !RESULT_IS_USED(kernel->result)) return false;
  bool writes = plan->command_count || plan->order_count || program_info(plan->program).stores;
  for (uint32_t i = 0; i < variant->column_count && !writes; i++)
    writes = variant->columns[i].written;
  return writes;
}

/* Whether there is a program for these rows, and memory to run it over that many. If not, pushes
** why. */
static bool ready_for(lua_State *L, int handle, struct kernel *kernel, struct which which,
                      uint32_t rows) {
  kernel->found = true;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  struct variant *variant = variant_need(L, handle, anchors, kernel, which);
  bool ready = variant && (kernel->ahead || indexes_ready(L, variant));
  if (ready && kernel_ready_gives_and_writes(kernel, variant)) {
    lua_pushliteral(L, "it returns a result and writes, and its query has terms that are decided "
                       "row by row: write in the function of q:each");
    ready = false;
  }
  if (!ready) {
    kernel_ready_keep_reason(L, handle, kernel);
    lua_replace(L, anchors);
    return false;
  }
  if (!runner_reserve(&kernel->set->runner, &variant->plan, rows)) raise_memory(L);
  lua_pop(L, 1);
  return true;
}

/* Calls ready_for for each table with matching rows or, if `ahead` and none has, for every term. */
static bool all_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  const ecs_query *query = kernel->query;
  if (kernel->array || kernel->once)
    return ready_for(L, handle, kernel, variant_wanted(kernel, NULL), 0);
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    enum table_rows rows = query_table_rows(&query->terms, table);
    if (rows == ROWS_NONE) continue;
    ahead = false;
    bool varies = query_rows_varying(&query->terms, table);
    if (varies && (kernel->filtered || kernel->result == RESULT_TRUTH)) continue;   /* by Lua */
    if (!ready_for(L, handle, kernel, variant_wanted(kernel, table), table->count)) return false;
  }
  return !ahead || query->broken ||
         ready_for(L, handle, kernel, variant_wanted(kernel, NULL), 0);
}

/* Whether matches with a term and those without it need separate programs. */
static bool kernel_ready_chooses(const struct kernel *kernel, const struct term *term) {
  return term_may_lack(term) && !(kernel->maybe >> term->slot % KERNEL_SLOTS & 1);
}

/* Whether there are programs for all terms that matches can have, so that matches need not be
** examined: this saves a third of the time of a run over a tree. */
static bool any_is_ready(lua_State *L, int handle, struct kernel *kernel) {
  const struct query_terms *terms = &kernel->query->terms;
  uint64_t lacking[CHOICES], kinds = 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    if (!kernel_ready_chooses(kernel, &terms->terms[i])) continue;
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
    struct which which = {present, false, kernel->maybe};
    const struct variant *variant = variant_find(L, anchors, kernel, which);
    ready = variant && !kernel_ready_gives_and_writes(kernel, variant) &&
            runner_reserve(&kernel->set->runner, &variant->plan, 0);
  }
  lua_pop(L, 1);
  return ready;
}

/* Whether there are programs for the matches of a query with terms that are decided row by row: one
** for each set of present terms, except for sets that another program handles. */
static bool kernel_ready_by_kind(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  const ecs_query *query = kernel->query;
  const struct query_terms *terms = &query->terms;
  uint64_t kinds[MATCH_KINDS];   /* the sets */
  uint32_t count = 0;
  struct walk walk;
  struct choices choices;
  bool chooses = false;
  const struct variant *last = kernel->count ? kernel->variants[0] : NULL;
  bool walked = last && kernel->walked == 1 + *kernel->version && !last->looks &&
                !last->index_count && !RESULT_IS_USED(kernel->result) &&
                kernel->walked_maybe == kernel->maybe;
  if (walked || any_is_ready(L, handle, kernel)) return kernel->found = true;
  for (uint32_t i = 0; i < terms->count; i++)
    chooses |= kernel_ready_chooses(kernel, &terms->terms[i]);
  walk_begin(&walk, query);
  variant_choices(&walk, &choices);
  while (walk_next(&walk)) {
    uint64_t present = variant_present_in_match(&walk, &choices) & ~kernel->maybe;
    uint32_t at = 0;
    while (at < count && kinds[at] != present) at++;
    if (at == MATCH_KINDS) {
      lua_pushliteral(L, "its query has too many optional terms");
      kernel_ready_keep_reason(L, handle, kernel);
      return false;
    }
    kinds[at] = present;
    count += at == count;
    if (!chooses) break;
  }
  if (count == 0 && ahead) kinds[count++] = variant_present(query, NULL, 0) & ~kernel->maybe;
  bool ready = true;
  for (uint32_t i = 0; ready && i < count; i++) {
    struct which which = {kinds[i], false, kernel->maybe};
    ready = ready_for(L, handle, kernel, which, 0);
  }
  kernel->walked = ready && count ? 1 + *kernel->version : 0;
  kernel->walked_maybe = kernel->maybe;
  return ready;
}

/* If matches are found in batches, terms that are decided row by row, or switched off, may be
** present in only some rows, if the program allows it. Totals are made from matches with the same
** terms. */
static bool matches_ready(lua_State *L, int handle, struct kernel *kernel, bool ahead) {
  const struct query_terms *terms = &kernel->query->terms;
  int top = lua_gettop(L);
  kernel->maybe = 0;
  if (terms->choices && !RESULT_IS_USED(kernel->result) && matches_suit(kernel->query, true))
    for (uint32_t i = 0; i < terms->count; i++)
      if (term_may_lack(&terms->terms[i]) &&
          (term_is_by_row(&terms->terms[i]) || terms->terms[i].toggled))
        kernel->maybe |= UINT64_C(1) << terms->terms[i].slot % KERNEL_SLOTS;
  if (kernel_ready_by_kind(L, handle, kernel, ahead)) return true;
  if (!kernel->maybe) return false;
  lua_settop(L, top);
  kernel->maybe = 0;
  return kernel_ready_by_kind(L, handle, kernel, ahead);
}

/* Whether the program that ran last, if it copies tables, is worth that: Lua is faster for few
** rows. Its writes are stored after each table of the world. If not, pushes the reason. */
static bool kernel_ready_pays(lua_State *L, int handle, const struct kernel *kernel) {
  const ecs_query *query = kernel->query;
  const struct variant *variant = kernel->count ? kernel->variants[0] : NULL;
  if (!variant || !variant->tables || kernel->once) return true;
  if (!variant_is_current(kernel, variant)) return true;
  uint64_t rows = 0, stores = 0;
  for (uint32_t i = 0; !kernel->array && i < query_reach(query); i++) {
    uint32_t count = query_table(query, i)->count;
    rows += count;
    stores += count > 0 && variant->script.tables > 0;
  }
  if (kernel->array) rows = kernel_elements(kernel)->length;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  uint64_t cost = variant_cost(L, lua_gettop(L), variant);
  if (stores > 1) cost += cost / 3 * (stores - 1);
  lua_pop(L, 1);
  uint64_t worth = (kernel->line ? variant_worth_of_loop : variant_worth)(variant, rows);
  if (LIKELY(cost <= worth)) return true;
  lua_pushfstring(L, "copying the tables that it indexes would take longer than its rows in Lua: "
                     "keep long ones in arrays of the world, and values by ids in components%s",
                  kernel->line ? "" : " (or force it with compile = true)");
  return false;
}

bool kernel_ready(lua_State *L, int handle, bool must, bool ahead) {
  struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) {
    lua_pushliteral(L, "the Lua state is being closed");
    return false;
  }
  kernel->strict |= must && !ahead;
  /* Programs depend on what is watched while they run. */
  if (changes_watch((ecs_query *)(uintptr_t)kernel->query) != ECS_OK) raise_memory(L);
  kernel->runs++;
  if (!ahead) kernel_begin_run(kernel);
  const struct variant *last = kernel->count ? kernel->variants[0] : NULL;
  bool costly = last && (last->lenient || last->tables);
  if (!ahead && !must && kernel->resting && (kernel->refused || costly)) {
    lua_getiuservalue(L, handle, KERNEL_REASON);
    return false;
  }
  kernel->ahead = ahead;
  kernel->found = kernel->denied = false;
  const char *reason = kernel_ready_unfit(kernel);
  if (reason) {
    lua_pushstring(L, reason);
    kernel_ready_keep_reason(L, handle, kernel);
    return false;
  }
  uint64_t compilations = kernel->compilations;
  if (!must && !kernel_ready_pays(L, handle, kernel)) {
    kernel_ready_keep_reason(L, handle, kernel);
    return false;
  }
  bool walks = !kernel->query->broken && terms_walk(&kernel->query->terms);
  bool by_matches = walks && !kernel->filtered;   /* events that pass a q:where(fn) */
  uint32_t tries = 0;
  uint64_t version;
  do {
    version = *kernel->box->version;
    if (!(by_matches ? matches_ready : all_ready)(L, handle, kernel, ahead)) return false;
  } while (UNLIKELY(version != *kernel->box->version) && tries++ < MOST_TRIES);
  if (kernel->found) kernel->refused = false;
  if (must || compilations == kernel->compilations || kernel_ready_pays(L, handle, kernel))
    return true;
  kernel_ready_keep_reason(L, handle, kernel);
  return false;
}

bool kernel_ready_here(lua_State *L, int handle, const struct table *table) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  struct kernel *kernel = box->kernel;
  if (!kernel) return false;
  kernel->runs++;
  kernel->ahead = false;
  if (kernel_ready_unfit(kernel)) return false;
  uint32_t tries = 0;
  uint64_t version;
  do {
    version = *kernel->box->version;
    if (!ready_for(L, handle, kernel, variant_wanted(kernel, table), table->count)) return false;
  } while (UNLIKELY(version != *kernel->box->version) && tries++ < MOST_TRIES);
  kernel->refused = false;
  return true;
}

bool kernel_ready_body(lua_State *L, int handle, struct which which, uint32_t rows, bool begins) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  uint64_t compilations = kernel->compilations;
  if (begins && changes_watch((ecs_query *)(uintptr_t)kernel->query) != ECS_OK) raise_memory(L);
  kernel->runs++;
  if (begins) kernel_begin_run(kernel);
  if (kernel->resting || kernel_ready_unfit(kernel)) return false;
  kernel->ahead = false;
  if (!ready_for(L, handle, kernel, which, rows)) return false;
  kernel->refused = false;
  if (compilations == kernel->compilations && !begins) return true;
  if (kernel_ready_pays(L, handle, kernel)) return true;
  kernel_ready_keep_reason(L, handle, kernel);
  return false;
}

/* ---- kernel settled ---- */

/* Whether variant_direct would find the same variant: saves a tenth of the time of few rows. */
static inline bool kernel_ready_settled_is_sure(const struct kernel *kernel) {
  bool sure = kernel->sure && kernel->sure_version == *kernel->version;
  assert(!sure || (kernel->sure == kernel->variants[0] && !kernel->refused));
  assert(!sure || (kernel->sure->quiet && kernel->sure->version == kernel->sure_version));
  return sure && kernel->query->terms.plain && !kernel->query->broken;
}

bool kernel_reads(const struct kernel *kernel) {
  if (LIKELY(kernel_ready_settled_is_sure(kernel))) return false;
  return kernel->count && kernel->variants[0]->guard_count;
}

/* The run of a settled variant; false if there is none. */
static inline bool kernel_ready_settled_run(lua_State *L, int anchors, struct kernel *kernel,
                                            double dt, struct run *run) {
  struct variant *variant = kernel->sure;
  if (LIKELY(kernel_ready_settled_is_sure(kernel)))
    variant->run = ++kernel->runs;
  else
    variant = variant_direct(L, anchors, kernel);
  if (!variant) return false;
  assert(variant->quiet);
  *run = (struct run){.plan = &variant->plan, .query = kernel->query,
                      .uniforms = variant->uniforms, .dt = dt, .arrays = variant->arrays};
  return true;
}

bool kernel_join_batch(lua_State *L, int anchors, struct kernel *kernel, double dt) {
  struct run run;
  return kernel_ready_settled_run(L, anchors, kernel, dt, &run) &&
         abreast_add(kernel->set->abreast, &run);
}

bool kernel_run_direct(lua_State *L, int anchors, struct kernel *kernel, double dt) {
  struct runner *runner = &kernel->set->runner;
  struct run run;
  struct run_failure failure;
  if (!kernel_ready_settled_run(L, anchors, kernel, dt, &run)) return false;
  if (kernel->array || kernel->once) {
    uint32_t count = kernel->once ? 1 : kernel_elements(kernel)->length;
    return runner_reserve_elements(runner, run.plan, count) &&
           run_elements(runner, &run, 0, count, &failure);
  }
  ecs_status status = run_query(runner, &run, &failure);
  assert(status == ECS_OK || status == ECS_ENOMEM);
  return status == ECS_OK;
}

/* ---- the order of keys ---- */

/* Keys that a row has added to a table of its own. */
struct keys {
  const struct run_list *list;
  uint32_t count, *places;
};

/* (keys): adds them to a table made in the same way, and iterates over it. */
static int variant_order_protected(lua_State *L) {
  const struct keys *keys = lua_touserdata(L, 1);
  uint32_t at = 0;
  lua_createtable(L, (int)keys->list->items, (int)keys->list->names);
  for (uint32_t i = 0; i < keys->count; i++) {
    lua_pushinteger(L, (lua_Integer)keys->list->given[i]);
    lua_pushinteger(L, (lua_Integer)i);
    lua_rawset(L, 2);
  }
  for (lua_pushnil(L); lua_next(L, 2) && at < keys->count; lua_pop(L, 1))
    keys->places[at++] = (uint32_t)lua_tointeger(L, -1);
  assert(at == keys->count);
  return 0;
}

/* The `order` of a run_list: `ud` is the variant. No Lua may run meanwhile, neither a finalizer nor
** a hook. */
static bool variant_order_keys(const struct run_list *list, uint32_t count, uint32_t *places) {
  const struct variant *variant = list->ud;
  lua_State *L = variant->state;
  struct keys keys = {list, count, places};
  if (lua_gethook(L) || !lua_checkstack(L, 8)) return false;
  lua_pushcfunction(L, variant_order_protected);
  lua_pushlightuserdata(L, &keys);
  int status = lua_pcall(L, 1, 0, 0);
  if (status != LUA_OK) lua_pop(L, 1);
  return status == LUA_OK;
}

void variant_order_by(lua_State *L, struct variant *variant) {
  variant->state = L;
  for (uint32_t i = 0; i < variant->list_count; i++) {
    struct run_list *list = &variant->lists[i];
    if (list->kind != LIST_KEYS) continue;
    list->given = scratch_column_cells(variant->lists_cells, &variant->script, KC_I64,
                                       list->index);
    list->order = variant_order_keys;
    list->ud = variant;
  }
}
