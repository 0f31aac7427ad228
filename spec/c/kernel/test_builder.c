/* The builder: what it makes of programs, what it refuses, and what it does without
** memory. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

static struct builder *fresh(void) {
  struct builder *b = builder_new(&test_memory);
  if (b == NULL) abort();
  return b;
}

/* Does the program read exactly like this? */
static int reads(const struct program *p, const char *text) {
  char got[2000];
  const size_t n = program_text(p, got, sizeof got);
  if (strcmp(got, text) == 0 && n == strlen(text)) return 1;
  fprintf(stderr, "%s", got);
  return 0;
}

static k_status run_rows(const struct program *p, size_t rows, void *const *columns,
                         const k_scalar *uniforms, k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa_best());
  CHECK(machine_reserve(m, p) == K_OK);
  const k_run run = {rows, columns, uniforms, NULL, NULL, NULL, NULL, NULL, NULL,
                     NULL, NULL, NULL, NULL, NULL};
  const k_status status = machine_run(m, p, &run, failure);
  machine_free(m);
  return status;
}

static void multiplication_and_addition_become_one_instruction_in_place(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), v = build_column(b, KC_F32);
  const k_value dt = build_convert(b, KT_F32, build_uniform(b, 0, KT_F64));
  const k_value step = build_binary(b, KO_MUL, build_load(b, v), dt);
  build_store(b, x, build_binary(b, KO_ADD, build_load(b, x), step));
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tf32.f64 s0 = u0\n1\taddmul.f32 c0 = c0, c1, s0\n"));
  CHECK(p->prologue == 1 && p->reg4_count == 0 && p->whole);
  CHECK(program_reads(p, x) && program_reads(p, v));
  CHECK(program_writes(p, x) && !program_writes(p, v));
  program_free(p);
}

static void rows_that_a_run_is_not_for_keep_what_they_have(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), n = build_column(b, KC_I8);
  const k_value start = build_start(b);
  build_at(b, start, 7);
  const k_value most = build_fit(b, KC_I8, build_convert(b, KT_I64, build_load(b, x)));
  build_put(b, x, build_binary(b, KO_ADD, build_load(b, x), build_f32(b, 1.0f)));
  build_put(b, n, most);
  struct program *p = finish_build(b);
  CHECK(p->starts && !p->whole && program_writes(p, x));
  enum { ROWS = 3000 };
  static float xs[ROWS];
  static int8_t ns[ROWS];
  static uint64_t bits[ROWS / 64 + 1];
  for (int i = 0; i < ROWS; i++) {
    const int for_it = i >= 1024 && i < 2048 ? 0 : i % 3 == 0;
    xs[i] = for_it ? (float)(i % 100) : 1e30f;
    ns[i] = -5;
    bits[i / 64] |= (uint64_t)for_it << i % 64;
  }
  void *columns[] = {xs, ns};
  struct machine *m = machine_new(&test_memory, isa_best());
  CHECK(machine_reserve(m, p) == K_OK);
  const k_run run = {ROWS, columns, NULL, NULL, bits, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL};
  k_failure failure;
  CHECK(machine_run(m, p, &run, &failure) == K_OK);
  for (int i = 0; i < ROWS; i++) {
    const int for_it = (int)(bits[i / 64] >> i % 64 & 1);
    CHECK(xs[i] == (for_it ? (float)(i % 100 + 1) : 1e30f));
    CHECK(ns[i] == (for_it ? i % 100 : -5));
  }
  bits[2999 / 64] |= (uint64_t)1 << 2999 % 64;
  CHECK(machine_run(m, p, &run, &failure) == K_FAILED && failure.row == 2999);
  machine_free(m);
  program_free(p);
}

static void what_is_put_is_made_elsewhere(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), v = build_column(b, KC_F32);
  const k_value u = build_load(b, x), w = build_load(b, v);
  build_put(b, x, build_binary(b, KO_ADD, u, w));
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tadd.f32 w0 = c0, c1\n1\tput.f32 c0 = w0, rows\n"));
  program_free(p);
}

static void each_step_of_a_fused_instruction_rounds(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), y = build_column(b, KC_F32);
  const k_value u = build_load(b, x), v = build_load(b, y);
  build_store(b, x, build_binary(b, KO_SUB, build_binary(b, KO_MUL, u, v),
                                 build_f32(b, 1.0f)));
  struct program *p = finish_build(b);
  float a[40], c[40];
  for (int i = 0; i < 40; i++) a[i] = c[i] = 1.0f + 0x1p-12f;
  void *columns[2] = {a, c};
  k_failure failure;
  CHECK(run_rows(p, 40, columns, NULL, &failure) == K_OK);
  for (int i = 0; i < 40; i++) CHECK(a[i] == 0x1p-11f);  /* more, were it contracted */
  program_free(p);
}

static void equal_work_is_done_once_and_useless_work_never(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F64), y = build_column(b, KC_F64);
  const k_value u = build_load(b, x), w = build_load(b, y);
  const k_value once = build_binary(b, KO_DIV, u, w);
  CHECK(once == build_binary(b, KO_DIV, u, w));
  CHECK(build_load(b, x) == u);
  CHECK(build_binary(b, KO_MUL, u, w) == build_binary(b, KO_MUL, w, u));
  build_unary(b, KO_SIN, w);
  build_store(b, x, u);  /* what it was */
  build_store(b, y, once);
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tdiv.f64 c1 = c0, c1\n") && p->whole);
  program_free(p);
}

/* A chain of many values needs but the registers of those alive at once, and a block of them
** stays in the first cache. */
static void registers_are_used_again(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), y = build_column(b, KC_F32);
  const k_value w = build_load(b, y);
  k_value v = build_load(b, x);
  for (int i = 0; i < 60; i++) {
    const k_value root = build_unary(b, KO_SQRT, v);
    v = build_binary(b, KO_DIV, build_binary(b, KO_ADD, v, root),
                     build_binary(b, KO_MUL, root, w));
  }
  build_store(b, x, v);
  struct program *p = finish_build(b);
  CHECK(p->reg4_count <= 3 && p->reg1_count == 0 && p->reg8_count == 0);
  CHECK(program_info(p).insns == 240 && program_info(p).scratch <= 16384);
  program_free(p);
}

static void a_swap_needs_copies(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), y = build_column(b, KC_F32);
  build_store(b, x, build_load(b, y));
  build_store(b, y, build_load(b, x));
  struct program *p = finish_build(b);
  float one[3] = {1, 2, 3}, other[3] = {4, 5, 6};
  void *columns[2] = {one, other};
  k_failure failure;
  CHECK(run_rows(p, 3, columns, NULL, &failure) == K_OK);
  for (int i = 0; i < 3; i++)
    CHECK(one[i] == (float)(4 + i) && other[i] == (float)(1 + i));
  program_free(p);
}

static void what_does_not_depend_on_a_loop_is_done_before_it(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F64);
  const k_value u = build_load(b, x);
  const k_value i = build_loop(b, build_i64(b, 4), K_ALL);
  const k_value sum = build_carry(b, u, 1);
  const k_value root = build_unary(b, KO_SQRT, u);
  const k_value term = build_binary(b, KO_MUL, root, build_convert(b, KT_F64, i));
  build_next(b, sum, build_binary(b, KO_SUB, sum, term));
  build_endloop(b, K_ALL);
  build_store(b, x, sum);
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tsqrt.f64 d0 = c0\n1\tcopy.f64 d1 = c0\n2\tloop s0 = 4, all, @5\n"
                 "3\tf64.i64 s1 = s0\n4\tsubmul.f64 d1 = d1, d0, s1\n"
                 "5\tend s0 = 4, all, @2\n6\tcopy.f64 c0 = d1\n"));
  program_free(p);
}

static void work_of_few_rows_is_skipped(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), y = build_column(b, KC_F32);
  const k_value u = build_load(b, x), w = build_load(b, y);
  const k_value rare = build_binary(b, KO_LT, w, build_f32(b, 0.0f));
  const k_value s = build_binary(b, KO_DIV, build_unary(b, KO_SIN, u), w);
  build_store(b, x, build_select(b, rare, s, u));
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tlt.f32 m0 = c1, 0\n1\tskip m0, @5\n2\tsin.f32 w0 = c0\n"
                 "3\tdiv.f32 w0 = w0, c1\n4\tselect.f32 c0 = m0, w0, c0\n"));
  program_free(p);
}

/* x += sum of (s + i) * (j + 1) over rounds i and j, of rows where y < 0, the inner loop where
** z < 0: s is one number for all rows, and grows with every round. */
static struct program *nested_loops(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F64), y = build_column(b, KC_F64),
                 z = build_column(b, KC_F64);
  const k_value u = build_load(b, x), zero = build_f64(b, 0.0);
  const k_value mask = build_binary(b, KO_LT, build_load(b, y), zero);
  const k_value i = build_loop(b, build_i64(b, 6), mask);
  const k_value sum = build_carry(b, u, 1), s = build_carry(b, build_f64(b, 10.0), 0);
  const k_value below = build_binary(b, KO_LT, build_load(b, z), zero);
  const k_value inner = build_binary(b, KO_AND, mask, below);
  const k_value j = build_loop(b, build_i64(b, 5), inner);
  const k_value part = build_carry(b, sum, 1);
  const k_value left = build_binary(b, KO_ADD, s, build_convert(b, KT_F64, i));
  const k_value right = build_convert(b, KT_F64, build_binary(b, KO_ADD, j, build_i64(b, 1)));
  const k_value step = build_binary(b, KO_MUL, left, right);
  build_next(b, part, build_select(b, inner, build_binary(b, KO_ADD, part, step), part));
  build_endloop(b, inner);
  build_next(b, sum, part);
  build_next(b, s, build_binary(b, KO_ADD, s, build_f64(b, 1.0)));
  build_endloop(b, mask);
  build_store(b, x, sum);
  return finish_build(b);
}

static void few_rows_do_a_loop_by_themselves(void) {
  enum { ROWS = 1500 };
  static double xs[ROWS], ys[ROWS], zs[ROWS];
  void *columns[3] = {xs, ys, zs};
  struct program *p = nested_loops();
  for (int few = 0; few < 4; few++) {   /* of the rows of the outer loop, of the inner one */
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += (10 + i + i) * 15;
    for (int row = 0; row < ROWS; row++) {
      int rare = row / 64 % 5 == 1 && row % 7 == 0;
      xs[row] = row;
      ys[row] = few % 2 && !rare ? 1 : -1;
      zs[row] = few / 2 && !rare ? 1 : -1;
    }
    k_failure failure;
    CHECK(run_rows(p, ROWS, columns, NULL, &failure) == K_OK);
    for (int row = 0; row < ROWS; row++)
      CHECK(xs[row] == row + (ys[row] < 0 && zs[row] < 0 ? sum : 0));
  }
  program_free(p);
}

static void make_mistake(struct builder *b, int i, uint32_t x, uint32_t n) {
  const k_value u = build_load(b, x), k = build_load(b, n);
  switch (i) {
    case 0: build_binary(b, KO_ADD, u, k); break;
    case 1: build_unary(b, KO_NOT, u); break;
    case 2: build_binary(b, KO_BAND, u, u); break;
    case 3: build_store(b, n, u); break;
    case 4: build_select(b, u, u, u); break;
    case 5: build_select(b, K_ALL, u, k); break;
    case 6: build_load(b, 2); break;
    case 7: build_loop(b, k, K_ALL); break;
    case 8: build_unary(b, KO_NEG, 1000); break;
    case 9: build_unary(b, KO_NEG, K_NONE); break;
    case 10: build_endloop(b, K_ALL); break;
    case 11: build_loop(b, build_i64(b, 3), K_ALL); break;  /* and no end */
    case 12: {
      const k_value round = build_loop(b, build_i64(b, 3), K_ALL);
      const k_value inside = build_convert(b, KT_F32, round);
      build_endloop(b, K_ALL);
      build_store(b, x, inside);  /* out of its loop */
      break;
    }
    case 14: {
      const k_value round = build_loop(b, build_i64(b, 3), K_ALL);
      build_next(b, round, round);  /* not carried */
      break;
    }
    default:
      build_uniform(b, 0, KT_F64);
      build_uniform(b, 0, KT_I64);
  }
}

static void mistakes_of_the_front_end_are_refused(void) {
  for (int i = 0; i < 15; i++) {
    struct builder *b = fresh();
    const uint32_t x = build_column(b, KC_F32), n = build_column(b, KC_I32);
    struct program *p = NULL;
    make_mistake(b, i, x, n);
    CHECK(build_load(b, x) == K_NONE || i == 11);
    CHECK(build_finish(b, &p) == K_EINVAL && p == NULL);
    builder_free(b);
  }
}

static void going_back_forgets(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F64);
  const k_value u = build_load(b, x);
  const k_mark mark = build_mark(b);
  const k_value first = build_unary(b, KO_SQRT, u);
  build_loop(b, build_i64(b, 3), K_ALL);
  build_binary(b, KO_ADD, u, K_ALL);  /* wrong */
  CHECK(builder_status(b) == K_EINVAL);
  build_rewind(b, mark);
  CHECK(builder_status(b) == K_OK);
  CHECK(build_unary(b, KO_ABS, u) == first);
  build_store(b, x, first);
  struct program *p = finish_build(b);
  CHECK(reads(p, "0\tabs.f64 c0 = c0\n"));
  program_free(p);
}

static void going_back_into_an_open_loop_goes_on_in_it(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_I64);
  const k_value u = build_load(b, x);
  const k_value i = build_loop(b, build_i64(b, 5), K_ALL);
  const k_value sum = build_carry(b, u, 1);
  const k_mark mark = build_mark(b);
  build_next(b, sum, build_binary(b, KO_MUL, sum, i));
  build_endloop(b, K_ALL);
  build_rewind(b, mark);
  build_next(b, sum, build_binary(b, KO_ADD, sum, i));
  build_endloop(b, K_ALL);
  build_store(b, x, sum);
  struct program *p = finish_build(b);
  int64_t rows[2] = {100, -7};
  void *columns[1] = {rows};
  k_failure failure;
  CHECK(run_rows(p, 2, columns, NULL, &failure) == K_OK);
  CHECK(rows[0] == 110 && rows[1] == 3);
  program_free(p);
}

static void carried_values_may_change_places(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_I64), y = build_column(b, KC_I64);
  const k_value one = build_load(b, x), other = build_load(b, y);
  build_loop(b, build_uniform(b, 0, KT_I64), K_ALL);
  const k_value u = build_carry(b, one, 1), w = build_carry(b, other, 1);
  build_next(b, u, w);
  build_next(b, w, build_binary(b, KO_ADD, u, w));  /* Fibonacci */
  build_endloop(b, K_ALL);
  build_store(b, x, u);
  build_store(b, y, w);
  struct program *p = finish_build(b);
  int64_t a[2] = {0, 0}, c[2] = {1, 2};
  void *columns[2] = {a, c};
  k_scalar rounds;
  rounds.i64 = 30;
  k_failure failure;
  CHECK(run_rows(p, 2, columns, &rounds, &failure) == K_OK);
  CHECK(a[0] == 832040 && c[0] == 1346269 && a[1] == 2 * 832040);
  program_free(p);
}

/* u, w = u + w, u: the first is overwritten before the second takes it over. */
static void what_is_carried_over_is_the_old_value(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_I64), y = build_column(b, KC_I64);
  const k_value one = build_load(b, x), other = build_load(b, y);
  build_loop(b, build_i64(b, 10), K_ALL);
  const k_value u = build_carry(b, one, 1), w = build_carry(b, other, 1);
  build_next(b, u, build_binary(b, KO_ADD, u, w));
  build_next(b, w, u);
  build_endloop(b, K_ALL);
  build_store(b, x, u);
  build_store(b, y, w);
  struct program *p = finish_build(b);
  int64_t a[1] = {1}, c[1] = {0};
  void *columns[2] = {a, c};
  k_failure failure;
  CHECK(run_rows(p, 1, columns, NULL, &failure) == K_OK);
  CHECK(a[0] == 89 && c[0] == 55);
  program_free(p);
}

static void what_can_fail_stays_in_its_loop(void) {
  for (int rounds = 0; rounds < 2; rounds++) {
    struct builder *b = fresh();
    const uint32_t x = build_column(b, KC_I64);
    const k_value u = build_load(b, x);
    build_loop(b, build_i64(b, rounds), K_ALL);
    build_binary(b, KO_IDIV, u, u);
    build_endloop(b, K_ALL);
    build_store(b, x, build_i64(b, 5));
    struct program *p = finish_build(b);
    int64_t rows[2] = {1, 0};
    void *columns[1] = {rows};
    k_failure f;
    CHECK(run_rows(p, 2, columns, NULL, &f) == (rounds == 0 ? K_OK : K_FAILED));
    CHECK(rows[0] == 5 && rows[1] == (rounds == 0 ? 5 : 0));
    CHECK(rounds == 0 || (f.row == 1 && f.error == KE_IDIV));
    program_free(p);
  }
}

/* x += 1; n = n // k: the row in which that fails keeps its x, rows before it do not. */
static void a_failing_row_stays_whole(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F32), n = build_column(b, KC_I16),
            k = build_column(b, KC_I8);
  build_store(b, x, build_binary(b, KO_ADD, build_load(b, x), build_f32(b, 1.0f)));
  build_at(b, K_ALL, 5);
  const k_value q = build_binary(b, KO_IDIV, build_load(b, n), build_load(b, k));
  build_at(b, K_ALL, 6);
  build_store(b, n, build_fit(b, KC_I16, q));
  struct program *p = finish_build(b);
  enum { ROWS = 1500, BAD = 1300 };
  static float xs[ROWS];
  static int16_t ns[ROWS];
  static int8_t ks[ROWS];
  for (int error = 0; error < 2; error++) {
    for (int i = 0; i < ROWS; i++) {
      xs[i] = 0.0f;
      ns[i] = -32768;
      ks[i] = 2;
    }
    ks[BAD] = error == 0 ? 0 : -1;  /* 32768 is out of range */
    ks[BAD + 1] = 0;
    void *columns[3] = {xs, ns, ks};
    k_failure f;
    CHECK(run_rows(p, ROWS, columns, NULL, &f) == K_FAILED);
    CHECK(f.row == BAD && f.error == (error == 0 ? KE_IDIV : KE_RANGE));
    CHECK(f.tag == (error == 0 ? 5u : 6u));
    for (int i = 0; i < ROWS; i++) {
      CHECK(xs[i] == (i < BAD ? 1.0f : 0.0f));
      CHECK(ns[i] == (i < BAD ? -16384 : -32768));
    }
  }
  program_free(p);
}

static void random_bits_are_philox(void) {
  /* from the known answers of Random123 */
  CHECK((uint64_t)k_random(0, 0, 0, 0) == 0xe169c58d6627e8d5);
  CHECK((uint64_t)k_random(-1, -1, -1, -1) == 0x41c83b0e408f276d);
  CHECK((uint64_t)k_random(0x299f31d0a4093822, 0x13198a2e, (int64_t)0x85a308d3243f6a88,
                           0x03707344) == 0x94fdccebd16cfe09);
  CHECK(k_random_unit(-1) == 1.0 - 0x1p-53 && k_random_unit(0) == 0.0);
  CHECK(k_random_range(-1, 1, 6) == 6 && k_random_range(0, 1, 6) == 1);
  CHECK(k_random_range(INT64_MIN, INT64_MIN, INT64_MAX) == 0);
}

static void instruction_sets_have_names(void) {
  for (int i = 0; i < K_ISAS; i++) CHECK(isa_named(isa_name((k_isa)i)) == i);
  CHECK(isa_named("mmx") == -1);
  CHECK(isa_supported(K_BASE) && isa_supported(isa_best()));
}

static void a_machine_without_room_refuses(void) {
  struct builder *b = fresh();
  const uint32_t x = build_column(b, KC_F64);
  build_store(b, x, build_f64(b, 2.0));
  struct program *p = finish_build(b);
  struct machine *m = machine_new(&test_memory, K_BASE);
  double row = 1.0;
  void *columns[1] = {&row};
  const k_run run = {1, columns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL};
  k_failure failure;
  CHECK(machine_run(m, p, &run, &failure) == K_EINVAL);
  CHECK(machine_reserve(m, p) == K_OK && machine_reserve(m, p) == K_OK);
  CHECK(machine_run(m, p, &run, &failure) == K_OK && row == 2.0);
  machine_free(m);
  program_free(p);
}

/* Building, reserving, running: K_OK or K_ENOMEM. */
static k_status all_of_it(void) {
  struct builder *b = builder_new(&test_memory);
  if (b == NULL) return K_ENOMEM;
  uint32_t columns[4];
  for (int i = 0; i < 4; i++) columns[i] = build_column(b, (k_column)(KC_F64 + i % 2));
  k_value x = build_load(b, columns[0]), n = build_load(b, columns[1]);
  build_at(b, K_ALL, 1);
  for (int i = 0; i < 200; i++) {
    const k_value c = build_binary(b, KO_LT, x, build_f64(b, i));
    x = build_select(b, c, build_unary(b, KO_SIN, build_binary(b, KO_ADD, x, x)), x);
    n = build_binary(b, KO_IDIV, n, build_i64(b, i));
  }
  build_store(b, columns[2], x);
  build_store(b, columns[3], n);
  struct program *p = NULL;
  k_status status = build_finish(b, &p);
  builder_free(b);
  if (status != K_OK) return status;
  struct machine *m = machine_new(&test_memory, K_BASE);
  status = m == NULL ? K_ENOMEM : machine_reserve(m, p);
  machine_free(m);
  program_free(p);
  return status;
}

static void without_memory_nothing_is_left_behind(void) {
  for (fails_on = 0; fails_on < 2; fails_on++) {
    k_status status = K_ENOMEM;
    long k = 0;
    while (status == K_ENOMEM && k < 200) {
      fail_at = ++k;
      status = all_of_it();
      CHECK(bytes_in_use == 0);
    }
    CHECK(status == K_OK && k > 8);
    fail_at = -1;
  }
  fails_on = 0;
}

static void too_much_is_a_limit(void) {
  struct builder *b = fresh();
  k_value sum = build_f64(b, 0);
  for (int i = 0; i < 300; i++) {
    const k_value x = build_load(b, build_column(b, KC_F64));
    sum = build_binary(b, KO_ADD, x, sum);
  }
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_ELIMIT && p == NULL);
  builder_free(b);
}

int main(void) {
  multiplication_and_addition_become_one_instruction_in_place();
  rows_that_a_run_is_not_for_keep_what_they_have();
  what_is_put_is_made_elsewhere();
  each_step_of_a_fused_instruction_rounds();
  equal_work_is_done_once_and_useless_work_never();
  registers_are_used_again();
  a_swap_needs_copies();
  what_does_not_depend_on_a_loop_is_done_before_it();
  work_of_few_rows_is_skipped();
  few_rows_do_a_loop_by_themselves();
  mistakes_of_the_front_end_are_refused();
  going_back_forgets();
  going_back_into_an_open_loop_goes_on_in_it();
  carried_values_may_change_places();
  what_is_carried_over_is_the_old_value();
  what_can_fail_stays_in_its_loop();
  a_failing_row_stays_whole();
  random_bits_are_philox();
  instruction_sets_have_names();
  a_machine_without_room_refuses();
  without_memory_nothing_is_left_behind();
  too_much_is_a_limit();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
