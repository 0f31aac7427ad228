/* Random programs, stated as a front end states them: locals, fields, branches under
** masks, loops, breaks, returns; cells that rows see as those before them have left them. */
#ifndef kernel_author_h
#define kernel_author_h

#include "kernel_model.h"

enum { LOCALS = 8 };

/* What is being written: a scope of locals and fields under a mask. */
typedef struct author {
  model m;
  int locals[LOCALS], nlocals;
  int fields[MODEL_COLUMNS], dirty[MODEL_COLUMNS];
  int mask;                      /* the rows that are here */
  int start;                     /* those that it begins with; -1: all */
  int uniforms[16], nuniforms;   /* steps of uniform values */
  int fails;                     /* may it use what can fail? */
  int ordered, folds;            /* does it read and write others' cells? how often does it fold? */
  int known;                     /* a condition that was asked before; -1: none */
  int depth, budget;
  int calls;
} author;

static int expression(author *a, k_type type, int depth);
static int leaf(author *a, k_type type);

/* {=====================================================================
** Expressions
** ====================================================================== */

/* Where one cell of an array is: an element, the row's, or one that is looked up. */
static int cell(author *a, int array) {
  const int how = random_below(4);
  if (how == 0) return m_cell(&a->m, array);
  const int from = leaf(a, KT_I64);
  if (how == 1) return m_cell_looked_up(&a->m, array, from, a->mask);
  return m_cell_at(&a->m, array, m_binary(&a->m, KO_BAND, from, m_value(&a->m, of_i64(15))));
}

/* What is in a cell now: outside of the mask that it was looked up for it may be anything. */
static int from_cell(author *a, k_type type) {
  const int array = random_below(MODEL_FOLDED);
  const k_column c = a->m.arrays[array];
  a->budget--;
  if (type_of_cell(c) != type) return -1;
  const int x = m_get(&a->m, cell(a, array));
  return m_select(&a->m, a->mask, x, m_value(&a->m, random_value(type)));
}

static int leaf(author *a, k_type type) {
  for (int tries = 0; tries < 12; tries++) {
    if (a->ordered && a->budget > 0 && random_below(3) == 0) {
      const int x = from_cell(a, type);
      if (x >= 0) return x;
    }
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

static int of_any_type(author *a, int depth) {
  return expression(a, (k_type)(KT_F32 + random_below(3)), depth);
}

static int condition(author *a, int depth) {
  static const k_op relations[] = {KO_EQ, KO_NE, KO_LT, KO_LE, KO_GT, KO_GE};
  static const k_op logic[] = {KO_AND, KO_OR, KO_XOR, KO_ANDN, KO_EQ, KO_NE};
  const int how = random_below(8);
  if (depth <= 0 || how == 0) return leaf(a, KT_BOOL);
  if (how == 1) return m_unary(&a->m, KO_NOT, condition(a, depth - 1));
  if (how == 2) {
    const int x = condition(a, depth - 1), y = condition(a, depth - 1);
    return m_binary(&a->m, logic[random_below(6)], x, y);
  }
  const int x = of_any_type(a, depth - 1);
  if (how == 3) {
    const int y = of_any_type(a, depth - 1);
    return m_binary(&a->m, relations[random_below(6)], x, y);
  }
  const int y = expression(a, m_type(&a->m, x), depth - 1);
  if (m_type(&a->m, x) == KT_I64 && random_below(6) == 0)
    return m_binary(&a->m, KO_ULT, x, y);
  return m_binary(&a->m, relations[random_below(6)], x, y);
}

static int random_number(author *a) {
  const int entity = a->m.entities >= 0 ? leaf(a, KT_I64) : m_value(&a->m, of_i64(9));
  const int call = random_below(2) ? leaf(a, KT_I64) : m_value(&a->m, of_i64(a->calls++));
  const int seed = m_value(&a->m, of_i64(0x123456789abcdef));
  return m_random(&a->m, entity, call, seed, m_value(&a->m, of_i64(5)));
}

static int integer(author *a, int depth) {
  static const k_op safe[] = {KO_ADD,  KO_SUB, KO_MUL,  KO_MIN, KO_MAX,
                              KO_BAND, KO_BOR, KO_BXOR, KO_SHL, KO_SHR};
  static const k_op failing[] = {KO_IDIV, KO_MOD, KO_FMOD};
  const int how = random_below(a->fails ? 15 : 11);
  if (how < 6) {
    const int x = expression(a, KT_I64, depth - 1), y = expression(a, KT_I64, depth - 1);
    return m_binary(&a->m, safe[random_below(COUNT(safe))], x, y);
  }
  if (how == 6) return m_unary(&a->m, KO_NEG, expression(a, KT_I64, depth - 1));
  if (how == 7) return m_unary(&a->m, KO_BNOT, expression(a, KT_I64, depth - 1));
  if (how == 8) return m_unary(&a->m, KO_ABS, expression(a, KT_I64, depth - 1));
  if (how == 9) return random_number(a);
  const k_type real = random_below(2) ? KT_F32 : KT_F64;
  if (how == 10) return m_unary(&a->m, KO_BELOW, expression(a, real, depth - 1));
  const int x = expression(a, how == 14 ? real : KT_I64, depth - 1);
  const int y = how < 14 ? expression(a, KT_I64, depth - 1) : 0;
  const int bits = how == 13 ? random_number(a) : 0;
  m_at(&a->m, a->mask);
  if (how < 13) return m_binary(&a->m, failing[random_below(3)], x, y);
  if (how == 13) return m_interval(&a->m, bits, x, y);
  switch (random_below(3)) {
    case 0: return m_convert(&a->m, KT_I64, x);
    case 1: return m_unary(&a->m, KO_CEIL, x);
    default: return m_unary(&a->m, KO_FLOOR, x);
  }
}

static int real_number(author *a, k_type type, int depth) {
  static const k_op unary[] = {KO_NEG, KO_ABS, KO_SQRT, KO_TRUNC, KO_EXP,  KO_LOG,
                               KO_SIN, KO_COS, KO_NEG,  KO_SQRT,  KO_ACOS, KO_TAN};
  static const k_op binary[] = {KO_ADD, KO_SUB, KO_MUL,  KO_ADD,  KO_SUB,
                                KO_MUL, KO_DIV, KO_MIN,  KO_MAX,  KO_IDIV,
                                KO_MOD, KO_POW, KO_FMOD, KO_ATAN2};
  const int how = random_below(12);
  if (type == KT_F64 && random_below(6) == 0) {   /* ecs.math */
    const int op = KO_OWN_ACOS + random_below(9), x = expression(a, type, depth - 1);
    if (random_below(2)) return m_unary(&a->m, (k_op)op, x);
    const int y = expression(a, type, depth - 1);
    return m_binary(&a->m, (k_op)(KO_OWN_ATAN + random_below(3)), x, y);
  }
  if (how < 8) {
    const int x = expression(a, type, depth - 1), y = expression(a, type, depth - 1);
    return m_binary(&a->m, binary[random_below(COUNT(binary))], x, y);
  }
  if (how < 10) {
    const int x = expression(a, type, depth - 1);
    return m_unary(&a->m, unary[random_below(COUNT(unary))], x);
  }
  if (how == 10 && type == KT_F64) return m_unit(&a->m, random_number(a));
  const k_type from = random_below(2) ? KT_I64 : type == KT_F32 ? KT_F64 : KT_F32;
  return m_convert(&a->m, type, expression(a, from, depth - 1));
}

static int expression(author *a, k_type type, int depth) {
  a->budget--;
  if (depth <= 0 || a->budget < 0 || random_below(4) == 0) return leaf(a, type);
  if (random_below(12) == 0) {
    const int mask = condition(a, depth - 1), x = expression(a, type, depth - 1);
    const int y = expression(a, type, depth - 1);
    return m_select(&a->m, mask, x, y);
  }
  if (type == KT_BOOL) return condition(a, depth);
  return type == KT_I64 ? integer(a, depth) : real_number(a, type, depth);
}

/* }===================================================================== */

/* {=====================================================================
** Statements
** ====================================================================== */

static void block(author *a, int statements);

static void assign_local(author *a) {
  const int i = random_below(a->nlocals);
  const int x = expression(a, m_type(&a->m, a->locals[i]), 3);
  a->locals[i] = m_select(&a->m, a->mask, x, a->locals[i]);
}

static void assign_field(author *a) {
  const int c = random_below(a->m.ncolumns);
  if (c == a->m.entities) return;
  const k_type type = type_of_column(a->m.columns[c]);
  const int narrow =
      type == KT_I64 && a->m.columns[c] != KC_I64 && a->m.columns[c] != KC_ENTITY;
  if (narrow && !a->fails) return;
  if (a->fields[c] < 0) a->fields[c] = m_load(&a->m, c);
  k_type from = type;
  if (type == KT_F32 || (type == KT_I64 && a->fails && random_below(4) == 0))
    from = KT_F64;
  int x = expression(a, narrow ? KT_I64 : from, 3);
  if (narrow) x = m_binary(&a->m, KO_BAND, x, m_value(&a->m, of_i64(127)));
  if (narrow && random_below(6) == 0) x = leaf(a, KT_I64);
  m_at(&a->m, a->mask);
  x = m_fit(&a->m, a->m.columns[c], x);
  a->fields[c] = m_select(&a->m, a->mask, x, a->fields[c]);
  a->dirty[c] = 1;
}

static void branch(author *a) {
  const int outer = a->mask;
  const int c = a->known >= 0 && random_below(3) == 0 ? a->known : condition(a, 2);
  if (a->m.loop < 0) a->known = c;
  const int inside = a->mask = m_and(&a->m, outer, c);
  block(a, 1 + random_below(3));
  int left = a->mask;  /* what came out of the branch */
  if (random_below(6) == 0) left = m_value(&a->m, of_bool(0));  /* none: it returned */
  a->mask = m_andn(&a->m, outer, c);
  if (random_below(2)) block(a, 1 + random_below(2));
  else if (left == inside) left = a->mask = outer;
  if (left != a->mask) a->mask = m_or(&a->m, left, a->mask);
}

/* 0 to 4 rounds, or as many as a value of the program says, which may differ from row to row. */
static int rounds(author *a) {
  if (random_below(3) != 0) return m_value(&a->m, of_i64(random_below(5)));
  return m_binary(&a->m, KO_BAND, leaf(a, KT_I64), m_value(&a->m, of_i64(3)));
}

/* Every local and field is carried; rows leave by `break`. */
static void loop(author *a) {
  const int outer = a->mask, uniforms = a->nuniforms;
  const int breaks = random_below(2), starts_masked = outer >= 0 || breaks;
  for (int c = 0; c < a->m.ncolumns; c++)
    if (a->fields[c] < 0) a->fields[c] = m_load(&a->m, c);
  const int first = outer >= 0 ? outer : m_value(&a->m, of_bool(1));
  const int count = rounds(a);
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
  const int added = m_convert(&a->m, KT_F64, round);
  m_next(&a->m, steady, m_binary(&a->m, KO_ADD, steady, added));
  const int again = a->mask;
  if (starts_masked) m_next(&a->m, live, again);
  m_endloop(&a->m, starts_masked ? again : -1);
  a->depth--;
  const int gives_up = breaks && random_below(4) == 0;
  for (int i = 0; i < a->nlocals; i++) a->locals[i] = carried[i];
  for (int c = 0; c < a->m.ncolumns; c++)
    if (c != a->m.entities) a->fields[c] = fields[c];
  a->nuniforms = uniforms;
  a->mask = outer;
  if (gives_up) {
    m_at(&a->m, m_andn(&a->m, live, condition(a, 1)));
    m_give_up(&a->m);
  }
}

/* A value that cells of a column's type take, or that may fail to be one. */
static int for_cell(author *a, k_column c) {
  const k_type type = type_of_cell(c);
  int x = expression(a, type, 2);
  if (type != KT_I64 || c == KC_I64) return x;
  if (!a->fails || random_below(8)) x = m_binary(&a->m, KO_BAND, x, m_value(&a->m, of_i64(127)));
  m_at(&a->m, a->mask);
  return a->fails ? m_fit(&a->m, c, x) : x;
}

/* Once for each array that there is for that. */
static void fold(author *a) {
  if (a->m.loop >= 0 || a->folds == MODEL_ARRAYS - MODEL_FOLDED) return;
  const int array = MODEL_FOLDED + a->folds++, truths = a->m.arrays[array] == KC_BOOL;
  const int x = for_cell(a, a->m.arrays[array]), to = cell(a, array);
  m_at(&a->m, a->mask);
  m_fold(&a->m, to, (k_fold)(truths ? KF_SET + random_below(3) : random_below(KF_OR)), x);
}

static void statement_on_others(author *a) {
  const int how = random_below(a->fails ? 10 : 5), array = random_below(MODEL_FOLDED);
  if (a->fails && random_below(4) == 0) {
    fold(a);
    return;
  }
  if (how < 5) {
    if (!a->ordered) return;
    const int x = for_cell(a, a->m.arrays[array]), to = cell(a, array);
    m_at(&a->m, a->mask);
    m_set(&a->m, to, x);
    return;
  }
  const int id = leaf(a, KT_I64), low = m_binary(&a->m, KO_BAND, id, m_value(&a->m, of_i64(7)));
  const int puts = how >= 7 && a->ordered, to = puts ? cell(a, array) : -1;
  const int x = puts ? for_cell(a, a->m.arrays[array]) : how == 5 ? expression(a, KT_F64, 2) : id;
  m_at(&a->m, a->mask);
  m_give(&a->m, puts ? MODEL_PUTS + array : how == 5 ? 0 : 1, random_below(3) ? low : id, x, to);
}

static void statement(author *a) {
  if (a->budget < 0) return;
  if (a->m.reaches && random_below(3) == 0) {
    statement_on_others(a);
    return;
  }
  switch (random_below(10)) {
    case 0: case 1: case 2: assign_local(a); break;
    case 3: case 4: case 5: assign_field(a); break;
    case 6: case 7: if (a->depth < 4) branch(a); break;
    case 8: if (a->depth < 2 && a->nuniforms < 13) loop(a); break;
    default: m_emit(&a->m, random_below(MODEL_BITMAPS), a->mask);
  }
}

static void block(author *a, int statements) {
  a->depth += 1;
  while (statements-- > 0) statement(a);
  a->depth -= 1;
}

static void declare(author *a) {
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
  if (random_below(3) == 0) m_reach(m);
  a->ordered = m->reaches && random_below(3);
  a->nlocals = 2 + random_below(LOCALS - 2);
  for (int i = 0; i < a->nlocals; i++)
    a->locals[i] = m_value(m, random_value((k_type)random_below(4)));
}

static void reduce(author *a, int index) {
  const k_type type = random_below(2) ? KT_F64 : KT_I64;
  a->m.totals[index] = (k_reduce)random_below(3);
  a->m.total_types[index] = type;
  const int x = expression(a, type, 2), mask = random_below(2) ? -1 : condition(a, 2);
  m_reduce(&a->m, index, x, m_and(&a->m, a->start, mask));
}

static void write_program(author *a) {
  memset(a, 0, sizeof *a);
  a->m.b = builder_new(&test_memory);
  a->m.loop = a->m.guard = a->mask = a->start = a->known = -1;
  a->fails = random_below(3) == 0;
  a->budget = 20 + random_below(200);
  declare(a);
  if (random_below(3) == 0) a->mask = a->start = m_start(&a->m);
  block(a, 2 + random_below(8));
  a->mask = a->start;
  m_at(&a->m, a->start);
  for (int c = 0; c < a->m.ncolumns; c++)
    if (a->dirty[c]) (a->start < 0 ? m_store : m_put)(&a->m, c, a->fields[c]);
  for (int i = 0; i < MODEL_BITMAPS; i++) {
    const int mask = leaf(a, KT_BOOL);
    m_emit(&a->m, i, m_and(&a->m, a->start, mask));
  }
  const int totals = random_below(2) ? MODEL_TOTALS : 0;
  for (int i = 0; i < totals; i++) reduce(a, i);
}

/* }===================================================================== */

#endif
