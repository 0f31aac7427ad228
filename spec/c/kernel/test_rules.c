/* The check of programs, rule by rule: for each there is a program that passes and one like it
** that breaks the rule. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/ops.h"

/* Columns: 0 f32, 1 i64, 2 bool, 3 entities, 4 cells of f64. Registers: 5, 6 of bytes, 7, 8 of f32,
** 9, 10 of 8 bytes. Scalars: 11 uniform i64, 12 constant f64, 13, 14 scalar i64, 15 scalar
** bool. 16 every row, 17 bits, 18 a sum of f64, 19 the rows to start with, 20 an array of f64,
** 21 one of i8, 22 a lookup of cells of f64, 23 one of f64. There is one fold, of f64. */
enum {
  C_F, C_I, C_M, C_E, C_C, R_M, R_M2, R_F, R_F2, R_D, R_D2, U_I, K_D, S_I, S_I2, S_B, ALL,
  BITS, TOTAL, START, A_D, A_1, L_C, L_D,
  X = K_NO_OPERAND
};

static struct program small_program(int prologue, int n, k_insn *insns) {
  static uint8_t columns[] = {KC_F32, KC_I64, KC_BOOL, KC_ENTITY, KC_CELLS | KC_F64};
  static uint8_t arrays[] = {KC_F64, KC_I8}, lookups[] = {KC_CELLS | KC_F64, KT_F64},
                 folds[] = {KC_F64, KC_F64};
  static uint8_t scalars[] = {KT_I64, KT_F64, KT_I64, KT_I64, KT_BOOL},
                 totals[] = {KR_SUM * 4 + KT_F64};
  static k_scalar constants[1];
  struct program p;
  memset(&p, 0, sizeof p);
  p.column_count = 5;
  p.array_count = p.lookup_count = 2;
  p.fold_count = 1;
  p.reg1_count = p.reg4_count = p.reg8_count = 2;
  p.scalar_count = 5;
  p.uniform_count = p.constant_count = p.bitmap_count = p.total_count = 1;
  p.block = 64;
  p.insn_count = (uint16_t)n;
  p.prologue = (uint16_t)prologue;
  p.columns = columns;
  p.arrays = arrays;
  p.lookups = lookups;
  p.folds = folds;
  p.scalars = scalars;
  p.constants = constants;
  p.totals = totals;
  p.insns = insns;
  return p;
}

static int accepts(int prologue, int n, const k_insn *insns) {
  const size_t bytes = (size_t)n * sizeof *insns;
  k_insn *copy = malloc(bytes);  /* of just that size */
  if (copy == NULL) abort();
  memcpy(copy, insns, bytes);
  const struct program p = small_program(prologue, n, copy);
  const int accepted = program_check(&p);
  free(copy);
  return accepted;
}

#define ACCEPTS(n, ...) CHECK(accepts(0, n, (const k_insn[]){__VA_ARGS__}))
#define REFUSES(n, ...) CHECK(!accepts(0, n, (const k_insn[]){__VA_ARGS__}))
#define SKIP_TO(end) {OP_SKIP, X, C_M, X, end, X, 0}
#define FILL_D {OP_FILL_F64, R_D, K_D, X, X, X, 0}
#define FILL_I {OP_FILL_I64, R_D, U_I, X, X, X, 0}
#define COPY_D {OP_COPY_F64, R_D2, R_D, X, X, X, 0}
#define LOOP_TO(end) {OP_LOOP, S_I, U_I, ALL, end, X, 0}
#define END_OF(loop) {OP_END, S_I, U_I, ALL, loop, X, 0}
#define COUNT_TO(scalar) {OP_NEG_I64 | OP_SCALAR, scalar, U_I, X, X, X, 0}
#define COUNT_TO_2 COUNT_TO(S_I2)
#define BOTH {OP_LT_VV_I64 | OP_SCALAR, S_B, U_I, U_I, X, X, 0}
#define DIVIDE {OP_IDIV_VV_I64, R_D2, C_I, C_I, X, ALL, 0}
#define STORE {OP_COPY_F32, C_F, C_F, X, X, X, 0}

static void registers_are_set_before_they_are_read(void) {
  ACCEPTS(2, FILL_D, COPY_D);
  REFUSES(1, COPY_D);
  REFUSES(2, FILL_I, COPY_D);
  /* a skip leaves unset what it jumps over, or set as something else */
  REFUSES(3, SKIP_TO(2), FILL_D, COPY_D);
  ACCEPTS(4, FILL_D, SKIP_TO(3), FILL_D, COPY_D);
  REFUSES(4, FILL_D, SKIP_TO(3), FILL_I, COPY_D);
  /* a loop may do no round, and its second round finds what the first one left */
  REFUSES(4, LOOP_TO(2), FILL_D, END_OF(0), COPY_D);
  ACCEPTS(5, FILL_D, LOOP_TO(3), FILL_D, END_OF(1), COPY_D);
  REFUSES(5, FILL_D, LOOP_TO(4), COPY_D, FILL_I, END_OF(1));
  REFUSES(5, FILL_D, LOOP_TO(3), FILL_I, END_OF(1), COPY_D);
}

static void rows_stay_whole(void) {
  ACCEPTS(2, DIVIDE, STORE);
  REFUSES(2, STORE, DIVIDE);
  REFUSES(4, LOOP_TO(3), DIVIDE, STORE, END_OF(0));
  ACCEPTS(4, LOOP_TO(2), DIVIDE, END_OF(0), STORE);
}

static void loops_and_skips_nest_and_end(void) {
  ACCEPTS(3, LOOP_TO(2), STORE, END_OF(0));
  REFUSES(2, LOOP_TO(1), STORE);
  REFUSES(1, END_OF(0));
  REFUSES(4, SKIP_TO(2), LOOP_TO(3), STORE, END_OF(1));
  REFUSES(4, LOOP_TO(2), SKIP_TO(3), END_OF(0), STORE);
  REFUSES(2, SKIP_TO(0), STORE);
  REFUSES(2, SKIP_TO(3), STORE);
  ACCEPTS(2, SKIP_TO(2), STORE);
  REFUSES(4, SKIP_TO(3), LOOP_TO(3), STORE, END_OF(1));
  REFUSES(1, LOOP_TO(2));
  REFUSES(3, LOOP_TO(2), STORE, {OP_END, S_I2, U_I, ALL, 0, X, 0});
  REFUSES(4, COUNT_TO_2, LOOP_TO(3), STORE, {OP_END, S_I, S_I2, ALL, 1, X, 0});
  REFUSES(4, COUNT_TO(S_I), {OP_LOOP, S_I, S_I, ALL, 3, X, 0}, STORE,
          {OP_END, S_I, S_I, ALL, 1, X, 0});
  /* the counter and the number of rounds are not to be changed */
  REFUSES(4, COUNT_TO_2, {OP_LOOP, S_I, S_I2, ALL, 3, X, 0}, COUNT_TO_2,
          {OP_END, S_I, S_I2, ALL, 1, X, 0});
  REFUSES(3, LOOP_TO(2), {OP_ADD_VV_I64 | OP_SCALAR, S_I, S_I, U_I, X, X, 0}, END_OF(0));
  REFUSES(3, LOOP_TO(2), {OP_ADD_VV_I64 | OP_SCALAR, U_I, S_I, U_I, X, X, 0}, END_OF(0));
  ACCEPTS(3, LOOP_TO(2), {OP_ADD_VV_I64 | OP_SCALAR, S_I2, S_I, U_I, X, X, 0}, END_OF(0));
}

static void operands_are_what_they_are_taken_for(void) {
  ACCEPTS(1, {OP_NEG_I64, C_I, C_E, X, X, X, 0});
  REFUSES(1, {OP_NEG_I64, R_F, C_I, X, X, X, 0});
  REFUSES(1, {OP_NEG_I64, C_F, C_I, X, X, X, 0});
  REFUSES(1, {OP_NEG_F64, R_D, C_I, X, X, X, 0});
  REFUSES(1, {OP_NOT, ALL, C_M, X, X, X, 0});
  REFUSES(1, {OP_NEG_F32, R_M, C_F, X, X, X, 0});
  REFUSES(1, {OP_NEG_F32, R_F, ALL, X, X, X, 0});
  REFUSES(1, {OP_NEG_F64, R_D, K_D, X, X, X, 0});
  REFUSES(2, FILL_D, {OP_FILL_F64, R_D2, R_D, X, X, X, 0});
  REFUSES(1, {OP_RANGE_I8, R_D, C_I, X, X, ALL, 0});
  REFUSES(1, {OP_EMIT, C_I, C_M, X, X, X, 0});
  REFUSES(1, {OP_EMIT, R_D, C_M, X, X, X, 0});
  ACCEPTS(1, {OP_NOT, R_M2, ALL, X, X, X, 0});
  ACCEPTS(1, {OP_EMIT, BITS, C_M, X, X, X, 0});
  REFUSES(1, {OP_EMIT, TOTAL, C_M, X, X, X, 0});
  REFUSES(1, {OP_EMIT | OP_SCALAR, BITS, U_I, X, X, X, 0});
  ACCEPTS(2, FILL_D, {OP_SUM_F64, TOTAL, R_D, X, X, ALL, 0});
  REFUSES(2, FILL_D, {OP_MIN_F64, TOTAL, R_D, X, X, ALL, 0});
  REFUSES(1, {OP_SUM_I64, TOTAL, C_I, X, X, ALL, 0});
  REFUSES(1, {OP_NEG_F32, R_F2, C_F, C_F, X, X, 0});
  REFUSES(1, {OP_COUNT, X, X, X, X, X, 0});
  REFUSES(1, {OP_LOAD_U8, R_D, C_M, X, X, X, 0});
  ACCEPTS(1, {OP_LIVE, R_D, C_E, X, X, ALL, 0});
  REFUSES(1, {OP_LIVE, R_D, C_E, X, X, X, 0});
  REFUSES(1, {OP_LIVE, R_D, C_I, X, X, ALL, 0});
}

static void what_is_done_once_is_scalar(void) {
  static const k_insn scalar = {OP_NEG_I64 | OP_SCALAR, S_I, U_I, X, X, X, 0};
  static const k_insn wrong = {OP_NEG_I64 | OP_SCALAR, C_I, U_I, X, X, X, 0};
  static const k_insn varying = STORE,
                      failing = {OP_IDIV_VV_I64 | OP_SCALAR, S_I, U_I, U_I, X, ALL, 0};
  CHECK(accepts(1, 1, &scalar));
  CHECK(!accepts(2, 1, &scalar));
  CHECK(!accepts(1, 1, &wrong));
  CHECK(accepts(0, 1, &varying) && !accepts(1, 1, &varying));
  CHECK(!accepts(0, 1, &failing));
  ACCEPTS(1, BOTH);
  REFUSES(2, BOTH, {OP_IDIV_VV_I64 | OP_SCALAR, S_I, U_I, U_I, X, S_B, 0});
  /* uniforms and constants stay, and a scalar holds what it is for */
  REFUSES(1, COUNT_TO(U_I));
  REFUSES(1, {OP_NEG_F64 | OP_SCALAR, K_D, K_D, X, X, X, 0});
  REFUSES(1, {OP_NEG_F64 | OP_SCALAR, S_I, K_D, X, X, X, 0});
}

/* What loads and stores narrow integers, from and to columns of each type. */
static void narrow_columns_have_their_own_instructions(void) {
  for (int op = 0; op < 6; op++)
    for (int type = 0; type < KC_COUNT; type++) {
      k_insn insn = {(uint16_t)(OP_LOAD_I8 + op), R_D, C_I, X, X, X, 0};
      struct program p = small_program(0, 1, &insn);
      uint8_t columns[] = {KC_F32, (uint8_t)type, KC_I64, KC_ENTITY, KC_F64};
      p.columns = columns;
      CHECK(program_check(&p) == (type == KC_I8 + op));
      insn = (k_insn){(uint16_t)(OP_STORE_I8 + op), C_I, C_M, X, X, X, 0};
      CHECK(program_check(&p) == (type == KC_I8 + op));
    }
}

static void skips_are_no_deeper_than_the_checker(void) {
  k_insn insns[MAX_DEPTH + 2];
  const k_insn skip = SKIP_TO(MAX_DEPTH + 1), store = STORE;
  for (int i = 0; i <= MAX_DEPTH; i++) insns[i] = skip;
  insns[MAX_DEPTH + 1] = store;
  CHECK(!accepts(0, MAX_DEPTH + 2, insns));
  insns[0] = store;
  CHECK(accepts(0, MAX_DEPTH + 2, insns));
}

/* A long block has no room for registers, nor a mask of all its rows. */
static void long_blocks_have_columns_only(void) {
  k_insn insn = {OP_NOT, C_M, C_M, X, X, X, 0};
  struct program p = small_program(0, 1, &insn);
  p.whole = 1;
  CHECK(!program_check(&p));
  p.reg1_count = p.reg4_count = 0;
  CHECK(!program_check(&p));
  p.reg8_count = 0;
  CHECK(program_check(&p));
  insn.a = (uint16_t)program_numbering(&p).all;
  CHECK(!program_check(&p));
  p.whole = 0;
  CHECK(program_check(&p));
  insn.a = C_M;
  p.whole = 2;
  CHECK(!program_check(&p));
  p.whole = 1;
  CHECK(program_check(&p));
  p.list_count = 1;
  CHECK(!program_check(&p));
}

#define ROWS_TO(end) {OP_ROWS, X, X, X, end, X, 0}
#define AT {OP_AT_8, R_D, C_I, A_D, X, X, 0}
#define GET {OP_GET_F64, R_D2, R_D, X, X, X, 0}
#define GET_OWN {OP_GET_F64, R_D2, C_C, X, X, X, 0}
#define SET_OWN {OP_SET_F64, X, C_C, R_D2, X, ALL, 0}
#define NEED {OP_NEED, X, C_M, X, X, ALL, 0}

static void cells_are_got_and_set_in_the_order_of_rows(void) {
  ACCEPTS(3, ROWS_TO(3), GET_OWN, SET_OWN);
  ACCEPTS(3, AT, ROWS_TO(3), GET);
  ACCEPTS(3, ROWS_TO(3), AT, GET);
  REFUSES(1, GET_OWN);
  REFUSES(2, AT, GET);
  REFUSES(3, ROWS_TO(2), GET_OWN, SET_OWN);
  REFUSES(3, GET_OWN, ROWS_TO(3), SET_OWN);
  REFUSES(2, ROWS_TO(2), {OP_GET_F64 | OP_SCALAR, S_I, C_C, X, X, X, 0});
  /* where it is has to be known, on every way */
  REFUSES(2, ROWS_TO(2), GET);
  REFUSES(4, ROWS_TO(4), SKIP_TO(3), AT, GET);
  ACCEPTS(5, AT, ROWS_TO(5), SKIP_TO(4), AT, GET);
  REFUSES(5, AT, ROWS_TO(5), SKIP_TO(4), {OP_AT_1, R_D, C_I, A_1, X, X, 0}, GET);
  REFUSES(4, ROWS_TO(4), LOOP_TO(3), GET, END_OF(1));
  REFUSES(2, ROWS_TO(2), SET_OWN);
}

static void cells_are_of_the_type_that_they_are_taken_for(void) {
  ACCEPTS(3, ROWS_TO(3), {OP_AT_1, R_D, C_I, A_1, X, X, 0}, {OP_GET_I8, R_D2, R_D, X, X, X, 0});
  REFUSES(3, ROWS_TO(3), {OP_AT_1, R_D, C_I, A_1, X, X, 0}, {OP_GET_U8, R_D2, R_D, X, X, X, 0});
  REFUSES(3, ROWS_TO(3), {OP_AT_1, R_D, C_I, A_1, X, X, 0}, GET);
  REFUSES(3, ROWS_TO(3), {OP_AT_1, R_D, C_I, A_D, X, X, 0}, GET);
  REFUSES(3, ROWS_TO(3), {OP_AT_8, R_D, C_I, A_1, X, X, 0}, GET);
  REFUSES(3, ROWS_TO(3), {OP_AT_8, R_D, C_I, L_C, X, X, 0}, GET);
  REFUSES(3, ROWS_TO(3), {OP_AT_8, C_I, C_I, A_D, X, X, 0}, GET);
  REFUSES(2, ROWS_TO(2), {OP_GET_I64, R_D2, C_C, X, X, X, 0});
  REFUSES(2, ROWS_TO(2), {OP_GET_F64, C_I, C_C, X, X, X, 0});
  REFUSES(3, FILL_D, ROWS_TO(3), GET);
  REFUSES(3, ROWS_TO(3), AT, {OP_COPY_F64, R_D2, R_D, X, X, X, 0});
  REFUSES(3, ROWS_TO(3), GET_OWN, {OP_SET_F64, X, C_C, R_D2, X, X, 0});
  REFUSES(3, FILL_I, ROWS_TO(3), {OP_SET_F64, X, C_C, R_D, X, ALL, 0});
  ACCEPTS(3, ROWS_TO(3), {OP_LOOK_CELL, R_D, C_I, L_C, X, ALL, 0}, GET);
  REFUSES(1, {OP_LOOK_CELL, R_D, C_I, L_D, X, ALL, 0});
  REFUSES(1, {OP_LOOK_F64, R_D, C_I, L_C, X, ALL, 0});
  ACCEPTS(1, {OP_LOOK_F64, R_D, C_I, L_D, X, ALL, 0});
}

static void what_is_in_the_order_of_rows_stands_by_itself(void) {
  REFUSES(2, ROWS_TO(3), GET_OWN);
  REFUSES(2, ROWS_TO(0), GET_OWN);
  REFUSES(3, ROWS_TO(3), ROWS_TO(3), GET_OWN);
  REFUSES(4, ROWS_TO(2), GET_OWN, ROWS_TO(4), GET_OWN);
  REFUSES(3, SKIP_TO(3), ROWS_TO(3), GET_OWN);
  REFUSES(4, LOOP_TO(3), ROWS_TO(3), GET_OWN, END_OF(0));
  ACCEPTS(4, ROWS_TO(3), SKIP_TO(3), GET_OWN, STORE);
  REFUSES(4, ROWS_TO(3), SKIP_TO(4), GET_OWN, STORE);
  ACCEPTS(4, ROWS_TO(4), LOOP_TO(3), GET_OWN, END_OF(1));
  REFUSES(4, ROWS_TO(3), LOOP_TO(3), GET_OWN, END_OF(1));
  REFUSES(3, FILL_D, ROWS_TO(3), {OP_SUM_F64, TOTAL, R_D, X, X, ALL, 0});
  /* rows stay whole: what fails comes before columns are stored to, and before the end */
  ACCEPTS(3, NEED, ROWS_TO(3), GET_OWN);
  ACCEPTS(4, ROWS_TO(4), GET_OWN, SET_OWN, NEED);
  ACCEPTS(3, ROWS_TO(3), NEED, STORE);
  REFUSES(3, ROWS_TO(2), GET_OWN, NEED);
  REFUSES(3, ROWS_TO(3), STORE, NEED);
  REFUSES(3, STORE, ROWS_TO(3), GET_OWN);
  REFUSES(5, ROWS_TO(5), LOOP_TO(4), NEED, STORE, END_OF(1));
}

#define FOLD {OP_FOLD_ADD_F64, R_D2, C_C, R_D, 0, ALL, 0}
#define UNFOLD {OP_UNFOLD, X, C_C, R_D2, 0, ALL, 0}

static void folds_are_undone_by_what_they_were_done_by(void) {
  ACCEPTS(3, FILL_D, FOLD, UNFOLD);
  ACCEPTS(4, FILL_D, NEED, FOLD, UNFOLD);
  ACCEPTS(5, FILL_D, FOLD, ROWS_TO(4), NEED, UNFOLD);
  REFUSES(2, FILL_D, FOLD);
  REFUSES(1, UNFOLD);
  REFUSES(4, FILL_D, FOLD, UNFOLD, UNFOLD);
  REFUSES(4, FILL_D, FOLD, FOLD, UNFOLD);
  REFUSES(4, FILL_D, FOLD, NEED, UNFOLD);
  REFUSES(4, FILL_D, FOLD, UNFOLD, NEED);
  REFUSES(4, FILL_D, FOLD, {OP_FILL_I64, R_D2, U_I, X, X, X, 0}, UNFOLD);
  REFUSES(3, FILL_D, FOLD, {OP_UNFOLD, X, C_C, R_D2, 0, C_M, 0});
  REFUSES(3, FILL_D, {OP_FOLD_ADD_F64, R_D2, C_C, R_D, 1, ALL, 0},
          {OP_UNFOLD, X, C_C, R_D2, 1, ALL, 0});
  REFUSES(3, FILL_D, {OP_FOLD_ADD_F32, R_D2, C_C, R_D, 0, ALL, 0}, UNFOLD);
  REFUSES(4, FILL_D, LOOP_TO(3), FOLD, END_OF(1));
  REFUSES(5, FILL_D, {OP_FILL_I64, R_D2, U_I, X, X, X, 0}, SKIP_TO(4), FOLD, UNFOLD);
  REFUSES(4, FILL_D, FOLD, ROWS_TO(4), UNFOLD);
  ACCEPTS(3, FILL_D, ROWS_TO(3), FOLD);
  REFUSES(4, FILL_D, ROWS_TO(4), FOLD, UNFOLD);
}

/* A header with one field at its limit passes, one above it does not. */
static int starts_with(uint16_t starts, k_insn insn) {
  struct program p = small_program(0, 1, &insn);
  p.starts = starts;
  return program_check(&p);
}

static void only_some_programs_start_with_some_rows(void) {
  const k_insn mask = {OP_START, R_M, START, X, X, X, 0};
  const k_insn put = {OP_PUT_F32, C_F, C_F, START, X, X, 0};
  CHECK(starts_with(1, mask) && starts_with(1, put));
  CHECK(!starts_with(0, mask) && !starts_with(0, put) && !starts_with(2, put));
  CHECK(!starts_with(1, (k_insn){OP_START, R_M, BITS, X, X, X, 0}));
  CHECK(!starts_with(1, (k_insn){OP_START, R_F, START, X, X, X, 0}));
  CHECK(!starts_with(1, (k_insn){OP_START | OP_SCALAR, S_B, START, X, X, X, 0}));
  CHECK(!starts_with(1, (k_insn){OP_EMIT, START, C_M, X, X, X, 0}));
  CHECK(!starts_with(1, (k_insn){OP_PUT_F32, C_F, C_F, ALL, X, X, 0}));
  CHECK(!starts_with(1, (k_insn){OP_PUT_F32, C_I, C_F, START, X, X, 0}));
}

static void headers_have_limits(void) {
  static uint8_t bytes[MAX_SCALARS + 1], totals[MAX_TOTALS + 1];
  static k_insn insns[MAX_INSNS + 1];
  const k_insn store = STORE;
  for (int i = 0; i <= MAX_INSNS; i++) insns[i] = store;
  for (int i = 0; i <= MAX_TOTALS; i++) totals[i] = KR_MAX * 4 + KT_I64;
  memset(bytes, KC_F32, sizeof bytes);
  for (int field = 0; field < 8; field++)
    for (int above = 0; above < 2; above++) {
      struct program p = small_program(0, 1, insns);
      p.columns = p.scalars = bytes;
      p.totals = totals;
      const int limits[8] = {MAX_COLUMNS, MAX_REGISTERS, MAX_REGISTERS, MAX_REGISTERS,
                             MAX_SCALARS, MAX_BITMAPS, MAX_TOTALS, MAX_INSNS};
      uint16_t *const fields[8] = {&p.column_count, &p.reg1_count, &p.reg4_count, &p.reg8_count,
                                   &p.scalar_count, &p.bitmap_count, &p.total_count, &p.insn_count};
      *fields[field] = (uint16_t)(limits[field] + above);
      CHECK(program_check(&p) == !above);
    }
}

static int takes_header(uint16_t block, uint8_t column, uint8_t scalar, uint8_t total) {
  k_insn insn = STORE;
  uint8_t columns[] = {KC_F32, KC_I64, KC_BOOL, column, KC_F64}, totals[] = {total};
  uint8_t scalars[] = {KT_I64, KT_F64, KT_I64, KT_I64, scalar};
  struct program p = small_program(0, 1, &insn);
  p.block = block;
  p.columns = columns;
  p.scalars = scalars;
  p.totals = totals;
  return program_check(&p);
}

static void headers_say_what_there_is(void) {
  const uint8_t sum = KR_SUM * 4 + KT_F64;
  CHECK(takes_header(64, KC_ENTITY, KT_BOOL, sum));
  CHECK(takes_header(K_BLOCK, KC_ENTITY, KT_BOOL, sum));
  CHECK(!takes_header(0, KC_ENTITY, KT_BOOL, sum));
  CHECK(!takes_header(96, KC_ENTITY, KT_BOOL, sum));
  CHECK(!takes_header(K_BLOCK + 64, KC_ENTITY, KT_BOOL, sum));
  CHECK(!takes_header(64, KC_COUNT, KT_BOOL, sum));
  CHECK(!takes_header(64, KC_ENTITY, KT_I64 + 1, sum));
  CHECK(!takes_header(64, KC_ENTITY, KT_BOOL, KR_FLOATS * 4 + KT_F64));
  CHECK(!takes_header(64, KC_ENTITY, KT_BOOL, (KR_FLOATS + 1) * 4 + KT_F64));
  CHECK(!takes_header(64, KC_ENTITY, KT_BOOL, KR_SUM * 4 + KT_F32));
}

int main(void) {
  registers_are_set_before_they_are_read();
  rows_stay_whole();
  loops_and_skips_nest_and_end();
  operands_are_what_they_are_taken_for();
  what_is_done_once_is_scalar();
  narrow_columns_have_their_own_instructions();
  skips_are_no_deeper_than_the_checker();
  long_blocks_have_columns_only();
  cells_are_got_and_set_in_the_order_of_rows();
  cells_are_of_the_type_that_they_are_taken_for();
  what_is_in_the_order_of_rows_stands_by_itself();
  folds_are_undone_by_what_they_were_done_by();
  only_some_programs_start_with_some_rows();
  headers_have_limits();
  headers_say_what_there_is();
  return failures != 0;
}
