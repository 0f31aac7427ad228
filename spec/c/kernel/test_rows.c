/* Every instruction, done row after row, does to the bits what its loop does, and fails in the same
** row; cells are got and set in the order of rows, and a row that fails leaves none changed. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/machine.h"

enum { ROWS = 100, OPERANDS = 4, ELEMENTS = 8, X = K_NO_OPERAND };

/* A program: columns for what varies, then two results of 1, 4 and 8 bytes; as many registers; a
** uniform and an array for each operand. */
enum {
  RESULT = OPERANDS, REG1 = RESULT + 4, REG4 = REG1 + 2, REG8 = REG4 + 2, UNIFORMS = REG8 + 3,
  ALL = UNIFORMS + OPERANDS, START = ALL + 1, ARRAYS
};

static const k_column results[] = {KC_BOOL, KC_F32, KC_F64, KC_I64};

typedef struct trial {
  struct program p;
  k_insn insns[8];
  struct row_insn rows[9];
  uint8_t columns[REG1], scalars[OPERANDS], arrays[1], folds[1];
  void *data[REG1];
  k_scalar uniforms[OPERANDS];
  uint64_t elements[ELEMENTS];
  k_status status;
  k_failure failure;
} trial;

static k_type type_of(char letter) {
  switch (letter) {
    case 'f': case 'F': return KT_F32;
    case 'd': case 'D': return KT_F64;
    case 'm': case 'M': return KT_BOOL;
    default: return KT_I64;
  }
}

/* Where a result of a type is: its register, and the column that it is copied to. */
static uint16_t result_register(k_type type) {
  return type == KT_BOOL ? REG1 : type == KT_F32 ? REG4 : REG8;
}

static void trial_begin(trial *t) {
  memset(t, 0, sizeof *t);
  t->p.column_count = REG1;
  t->p.reg1_count = t->p.reg4_count = 2;
  t->p.reg8_count = 3;
  t->p.scalar_count = t->p.uniform_count = OPERANDS;
  t->p.array_count = 1;
  t->p.block = 64;
  t->p.insns = t->insns;
  t->p.rows = t->rows;
  t->p.columns = t->columns;
  t->p.scalars = t->scalars;
  t->p.arrays = t->arrays;
  t->p.folds = t->folds;
  for (int i = 0; i < 4; i++) t->columns[RESULT + i] = (uint8_t)results[i];
}

static void trial_add(trial *t, k_insn insn) { t->insns[t->p.insn_count++] = insn; }

/* Where the element of an index, column 0, is. */
static void trial_add_cell(trial *t, uint16_t at) {
  const size_t size = size_of_column((k_column)t->arrays[0]);
  const uint16_t op = size == 8 ? OP_AT_8 : size == 4 ? OP_AT_4 : size == 2 ? OP_AT_2 : OP_AT_1;
  trial_add(t, (k_insn){op, at, 0, ARRAYS, X, X, 0});
}

static void trial_end(trial *t) {
  for (int c = 0; c < REG1; c++) column_free(t->data[c]);
}

static void trial_run(trial *t, k_isa isa) {
  const k_array array = {t->elements, ELEMENTS};
  const k_run run = {.rows = ROWS, .columns = t->data, .uniforms = t->uniforms, .arrays = &array};
  struct machine *m = machine_new(&test_memory, isa);
  t->p.row_count = (uint16_t)(t->p.insn_count + 1);
  program_lay_out(&t->p);
  CHECK(machine_reserve(m, &t->p) == K_OK);
  t->status = machine_run(m, &t->p, &run, &t->failure);
  machine_free(m);
}

/* An instruction with operands of its own, done as a loop or, with `ordered`, row after row; its
** result is copied to a column. False when there is no such program. */
static int trial_of(trial *t, uint32_t op, int ordered) {
  const char *s = op_table[op].signature;
  uint16_t operands[5];
  if (strpbrk(s, "123456ebxtlspqj")) return 0;
  trial_begin(t);
  for (int i = 1; i < 5; i++) {
    const k_type type = type_of(s[i]);
    t->columns[i - 1] = (uint8_t)type;
    t->scalars[i - 1] = (uint8_t)type;
    operands[i] = s[i] == '-' ? X : s[i] == 'n' ? 0 : s[i] == 'c' ? REG8 + 1 : s[i] == 'a' ? ARRAYS
                  : (uint16_t)((s[i] >= 'a' ? 0 : UNIFORMS) + i - 1);
  }
  t->arrays[0] = op >= OP_ELEMENT_BOOL && op <= OP_ELEMENT_U32 ? (uint8_t)(op - OP_ELEMENT_BOOL)
                 : op == OP_AT_1 ? KC_U8 : op == OP_AT_2 ? KC_I16 : op == OP_AT_4 ? KC_I32 : KC_I64;
  const int cell = s[0] == 'c', none = s[0] == '-';
  const k_type type = cell ? KT_I64 : type_of(s[0]);
  const uint16_t from = result_register(type), end = (uint16_t)(cell || is_fold(op) ? 3 : 2);
  const k_insn insn = {(uint16_t)op, none ? X : from, operands[1], operands[2], operands[3],
                       operands[4], 7};
  const k_insn rows = {OP_ROWS, X, X, X, end, X, 0};
  const uint16_t get = (uint16_t)(OP_GET_BOOL + t->arrays[0]);
  t->p.fold_count = is_fold(op);
  if (is_fold(op)) {
    t->arrays[0] = t->folds[0] = (uint8_t)fold_column(op);
    trial_add_cell(t, REG8 + 1);
  }
  if (ordered) trial_add(t, rows);
  trial_add(t, insn);
  if (is_fold(op) && !ordered)
    trial_add(t, (k_insn){OP_UNFOLD, X, insn.a, insn.dst, insn.c, insn.d, 0});
  if (cell && !ordered) trial_add(t, rows);
  if (cell) trial_add(t, (k_insn){get, from, from, X, X, X, 0});
  const uint16_t copy = type == KT_BOOL ? OP_COPY_BOOL : type == KT_F32 ? OP_COPY_F32
                        : type == KT_F64 ? OP_COPY_F64 : OP_COPY_I64;
  if (!none && !is_fold(op))
    trial_add(t, (k_insn){copy, (uint16_t)(RESULT + type), from, X, X, X, 0});
  return program_check(&t->p);
}

static void trial_fill(trial *t, const trial *like) {
  for (int c = 0; c < REG1; c++) {
    const k_column type = (k_column)t->columns[c];
    t->data[c] = column_new(type, ROWS);
    for (size_t i = 0; i < ROWS; i++)
      column_set(type, t->data[c], i, like ? column_get(type, like->data[c], i)
                                           : random_value((k_type)type));
  }
  for (int i = 0; i < OPERANDS; i++)
    t->uniforms[i] = like ? like->uniforms[i] : random_value((k_type)t->scalars[i]).k;
  for (int i = 0; i < ELEMENTS; i++)
    t->elements[i] = like ? like->elements[i] : t->arrays[0] == KC_BOOL ? 0x0100010101000101
                                                                        : random_bits();
}

static int ops_tried, folds_tried;

static void try_op(uint32_t op, k_isa isa) {
  trial loop, rows;
  const int first = trial_of(&loop, op, 0), second = trial_of(&rows, op, 1);
  CHECK(first == second);
  if (!first) return;
  ops_tried++;
  folds_tried += is_fold(op);
  trial_fill(&loop, NULL);
  for (size_t i = 0; is_fold(op) && i < ROWS; i++)
    column_set(KC_I64, loop.data[0], i, of_i64(random_below(ELEMENTS + 2)));
  trial_fill(&rows, &loop);
  trial_run(&loop, isa);
  trial_run(&rows, isa);
  int same = CHECK(loop.status == rows.status);
  if (loop.status == K_FAILED)
    same &= CHECK(loop.failure.row == rows.failure.row && loop.failure.tag == rows.failure.tag &&
                  loop.failure.error == rows.failure.error);
  same &= CHECK(memcmp(loop.elements, rows.elements, sizeof rows.elements) == 0);
  for (int c = RESULT; c < REG1 && !is_fold(op); c++)
    for (size_t i = 0; same && i < ROWS; i++)
      same &= CHECK(equal(column_get((k_column)loop.columns[c], loop.data[c], i),
                          column_get((k_column)rows.columns[c], rows.data[c], i)));
  if (!same) fprintf(stderr, "%s (%u)\n", op_table[op].text, (unsigned)op);
  trial_end(&loop);
  trial_end(&rows);
}

/* Rows get what is in a cell, and put something else there; some fail behind that. */
static void try_cells(k_column type, k_isa isa) {
  const size_t size = size_of_column(type);
  const k_type held = type == KC_F32 ? KT_F64 : column_value(type);
  const uint16_t from = result_register(held), at = REG8 + 1;
  trial t;
  trial_begin(&t);
  const k_type columns[] = {KT_I64, held, KT_BOOL, KT_BOOL};
  for (int i = 0; i < 4; i++) t.columns[i] = (uint8_t)columns[i];
  t.arrays[0] = (uint8_t)type;
  const uint16_t copy = held == KT_BOOL ? OP_COPY_BOOL : held == KT_F64 ? OP_COPY_F64 : OP_COPY_I64;
  trial_add_cell(&t, at);
  trial_add(&t, (k_insn){OP_ROWS, X, X, X, 5, X, 0});
  trial_add(&t, (k_insn){(uint16_t)(OP_GET_BOOL + type), from, at, X, X, X, 0});
  trial_add(&t, (k_insn){(uint16_t)(OP_SET_BOOL + type), X, at, 1, X, 2, 0});
  trial_add(&t, (k_insn){OP_NEED, X, 3, X, X, ALL, 0});
  trial_add(&t, (k_insn){copy, (uint16_t)(RESULT + held), from, X, X, X, 0});
  if (!CHECK(program_check(&t.p))) return;
  trial_fill(&t, NULL);
  const size_t fails = (size_t)random_below(2 * ROWS);
  char want[sizeof t.elements];
  for (size_t i = 0; i < ROWS; i++) {
    column_set(KC_I64, t.data[0], i, of_i64(random_below(ELEMENTS + 2)));
    column_set(KC_BOOL, t.data[3], i, of_bool(i != fails));
  }
  memcpy(want, t.elements, sizeof want);
  trial_run(&t, isa);
  CHECK(t.status == (fails < ROWS ? K_FAILED : K_OK));
  CHECK(t.status == K_OK || t.failure.row == fails);
  for (size_t i = 0; i < ROWS && i != fails; i++) {
    const int64_t index = column_get(KC_I64, t.data[0], i).k.i64;
    const int inside = index >= 1 && index <= ELEMENTS;
    char *cell = want + (size_t)(inside ? index - 1 : 0) * size;
    const value got = column_get((k_column)held, t.data[RESULT + held], i);
    value was = column_get(type, cell, 0);
    if (type == KC_F32) was = of_real(KT_F64, was.k.f32);
    CHECK(!inside || equal(got, was));
    if (!inside || !column_get(KC_BOOL, t.data[2], i).k.b) continue;
    value put = column_get((k_column)held, t.data[1], i);
    if (type == KC_F32) put = of_real(KT_F32, put.k.f64);
    column_set(type, cell, 0, put);
  }
  CHECK(memcmp(want, t.elements, ELEMENTS * size) == 0);
  trial_end(&t);
}

int main(void) {
  for (int isa = 0; isa < K_ISAS; isa++) {
    if (!isa_supported((k_isa)isa)) continue;
    for (int times = 0; times < 20; times++) {
      for (uint32_t op = 0; op < OP_CONTROLS; op++) try_op(op, (k_isa)isa);
      for (int type = KC_BOOL; type < KC_ENTITY; type++) try_cells((k_column)type, (k_isa)isa);
    }
  }
  CHECK(ops_tried > 20 * 400 && folds_tried > 20 * (OP_FOLD_SET_BOOL - OP_FOLD_ADD_F32));
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
