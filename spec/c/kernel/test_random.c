/* Random programs, built as a front end builds them (locals, fields, branches under masks,
** loops, breaks, returns), do on every instruction set what a plain evaluation row by row
** does: columns, marks, totals, and the first failure. Arguments: programs, first seed. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_model.h"

enum { LOCALS = 8 };

/* What is being written: a scope of locals and fields under a mask. */
typedef struct author {
  model m;
  int locals[LOCALS], nlocals;
  int fields[MODEL_COLUMNS], dirty[MODEL_COLUMNS];
  int mask;                      /* the rows that are here */
  int uniforms[16], nuniforms;   /* steps of uniform values */
  int fails;                     /* may it use what can fail? */
  int depth, budget;
  int calls;
} author;

static int expression (author *a, k_type type, int depth);

/* {=====================================================================
** Expressions
** ====================================================================== */

static int leaf (author *a, k_type type) {
  for (int tries = 0; tries < 12; tries++) {
    const int how = random_below(5);
    if (how <= 1) {
      const int i = random_below(a->nlocals);
      if (m_type(&a->m, a->locals[i]) == type) return a->locals[i];
    } else if (how <= 3) {
      const int c = random_below(a->m.ncolumns);
      if (type_of_column(a->m.columns[c]) != type) continue;
      if (a->fields[c] < 0) a->fields[c] = m_load(&a->m, c);
      return a->fields[c];
    } else if (a->nuniforms > 0) {
      const int u = a->uniforms[random_below(a->nuniforms)];
      if (m_type(&a->m, u) == type) return u;
    }
  }
  return m_value(&a->m, random_value(type));
}

static int of_any_type (author *a, int depth) {
  return expression(a, (k_type)(KT_F32 + random_below(3)), depth);
}

static int condition (author *a, int depth) {
  static const k_op relations[] = {KO_EQ, KO_NE, KO_LT, KO_LE, KO_GT, KO_GE};
  static const k_op logic[] = {KO_AND, KO_OR, KO_XOR, KO_ANDN, KO_EQ, KO_NE};
  const int how = random_below(8);
  if (depth <= 0 || how == 0) return leaf(a, KT_BOOL);
  if (how == 1) return m_unary(&a->m, KO_NOT, condition(a, depth - 1));
  if (how == 2) {
    const int x = condition(a, depth - 1);
    return m_binary(&a->m, logic[random_below(6)], x, condition(a, depth - 1));
  }
  const int x = of_any_type(a, depth - 1);
  if (how == 3 && m_type(&a->m, x) != KT_F32) {
    const k_type other = m_type(&a->m, x) == KT_I64 ? KT_F64 : KT_I64;
    return m_binary(&a->m, relations[random_below(6)], x, expression(a, other, depth - 1));
  }
  const int y = expression(a, m_type(&a->m, x), depth - 1);
  if (m_type(&a->m, x) == KT_I64 && random_below(6) == 0)
    return m_binary(&a->m, KO_ULT, x, y);
  return m_binary(&a->m, relations[random_below(6)], x, y);
}

static int random_number (author *a) {
  const int entity = a->m.entities >= 0 ? leaf(a, KT_I64) : m_value(&a->m, of_i64(9));
  const int call = random_below(2) ? leaf(a, KT_I64) : m_value(&a->m, of_i64(a->calls++));
  return m_random(&a->m, entity, call, m_value(&a->m, of_i64(0x123456789abcdef)),
                  m_value(&a->m, of_i64(5)));
}

static int integer (author *a, int depth) {
  static const k_op safe[] = {KO_ADD, KO_SUB, KO_MUL, KO_MIN, KO_MAX, KO_BAND, KO_BOR, KO_BXOR,
                              KO_SHL, KO_SHR};
  static const k_op failing[] = {KO_IDIV, KO_MOD, KO_FMOD};
  const int how = random_below(a->fails ? 14 : 10);
  if (how < 6) {
    const int x = expression(a, KT_I64, depth - 1);
    return m_binary(&a->m, safe[random_below(10)], x, expression(a, KT_I64, depth - 1));
  }
  if (how == 6) return m_unary(&a->m, KO_NEG, expression(a, KT_I64, depth - 1));
  if (how == 7) return m_unary(&a->m, KO_BNOT, expression(a, KT_I64, depth - 1));
  if (how == 8) return m_unary(&a->m, KO_ABS, expression(a, KT_I64, depth - 1));
  if (how == 9) return random_number(a);
  const k_type real = random_below(2) ? KT_F32 : KT_F64;
  const int x = expression(a, how == 13 ? real : KT_I64, depth - 1);
  const int y = how < 13 ? expression(a, KT_I64, depth - 1) : 0;
  const int bits = how == 12 ? random_number(a) : 0;
  m_at(&a->m, a->mask);
  if (how < 12) return m_binary(&a->m, failing[random_below(3)], x, y);
  if (how == 12) return m_interval(&a->m, bits, x, y);
  switch (random_below(3)) {
    case 0: return m_convert(&a->m, KT_I64, x);
    case 1: return m_unary(&a->m, KO_CEIL, x);
    default: return m_unary(&a->m, KO_FLOOR, x);
  }
}

static int real_number (author *a, k_type type, int depth) {
  static const k_op unary[] = {KO_NEG, KO_ABS, KO_SQRT, KO_TRUNC, KO_EXP, KO_LOG, KO_SIN, KO_COS,
                               KO_NEG, KO_SQRT, KO_ATAN, KO_TAN};
  static const k_op binary[] = {KO_ADD, KO_SUB, KO_MUL, KO_ADD, KO_SUB, KO_MUL, KO_DIV, KO_MIN,
                                KO_MAX, KO_IDIV, KO_MOD, KO_POW, KO_FMOD, KO_ATAN2};
  const int how = random_below(12);
  if (how < 8) {
    const int x = expression(a, type, depth - 1);
    return m_binary(&a->m, binary[random_below(14)], x, expression(a, type, depth - 1));
  }
  if (how < 10) return m_unary(&a->m, unary[random_below(12)], expression(a, type, depth - 1));
  if (how == 10 && type == KT_F64) return m_unit(&a->m, random_number(a));
  const k_type from = random_below(2) ? KT_I64 : type == KT_F32 ? KT_F64 : KT_F32;
  return m_convert(&a->m, type, expression(a, from, depth - 1));
}

static int expression (author *a, k_type type, int depth) {
  a->budget--;
  if (depth <= 0 || a->budget < 0 || random_below(4) == 0) return leaf(a, type);
  if (random_below(12) == 0) {
    const int mask = condition(a, depth - 1), x = expression(a, type, depth - 1);
    return m_select(&a->m, mask, x, expression(a, type, depth - 1));
  }
  if (type == KT_BOOL) return condition(a, depth);
  return type == KT_I64 ? integer(a, depth) : real_number(a, type, depth);
}

/* }===================================================================== */

/* {=====================================================================
** Statements
** ====================================================================== */

static void block (author *a, int statements);

static void assign_local (author *a) {
  const int i = random_below(a->nlocals);
  const int x = expression(a, m_type(&a->m, a->locals[i]), 3);
  a->locals[i] = m_select(&a->m, a->mask, x, a->locals[i]);
}

static void assign_field (author *a) {
  const int c = random_below(a->m.ncolumns);
  if (c == a->m.entities) return;
  const k_type type = type_of_column(a->m.columns[c]);
  const int narrow = type == KT_I64 && a->m.columns[c] != KC_I64 && a->m.columns[c] != KC_ENTITY;
  if (narrow && !a->fails) return;
  if (a->fields[c] < 0) a->fields[c] = m_load(&a->m, c);
  k_type from = type;
  if (type == KT_F32 || (type == KT_I64 && a->fails && random_below(4) == 0)) from = KT_F64;
  int x = narrow ? m_binary(&a->m, KO_BAND, expression(a, KT_I64, 2),
                            m_value(&a->m, of_i64(127)))
                 : expression(a, from, 3);
  if (narrow && random_below(6) == 0) x = leaf(a, KT_I64);
  m_at(&a->m, a->mask);
  x = m_fit(&a->m, a->m.columns[c], x);
  a->fields[c] = m_select(&a->m, a->mask, x, a->fields[c]);
  a->dirty[c] = 1;
}

static void branch (author *a) {
  const int outer = a->mask, c = condition(a, 2);
  const int inside = a->mask = m_and(&a->m, outer, c);
  block(a, 1 + random_below(3));
  int left = a->mask;  /* what came out of the branch */
  if (random_below(6) == 0) left = m_value(&a->m, of_bool(0));  /* none: it returned */
  a->mask = m_andn(&a->m, outer, c);
  if (random_below(2)) block(a, 1 + random_below(2));
  else if (left == inside) left = a->mask = outer;
  if (left != a->mask) a->mask = m_or(&a->m, left, a->mask);
}

/* Every local and field is carried; rows leave by `break`. */
static void loop (author *a) {
  const int outer = a->mask, uniforms = a->nuniforms;
  const int breaks = random_below(2), starts_masked = outer >= 0 || breaks;
  for (int c = 0; c < a->m.ncolumns; c++)
    if (a->fields[c] < 0) a->fields[c] = m_load(&a->m, c);
  const int first = outer >= 0 ? outer : m_value(&a->m, of_bool(1));
  const int count = a->nuniforms > 0 && random_below(3) == 0
                        ? m_binary(&a->m, KO_BAND, leaf(a, KT_I64), m_value(&a->m, of_i64(3)))
                        : m_value(&a->m, of_i64(random_below(5)));
  if (build_varies(a->m.b, a->m.steps[count].v)) return;
  const int start = m_value(&a->m, random_value(KT_F64));
  const int round = m_loop(&a->m, count, starts_masked ? first : -1);
  int carried[LOCALS], fields[MODEL_COLUMNS];
  for (int i = 0; i < a->nlocals; i++)
    a->locals[i] = carried[i] = m_carry(&a->m, a->locals[i], 1);
  for (int c = 0; c < a->m.ncolumns; c++)
    if (c != a->m.entities) a->fields[c] = fields[c] = m_carry(&a->m, a->fields[c], 1);
  const int steady = m_carry(&a->m, start, 0);
  const int live = starts_masked ? m_carry(&a->m, first, 1) : -1;
  a->uniforms[a->nuniforms++] = round;
  a->uniforms[a->nuniforms++] = steady;
  a->mask = live;
  a->depth++;
  block(a, 1 + random_below(3));
  if (breaks) a->mask = m_andn(&a->m, a->mask, condition(a, 2));
  for (int i = 0; i < a->nlocals; i++) m_next(&a->m, carried[i], a->locals[i]);
  for (int c = 0; c < a->m.ncolumns; c++)
    if (c != a->m.entities) m_next(&a->m, fields[c], a->fields[c]);
  m_next(&a->m, steady, m_binary(&a->m, KO_ADD, steady, m_convert(&a->m, KT_F64, round)));
  const int again = a->mask;
  if (starts_masked) m_next(&a->m, live, again);
  m_endloop(&a->m, starts_masked ? again : -1);
  a->depth--;
  for (int i = 0; i < a->nlocals; i++) a->locals[i] = carried[i];
  for (int c = 0; c < a->m.ncolumns; c++)
    if (c != a->m.entities) a->fields[c] = fields[c];
  a->nuniforms = uniforms;
  a->mask = outer;
}

static void statement (author *a) {
  if (a->budget < 0) return;
  switch (random_below(10)) {
    case 0: case 1: case 2: assign_local(a); break;
    case 3: case 4: case 5: assign_field(a); break;
    case 6: case 7: if (a->depth < 4) branch(a); break;
    case 8: if (a->depth < 2 && a->nuniforms < 13) loop(a); break;
    default: m_emit(&a->m, random_below(MODEL_BITMAPS), a->mask);
  }
}

static void block (author *a, int statements) {
  a->depth += 1;
  while (statements-- > 0) statement(a);
  a->depth -= 1;
}

static void declare (author *a) {
  model *m = &a->m;
  m->ncolumns = 2 + random_below(MODEL_COLUMNS - 2);
  m->entities = random_below(2) ? 0 : -1;
  for (int c = 0; c < m->ncolumns; c++) {
    const int how = random_below(4);
    m->columns[c] = c == m->entities ? KC_ENTITY
                    : how < 2 ? KC_F32 : (k_column)random_below(KC_COUNT);
    build_column(m->b, m->columns[c]);
    a->fields[c] = -1;
  }
  for (int i = 0; i < MODEL_UNIFORMS; i++) {
    m->uniforms[i] = random_value((k_type)random_below(4));
    a->uniforms[a->nuniforms++] = m_uniform(m, i);
  }
  m->nuniforms = MODEL_UNIFORMS;
  a->nlocals = 2 + random_below(LOCALS - 2);
  for (int i = 0; i < a->nlocals; i++)
    a->locals[i] = m_value(m, random_value((k_type)random_below(4)));
}

static void reduce (author *a, int index) {
  const k_type type = random_below(2) ? KT_F64 : KT_I64;
  a->m.totals[index] = (k_reduce)random_below(3);
  a->m.total_types[index] = type;
  const int x = expression(a, type, 2);
  m_reduce(&a->m, index, x, random_below(2) ? -1 : condition(a, 2));
}

static void write_program (author *a) {
  memset(a, 0, sizeof *a);
  a->m.b = builder_new(&test_memory);
  a->m.loop = a->m.guard = a->mask = -1;
  a->fails = random_below(3) == 0;
  a->budget = 20 + random_below(200);
  declare(a);
  block(a, 2 + random_below(8));
  a->mask = -1;
  m_at(&a->m, -1);
  for (int c = 0; c < a->m.ncolumns; c++)
    if (a->dirty[c]) m_store(&a->m, c, a->fields[c]);
  for (int i = 0; i < MODEL_BITMAPS; i++) m_emit(&a->m, i, leaf(a, KT_BOOL));
  for (int i = 0; i < MODEL_TOTALS; i++) reduce(a, i);
}

/* }===================================================================== */

/* {=====================================================================
** Running and comparing
** ====================================================================== */

enum { MOST_ROWS = 2600 };

typedef struct world {
  size_t rows;
  void *before[MODEL_COLUMNS], *columns[MODEL_COLUMNS];
  uint64_t marks[MODEL_BITMAPS][MOST_ROWS / 64 + 2];
  uint64_t *bitmaps[MODEL_BITMAPS];
  k_total totals[MODEL_TOTALS];
} world;

static void resolve (void *ud, int64_t *ids, size_t n) {
  (void)ud;
  for (size_t i = 0; i < n; i++) ids[i] = living(ids[i]);
}

static void world_new (world *w, const model *m) {
  static const int sizes[] = {1, 2, 7, 16, 63, 64, 65, 100, 255, 256, 300, 511, 513, 1024, 1100,
                              2500};
  w->rows = (size_t)sizes[random_below(random_below(4) ? 10 : COUNT(sizes))];
  for (int c = 0; c < m->ncolumns; c++) {
    w->before[c] = column_new(m->columns[c], w->rows);
    w->columns[c] = column_new(m->columns[c], w->rows);
    for (size_t i = 0; i < w->rows; i++)
      column_set(m->columns[c], w->before[c], i,
                 c == m->entities ? of_i64((int64_t)i + 65536) : random_for_column(m->columns[c]));
  }
  for (int i = 0; i < MODEL_BITMAPS; i++) w->bitmaps[i] = w->marks[i];
}

static void world_free (world *w, const model *m) {
  for (int c = 0; c < m->ncolumns; c++) {
    CHECK(column_intact(m->columns[c], w->columns[c], w->rows));
    free(w->before[c]);
    free(w->columns[c]);
  }
}

static void world_reset (world *w, const model *m, size_t rows) {
  for (int c = 0; c < m->ncolumns; c++)
    memcpy(w->columns[c], w->before[c], w->rows * size_of_column(m->columns[c]));
  memset(w->marks, 0xff, sizeof w->marks);
  for (int i = 0; i < MODEL_BITMAPS; i++) w->marks[i][(rows + 63) / 64] = 0x77;
  for (int i = 0; i < MODEL_TOTALS; i++) {
    memset(&w->totals[i], 0, sizeof w->totals[i]);
  }
}

static k_status run_on (world *w, const model *m, const program *p, k_isa isa, size_t rows,
                        k_failure *failure) {
  k_scalar uniforms[MODEL_UNIFORMS];
  for (int i = 0; i < m->nuniforms; i++) uniforms[i] = m->uniforms[i].k;
  machine *machine = machine_new(&test_memory, isa);
  CHECK(machine_reserve(machine, p) == K_OK);
  k_run run;
  memset(&run, 0, sizeof run);
  run.rows = rows;
  run.columns = w->columns;
  run.uniforms = uniforms;
  run.bitmaps = w->bitmaps;
  run.totals = w->totals;
  run.live = resolve;
  const k_status status = machine_run(machine, p, &run, failure);
  machine_free(machine);
  return status;
}

static int same_rows (const world *w, const model *m, const row_result *results, size_t rows) {
  for (int c = 0; c < m->ncolumns; c++)
    for (size_t i = 0; i < w->rows; i++) {
      const value old = column_get(m->columns[c], w->before[c], i);
      const value got = column_get(m->columns[c], w->columns[c], i);
      const value want = i < rows && results[i].is_stored[c] ? results[i].stored[c] : old;
      if (equal(got, want)) continue;
      fprintf(stderr, "column %d row %zu is ", c, i);
      print_value(got);
      fprintf(stderr, ", not ");
      print_value(want);
      fprintf(stderr, "\n");
      return 0;
    }
  for (int b = 0; b < MODEL_BITMAPS; b++)
    for (size_t i = 0; i < (w->rows + 63) / 64 * 64; i++) {
      const int bit = (int)(w->marks[b][i / 64] >> (i % 64) & 1);
      if (i / 64 * 64 < rows && bit != (i < rows && results[i].marked[b])) {
        fprintf(stderr, "bit %d of row %zu is %d\n", b, i, bit);
        return 0;
      }
    }
  return 1;
}

/* By the documented order, written again. */
static k_total expected_total (const model *m, const row_result *results, size_t rows, int t) {
  k_total total = {0, {0}};
  const k_type type = m->total_types[t];
  double sums[16] = {0}, best = (double)NAN;
  uint64_t integers[16] = {0};
  int64_t best_integer = 0;
  int any = 0;
  for (size_t i = 0; i < rows; i++) {
    if (!results[i].joins[t]) continue;
    total.rows++;
    const k_scalar k = results[i].total[t].k;
    sums[i % 16] += type == KT_F64 ? k.f64 : 0;
    integers[i % 16] += (uint64_t)k.i64;
    const int less = m->totals[t] == KR_MIN;
    if (type == KT_I64) {
      if (!any || (less ? k.i64 < best_integer : k.i64 > best_integer)) best_integer = k.i64;
    } else if (!isnan(k.f64)) {
      const int beats = less ? k.f64 < best || (k.f64 == best && signbit(k.f64))
                             : k.f64 > best || (k.f64 == best && !signbit(k.f64));
      if (isnan(best) || beats) best = k.f64;
    }
    any = 1;
  }
  for (int half = 8; half > 0; half /= 2)
    for (int j = 0; j < half; j++) {
      sums[j] += sums[j + half];
      integers[j] += integers[j + half];
    }
  if (total.rows == 0) return total;
  if (m->totals[t] == KR_SUM && type == KT_F64) total.value.f64 = sums[0];
  else if (m->totals[t] == KR_SUM) total.value.i64 = (int64_t)integers[0];
  else if (type == KT_F64) total.value.f64 = best;
  else total.value.i64 = best_integer;
  return total;
}

static int same_totals (const world *w, const model *m, const row_result *results, size_t rows) {
  for (int t = 0; t < MODEL_TOTALS; t++) {
    const k_total want = expected_total(m, results, rows, t);
    const value x = {m->total_types[t], want.value}, y = {m->total_types[t], w->totals[t].value};
    if (want.rows == w->totals[t].rows && (want.rows == 0 || equal(x, y))) continue;
    fprintf(stderr, "total %d of %d rows is ", t, (int)w->totals[t].rows);
    print_value(y);
    fprintf(stderr, ", not of %d ", (int)want.rows);
    print_value(x);
    fprintf(stderr, "\n");
    return 0;
  }
  return 1;
}

static int same_commands (const world *w, const row_result *results, size_t rows) {
  k_cursor at = {0, 0};
  size_t row;
  int index;
  for (size_t i = 0; i < rows; i++)
    for (int b = 0; b < MODEL_BITMAPS; b++) {
      if (!results[i].marked[b]) continue;
      if (!k_commands_next(w->bitmaps, MODEL_BITMAPS, rows, &at, &row, &index)) return 0;
      if (row != i || index != b) return 0;
    }
  return !k_commands_next(w->bitmaps, MODEL_BITMAPS, rows, &at, &row, &index);
}

/* Runs all rows; if a row fails, also just the rows before it. */
static int compare (world *w, const model *m, const program *p, const row_result *results) {
  size_t bad = 0;
  while (bad < w->rows && results[bad].error == KE_NONE) bad++;
  for (int isa = K_BASE; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    k_failure f;
    world_reset(w, m, w->rows);
    const k_status status = run_on(w, m, p, (k_isa)isa, w->rows, &f);
    if (!CHECK(status == (bad < w->rows ? K_FAILED : K_OK))) return 0;
    if (bad < w->rows) {
      if (!CHECK(f.row == bad && f.tag == results[bad].tag && f.error == results[bad].error))
        return 0;
      if (!CHECK(same_rows(w, m, results, bad))) return 0;
      for (int t = 0; t < MODEL_TOTALS; t++)
        if (!CHECK(w->totals[t].rows == 0)) return 0;
      world_reset(w, m, bad);
      if (!CHECK(run_on(w, m, p, (k_isa)isa, bad, &f) == K_OK)) return 0;
    }
    if (!CHECK(same_rows(w, m, results, bad)) || !CHECK(same_totals(w, m, results, bad))
        || !CHECK(same_commands(w, results, bad)))
      return 0;
    for (int b = 0; b < MODEL_BITMAPS; b++) CHECK(w->marks[b][(bad + 63) / 64] == 0x77);
  }
  return 1;
}

static author a;
static evaluation e;
static row_result results[MOST_ROWS];
static int ran, failed_rows;

static int try_seed (uint64_t seed) {
  random_state = seed * 0x9e3779b97f4a7c15 + 1;
  write_program(&a);
  program *p = NULL;
  const k_status status = build_finish(a.m.b, &p);
  builder_free(a.m.b);
  if (status == K_ELIMIT) return 1;
  if (!CHECK(status == K_OK)) return 0;
  CHECK(program_check(p));
  world w;
  world_new(&w, &a.m);
  e.m = &a.m;
  e.columns = w.before;
  for (size_t i = 0; i < w.rows; i++) {
    evaluate_row(&e, i, &results[i]);
    if (results[i].error != KE_NONE) {
      failed_rows++;
      break;
    }
  }
  ran++;
  const int same = compare(&w, &a.m, p, results);
  if (!same && getenv("SHOW") != NULL) {
    static char text[200000];
    program_text(p, text, sizeof text);
    fprintf(stderr, "%s", text);
  }
  world_free(&w, &a.m);
  program_free(p);
  return same;
}

int main (int argc, char **argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 1500;
  const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (int i = 0; i < count; i++)
    if (!try_seed(first + (uint64_t)i)) {
      fprintf(stderr, "seed %llu\n", (unsigned long long)(first + (uint64_t)i));
      break;
    }
  printf("%d programs ran, %d of them failed in a row\n", ran, failed_rows);
  CHECK(ran > count / 2);
  CHECK(bytes_in_use == 0 || failures);
  return failures != 0;
}

/* }===================================================================== */
