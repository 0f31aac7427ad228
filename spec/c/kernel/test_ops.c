/* Every operation on every type it takes, its operands varying and uniform, over all
** pairs of special values, equals the reference bit for bit on every instruction set; and
** fails in the first row in which it should. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

static k_isa isa;

/* Loops have a short way for blocks of tame values only: those are tried by themselves
** too. */
static int tame;

static int is_tame(value v) {
  if (v.type == KT_BOOL) return 1;
  if (v.type == KT_I64)
    return v.k.i64 > -((int64_t)1 << 51) && v.k.i64 < (int64_t)1 << 51;
  return fabs(real(v)) < 1e5;
}

/* The special values of a type that are taken, found once for each kind of run. */
static const value *pools(k_type t, int *count) {
  enum { MOST = 128 };
  static value kept[2][KT_I64 + 1][MOST];
  static int counts[2][KT_I64 + 1];
  value *values = kept[tame][t];
  if (counts[tame][t] == 0)
    for (int i = 0; i < special_count(t); i++) {
      assert(counts[tame][t] < MOST);
      if (!tame || is_tame(special(t, i))) values[counts[tame][t]++] = special(t, i);
    }
  *count = counts[tame][t];
  return values;
}

static int pool_count(k_type t) {
  int count;
  pools(t, &count);
  return count;
}

static value pool(k_type t, int index) {
  int count;
  return pools(t, &count)[index];
}

/* A program under test: operands from columns 0 and 1 or uniforms 0 and 1, the result in
** column 2, rows that may fail in column 3. */
typedef struct test_trial {
  const char *name;
  int op;              /* k_op; above: see make */
  k_type x, y, result;
  int uniform_x, uniform_y;
} test_trial;

/* T_NEGATED: x by a comparison with y, negated or not; T_CHOSEN: x or y by it. */
enum {
  COMPARISONS = KO_GE - KO_EQ + 1,
  T_CONVERT = KO_COUNT,
  T_SELECT,
  T_UNIT,
  T_NEGATED,
  T_CHOSEN = T_NEGATED + COMPARISONS
};

/* The comparison of such a trial. */
static k_op comparison_of(const test_trial *t) {
  return (k_op)(KO_EQ + (t->op - T_NEGATED) % COMPARISONS);
}

static k_column column_for(k_type t) {
  return t == KT_BOOL ? KC_BOOL : t == KT_F32 ? KC_F32 : t == KT_F64 ? KC_F64 : KC_I64;
}

static k_value operand(struct builder *b, uint32_t i, k_type t, int uniform) {
  return uniform ? build_uniform(b, i, t) : build_load(b, i);
}

static k_value result_of(struct builder *b, const test_trial *t) {
  const k_value x = operand(b, 0, t->x, t->uniform_x);
  if (t->op == T_CONVERT) return build_convert(b, t->result, x);
  if (t->op == T_UNIT) return build_random_unit(b, x);
  if (t->op < KO_ADD) return build_unary(b, (k_op)t->op, x);
  const k_value y = operand(b, 1, t->y, t->uniform_y);
  if (t->op == T_SELECT) return build_select(b, build_load(b, 4), x, y);
  if (t->op >= T_NEGATED) {
    const k_value mask = build_binary(b, comparison_of(t), x, y);
    if (t->op >= T_CHOSEN) return build_select(b, mask, x, y);
    return build_select(b, mask, build_unary(b, KO_NEG, x), x);
  }
  return build_binary(b, (k_op)t->op, x, y);
}

static struct program *make(const test_trial *t) {
  struct builder *b = builder_new(&test_memory);
  build_column(b, column_for(t->x));
  build_column(b, column_for(t->y));
  build_column(b, column_for(t->result));
  build_column(b, KC_BOOL);
  build_column(b, KC_BOOL);
  build_at(b, build_load(b, 3), 77);
  build_store(b, 2, result_of(b, t));
  struct program *p = NULL;
  if (!CHECK(build_finish(b, &p) == K_OK)) fprintf(stderr, "  in %s\n", t->name);
  builder_free(b);
  return p;
}

static value expected(const test_trial *t, value x, value y, int mask, k_error *error) {
  *error = KE_NONE;
  if (t->op == T_CONVERT) return reference_convert(t->result, x, error, KE_INTEGER);
  if (t->op == T_SELECT) return mask ? x : y;
  if (t->op == T_UNIT) return of_f64((double)((uint64_t)x.k.i64 >> 11) * 0x1p-53);
  if (t->op >= T_NEGATED) {
    const bool holds = reference_binary(comparison_of(t), x, y, error).k.b;
    if (t->op >= T_CHOSEN) return holds ? x : y;
    return holds ? reference_unary(KO_NEG, x, error) : x;
  }
  if (t->op < KO_ADD) return reference_unary((k_op)t->op, x, error);
  return reference_binary((k_op)t->op, x, y, error);
}

typedef struct test_table {
  size_t rows;
  k_column types[5];
  void *columns[5];
  k_scalar uniforms[2];
} test_table;

static void table_new(test_table *table, const test_trial *t, size_t rows) {
  const k_column types[5] = {column_for(t->x), column_for(t->y), column_for(t->result),
                             KC_BOOL, KC_BOOL};
  table->rows = rows;
  memcpy(table->types, types, sizeof types);
  for (int c = 0; c < 5; c++) table->columns[c] = column_new(types[c], rows);
}

static void table_free(test_table *table) {
  for (int c = 0; c < 5; c++) {
    CHECK(column_intact(table->types[c], table->columns[c], table->rows));
    column_free(table->columns[c]);
  }
}

static k_status run(const struct program *p, const test_table *table, k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(machine_reserve(m, p) == K_OK);
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = table->rows;
  r.columns = table->columns;
  r.uniforms = table->uniforms;
  const k_status status = machine_run(m, p, &r, failure);
  machine_free(m);
  return status;
}

static void complain(const test_trial *t, value x, value y, value got, value want) {
  failures++;
  fprintf(stderr, "%s %s, types %u %u, uniform %d %d: ", isa_name(isa), t->name, t->x,
          t->y, t->uniform_x, t->uniform_y);
  print_value(x);
  fprintf(stderr, ", ");
  print_value(y);
  fprintf(stderr, " gave ");
  print_value(got);
  fprintf(stderr, ", not ");
  print_value(want);
  fprintf(stderr, "\n");
}

/* Rows are the pairs of what varies, each thrice: by the mask of selects. */
static size_t count_y(const test_trial *t) {
  return t->uniform_y ? 1 : (size_t)pool_count(t->y);
}

static size_t count_rows(const test_trial *t) {
  return 3 * count_y(t) * (t->uniform_x ? 1 : (size_t)pool_count(t->x));
}

static value x_of(const test_trial *t, size_t row, value ux) {
  return t->uniform_x ? ux : pool(t->x, (int)(row / 3 / count_y(t)));
}

static value y_of(const test_trial *t, size_t row, value uy) {
  return t->uniform_y ? uy : pool(t->y, (int)(row / 3 % count_y(t)));
}

/* Only rows that do not fail are in the mask; then all are, and the first has to fail. */
static void try_pairs(const test_trial *t, const struct program *p, value ux, value uy) {
  test_table table;
  const size_t rows = count_rows(t);
  table_new(&table, t, rows);
  table.uniforms[0] = ux.k;
  table.uniforms[1] = uy.k;
  size_t first_bad = rows;
  k_error first_error = KE_NONE, error;
  for (size_t i = 0; i < rows; i++) {
    const value x = x_of(t, i, ux), y = y_of(t, i, uy);
    column_set(table.types[0], table.columns[0], i, x);
    column_set(table.types[1], table.columns[1], i, y);
    column_set(KC_BOOL, table.columns[4], i, of_bool(i % 3 == 0));
    expected(t, x, y, i % 3 == 0, &error);
    column_set(KC_BOOL, table.columns[3], i, of_bool(error == KE_NONE));
    if (error != KE_NONE && first_bad == rows) {
      first_bad = i;
      first_error = error;
    }
  }
  k_failure failure;
  CHECK(run(p, &table, &failure) == K_OK);
  for (size_t i = 0; i < rows; i++) {
    const value x = x_of(t, i, ux), y = y_of(t, i, uy);
    const value want = expected(t, x, y, i % 3 == 0, &error);
    const value got = column_get(table.types[2], table.columns[2], i);
    if (!equal(got, want)) complain(t, x, y, got, want);
  }
  if (first_bad < rows) {
    memset(table.columns[3], 1, rows);
    memset(table.columns[2], 0, rows * size_of_column(table.types[2]));
    CHECK(run(p, &table, &failure) == K_FAILED);
    CHECK(failure.row == first_bad && failure.error == first_error && failure.tag == 77);
    for (size_t i = 0; i < rows; i++) {
      value want = expected(t, x_of(t, i, ux), y_of(t, i, uy), i % 3 == 0, &error);
      if (i >= first_bad) memset(&want.k, 0, sizeof want.k);
      CHECK(equal(column_get(table.types[2], table.columns[2], i), want));
    }
  }
  table_free(&table);
}

static void try_kinds(test_trial t) {
  for (int kind = 0; kind < 4; kind++) {
    t.uniform_x = kind & 1;
    t.uniform_y = kind >> 1;
    if (t.uniform_y && t.op < KO_ADD) continue;
    struct program *p = make(&t);
    if (p == NULL) return;
    const int nx = t.uniform_x ? pool_count(t.x) : 1;
    const int ny = t.uniform_y ? pool_count(t.y) : 1;
    for (int i = 0; i < nx; i++)
      for (int j = 0; j < ny; j++)
        try_pairs(&t, p, pool(t.x, i), pool(t.y, j));
    program_free(p);
  }
}

static const char *op_name(int op) {
  static const char *const names[] = {
#define OPERATION(name, operands, types, floats, others, cost) #name,
#include "kernel/operations.def"
  };
  return names[op];
}

static void try_op(int op, k_type t) {
  test_trial trial = {op_name(op), op, t, t, t, 0, 0};
  if (is_relation((k_op)op) || op == KO_ULT) trial.result = KT_BOOL;
  if (op == KO_FLOOR || op == KO_CEIL || op == KO_BELOW) trial.result = KT_I64;
  if (op < KO_ADD) trial.y = KT_BOOL;  /* fewer rows */
  try_kinds(trial);
}

static void try_all(void) {
  for (int op = 0; op < KO_COUNT; op++)
    for (int t = KT_BOOL; t <= KT_I64; t++)
      if (takes_type((k_op)op, (k_type)t)) try_op(op, (k_type)t);
  for (int op = KO_EQ; op <= KO_GE; op++)
    for (int pair = 0; pair < 9; pair++) {
      const k_type x = (k_type)(KT_F32 + pair / 3), y = (k_type)(KT_F32 + pair % 3);
      const test_trial mixed = {op_name(op), op, x, y, KT_BOOL, 0, 0};
      if (x != y) try_kinds(mixed);
    }
  for (int from = KT_F32; from <= KT_I64; from++)
    for (int to = KT_F32; to <= KT_I64; to++) {
      const test_trial convert = {"convert", T_CONVERT, (k_type)from, KT_BOOL,
                                  (k_type)to, 0, 0};
      try_kinds(convert);
    }
  for (int t = KT_BOOL; t <= KT_I64; t++) {
    const test_trial select = {"select", T_SELECT, (k_type)t, (k_type)t, (k_type)t, 0, 0};
    try_kinds(select);
  }
  for (int op = T_NEGATED; op < T_CHOSEN + COMPARISONS; op++)
    for (int t = KT_F32; t <= KT_I64; t++) {
      const char *name = op < T_CHOSEN ? "negated" : "chosen";
      const test_trial joined = {name, op, (k_type)t, (k_type)t, (k_type)t, 0, 0};
      try_kinds(joined);
    }
  const test_trial unit = {"unit", T_UNIT, KT_I64, KT_BOOL, KT_F64, 0, 0};
  try_kinds(unit);
}

/* Constants may be rewritten by the builder: comparisons of each type with constants of the
** others. */
static void try_constant(int op, k_type varying, value constant) {
  const k_column columns[2] = {column_for(varying), KC_BOOL};
  const int n = special_count(varying);
  struct builder *b = builder_new(&test_memory);
  const uint32_t in = build_column(b, columns[0]), out = build_column(b, columns[1]);
  const k_value x = build_load(b, in), c = build_constant(b, constant.type, constant.k);
  build_store(b, out, build_binary(b, (k_op)op, x, c));
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  void *data[2] = {column_new(columns[0], (size_t)n), column_new(columns[1], (size_t)n)};
  for (int i = 0; i < n; i++) column_set(columns[0], data[0], (size_t)i, special(varying, i));
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(machine_reserve(m, p) == K_OK);
  const k_run r = {(size_t)n, data, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                    NULL, NULL};
  k_failure failure;
  CHECK(machine_run(m, p, &r, &failure) == K_OK);
  for (int i = 0; i < n; i++) {
    k_error error;
    const value want = reference_binary((k_op)op, special(varying, i), constant, &error);
    const value got = column_get(columns[1], data[1], (size_t)i);
    const test_trial t = {op_name(op), op, varying, constant.type, KT_BOOL, 0, 1};
    if (!equal(got, want)) complain(&t, special(varying, i), constant, got, want);
  }
  column_free(data[0]);
  column_free(data[1]);
  machine_free(m);
  program_free(p);
}

static void try_constant_comparisons(void) {
  for (int op = KO_EQ; op <= KO_GE; op++)
    for (int pair = 0; pair < 9; pair++) {
      const k_type x = (k_type)(KT_F32 + pair / 3), y = (k_type)(KT_F32 + pair % 3);
      for (int i = 0; x != y && i < special_count(y); i++) try_constant(op, x, special(y, i));
    }
}

/* Quotients beside whole numbers, as large as loops still take the short way for: `rows` of them by
** one divisor, of any size. */
static void try_multiples(int op, const struct program *p, struct machine *m) {
  enum { ROWS = 96 };
  const int64_t edge = (int64_t)1 << 51;
  const unsigned bits = (unsigned)(random_bits() % 51);
  int64_t y = (int64_t)(random_bits() & (((uint64_t)1 << bits) - 1)) + 1, x[ROWS], got[ROWS];
  for (int i = 0; i < ROWS; i++) {
    const int64_t multiple = (int64_t)(random_bits() % (uint64_t)(edge / y));
    x[i] = multiple * y + i % 3 - 1;
    if (i & 1) x[i] = -x[i];
  }
  if (random_bits() & 1) y = -y;
  void *data[2] = {x, got};
  const k_scalar uniform = {.i64 = y};
  const k_run r = {.rows = ROWS, .columns = data, .uniforms = &uniform};
  k_failure failure;
  CHECK(machine_run(m, p, &r, &failure) == K_OK);
  for (int i = 0; i < ROWS; i++) {
    k_error error;
    const value a = {KT_I64, {.i64 = x[i]}}, b = {KT_I64, {.i64 = y}};
    const value c = {KT_I64, {.i64 = got[i]}};
    const value want = reference_binary((k_op)op, a, b, &error);
    const test_trial t = {op_name(op), op, KT_I64, KT_I64, KT_I64, 0, 1};
    if (!equal(c, want)) complain(&t, a, b, c, want);
  }
}

static void try_divisors(int op) {
  struct builder *b = builder_new(&test_memory);
  const uint32_t in = build_column(b, KC_I64), out = build_column(b, KC_I64);
  build_at(b, K_ALL, 0);
  const k_value x = build_load(b, in), y = build_uniform(b, 0, KT_I64);
  build_store(b, out, build_binary(b, (k_op)op, x, y));
  struct program *p = NULL;
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(machine_reserve(m, p) == K_OK);
  for (int i = 0; i < 2000; i++) try_multiples(op, p, m);
  machine_free(m);
  program_free(p);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (tame = 0; tame < 2; tame++) try_all();
    try_constant_comparisons();
    try_divisors(KO_IDIV);
    try_divisors(KO_MOD);
  }
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
