#include "core/schedule/parallel.h"

#include "core/base/hash_map.h"
#include "core/base/pool.h"
#include "core/base/thread.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/query/cursor.h"
#include "core/query/query.h"
#include "core/schedule/schedule.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "ecs_rows.h"

void beside_know(ecs_world *world, const struct companions *companions) {
  world->schedule->companions = companions;
}

/* ---- what a run accesses ---- */

/* Iterates over what a run accesses; an array field is one access. */
static bool parallel_next(const ecs_world *world, const struct prospect *of, uint32_t *at,
                          struct access *out) {
  if (!world->schedule->companions->next(of, at, out)) return false;
  const struct component *component = component_of(world, out->component);
  if (component->leaf_count) out->leaf = component_first_leaf(component, out->leaf);
  return true;
}

/* Says whether a system can run in parallel, and how much it does. */
static void beside_weigh(const ecs_world *world, const ecs_system *system, struct prospect *out) {
  const struct companions *companions = world->schedule->companions;
  *out = (struct prospect){.alone = "it is a system in C"};
  if (companions) companions->look(system, out);
  if (out->alone) return;
  if (system->when)
    out->alone = "its condition is evaluated after the systems before it have run";
  else if (reads_news(system))
    out->alone = "what has changed for it is not known until the systems before it have run";
}

void beside_look(const ecs_world *world, const ecs_system *system, struct prospect *out) {
  struct access access;
  uint32_t at = 0;
  beside_weigh(world, system, out);
  assert(out->alone || world->schedule->companions);
  while (!out->alone && parallel_next(world, out, &at, &access)) {
    uint64_t bit = hash_u64(hash_u64(access.component) + access.leaf) >> 58;
    *(access.writes ? &out->writes : &out->reads) |= UINT64_C(1) << bit;
  }
}

/* ---- two systems ---- */

static bool parallel_has_name(const char **names, const char *name) {
  for (; names && *names; names++)
    if (strcmp(*names, name) == 0) return true;
  return false;
}

/* Whether two runs access something in common that one of them writes; *at is the later one's
** access. */
static bool parallel_conflict_meet(const ecs_world *world,
                                   const struct prospect *earlier,
                                   const struct prospect *later, bool earlier_writes,
                                   struct access *at) {
  struct access other;
  uint32_t i = 0;
  while (parallel_next(world, later, &i, at)) {
    uint32_t j = 0;
    if (!earlier_writes && !at->writes) continue;
    while (parallel_next(world, earlier, &j, &other)) {
      bool same = other.component == at->component && other.leaf == at->leaf;
      if (same && other.writes == earlier_writes) return true;
    }
  }
  return false;
}

enum clash beside_clash(const ecs_world *world, const struct side *earlier,
                        const struct side *later, struct access *at) {
  const struct prospect *a = &earlier->prospect, *b = &later->prospect;
  assert(world->schedule->companions && !a->alone && !b->alone);
  if (parallel_has_name(earlier->system->before, later->system->name)) return CLASH_ORDER;
  if (parallel_has_name(later->system->after, earlier->system->name)) return CLASH_ORDER;
  if (a->owner != b->owner) return CLASH_OWNER;
  if ((a->writes & (b->reads | b->writes)) && parallel_conflict_meet(world, a, b, true, at))
    return at->writes ? CLASH_BOTH : CLASH_READ;
  if ((a->reads & b->writes) && parallel_conflict_meet(world, a, b, false, at))
    return CLASH_WRITTEN;
  return CLASH_NONE;
}

/* ---- the members of a batch ---- */

enum joining { PASSES, STOPS, JOINS };

/* Whether the system will run when its turn comes. */
static bool parallel_is_to_run(const ecs_system *system, const struct tempo *tempo) {
  if (system->removed || !system->enabled || system->parked) return false;
  if (tempo->once && system->has_run) return false;
  return system->every <= 0 || system->timer + tempo->dt >= system->every;
}

/* Whether the running phase may have a batch worth running. Rules out most phases with few rows at
** little cost. */
bool together_is_worth(const ecs_world *world, const struct tempo *tempo) {
  const struct schedule *schedule = world->schedule;
  struct prospect prospect;
  uint64_t work = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < schedule->running_count; i++) {
    ecs_system *system = schedule->running[i];
    system->abreast = 0;
    if (schedule->running_count < 2 || !parallel_is_to_run(system, tempo)) continue;
    beside_weigh(world, system, &prospect);
    if (prospect.alone) continue;
    work += prospect.work;
    count++;
  }
  return count > 1 && pool_is_worth(world->pool, work);
}

/* Whether a system joins a batch, does not run, or ends it; *side describes a system that joins.
** The systems of the batch change nothing that this depends on. */
static enum joining parallel_joining_of(const ecs_world *world, const ecs_system *system,
                                        const struct tempo *tempo, const struct together *batch,
                                        struct side *side) {
  struct access at;
  if (!parallel_is_to_run(system, tempo)) return PASSES;
  if (system->when || batch->count == BESIDE_MOST) return STOPS;
  if (system->needs_rows && reads_nothing(system)) return PASSES;
  side->system = system;
  beside_look(world, system, &side->prospect);
  if (side->prospect.alone) return STOPS;
  for (uint32_t i = 0; i < batch->count; i++)
    if (beside_clash(world, &batch->sides[i], side, &at) != CLASH_NONE) return STOPS;
  return JOINS;
}

/* Gathers a batch. Returns the place after the last system that it has examined. */
static uint32_t parallel_gather(const ecs_world *world, uint32_t from, const struct tempo *tempo,
                                struct together *batch) {
  const struct schedule *schedule = world->schedule;
  uint32_t at = from;
  batch->count = batch->ended = 0;
  batch->work = 0;
  for (; at < schedule->running_count; at++) {
    ecs_system *system = schedule->running[at];
    struct side *side = &batch->sides[batch->count % BESIDE_MOST];
    system->abreast = 0;
    enum joining joining = parallel_joining_of(world, system, tempo, batch, side);
    if (joining == STOPS) break;
    if (joining == PASSES) continue;
    batch->work += side->prospect.work;
    batch->places[batch->count++] = at;
  }
  return at > from ? at : from + 1;
}

/* ---- running a batch ---- */

static ecs_system *parallel_member(const ecs_world *world, const struct together *batch,
                                   uint32_t i) {
  return world->schedule->running[batch->places[i]];
}

/* An ecs_run_fn for systems whose run is already done. */
static ecs_status parallel_end_member(ecs_world *world, ecs_query *query, double dt, void *ud) {
  struct schedule *schedule = world->schedule;
  struct together *batch = schedule->together;
  ecs_system *system = schedule->current;
  (void)query;
  (void)dt;
  (void)ud;
  assert(batch->ended < batch->count && batch->sides[batch->ended].system == system);
  system->run = batch->run[batch->ended];
  schedule->companions->end(system, batch->ended++);
  return ECS_OK;
}

/* Prepares as many members as possible. Returns the place after those that the batch covers. */
static uint32_t parallel_add_all(ecs_world *world, const struct tempo *tempo,
                                 struct together *batch, uint32_t end) {
  uint64_t work = 0;
  for (uint32_t i = 0; i < batch->count; i++) {
    /* As the system's own step would. */
    ecs_system *system = parallel_member(world, batch, i);
    const struct companions *companions = world->schedule->companions;
    double elapsed = system->elapsed;
    world->chance = stream_of(world, system, streams_before(world, system));
    system->elapsed += tempo->dt;
    double dt = dt_of(system, tempo);
    system->elapsed = elapsed;
    if (!companions->add(system, dt, batch->sides[0].system)) {
      end = i ? batch->places[i] : batch->places[0] + 1;
      batch->count = i;
      break;
    }
    work += batch->sides[i].prospect.work;
  }
  batch->work = work;
  return end;
}

uint32_t together_begin(ecs_world *world, uint32_t from, const struct tempo *tempo,
                     struct together *batch) {
  struct schedule *schedule = world->schedule;
  uint32_t end = parallel_gather(world, from, tempo, batch);
  bool worth = batch->count > 1 && pool_is_worth(world->pool, batch->work);
  /* A member's step may fail only by what it does itself: everything else is ruled out here. */
  const struct staging *staging = &world->staging;
  bool clean = !(staging->command_count | staging->emission_count | world->watching->note_count) &&
               staging->scope_count == 0 && staging->scope_capacity > 0 &&
               staging->refused == ECS_OK && world->watching->due == 0;
  if (!worth || !clean) batch->count = 0;
  if (batch->count == 0) return end;
  uint64_t start = stopwatch_start(&schedule->stopwatch);
  end = parallel_add_all(world, tempo, batch, end);
  if (batch->count < 2 || !schedule->companions->run(parallel_member(world, batch, 0)))
    batch->count = 0;
  schedule->clock = stopwatch_read(&schedule->stopwatch);
  batch->ticks = stopwatch_between(start, schedule->clock);
  for (uint32_t i = 0; i < batch->count; i++) {
    ecs_system *system = parallel_member(world, batch, i);
    batch->run[i] = system->run;
    system->run = parallel_end_member;
    system->abreast = (uint8_t)batch->count;
  }
  schedule->together = batch;
  return end;
}

/* Divides the time among the members by their work. */
void together_end(ecs_world *world, struct together *batch) {
  assert(batch->ended == batch->count && batch->count > 1);
  world->schedule->together = NULL;
  for (uint32_t i = 0; i < batch->count; i++) {
    ecs_system *system = parallel_member(world, batch, i);
    double work = (double)batch->sides[i].prospect.work;
    double part = batch->work ? work / (double)batch->work : 0;
    uint64_t ticks = (uint64_t)((double)batch->ticks * part);
    system_add_time(system, system->last_ticks + ticks);
    system->total_ticks -= system->last_ticks - ticks;
  }
}

/* ---- ranges ---- */

enum { LEAST = 1024 };         /* rows of a range, except the last one */
enum { WEIGHT = 32 };          /* assumed instructions for a row */

struct ranges {
  ecs_rows *list;
  uint32_t count, capacity;
};

void ranges_free(struct memory *memory, struct ranges *ranges) {
  if (!ranges) return;
  FREE_LIST(memory, ranges->list, ranges->capacity);
  memory_free(memory, ranges, sizeof *ranges);
}

/* ---- which rows ---- */

ecs_status parallel_query_suits(ecs_world *world, const ecs_system *system) {
  const ecs_query *query = system->reads;
  if (!query)
    return world_fail(world, ECS_EINVAL, "system '%s': parallel runs over the rows of a query: "
                      "give it one", system->name);
  if (query->broken) return query_usable(query);
  if (query->terms.changes || terms_walk(&query->terms))
    return world_fail(world, ECS_EINVAL, "system '%s': parallel needs a query over whole tables, "
                      "without events, ':changed', ':added', sparse components and ties: use run",
                      system->name);
  return ECS_OK;
}

/* Cuts consecutive rows into ranges of that size. */
static bool range_add_rows(ecs_world *world, const ecs_rows *rows, uint32_t most) {
  struct ranges *ranges = world->schedule->ranges;
  uint32_t count = (uint32_t)rows->count, parts = (count + most - 1) / most;
  if (!GROW(&world->memory, ranges->list, ranges->capacity, (uint64_t)ranges->count + parts))
    return false;
  for (uint32_t at = 0; at < count; at += most) {
    uint32_t n = count - at < most ? count - at : most;
    ranges->list[ranges->count++] = (ecs_rows){rows->query, n, rows->match, rows->first + at};
  }
  return true;
}

static bool parallel_list_ranges(ecs_world *world, ecs_query *query) {
  struct schedule *schedule = world->schedule;
  if (!schedule->ranges) schedule->ranges = memory_array(&world->memory, 1, sizeof(struct ranges));
  if (!schedule->ranges) return false;
  schedule->ranges->count = 0;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    /* Rows of a table that a thread takes at a time. */
    uint32_t most = world->pool ? pool_share(world->pool, table->count, LEAST) : UINT32_MAX / 2;
    uint32_t count, row = query_next_run(&query->terms, table, 0, &count);
    for (; count; row = query_next_run(&query->terms, table, row + count, &count))
      if (!range_add_rows(world, &(ecs_rows){query, count, i, row}, most)) return false;
  }
  return true;
}

/* ---- the columns of a range ---- */

/* Whether the rows, which are alike, have a term's component. */
static bool range_shows(const ecs_rows *rows, const struct term *term) {
  const struct table *table = query_table(rows->query, rows->match);
  if (query_columns(rows->query, rows->match)[term->slot] == NONE) return false;
  return !term->toggled || term_shows(term, table, rows->first);
}

void *ecs_rows_column(const ecs_rows *rows, uint32_t term, uint32_t leaf) {
  const ecs_query *query = rows->query;
  if (term >= query->terms.count) return NULL;
  const struct term *asked = &query->terms.terms[term];
  if (asked->slot == NONE || !range_shows(rows, asked)) return NULL;
  if (leaf >= (asked->leaf == NONE ? asked->component->leaf_count : 1)) return NULL;
  const struct table *table = query_table(query, rows->match);
  uint32_t first = query_columns(query, rows->match)[asked->slot];
  return column_at(&table->columns[first + leaf], rows->first);
}

ecs_id ecs_rows_entity(const ecs_rows *rows, size_t row) {
  const struct table *table = query_table(rows->query, rows->match);
  assert(row < rows->count && rows->first + row < table->count);
  return entity_id(&rows->query->world->entities, table->rows[rows->first + row]);
}

/* Marks what may be written as written: beforehand, since threads share marks. */
static void parallel_mark_range(const ecs_world *world, const ecs_rows *rows) {
  const struct query_terms *terms = &rows->query->terms;
  const struct table *table = query_table(rows->query, rows->match);
  for (uint32_t i = 0; table->mark_count && i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE || term->read_only || !range_shows(rows, term)) continue;
    uint32_t first = query_columns(rows->query, rows->match)[term->slot];
    marks_lend(world, table, table->columns[first].id, rows->first, (uint32_t)rows->count);
  }
}

/* ---- running ---- */

struct range_job {
  const struct ranges *ranges;
  ecs_rows_fn call;
  double dt;
  void *ud;
  char apart[64];              /* separates what is written from what is read */
  uint32_t next;               /* next range to take */
  uint32_t failed;             /* first range known to have failed, or NONE; and how: */
  uint32_t guard;              /* 1 while a thread writes these two */
  ecs_status status;
};

/* A pool_task. Ranges are taken in order, so all before the first failure are done. */
static void range_work(void *ud, uint32_t who) {
  struct range_job *job = ud;
  uint32_t i = shared_add(&job->next, 1);
  (void)who;
  for (; i < job->ranges->count && i < shared_get(&job->failed); i = shared_add(&job->next, 1)) {
    ecs_status status = job->call(&job->ranges->list[i], job->dt, job->ud);
    if (status != ECS_OK) {
      while (!shared_replace(&job->guard, 0, 1)) thread_pause();
      if (i < job->failed) {
        job->status = status;
        shared_set(&job->failed, i);
      }
      shared_set(&job->guard, 0);
    }
  }
}

static uint64_t parallel_rows_in(const struct ranges *ranges) {
  uint64_t rows = 0;
  for (uint32_t i = 0; i < ranges->count; i++) rows += ranges->list[i].count;
  return rows;
}

ecs_status ranges_run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const ecs_system *system = world->schedule->current;
  struct pool *pool = world->pool;
  (void)query;
  assert(system && system->parallel && !world->shared);
  ecs_status status = parallel_query_suits(world, system);
  if (status != ECS_OK) return status;
  if (!parallel_list_ranges(world, system->reads)) return world_nomem(world);
  const struct ranges *ranges = world->schedule->ranges;
  for (uint32_t i = 0; i < ranges->count; i++) parallel_mark_range(world, &ranges->list[i]);
  struct range_job job = {.ranges = ranges, .call = system->parallel, .dt = dt, .ud = ud,
                          .failed = NONE, .status = ECS_OK};
  world->shared = true;
  if (pool && ranges->count > 1 && pool_is_worth(pool, parallel_rows_in(ranges) * WEIGHT))
    pool_run(pool, ranges->count < pool_width(pool) ? ranges->count : pool_width(pool),
             range_work, &job);
  else
    range_work(&job, 0);
  world->shared = false;
  world->rows_run += parallel_rows_in(ranges);
  return job.status;
}
