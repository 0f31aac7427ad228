/* Numeric for. All rows do as many rounds where its bounds are the same for all and integers; else
** it is one of row_for.c. */
#include "front/numeric_for.h"

#include "front/mixed.h"
#include "front/row_for.h"

/* ---- how many rounds ---- */

static struct val for_loop_bound(struct front *f, uint32_t at, const char *what) {
  struct val value = mixed_settle(f, maybe_need(f, *front_register(f, at)));
  if (!val_is_number(f, value)) front_refuse(f, "its loop's %s is no number", what);
  return value;
}

/* How many steps lead from low to high, both included, as Lua counts them: without a sign.
** Of 2^63 steps and more the last ones are left out: nobody waits for them. */
static k_value count_between(struct front *f, struct val low, struct val high,
                             uint64_t step) {
  struct builder *b = f->b;
  assert(step > 0);
  if (low.literal && high.literal) {
    if (low.number > high.number) return build_i64(b, 0);
    uint64_t span = (uint64_t)high.number - (uint64_t)low.number;
    return build_i64(b, span / step < INT64_MAX ? (int64_t)(span / step) + 1 : INT64_MAX);
  }
  assert(step == 1);
  k_value span = build_binary(b, KO_SUB, high.value, low.value);
  k_value rounds = build_binary(b, KO_ADD, span, build_i64(b, 1)), most = build_i64(b, INT64_MAX);
  if (!low.literal || low.number < 1)
    rounds = build_select(b, build_binary(b, KO_ULT, span, most), rounds, most);
  k_value enters = build_binary(b, KO_LE, low.value, high.value);
  return build_select(b, enters, rounds, build_i64(b, 0));
}

struct val numeric_limit(struct front *f, struct val limit, bool up, k_value *enters) {
  struct builder *b = f->b;
  *enters = K_ALL;
  if (val_type(f, limit) == KT_I64) return limit;
  if (limit.literal && limit.number != 0) {
    limit.value = build_i64(b, limit.number);
    return limit;
  }
  struct val whole = val_number(f, K_NONE, false);
  k_value x = number_as(f, limit, KT_F64);
  k_value least = build_f64(b, -0x1p63), beyond = build_f64(b, 0x1p63);
  if (up) {
    *enters = build_binary(b, KO_GE, x, least);
    whole.value = build_unary(b, KO_BELOW, x);
    return whole;
  }
  *enters = build_unary(b, KO_NOT, build_binary(b, KO_GE, x, beyond));
  k_value below = build_unary(b, KO_BELOW, build_unary(b, KO_NEG, x));
  whole.value = build_select(b, build_binary(b, KO_GT, x, least), build_unary(b, KO_NEG, below),
                             build_i64(b, INT64_MIN));
  return whole;
}

/* Whether all rows do as many rounds, by integers, and how many is counted without a division. */
static bool is_one_for_all(struct front *f, const struct numeric *bounds) {
  struct val init = bounds->init, limit = bounds->limit, step = bounds->step;
  if (val_type(f, init) != KT_I64 || val_type(f, step) != KT_I64 || !step.literal) return false;
  if (build_varies(f->b, init.value) || build_varies(f->b, limit.value)) return false;
  bool whole = limit.literal && (val_type(f, limit) == KT_I64 || limit.number != 0);
  return step.number == 1 || step.number == -1 || (init.literal && whole);
}

static k_value count_rounds(struct front *f, const struct numeric *bounds) {
  k_value enters;
  int64_t by = bounds->step.number;
  struct val init = bounds->init, last = numeric_limit(f, bounds->limit, by > 0, &enters);
  assert(by != 0);
  k_value rounds = by > 0 ? count_between(f, init, last, (uint64_t)by)
                          : count_between(f, last, init, 0 - (uint64_t)by);
  return enters == K_ALL ? rounds : build_select(f->b, enters, rounds, build_i64(f->b, 0));
}

/* What bounds the integers of a loop of integers. A literal that is none says nothing of them. */
static uint8_t bits_of_rounds(const struct front *f, const struct numeric *bounds) {
  struct val limit = bounds->limit;
  bool whole = val_type(f, limit) == KT_I64 || (limit.literal && limit.number != 0);
  return whole ? mixed_bits_either(bounds->init, limit) : 0;
}

void numeric_control(struct loop *loop, const struct numeric *bounds, k_value counter) {
  struct front *f = loop->f;
  for (uint32_t i = 0; i < 4; i++) {
    struct val *control = front_register(f, loop->control + i);
    *control = val_number(f, counter, bounds->init.literal && bounds->limit.literal &&
                                          bounds->step.literal);
    if (val_type(f, *control) != KT_I64) continue;
    control->wide = val_is_wide(bounds->init) || val_is_wide(bounds->limit);
    control->bits = bits_of_rounds(f, bounds);
  }
}

k_value numeric_counter(struct loop *loop, const struct numeric *bounds, k_value round) {
  struct builder *b = loop->f->b;
  return build_binary(b, KO_ADD, bounds->init.value,
                      build_binary(b, KO_MUL, round, bounds->step.value));
}

static void for_all(struct front *f, struct frame *frame, struct loop *loop,
                    const struct numeric *bounds) {
  k_value rounds = count_rounds(f, bounds);
  rounds_open(loop, f, frame);
  do {
    k_value round = rounds_begin(loop, rounds);
    numeric_control(loop, bounds, numeric_counter(loop, bounds, round));
    rounds_compile(loop, loop->head + 1, loop->end - 1);
    front_join(f, loop->first_edge, loop->end - 1);
  } while (rounds_again(loop));
  rounds_end(loop);
}

void numeric_for(struct front *f, struct frame *frame) {
  const struct code *code = &frame->code->code[frame->pc];
  struct loop loop = {.head = frame->pc, .end = code->target + 1, .control = code->a};
  assert(code->kind == CODE_FOR && frame->code->code[code->target].kind == CODE_FOR_END);
  struct numeric bounds = {for_loop_bound(f, code->a, "start"),
                           for_loop_bound(f, code->a + 1, "limit"),
                           for_loop_bound(f, code->a + 2, "step")};
  double step;
  if (build_is_number(f->b, bounds.step.value, &step) && step == 0)
    front_refuse(f, "its loop's step is zero");
  if (is_one_for_all(f, &bounds))
    for_all(f, frame, &loop, &bounds);
  else
    row_for(f, frame, &loop, &bounds);
}
