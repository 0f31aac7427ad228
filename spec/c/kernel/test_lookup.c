/* Lookups: what a program finds by ids goes through the caller's function, of every type, also for
** uniform ids, where it reads what it writes over; dead ids of a column are not looked up twice.
** Values that are needed fail in the first row of the mask where they are not there. Programs that
** look up what nobody has declared do not pass the check. */
#define _POSIX_C_SOURCE 200112L
#include "kernel_test.h"

#include "kernel/ops.h"

enum { ROWS = 1300, TAG = 9 };

static k_isa isa;
static uint32_t asked[4];

static double worth(uint32_t number, int64_t id) { return (double)(id * 3 + (int64_t)number); }

static void look(void *ud, uint32_t number, const int64_t *from, const uint8_t *mask, void *to,
                 size_t n) {
  CHECK(ud == asked && number < 4 && (mask != NULL) == (number == KT_BOOL));
  asked[number] += (uint32_t)n;
  for (size_t i = 0; i < n; i++) {
    int64_t id = from[i];
    switch (number) {
      case KT_BOOL: ((uint8_t *)to)[i] = id % 3 != 0; break;
      case KT_F32: ((float *)to)[i] = (float)worth(number, id); break;
      case KT_F64: ((double *)to)[i] = worth(number, id); break;
      default: ((int64_t *)to)[i] = (int64_t)worth(number, id); break;
    }
  }
}

static void live(void *ud, int64_t *ids, const uint8_t *mask, size_t n) {
  (void)ud;
  (void)ids;
  (void)mask;
  CHECK(n == 0);   /* never asked for */
}

/* Column 0 ids; 1 the mask; 2, 3, 4 what is found; the bool is needed in the mask. */
static struct program *make(bool uniform) {
  static const k_column columns[] = {KC_ENTITY, KC_BOOL, KC_F32, KC_F64, KC_I64};
  struct builder *b = builder_new(&test_memory);
  for (int i = 0; i < 5; i++) build_column(b, columns[i]);
  for (uint32_t type = 0; type <= KT_I64; type++) CHECK(build_lookup(b, (k_type)type) == type);
  k_value id = uniform ? build_uniform(b, 0, KT_I64) : build_load(b, 0);
  k_value mask = build_load(b, 1);
  build_at(b, mask, TAG);
  k_value there = build_look(b, KT_BOOL, id, mask);
  CHECK(there == build_look(b, KT_BOOL, id, mask));
  CHECK(there == build_look(b, KT_BOOL, id, build_binary(b, KO_AND, mask, there)));
  build_need(b, there);
  build_need(b, build_binary(b, KO_AND, there, K_ALL));
  build_store(b, 2, build_look(b, KT_F32, id, K_ALL));
  build_store(b, 3, build_look(b, KT_F64, id, K_ALL));
  build_store(b, 4, build_look(b, KT_I64, build_look(b, KT_I64, id, K_ALL), K_ALL));
  build_at(b, build_binary(b, KO_AND, mask, there), TAG);
  CHECK(build_implies(b, build_binary(b, KO_AND, mask, there), there));
  CHECK(!build_implies(b, mask, there));
  build_need(b, there);
  return finish_build(b);
}

static void compare(void *const *columns, bool uniform, k_status status, const k_failure *failure) {
  const int64_t *ids = columns[0];
  const uint8_t *mask = columns[1];
  for (size_t i = 0; i < ROWS; i++) {
    int64_t id = uniform ? 7 : ids[i];
    if (mask[i] && id % 3 == 0) {
      CHECK(status == K_FAILED && failure->row == i && failure->tag == TAG);
      CHECK(failure->error == KE_NIL);
      return;
    }
    CHECK(((const float *)columns[2])[i] == (float)worth(KT_F32, id));
    CHECK(((const double *)columns[3])[i] == worth(KT_F64, id));
    CHECK(((const int64_t *)columns[4])[i] == id * 9 + 4 * KT_I64);
  }
  CHECK(status == K_OK);
}

static void run(bool uniform, int bad) {
  static const k_column types[] = {KC_I64, KC_BOOL, KC_F32, KC_F64, KC_I64};
  void *columns[5];
  for (int i = 0; i < 5; i++) columns[i] = column_new(types[i], ROWS);
  for (int i = 0; i < ROWS; i++) {
    ((uint8_t *)columns[1])[i] = (uint8_t)random_below(2);
    ((int64_t *)columns[0])[i] = 3 * random_below(1000) + 1;
    if (bad && random_below(400) == 0) ((int64_t *)columns[0])[i] += 2;
  }
  struct program *p = make(uniform);
  struct machine *m = machine_new(&test_memory, isa);
  CHECK(p && machine_reserve(m, p) == K_OK && program_info(p).fails && !program_info(p).live);
  const k_scalar uniforms[1] = {{.i64 = 7}};
  k_run r;
  k_failure failure;
  memset(&r, 0, sizeof r);
  memset(asked, 0, sizeof asked);
  r.rows = ROWS;
  r.columns = columns;
  r.uniforms = uniforms;
  r.live = live;
  r.look = look;
  r.look_ud = asked;
  k_status status = machine_run(m, p, &r, &failure);
  compare(columns, uniform, status, &failure);
  if (status == K_OK) CHECK(asked[KT_BOOL] == ROWS && asked[KT_I64] == 2 * ROWS);
  machine_free(m);
  program_free(p);
  for (int i = 0; i < 5; i++) {
    CHECK(column_intact(types[i], columns[i], ROWS));
    column_free(columns[i]);
  }
}

static void try_check(void) {
  struct program *p = make(false);
  struct numbering at = program_numbering(p);
  k_insn *k = p->insns;
  while (k->op != OP_LOOK_F64) k++;
  for (uint32_t operand = 0; operand <= at.count; operand++) {
    k->b = (uint16_t)operand;
    CHECK(program_check(p) == (operand == at.lookups + KT_F64));
  }
  k->b = (uint16_t)(at.lookups + KT_F64);
  p->lookups[KT_F64] = KT_I64;
  CHECK(!program_check(p));
  p->lookups[KT_F64] = KT_I64 + 1;
  CHECK(!program_check(p));
  p->lookups[KT_F64] = KT_F64;
  CHECK(program_check(p));
  char text[2000];
  program_text(p, text, sizeof text);
  CHECK(strstr(text, "look.f64") && strstr(text, "lookup2") && strstr(text, "need"));
  program_free(p);
}

static void try_builder(void) {
  struct builder *b = builder_new(&test_memory);
  CHECK(build_look(b, 0, build_i64(b, 1), K_ALL) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  for (uint32_t i = 0; i < MAX_LOOKUPS; i++) CHECK(build_lookup(b, KT_BOOL) == i);
  CHECK(build_look(b, 0, build_f64(b, 1), K_ALL) == K_NONE && builder_status(b) == K_EINVAL);
  builder_free(b);
  b = builder_new(&test_memory);
  for (uint32_t i = 0; i < MAX_LOOKUPS; i++) build_lookup(b, KT_BOOL);
  CHECK(build_lookup(b, KT_BOOL) == NONE && builder_status(b) == K_ELIMIT);
  build_need(b, K_ALL);
  builder_free(b);
}

int main(void) {
  for (int i = 0; i < K_ISAS; i++) {
    isa = (k_isa)i;
    if (!isa_supported(isa)) continue;
    for (int round = 0; round < 20; round++) run(round % 4 == 3, round % 2);
  }
  try_check();
  try_builder();
  CHECK(bytes_in_use == 0);
  return failures != 0;
}
