#include "runner/plainly.h"

#include "core/ids/entity_index.h"
#include "core/storage/packed.h"
#include "kernel/machine.h"

/* Which of a table's columns one of the program's is. */
static inline uint32_t run_plain_column_of(const struct run *run, const uint32_t *first,
                                           const struct table *table, uint32_t i) {
  const struct run_column *wanted = &run->plan->columns[i];
  assert(wanted->slot < run->query->terms.slots && first[wanted->slot] != NONE);
  uint32_t at = first[wanted->slot] + wanted->leaf;
  assert(at < table->column_count);
  assert(table->columns[at].size == column_size((k_column)run->plan->program->columns[i]));
  (void)table;
  return at;
}

/* The cells of the program's columns in a table; of one that is packed without a look at its
** columns: a third of the time of few rows. */
static inline void run_plain_bind(const struct run *run, const uint32_t *first,
                                  const struct table *table, void **to) {
  uint32_t count = run->plan->program->column_count;
  if (!table->packed) {
    for (uint32_t i = 0; i < count; i++)
      to[i] = table->columns[run_plain_column_of(run, first, table, i)].data;
    return;
  }
  char *cells = (char *)packed_cells(table);
  for (uint32_t i = 0; i < count; i++)
    to[i] = cells + (size_t)run_plain_column_of(run, first, table, i) * PACKED_BYTES;
  assert(count == 0 || to[0] == packed_column(table, run_plain_column_of(run, first, table, 0)));
}

static RARE bool run_plain_failed(const ecs_world *world, const struct table *table,
                                  struct run_failure *failure) {
  assert(failure->why.row < table->count);
  failure->entity = entity_id(&world->entities, table->rows[failure->why.row]);
  return false;
}

bool run_plainly(const struct runner *runner, const struct run *run, struct run_failure *failure) {
  const ecs_query *query = run->query;
  const ecs_world *world = query->world;
  k_run rows = {.uniforms = run->uniforms, .arrays = run->arrays};
  assert(run_is_plain(run) && !query->terms.changes && !query->terms.toggled);
  assert(!run->first && !run->filter && run->rows.count == 0 && !run->plan->command_count);
  assert(run->plan->machine_room <= runner->machine_room);
  run_set_uniforms(run);
  k_status status = machine_open(runner->machine, run->plan->program, &rows);
  assert(status == K_OK);
  struct running *running = &runner->machine->running;
  void **columns = running->at;
  size_t most = run->plan->program->block;
  if (most > MACHINE_SHORT) most = MACHINE_SHORT;
  rows.columns = columns;
  assert(query->arranged == query->world->graph.placings);
  for (uint32_t i = 0, count = query->count; i < count; i++) {
    const struct table *table = world_table(world, query->tables[i]);
    if (table->count == 0) continue;
    run_plain_bind(run, query_columns(query, i), table, columns);
    rows.rows = table->count;
    status = LIKELY(rows.rows <= most) ? running_short(running, rows.rows, &failure->why)
                                       : machine_over(runner->machine, &failure->why);
    if (UNLIKELY(status != K_OK)) return run_plain_failed(world, table, failure);
  }
  (void)status;
  return true;
}
