/* C iterators over what does not lie together: whatever runs they come in, each match has its own
** cells, in the order of the query. */
#include "fixture.h"

#define ROWS 300

static ecs_id heat, cold, mark;
static int order[ROWS], packed;        /* rows by when they got Heat */
static const int counts[3] = {100, 120, 80};

static void open_rows(struct fixture *f, ecs_id *ids) {
  static const ecs_field number[] = {{.name = "n", .type = ECS_I32}};
  ecs_component_desc desc = {.name = "Heat", .fields = number, .field_count = 1, .sparse = true};
  open_usual(f);
  CHECK_OK(f->world, ecs_component(f->world, &desc, &heat));
  desc.name = "Cold";
  CHECK_OK(f->world, ecs_component(f->world, &desc, &cold));
  desc = (ecs_component_desc){.name = "Mark", .sparse = true};
  CHECK_OK(f->world, ecs_component(f->world, &desc, &mark));
  const ecs_id tables[3][2] = {{f->position}, {f->position, f->label}, {f->label}};
  for (int i = 0, at = 0; i < 3; at += counts[i++])
    CHECK_OK(f->world, ecs_spawn_many(f->world, (size_t)counts[i], tables[i], i == 1 ? 2 : 1,
                                      ids + at));
}

/* Some in order, some not, of all tables; every third has Cold, and every fifth Mark. */
static void give_cells(struct fixture *f, const ecs_id *ids) {
  packed = 0;
  for (int i = 0; i < 150; i++) order[packed++] = i;
  for (int i = 0; i < 150; i += 2) order[packed++] = 150 + i * 7 % 150;
  for (int i = 0; i < packed; i++)
    CHECK_OK(f->world, ecs_set(f->world, ids[order[i]], heat, &(int32_t){order[i]}));
  for (int i = 0; i < ROWS; i++) {
    if (i < 220) set_position(f, ids[i], (float)i, (float)-i);
    if (i % 3 == 0) CHECK_OK(f->world, ecs_set(f->world, ids[i], cold, &(int32_t){-i}));
    if (i % 5 == 0) CHECK_OK(f->world, ecs_add(f->world, ids[i], mark));
  }
}

static int row_of(const ecs_id *ids, ecs_id id) {
  for (int i = 0; i < ROWS; i++)
    if (ids[i] == id) return i;
  return -1;
}

/* Heat, Position, Cold?, Mark?, in which terms count from `first`. */
static void check_run(struct fixture *f, const ecs_id *ids, uint32_t first) {
  const int32_t *n = ecs_iter_column(&f->it, first, 0);
  const int32_t *m = ecs_iter_column(&f->it, first + 2, 0);
  const float *x = ecs_iter_column(&f->it, first + 1, 0);
  const float *y = ecs_iter_column(&f->it, first + 1, 1);
  for (size_t i = 0; i < f->it.count; i++) {
    int row = row_of(ids, ecs_iter_entity(&f->it, i));
    CHECK_INTEGER(row, n[i]);
    CHECK(x[i] == (float)row && y[i] == (float)-row);
    CHECK((m != NULL) == (row % 3 == 0) && (!m || m[i] == -row));
    CHECK(ecs_iter_has(&f->it, first + 2) == (m != NULL));
    CHECK(ecs_iter_has(&f->it, first + 3) == (row % 5 == 0));
  }
  CHECK(ecs_iter_has(&f->it, first) && ecs_iter_has(&f->it, first + 1));
  CHECK(!ecs_iter_column(&f->it, first, 1) && !ecs_iter_column(&f->it, first + 2, 1));
  CHECK(!ecs_iter_column(&f->it, first + 3, 0) && !ecs_iter_column(&f->it, first + 4, 0));
}

static void gives_own_cells(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  open_rows(&f, ids);
  give_cells(&f, ids);
  f.query = new_query(f.world, "Heat, Position, Cold?, Mark?");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  CHECK(!ecs_iter_column(&f.it, 0, 0));
  int at = 0;
  for (; ecs_iter_next(&f.it); at++) {
    while (order[at] >= 220) at++;
    CHECK_INTEGER(order[at], row_of(ids, ecs_iter_entity(&f.it, 0)));
    check_run(&f, ids, 0);
    at += (int)f.it.count - 1;
  }
  while (at < packed && order[at] >= 220) at++;
  CHECK_INTEGER(packed, at);
  CHECK(!ecs_iter_next(&f.it) && !ecs_iter_next(&f.it) && !ecs_iter_column(&f.it, 0, 0));
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  close_world(&f);
}

/* In the order of tables, sparse terms behind another one. */
static void gives_cells_by_tables(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  open_rows(&f, ids);
  give_cells(&f, ids);
  f.query = new_query(f.world, "!Label, Heat, Position, Cold?, Mark?");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  int at = 0;
  for (; ecs_iter_next(&f.it); at += (int)f.it.count) {
    CHECK_INTEGER(at, row_of(ids, ecs_iter_entity(&f.it, 0)));
    check_run(&f, ids, 1);
    CHECK(!ecs_iter_has(&f.it, 0));
  }
  CHECK_INTEGER(100, at);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  close_world(&f);
}

/* Rows that lie together in all tables come together, up to the batch's end. */
static void joins_what_lies_together(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  int runs = 0, rows = 0;
  open_rows(&f, ids);
  give_cells(&f, ids);
  f.query = new_query(f.world, "Heat, Position, !Label");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  for (; ecs_iter_next(&f.it); runs++) {
    const int32_t *n = ecs_iter_column(&f.it, 0, 0);
    CHECK(!ecs_iter_has(&f.it, 2));
    for (size_t i = 0; i < f.it.count; i++) CHECK_INTEGER(rows++, n[i]);
  }
  CHECK_INTEGER(100, rows);
  CHECK(runs < 5);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  close_world(&f);
}

/* What is changed on the way waits for the end, so that what was found ahead is still there. */
static void changes_what_is_ahead(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  int rows = 0;
  open_rows(&f, ids);
  give_cells(&f, ids);
  f.query = new_query(f.world, "Heat, Position");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  while (ecs_iter_next(&f.it)) {
    const int32_t *n = ecs_iter_column(&f.it, 0, 0);
    for (size_t i = 0; i < f.it.count; i++, rows++) {
      CHECK_INTEGER(n[i], row_of(ids, ecs_iter_entity(&f.it, i)));
      CHECK(ecs_alive(f.world, ids[ROWS - 1 - n[i]]));
      CHECK_OK(f.world, ecs_despawn(f.world, ids[ROWS - 1 - n[i]]));
      CHECK_OK(f.world, ecs_remove(f.world, ids[n[i]], heat));
    }
  }
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK(rows > 150);
  CHECK_INTEGER(0, ecs_query_count(f.query));
  close_world(&f);
}

/* The cells of Heat, Position, Cold? of the rows that came last, each by its list. */
static void check_rows(struct fixture *f, const ecs_id *ids, int *at) {
  const uint32_t *of_n, *of_m, *of_x, *of_y, *none;
  const int32_t *n = ecs_iter_cells(&f->it, 0, 0, &of_n), *m = ecs_iter_cells(&f->it, 2, 0, &of_m);
  const float *x = ecs_iter_cells(&f->it, 1, 0, &of_x), *y = ecs_iter_cells(&f->it, 1, 1, &of_y);
  for (size_t i = 0; i < f->it.count; i++, ++*at) {
    while (order[*at] >= 220) ++*at;
    int row = order[*at];
    CHECK_INTEGER(row, row_of(ids, ecs_iter_entity(&f->it, i)));
    CHECK_INTEGER(row, n[of_n[i]]);
    CHECK(x[of_x[i]] == (float)row && y[of_y[i]] == (float)-row);
    CHECK((m != NULL) == (row % 3 == 0) && (!m || m[of_m[i]] == -row));
  }
  CHECK(!ecs_iter_cells(&f->it, 0, 1, &none) && !ecs_iter_cells(&f->it, 3, 0, &none));
}

/* In turns with runs. */
static void gives_lists(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  int at = 0;
  const uint32_t *rows;
  open_rows(&f, ids);
  give_cells(&f, ids);
  f.query = new_query(f.world, "Heat, Position, Cold?");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  CHECK(!ecs_iter_cells(&f.it, 0, 0, &rows));
  while (at < 5 && ecs_iter_next(&f.it)) check_rows(&f, ids, &at);
  while (ecs_iter_next_rows(&f.it)) {
    check_rows(&f, ids, &at);
    CHECK(!ecs_iter_column(&f.it, 0, 0) && !f.it.rows);
    if (!ecs_iter_next(&f.it)) break;
    check_rows(&f, ids, &at);
    CHECK(ecs_iter_column(&f.it, 0, 0) && f.it.rows);
  }
  while (at < packed && order[at] >= 220) at++;
  CHECK_INTEGER(packed, at);
  CHECK(!ecs_iter_next_rows(&f.it) && !ecs_iter_cells(&f.it, 0, 0, &rows));
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK(!ecs_iter_next_rows(&f.it));
  close_world(&f);
}

/* 100 rows that lie apart come in two lists, or three. */
static void gives_long_lists(void) {
  struct fixture f;
  ecs_id ids[ROWS];
  int times = 0;
  const uint32_t *rows;
  open_rows(&f, ids);
  for (int i = 0; i < 100; i++)
    CHECK_OK(f.world, ecs_set(f.world, ids[i * 7 % 100], heat, &(int32_t){i}));
  f.query = new_query(f.world, "Heat, Position:in");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  CHECK(ecs_iter_next(&f.it) && f.it.count == 1);
  for (int32_t n = 1; ecs_iter_next_rows(&f.it); times++) {
    int32_t *heats = ecs_iter_cells(&f.it, 0, 0, &rows);
    for (size_t i = 0; i < f.it.count; i++) CHECK_INTEGER(n++, heats[rows[i]]);
  }
  CHECK(times == 2 || times == 3);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  f.query = new_query(f.world, "Position, Label");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  CHECK(ecs_iter_next_rows(&f.it) && f.it.count == 120);
  CHECK(ecs_iter_cells(&f.it, 0, 0, &rows) == ecs_iter_column(&f.it, 0, 0) && !rows);
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  close_world(&f);
}

/* What is handed out counts as written, row by row. */
static void marks_lists(void) {
  static const ecs_field number[] = {{.name = "n", .type = ECS_I32}};
  ecs_component_desc desc = {.name = "Warm", .fields = number, .field_count = 1, .track = true};
  struct fixture f;
  ecs_id ids[ROWS], warm;
  const uint32_t *rows;
  open_rows(&f, ids);
  CHECK_OK(f.world, ecs_component(f.world, &desc, &warm));
  for (int i = 0; i < 100; i++) CHECK_OK(f.world, ecs_add(f.world, ids[i], warm));
  for (int i = 0; i < 100; i += 3)
    CHECK_OK(f.world, ecs_set(f.world, ids[i], heat, &(int32_t){i}));
  ecs_query *changed = new_query(f.world, "Warm:changed:in");
  CHECK_INTEGER(100, ecs_query_count(changed));
  f.query = new_query(f.world, "Heat, Warm");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  while (ecs_iter_next_rows(&f.it)) CHECK(ecs_iter_cells(&f.it, 1, 0, &rows));
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  CHECK_INTEGER(34, ecs_query_count(changed));
  CHECK_INTEGER(0, ecs_query_count(changed));
  close_world(&f);
}

/* Matches with a value come one by one. */
static void gives_values(void) {
  struct fixture f;
  ecs_id ids[ROWS], likes;
  const uint32_t *rows;
  open_rows(&f, ids);
  CHECK_OK(f.world, ecs_relation(f.world, &(ecs_component_desc){.name = "Likes"}, &likes));
  for (int i = 0; i < 3; i++)
    CHECK_OK(f.world, ecs_add(f.world, ids[i], ecs_pair(likes, ids[i + 1])));
  f.query = new_query(f.world, "Position:in, (Likes, *)");
  CHECK_OK(f.world, ecs_iter_open(f.query, &f.it));
  for (int i = 0; i < 3; i++) {
    CHECK(ecs_iter_next_rows(&f.it) && f.it.count == 1 && ecs_iter_entity(&f.it, 0) == ids[i]);
    CHECK(ecs_iter_value(&f.it, 0) == ids[i + 1]);
    const float *x = ecs_iter_cells(&f.it, 0, 0, &rows);
    CHECK(rows[0] == 0 && x == ecs_iter_column(&f.it, 0, 0));
  }
  CHECK(!ecs_iter_next_rows(&f.it));
  CHECK_OK(f.world, ecs_iter_close(&f.it));
  close_world(&f);
}

static const struct test tests[] = {
  {"C32, C56: gives the cells of sparse components in packed order", gives_own_cells},
  {"C32: gives the cells of sparse components in the order of tables", gives_cells_by_tables},
  {"C32: joins rows that lie together", joins_what_lies_together},
  {"C32, C50: goes on over what is changed ahead", changes_what_is_ahead},
  {"C32: gives lists of rows in turns with runs", gives_lists},
  {"C32: gives rows that lie apart many at a time", gives_long_lists},
  {"C32: marks the rows of a list", marks_lists},
  {"C32: gives rows with values one by one", gives_values},
};

int main(void) { return RUN_TESTS(tests); }
