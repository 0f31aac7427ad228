#include "core/schedule/ranges.h"

#include "core/base/pool.h"
#include "core/base/thread.h"
#include "core/schedule/timetable.h"
#include "core/storage/marks.h"
#include "core/query/query.h"
#include "core/query/query_rows.h"
#include "core/ids/world.h"
#include "ecs_rows.h"

enum { LEAST = 1024 };         /* rows of a range, but the last one */
enum { WEIGHT = 32 };          /* of a row, for all that is known */

struct ranges {
  ecs_rows *list;
  uint32_t count, capacity;
};

void ranges_free(struct memory *memory, struct ranges *ranges) {
  if (!ranges) return;
  memory_free(memory, ranges->list, ranges->capacity * sizeof *ranges->list);
  memory_free(memory, ranges, sizeof *ranges);
}

/* ---- which rows ---- */

ecs_status ranges_suit(ecs_world *world, const ecs_system *system) {
  const ecs_query *query = system->reads;
  if (!query)
    return world_fail(world, ECS_EINVAL, "system '%s': parallel goes through the rows of a query: "
                      "give it one", system->name);
  if (query->broken) return query_usable(query);
  if (query->terms.changes || terms_walk(&query->terms))
    return world_fail(world, ECS_EINVAL, "system '%s': parallel is for rows that lie together in "
                      "tables, not for events, what has changed, sparse components and ties: use "
                      "run", system->name);
  return ECS_OK;
}

/* Rows that lie together, cut into ranges of so many. */
static bool range_add_rows(ecs_world *world, const ecs_rows *rows, uint32_t most) {
  struct ranges *ranges = world->schedule->ranges;
  uint32_t count = (uint32_t)rows->count, parts = (count + most - 1) / most;
  ecs_rows *grown = memory_grow(&world->memory, ranges->list, &ranges->capacity,
                                (uint64_t)ranges->count + parts, sizeof *grown);
  if (!grown) return false;
  ranges->list = grown;
  for (uint32_t at = 0; at < count; at += most) {
    uint32_t n = count - at < most ? count - at : most;
    grown[ranges->count++] = (ecs_rows){rows->query, n, rows->match, rows->first + at};
  }
  return true;
}

/* How many rows of a table a thread takes at a time. */
static uint32_t rows_at_a_time(const struct pool *pool, uint32_t rows) {
  return pool ? pool_share(pool, rows, LEAST) : UINT32_MAX / 2;
}

static bool list_ranges(ecs_world *world, ecs_query *query) {
  struct schedule *schedule = world->schedule;
  if (!schedule->ranges) schedule->ranges = memory_array(&world->memory, 1, sizeof(struct ranges));
  if (!schedule->ranges) return false;
  schedule->ranges->count = 0;
  for (uint32_t i = 0; i < query_reach(query); i++) {
    const struct table *table = query_table(query, i);
    uint32_t most = rows_at_a_time(world->pool, table->count);
    uint32_t count, row = query_next_run(&query->terms, table, 0, &count);
    for (; count; row = query_next_run(&query->terms, table, row + count, &count))
      if (!range_add_rows(world, &(ecs_rows){query, count, i, row}, most)) return false;
  }
  return true;
}

/* ---- what a range has ---- */

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

/* What may be written to counts as written: beforehand, since marks are shared. */
static void mark_range(const ecs_world *world, const ecs_rows *rows) {
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
  char apart[64];              /* what follows is written while what is above is read */
  uint32_t next;               /* range to be taken */
  uint32_t failed;             /* the first that is known to have failed, or NONE; and how: */
  uint32_t guard;              /* 1 while a thread writes these two */
  ecs_status status;
};

static void range_note_failure(struct range_job *job, uint32_t range, ecs_status status) {
  while (!shared_replace(&job->guard, 0, 1)) thread_pause();
  if (range < job->failed) {
    job->status = status;
    shared_set(&job->failed, range);
  }
  shared_set(&job->guard, 0);
}

/* A pool_task. Whoever takes a range has taken none behind it, so that all before the first that
** fails are done. */
static void range_work(void *ud, uint32_t who) {
  struct range_job *job = ud;
  uint32_t i = shared_add(&job->next, 1);
  (void)who;
  for (; i < job->ranges->count && i < shared_get(&job->failed); i = shared_add(&job->next, 1)) {
    ecs_status status = job->call(&job->ranges->list[i], job->dt, job->ud);
    if (status != ECS_OK) range_note_failure(job, i, status);
  }
}

static uint64_t rows_in(const struct ranges *ranges) {
  uint64_t rows = 0;
  for (uint32_t i = 0; i < ranges->count; i++) rows += ranges->list[i].count;
  return rows;
}

ecs_status ranges_run(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const ecs_system *system = world->schedule->current;
  struct pool *pool = world->pool;
  (void)query;
  assert(system && system->parallel && !world->shared);
  ecs_status status = ranges_suit(world, system);
  if (status != ECS_OK) return status;
  if (!list_ranges(world, system->reads)) return world_nomem(world);
  const struct ranges *ranges = world->schedule->ranges;
  for (uint32_t i = 0; i < ranges->count; i++) mark_range(world, &ranges->list[i]);
  struct range_job job = {.ranges = ranges, .call = system->parallel, .dt = dt, .ud = ud,
                          .failed = NONE, .status = ECS_OK};
  world->shared = true;
  if (pool && ranges->count > 1 && pool_is_worth(pool, rows_in(ranges) * WEIGHT))
    pool_run(pool, ranges->count < pool_width(pool) ? ranges->count : pool_width(pool),
             range_work, &job);
  else
    range_work(&job, 0);
  world->shared = false;
  return job.status;
}
