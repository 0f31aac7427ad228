/* Steps on cells: whatever the type of the cells and the step, on every instruction set, rows take
** them one after the other; a row that fails at a step, or behind it, has taken none, nor has one
** behind it. What gets at such cells beside is told. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/build.h"
#include "kernel/ops.h"

enum { ROWS = 1500, LENGTH = 11, LIMIT = 65535 };

static k_isa isa;

/* What may fail behind the steps: nothing, an order, or what is done in the order of rows, with an
** order in it or not. */
enum form { STEPS, ORDER, ORDERED, BOTH, FORMS };

enum { INDEX, MASK, REAL, WHOLE, TRUTH, STORED, NUMBER, PLACE, COLUMNS };
static const k_column columns[PLACE] = {KC_I64, KC_BOOL, KC_F64, KC_I64, KC_BOOL, KC_I64, KC_I64};

struct trial {
  k_column type;
  k_fold steps[2];             /* on an element of an array; on a cell, which may be nowhere */
  enum form form;
  int64_t dead;                /* the first row that gives no order */
  void *columns[COLUMNS];
  void *cells[2];              /* of the array; of others */
  uint16_t seen[1];            /* what rows in order add to */
  int given;
};

static k_type operand_type(k_column type) {
  return type == KC_F32 ? KT_F64 : type_of_column(type);
}

static uint32_t operand_column(k_column type) {
  k_type of = operand_type(type);
  return of == KT_BOOL ? TRUTH : of == KT_F64 ? REAL : WHOLE;
}

static void state_what_follows(struct builder *b, const struct trial *t) {
  if (t->form == ORDER || t->form == BOTH)
    build_order(b, 5, build_load(b, NUMBER), build_load(b, WHOLE), K_NONE);
  if (t->form != ORDERED && t->form != BOTH) return;
  k_value cell = build_cell(b, 1, build_i64(b, 1));
  k_value sum = build_binary(b, KO_ADD, build_get(b, cell), build_i64(b, 30));
  build_set(b, cell, build_fit(b, KC_U16, sum));
}

static struct program *make(const struct trial *t) {
  struct builder *b = builder_new(&test_memory);
  for (int i = 0; i < PLACE; i++) build_column(b, columns[i]);
  build_column(b, (k_column)(KC_CELLS | t->type));
  CHECK(build_array(b, t->type) == 0 && build_array(b, KC_U16) == 1);
  k_value index = build_load(b, INDEX), operand = build_load(b, operand_column(t->type));
  build_at(b, build_load(b, MASK), 7);
  build_need(b, build_inside(b, 0, index));
  CHECK(build_fold(b, build_cell(b, 0, index), t->steps[0], operand) == 0);
  CHECK(build_fold(b, build_load(b, PLACE), t->steps[1], operand) == 1);
  state_what_follows(b, t);
  build_store(b, STORED, build_i64(b, 1));
  return finish_build(b);
}

static double step_of_reals(k_fold step, double x, double y) {
  switch (step) {
    case KF_ADD: return x + y;
    case KF_SUB: return x - y;
    case KF_LESS: return y < x ? y : x;
    case KF_MORE: return x < y ? y : x;
    case KF_LEAST: return x < y ? x : y;
    case KF_MOST: return y < x ? x : y;
    default: return y;
  }
}

static int64_t step_of_integers(k_fold step, int64_t x, int64_t y) {
  switch (step) {
    case KF_ADD: return (int64_t)((uint64_t)x + (uint64_t)y);
    case KF_SUB: return (int64_t)((uint64_t)x - (uint64_t)y);
    case KF_LESS: case KF_LEAST: return x < y ? x : y;
    case KF_MORE: case KF_MOST: return x < y ? y : x;
    default: return y;
  }
}

/* Takes a step; false when the cell does not take the result. */
static bool take(k_column type, k_fold step, void *cells, size_t at, value y) {
  value x = column_get(type, cells, at);
  int64_t lo, hi;
  column_range(type, &lo, &hi);
  if (type == KC_BOOL)
    x.k.b = step == KF_OR ? x.k.b | y.k.b : step == KF_AND ? x.k.b & y.k.b : y.k.b;
  else if (type == KC_F32 || type == KC_F64)
    x = of_real(x.type, step_of_reals(step, real(x), y.k.f64));
  else
    x.k.i64 = step_of_integers(step, x.k.i64, y.k.i64);
  if (x.type == KT_I64 && (x.k.i64 < lo || x.k.i64 > hi)) return false;
  column_set(type, cells, at, x);
  return true;
}

/* Which of the others' cells a row has; LENGTH: it has none. */
static size_t place_of(size_t row) { return row * row % (LENGTH + 1); }

/* One row, as it is meant; false when it fails, and has done nothing. */
static bool do_row(const struct trial *t, size_t row, void *const cells[2], uint16_t *seen,
                   int *given) {
  if (!((const uint8_t *)t->columns[MASK])[row]) return true;
  int64_t at = ((const int64_t *)t->columns[INDEX])[row];
  uint32_t operand = operand_column(t->type);
  value y = column_get(columns[operand], t->columns[operand], row);
  if (at < 1 || at > LENGTH) return false;
  value kept = column_get(t->type, cells[0], (size_t)at - 1), other = kept;
  bool sound = take(t->type, t->steps[0], cells[0], (size_t)at - 1, y);
  bool has = place_of(row) < LENGTH;
  if (!sound) return false;
  if (has) other = column_get(t->type, cells[1], place_of(row));
  if (has) sound = take(t->type, t->steps[1], cells[1], place_of(row), y);
  if (t->form == ORDER || t->form == BOTH) sound &= (int64_t)row < t->dead;
  if (t->form == ORDERED || t->form == BOTH) sound &= *seen + 30 <= LIMIT;
  if (!sound) {
    column_set(t->type, cells[0], (size_t)at - 1, kept);
    if (has) column_set(t->type, cells[1], place_of(row), other);
    return false;
  }
  *seen = (uint16_t)(*seen + 30);
  ++*given;
  return true;
}

/* ---- running ---- */

static bool may_give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *with) {
  (void)with;
  return order == 5 && *entity < ((const struct trial *)ud)->dead;
}

static bool make_room(void *ud, uint32_t count) {
  (void)ud;
  return count > 0;
}

static void give(void *ud, uint32_t order, const int64_t *entity, const k_scalar *with) {
  struct trial *t = ud;
  CHECK(order == 5 && with->i64 == ((const int64_t *)t->columns[WHOLE])[*entity]);
  t->given++;
}

static k_status run(struct trial *t, const struct program *p, k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(m && machine_reserve(m, p) == K_OK);
  const k_array arrays[2] = {{t->cells[0], LENGTH}, {t->seen, 1}};
  const k_orders orders = {.check = may_give, .reserve = make_room, .give = give, .ud = t};
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t->columns;
  r.arrays = arrays;
  r.orders = &orders;
  k_status status = machine_run(m, p, &r, failure);
  machine_free(m);
  return status;
}

/* Integers that seldom leave the range of their cells, or now and then. */
static int64_t whole_for(k_column type, bool fails) {
  if (type == KC_I64) return random_value(KT_I64).k.i64;
  if (fails && random_below(400) == 0) return random_value(KT_I64).k.i64;
  return type >= KC_U8 ? random_below(2) : random_below(3) - 1;
}

static void fill(struct trial *t, bool fails) {
  bool few = random_below(2);   /* those that do something lie in few stretches */
  for (size_t i = 0; i < ROWS; i++) {
    bool outside = fails && random_below(2000) == 0;
    ((int64_t *)t->columns[INDEX])[i] = outside ? LENGTH + 1 : 1 + random_below(LENGTH);
    ((uint8_t *)t->columns[MASK])[i] = few && i / 64 % 4 != 3 ? 0 : (uint8_t)random_below(2);
    ((double *)t->columns[REAL])[i] =
        random_below(8) ? random_below(1000) / 8.0 : random_value(KT_F64).k.f64;
    ((int64_t *)t->columns[WHOLE])[i] = whole_for(t->type, fails);
    ((uint8_t *)t->columns[TRUTH])[i] = (uint8_t)random_below(2);
    ((int64_t *)t->columns[STORED])[i] = 0;
    ((int64_t *)t->columns[NUMBER])[i] = (int64_t)i;
    const size_t at = place_of(i);
    ((k_cell *)t->columns[PLACE])[i].at =
        at == LENGTH ? NULL : (char *)t->cells[1] + at * size_of_column(t->type);
  }
  for (int which = 0; which < 2; which++)
    for (size_t i = 0; i < LENGTH; i++)
      column_set(t->type, t->cells[which], i, random_for_column(t->type));
  t->dead = fails ? random_below(ROWS) : ROWS;
  t->seen[0] = (uint16_t)(fails ? LIMIT - random_below(30 * ROWS) : 0);
  t->given = 0;
}

static void compare(const struct trial *t, void *const before[2], uint16_t seen, k_status status,
                    const k_failure *failure) {
  const size_t end = status == K_FAILED ? failure->row : ROWS;
  int given = 0;
  bool sound = true;
  for (size_t row = 0; row < end; row++) sound &= do_row(t, row, before, &seen, &given);
  CHECK(sound);
  for (int which = 0; which < 2; which++)
    for (size_t i = 0; i < LENGTH; i++)
      CHECK(equal(column_get(t->type, before[which], i), column_get(t->type, t->cells[which], i)));
  for (size_t row = 0; row < ROWS; row++)
    CHECK(((const int64_t *)t->columns[STORED])[row] == (row < end));
  CHECK(t->form == STEPS || t->form == ORDER || seen == t->seen[0]);
  CHECK(t->form == STEPS || t->form == ORDERED || given == t->given);
  if (status == K_FAILED) CHECK(!do_row(t, end, before, &seen, &given));
}

static int failed[FORMS];

static void try_steps(struct trial *t, void *const before[2]) {
  struct program *p = make(t);
  for (int round = 0; round < 4; round++) {
    k_failure failure;
    fill(t, round % 2);
    for (int which = 0; which < 2; which++)
      memcpy(before[which], t->cells[which], LENGTH * size_of_column(t->type));
    const uint16_t seen = t->seen[0];
    k_status status = run(t, p, &failure);
    CHECK(status == K_OK || status == K_FAILED);
    failed[t->form] += status == K_FAILED;
    compare(t, before, seen, status, &failure);
  }
  program_free(p);
}

static void try_type(k_column type) {
  struct trial t = {.type = type};
  void *before[2];
  for (int i = 0; i < COLUMNS; i++)
    t.columns[i] = column_new(i < PLACE ? columns[i] : KC_I64, ROWS);
  for (int i = 0; i < 2; i++) {
    t.cells[i] = column_new(type, LENGTH);
    before[i] = column_new(type, LENGTH);
  }
  const int first = type == KC_BOOL ? KF_SET : KF_ADD, behind = type == KC_BOOL ? KF_COUNT : KF_OR;
  for (int step = first; step < behind; step++)
    for (int form = 0; form < FORMS; form++) {
      t.form = (enum form)form;
      t.steps[0] = (k_fold)step;
      t.steps[1] = (k_fold)(first + random_below(behind - first));
      try_steps(&t, before);
    }
  for (int i = 0; i < COLUMNS; i++) {
    CHECK(column_intact(i < PLACE ? columns[i] : KC_I64, t.columns[i], ROWS));
    column_free(t.columns[i]);
  }
  for (int i = 0; i < 2; i++) {
    CHECK(column_intact(type, t.cells[i], LENGTH));
    column_free(t.cells[i]);
    column_free(before[i]);
  }
}

/* ---- what is not sound ---- */

/* What gets at the cells of a step beside it. */
enum beside {
  NOTHING, CHECKED, ELEMENT, UNUSED_ELEMENT, SAME_CELL, OTHER_CELL, SAME_UNIFORM, SAME_COLUMN,
  WAYS
};

static k_status finish_with(enum beside beside) {
  struct builder *b = builder_new(&test_memory);
  struct program *p = NULL;
  build_column(b, KC_F64);
  build_column(b, KC_F64);
  build_column(b, (k_column)(KC_CELLS | KC_F64));
  build_array(b, KC_F64);
  build_array(b, KC_F64);
  k_value one = build_i64(b, 1), read = build_load(b, 1);
  if (beside == CHECKED || beside == ELEMENT) build_need(b, build_inside(b, 0, one));
  if (beside == ELEMENT || beside == UNUSED_ELEMENT) read = build_element(b, 0, one);
  if (beside == SAME_UNIFORM) read = build_uniform(b, 3, KT_F64);
  build_fold(b, build_cell(b, 1, one), KF_ADD, build_f64(b, 1));
  build_fold(b, build_cell(b, 0, one), KF_ADD, build_f64(b, 2));
  build_fold(b, build_load(b, 2), KF_ADD, build_f64(b, 2));
  if (beside == SAME_CELL) build_fold(b, build_cell(b, 0, one), KF_ADD, build_f64(b, 2));
  if (beside == OTHER_CELL)
    build_fold(b, build_cell(b, 0, build_i64(b, 2)), KF_SUB, build_f64(b, 2));
  if (beside == SAME_UNIFORM) build_alias_fold(b, 1, true, 3);
  if (beside == SAME_COLUMN) build_alias_fold(b, 2, false, 1);
  if (beside != UNUSED_ELEMENT)
    build_store(b, 0, build_binary(b, KO_ADD, read, build_load(b, 0)));
  k_status status = build_finish(b, &p);
  if (status == K_SHARED) {
    const uint32_t fold = build_shared_fold(b);
    CHECK(fold == (beside == SAME_COLUMN ? 2u : 1u) || (fold == 3 && beside <= OTHER_CELL));
  }
  builder_free(b);
  if (p) program_free(p);
  return status;
}

/* What is stated, of a step on an element of an array. */
static k_status state(k_column type, k_fold step, k_type operand, int times, bool looped) {
  struct builder *b = builder_new(&test_memory);
  k_scalar one = {.i64 = 0};
  build_array(b, type);
  k_value index = build_i64(b, 1);
  if (looped) build_loop(b, build_i64(b, 2), K_ALL);
  for (int i = 0; i < times; i++)
    build_fold(b, build_cell(b, 0, index), step, build_constant(b, operand, one));
  k_status status = builder_status(b);
  builder_free(b);
  return status;
}

static void try_builder(void) {
  for (int beside = 0; beside < WAYS; beside++) {
    bool alone = beside == NOTHING || beside == CHECKED || beside == UNUSED_ELEMENT ||
                 beside == OTHER_CELL;
    CHECK(finish_with((enum beside)beside) == (alone ? K_OK : K_SHARED));
  }
  CHECK(state(KC_F32, KF_ADD, KT_F64, 1, false) == K_OK);
  CHECK(state(KC_F32, KF_ADD, KT_F32, 1, false) == K_EINVAL);
  CHECK(state(KC_I8, KF_ADD, KT_F64, 1, false) == K_EINVAL);
  CHECK(state(KC_BOOL, KF_OR, KT_BOOL, 1, false) == K_OK);
  CHECK(state(KC_BOOL, KF_ADD, KT_BOOL, 1, false) == K_EINVAL);
  CHECK(state(KC_I8, KF_AND, KT_I64, 1, false) == K_EINVAL);
  CHECK(state(KC_I8, KF_COUNT, KT_I64, 1, false) == K_EINVAL);
  CHECK(state(KC_I8, KF_SET, KT_I64, 1, true) == K_ELIMIT);
  CHECK(state(KC_I8, KF_SET, KT_I64, MAX_FOLDS, false) == K_OK);
  CHECK(state(KC_I8, KF_SET, KT_I64, MAX_FOLDS + 1, false) == K_ELIMIT);
}

/* Which programs pass that differ in one operand of a step, or of what undoes it. */
static void try_check(void) {
  struct trial t = {.type = KC_I32, .steps = {KF_ADD, KF_MORE}, .form = ORDER};
  struct program *p = make(&t);
  CHECK(program_check(p) && p->fold_count == 2);
  for (uint32_t i = 0; i < p->insn_count; i++) {
    k_insn *k = &p->insns[i], old = *k;
    if (!is_fold(k->op) && k->op != OP_UNFOLD) continue;
    for (uint16_t fold = 0; fold < 4; fold++) {
      k->c = fold;
      CHECK(program_check(p) == (fold == old.c));
    }
    *k = old;
    k->a = k->a == PLACE ? (uint16_t)NUMBER : (uint16_t)PLACE;
    CHECK(!program_check(p));
    *k = old;
    if (is_fold(k->op)) k->op++;
    else k->op = OP_FOLD_ADD_I32;
    CHECK(!program_check(p));
    *k = old;
  }
  p->folds[0] = KC_I16;
  CHECK(!program_check(p));
  p->folds[0] = KC_I32;
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "fold.add.i32") && strstr(text, "fold.more.i32") && strstr(text, "unfold"));
  program_free(p);
}

/* What a step has found in cells is of no use to anything but its undoing. */
static void try_found(void) {
  struct trial t = {.type = KC_I64, .steps = {KF_ADD, KF_MORE}, .form = ORDERED};
  struct program *p = make(&t);
  uint16_t found = K_NO_OPERAND;
  int tried = 0;
  for (uint32_t i = 0; i < p->insn_count; i++) {
    k_insn *k = &p->insns[i], old = *k;
    if (found != K_NO_OPERAND && op_table[OP_NUMBER(k->op)].signature[1] == 'i') {
      k->a = found;
      CHECK(!program_check(p) && ++tried);
      *k = old;
    }
    if (is_fold(k->op)) found = k->dst;
  }
  CHECK(tried > 0);
  program_free(p);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (int type = KC_BOOL; type < KC_ENTITY; type++) try_type((k_column)type);
  }
  for (int form = 0; form < FORMS; form++) CHECK(failed[form] > 20);
  try_builder();
  try_check();
  try_found();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
