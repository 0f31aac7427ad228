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

/* Defers the changes that a run has just marked. */
static void kernel_run_stage(lua_State *L, const struct kernel *kernel, const struct run *run,
                             uint32_t match) {
  if (!run->plan->command_count) return;
  raise_failure(L, kernel->box->world, run_stage(&kernel->set->runner, run, match));
}

/* Calls the function itself for the rows of a run from the failed one on. */
static void kernel_run_finish(lua_State *L, int handle, const struct loop_box *loop,
                              const struct run_failure *failure, double dt,
                              const struct rest *rest) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  if (!kernel->left) kernel->why_left = failure->why;
  kernel_finish(L, handle, failure, dt, rest, loop->form == LOOP_SYSTEM);
  kernel->runs++;
  if (!loop->open) loop_gone(L, loop);
}

static bool kernel_run_despawns(const struct run_plan *plan) {
  for (uint32_t i = 0; i < plan->command_count; i++)
    if (plan->commands[i].action == RUN_DESPAWN) return true;
  return false;
}

/* Whether a command could be refused for a row of a table (NULL: of any), so that later rows must
** not be written: components, which may match, cannot be despawned. */
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

/* The number of rows of a table before a given one that a loop over the query visits; with a
** filter, all of them. */
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

/* The rows of a table from a given one on; for a total of all rows, later tables, too. */
static struct rest kernel_run_rest_of(const ecs_query *query, const uint64_t *filter,
                                      uint32_t match, uint32_t row,
                                      const struct kernel_run *how) {
  const struct table *table = query_table(query, match);
  uint32_t before = kernel_run_rows_before(query, filter, table, row);
  uint64_t count = kernel_run_rows_before(query, filter, table, table->count) - before;
  if (how->total && !filter) count = UINT64_MAX;
  return (struct rest){.match = match, .before = before, .count = count, .filter = filter,
                       .each = how->each, .ud = how->ud};
}

/* Whether a failed row makes all rows fall back to the function. */
static bool kernel_run_gives_up(const struct loop_box *loop, const struct kernel_run *how) {
  if (!loop->walk || !how->gave_up) return false;
  *how->gave_up = true;
  return true;
}

/* ---- after a row that fails ---- */

#define LEAST_LEFT 16u         /* when this many rows have fallen back one by one, */
#define LEFT_PART 16u          /* or this part of those so far, if larger, the rest does, too */
#define LEAST_LENIENT 4u       /* fewer, if they did what was refused: perhaps all rows do */
#define MOST_RESTS 64u         /* runs by Lua alone after several that ended this way */
#define LENIENT_RESTS 1024u    /* the same, if the rows that fell back did what was refused, */
#define STALE_RESTS 64u        /* and after this many, the function is compiled again */
#define FIRST_PIECE 64u        /* rows run after one that fell back; then twice as many */

/* Tables are copied again before each such row: no more often than takes as long as all rows in
** Lua. */
static uint64_t kernel_run_most_left(lua_State *L, int anchors, const struct variant *variant,
                                     uint32_t count, uint64_t passed) {
  uint64_t least = variant->lenient ? LEAST_LENIENT : LEAST_LEFT;
  uint64_t most = passed / LEFT_PART > least ? passed / LEFT_PART : least;
  if (!variant->tables) return most;
  uint64_t cost = variant_cost(L, anchors, variant);
  uint64_t bearable = 1 + variant_worth(variant, count) / (cost + 1);
  return bearable < most ? bearable : most;
}

/* What has been gathered from a walk, and its program. */
struct gathering {
  struct kernel *kernel;
  struct loop_box *loop;
  struct walk *walk;           /* the loop's */
  const struct kernel_run *how;
  int anchors;                 /* index of the kernel's anchors */
  struct run run;
  struct gather *gather;       /* not set before a variant is found */
  struct matches *batch;         /* NULL: matches are gathered one by one */
  struct variant *variant;
  uint64_t present, maybe;     /* fields of a struct which */
  uint32_t depth;              /* the depth of the rows, if parents come first */
  const struct table *table;   /* of the last row, possibly the next match's */
  uint32_t row;
  uint64_t done;               /* matches in the walk or table before the gathered ones */
  bool apart;                  /* tables are not run as a whole */
  bool writes;
  bool over;                   /* the function itself has done all other rows */
  uint32_t turn, first_turn;   /* how often the row matched before its last match, and before the
                               ** first gathered one */
  uint64_t gathers;            /* the runner's count when the last match was gathered */
  uint32_t first[KERNEL_SLOTS];
};

/* Rows over which a program runs: from a table, or from a gathering. */
struct row_span {
  struct kernel *kernel;
  struct loop_box *loop;
  const struct kernel_run *how;
  struct variant *variant;
  struct gathering *g;         /* NULL: the rows are a table's */
  uint32_t match;              /* for a table: its number in the query */
  uint32_t count, row;         /* number of rows; the one that falls back or has failed */
  bool some;                   /* not all rows of the table match */
  struct run over;             /* the variant's run over the table */
  ecs_id behind;               /* for a gathering: the next row's entity, or ECS_NULL */
  struct run_failure failure;
  /* Runs `count` rows from a given one on, and defers what they have marked. */
  bool (*run)(lua_State *L, int handle, struct row_span *span, uint32_t row, uint32_t count);
  /* Whether the program still fits once the function has done a row. */
  bool (*renew)(lua_State *L, int handle, int anchors, struct row_span *span);
};

/* The program that fits some rows now, or NULL. */
static struct variant *kernel_run_variant(lua_State *L, int handle, int anchors,
                                          struct kernel *kernel, struct which which) {
  int top = lua_gettop(L);
  kernel->runs += kernel->keeps;   /* another kernel may have written its cells */
  struct variant *variant = variant_find(L, anchors, kernel, which);
  if (LIKELY(variant)) return variant;
  variant = variant_need(L, handle, anchors, kernel, which);
  if (variant) variant = variant_find(L, anchors, kernel, which);
  lua_settop(L, top);
  return variant;
}

/* The matches that are not finished, from a row of the span on. */
static struct rest kernel_run_rest_of_gathering(struct row_span *span) {
  const struct gathering *g = span->g;
  bool failed = span->row == span->failure.why.row;
  struct rest rest = {.before = g->done + span->row, .count = span->count - span->row};
  if (!g->walk->repeats) rest.entity = failed ? span->failure.entity : span->behind;
  if (rest.entity != ECS_NULL) rest.before = 0;
  return rest;
}

/* Sets where a row of the span is in its table, and which of its matches it is. */
static void kernel_run_place(struct row_span *span, struct rest *rest) {
  const struct gathering *g = span->g;
  const struct gather *gather = g->gather;
  uint32_t row = span->row;
  span->behind = ECS_NULL;
  if (gather->count == 0) {
    rest->match = g->walk->match;
    if (row + 1 < span->count)
      span->behind = entity_id(&g->run.query->world->entities, g->walk->table->rows[row + 1]);
    return;
  }
  struct gathered at = gather_at(gather, row);
  rest->match = at.match;
  rest->row = at.row;
  if (row + 1 < span->count) span->behind = gather_entity(gather, row + 1);
  if (!g->walk->repeats) return;
  for (; row > 0; row--, rest->turn++) {
    struct gathered before = gather_at(gather, row - 1);
    if (before.match != at.match || before.row != at.row) return;
  }
  rest->turn += g->first_turn;
}

/* The span's row that the function alone does; keeps `go_on`. */
static void kernel_run_single(struct row_span *span, struct rest *rest) {
  *rest = (struct rest){.match = span->match, .row = span->row, .count = 1, .of = span,
                        .go_on = rest->go_on};
  if (span->g) kernel_run_place(span, rest);
}

/* Runs the rows after the one that the function has done, up to a failed row, which the function
** also does. False if no more single rows may fall back, or there are none. */
static bool kernel_run_go_on(lua_State *L, int handle, int anchors, struct rest *rest) {
  struct row_span *span = rest->of;
  uint32_t piece = FIRST_PIECE;
  if (!span->loop->open) loop_gone(L, span->loop);
  span->kernel->runs++;        /* the function may have changed outside values */
  if (++span->row == span->count) return false;
  if (!span->renew(L, handle, anchors, span)) return false;
  for (; span->row < span->count; span->row += piece, piece *= 2) {
    if (piece > span->count - span->row) piece = span->count - span->row;
    if (span->run(L, handle, span, span->row, piece)) continue;
    span->row = (uint32_t)span->failure.why.row;
    uint64_t passed = (span->g ? span->g->done : span->kernel->passed) + span->row + 1;
    if (span->kernel->left >=
        kernel_run_most_left(L, anchors, span->variant, span->count, passed))
      return false;
    kernel_run_single(span, rest);
    return true;
  }
  return false;
}

void kernel_tire(struct kernel *kernel) {
  if (kernel->gave_up) return;
  kernel->gave_up = true;
  uint32_t most = kernel->count && kernel->variants[0]->lenient ? LENIENT_RESTS : MOST_RESTS;
  if (kernel->tired < most) kernel->tired = kernel->tired ? kernel->tired * 2 : 1;
  kernel->rests = kernel->tired - 1;
  kernel->why_tired = kernel->why_left;
}

void kernel_begin_run(struct kernel *kernel) {
  kernel->left = kernel->passed = 0;
  kernel->resting = kernel->rests > 0;
  if (kernel->resting) {
    kernel->rests--;
    return;
  }
  if (!kernel->gave_up && !kernel->denied) kernel->tired = 0;
  /* What was refused, so that rows were left to Lua, may compile by now. */
  bool stale = kernel->tired >= STALE_RESTS;
  for (uint32_t i = 0; stale && i < kernel->count; i++)
    if (kernel->variants[i]->lenient) kernel->variants[i]->version = UINT64_MAX;
  if (stale) kernel->sure = NULL;
  kernel->gave_up = false;
}

/* The function itself does the failed row, and the program continues after it, a limited number of
** times, if there are no results; after that the function does all rows that are left. */
static void kernel_run_leave(lua_State *L, int handle, struct row_span *span) {
  const struct kernel_run *how = span->how;
  bool used = RESULT_IS_USED(span->kernel->result);
  span->row = (uint32_t)span->failure.why.row;
  if (!used) {
    struct rest alone = {.go_on = kernel_run_go_on};
    kernel_run_single(span, &alone);
    kernel_run_finish(L, handle, span->loop, &span->failure, how->dt, &alone);
    if (span->row == span->count) return;
    kernel_tire(span->kernel);
  }
  if (used && how->resume) how->resume(span->match, how->ud);
  struct rest rest = span->g ? kernel_run_rest_of_gathering(span)
                             : kernel_run_rest_of(span->kernel->query, span->loop->filter,
                                                  span->match, span->row, how);
  /* Leaves out events emitted since then. */
  if (!span->g && span->loop->events) rest.count = span->loop->count - rest.before;
  kernel_run_finish(L, handle, span->loop, &span->failure, how->dt, &rest);
}

static struct run kernel_run_run_of(const struct kernel *kernel, struct variant *variant,
                                    const struct kernel_run *how, const uint64_t *filter) {
  return (struct run){.plan = &variant->plan, .query = kernel->query,
                      .uniforms = variant->uniforms, .totals = how->total, .dt = how->dt,
                      .arrays = variant->arrays,
                      .indexes = (const struct ecs_index *const *)variant->indexes,
                      .filter = filter};
}

static bool kernel_run_rows(lua_State *L, int handle, struct row_span *span, uint32_t row,
                            uint32_t count) {
  struct runner *runner = &span->kernel->set->runner;
  span->over.rows = (struct row_stretch){row, count, 0};
  variant_hold(L, span->variant);
  bool sound = run_table(runner, &span->over, span->match, &span->failure);
  variant_store_cells(L, handle, span->variant);
  kernel_run_stage(L, span->kernel, &span->over, span->match);
  return sound;
}

static bool kernel_run_renew(lua_State *L, int handle, int anchors, struct row_span *span) {
  struct kernel *kernel = span->kernel;
  const struct table *table = query_table(kernel->query, span->match);
  struct which which = variant_in_table(kernel->query, table, span->some);
  span->variant = kernel_run_variant(L, handle, anchors, kernel, which);
  if (!span->variant) return false;
  span->over = kernel_run_run_of(kernel, span->variant, span->how, span->loop->filter);
  if (!runner_reserve(&kernel->set->runner, span->over.plan, table->count)) raise_memory(L);
  return true;
}

/* The function itself does all rows of a table. */
static bool kernel_run_in_lua(lua_State *L, int handle, const struct loop_box *loop,
                              uint32_t match, const struct kernel_run *how) {
  const struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct run_failure failure = {.entity = ECS_NULL};
  if (kernel->resting) failure.why = kernel->why_tired;
  struct rest all = kernel_run_rest_of(kernel->query, loop->filter, match, 0, how);
  kernel_run_finish(L, handle, loop, &failure, how->dt, &all);
  return false;
}

/* Runs over a table of the query. If it failed, false: the function itself did the rest. */
static bool run_variant(lua_State *L, int handle, struct loop_box *loop, uint32_t match,
                        struct variant *variant, const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  const struct table *table = query_table(kernel->query, match);
  struct run_failure failure = {.entity = ECS_NULL};
  if (UNLIKELY(!variant || kernel->resting)) return kernel_run_in_lua(L, handle, loop, match, how);
  struct run run = kernel_run_run_of(kernel, variant, how, loop->filter);
  assert(loop->query->query == kernel->query && run.plan);
  assert((how->truth != NULL) == (kernel->result == RESULT_TRUTH));
  if (UNLIKELY(kernel_run_may_be_refused(&run, table))) {
    if (how->resume) how->resume(match, how->ud);
    return kernel_run_in_lua(L, handle, loop, match, how);
  }
  if (!runner_reserve(runner, run.plan, table->count)) raise_memory(L);
  bool by_stretches = !RESULT_IS_USED(kernel->result) && !loop->walk && !loop->filter;
  bool sound = true;
  while (sound && run_next_rows(&run, table, by_stretches)) {
    variant_hold(L, variant);
    sound = run_table(runner, &run, match, &failure);
    variant_store_cells(L, handle, variant);
    if (UNLIKELY(!sound && kernel_run_gives_up(loop, how))) return false;
    if (how->truth) how->truth(L, loop, runner->bitmaps[0], how->ud);
    if (!how->truth) kernel_run_stage(L, kernel, &run, match);
  }
  if (LIKELY(sound)) {
    kernel->passed += table->count;
    return true;
  }
  const struct query_terms *terms = &kernel->query->terms;
  struct row_span span = {.kernel = kernel, .loop = loop, .how = how, .match = match,
                      .count = table->count,
                      .some = kernel->filtered || terms->changes ||
                              query_table_rows(terms, table) == ROWS_SOME,
                      .failure = failure, .run = kernel_run_rows, .renew = kernel_run_renew};
  kernel_run_leave(L, handle, &span);
  kernel->passed += span.count;
  return !RESULT_IS_USED(kernel->result) && !loop->events;
}

/* ---- matches that are not contiguous ---- */

static void kernel_run_bind(struct gathering *g) {
  const struct variant *variant = g->variant;
  g->run = kernel_run_run_of(g->kernel, g->variant, g->how, NULL);
  /* To columns, even if only the id of a spawned entity is written. */
  g->writes = false;
  for (uint32_t i = 0; i < variant->column_count; i++)
    g->writes |= variant->columns[i].written || variant->columns[i].folded;
  for (uint32_t i = 0; i < variant->plan.order_count; i++)
    g->writes |= variant->plan.orders[i].own;
  assert(g->run.plan->asked_count == 0);
}

/* Begins to gather rows for a program; false if there is none. */
static bool kernel_run_begin(lua_State *L, int handle, struct gathering *g, uint64_t present) {
  struct runner *runner = &g->kernel->set->runner;
  if (g->batch && !gather_lay_out(runner, g->batch)) raise_memory(L);
  struct which which = {present, false, g->maybe};
  g->variant = kernel_run_variant(L, handle, g->anchors, g->kernel, which);
  if (!g->variant) return false;
  g->present = present;
  kernel_run_bind(g);
  if (!gather_begin(runner, &g->run, g->walk, g->gather)) raise_memory(L);
  g->gathers = runner->gathers;
  return true;
}

/* Whether there is a program for the next matches; none of them is gathered yet. If not, the
** function itself does them, from an entity on. */
static bool kernel_run_is_begun(lua_State *L, int handle, struct gathering *g, uint64_t present,
                                ecs_id entity) {
  if (g->over) return false;
  if (LIKELY(g->variant && present == g->present)) return true;
  if (LIKELY(kernel_run_begin(L, handle, g, present))) return true;
  g->kernel->walked = 0;
  if (g->how->total) luaL_error(L, "finalizers keep changing the world");
  struct rest rest = {.before = g->done, .count = UINT64_MAX, .limit = g->walk->limit};
  if (!g->walk->repeats) rest.entity = entity;
  if (rest.entity != ECS_NULL) rest.before = 0;
  struct run_failure failure = {.entity = ECS_NULL};
  kernel_run_finish(L, handle, g->loop, &failure, g->how->dt, &rest);
  g->over = true;
  return false;
}

/* A row of a gathered span, or all rows, fall back, which ends the gathering. Finalizers may run
** other programs meanwhile, in the same buffers, so a new gathering begins afterwards. */
static void kernel_run_leave_matches(lua_State *L, int handle, struct row_span *span, bool all) {
  struct rest rest = kernel_run_rest_of_gathering(span);
  if (all)
    kernel_run_finish(L, handle, span->loop, &span->failure, span->how->dt, &rest);
  else
    kernel_run_leave(L, handle, span);
  gather_forget(span->g->gather);
  if (!kernel_run_begin(L, handle, span->g, span->g->present)) span->g->variant = NULL;
}

static bool kernel_run_gathered(lua_State *L, int handle, struct row_span *span, uint32_t row,
                                uint32_t count) {
  struct runner *runner = &span->kernel->set->runner;
  struct gathering *g = span->g;
  g->gather->first = row;
  variant_hold(L, g->variant);
  bool sound = gather_run(runner, &g->run, g->gather, row + count, &span->failure);
  variant_store_cells(L, handle, g->variant);
  if (g->run.plan->command_count)
    raise_failure(L, g->kernel->box->world,
                  run_stage_rows(runner, &g->run, NULL, g->gather->ids, runner->rows));
  return sound;
}

/* Whether the gathered rows still exist, and Lua would find the same ones. */
static bool kernel_run_renew_gathered(lua_State *L, int handle, int anchors,
                                      struct row_span *span) {
  struct gathering *g = span->g;
  const struct variant *before = g->variant;
  const struct query_terms *terms = &g->kernel->query->terms;
  for (uint32_t i = 0; before->leaves && i < terms->step_count; i++) {
    /* A path may follow a field that any function may write. */
    const struct term *term = &terms->terms[terms->steps[i]];
    if (term->form == TERM_PATH && term->through_leaf != NONE) return false;
  }
  struct which which = {g->present, false, g->maybe};
  if (kernel_run_variant(L, handle, anchors, g->kernel, which) != before) return false;
  span->variant = g->variant;
  kernel_run_bind(g);
  return g->kernel->set->runner.gathers == g->gathers;
}

/* Runs what was gathered. */
static void kernel_run_flush(lua_State *L, int handle, struct gathering *g) {
  uint32_t count = g->variant ? g->gather->count : 0;
  if (count == 0) return;
  struct row_span span = {.kernel = g->kernel, .loop = g->loop, .how = g->how, .g = g,
                      .count = count, .run = kernel_run_gathered,
                      .renew = kernel_run_renew_gathered};
  bool refused = kernel_run_may_be_refused(&g->run, NULL);
  if (UNLIKELY(refused)) {
    span.failure.entity = gather_entity(g->gather, 0);
    kernel_run_leave_matches(L, handle, &span, true);
  } else if (!kernel_run_gathered(L, handle, &span, 0, count) &&
             !kernel_run_gives_up(g->loop, g->how)) {
    kernel_run_leave_matches(L, handle, &span, false);
  } else {
    gather_forget(g->gather);
  }
  g->done += count;
}

/* Makes the span cover the table that its walk has reached. */
static void kernel_run_span_table(struct row_span *span) {
  span->variant = span->g->variant;
  span->match = span->g->walk->match;
  span->over = span->g->run;
  span->over.first = span->g->first;
}

/* kernel_run_renew_gathered for a table that the walk of a gathering has reached. */
static bool kernel_run_renew_table(lua_State *L, int handle, int anchors, struct row_span *span) {
  struct gathering *g = span->g;
  struct runner *runner = &g->kernel->set->runner;
  int outer = g->anchors;
  g->anchors = anchors;
  bool ready = kernel_run_begin(L, handle, g, g->present);
  g->anchors = outer;
  if (ready) kernel_run_span_table(span);
  if (ready && !runner_reserve(runner, g->run.plan, span->count)) raise_memory(L);
  return ready;
}

/* If all rows of a match's table match alike, runs over the whole table. */
static bool run_table_of(lua_State *L, int handle, struct gathering *g) {
  struct walk *walk = g->walk;
  if (g->apart || walk->row || g->run.plan->needs_room || !walk_take_table(walk)) return false;
  kernel_run_flush(L, handle, g);
  if (!kernel_run_is_begun(L, handle, g, g->present, walk_entity(walk))) return true;
  struct row_span span = {.kernel = g->kernel, .loop = g->loop, .how = g->how, .g = g,
                          .count = walk->table->count, .run = kernel_run_rows,
                          .renew = kernel_run_renew_table};
  walk_table_columns(walk, g->first);
  kernel_run_span_table(&span);
  if (!kernel_run_rows(L, handle, &span, 0, span.count))
    kernel_run_leave_matches(L, handle, &span, false);
  g->done += span.count;
  return true;
}

/* Runs over the whole table that the walk has reached, without finding its matches; if only the
** machine is needed, over all such tables that the walk reaches. */
static void run_walked(lua_State *L, int handle, struct gathering *g) {
  struct runner *runner = &g->kernel->set->runner;
  struct walk *walk = g->walk;
  const struct run_plan *plan = g->run.plan;
  struct row_span span = {.kernel = g->kernel, .loop = g->loop, .how = g->how, .g = g,
                          .run = kernel_run_rows, .renew = kernel_run_renew_table};
  if (!runner_reserve(runner, plan, walk->table->count)) raise_memory(L);
  bool sound, refused = false;
  if (!plan->command_count && !plan->needs_room && !g->run.query->terms.choices) {
    assert(!kernel_run_despawns(plan));
    g->run.first = g->first;
    variant_hold(L, g->variant);
    sound = run_walk(runner, &g->run, walk, g->first, &g->done, &span.failure);
    variant_store_cells(L, handle, g->variant);
    if (sound) return;
  } else {
    walk_table_columns(walk, g->first);
    kernel_run_span_table(&span);
    refused = kernel_run_may_be_refused(&g->run, walk->table);
    sound = !refused && kernel_run_rows(L, handle, &span, 0, walk->table->count);
  }
  span.count = walk->table->count;
  if (!sound) kernel_run_leave_matches(L, handle, &span, refused);
  g->done += span.count;
}

/* Runs over tables as long as the walk reaches whole ones. */
static void run_next_tables(lua_State *L, int handle, struct gathering *g) {
  while (!g->apart && !g->over && walk_next_table(g->walk)) {
    uint64_t present = variant_present(g->run.query, g->walk->table, 0);
    kernel_run_flush(L, handle, g);
    if (kernel_run_is_begun(L, handle, g, present, walk_entity(g->walk))) run_walked(L, handle, g);
  }
}

/* Rows run together until one reads, or writes again, what another has written; totals are made
** from batches as matches_next finds them (reduce.c). */
static void run_matches(lua_State *L, int handle, struct gathering *g) {
  const struct kernel *kernel = g->kernel;
  const struct kernel_run *how = g->how;
  struct walk *walk = g->walk;
  g->apart = how->total || kernel->takes_values;
  struct choices choices;
  variant_choices(walk, &choices);
  for (run_next_tables(L, handle, g); !g->over && walk_next(walk); run_next_tables(L, handle, g)) {
    uint64_t present = variant_present_in_match(walk, &choices);
    uint32_t depth = walk_depth(walk);
    bool again = walk->row == g->row && walk->table == g->table;
    bool together = g->variant && present == g->present && g->gather->count < GATHER_ROWS &&
                    (!how->total || depth == g->depth) &&
                    (!g->writes || (depth == g->depth && !again));
    if (!together) kernel_run_flush(L, handle, g);
    if (how->gave_up && *how->gave_up) return;
    if (!kernel_run_is_begun(L, handle, g, present, walk_entity(walk))) return;
    if (run_table_of(L, handle, g)) continue;
    g->depth = depth;
    g->table = walk->table;
    g->row = walk->row;
    g->turn = again ? g->turn + 1 : 0;
    if (g->gather->count == 0) g->first_turn = g->turn;
    gather_match(g->gather, walk);
  }
  kernel_run_flush(L, handle, g);
}

/* Runs over matches that can be found in batches; each batch is in g->batch. */
static void run_in_batches(lua_State *L, int handle, struct gathering *g) {
  struct kernel *kernel = g->kernel;
  const struct kernel_run *how = g->how;
  struct matches *batch = g->batch;
  struct choices choices;
  g->maybe = kernel->maybe;
  variant_choices(g->walk, &choices);
  assert(!g->loop->events || GATHER_ROWS == KERNEL_EVENTS);
  matches_begin(batch, g->walk, g->loop->query->query, kernel->maybe != 0);
  if (!gather_lay_out(&kernel->set->runner, batch)) raise_memory(L);
  while (matches_next(batch)) {
    uint64_t present = 0;   /* of all of them: see variant_present_in_match */
    const uint32_t *columns = query_columns(g->walk->query, batch->own.parts[0].first);
    for (uint32_t i = 0; i < choices.count; i++) {
      uint32_t slot = choices.list[i].term->slot, step = choices.list[i].step;
      if (kernel->maybe >> slot % KERNEL_SLOTS & 1) continue;
      bool there = step == NONE ? columns[slot] != NONE : batch->spots[step].parts[0].table != NULL;
      if (there) present |= (uint64_t)1 << slot % KERNEL_SLOTS;
    }
    ecs_id first = entity_id(&kernel->box->world->entities,
                             batch->own.parts[0].table->rows[batch->own.rows[0]]);
    if (!kernel_run_is_begun(L, handle, g, present, first)) return;
    gather_matches(g->gather, batch);
    kernel_run_flush(L, handle, g);
    if (how->gave_up && *how->gave_up) return;
  }
}

/* ---- tables ---- */

static void kernel_run_run_tables(lua_State *L, int handle, int anchors, struct loop_box *loop,
                           const struct kernel_run *how) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const ecs_query *query = kernel->query;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    enum table_rows rows = query_table_rows(&query->terms, table);
    if (rows == ROWS_NONE) continue;
    struct which which = variant_of_rows(kernel, table, rows == ROWS_SOME);
    struct variant *variant = kernel_run_variant(L, handle, anchors, kernel, which);
    if (!variant && RESULT_IS_USED(kernel->result))
      luaL_error(L, "finalizers keep changing the world");
    if (!run_variant(L, handle, loop, i, variant, how) && how->total) return;
  }
}

void kernel_run(lua_State *L, int handle, struct loop_box *loop,
                const struct kernel_run *run) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  if (!loop->walk) {
    kernel_run_run_tables(L, handle, anchors, loop, run);
  } else {
    struct gather gather;
    struct gathering g = {.kernel = box->kernel, .loop = loop, .walk = loop->walk, .how = run,
                          .gather = &gather, .anchors = anchors,
                          .run = {.query = box->kernel->query}};
    struct matches batch;
    bool batches = matches_suit(loop->query->query, box->kernel->maybe != 0);
    /* cppcheck-suppress uninitvar */
    g.batch = batches ? &batch : NULL;
    (batches ? run_in_batches : run_matches)(L, handle, &g);
  }
  if (!loop->open) loop_gone(L, loop);
  lua_pop(L, 1);
}

/* ---- elements ---- */

void kernel_run_elements(lua_State *L, int handle, struct elements *elements) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct runner *runner = &kernel->set->runner;
  struct kernel_run how = {.dt = elements->dt};
  struct run_failure failure;
  uint32_t count = elements->count, row = 0, piece = count;
  uint64_t most = 1;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  while (row < count && kernel->left < most) {
    struct which which = variant_wanted(kernel, NULL);
    struct variant *variant = kernel_run_variant(L, handle, anchors, kernel, which);
    if (!variant) break;
    most = kernel_run_most_left(L, anchors, variant, count, row);
    struct run run = kernel_run_run_of(kernel, variant, &how, NULL);
    if (!runner_reserve_elements(runner, run.plan, count)) raise_memory(L);
    if (piece > count - row) piece = count - row;
    variant_hold(L, variant);
    bool sound = run_elements(runner, &run, row, piece, &failure);
    variant_store_cells(L, handle, variant);
    row += sound ? piece : (uint32_t)failure.why.row;
    piece = sound ? 2 * piece : FIRST_PIECE;
    if (sound) continue;
    if (!kernel->left) kernel->why_left = failure.why;
    kernel->left++;
    kernel->all_left++;
    elements_between(L, elements, row, row + 1);
    row++;
    kernel->runs++;            /* the function may have changed outside values */
  }
  kernel->left += count - row;
  kernel->all_left += count - row;
  elements_between(L, elements, row, count);
  lua_settop(L, anchors - 1);
}

bool kernel_run_once(lua_State *L, int handle, double dt) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct kernel_run how = {.dt = dt};
  struct run_failure failure;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  struct which which = variant_wanted(kernel, NULL);
  struct variant *variant = kernel_run_variant(L, handle, lua_gettop(L), kernel, which);
  lua_pop(L, 1);
  if (!variant) return false;
  struct run run = kernel_run_run_of(kernel, variant, &how, NULL);
  if (!runner_reserve_elements(&kernel->set->runner, run.plan, 1)) raise_memory(L);
  variant_hold(L, variant);
  bool sound = run_elements(&kernel->set->runner, &run, 0, 1, &failure);
  variant_store_cells(L, handle, variant);
  if (!sound) kernel->why_left = failure.why;
  if (!sound) kernel_tire(kernel);
  kernel->left = !sound;
  kernel->all_left += !sound;
  kernel->box->world->rows_run -= sound;   /* it ran no rows */
  return sound;
}

struct variant *kernel_variant_here(lua_State *L, int handle, const struct loop_box *loop) {
  const struct kernel_box *box = lua_touserdata(L, handle);
  int top = lua_gettop(L);
  /* Whether the loop visits all rows of its table, or all that pass a filter. */
  bool whole = loop->count == loop->table->count &&
               (loop->walk ? loop->events : loop->rows == loop->table->rows);
  if (!loop->walk && loop->partial) whole = true;
  if (box->kernel && loop->step <= 1) box->kernel->left = 0;
  struct variant *variant = NULL;
  if (whole && kernel_ready_here(L, handle, loop->table)) {
    lua_getiuservalue(L, handle, KERNEL_ANCHORS);
    variant = variant_find(L, lua_gettop(L), box->kernel, variant_wanted(box->kernel, loop->table));
  }
  lua_settop(L, top);
  return variant;
}

bool kernel_here(lua_State *L, int handle, struct loop_box *loop,
                 const struct kernel_run *run) {
  struct variant *variant = kernel_variant_here(L, handle, loop);
  if (!variant) return false;
  assert(variant->which.some == (loop->filter != NULL));
  uint32_t match = loop->walk ? loop->walk->match : loop->match - 1;
  return run_variant(L, handle, loop, match, variant, run) || !loop->events || !run->gave_up;
}

/* ---- bodies of for loops ---- */

#define BODY_LEFT 4u           /* how much longer a row that falls back takes than in a system */

/* The first row of the loop's run in its table; and which terms its rows have. */
static uint32_t kernel_run_first(const struct loop_box *loop) {
  return loop->walk ? loop->walk->row : (uint32_t)(loop->rows - loop->table->rows);
}

static struct which kernel_run_which(const struct kernel *kernel, const struct loop_box *loop) {
  uint64_t present = variant_present(kernel->query, loop->table, kernel_run_first(loop));
  return (struct which){present, false, 0};
}

/* Runs over rows of the loop's table from next_row on: after a failed one over few, then twice as
** many, and so on. False if a row fails, which is then next_row. */
static bool kernel_run_pieces(lua_State *L, int handle, struct loop_box *loop,
                              const struct run *whole, struct run_failure *failure) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  uint32_t match = loop->walk ? loop->walk->match : loop->match - 1;
  uint32_t first = kernel_run_first(loop);
  uint32_t piece = loop->body == BODY_FAILED ? FIRST_PIECE : UINT32_MAX;
  bool sound = true;
  for (; sound && loop->next_row < loop->count; piece = piece < ROW_LIMIT ? 2 * piece : piece) {
    struct run run = *whole;
    uint32_t row = first + loop->next_row, count = loop->count - loop->next_row;
    if (count > piece) count = piece;
    if (count < loop->table->count) run.rows = (struct row_stretch){row, count, 0};
    sound = run_table(&kernel->set->runner, &run, match, failure);
    kernel_run_stage(L, kernel, &run, match);
    uint32_t done = sound ? count : (uint32_t)failure->why.row - row;
    loop->next_row += done;
    kernel->passed += done;
    kernel->box->kernels->looped += done;
  }
  return sound;
}

/* Runs over the loop's rows, and over its next tables while the program fits them. False if a row
** fails, which is then next_row; or at a table in which no row has been run. */
static bool kernel_run_tables_of(lua_State *L, int handle, struct loop_box *loop,
                                 struct variant *variant, struct run_failure *failure) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  const struct kernel_run how = {.dt = 0};
  struct runner *runner = &kernel->set->runner;
  struct run run = kernel_run_run_of(kernel, variant, &how, NULL);
  bool sound, more;
  variant_hold(L, variant);
  do {
    sound = kernel_run_pieces(L, handle, loop, &run, failure);
    loop->body = sound ? BODY_PROGRAM : BODY_FAILED;
    more = sound && !loop->walk && loop_next_run(loop);
    struct which which = more ? kernel_run_which(kernel, loop) : variant->which;
    more = more && which.present == variant->which.present && loop->next_row == 0 &&
           !kernel_run_may_be_refused(&run, loop->table) &&
           runner_reserve(runner, run.plan, loop->table->count);
  } while (more);
  variant_store_cells(L, handle, variant);
  return sound;
}

bool kernel_run_body(lua_State *L, int handle, struct loop_box *loop, bool begins) {
  struct kernel *kernel = ((struct kernel_box *)lua_touserdata(L, handle))->kernel;
  struct run_failure failure;
  struct which which = kernel_run_which(kernel, loop);
  if (!kernel_ready_body(L, handle, which, loop->table->count, begins)) return false;
  if (!loop->open || loop->version != *loop->box->version) return false;
  lua_getiuservalue(L, handle, KERNEL_ANCHORS);
  int anchors = lua_gettop(L);
  struct variant *variant = variant_find(L, anchors, kernel, which);
  if (!variant || !loop->open || loop->version != *loop->box->version) return false;
  struct run run = {.plan = &variant->plan, .query = kernel->query};
  if (kernel_run_may_be_refused(&run, loop->table)) return false;
  if (!runner_reserve(&kernel->set->runner, run.plan, loop->table->count)) raise_memory(L);
  if (kernel_run_tables_of(L, handle, loop, variant, &failure)) return true;
  if (!kernel->left) kernel->why_left = failure.why;
  uint64_t passed = kernel->passed / BODY_LEFT;
  uint64_t most = kernel_run_most_left(L, anchors, variant, loop->count, passed);
  kernel->left++;
  kernel->all_left++;
  if (kernel->left < most) return true;
  kernel_tire(kernel);
  return false;
}
