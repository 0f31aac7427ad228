/* Elements of arrays: of every type, by indexes that vary and that do not, under masks, on every
** instruction set; what is outside fails in the first such row. Programs that take elements of
** other arrays than there are do not pass the check. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/ops.h"

enum { ROWS = 1500, LENGTH = 37, TAG = 5 };

static k_isa isa;

/* One program: column 2 is the element of array 1 at column 0, in the rows of column 1. */
struct trial {
  k_column type;
  bool uniform;
  void *columns[3];
  void *array;
};

static k_column column_for(k_column type) {
  return type == KC_BOOL || type == KC_F32 || type == KC_F64 ? type : KC_I64;
}

static struct program *make(const struct trial *t) {
  struct builder *b = builder_new(&test_memory);
  build_column(b, KC_I64);
  build_column(b, KC_BOOL);
  build_column(b, column_for(t->type));
  CHECK(build_array(b, KC_F32) == 0);
  CHECK(build_array(b, t->type) == 1);
  k_value mask = build_load(b, 1);
  build_at(b, mask, TAG);
  k_value index = t->uniform ? build_uniform(b, 0, KT_I64) : build_load(b, 0);
  k_value element = build_element(b, 1, index);
  build_need(b, build_inside(b, 1, index));
  build_store(b, 2, build_select(b, mask, element, build_load(b, 2)));
  return finish_build(b);
}

/* Indexes with one outside in a hundred rows, and half of the rows in the mask. */
static void fill(const struct trial *t, int outside) {
  static const int64_t far[] = {0, -1, LENGTH + 1, INT64_MIN, INT64_MAX};
  int64_t *index = t->columns[0];
  uint8_t *mask = t->columns[1];
  for (int i = 0; i < LENGTH; i++)
    column_set(t->type, t->array, (size_t)i, random_for_column(t->type));
  for (int i = 0; i < ROWS; i++) {
    mask[i] = (uint8_t)random_below(2);
    index[i] = 1 + random_below(LENGTH);
    if (random_below(100) == 0 && (outside || !mask[i])) index[i] = far[random_below(5)];
  }
}

static void compare(const struct trial *t, int64_t uniform, k_status status,
                    const k_failure *failure) {
  const int64_t *index = t->columns[0];
  const uint8_t *mask = t->columns[1];
  for (size_t i = 0; i < ROWS; i++) {
    int64_t at = t->uniform ? uniform : index[i];
    value got = column_get(column_for(t->type), t->columns[2], i), want = got;
    if (mask[i] && (at < 1 || at > LENGTH)) {
      CHECK(status == K_FAILED && failure->row == i && failure->tag == TAG);
      CHECK(failure->error == KE_ABSENT);
      return;
    }
    if (mask[i]) want = column_get(t->type, t->array, (size_t)at - 1);
    CHECK(equal(got, want));
  }
  CHECK(status == K_OK);
}

static void run(const struct trial *t, int64_t uniform) {
  static float other[1];
  struct program *p = make(t);
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(p && machine_reserve(m, p) == K_OK);
  const k_array arrays[2] = {{other, 1}, {t->array, LENGTH}};
  const k_scalar uniforms[1] = {{.i64 = uniform}};
  k_run r;
  k_failure failure;
  memset(&r, 0, sizeof r);
  r.rows = ROWS;
  r.columns = t->columns;
  r.uniforms = uniforms;
  r.arrays = arrays;
  k_status status = machine_run(m, p, &r, &failure);
  compare(t, uniform, status, &failure);
  machine_free(m);
  program_free(p);
}

static void try_type(k_column type) {
  struct trial t = {.type = type};
  const k_column columns[3] = {KC_I64, KC_BOOL, column_for(type)};
  for (int i = 0; i < 3; i++) t.columns[i] = column_new(columns[i], ROWS);
  t.array = column_new(type, LENGTH);
  for (int round = 0; round < 20; round++) {
    fill(&t, round % 2);
    t.uniform = false;
    run(&t, 0);
    t.uniform = true;
    run(&t, random_below(LENGTH + 3));
  }
  CHECK(column_intact(type, t.array, LENGTH));
  for (int i = 0; i < 3; i++) {
    CHECK(column_intact(columns[i], t.columns[i], ROWS));
    column_free(t.columns[i]);
  }
  column_free(t.array);
}

static k_insn *element_of(struct program *p) {
  for (uint32_t i = 0; i < p->insn_count; i++)
    if (p->insns[i].op == OP_ELEMENT_I32) return &p->insns[i];
  return NULL;
}

/* Where an index is outside the first element is taken: what lies behind the last one is not
** read. */
static void try_outside(k_column type) {
  static const int64_t far[] = {0, -1, LENGTH + 1, LENGTH + 2, INT64_MIN, INT64_MAX, 1, LENGTH};
  struct trial t = {.type = type, .array = column_new(type, LENGTH + 1)};
  void *out = column_new(column_for(type), ROWS);
  int64_t index[ROWS];
  for (size_t i = 0; i <= LENGTH; i++) column_set(type, t.array, i, random_for_column(type));
  for (int i = 0; i < ROWS; i++) index[i] = far[random_below(8)];
  const k_array array = {t.array, LENGTH};
  void *at[] = {out, index, (void *)(uintptr_t)&array};
  const k_insn k = {.op = (uint16_t)(OP_ELEMENT_BOOL + type), .dst = 0, .a = 1, .b = 2};
  CHECK(isa_ops(isa)[k.op](&k, at, ROWS - 1) == ROWS - 1);
  for (size_t i = 0; i < ROWS - 1; i++) {
    size_t element = index[i] == LENGTH ? LENGTH - 1 : 0;
    CHECK(equal(column_get(column_for(type), out, i), column_get(type, t.array, element)));
  }
  column_free(t.array);
  column_free(out);
}

static void try_check(void) {
  struct trial t = {.type = KC_I32};
  struct program *p = make(&t);
  struct numbering at = program_numbering(p);
  k_insn *k = element_of(p);
  if (!CHECK(k != NULL && program_check(p))) return;
  for (uint32_t operand = 0; operand <= at.count; operand++) {
    k->b = (uint16_t)operand;
    CHECK(program_check(p) == (operand == at.arrays + 1));
  }
  k->b = (uint16_t)(at.arrays + 1);
  k->op = OP_ELEMENT_U32;
  CHECK(!program_check(p));
  k->op = OP_ELEMENT_I32;
  p->arrays[1] = KC_ENTITY;
  CHECK(!program_check(p));
  p->arrays[1] = KC_I32;
  CHECK(program_check(p));
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "element.i32") && strstr(text, "array1"));
  program_free(p);
}

static void try_builder(void) {
  struct builder *b = builder_new(&test_memory);
  CHECK(build_array(b, KC_ENTITY) == NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  CHECK(build_element(b, 0, build_i64(b, 1)) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  for (uint32_t i = 0; i < MAX_ARRAYS; i++) CHECK(build_array(b, KC_U8) == i);
  CHECK(build_element(b, 0, build_f64(b, 1)) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  for (uint32_t i = 0; i < MAX_ARRAYS; i++) build_array(b, KC_U8);
  CHECK(build_array(b, KC_U8) == NONE && builder_status(b) == K_ELIMIT);
  builder_free(b);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (int type = 0; type < KC_ENTITY; type++) {
      try_type((k_column)type);
      try_outside((k_column)type);
    }
  }
  try_check();
  try_builder();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
