#include "lua/jit/kernel.h"

#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "lua/api/api.h"
#include "lua/bind/args.h"
#include "lua/bind/object.h"
#include "lua/bind/status.h"
#include "lua/loop/loop.h"
#include "runner/run.h"

/* The function itself does the rows of a run from the one that failed on. */
static void kernel_run_finish(lua_State *L, int handle, const struct loop_box *loop,
                              const struct run_failure *failure, double dt,
                              const struct rest *rest) {
  kernel_finish(L, handle, failure, dt, rest, loop->form == LOOP_SYSTEM);
  if (!loop->open) loop_gone(L, loop);
}

static bool kernel_run_despawns(const struct run_plan *plan) {
  for (uint32_t i = 0; i < plan->command_count; i++)
    if (plan->commands[i].action == RUN_DESPAWN) return true;
  return false;
}

/* Whether a command will be refused for a row of a table, or of any for NULL, so that rows behind
** it must not be written: components can have components, but cannot be despawned. */
static bool kernel_run_may_be_refused(const struct run *run, const struct table *table) {
  const ecs_world *world = run->query->world;
  if (LIKELY(!kernel_run_despawns(run->plan))) return false;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    if (!component) continue;
    const struct record *record = entity_record(&world->entities, ecs_id_index(component->id));
    if (record->table < RECORD_BARE && (!table || record->table == table->index)) return true;
  }
  return false;
}

/* How many rows of a table a loop over the query comes to, before one; of those that a filter is
** about it comes to all. */
static uint32_t kernel_run_rows_before(const ecs_query *query, const uint64_t *filter,
                                       const struct table *table, uint32_t row) {
  uint32_t count = 0;
  if (filter || query_table_rows(&query->terms, table) != ROWS_SOME) return row;
  for (uint32_t word = 0; word * 64 < row; word++) {
    uint64_t bits = query_rows_at(&query->terms, table, word);
    if (row - word * 64 < 64) bits &= (UINT64_C(1) << (row - word * 64)) - 1;
    count += bits_count(bits);
  }
  return count;
}

/* The rows of a table from one on; where a total is made of all rows, the others, too. */
static struct rest kernel_run_rest_of(const ecs_query *query, const uint64_t *filter,
                                      uint32_t match, uint32_t row,
                                      const struct kernel_run *how) {
  const struct table *table = query_table(query, match);
  uint32_t before = kernel_run_rows_before(query, filter, table, row);
  uint64_t count = kernel_run_rows_before(query, filter, table, table->count) - before;
  if (how->total && !filter) count = UINT64_MAX;
  return (struct rest){match, before, count, ECS_NULL, filter, how->each, how->ud};
}

/* Whether a row that fails leaves all of them to the function itself. */
static bool kernel_run_gives_up(const struct loop_box *loop, const struct kernel_run *how) {
  if (!loop->walk || !how->gave_up) return false;
  *how->gave_up = true;
  return true;
}

/* ---- behind a row that fails ---- */

#define MOST_LEFT 16           /* rows of a table that are left to Lua one by one */

/* Pushes the rows of a table that a run is for. */
static uint64_t *kernel_run_push_rows(lua_State *L, const ecs_query *query, const uint64_t *filter,
                                      const struct table *table) {
  size_t size = (table->count + 63) / 64 * sizeof(uint64_t);
  uint64_t *bits = lua_newuserdatauv(L, size, 0);
  if (filter)
    memcpy(bits, filter, size);
  else
    query_mark_rows(&query->terms, table, bits);
  return bits;
}

/* The program for some rows of a table; NULL when there is none. */
static struct variant *kernel_run_variant_for_some(lua_State *L, int handle, struct kernel *kernel,
                                                   const struct table *table) {
  int top = lua_gettop(L);
  struct which which = {variant_present(kernel->query, table, 0), true};
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  struct variant *variant = variant_need(L, handle, top + 1, kernel, which);
  if (variant) variant = variant_find(L, top + 1, kernel, which);
  lua_settop(L, top);
  return variant;
}

static struct run kernel_run_run_of(const struct kernel *kernel, struct variant *variant,
                                    const struct kernel_run *how, const uint64_t *filter) {
  return (struct run){.plan = &variant->plan, .query = kernel->query,
                      .uniforms = variant->uniforms, .totals = how->total, .dt = how->dt,
                      .arrays = variant->arrays,
                      .indexes = (const struct ecs_index *const *)variant->indexes,
                      .filter = filter};
}

/* The function itself does the row that failed, and what is compiled of it goes on behind that one,
** a number of times; then the function does the rest. What failed is a run of a kernel without
** results over a table; its variant may be gone once the function has run. */
static void kernel_run_go_on(lua_State *L, int handle, struct loop_box *loop, uint32_t match,
                             struct run_failure *failure, const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const ecs_query *query = kernel->query;
  const struct table *table = query_table(query, match);
  int top = lua_gettop(L);
  need_stack(L, 4);
  uint64_t *bits = kernel_run_push_rows(L, query, loop->filter, table);
  for (uint32_t left = 0; left < MOST_LEFT; left++) {
    uint32_t row = (uint32_t)failure->why.row;
    assert(row < table->count && !how->total && !how->truth);
    struct rest rest = kernel_run_rest_of(query, loop->filter, match, row, how);
    rest.count = 1;
    kernel_run_finish(L, handle, loop, failure, how->dt, &rest);
    failure->why.row = row + 1;
    if (row + 1 == table->count) break;
    struct variant *variant = kernel_run_variant_for_some(L, handle, kernel, table);
    if (!variant) break;
    memset(bits, 0, row / 64 * sizeof *bits);
    bits[row / 64] &= row % 64 == 63 ? 0 : UINT64_MAX << (row % 64 + 1);
    struct run run = kernel_run_run_of(kernel, variant, how, bits);
    struct runner *runner = &kernel->set->runner;
    if (!runner_reserve(runner, run.plan, table->count)) raise_memory(L);
    bool sound = run_table(runner, &run, match, failure);
    ecs_status status = run.plan->command_count ? run_stage(runner, &run, match) : ECS_OK;
    if (status != ECS_OK) raise_status(L, loop->box->world, status);
    if (!sound) continue;
    lua_settop(L, top);
    return;
  }
  struct rest rest =
      kernel_run_rest_of(query, loop->filter, match, (uint32_t)failure->why.row, how);
  kernel_run_finish(L, handle, loop, failure, how->dt, &rest);
  lua_settop(L, top);
}

/* Over a table of the query. False when that failed, and the function itself did the rest. */
static bool run_variant(lua_State *L, int handle, struct loop_box *loop, uint32_t match,
                        struct variant *variant, const struct kernel_run *how) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  assert(variant);
  struct run run = kernel_run_run_of(kernel, variant, how, loop->filter);
  struct run_failure failure = {.entity = ECS_NULL};
  const struct table *table = query_table(kernel->query, match);
  assert(loop->query->query == kernel->query && run.plan);
  assert((how->truth != NULL) == (kernel->result == RESULT_TRUTH));
  if (UNLIKELY(kernel_run_may_be_refused(&run, table))) {
    if (how->resume) how->resume(match, how->ud);
    struct rest all = kernel_run_rest_of(run.query, run.filter, match, 0, how);
    kernel_run_finish(L, handle, loop, &failure, how->dt, &all);
    return false;
  }
  if (!runner_reserve(runner, run.plan, table->count)) raise_memory(L);
  bool by_stretches = !RESULT_IS_USED(kernel->result) && !loop->walk && !loop->filter;
  bool silent = by_stretches && !run.plan->command_count && !run.plan->order_count;
  bool sound = !silent || run_by_stretches(runner, &run, match, &failure);
  assert(sound || !loop->walk);
  while (!silent && sound && run_next_rows(&run, table, by_stretches)) {
    sound = run_table(runner, &run, match, &failure);
    if (UNLIKELY(!sound && kernel_run_gives_up(loop, how))) return false;
    if (how->truth) how->truth(L, loop, runner->bitmaps[0], how->ud);
    bool gives = run.plan->command_count && !how->truth;
    ecs_status status = gives ? run_stage(runner, &run, match) : ECS_OK;
    if (status != ECS_OK) raise_status(L, loop->box->world, status);
  }
  if (LIKELY(sound)) return true;
  if (!RESULT_IS_USED(kernel->result) && !loop->events) {
    kernel_run_go_on(L, handle, loop, match, &failure, how);
    return true;
  }
  if (how->resume) how->resume(match, how->ud);
  uint32_t row = (uint32_t)failure.why.row;
  struct rest rest = kernel_run_rest_of(run.query, run.filter, match, row, how);
  if (loop->events) rest.count = loop->count - rest.before;   /* not those emitted since */
  kernel_run_finish(L, handle, loop, &failure, how->dt, &rest);
  return false;
}

/* ---- matches that do not lie together ---- */

/* What has been gathered of a walk, or of a table's rows, and what it is for. */
struct gathering {
  const struct walk *walk;     /* NULL: of a table */
  const struct kernel_run *how;
  uint32_t match;              /* which of the query's */
  int anchors;                 /* where the kernel's are */
  struct run run;
  struct gather *gather;       /* nothing is set before a variant is known */
  struct matches *batch;         /* NULL: matches are gathered one by one */
  struct variant *variant;
  uint64_t present;
  uint32_t depth;              /* of the rows, where parents come first */
  const struct table *table;   /* the last row, that of the next match perhaps */
  uint32_t row;
  uint64_t done;               /* matches, of the walk or table, before those that are gathered */
  bool apart;                  /* no table is run as a whole */
  bool writes;
  uint32_t first[KERNEL_SLOTS];
};

/* Be it the id of whom its row spawns. */
static bool kernel_run_writes_any(const struct variant *variant) {
  for (uint32_t i = 0; i < variant->column_count; i++)
    if (variant->columns[i].written || variant->columns[i].folded) return true;
  for (uint32_t i = 0; i < variant->plan.order_count; i++)
    if (variant->plan.orders[i].own) return true;
  return false;
}

static void kernel_run_begin(lua_State *L, struct kernel *kernel, struct gathering *g,
                             uint64_t present) {
  g->variant = variant_find(L, g->anchors, kernel, (struct which){present, false});
  if (!g->variant) luaL_error(L, "finalizers keep using the world");
  assert(g->variant);
  g->present = present;
  g->run.plan = &g->variant->plan;
  g->run.uniforms = g->variant->uniforms;
  g->run.arrays = g->variant->arrays;
  g->run.indexes = (const struct ecs_index *const *)g->variant->indexes;
  g->writes = kernel_run_writes_any(g->variant);
  assert(!g->walk || g->run.plan->asked_count == 0);
  if (!g->walk) run_ask(&g->run, query_table(g->run.query, g->match));
  if (!gather_begin(&kernel->set->runner, &g->run, g->walk, g->gather)) raise_memory(L);
  if (g->batch && !gather_lay_out(&kernel->set->runner, g->batch)) raise_memory(L);
  for (uint32_t i = 0; i < g->variant->other_count; i++)
    g->variant->arrays[g->variant->others[i].array] =
        (k_array){g->gather->cells[i], GATHER_ROWS};
}

/* From a row on, of the matches behind those that are done. Finalizers may run other programs
** meanwhile, in the same room: what comes then begins anew. */
static void kernel_run_finish_matches(lua_State *L, int handle, const struct loop_box *loop,
                                      struct gathering *g, const struct run_failure *failure,
                                      uint32_t count) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct rest rest = {.match = g->match, .before = g->done + failure->why.row,
                      .count = count - failure->why.row};
  if (g->walk && !g->walk->repeats && failure->entity != ECS_NULL) {
    rest.entity = failure->entity;
    rest.before = 0;
  }
  kernel_run_finish(L, handle, loop, failure, g->run.dt, &rest);
  kernel_run_begin(L, kernel, g, g->present);
}

/* Runs what was gathered. */
static void kernel_run_flush(lua_State *L, int handle, struct loop_box *loop, struct gathering *g) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  struct run_failure failure = {.entity = ECS_NULL};
  uint32_t count = g->variant ? g->gather->count : 0;
  if (count == 0) return;
  if (UNLIKELY(kernel_run_may_be_refused(&g->run, NULL))) {
    failure.entity = gather_first(g->gather);
    kernel_run_finish_matches(L, handle, loop, g, &failure, count);
    g->done += count;
    return;
  }
  bool sound = gather_run(runner, &g->run, g->gather, &failure);
  ecs_status status = ECS_OK;
  if (g->run.plan->command_count) status = gather_stage(runner, &g->run, g->gather);
  if (status != ECS_OK) raise_status(L, loop->box->world, status);
  if (!sound && !kernel_run_gives_up(loop, g->how))
    kernel_run_finish_matches(L, handle, loop, g, &failure, count);
  g->done += count;
}

/* Runs over the whole table of a match, if all its rows match alike. */
static bool run_table_of(lua_State *L, int handle, struct loop_box *loop, struct walk *walk,
                         struct gathering *g) {
  struct run_failure failure;
  if (g->apart || walk->row || g->run.plan->needs_room || !walk_take_table(walk)) return false;
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  kernel_run_flush(L, handle, loop, g);
  uint32_t count = walk->table->count;
  if (!gather_run_table(&kernel->set->runner, &g->run, g->gather, walk, &failure))
    kernel_run_finish_matches(L, handle, loop, g, &failure, count);
  g->done += count;
  return true;
}

/* Runs over the table that the walk has come to, without any of its matches; or, where that
** needs nothing but the machine, of as many as it comes to. */
static void run_walked(lua_State *L, int handle, struct loop_box *loop, struct walk *walk,
                       struct gathering *g) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  struct run_failure failure = {.entity = ECS_NULL};
  const struct run_plan *plan = g->run.plan;
  if (!runner_reserve(runner, plan, walk->table->count)) raise_memory(L);
  g->run.first = g->first;
  bool sound;
  if (!plan->command_count && !plan->needs_room && !g->run.query->terms.choices) {
    assert(!kernel_run_despawns(plan));
    sound = run_walk(runner, &g->run, walk, g->first, &g->done, &failure);
    if (sound) return;
  } else {
    walk_table_columns(walk, g->first);
    bool refused = kernel_run_may_be_refused(&g->run, walk->table);
    sound = !refused && run_table(runner, &g->run, walk->match, &failure);
    bool gives = g->run.plan->command_count && !refused;
    ecs_status status = gives ? run_stage(runner, &g->run, walk->match) : ECS_OK;
    if (status != ECS_OK) raise_status(L, loop->box->world, status);
  }
  uint32_t count = walk->table->count;
  if (!sound) kernel_run_finish_matches(L, handle, loop, g, &failure, count);
  g->done += count;
}

/* As many tables as the walk comes to. */
static void run_next_tables(lua_State *L, int handle, struct loop_box *loop, struct walk *walk,
                            struct gathering *g) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  while (!g->apart && walk_next_table(walk)) {
    uint64_t present = variant_present(g->run.query, walk->table, 0);
    kernel_run_flush(L, handle, loop, g);
    if (!g->variant || present != g->present) kernel_run_begin(L, kernel, g, present);
    run_walked(L, handle, loop, walk, g);
  }
}

/* Whether a program of the kernel reads who a variable stands for. */
static bool kernel_run_reads_values(const struct kernel *kernel) {
  for (uint32_t i = 0; kernel->query->terms.values && i < kernel->count; i++)
    if (kernel->variants[i]->plan.program && run_reads_values(&kernel->variants[i]->plan))
      return true;
  return false;
}

/* Rows go together as long as none reads, or writes again, what another one has written; totals are
** made of batches as matches_next finds them (reduce.c). */
static void run_matches(lua_State *L, int handle, int anchors, struct loop_box *loop,
                        struct walk *walk, const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct gather gather;
  struct gathering g = {.walk = walk, .how = how, .gather = &gather, .anchors = anchors,
                        .apart = how->total || kernel_run_reads_values(kernel),
                        .run = {.query = kernel->query, .totals = how->total, .dt = how->dt}};
  struct choices choices;
  variant_choices(walk, &choices);
  for (run_next_tables(L, handle, loop, walk, &g); walk_next(walk);
       run_next_tables(L, handle, loop, walk, &g)) {
    uint64_t present = variant_present_in_match(walk, &choices);
    uint32_t depth = walk_depth(walk);
    bool again = walk->row == g.row && walk->table == g.table;
    bool together = g.variant && present == g.present && g.gather->count < GATHER_ROWS &&
                    (!how->total || depth == g.depth) &&
                    (!g.writes || (depth == g.depth && !again));
    if (!together) {
      kernel_run_flush(L, handle, loop, &g);
      if (how->gave_up && *how->gave_up) return;
      if (!g.variant || present != g.present) kernel_run_begin(L, kernel, &g, present);
    }
    if (run_table_of(L, handle, loop, walk, &g)) continue;
    g.depth = depth;
    g.table = walk->table;
    g.row = walk->row;
    gather_match(g.gather, walk);
  }
  kernel_run_flush(L, handle, loop, &g);
}

/* variant_present_in_match in all of them. */
static uint64_t kernel_run_present_in(const struct matches *batch, const struct choices *choices) {
  const struct walk *walk = batch->walk;
  const uint32_t *columns = query_columns(walk->query, batch->own.parts[0].first);
  uint64_t present = 0;
  for (uint32_t i = 0; i < choices->count; i++) {
    uint32_t slot = choices->list[i].term->slot, step = choices->list[i].step;
    bool there = step == NONE ? columns[slot] != NONE : !(batch->absent >> step & 1);
    if (there) present |= (uint64_t)1 << slot % KERNEL_SLOTS;
  }
  return present;
}

/* Runs over matches that can be had in batches. */
static void run_in_batches(lua_State *L, int handle, int anchors, struct loop_box *loop,
                        struct walk *walk, const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct matches batch;
  struct gather gather;
  struct gathering g = {.walk = walk, .how = how, .gather = &gather, .anchors = anchors,
                        .batch = &batch,
                        .run = {.query = kernel->query, .totals = how->total, .dt = how->dt}};
  struct choices choices;
  variant_choices(walk, &choices);
  assert(!loop->events || GATHER_ROWS == KERNEL_EVENTS);
  matches_begin(&batch, walk, loop->query->query);
  if (!gather_lay_out(&kernel->set->runner, &batch)) raise_memory(L);
  while (matches_next(&batch)) {
    uint64_t present = kernel_run_present_in(&batch, &choices);
    if (!g.variant || present != g.present) kernel_run_begin(L, kernel, &g, present);
    gather_matches(g.gather, &batch);
    kernel_run_flush(L, handle, loop, &g);
    if (how->gave_up && *how->gave_up) return;
  }
}

/* ---- tables ---- */

/* Gathers rows of a table that lie together. */
static void gather_run_of_rows(lua_State *L, int handle, struct loop_box *loop,
                               const struct table *table, uint32_t row, uint32_t count,
                               struct gathering *g) {
  while (count) {
    uint32_t n = count < 64 ? count : 64;
    if (g->gather->count + 64 > GATHER_ROWS) kernel_run_flush(L, handle, loop, g);
    uint64_t bits = n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
    gather_rows(g->gather, table, g->match, row, bits);
    row += n;
    count -= n;
  }
}

/* Over a table whose rows differ in the terms that are there. */
static void run_varying(lua_State *L, int handle, int anchors, struct loop_box *loop,
                        uint32_t match, const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const ecs_query *query = kernel->query;
  const struct table *table = query_table(query, match);
  struct gather gather;
  struct gathering g = {.how = how, .gather = &gather, .anchors = anchors, .match = match,
                        .run = {.query = query, .totals = how->total, .dt = how->dt}};
  uint32_t count, row = query_next_run(&query->terms, table, 0, &count);
  for (; count; row = query_next_run(&query->terms, table, row + count, &count)) {
    uint64_t present = variant_present(query, table, row);
    if (!g.variant || present != g.present) {
      kernel_run_flush(L, handle, loop, &g);
      kernel_run_begin(L, kernel, &g, present);
    }
    gather_run_of_rows(L, handle, loop, table, row, count, &g);
  }
  kernel_run_flush(L, handle, loop, &g);
}

static void kernel_run_run_tables(lua_State *L, int handle, int anchors, struct loop_box *loop,
                           const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const ecs_query *query = kernel->query;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    enum table_rows rows = query_table_rows(&query->terms, table);
    if (rows == ROWS_NONE) continue;
    if (rows == ROWS_VARY) {
      run_varying(L, handle, anchors, loop, i, how);
      continue;
    }
    struct which which = variant_of_rows(kernel, table, rows == ROWS_SOME);
    struct variant *variant = variant_find(L, anchors, kernel, which);
    if (!variant) luaL_error(L, "finalizers keep using the world");
    if (!run_variant(L, handle, loop, i, variant, how) && how->total) return;
  }
}

void kernel_run(lua_State *L, int handle, struct loop_box *loop,
                const struct kernel_run *run) {
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  if (!loop->walk)
    kernel_run_run_tables(L, handle, anchors, loop, run);
  else if (matches_suit(loop->query->query))
    run_in_batches(L, handle, anchors, loop, loop->walk, run);
  else
    run_matches(L, handle, anchors, loop, loop->walk, run);
  if (!loop->open) loop_gone(L, loop);
  lua_pop(L, 1);
}

/* Whether the loop has come to all rows of its table, or to a filter of them. */
static bool kernel_run_is_whole(const struct loop_box *loop) {
  if (!loop->walk) return loop->partial || !query_splits(&loop->query->query->terms, loop->table);
  return loop->events && loop->count == loop->table->count;
}

static struct variant *kernel_run_variant_here(lua_State *L, int handle,
                                               const struct loop_box *loop) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  int top = lua_gettop(L);
  bool whole = kernel_run_is_whole(loop);
  struct variant *variant = NULL;
  if (whole && kernel_ready_here(L, handle, loop->table)) {
    lua_getiuservalue(L, handle, KERNEL_ANCHORS);
    variant = variant_find(L, lua_gettop(L), box->kernel, variant_wanted(box->kernel, loop->table));
  }
  lua_settop(L, top);
  return variant;
}

const struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop) {
  return kernel_run_variant_here(L, handle, loop);
}

bool kernel_here(lua_State *L, int handle, struct loop_box *loop,
                 const struct kernel_run *run) {
  struct variant *variant = kernel_run_variant_here(L, handle, loop);
  if (!variant) return false;
  assert(variant->which.some == (loop->filter != NULL));
  uint32_t match = loop->walk ? loop->walk->match : loop->match - 1;
  return run_variant(L, handle, loop, match, variant, run) || !loop->events || !run->gave_up;
}
