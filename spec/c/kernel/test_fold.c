/* Totals: what rows come to one by one is what blocks of them come to, and a sum of small integers
** is one of floats, too. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/share.h"

static void folding_row_by_row_gives_what_a_run_gives(void) {
  enum { ROWS = 5000, TABLES = 3 };
  static double column[ROWS];
  for (int how = KR_SUM; how <= KR_MAX; how++) {
    struct builder *b = builder_new(&test_memory);
    const k_value x = build_load(b, build_column(b, KC_F64));
    build_reduce(b, 0, (k_reduce)how, x, build_binary(b, KO_NE, x, build_f64(b, 3.0)));
    struct program *p = finish_build(b);
    struct machine *m = machine_new(&test_memory, isa_best());
    CHECK(machine_reserve(m, p) == K_OK);
    k_total total = {.rows = 0}, folded = {.rows = 0};
    for (int t = 0; t < TABLES; t++) {
      k_folding f;
      k_fold_begin(&f, (k_reduce)how, KT_F64);
      for (int i = 0; i < ROWS; i++) {
        value v = random_value(KT_F64);
        if (how == KR_SUM && !(fabs(v.k.f64) < 1e300)) v = of_f64(3.0);
        column[i] = v.k.f64;
        k_fold_row(&f, (k_reduce)how, KT_F64, v.k, v.k.f64 != 3.0);
      }
      k_fold_end(&f, (k_reduce)how, KT_F64, &folded);
      void *columns[1] = {column};
      const k_run run = {ROWS, columns, NULL, NULL, NULL, &total, NULL, NULL, NULL, NULL, NULL,
                     NULL, NULL, NULL};
      k_failure failure;
      CHECK(machine_run(m, p, &run, &failure) == K_OK);
    }
    CHECK(total.rows == folded.rows);
    CHECK(equal(of_f64(total.value.f64), of_f64(folded.value.f64)));
    CHECK(total.won == folded.won && total.row == folded.row);
    machine_free(m);
    program_free(p);
  }
}

/* The row that fails, or the number of rows: what those before it came to is a sum of floats. */
static void a_sum_of_small_integers_is_one_of_floats(size_t bad) {
  enum { ROWS = 5000 };
  static int64_t column[ROWS];
  struct builder *b = builder_new(&test_memory);
  const k_value x = build_load(b, build_column(b, KC_I64));
  const k_value taken = build_binary(b, KO_NE, x, build_i64(b, 3));
  build_need(b, build_binary(b, KO_NE, x, build_i64(b, 7)));
  build_reduce(b, 0, KR_SUM, x, taken);
  build_reduce(b, 1, KR_FLOATS, build_convert(b, KT_F64, x), taken);
  struct program *p = finish_build(b);
  struct machine *m = machine_new(&test_memory, isa_best());
  CHECK(machine_reserve(m, p) == K_OK);
  k_folding parts[2], folded;
  k_total totals[2] = {{.part = &parts[0]}, {.part = &parts[1]}}, want = {.rows = 0};
  k_fold_begin(&folded, KR_SUM, KT_F64);
  for (size_t i = 0; i < ROWS; i++) {
    const int64_t most = (int64_t)1 << 43, drawn = random_value(KT_I64).k.i64 % most;
    column[i] = i == bad ? 7 : i % 9 == 0 ? 3 : drawn == 7 ? most : drawn;
    const k_scalar number = {.f64 = (double)column[i]};
    if (i < bad) k_fold_row(&folded, KR_SUM, KT_F64, number, column[i] != 3);
  }
  k_fold_end(&folded, KR_SUM, KT_F64, &want);
  void *columns[1] = {column};
  const k_run run = {ROWS, columns, NULL, NULL, NULL, totals, NULL, NULL, NULL, NULL, NULL,
                     NULL, NULL, NULL};
  k_failure failure;
  CHECK(machine_run(m, p, &run, &failure) == (bad < ROWS ? K_FAILED : K_OK));
  if (bad < ROWS) k_fold_end(&parts[1], KR_SUM, KT_F64, &totals[1]);
  CHECK(totals[1].rows == want.rows);
  CHECK(equal(of_f64(totals[1].value.f64), of_f64(want.value.f64)));
  machine_free(m);
  program_free(p);
}

int main(void) {
  folding_row_by_row_gives_what_a_run_gives();
  static const size_t bad[] = {5000, 0, 1, 1023, 1024, 3333, 4999};
  for (int i = 0; i < COUNT(bad); i++) a_sum_of_small_integers_is_one_of_floats(bad[i]);
  return failures != 0;
}
