/* Reliability line 2: running out of memory while queries are made, counted and iterated. */
#include "core/command/command.h"
#include "core/ids/world.h"
#include "core/storage/table.h"
#include "sweep.h"

static void crowd(struct fixture *f) {
  for (int i = 0; i < 60; i++) {
    ecs_id id = SPAWN(f->world, f->position);
    if (i & 1) CHECK_OK(f->world, ecs_add(f->world, id, f->velocity));
    if (i & 2) CHECK_OK(f->world, ecs_add(f->world, id, f->frozen));
    if (i & 4) CHECK_OK(f->world, ecs_add(f->world, id, f->enemy));
    if (i & 8) CHECK_OK(f->world, ecs_add(f->world, id, f->label));
    set_position(f, id, (float)i, 0);
  }
}

static ecs_status query_plain(struct fixture *f) {
  return ecs_query_new(f->world, "Position, Velocity:in", &f->query);
}

static ecs_status query_rich(struct fixture *f) {
  return ecs_query_new(f->world, "Position.x, Velocity?, Label|Health, !Frozen, Enemy",
                       &f->query);
}

static ecs_status query_everything(struct fixture *f) {
  return ecs_query_new(f->world, "", &f->query);
}

static ecs_status query_unused(struct fixture *f) {
  return ecs_query_new(f->world, "Health, Link", &f->query);
}

static ecs_status query_long(struct fixture *f) {
  return ecs_query_new(f->world,
                       "Position, Position.x, Position.y, Velocity?, Velocity.x?, !Frozen, "
                       "Health?, Label?, Link?, Enemy?, Position:in, Velocity?",
                       &f->query);
}

static ecs_status count_text(struct fixture *f) {
  size_t count = 0;
  ecs_status status = ecs_count(f->world, "Position, Velocity|Label, !Enemy", &count);
  if (status == ECS_OK) CHECK(count > 0);
  return status;
}

static void queried(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, query_plain(f));
}

/* As many loops are open as there is room for. */
static void in_loops(struct fixture *f) {
  queried(f);
  ecs_iter it;
  for (int i = 0; i < 8; i++) CHECK_OK(f->world, ecs_iter_open(f->query, &it));
}

static ecs_status open_iteration(struct fixture *f) {
  return ecs_iter_open(f->query, &f->it);
}

static void close_iteration(struct fixture *f) {
  size_t rows = 0;
  while (ecs_iter_next(&f->it)) rows += f->it.count;
  CHECK_INTEGER(30, rows);
  CHECK_OK(f->world, ecs_iter_close(&f->it));
}

/* A whole loop that stages one change for each row, as one operation: on ECS_ENOMEM the loop
** is left, its scope is dropped by the defer around it. */
static ecs_status loop_and_change(struct fixture *f) {
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  ecs_iter it;
  status = ecs_iter_open(f->query, &it);
  while (status == ECS_OK && ecs_iter_next(&it))
    for (size_t row = 0; row < it.count && status == ECS_OK; row++) {
      ecs_id id = ecs_iter_entity(&it, row);
      struct label label = {text_of(row % 2 ? "odd" : "even")};
      status = row % 3 ? ecs_set(f->world, id, f->label, &label) : ecs_despawn(f->world, id);
    }
  if (it.open) CHECK_OK(f->world, ecs_iter_close(&it));
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

/* Closing a loop applies what it staged; on ECS_ENOMEM it stays open and can be closed again. */
static void loop_full_of_changes(struct fixture *f) {
  queried(f);
  CHECK_OK(f->world, ecs_iter_open(f->query, &f->it));
  while (ecs_iter_next(&f->it))
    for (size_t row = 0; row < f->it.count; row++) {
      ecs_id id = ecs_iter_entity(&f->it, row);
      CHECK_OK(f->world, ecs_add(f->world, id, row % 2 ? f->health : f->link));
      CHECK_OK(f->world, ecs_remove(f->world, id, f->velocity));
      f->a = SPAWN(f->world, f->enemy, f->health);
    }
}

static ecs_status close_loop(struct fixture *f) { return ecs_iter_close(&f->it); }

static void make_tables_later(struct fixture *f) {
  ecs_id id = SPAWN(f->world, f->position, f->velocity, f->health, f->link);
  CHECK(ecs_alive(f->world, id));
  CHECK_INTEGER(31, ecs_query_count(f->query));
}

/* Every third row of all tables, in a scope; one more command makes a list of them, or none. */
static ecs_status change_some(struct fixture *f, bool listed) {
  const struct graph *graph = &f->world->graph;
  ecs_id one = ECS_NULL;
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < graph->table_count && i < 32 && status == ECS_OK; i++) {
    uint64_t bits = 0;
    if (graph->tables[i]->count)
      one = entity_id(&f->world->entities, graph->tables[i]->rows[0]);
    for (uint32_t row = 0; row < graph->tables[i]->count; row += 3) bits |= UINT64_C(1) << row;
    CHECK(batch_takes_rows(f->world, COMMAND_ADD, f->link, graph->tables[i]));
    status = batch_put_rows(f->world, COMMAND_ADD, f->link, graph->tables[i], &bits);
  }
  if (status == ECS_OK && listed) status = ecs_add(f->world, one, f->frozen);
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

static ecs_status change_by_rows(struct fixture *f) { return change_some(f, false); }
static ecs_status change_by_list(struct fixture *f) { return change_some(f, true); }

static const struct operation operations[] = {
  {"a query", crowd, query_plain, make_tables_later, ASKS},
  {"a query with all kinds of terms", crowd, query_rich, NULL, ASKS},
  {"a query without terms", crowd, query_everything, NULL, ASKS},
  {"a query of what no table has", crowd, query_unused, NULL, ASKS},
  {"a query with many terms", crowd, query_long, NULL, ASKS},
  {"a count", crowd, count_text, NULL, ASKS},
  {"an iteration", in_loops, open_iteration, close_iteration, ASKS},
  {"some rows of all tables", crowd, change_by_rows, NULL, ASKS},
  {"rows of all tables that become a list", crowd, change_by_list, NULL, ASKS},
  {"a loop that changes rows", queried, loop_and_change, NULL, TAKES_NEW_IDS},
  {"the end of a loop that changed rows", loop_full_of_changes, close_loop, NULL, ASKS},
};

int main(void) { return RUN_SWEEPS(operations); }
