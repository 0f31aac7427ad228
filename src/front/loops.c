#include "front/rounds.h"

/* Numeric `for`, and `for` over ipairs. If the bounds are integers and the same for all rows, all
** rows do the same number of rounds; otherwise each row counts its own (row_for). */

/* Bounds and step of a loop. */
struct numeric {
  struct val init, limit, step;
};

/* ---- how many rounds ---- */

static struct val for_loop_bound(struct front *f, uint32_t at, const char *what) {
  struct val value = mixed_settle(f, maybe_need(f, *front_register(f, at)));
  if (!val_is_number(f, value)) front_refuse(f, "its loop's %s is not a number", what);
  return value;
}

/* The number of steps from low to high, both included, as Lua counts them: unsigned. From 2^63
** steps on, the last ones are left out: no loop gets there. */
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

/* The limit of an integer loop, which Lua rounds towards the start: an integer, and the mask of
** rows that enter the loop at all, since the limit may be beyond all integers. */
static struct val numeric_limit(struct front *f, struct val limit, bool up, k_value *enters) {
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
  *enters = NUMBERS_ARE_DOUBLES ? build_binary(b, KO_LT, x, beyond)   /* not for NaN */
                                : build_unary(b, KO_NOT, build_binary(b, KO_GE, x, beyond));
  k_value below = build_unary(b, KO_BELOW, build_unary(b, KO_NEG, x));
  whole.value = build_select(b, build_binary(b, KO_GT, x, least), build_unary(b, KO_NEG, below),
                             build_i64(b, INT64_MIN));
  return whole;
}

/* Whether all rows do the same number of rounds, by integers, found without a division. */
static bool loops_is_one_for_all(struct front *f, const struct numeric *bounds) {
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

/* The bound (val.bits) of a loop's integers; 0 if a literal limit is not an integer. */
static uint8_t loops_bits_of_rounds(const struct front *f, const struct numeric *bounds) {
  struct val limit = bounds->limit;
  bool whole = val_type(f, limit) == KT_I64 || (limit.literal && limit.number != 0);
  return whole ? mixed_bits_either(bounds->init, limit) : 0;
}

/* Sets the loop's variables to the number of a round. */
static void numeric_control(struct loop *loop, const struct numeric *bounds, k_value counter) {
  struct front *f = loop->f;
  for (uint32_t i = 0; i <= FOR_VARIABLE; i++) {
    struct val *control = front_register(f, loop->control + i);
    *control = val_number(f, counter, bounds->init.literal && bounds->limit.literal &&
                                          bounds->step.literal);
    if (val_type(f, *control) != KT_I64) continue;
    control->wide = val_is_wide(bounds->init) || val_is_wide(bounds->limit);
    control->bits = loops_bits_of_rounds(f, bounds);
  }
}

/* The loop's integer in a round, by the round's number. */
static k_value numeric_counter(struct loop *loop, const struct numeric *bounds, k_value round) {
  struct builder *b = loop->f->b;
  bool single = bounds->step.literal && bounds->step.number == 1;
  if (!single) round = build_binary(b, KO_MUL, round, bounds->step.value);
  return build_binary(b, KO_ADD, bounds->init.value, round);
}

static void loops_for_all(struct front *f, struct frame *frame, struct loop *loop,
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

/* Rounds of a loop before the row falls back to Lua. */
#define MOST_ROUNDS 65536

static k_value row_loop_rounds(struct front *f) { return build_i64(f->b, MOST_ROUNDS); }

/* Makes the present rows fail, which have done MOST_ROUNDS rounds. */
static void row_loop_give_up(struct front *f) {
  assert(f->env.mask != K_NONE);
  build_at(f->b, f->env.mask, front_tag(f));
  build_give_up(f->b);
  f->env.mask = K_NONE;
}

/* ---- row for ---- */

/* With integers, a row does as many rounds after the first as steps lead from start to limit. With
** floats it continues until it is beyond the limit. */

/* How rows count, and how far. */
struct counting {
  struct front *f;
  const struct numeric *bounds;
  bool floats;
  bool ends;                   /* it surely ends, so its rounds are not limited */
  k_value up;                  /* the rows whose step is above 0 */
  k_value init, limit, step;
  k_value more;                /* with integers: number of rounds after the first */
  k_value number;              /* with floats: carried */
};

static k_value loops_row_for_zero(struct front *f, k_type type) {
  return type == KT_I64 ? build_i64(f->b, 0) : build_f64(f->b, 0);
}

/* x where rows count up, y where they count down; only one of them if the direction is known. */
static k_value loops_by_way(const struct counting *c, k_value x, k_value y) {
  return build_select(c->f->b, c->up, x, y);
}

/* Rows with step 0 fall back to Lua, which raises an error. */
static void loops_row_for_find_way(struct counting *c) {
  struct front *f = c->f;
  k_type type = c->floats ? KT_F64 : KT_I64;
  double step;
  if (build_is_number(f->b, c->step, &step)) {
    c->up = build_bool(f->b, step > 0);
    return;
  }
  c->up = build_binary(f->b, KO_LT, loops_row_for_zero(f, type), c->step);
  build_need(f->b, build_binary(f->b, KO_NE, c->step, loops_row_for_zero(f, type)));
}

/* ---- by integers ---- */

/* x / y, unsigned. */
static k_value loops_row_for_quotient(struct builder *b, k_value x, k_value y) {
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

/* The rows that begin the loop, and their number of rounds. */
static k_value count_integers(struct counting *c) {
  struct front *f = c->f;
  struct builder *b = f->b;
  k_value known_up, known_down;
  c->init = c->bounds->init.value;
  c->step = c->bounds->step.value;
  loops_row_for_find_way(c);
  k_value top = numeric_limit(f, c->bounds->limit, true, &known_up).value;
  k_value bottom = numeric_limit(f, c->bounds->limit, false, &known_down).value;
  k_value up = build_binary(b, KO_AND, build_binary(b, KO_LE, c->init, top), known_up);
  k_value down = build_binary(b, KO_AND, build_binary(b, KO_LE, bottom, c->init), known_down);
  k_value span = loops_by_way(c, build_binary(b, KO_SUB, top, c->init),
                              build_binary(b, KO_SUB, c->init, bottom));
  bool single = c->bounds->step.literal &&
                (c->bounds->step.number == 1 || c->bounds->step.number == -1);
  k_value by = loops_by_way(c, c->step, build_unary(b, KO_NEG, c->step));
  c->more = single ? span : loops_row_for_quotient(b, span, by);
  return loops_by_way(c, up, down);
}

/* ---- by floats ---- */

static k_value loops_row_for_count_floats(struct counting *c) {
  struct front *f = c->f;
  struct builder *b = f->b;
  number_decided(f, c->bounds->init, c->bounds->step, "counts from");
  number_decided(f, c->bounds->step, c->bounds->init, "counts by");
  c->init = number_as(f, c->bounds->init, KT_F64);
  c->limit = number_as(f, c->bounds->limit, KT_F64);
  c->step = number_as(f, c->bounds->step, KT_F64);
  loops_row_for_find_way(c);
  if (NUMBERS_ARE_DOUBLES)   /* Lua 5.4 does one round where the limit is NaN */
    return loops_by_way(c, build_binary(b, KO_LE, c->init, c->limit),
                        build_binary(b, KO_LE, c->limit, c->init));
  k_value beyond = loops_by_way(c, build_binary(b, KO_LT, c->limit, c->init),
                                build_binary(b, KO_LT, c->init, c->limit));
  return build_unary(b, KO_NOT, beyond);
}

/* ---- the loop ---- */

/* The present rows that do another round after the one with this number. */
static k_value loops_row_for_again(struct counting *c, k_value round) {
  struct builder *b = c->f->b;
  if (!c->floats) return build_binary(b, KO_ULT, round, c->more);
  k_value next = build_binary(b, KO_ADD, c->number, c->step);
  return loops_by_way(c, build_binary(b, KO_LE, next, c->limit),
                      build_binary(b, KO_LE, c->limit, next));
}

/* One attempt at the loop's body. */
static void loops_row_for_compile_round(struct counting *c, struct loop *loop) {
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
  front_jump_unless(f, loop->end, loops_row_for_again(c, round));
}

static void row_for(struct front *f, struct frame *frame, struct loop *loop,
                    const struct numeric *bounds) {
  struct counting c = {.f = f, .bounds = bounds, .number = K_NONE};
  c.floats = val_type(f, bounds->init) != KT_I64 || val_type(f, bounds->step) != KT_I64;
  bool varies = build_varies(f->b, bounds->init.value) || build_varies(f->b, bounds->limit.value) ||
                build_varies(f->b, bounds->step.value);
  c.ends = (!varies || f->once) && !c.floats;
  uint32_t head = frame->pc;
  front_jump_unless(f, loop->end,
                    c.floats ? loops_row_for_count_floats(&c) : count_integers(&c));
  loop->shrinks = true;
  rounds_open(loop, f, frame);
  do loops_row_for_compile_round(&c, loop);
  while (rounds_again(loop));
  if (c.floats)
    build_next(f->b, c.number, build_binary(f->b, KO_ADD, c.number, c.step));
  rounds_end(loop);
  frame->pc = head;
  if (!c.ends) row_loop_give_up(f);
  f->env.mask = K_NONE;
  frame->pc = loop->end;
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
  if (loops_is_one_for_all(f, &bounds))
    loops_for_all(f, frame, &loop, &bounds);
  else
    row_for(f, frame, &loop, &bounds);
}

/* ---- ipairs ---- */

static bool items_is_list(struct val x) {
  return x.kind == VAL_PATH || x.kind == VAL_ARRAY || x.kind == VAL_TABLE || x.kind == VAL_LIST ||
         x.kind == VAL_RECORD || is_array_field(x);
}

uint32_t items_of(struct front *f, const struct val *arguments, uint32_t count,
                  struct val *results) {
  if (!count || !items_is_list(arguments[0]))
    front_refuse(f, "it calls ipairs with something that is neither a table nor an array: write a "
                    "numeric for");
  if (NUMBERS_ARE_DOUBLES && (arguments[0].kind == VAL_ARRAY || is_array_field(arguments[0])))
    front_refuse(f, "it calls ipairs with an array of the world, but LuaJIT's takes only "
                    "tables: write for i = 1, #a");
  if (arguments[0].kind == VAL_PATH && cell_grows(f, arguments[0]))
    front_refuse(f, "it calls ipairs with a list that it appends to: write for i = 1, #list");
  results[0] = (struct val){.kind = VAL_ITEMS};
  results[1] = maybe_need(f, arguments[0]);
  results[2] = val_integer(f, 0);
  return 3;
}

struct val items_of_pairs(struct front *f, struct val table) {
  bool empty = table.kind == VAL_TABLE && f->made[table.at].first == NONE;
  struct val items = {.kind = VAL_ITEMS, .slot = true, .at = PAIRS_NONE, .number = table.at};
  if (table.kind == VAL_PATH && !cell_is_stored(f, table))
    items.at = choice_of_pairs(f, table.at, &items.names);
  else if (!empty)
    front_refuse(f, "it calls pairs with something that is neither a list that it creates nor one "
                    "table from outside that it only reads: loop over a list of names with ipairs");
  return items;
}

/* Sets the loop's variables. Rows without an item leave the loop. */
static void items_begin(struct front *f, const struct code *code, struct val number,
                        struct val item) {
  if (val_is_maybe(item)) {
    front_jump_unless(f, code->target + 2, item.present);
    item.present = K_ALL;
  }
  const struct code *next = &f->frame->code->code[code->target];
  for (uint32_t i = 0; i < next->c; i++)
    *front_register(f, code->a + EACH_VARIABLE + i) = i == 0   ? number
                                                      : i == 1 ? item
                                                               : (struct val){.kind = VAL_NIL};
}

static struct val items_item(struct front *f, struct val table, uint32_t longest,
                             struct val number) {
  if (table.kind == VAL_LIST) return scratch_get(f, table, number);
  if (table.kind == VAL_ARRAY) return element_at(f, table, number);
  if (is_array_field(table)) {
    struct val element = array_field_at(f, table, number);
    element.present = K_ALL;   /* it has one in every round */
    return element;
  }
  return table.kind == VAL_PATH ? element_of_list(f, table, number)
                                : element_of_item(f, table, longest, number.value);
}

/* How many items there are at most, if known; whether pairs found keys of that kind; the item of a
** round, with its number or key. */
static uint32_t items_longest(struct front *f, struct val items, struct val table) {
  if (items.names) return items.names->count;
  if (table.kind == VAL_ARRAY) return table.component->length;
  if (table.kind == VAL_RECORD) return element_need_longest(f, table);
  return is_array_field(table) ? table.array->count : 0;
}

static bool items_have(struct val items, enum pairs_kind kind) {
  return items.slot && items.at == (uint32_t)kind;
}

static struct val items_at(struct front *f, struct val items, struct val table, uint32_t longest,
                           k_value round, struct val *number) {
  if (items_have(items, PAIRS_INTEGERS)) return keys_at(f, table, round, number);
  k_value from = build_i64(f->b, items.names ? 0 : 1);
  *number = val_number(f, build_binary(f->b, KO_ADD, round, from), false);
  number->names = items.names;
  if (items.names) return element_of_list(f, table, *number);
  number->bits = MIXED_SMALL;
  return items_item(f, table, longest, *number);
}

static void items_in_rounds(struct front *f, struct frame *frame, struct val items,
                            struct val table) {
  const struct code *code = &frame->code->code[frame->pc];
  bool grows = table.kind == VAL_LIST;   /* perhaps, meanwhile */
  bool open = grows || items_have(items, PAIRS_INTEGERS);
  struct loop loop = {.head = frame->pc, .end = code->target + 2, .control = code->a,
                      .shrinks = open};
  uint32_t longest = items_longest(f, items, table);
  k_value length = open      ? build_i64(f->b, INT64_MAX)
                   : longest ? build_i64(f->b, longest)
                             : outside_length(f, table).value;
  rounds_open(&loop, f, frame);
  do {
    struct val number;
    k_value round = rounds_begin(&loop, length);
    struct val item = items_at(f, items, table, longest, round, &number);
    items_begin(f, code, number, item);
    if (item.kind == VAL_NIL) {
      front_jump(f, loop.end, f->env.mask);
      f->env.mask = K_NONE;
    }
    rounds_compile(&loop, loop.head + 1, code->target);
    front_join(f, loop.first_edge, code->target);
  } while (rounds_again(&loop));
  rounds_end(&loop);
  if (grows) f->env.mask = K_NONE;
}

static void items_one_by_one(struct front *f, struct frame *frame, struct val table) {
  uint32_t head = frame->pc;
  const struct code *code = &frame->code->code[head];
  for (int64_t i = 1; f->env.mask != K_NONE && table.kind != VAL_PATH; i++) {
    struct val item = order_read(f, table, &(struct constant){.type = CONST_INTEGER, .integer = i});
    if (item.kind == VAL_NIL) break;
    items_begin(f, code, val_integer(f, i), item);
    frame->pc = head + 1;
    front_range(f, frame, code->target);
    front_join(f, frame->first_edge, code->target);
    frame->pc = head;
  }
  for (uint32_t i = 0; i < EACH_VARIABLE + frame->code->code[code->target].c; i++)
    *front_register(f, code->a + i) = (struct val){.kind = VAL_NOTHING};
  frame->pc = code->target + 2;
}

void items_for(struct front *f, struct frame *frame) {
  uint32_t at = frame->code->code[frame->pc].a;
  const struct val items = *front_register(f, at), table = *front_register(f, at + 1);
  const struct val from = *front_register(f, at + 2);
  bool begins = items.slot ? from.kind == VAL_NIL && items.number == table.at
                           : from.literal && from.number == 0;
  if (!items_is_list(table) || !begins)
    front_refuse(f, "it loops over an iterator other than ipairs(table): write a numeric for");
  if (table.kind == VAL_TABLE || items_have(items, PAIRS_NONE))
    items_one_by_one(f, frame, table);
  else
    items_in_rounds(f, frame, items, table);
}

/* ---- row loop ---- */

/* Rows jump back together, and rows that have left keep their values, until no row is in the
** loop. */

bool row_loop_begins(const struct frame *frame) {
  if (flow_loop(frame->code, frame->pc) == 0) return false;
  return !frame->loop || frame->loop->head != frame->pc;
}

bool row_loop_is_open(const struct frame *frame, uint32_t target) {
  for (const struct loop *loop = frame->loop; loop; loop = loop->outer)
    if (loop->head == target && loop->control == NONE) return true;
  return false;
}

void row_loop(struct front *f, struct frame *frame) {
  struct loop loop = {.head = frame->pc, .end = flow_loop(frame->code, frame->pc),
                      .control = NONE, .shrinks = true};
  assert(loop.end > loop.head);
  rounds_open(&loop, f, frame);
  do {
    rounds_begin(&loop, row_loop_rounds(f));
    rounds_compile(&loop, loop.head, loop.end);
    frame->pc = loop.end - 1;
    if (f->env.mask != K_NONE) front_jump(f, loop.end, f->env.mask);
    f->env.mask = K_NONE;
    front_join(f, loop.first_edge, loop.head);
  } while (rounds_again(&loop));
  frame->pc = loop.head;
  rounds_end(&loop);
  frame->pc = loop.head;
  row_loop_give_up(f);
  frame->pc = loop.end;
}
