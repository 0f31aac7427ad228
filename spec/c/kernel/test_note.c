/* Notes: steps on elements of arrays are taken in the order of rows, whatever the type of the
** array, on every instruction set; a row that fails undoes its own and stores nothing; where there
** is no room a row fails. What is written may not be looked at, and programs with unsound sites do
** not pass the check. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/build.h"
#include "kernel/ops.h"

enum { ROWS = 1500, LENGTH = 11, ROUNDS = 40 };

static k_isa isa;

/* Column 0: indexes, 1: a mask, 2: operands (f64), 3: operands (i64), 4: what is stored. */
struct trial {
  k_column type;
  int rounds;                  /* 0: not in a loop */
  bool fails;                  /* some indexes are outside, and some values do not fit */
  void *columns[5];
  void *array, *other;
};

static const k_column columns[5] = {KC_I64, KC_BOOL, KC_F64, KC_I64, KC_I64};

static void state_steps(struct builder *b, k_column type) {
  k_value index = build_load(b, 0), real = build_load(b, 2), whole = build_load(b, 3);
  const struct build_step chain[3] = {{KS_ADD, false, whole}, {KS_MAX, true, build_i64(b, -9)},
                                      {KS_MIN, false, build_i64(b, 90)}};
  const struct build_step turned[1] = {{KS_SUB, true, real}};
  build_note(b, 0, build_i64(b, 2), chain, 1);
  build_note(b, 1, index, chain, 3);
  if (type == KC_F32 || type == KC_F64) build_note(b, 1, index, turned, 1);
}

/* Whether all rows note something down in front of the loop, too. */
static bool notes_before(const struct trial *t) { return t->rounds && t->type % 2 == 0; }

static struct program *make(const struct trial *t) {
  struct builder *b = builder_new(&test_memory);
  struct program *p = NULL;
  for (int i = 0; i < 5; i++) build_column(b, columns[i]);
  CHECK(build_array(b, KC_F64) == 0);
  CHECK(build_array(b, t->type) == 1);
  k_value mask = build_load(b, 1);
  build_at(b, mask, 7);
  if (notes_before(t)) {
    const struct build_step step[1] = {{KS_ADD, false, build_load(b, 3)}};
    build_at(b, K_ALL, 7);
    build_note(b, 0, build_i64(b, 2), step, 1);
  }
  if (t->rounds) {
    build_loop(b, build_i64(b, t->rounds), mask);
    build_at(b, mask, 7);
    state_steps(b, t->type);
    build_endloop(b, mask);
  } else {
    state_steps(b, t->type);
  }
  build_store(b, 4, build_binary(b, KO_ADD, build_load(b, 4), build_i64(b, 1)));
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  return p;
}

static double get(k_column type, const void *array, size_t at) {
  value v = column_get(type, (void *)(uintptr_t)array, at);
  return v.type == KT_F32 ? (double)v.k.f32 : v.type == KT_F64 ? v.k.f64 : (double)v.k.i64;
}

static void put(k_column type, void *array, size_t at, double x) {
  value v = column_get(type, array, at);
  if (v.type == KT_F32)
    v.k.f32 = (float)x;
  else if (v.type == KT_F64)
    v.k.f64 = x;
  else
    v.k.i64 = (int64_t)x;
  column_set(type, array, at, v);
}

static bool takes(k_column type, double x) {
  static const double least[KC_COUNT] = {[KC_I8] = -128, [KC_I16] = -32768, [KC_I32] = -1e9,
                                         [KC_I64] = -1e15};
  return type == KC_F32 || type == KC_F64 || x >= least[type];
}

/* One row, as it is meant; false when it fails, and has done nothing. */
static bool do_row(const struct trial *t, size_t row, void *array, double *other) {
  int64_t at = ((const int64_t *)t->columns[0])[row], whole = ((const int64_t *)t->columns[3])[row];
  double real = ((const double *)t->columns[2])[row], before = *other;
  if (notes_before(t)) *other += (double)whole;
  if (!((const uint8_t *)t->columns[1])[row]) return true;
  double kept = at < 1 || at > LENGTH ? 0 : get(t->type, array, (size_t)at - 1);
  for (int round = 0; round < (t->rounds ? t->rounds : 1); round++) {
    double x = at < 1 || at > LENGTH ? 0 : get(t->type, array, (size_t)at - 1) + (double)whole;
    *other += (double)whole;
    x = x < -9 ? -9 : x;
    x = x > 90 ? 90 : x;
    if (at < 1 || at > LENGTH || !takes(t->type, x)) {
      *other = before;
      if (at >= 1 && at <= LENGTH) put(t->type, array, (size_t)at - 1, kept);
      return false;
    }
    put(t->type, array, (size_t)at - 1, x);
    if (t->type == KC_F32 || t->type == KC_F64)
      put(t->type, array, (size_t)at - 1, real - get(t->type, array, (size_t)at - 1));
  }
  return true;
}

static void fill(const struct trial *t) {
  double *other = t->other;
  bool few = random_below(2);   /* those that do something lie in few stretches */
  for (size_t i = 0; i < ROWS; i++) {
    bool outside = t->fails && random_below(900) == 0;
    ((int64_t *)t->columns[0])[i] = outside ? LENGTH + 1 : 1 + random_below(LENGTH);
    ((uint8_t *)t->columns[1])[i] = few && i / 64 % 4 != 3 ? 0 : (uint8_t)random_below(2);
    ((double *)t->columns[2])[i] = random_below(1000) / 8.0;
    ((int64_t *)t->columns[3])[i] = random_below(5);
    ((int64_t *)t->columns[4])[i] = 0;
  }
  for (size_t i = 0; i < LENGTH; i++) {
    put(t->type, t->array, i, (double)random_below(50));
    other[i] = 1;
  }
}

static void compare(const struct trial *t, void *before, k_status status,
                    const k_failure *failure) {
  double other = 1;
  size_t end = status == K_FAILED ? failure->row : ROWS;
  bool sound = true;
  for (size_t row = 0; row < end; row++) sound &= do_row(t, row, before, &other);
  CHECK(sound && ((const double *)t->other)[1] == other);
  for (size_t i = 0; i < LENGTH; i++)
    CHECK(equal(column_get(t->type, before, i), column_get(t->type, t->array, i)));
  for (size_t row = 0; row < ROWS; row++)
    CHECK(((const int64_t *)t->columns[4])[row] == (row < end));
  if (status == K_FAILED) CHECK(!do_row(t, end, before, &other));
}

static k_status run(const struct trial *t, const struct program *p, k_failure *failure) {
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(m && machine_reserve(m, p) == K_OK);
  const k_array arrays[2] = {{t->other, LENGTH}, {t->array, LENGTH}};
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t->columns;
  r.arrays = arrays;
  k_status status = machine_run(m, p, &r, failure);
  machine_free(m);
  return status;
}

static void try_type(k_column type, int rounds) {
  struct trial t = {.type = type, .rounds = rounds};
  for (int i = 0; i < 5; i++) t.columns[i] = column_new(columns[i], ROWS);
  t.array = column_new(type, LENGTH);
  t.other = column_new(KC_F64, LENGTH);
  void *before = column_new(type, LENGTH);
  struct program *p = make(&t);
  for (int round = 0; round < 6; round++) {
    k_failure failure;
    t.fails = round % 2;
    fill(&t);
    for (size_t i = 0; i < LENGTH; i++) column_set(type, before, i, column_get(type, t.array, i));
    k_status status = run(&t, p, &failure);
    CHECK(status == K_OK || t.fails);
    if (status == K_FAILED) CHECK(failure.error == KE_ABSENT);
    compare(&t, before, status, &failure);
  }
  program_free(p);
  for (int i = 0; i < 5; i++) {
    CHECK(column_intact(columns[i], t.columns[i], ROWS));
    column_free(t.columns[i]);
  }
  CHECK(column_intact(type, t.array, LENGTH));
  column_free(t.array);
  column_free(t.other);
  column_free(before);
}

/* ---- what is not sound ---- */

static k_status finish_shared(bool used, bool aliased) {
  struct builder *b = builder_new(&test_memory);
  struct program *p = NULL;
  uint32_t tag = 0;
  build_column(b, KC_F64);
  build_array(b, KC_F64);
  build_at(b, K_ALL, 12);
  k_value one = build_i64(b, 1);
  k_value read = aliased ? build_uniform(b, 3, KT_F64) : build_element(b, 0, one);
  if (used && !aliased) build_need(b, build_inside(b, 0, one));
  if (aliased) build_alias(b, 0, 3);
  const struct build_step step = {KS_ADD, false, build_f64(b, 2)};
  build_note(b, 0, one, &step, 1);
  if (used) build_store(b, 0, build_binary(b, KO_ADD, read, build_load(b, 0)));
  k_status status = build_finish(b, &p);
  bool looped = true;
  if (status == K_SHARED) {
    CHECK(build_shared(b, &tag, &looped) == 0 && tag == (aliased ? 0u : 12u));
    CHECK(!looped);
  }
  builder_free(b);
  if (p) program_free(p);
  return status;
}

/* What was read is what it was, where no row can have noted a step since. */
static void try_noted(void) {
  struct builder *b = builder_new(&test_memory);
  build_column(b, KC_BOOL);
  build_array(b, KC_F64);
  build_array(b, KC_F64);
  k_value yes = build_load(b, 0), no = build_unary(b, KO_NOT, yes);
  const struct build_step step = {KS_ADD, false, build_f64(b, 2)};
  k_mark read = build_mark(b);
  build_at(b, yes, 0);
  build_note(b, 1, build_i64(b, 1), &step, 1);
  CHECK(build_noted(b, 1, read) && !build_noted(b, 0, read));
  CHECK(!build_noted(b, 1, build_mark(b)));
  build_at(b, no, 0);
  CHECK(!build_noted(b, 1, read));
  build_at(b, K_ALL, 0);
  CHECK(build_noted(b, 1, read));
  build_order(b, 0, build_i64(b, 1), build_i64(b, 1), K_NONE);
  CHECK(!build_noted(b, 0, read));
  read.loop = read.value;
  CHECK(build_noted(b, 0, read));
  builder_free(b);
}

/* Every row has a cell of its own, whatever its index is. */
static void try_cells(void) {
  struct builder *b = builder_new(&test_memory);
  struct program *p = NULL;
  for (int i = 0; i < 5; i++) build_column(b, columns[i]);
  CHECK(build_cells(b, KC_F64, 2) == 0);
  CHECK(build_element(b, 0, build_i64(b, 1)) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  for (int i = 0; i < 5; i++) build_column(b, columns[i]);
  build_cells(b, KC_F64, 2);
  build_at(b, build_load(b, 1), 7);
  const struct build_step step = {KS_ADD, false, build_load(b, 3)};
  build_note(b, 0, build_i64(b, 1), &step, 1);
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  struct trial t = {.type = KC_F64};
  for (int i = 0; i < 5; i++) t.columns[i] = column_new(columns[i], ROWS);
  t.array = column_new(KC_F64, LENGTH);
  t.other = column_new(KC_F64, LENGTH);
  fill(&t);
  static void *cells[ROWS];
  double want[LENGTH], *other = t.other;
  for (int i = 0; i < LENGTH; i++) want[i] = other[i];
  for (int i = 0; i < ROWS; i++) {
    cells[i] = &other[i * i % LENGTH];
    if (((uint8_t *)t.columns[1])[i])
      want[i * i % LENGTH] += (double)((int64_t *)t.columns[3])[i];
  }
  struct machine *m = machine_new(&test_memory, isa_best());
  CHECK(machine_reserve(m, p) == K_OK);
  const k_array arrays[1] = {{cells, ROWS}};
  k_run r;
  k_failure failure;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t.columns;
  r.arrays = arrays;
  CHECK(machine_run(m, p, &r, &failure) == K_OK);
  for (int i = 0; i < LENGTH; i++) CHECK(want[i] == other[i]);
  machine_free(m);
  program_free(p);
  for (int i = 0; i < 5; i++) column_free(t.columns[i]);
  column_free(t.array);
  column_free(t.other);
}

static void try_builder(void) {
  for (int aliased = 0; aliased < 2; aliased++) {
    CHECK(finish_shared(true, aliased) == K_SHARED);
    CHECK(finish_shared(false, aliased) == K_OK);
  }
  struct builder *b = builder_new(&test_memory);
  const struct build_step step = {KS_ADD, false, build_f64(b, 2)};
  build_note(b, 0, build_i64(b, 1), &step, 1);
  CHECK(builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  build_array(b, KC_BOOL);
  const struct build_step number = {KS_SET, false, build_f64(b, 2)};
  build_note(b, 0, build_i64(b, 1), &number, 1);
  CHECK(builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  build_array(b, KC_F64);
  const struct build_step last = {KS_SET, false, build_f64(b, 2)};
  for (int i = 0; i <= MAX_SITES; i++) build_note(b, 0, build_i64(b, 1), &last, 1);
  CHECK(builder_status(b) == K_ELIMIT);
  builder_free(b);
}

static void try_check(void) {
  struct trial t = {.type = KC_I32};
  struct program *p = make(&t);
  CHECK(program_check(p) && p->site_count == 4);
  k_site kept = p->sites[1];
  for (int i = 0; i < 6; i++) {
    uint8_t *bytes = (uint8_t *)&p->sites[1];
    bytes[i] = 0xee;
    CHECK(!program_check(p));
    p->sites[1] = kept;
  }
  struct numbering at = program_numbering(p);
  for (uint32_t i = 0; i < p->insn_count; i++) {
    k_insn *k = &p->insns[i], old = *k;
    if (k->op != OP_NOTE_VV_I64) continue;
    for (uint32_t operand = 0; operand <= at.count; operand++) {
      k->dst = (uint16_t)operand;
      CHECK(program_check(p) == (operand >= at.sites && operand < at.count));
    }
    *k = old;
    k->op = OP_NOTE_VV_F64;
    CHECK(!program_check(p));
    *k = old;
  }
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "note.i64 array1.add... =") && strstr(text, "array1.~max..."));
  program_free(p);
}

/* Loops note down more than there is room for, so that no memory is a row that fails. */
static void try_no_room(void) {
  struct trial t = {.type = KC_I64, .rounds = ROUNDS};
  for (int i = 0; i < 5; i++) t.columns[i] = column_new(columns[i], ROWS);
  t.array = column_new(KC_I64, LENGTH);
  t.other = column_new(KC_F64, LENGTH);
  void *before = column_new(KC_I64, LENGTH);
  struct program *p = make(&t);
  int starved = 0;
  for (int allowed = 0; allowed < 40; allowed++) {
    k_failure failure;
    fill(&t);
    for (size_t i = 0; i < LENGTH; i++)
      column_set(KC_I64, before, i, column_get(KC_I64, t.array, i));
    struct machine *m = machine_new(&test_memory, isa);
    CHECK(machine_reserve(m, p) == K_OK);
    const k_array arrays[2] = {{t.other, LENGTH}, {t.array, LENGTH}};
    k_run r;
    memset(&r, 0, sizeof r);
    r.rows = ROWS;
    r.columns = t.columns;
    r.arrays = arrays;
    fail_at = allowed;
    k_status status = machine_run(m, p, &r, &failure);
    fail_at = -1;
    machine_free(m);
    double other = 1;
    size_t end = status == K_FAILED ? failure.row : ROWS;
    if (status == K_FAILED) CHECK(failure.error == KE_ROOM && ++starved);
    for (size_t row = 0; row < end; row++) CHECK(do_row(&t, row, before, &other));
    for (size_t i = 0; i < LENGTH; i++)
      CHECK(equal(column_get(KC_I64, before, i), column_get(KC_I64, t.array, i)));
    for (size_t row = 0; row < ROWS; row++)
      CHECK(((const int64_t *)t.columns[4])[row] == (row < end));
    if (status == K_OK) break;
  }
  CHECK(starved > 0);
  program_free(p);
  for (int i = 0; i < 5; i++) column_free(t.columns[i]);
  column_free(t.array);
  column_free(t.other);
  column_free(before);
}

/* ---- orders ---- */

/* What was ordered, and from which number on entities are dead. */
struct given {
  int64_t dead;
  uint32_t room, count;
  struct {
    uint32_t order;
    int64_t entity;
    k_scalar value;
  } list[8 * ROWS];
};

static bool may_give(void *ud, uint32_t order, int64_t entity, k_scalar asked) {
  (void)asked;
  CHECK(order == 3 || order == 5);
  return entity < ((const struct given *)ud)->dead;
}

static bool make_room(void *ud, uint32_t count) {
  return count <= ((const struct given *)ud)->room;
}

static void give(void *ud, uint32_t order, int64_t entity, k_scalar with) {
  struct given *given = ud;
  given->list[given->count].order = order;
  given->list[given->count].entity = entity;
  given->list[given->count++].value = with;
}

/* Rows add 1 to an element and give two orders, those in the mask. */
static struct program *make_orders(void) {
  struct builder *b = builder_new(&test_memory);
  struct program *p = NULL;
  for (int i = 0; i < 5; i++) build_column(b, columns[i]);
  build_array(b, KC_F64);
  build_at(b, build_load(b, 1), 7);
  const struct build_step step = {KS_ADD, false, build_i64(b, 1)};
  build_order(b, 3, build_load(b, 0), build_load(b, 2), K_NONE);
  build_note(b, 0, build_i64(b, 2), &step, 1);
  build_order(b, 5, build_load(b, 0), build_load(b, 1), K_NONE);
  build_store(b, 4, build_i64(b, 1));
  CHECK(build_finish(b, &p) == K_OK);
  builder_free(b);
  return p;
}

static k_status give_orders(const struct trial *t, struct given *given, k_failure *failure) {
  struct program *p = make_orders();
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(machine_reserve(m, p) == K_OK);
  const k_array arrays[1] = {{t->other, LENGTH}};
  const k_orders orders = {.check = may_give, .reserve = make_room, .give = give, .ud = given};
  k_run r;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t->columns;
  r.arrays = arrays;
  r.orders = &orders;
  k_status status = machine_run(m, p, &r, failure);
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "note.f64 order3 = c0, c2, c1"));
  machine_free(m);
  program_free(p);
  return status;
}

static void try_orders(int64_t dead, uint32_t room, k_error error) {
  static struct given given;
  struct trial t = {.type = KC_F64};
  k_failure failure = {.error = KE_NONE};
  for (int i = 0; i < 5; i++) t.columns[i] = column_new(columns[i], ROWS);
  t.other = column_new(KC_F64, LENGTH);
  t.array = column_new(KC_F64, LENGTH);
  fill(&t);
  for (int64_t i = 0; i < ROWS; i++) ((int64_t *)t.columns[0])[i] = i;
  given.dead = dead;
  given.room = room;
  given.count = 0;
  k_status status = give_orders(&t, &given, &failure);
  size_t end = status == K_FAILED ? failure.row : ROWS, count = 0;
  CHECK(failure.error == error && (error != KE_DEAD || failure.value.i64 == (int64_t)end));
  for (size_t row = 0; row < ROWS; row++) {
    CHECK(((const int64_t *)t.columns[4])[row] == (row < end));
    if (row >= end || !((const uint8_t *)t.columns[1])[row]) continue;
    for (int i = 0; i < 2; i++, count++) {
      CHECK(given.list[count].order == (i ? 5 : 3));
      CHECK(given.list[count].entity == (int64_t)row);
    }
  }
  CHECK(count == given.count && ((const double *)t.other)[1] == 1 + (double)count / 2);
  for (int i = 0; i < 5; i++) column_free(t.columns[i]);
  column_free(t.array);
  column_free(t.other);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (int type = KC_F32; type < KC_ENTITY; type++) {
      try_type((k_column)type, 0);
      try_type((k_column)type, 3);
    }
    try_no_room();
    try_orders(INT64_MAX, UINT32_MAX, KE_NONE);
    try_orders(700, UINT32_MAX, KE_DEAD);
    try_orders(0, UINT32_MAX, KE_DEAD);
    try_orders(ROWS - 10, UINT32_MAX, KE_DEAD);
    try_orders(INT64_MAX, 0, KE_ROOM);
  }
  try_cells();
  try_noted();
  try_builder();
  try_check();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
