/* What is done in the order of rows, and random programs (test_philox) seldom come to: rows that
** fail in a loop behind what they have stored, or with more stores or orders than there is room
** for; orders that wait; what the builder refuses, and what it does without memory. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

static k_isa isa;

/* {=====================================================================
** Programs
** ====================================================================== */

enum { ROWS = 700, LENGTH = 40 };

/* Of a program whose columns are c0 i64, c1 bool, c2 f64: a number, a truth, a number; and whose
** arrays are a0 f64, a1 bool, a2 i64. */
typedef struct table {
  size_t rows;
  int64_t numbers[ROWS];
  uint8_t truths[ROWS];
  double reals[ROWS], a0[LENGTH];
  uint8_t a1[LENGTH];
  int64_t a2[LENGTH];
  k_scalar uniforms[1];
  int64_t order_count, orders[ROWS * 4];
} table;

static struct builder *fresh(void) {
  struct builder *b = builder_new(&test_memory);
  if (!b) abort();
  build_column(b, KC_I64);
  build_column(b, KC_BOOL);
  build_column(b, KC_F64);
  build_array(b, KC_F64);
  build_array(b, KC_BOOL);
  build_array(b, KC_I64);
  build_at(b, K_ALL, 1);
  return b;
}

static struct program *finish(struct builder *b) {
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  if (!p) abort();
  return p;
}

static bool can_give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *asked) {
  (void)asked;
  return ud && order == 3 && *entity > 0;
}

static bool has_room(void *ud, uint32_t count) { return ud && count > 0; }

static void give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *with) {
  table *t = ud;
  (void)with;
  CHECK(order == 3);
  t->orders[t->order_count++] = *entity;
}

/* Orders for even numbers wait, for odd ones they are stores into a0. */
static k_now do_at_once(void *ud, uint32_t order, int64_t entity, k_scalar with,
                        const k_ordered *waiting, uint32_t count, k_stored **stored) {
  table *t = ud;
  CHECK(order == 3 && count <= 256 && (count == 0 || waiting[0].order == 3));
  if (entity % 2 == 0) return K_LATER;
  k_stored *store = (*stored)++;
  *store = (k_stored){&t->a0[entity % LENGTH], {0}, 8};
  memcpy(&store->was, store->at, 8);
  memcpy(store->at, &with, 8);
  return K_DONE;
}

static k_status run_on(struct machine *m, table *t, const struct program *p, bool at_once,
                       k_failure *failure) {
  CHECK(machine_reserve(m, p) == K_OK);
  void *columns[] = {t->numbers, t->truths, t->reals};
  const k_array arrays[] = {{t->a0, LENGTH}, {t->a1, LENGTH}, {t->a2, LENGTH}};
  const k_orders orders = {.check = can_give, .reserve = has_room, .give = give, .ud = t,
                           .now = at_once ? do_at_once : NULL};
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = t->rows;
  r.columns = columns;
  r.arrays = arrays;
  r.uniforms = t->uniforms;
  r.orders = &orders;
  return machine_run(m, p, &r, failure);
}

static k_status run(table *t, const struct program *p, bool at_once, k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa);
  k_status status = m ? run_on(m, t, p, at_once, failure) : K_ENOMEM;
  machine_free(m);
  return status;
}

static void table_fill(table *t, size_t rows) {
  memset(t, 0, sizeof *t);
  t->rows = rows;
  for (int i = 0; i < ROWS; i++) {
    t->numbers[i] = 1 + random_below(LENGTH);
    t->truths[i] = (uint8_t)random_below(2);
    t->reals[i] = random_below(1000) / 8.0;
  }
  for (int i = 0; i < LENGTH; i++) {
    t->a0[i] = random_below(100);
    t->a1[i] = (uint8_t)random_below(2);
    t->a2[i] = 1 + random_below(LENGTH);
  }
}

/* Each row moves on to the next place of its own, if that is free. */
static struct program *make_moves(void) {
  struct builder *b = fresh();
  k_value here = build_load(b, 0), to = build_element(b, 2, here);
  k_value free = build_get(b, build_cell(b, 1, to));
  build_at(b, free, 2);
  build_set(b, build_cell(b, 1, to), build_bool(b, false));
  build_set(b, build_cell(b, 1, here), build_bool(b, true));
  build_store(b, 0, build_select(b, free, to, here));
  return finish(b);
}

static void rows_see_what_those_before_them_have_stored(void) {
  static const size_t sizes[] = {1, 2, 255, 256, 257, ROWS};
  static table t;
  struct program *p = make_moves();
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "rows @") && strstr(text, "get.bool") && strstr(text, "set.bool"));
  CHECK(program_info(p).stores);
  for (int size = 0; size < COUNT(sizes); size++) {
    k_failure failure;
    table_fill(&t, sizes[size]);
    table want = t;
    for (size_t i = 0; i < want.rows; i++) {
      int64_t here = want.numbers[i] - 1, to = want.a2[here] - 1;
      if (!want.a1[to]) continue;
      want.a1[to] = 0;
      want.a1[here] = 1;
      want.numbers[i] = to + 1;
    }
    CHECK(run(&t, p, false, &failure) == K_OK);
    CHECK(memcmp(&t, &want, sizeof t) == 0);
  }
  program_free(p);
}

/* A skip takes nothing along from between what it passes over. */
static void what_stands_between_two_stores_stays_there(void) {
  static table t;
  struct builder *b = fresh();
  k_value cell = build_cell(b, 0, build_load(b, 0)), truth = build_load(b, 1);
  build_at(b, truth, 2);
  build_set(b, cell, build_load(b, 2));
  k_value between = build_get(b, cell);
  build_set(b, cell, build_f64(b, -1));
  build_store(b, 2, between);
  struct program *p = finish(b);
  table_fill(&t, ROWS);
  k_failure failure;
  table want = t;
  for (size_t i = 0; i < ROWS; i++) {
    double *at = &want.a0[want.numbers[i] - 1];
    if (!want.truths[i]) want.reals[i] = *at;
    if (want.truths[i]) *at = -1;
  }
  CHECK(run(&t, p, false, &failure) == K_OK && memcmp(&t, &want, sizeof t) == 0);
  program_free(p);
}

/* {=====================================================================
** Rows that fail
** ====================================================================== */

/* Rows 0 to 99 are sound, row 100 is the first of those that fail. */
static void check_undone(struct program *p, k_error error, uint32_t tag, bool at_once) {
  static table t;
  table_fill(&t, ROWS);
  for (int i = 0; i < ROWS; i++) t.truths[i] = i < 100;
  table sound = t;
  k_failure failure;
  sound.rows = 100;
  CHECK(run(&sound, p, at_once, &failure) == K_OK);
  CHECK(run(&t, p, at_once, &failure) == K_FAILED);
  CHECK(failure.row == 100 && failure.error == error && failure.tag == tag);
  t.rows = 100;
  CHECK(memcmp(&t, &sound, sizeof t) == 0);
  program_free(p);
}

static void a_row_that_fails_has_stored_nothing(void) {
  struct builder *b = fresh();
  k_value cell = build_cell(b, 0, build_load(b, 0));
  k_value was = build_get(b, cell);
  build_set(b, cell, build_binary(b, KO_ADD, was, build_f64(b, 1)));
  build_set(b, build_cell(b, 1, build_load(b, 0)), build_load(b, 1));
  k_value large = build_select(b, build_load(b, 1), build_i64(b, 3), build_i64(b, 300));
  build_at(b, K_ALL, 7);   /* it depends on what is ordered, so that it fails in its turn */
  k_value more = build_binary(b, KO_LT, build_get(b, cell), build_f64(b, 0));
  build_fit(b, KC_U8, build_select(b, more, build_i64(b, 0), large));
  build_set(b, cell, build_f64(b, 5));
  check_undone(finish(b), KE_RANGE, 7, false);
}

/* A fold of what is ordered is done in the order of rows, too. */
static void a_row_that_fails_has_folded_nothing(void) {
  struct builder *b = fresh();
  k_value number = build_load(b, 0), got = build_get(b, build_cell(b, 2, number));
  build_set(b, build_cell(b, 2, number), build_binary(b, KO_BXOR, got, number));
  build_fold(b, build_cell(b, 0, number), KF_ADD, build_convert(b, KT_F64, got));
  build_at(b, K_ALL, 9);
  k_value below = build_binary(b, KO_LT, got, build_i64(b, 0));
  build_need(b, build_binary(b, KO_OR, build_load(b, 1), below));
  check_undone(finish(b), KE_NIL, 9, false);
}

/* What fails stands before the store, which it comes to again. */
static void a_row_that_fails_in_a_later_round_has_stored_nothing(void) {
  struct builder *b = fresh();
  k_value cell = build_cell(b, 0, build_load(b, 0)), truth = build_load(b, 1);
  k_value round = build_loop(b, build_i64(b, 4), K_ALL);
  build_at(b, K_ALL, 8);
  k_value early = build_binary(b, KO_LT, round, build_i64(b, 3));
  build_need(b, build_binary(b, KO_OR, truth, early));
  k_value was = build_get(b, cell);
  build_set(b, cell, build_binary(b, KO_ADD, was, build_f64(b, 1)));
  build_endloop(b, K_ALL);
  check_undone(finish(b), KE_NIL, 8, false);
}

/* What a row of another program has stored, in the same machine, is not undone. */
static void a_row_that_has_stored_nothing_fails_so(void) {
  static table t;
  k_failure failure;
  struct machine *m = machine_new(&test_memory, isa);
  struct builder *b = fresh();
  build_set(b, build_cell(b, 0, build_load(b, 0)), build_load(b, 2));
  build_need(b, build_binary(b, KO_GE, build_get(b, build_cell(b, 0, build_load(b, 0))),
                             build_f64(b, 0)));
  struct program *stores = finish(b);
  b = fresh();
  build_need(b, build_get(b, build_cell(b, 1, build_load(b, 0))));
  struct program *fails = finish(b);
  table_fill(&t, ROWS);
  CHECK(run_on(m, &t, stores, false, &failure) == K_OK);
  memset(t.a1, 0, sizeof t.a1);
  table want = t;
  CHECK(run_on(m, &t, fails, false, &failure) == K_FAILED && failure.row == 0);
  CHECK(memcmp(&t, &want, sizeof t) == 0);
  machine_free(m);
  program_free(stores);
  program_free(fails);
}

static struct program *loop_that_stores(bool fails, bool first) {
  struct builder *b = fresh();
  k_value cell = build_cell(b, 0, build_load(b, 0));
  if (first) build_set(b, build_cell(b, 2, build_load(b, 0)), build_i64(b, 9));
  build_loop(b, build_uniform(b, 0, KT_I64), K_ALL);
  k_value was = build_get(b, cell);
  build_set(b, cell, build_binary(b, KO_ADD, was, build_f64(b, 1)));
  build_endloop(b, K_ALL);
  build_at(b, K_ALL, 4);
  k_value odd = build_binary(b, KO_GE, build_get(b, cell), build_f64(b, 0));
  if (fails) build_need(b, odd);
  return finish(b);
}

/* As many as a row can undo, one more, and more where nothing fails behind them. */
static void a_row_stores_as_often_as_there_is_room_for_where_it_can_fail(void) {
  for (int fails = 0; fails < 2; fails++)
    for (int rounds = 4095; rounds < 4098; rounds++) {
      static table t;
      k_failure failure;
      struct program *p = loop_that_stores(fails, true);
      const bool sound = !fails || rounds < 4096;
      table_fill(&t, 3);
      t.uniforms[0].i64 = rounds;
      table want = t;
      for (int i = 0; i < 3 && sound; i++) {
        want.a0[t.numbers[i] - 1] += rounds;
        want.a2[t.numbers[i] - 1] = 9;
      }
      CHECK(run(&t, p, false, &failure) == (sound ? K_OK : K_FAILED));
      CHECK(sound || (failure.row == 0 && failure.error == KE_ROOM));
      CHECK(memcmp(&t, &want, sizeof t) == 0);
      program_free(p);
    }
}

/* }===================================================================== */

/* {=====================================================================
** Orders
** ====================================================================== */

/* Some for the row's number, and a store. */
static struct program *make_orders(void) {
  struct builder *b = fresh();
  k_value cell = build_cell(b, 2, build_load(b, 0));
  build_set(b, cell, build_binary(b, KO_ADD, build_get(b, cell), build_i64(b, 1)));
  build_loop(b, build_uniform(b, 0, KT_I64), K_ALL);
  build_order(b, 3, build_load(b, 0), build_load(b, 2), K_NONE);
  build_endloop(b, K_ALL);
  return finish(b);
}

static void orders_wait_for_the_end_of_their_row_or_are_done_at_once(void) {
  for (int at_once = 0; at_once < 2; at_once++) {
    static table t;
    k_failure failure;
    struct program *p = make_orders();
    table_fill(&t, ROWS);
    t.uniforms[0].i64 = 2;
    table want = t;
    for (int i = 0; i < ROWS; i++) {
      int64_t n = t.numbers[i];
      want.a2[n - 1]++;
      if (at_once && n % 2) want.a0[n % LENGTH] = t.reals[i];
      for (int k = 0; k < 2 && !(at_once && n % 2); k++) want.orders[want.order_count++] = n;
    }
    CHECK(run(&t, p, at_once, &failure) == K_OK && memcmp(&t, &want, sizeof t) == 0);
    program_free(p);
  }
}

/* As many as can wait, and one more; without orders that are done at once none waits. */
static void as_many_orders_wait_as_there_is_room_for(void) {
  for (int at_once = 0; at_once < 2; at_once++)
    for (int count = 256; count < 258; count++) {
      static table t;
      k_failure failure;
      struct program *p = make_orders();
      const bool sound = !at_once || count == 256;
      table_fill(&t, 1);
      t.numbers[0] = 2;
      t.uniforms[0].i64 = count;
      table want = t;
      if (sound) want.a2[1]++;
      for (int i = 0; i < count && sound; i++) want.orders[want.order_count++] = 2;
      CHECK(run(&t, p, at_once, &failure) == (sound ? K_OK : K_FAILED));
      CHECK(sound || (failure.row == 0 && failure.error == KE_ROOM));
      CHECK(memcmp(&t, &want, sizeof t) == 0);
      program_free(p);
    }
}

/* An order that cannot be given, seen when the row has done everything else. */
static void a_row_whose_orders_cannot_be_given_has_done_nothing(void) {
  for (int at_once = 0; at_once < 2; at_once++) {
    struct builder *b = fresh();
    k_value cell = build_cell(b, 2, build_load(b, 0));
    build_set(b, cell, build_binary(b, KO_ADD, build_get(b, cell), build_i64(b, 1)));
    build_order(b, 3, build_binary(b, KO_BOR, build_load(b, 0), build_i64(b, 1)),
                build_load(b, 2), K_NONE);
    build_at(b, K_ALL, 6);
    build_order(b, 3, build_select(b, build_load(b, 1), build_i64(b, 2), build_i64(b, -2)),
                build_load(b, 2), K_NONE);
    check_undone(finish(b), KE_DEAD, 6, at_once);
  }
}

/* }===================================================================== */

/* {=====================================================================
** The builder
** ====================================================================== */

static void make_mistake(struct builder *b, int i) {
  k_value number = build_load(b, 0), cell = build_cell(b, 0, number);
  switch (i) {
    case 0: build_get(b, number); break;
    case 1: build_set(b, number, number); break;
    case 2: build_set(b, cell, number); break;
    case 3: build_cell(b, 0, build_load(b, 2)); break;
    case 4: build_cell(b, 9, number); break;
    case 5: build_store(b, 2, build_get(b, build_cell(b, 1, number))); break;
    case 6: build_fold(b, cell, KF_OR, build_load(b, 2)); break;
    default: build_fold(b, cell, KF_ADD, number);
  }
}

static void mistakes_of_the_front_end_are_refused(void) {
  for (int i = 0; i < 8; i++) {
    struct builder *b = fresh();
    struct program *p = NULL;
    make_mistake(b, i);
    CHECK(build_finish(b, &p) == K_EINVAL && p == NULL);
    builder_free(b);
  }
}

static k_status build_all(void) {
  struct builder *b = builder_new(&test_memory);
  if (!b) return K_ENOMEM;
  struct program *p = NULL;
  build_column(b, KC_I64);
  build_array(b, KC_F64);
  for (int i = 0; i < 100; i++) {
    k_value index = build_binary(b, KO_ADD, build_load(b, 0), build_i64(b, i));
    k_value cell = build_cell(b, 0, index), was = build_get(b, cell);
    build_at(b, build_binary(b, KO_LT, was, build_f64(b, 4)), 1);
    build_set(b, cell, build_unary(b, KO_SQRT, was));
  }
  k_status status = build_finish(b, &p);
  builder_free(b);
  program_free(p);
  return status;
}

static void without_memory_nothing_is_left_behind(void) {
  k_status status = K_ENOMEM;
  long k = 0;
  while (status == K_ENOMEM && k < 200) {
    fail_at = ++k;
    status = build_all();
    CHECK(bytes_in_use == 0);
  }
  CHECK(status == K_OK && k > 5);
  fail_at = -1;
}

/* }===================================================================== */

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    rows_see_what_those_before_them_have_stored();
    what_stands_between_two_stores_stays_there();
    a_row_that_fails_has_stored_nothing();
    a_row_that_fails_has_folded_nothing();
    a_row_that_fails_in_a_later_round_has_stored_nothing();
    a_row_that_has_stored_nothing_fails_so();
    a_row_stores_as_often_as_there_is_room_for_where_it_can_fail();
    orders_wait_for_the_end_of_their_row_or_are_done_at_once();
    as_many_orders_wait_as_there_is_room_for();
    a_row_whose_orders_cannot_be_given_has_done_nothing();
  }
  mistakes_of_the_front_end_are_refused();
  without_memory_nothing_is_left_behind();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
