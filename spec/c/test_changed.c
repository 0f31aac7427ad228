/* What has changed, as hosts in C ask for it and cause it. */
#include "fixture.h"

enum { ROWS = 3000 };

static ecs_id tracked, ids[ROWS];

static void open_tracked(struct fixture *f) {
  ecs_field n = {.name = "n", .type = ECS_I32};
  open_usual(f);
  ecs_component_desc desc = {.name = "Tracked", .fields = &n, .field_count = 1, .track = true};
  CHECK_OK(f->world, ecs_component(f->world, &desc, &tracked));
  CHECK_OK(f->world, ecs_spawn_many(f->world, ROWS, (ecs_id[]){f->position, tracked}, 2, ids));
}

/* How many rows an iteration comes to; `write` asks for the first term's column. */
static size_t go_through(ecs_world *world, ecs_query *query, bool write) {
  ecs_iter it;
  size_t count = 0;
  CHECK_OK(world, ecs_iter_open(query, &it));
  for (; ecs_iter_next(&it); count += it.count)
    if (write) CHECK(ecs_iter_column(&it, 0, 0) != NULL);
  CHECK_OK(world, ecs_iter_close(&it));
  return count;
}

static void columns_and_cells_count_when_they_are_handed_out(void) {
  struct fixture f;
  open_tracked(&f);
  int32_t value;
  ecs_query *rows = new_query(f.world, "Tracked:changed:in");
  ecs_query *all = new_query(f.world, "Tracked"), *read = new_query(f.world, "Tracked:in");
  CHECK_INTEGER(ROWS, ecs_query_count(rows));
  go_through(f.world, all, false);
  go_through(f.world, read, true);
  CHECK_OK(f.world, ecs_get(f.world, ids[1], tracked, &value));
  CHECK_INTEGER(0, go_through(f.world, rows, true));
  CHECK(ecs_cell_of(f.world, ids[7], tracked, 0) != NULL);
  CHECK_INTEGER(1, go_through(f.world, rows, false));
  go_through(f.world, all, true);
  CHECK_INTEGER(ROWS, go_through(f.world, rows, false));
  ecs_query_free(rows);
  ecs_query_free(all);
  ecs_query_free(read);
  close_world(&f);
}

/* Where runs are of matches that do not lie together. */
static void so_do_columns_of_others(void) {
  struct fixture f;
  open_tracked(&f);
  ecs_field prey = {.name = "prey", .type = ECS_ENTITY};
  ecs_component_desc desc = {.name = "Hunt", .fields = &prey, .field_count = 1};
  ecs_id hunt;
  CHECK_OK(f.world, ecs_component(f.world, &desc, &hunt));
  for (int i = 0; i < 100; i++) {
    ecs_id hunter = spawn_empty(f.world);
    CHECK_OK(f.world, ecs_set(f.world, hunter, hunt, &ids[i * 30]));
  }
  ecs_query *rows = new_query(f.world, "Tracked:changed");
  ecs_query *paths = new_query(f.world, "Hunt.prey->Tracked");
  ecs_query *read = new_query(f.world, "Hunt.prey->Tracked:in");
  CHECK_INTEGER(ROWS, ecs_query_count(rows));
  CHECK_INTEGER(100, go_through(f.world, read, true));
  CHECK_INTEGER(0, ecs_query_count(rows));
  CHECK_INTEGER(100, go_through(f.world, paths, true));
  CHECK_INTEGER(100, ecs_query_count(rows));
  ecs_query_free(rows);
  ecs_query_free(paths);
  ecs_query_free(read);
  close_world(&f);
}

static void so_do_those_of_ties(void) {
  struct fixture f;
  open_tracked(&f);
  ecs_field amount = {.name = "amount", .type = ECS_I32};
  ecs_component_desc desc = {.name = "Owes", .fields = &amount, .field_count = 1, .track = true};
  ecs_id owes;
  CHECK_OK(f.world, ecs_relation(f.world, &desc, &owes));
  for (int i = 0; i < 5; i++)
    CHECK_OK(f.world, ecs_add(f.world, ids[i], ecs_pair(owes, ids[100])));
  ecs_variable who = {"who", ids[100]};
  ecs_query *rows, *all = new_query(f.world, "(Owes, *)");
  CHECK_OK(f.world, ecs_query_with(f.world, "(Owes, $who):changed", &who, 1, &rows));
  CHECK_INTEGER(5, ecs_query_count(rows));
  CHECK_INTEGER(0, ecs_query_count(rows));
  CHECK_INTEGER(5, go_through(f.world, all, true));
  CHECK_INTEGER(5, go_through(f.world, rows, false));
  ecs_query_free(rows);
  ecs_query_free(all);
  close_world(&f);
}

static void whole_queries_are_uses(void) {
  struct fixture f;
  open_tracked(&f);
  ecs_query *rows = new_query(f.world, "Tracked:changed");
  ecs_query *added = new_query(f.world, "Tracked:added");
  CHECK_OK(f.world, ecs_query_add(rows, f.frozen));
  CHECK_INTEGER(ROWS, count_of(f.world, "Frozen"));
  CHECK_OK(f.world, ecs_set(f.world, ids[3], tracked, &(int32_t){5}));
  CHECK_OK(f.world, ecs_query_remove(rows, f.frozen));
  CHECK_INTEGER(ROWS - 1, count_of(f.world, "Frozen"));
  CHECK_OK(f.world, ecs_set(f.world, ids[4], tracked, &(int32_t){5}));
  CHECK_OK(f.world, ecs_query_despawn(rows));
  CHECK(!ecs_alive(f.world, ids[4]) && ecs_alive(f.world, ids[3]));
  CHECK_INTEGER(ROWS - 1, ecs_query_count(added));
  CHECK_OK(f.world, ecs_remove(f.world, ids[8], tracked));
  CHECK_OK(f.world, ecs_add(f.world, ids[8], tracked));
  CHECK_INTEGER(1, ecs_query_count(added));
  ecs_query_free(rows);
  ecs_query_free(added);
  close_world(&f);
}

static const struct test tests[] = {
  {"columns and cells count as written when they are handed out",
   columns_and_cells_count_when_they_are_handed_out},
  {"so do columns of whom a path leads to", so_do_columns_of_others},
  {"so do those of ties", so_do_those_of_ties},
  {"whole queries are uses", whole_queries_are_uses},
};

int main(void) { return RUN_TESTS(tests); }
