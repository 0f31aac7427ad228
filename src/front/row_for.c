/* By integers a row does as many rounds more, behind its first one, as steps lead from its start to
** its limit. By floats it goes on until it is beyond its limit. */
#include "front/row_for.h"

#include "front/row_loop.h"

/* What rows count by, and how far. */
struct counting {
  struct front *f;
  const struct numeric *bounds;
  bool floats;
  bool ends;                   /* however many rounds it has: rows are never given up */
  k_value up;                  /* the rows whose step is above 0 */
  k_value init, limit, step;
  k_value more;                /* by integers: how many rounds come behind the first one */
  k_value number;              /* by floats: carried */
};

static k_value row_for_zero(struct front *f, k_type type) {
  return type == KT_I64 ? build_i64(f->b, 0) : build_f64(f->b, 0);
}

/* x where rows count up, y where they do not; only one of them where that is known. */
static k_value by_way(const struct counting *c, k_value x, k_value y) {
  return build_select(c->f->b, c->up, x, y);
}

/* Rows whose step is 0 are Lua's, which raises an error. */
static void row_for_find_way(struct counting *c) {
  struct front *f = c->f;
  k_type type = c->floats ? KT_F64 : KT_I64;
  double step;
  if (build_is_number(f->b, c->step, &step)) {
    c->up = build_bool(f->b, step > 0);
    return;
  }
  c->up = build_binary(f->b, KO_LT, row_for_zero(f, type), c->step);
  build_need(f->b, build_binary(f->b, KO_NE, c->step, row_for_zero(f, type)));
}

/* ---- by integers ---- */

/* x / y, without signs. */
static k_value row_for_quotient(struct builder *b, k_value x, k_value y) {
  k_value zero = build_i64(b, 0), one = build_i64(b, 1);
  k_value divisor = build_select(b, build_binary(b, KO_LT, zero, y), y, one);
  k_value half = build_binary(b, KO_IDIV, build_binary(b, KO_SHR, x, one), divisor);
  k_value least = build_binary(b, KO_SHL, half, one);
  k_value rest = build_binary(b, KO_SUB, x, build_binary(b, KO_MUL, least, divisor));
  k_value fits = build_binary(b, KO_ULT, rest, divisor);
  k_value small = build_select(b, fits, least, build_binary(b, KO_ADD, least, one));
  k_value large = build_select(b, build_binary(b, KO_LT, x, zero), one, zero);
  return build_select(b, build_binary(b, KO_LT, y, zero), large, small);
}

/* What the rows that begin the loop are, and how many rounds they do. */
static k_value count_integers(struct counting *c) {
  struct front *f = c->f;
  struct builder *b = f->b;
  k_value known_up, known_down;
  c->init = c->bounds->init.value;
  c->step = c->bounds->step.value;
  row_for_find_way(c);
  k_value top = numeric_limit(f, c->bounds->limit, true, &known_up).value;
  k_value bottom = numeric_limit(f, c->bounds->limit, false, &known_down).value;
  k_value up = build_binary(b, KO_AND, build_binary(b, KO_LE, c->init, top), known_up);
  k_value down = build_binary(b, KO_AND, build_binary(b, KO_LE, bottom, c->init), known_down);
  k_value span = by_way(c, build_binary(b, KO_SUB, top, c->init),
                        build_binary(b, KO_SUB, c->init, bottom));
  bool single = c->bounds->step.literal &&
                (c->bounds->step.number == 1 || c->bounds->step.number == -1);
  k_value by = by_way(c, c->step, build_unary(b, KO_NEG, c->step));
  c->more = single ? span : row_for_quotient(b, span, by);
  return by_way(c, up, down);
}

/* ---- by floats ---- */

static k_value row_for_count_floats(struct counting *c) {
  struct front *f = c->f;
  struct builder *b = f->b;
  number_decided(f, c->bounds->init, c->bounds->step, "counts from");
  number_decided(f, c->bounds->step, c->bounds->init, "counts by");
  c->init = number_as(f, c->bounds->init, KT_F64);
  c->limit = number_as(f, c->bounds->limit, KT_F64);
  c->step = number_as(f, c->bounds->step, KT_F64);
  row_for_find_way(c);
  k_value beyond = by_way(c, build_binary(b, KO_LT, c->limit, c->init),
                          build_binary(b, KO_LT, c->init, c->limit));
  return build_unary(b, KO_NOT, beyond);
}

/* ---- the loop ---- */

/* The rows that do another round, of those that are here, behind the number of this one. */
static k_value row_for_again(struct counting *c, k_value round) {
  struct builder *b = c->f->b;
  if (!c->floats) return build_binary(b, KO_ULT, round, c->more);
  k_value next = build_binary(b, KO_ADD, c->number, c->step);
  return by_way(c, build_binary(b, KO_LE, next, c->limit),
                build_binary(b, KO_LE, c->limit, next));
}

/* Rows whose loop has no round are behind it. */
static void row_for_enter(struct counting *c, const struct loop *loop, k_value enters) {
  struct front *f = c->f;
  k_value others = mask_and_not(f, f->env.mask, enters);
  front_jump(f, loop->end, others);
  f->env.mask = mask_and(f, f->env.mask, enters);
}

/* One attempt at the loop's body. */
static void row_for_compile_round(struct counting *c, struct loop *loop) {
  struct front *f = c->f;
  k_value most = c->ends ? build_i64(f->b, INT64_MAX) : row_loop_rounds(f);
  k_value round = rounds_begin(loop, most);
  c->number = c->floats ? build_carry(f->b, c->init, true)
                        : numeric_counter(loop, c->bounds, round);
  numeric_control(loop, c->bounds, c->number);
  rounds_compile(loop, loop->head + 1, loop->end - 1);
  front_join(f, loop->first_edge, loop->end - 1);
  loop->frame->pc = loop->end - 1;
  if (f->env.mask == K_NONE) return;
  k_value goes_on = row_for_again(c, round), here = f->env.mask;
  front_jump(f, loop->end, mask_and_not(f, here, goes_on));
  f->env.mask = mask_and(f, here, goes_on);
}

void row_for(struct front *f, struct frame *frame, struct loop *loop,
             const struct numeric *bounds) {
  struct counting c = {.f = f, .bounds = bounds, .number = K_NONE};
  c.floats = val_type(f, bounds->init) != KT_I64 || val_type(f, bounds->step) != KT_I64;
  bool varies = build_varies(f->b, bounds->init.value) || build_varies(f->b, bounds->limit.value) ||
                build_varies(f->b, bounds->step.value);
  c.ends = !varies && !c.floats;
  uint32_t head = frame->pc;
  row_for_enter(&c, loop, c.floats ? row_for_count_floats(&c) : count_integers(&c));
  loop->shrinks = true;
  rounds_open(loop, f, frame);
  do row_for_compile_round(&c, loop);
  while (rounds_again(loop));
  if (c.floats)
    build_next(f->b, c.number, build_binary(f->b, KO_ADD, c.number, c.step));
  rounds_end(loop);
  frame->pc = head;
  if (!c.ends) row_loop_give_up(f);
  f->env.mask = K_NONE;
  frame->pc = loop->end;
}
