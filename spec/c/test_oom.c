/* Reliability line 2: running out of memory where random operations (test_random.c) do not come:
** what never asks for memory, what is begun before and ended by an operation, what gives other ids
** when it is done again, and worlds that cannot be made. C18. */
#include <stdio.h>
#include <string.h>

#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/table.h"
#include "sweep.h"

/* ---- entities ---- */

static ecs_id child_of;

/* Entities in many tables, each the child of one before it; every fifth has a name. */
static void crowd(struct fixture *f) {
  CHECK_OK(f->world, ecs_child_of(f->world, &child_of));
  for (int i = 0; i < 40; i++) {
    ecs_id id = SPAWN(f->world, f->position);
    char name[] = {(char)('A' + i), '\0'};
    if (i & 1) CHECK_OK(f->world, ecs_add(f->world, id, f->velocity));
    if (i % 3) CHECK_OK(f->world, ecs_add(f->world, id, f->frozen));
    if (i % 5 == 0) CHECK_OK(f->world, ecs_name(f->world, id, name));
    if (i < 8) f->ids[i] = id;
    if (i && i < 8) CHECK_OK(f->world, ecs_add(f->world, id, ecs_pair(child_of, f->ids[i / 2])));
    set_position(f, id, (float)i, 0);
  }
  f->query = new_query(f->world, "Position, !Enemy");
}

static void crowd_without_ties(struct fixture *f) {
  crowd(f);
  for (int i = 1; i < 8; i++) CHECK_OK(f->world, ecs_remove(f->world, f->ids[i], child_of));
}

static ecs_status set_known(struct fixture *f) {
  return ecs_set(f->world, f->ids[0], f->position, &(struct position){3, 4});
}

static ecs_status add_known(struct fixture *f) { return ecs_add(f->world, f->ids[0], f->position); }
static ecs_status clear_name(struct fixture *f) { return ecs_name(f->world, f->ids[0], NULL); }
static ecs_status despawn(struct fixture *f) { return ecs_despawn(f->world, f->ids[7]); }
static ecs_status despawn_all(struct fixture *f) { return ecs_query_despawn(f->query); }

static ecs_status retie(struct fixture *f) {
  return ecs_add(f->world, f->ids[7], ecs_pair(child_of, f->ids[6]));
}

static void retire_one(struct fixture *f) {
  const ecs_id last = id_make(70000, 65535, 1);
  CHECK_OK(f->world, ecs_spawn_at(f->world, last, &f->position, 1));
  f->a = SPAWN(f->world, f->link);
  CHECK_OK(f->world, ecs_set(f->world, f->a, f->link, &(struct link){last}));
  CHECK_OK(f->world, ecs_despawn(f->world, last));
}

static ecs_status recycle(struct fixture *f) {
  size_t count = 0;
  ecs_status status = ecs_recycle_retired(f->world, &count);
  CHECK_INTEGER(1, count);
  return status;
}

/* The string table is about to grow, and then to be swept. */
static void many_texts(struct fixture *f) {
  static char text[9000];
  f->a = SPAWN(f->world, f->label);
  f->b = SPAWN(f->world, f->label);
  for (int i = 0; i < 15; i++) {
    int size = snprintf(text, sizeof text, "%8000d", i);
    struct label label = {{text, (size_t)size}};
    CHECK_OK(f->world, ecs_set(f->world, i % 3 ? f->a : f->b, f->label, &label));
  }
}

static ecs_status set_text(struct fixture *f) {
  struct label label = {text_of("a text that is new")};
  return ecs_set(f->world, f->a, f->label, &label);
}

/* ---- scopes ---- */

/* What one that begins with ECS_OK has come to: it ends, or is dropped. */
static ecs_status end(struct fixture *f, ecs_status status) {
  if (status == ECS_OK) status = ecs_commit(f->world);
  if (status != ECS_OK) CHECK_OK(f->world, ecs_cancel(f->world));
  return status;
}

/* Sets Velocity of every row, of which some lack it, as one call of a host does. */
static ecs_status set_many(struct fixture *f) {
  const struct write writes[] = {{.leaf = 1, .cell.f32 = 7}, {.leaf = 0, .cell.f32 = 8}};
  ecs_id ids[64];
  size_t count = 0;
  struct component *component;
  CHECK_OK(f->world, component_need_id(f->world, f->velocity, &component));
  for (uint32_t i = 0; i < f->query->count; i++) {
    const struct table *table = world_table(f->world, f->query->tables[i]);
    for (uint32_t row = 0; row < table->count; row++)
      ids[count++] = entity_id(&f->world->entities, table->rows[row]);
  }
  ecs_status status = ecs_defer(f->world);
  if (status != ECS_OK) return status;
  return end(f, entity_set_many(f->world, ids, count, component, writes, 2, 0));
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
  return end(f, status);
}

static ecs_status change_by_rows(struct fixture *f) { return change_some(f, false); }
static ecs_status change_by_list(struct fixture *f) { return change_some(f, true); }

/* Within a scope, another one with changes of all kinds. */
static void inner_scope(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_add(f->world, f->ids[2], f->enemy));
  CHECK_OK(f->world, ecs_defer(f->world));
  CHECK_OK(f->world, ecs_spawn(f->world, &f->health, 1, &f->a));
  CHECK_OK(f->world, ecs_set(f->world, f->a, f->label, &(struct label){text_of("staged")}));
  CHECK_OK(f->world, ecs_remove(f->world, f->ids[3], f->velocity));
  CHECK_OK(f->world, ecs_name(f->world, f->ids[4], "another"));
  CHECK_OK(f->world, ecs_despawn(f->world, f->ids[1]));
}

static ecs_status commit(struct fixture *f) { return ecs_commit(f->world); }
static ecs_status cancel(struct fixture *f) { return ecs_cancel(f->world); }
static ecs_status abandon(struct fixture *f) { return ecs_abandon(f->world); }
static void commit_it(struct fixture *f) { CHECK_OK(f->world, commit(f)); }

/* ---- loops and systems ---- */

/* Goes through a query, spawns, sets and despawns. On ECS_ENOMEM the loop is left, and its scope
** dropped by the scope around it. */
static ecs_status change_things(ecs_world *world, ecs_query *query, double dt, void *ud) {
  const struct fixture *f = ud;
  (void)dt;
  ecs_iter it;
  ecs_id made;
  ecs_status status = ecs_iter_open(query, &it);
  if (status != ECS_OK) return status;
  while (status == ECS_OK && ecs_iter_next(&it))
    for (size_t row = 0; row < it.count && status == ECS_OK; row++) {
      ecs_id id = ecs_iter_entity(&it, row);
      struct label label = {text_of(row % 2 ? "odd" : "even")};
      status = row % 3 ? ecs_set(world, id, f->label, &label) : ecs_despawn(world, id);
      if (status == ECS_OK) status = ecs_spawn(world, &f->health, 1, &made);
      if (status == ECS_OK) status = ecs_add(world, made, f->enemy);
    }
  ecs_status closed = ecs_iter_close(&it);
  return status == ECS_OK ? closed : status;
}

static ecs_status loop_and_change(struct fixture *f) {
  ecs_status status = ecs_defer(f->world);
  return status == ECS_OK ? end(f, change_things(f->world, f->query, 0, f)) : status;
}

/* On ECS_ENOMEM a loop stays open and can be closed again. */
static void loop_full_of_changes(struct fixture *f) {
  crowd(f);
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

static void add_system(struct fixture *f, const char *name, const char *phase) {
  ecs_system_desc desc = {.name = name, .phase = phase, .query = "Position",
                          .run = change_things, .ud = f};
  CHECK_OK(f->world, ecs_system_new(f->world, &desc));
}

static void with_system(struct fixture *f) {
  crowd(f);
  add_system(f, "change", NULL);
}

/* A startup system that could not run at all runs at the next update. */
static void with_startup(struct fixture *f) {
  crowd(f);
  add_system(f, "start", "startup");
}

static ecs_status shift(const ecs_rows *rows, double dt, void *ud) {
  CHECK(!ud && dt > 0 && ecs_rows_column(rows, 0, 0));
  return ECS_OK;
}

static void with_ranges(struct fixture *f) {
  ecs_system_desc desc = {.name = "shift", .query = "Position", .parallel = shift};
  crowd(f);
  CHECK_OK(f->world, ecs_system_new(f->world, &desc));
}

/* Half of the tables have been empty for a while. */
static void with_empty_tables(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, ecs_query_remove(new_query(f->world, "Velocity"), f->velocity));
  CHECK_OK(f->world, ecs_update(f->world, 0.5));
}

static ecs_status update(struct fixture *f) { return ecs_update(f->world, 0.5); }
static ecs_status run_phase(struct fixture *f) { return ecs_run(f->world, "update", 0.5); }

/* ---- images and snapshots of before ---- */

static ecs_snapshot *taken;

static ecs_status take(struct fixture *f) { return ecs_snapshot_new(f->world, &taken); }

static ecs_status restore(struct fixture *f) {
  (void)f;
  return ecs_restore(taken);
}

static void let_go(struct fixture *f) {
  (void)f;
  ecs_snapshot_free(taken);
}

/* The world has moved on since, and its tables have gone; Position has other fields. */
static void move_on(struct fixture *f) {
  const ecs_field fields[] = {{.name = "x", .type = ECS_F64}, {.name = "y", .type = ECS_I16},
                              {.name = "text", .type = ECS_STRING}};
  CHECK_OK(f->world, ecs_query_despawn(f->query));
  for (int i = 0; i < 3; i++) CHECK_OK(f->world, ecs_update(f->world, 0));
  for (int i = 0; i < 30; i++) SPAWN(f->world, f->velocity, f->label);
  CHECK(DECLARE(f->world, "Position", fields) == f->position);
}

static void saved_before(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, save_image(f));
  move_on(f);
  CHECK_OK(f->world, ecs_undeclare(f->world, f->link));
}

static void taken_before(struct fixture *f) {
  crowd(f);
  CHECK_OK(f->world, take(f));
  move_on(f);
}

/* ---- worlds ---- */

/* Not a sweep over a fixture: there is no world before. */
static void make_world(size_t k, bool from_there_on, size_t *calls) {
  struct checked_alloc alloc;
  memset(&alloc, 0, sizeof alloc);
  alloc_arm(&alloc, k, from_there_on);
  ecs_world_desc desc = {.alloc = checked_alloc, .alloc_ud = &alloc, .tag = 9, .seed = 42,
                         .threads = 3};
  ecs_world *world = NULL;
  ecs_status status = ecs_world_new(&desc, &world);
  *calls = alloc.calls;
  if (k == 0) CHECK_OK(NULL, status);
  if (status == ECS_OK) {
    CHECK_SOUND(world);
    CHECK_INTEGER(alloc.bytes, ecs_bytes(world));
    ecs_world_free(world);
  } else {
    CHECK_STATUS(NULL, ECS_ENOMEM, status);
    CHECK(world == NULL);
  }
  CHECK_INTEGER(0, alloc.bytes);
  CHECK(alloc_is_sound(&alloc));
}

static int sweep_world(void) {
  size_t calls, unused;
  begin_test();
  make_world(0, false, &calls);
  CHECK(calls > 5);
  for (size_t k = 1; k <= calls; k++) {
    check_context("request %zu of %zu fails", k, calls);
    make_world(k, false, &unused);
    make_world(k, true, &unused);
  }
  return end_test("C6: a world that cannot be made leaves nothing behind");
}

static const struct operation operations[] = {
  {"set of a present component", crowd, set_known, NULL, ASKS_NOTHING},
  {"add of what is there", crowd, add_known, NULL, ASKS_NOTHING},
  {"no name any more", crowd, clear_name, NULL, ASKS_NOTHING},
  {"another target", crowd, retie, NULL, ASKS_NOTHING},
  {"despawn", crowd_without_ties, despawn, NULL, ASKS_NOTHING},
  {"despawn of all", crowd_without_ties, despawn_all, NULL, ASKS_NOTHING},
  {"despawn of all, with their ties", crowd, despawn_all, NULL, ASKS},
  {"recycle_retired", retire_one, recycle, NULL, ASKS_NOTHING},
  {"set that sweeps the strings", many_texts, set_text, NULL, ASKS},
  {"set of many, of which some have it", crowd, set_many, NULL, ASKS},
  {"some rows of all tables", crowd_without_ties, change_by_rows, NULL, ASKS},
  {"rows of all tables that become a list", crowd_without_ties, change_by_list, NULL, ASKS},
  {"commit of an inner scope", inner_scope, commit, commit_it, ASKS_NOTHING},
  {"cancel of an inner scope", inner_scope, cancel, commit_it, ASKS_NOTHING},
  {"abandoning all scopes", inner_scope, abandon, NULL, ASKS_NOTHING},
  {"a loop that changes rows", crowd, loop_and_change, NULL, TAKES_NEW_IDS},
  {"the end of a loop that changed rows", loop_full_of_changes, close_loop, NULL, ASKS},
  {"update with a system that changes rows", with_system, update, NULL, TAKES_NEW_IDS},
  {"run of a phase", with_system, run_phase, NULL, TAKES_NEW_IDS},
  {"update with a startup system", with_startup, update, NULL, TAKES_NEW_IDS},
  {"update with a system that runs over ranges of rows", with_ranges, update, NULL, ASKS},
  {"update that reclaims tables", with_empty_tables, update, NULL, ASKS_NOTHING},
  {"load into a world that has moved on", saved_before, load_image, NULL, ASKS},
  {"restore into a world that has moved on", taken_before, restore, let_go, ASKS},
};

int main(void) {
  int bad = sweep_world();
  return RUN_SWEEPS(operations) | bad;
}
