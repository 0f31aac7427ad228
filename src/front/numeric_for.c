/* Numeric for: a loop of the program. What its body changes is carried from round to round;
** which values these are, and of which types, is found by building the body again until
** nothing new turns up. Rows that leave (break, return, goto) keep what they had. */
#include "front/front.h"
#include "front/mixed.h"

#define ATTEMPTS 64
#define EXITS 16
#define CARRIES 192
#define NESTED_LOOPS 8

enum carry_kind { CARRY_REGISTER, CARRY_FIELD, CARRY_CALLS, CARRY_RESULT };

struct carry {
  enum carry_kind kind;
  uint32_t index;
  k_type type;
  bool soft, entity, mixed, wide, rounded;
  bool maybe;                  /* it is nil in some rows */
  bool unknown;                /* mixed, and where it is an integer is not known */
  const struct enumeration *names;
  k_value value, present, whole;   /* of this attempt */
};

/* What is carried of a value: itself, the mask where it is not nil, that where it is an integer. */
enum part { PART_VALUE, PART_PRESENT, PART_WHOLE, PART_COUNT };

struct exit_mask {
  uint32_t target;
  k_value mask;
};

struct loop {
  struct front *f;
  struct frame *frame;
  uint32_t end, a;
  struct env start;            /* before the loop; its registers belong to an edge */
  uint32_t first_edge;         /* those of the body */
  uint32_t fork_count;
  struct carry carries[CARRIES];
  uint32_t count;
  struct exit_mask exits[EXITS];
  uint32_t exit_count;
  uint32_t result_count;
  k_value rounds, init, step, live;
  bool literal, wide;
  uint8_t bits;
};

/* ---- how many rounds ---- */

static struct val bound(struct loop *loop, uint32_t at, const char *what) {
  struct front *f = loop->f;
  struct val value = mixed_settle(f, maybe_need(f, *front_register(f, loop->a + at)));
  if (!val_is_number(f, value)) front_refuse(f, "its loop's %s is no number", what);
  if (build_varies(f->b, value.value))
    front_refuse(f, "its loop's %s depends on the row: write a constant, and break", what);
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
  if (step != 1)
    front_refuse(f, "its loop's step is not 1: write both bounds as integers, as in 1 and 10");
  k_value span = build_binary(b, KO_SUB, high.value, low.value);
  k_value rounds = build_binary(b, KO_ADD, span, build_i64(b, 1)), most = build_i64(b, INT64_MAX);
  if (!low.literal || low.number < 1)
    rounds = build_select(b, build_binary(b, KO_ULT, span, most), rounds, most);
  k_value enters = build_binary(b, KO_LE, low.value, high.value);
  return build_select(b, enters, rounds, build_i64(b, 0));
}

/* A limit in a loop of integers, which Lua rounds towards the start: an integer, and the mask of
** whether there is such a loop at all, of what is not even beyond all integers. */
static struct val whole_limit(struct front *f, struct val limit, bool up, k_value *enters) {
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

static void plan_rounds(struct loop *loop) {
  struct front *f = loop->f;
  struct val init = bound(loop, 0, "start"), limit = bound(loop, 1, "limit");
  struct val step = bound(loop, 2, "step");
  if (val_type(f, init) != KT_I64 || val_type(f, step) != KT_I64)
    front_refuse(f, "its loop counts by floats: write its start and step as integers, as in 1");
  if (!step.literal)
    front_refuse(f, "its loop's step is not a literal: write it as an integer, as in 2");
  int64_t by = step.number;
  if (by == 0) front_refuse(f, "its loop's step is zero");
  k_value enters;
  struct val last = whole_limit(f, limit, by > 0, &enters);
  k_value rounds = by > 0 ? count_between(f, init, last, (uint64_t)by)
                          : count_between(f, last, init, 0 - (uint64_t)by);
  loop->rounds = enters == K_ALL ? rounds
                                 : build_select(f->b, enters, rounds, build_i64(f->b, 0));
  loop->init = init.value;
  loop->step = step.value;
  loop->literal = init.literal && limit.literal;
  loop->wide = val_is_wide(init) || val_is_wide(last);
  loop->bits = mixed_bits_either(init, last);
}

/* ---- carried values ---- */

static struct carry *find_carry(struct loop *loop, enum carry_kind kind, uint32_t index) {
  for (uint32_t i = 0; i < loop->count; i++)
    if (loop->carries[i].kind == kind && loop->carries[i].index == index)
      return &loop->carries[i];
  return NULL;
}

static void add_carry(struct loop *loop, enum carry_kind kind, uint32_t index,
                      struct val like) {
  if (loop->count == CARRIES) front_refuse(loop->f, "its loop changes too many values");
  loop->carries[loop->count++] =
      (struct carry){.kind = kind, .index = index, .type = val_type(loop->f, like),
                     .soft = like.soft, .entity = like.entity, .mixed = like.mixed,
                     .wide = val_is_wide(like), .rounded = like.rounded,
                     .maybe = val_is_maybe(like), .unknown = like.mixed && like.whole == K_NONE,
                     .names = like.names, .value = K_NONE, .present = K_ALL, .whole = K_ALL};
}

static struct val carried(const struct carry *carry) {
  return (struct val){.kind = VAL_VALUE, .value = carry->value, .soft = carry->soft,
                      .entity = carry->entity, .mixed = carry->mixed,
                      .wide = carry->wide, .rounded = carry->rounded, .names = carry->names,
                      .present = carry->present, .whole = carry->unknown ? K_NONE : carry->whole};
}

static bool is_nil(const struct val *x) { return x->kind == VAL_NIL; }

static k_value initial_field(struct loop *loop, const struct carry *carry) {
  k_value field = loop->start.fields[carry->index];
  if (field != K_NONE) return field;
  return build_load(loop->f->b, loop->f->columns[carry->index].number);
}

/* What a carry is before the first round. */
static k_value initial(struct loop *loop, const struct carry *carry) {
  struct front *f = loop->f;
  k_scalar zero;
  memset(&zero, 0, sizeof zero);
  assert(carry->kind != CARRY_REGISTER || carry->index < loop->start.count);
  switch (carry->kind) {
    case CARRY_REGISTER:
      if (is_nil(&loop->start.registers[carry->index])) break;
      return number_as(f, loop->start.registers[carry->index], carry->type);
    case CARRY_CALLS: return loop->start.calls.value;
    case CARRY_RESULT: break;
    case CARRY_FIELD: return initial_field(loop, carry);
  }
  return build_constant(f->b, carry->type, zero);
}

/* Where a carry is not nil before the first round. */
static k_value initial_presence(struct loop *loop, const struct carry *carry) {
  if (carry->kind != CARRY_REGISTER) return K_ALL;
  const struct val *start = &loop->start.registers[carry->index];
  return is_nil(start) ? build_bool(loop->f->b, false) : start->present;
}

static k_value initial_part(struct loop *loop, const struct carry *carry, enum part part) {
  if (part == PART_VALUE) return initial(loop, carry);
  if (part == PART_PRESENT) return initial_presence(loop, carry);
  if (carry->kind != CARRY_REGISTER) return K_ALL;
  const struct val *start = &loop->start.registers[carry->index];
  return is_nil(start) ? K_ALL : mixed_whole(loop->f, *start);
}

/* Whether a part of it differs from row to row, or round to round. */
static bool has_part(const struct carry *carry, enum part part) {
  if (part == PART_PRESENT) return carry->maybe;
  return part == PART_VALUE || (carry->mixed && !carry->unknown);
}

static k_value *part_of(struct carry *carry, enum part part) {
  return part == PART_VALUE     ? &carry->value
         : part == PART_PRESENT ? &carry->present
                                : &carry->whole;
}

/* An environment that a round ends, or is left, with. */
struct ending {
  const struct env *env;
  bool returns;                /* the function is left, too */
};

static struct ending edge_ending(const struct loop *loop, const struct edge_env *edge) {
  return (struct ending){&edge->env, edge->target == loop->frame->code->count};
}

/* What a carry is there. */
static struct val ending(const struct carry *carry, struct ending end) {
  struct val unchanged = carried(carry), nil = {.kind = VAL_NIL};
  const struct env *env = end.env;
  assert(carry->kind != CARRY_REGISTER || carry->index < env->count);
  switch (carry->kind) {
    case CARRY_REGISTER: return env->registers[carry->index];
    case CARRY_CALLS: return env->calls;
    case CARRY_RESULT:
      if (carry->index < env->result_count) return env->results[carry->index];
      return end.returns ? nil : unchanged;
    default: break;
  }
  if (env->fields[carry->index] != K_NONE) unchanged.value = env->fields[carry->index];
  return unchanged;
}

/* Opens the program's loop: its carries, its counter, and what the body begins with. */
static void begin_round(struct loop *loop) {
  struct front *f = loop->f;
  struct builder *b = f->b;
  k_value inits[CARRIES][PART_COUNT];
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum part part = PART_VALUE; part < PART_COUNT; part++)
      inits[i][part] = has_part(&loop->carries[i], part)
                           ? initial_part(loop, &loop->carries[i], part)
                           : K_ALL;
  k_value nobody = build_bool(b, false);
  k_value round = build_loop(b, loop->rounds, loop->start.mask);
  for (uint32_t i = 0; i < loop->count; i++) {
    struct carry *carry = &loop->carries[i];
    for (enum part part = PART_VALUE; part < PART_COUNT; part++)
      *part_of(carry, part) = has_part(carry, part) ? build_carry(b, inits[i][part], true) : K_ALL;
    if (carry->kind == CARRY_REGISTER) f->registers[carry->index] = carried(carry);
    if (carry->kind == CARRY_FIELD) f->env.fields[carry->index] = carry->value;
    if (carry->kind == CARRY_CALLS) f->env.calls = carried(carry);
  }
  loop->live = loop->exit_count ? build_carry(b, loop->start.mask, true) : loop->start.mask;
  for (uint32_t i = 0; i < loop->exit_count; i++)
    loop->exits[i].mask = build_carry(b, nobody, true);
  f->env.mask = loop->live;
  k_value counter = build_binary(b, KO_ADD, loop->init,
                                 build_binary(b, KO_MUL, round, loop->step));
  for (uint32_t i = 0; i < 4; i++) {
    struct val *control = front_register(f, loop->a + i);
    *control = val_number(f, counter, loop->literal);
    control->wide = loop->wide;
    control->bits = loop->bits;
  }
}

/* ---- what the body changed: true when it must be built again ---- */

/* A variable that may be something else behind the loop is nothing there that can be used. */
static bool poison(struct loop *loop, uint32_t index) {
  assert(index < loop->start.count);
  loop->start.registers[index] = (struct val){.kind = VAL_NOTHING};
  struct carry *carry = find_carry(loop, CARRY_REGISTER, index);
  if (carry) *carry = loop->carries[--loop->count];
  return true;
}

/* These look for what a round has changed, and carry it from now on. */

static bool changed_register(struct loop *loop, const struct env *env, uint32_t index) {
  const struct val *before = &loop->start.registers[index], *now = &env->registers[index];
  if (find_carry(loop, CARRY_REGISTER, index) || val_same(before, now)) return false;
  bool nil = is_nil(before) || is_nil(now);
  bool values = (is_nil(before) || before->kind == VAL_VALUE) &&
                (is_nil(now) || now->kind == VAL_VALUE);
  if (!values) return before->kind != VAL_NOTHING && poison(loop, index);
  add_carry(loop, CARRY_REGISTER, index, is_nil(before) ? *now : *before);
  loop->carries[loop->count - 1].maybe |= nil;
  return true;
}

static bool changed_field(struct loop *loop, const struct env *env, uint32_t index) {
  struct front *f = loop->f;
  k_value before = loop->start.fields[index], now = env->fields[index];
  if (now == K_NONE || now == before || find_carry(loop, CARRY_FIELD, index)) return false;
  k_value loaded = build_load(f->b, f->columns[index].number);
  if (before == K_NONE && now == loaded) return false;
  add_carry(loop, CARRY_FIELD, index, val_number(f, loaded, false));
  return true;
}

static bool changed_result(struct loop *loop, const struct env *env, uint32_t index) {
  if (find_carry(loop, CARRY_RESULT, index) || is_nil(&env->results[index])) return false;
  if (env->results[index].kind != VAL_VALUE)
    front_refuse(loop->f, "it returns what is no number from inside a loop");
  add_carry(loop, CARRY_RESULT, index, env->results[index]);
  return true;
}

/* Whether the integers that a carry is in some rows may be rounded, as the floats that they are. */
static bool rounds(const struct loop *loop, const struct carry *carry, struct val now) {
  bool begins = carry->kind == CARRY_REGISTER;
  const struct val *start = begins ? &loop->start.registers[carry->index] : NULL;
  bool early = start && !is_nil(start) && mixed_rounds(loop->f, *start);
  return carry->rounded || early || mixed_rounds(loop->f, now);
}

/* Whether a carry had to be given another type, so that it is right for all rounds. */
static bool changed_type(struct loop *loop, struct carry *carry, struct ending end) {
  struct front *f = loop->f;
  struct val now = ending(carry, end), before = carried(carry);
  bool maybe = carry->maybe || is_nil(&now) || val_is_maybe(now), was_maybe = carry->maybe;
  carry->maybe = maybe;
  if (is_nil(&now)) return !was_maybe;
  bool values = now.kind == VAL_VALUE && now.names == before.names;
  bool literal = carry->kind == CARRY_REGISTER && loop->start.registers[carry->index].literal;
  before.entity &= now.entity || !literal;   /* it began with 0: null, or just a number */
  int type = values ? val_common_type(f, before, now) : -1;
  if (type < 0 && carry->kind == CARRY_REGISTER) return poison(loop, carry->index);
  if (type < 0) front_refuse(f, "its loop changes the type of a value");
  bool soft = before.soft && now.soft, entity = before.entity && now.entity;
  bool mixed = val_mixes(f, before, now), wide = before.wide || val_is_wide(now);
  bool rounded = mixed && rounds(loop, carry, now);
  bool unknown = carry->unknown || (now.mixed && now.whole == K_NONE);
  bool same = (k_type)type == carry->type && soft == carry->soft &&
              entity == carry->entity && mixed == carry->mixed && wide == carry->wide &&
              rounded == carry->rounded && unknown == carry->unknown && maybe == was_maybe;
  carry->type = (k_type)type;
  carry->soft = soft;
  carry->entity = entity;
  carry->mixed = mixed;
  carry->wide = wide;
  carry->rounded = rounded;
  carry->unknown = unknown;
  return !same && carry->kind != CARRY_FIELD;
}

static bool find_changes(struct loop *loop, struct ending end) {
  struct front *f = loop->f;
  const struct env *env = end.env;
  bool again = false;
  uint32_t outer = loop->frame->base + loop->a;
  for (uint32_t i = 0; i < outer; i++) again |= changed_register(loop, env, i);
  for (uint32_t i = 0; i < f->column_count; i++) again |= changed_field(loop, env, i);
  for (uint32_t i = 0; i < env->result_count; i++) again |= changed_result(loop, env, i);
  if (env->result_count > loop->result_count) loop->result_count = env->result_count;
  if (!find_carry(loop, CARRY_CALLS, 0) && !val_same(&env->calls, &loop->start.calls)) {
    add_carry(loop, CARRY_CALLS, 0, loop->start.calls);
    again = true;
  }
  for (uint32_t i = 0; !again && i < loop->count; i++)
    again = changed_type(loop, &loop->carries[i], end);
  return again;
}

/* Whether rows leave for this target, which was not known. */
static bool find_exit(struct loop *loop, uint32_t target) {
  for (uint32_t i = 0; i < loop->exit_count; i++)
    if (loop->exits[i].target == target) return false;
  if (loop->exit_count == EXITS) front_refuse(loop->f, "its loop is left to many places");
  loop->exits[loop->exit_count++] = (struct exit_mask){target, K_NONE};
  return true;
}

static bool must_repeat(struct loop *loop) {
  struct front *f = loop->f;
  struct ending last = {&f->env, false};
  bool again = f->env.mask != K_NONE && find_changes(loop, last);
  for (uint32_t i = loop->first_edge; i < f->edge_count; i++) {
    again |= find_exit(loop, f->edges[i].target);
    if (!again) again = find_changes(loop, edge_ending(loop, &f->edges[i]));
  }
  return again;
}

/* ---- the end ---- */

/* What a carry is in an environment that a round ends with, or one of its masks. */
static k_value ended(struct loop *loop, struct carry *carry, struct ending end, enum part part) {
  struct val now = maybe_narrow(loop->f, end.env->mask, ending(carry, end));
  if (part == PART_PRESENT) return is_nil(&now) ? build_bool(loop->f->b, false) : now.present;
  if (is_nil(&now)) return *part_of(carry, part);
  return part == PART_WHOLE ? mixed_whole(loop->f, now) : number_as(loop->f, now, carry->type);
}

/* That after a round: rows that have left the loop keep what they had then. */
static k_value next_value(struct loop *loop, struct carry *carry, enum part part) {
  struct front *f = loop->f;
  k_value value = *part_of(carry, part);
  for (uint32_t i = loop->first_edge; i < f->edge_count; i++) {
    struct ending end = edge_ending(loop, &f->edges[i]);
    value = build_select(f->b, end.env->mask, ended(loop, carry, end, part), value);
  }
  if (f->env.mask == K_NONE) return value;
  k_value last = ended(loop, carry, (struct ending){&f->env, false}, part);
  return loop->exit_count ? build_select(f->b, f->env.mask, last, value) : last;
}

static void end_round(struct loop *loop) {
  struct front *f = loop->f;
  struct builder *b = f->b;
  k_value nexts[CARRIES][PART_COUNT];
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum part part = PART_VALUE; part < PART_COUNT; part++)
      if (has_part(&loop->carries[i], part))
        nexts[i][part] = next_value(loop, &loop->carries[i], part);
  k_value again = f->env.mask == K_NONE ? build_bool(b, false) : f->env.mask;
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum part part = PART_VALUE; part < PART_COUNT; part++)
      if (has_part(&loop->carries[i], part))
        build_next(b, *part_of(&loop->carries[i], part), nexts[i][part]);
  if (loop->exit_count) build_next(b, loop->live, again);
  for (uint32_t i = 0; i < loop->exit_count; i++) {
    k_value mask = loop->exits[i].mask;
    for (uint32_t j = loop->first_edge; j < f->edge_count; j++)
      if (f->edges[j].target == loop->exits[i].target)
        mask = build_binary(b, KO_OR, mask, f->edges[j].env.mask);
    build_next(b, loop->exits[i].mask, mask);
  }
  build_endloop(b, again);
}

/* Back to how it was before the loop. */
static void restore(struct loop *loop) {
  struct front *f = loop->f;
  assert(loop->start.registers != f->registers && loop->start.count <= FRONT_REGISTERS);
  memcpy(f->registers, loop->start.registers,
         loop->start.count * sizeof *f->registers);
  f->env = loop->start;
  f->env.registers = f->registers;
  f->fork_count = loop->fork_count;
}

/* How it is behind the loop, for rows that did all rounds. */
static void leave(struct loop *loop) {
  struct front *f = loop->f;
  restore(loop);
  for (uint32_t i = 0; i < loop->result_count; i++)
    f->env.results[i] = (struct val){.kind = VAL_NIL};
  for (uint32_t i = 0; i < loop->count; i++) {
    const struct carry *carry = &loop->carries[i];
    if (carry->kind == CARRY_REGISTER) f->registers[carry->index] = carried(carry);
    if (carry->kind == CARRY_FIELD) f->env.fields[carry->index] = carry->value;
    if (carry->kind == CARRY_CALLS) f->env.calls = carried(carry);
    if (carry->kind == CARRY_RESULT) f->env.results[carry->index] = carried(carry);
  }
  for (uint32_t i = 0; i < 4; i++)
    *front_register(f, loop->a + i) = (struct val){.kind = VAL_NOTHING};
  f->env.mask = loop->live;
}

/* Rows that have left go on where they wanted to. */
static void send_exits(struct loop *loop) {
  struct front *f = loop->f;
  loop->frame->pc = loop->end;
  for (uint32_t i = 0; i < loop->exit_count; i++) {
    bool returns = loop->exits[i].target == loop->frame->code->count;
    f->env.result_count = returns ? loop->result_count : 0;
    front_jump(f, loop->exits[i].target, loop->exits[i].mask);
  }
  f->env.result_count = 0;
}

static void build_body(struct loop *loop, uint32_t pc) {
  struct front *f = loop->f;
  struct frame *frame = loop->frame;
  uint32_t outer = frame->first_edge;
  begin_round(loop);
  frame->first_edge = loop->first_edge;
  frame->pc = pc + 1;
  front_range(f, frame, loop->end);
  front_join(f, loop->first_edge, loop->end);
  frame->first_edge = outer;
  front_check(f);
}

void loop_compile(struct front *f, struct frame *frame) {
  uint32_t pc = frame->pc;
  const struct code *code = &frame->code->code[pc];
  struct loop loop = {.f = f, .frame = frame, .end = code->target, .a = code->a};
  assert(code->kind == CODE_FOR && frame->code->code[loop.end].kind == CODE_FOR_END);
  if (++f->loop_depth > NESTED_LOOPS)
    front_refuse(f, "its loops nest too deep: more than %d in one another", NESTED_LOOPS);
  uint32_t commands = f->command_count, chains = f->chain_count;
  uint32_t made = f->made_count, items = f->item_count;
  if (f->loop_depth == 1) f->loop_commands = commands;
  plan_rounds(&loop);
  front_keep(f);
  loop.start = f->edges[f->edge_count - 1].env;
  loop.first_edge = f->edge_count;
  loop.fork_count = f->fork_count;
  k_mark mark = build_mark(f->b);
  build_body(&loop, pc);
  for (int i = 0; must_repeat(&loop); i++) {
    frame->pc = pc;
    if (i == ATTEMPTS) front_refuse(f, "its loop's types do not settle");
    front_forget(f, loop.first_edge);
    f->command_count = commands;
    f->chain_count = chains;
    f->made_count = made;
    f->item_count = items;
    build_rewind(f->b, mark);
    restore(&loop);
    build_body(&loop, pc);
  }
  end_round(&loop);
  front_forget(f, loop.first_edge);
  leave(&loop);
  assert(f->edge_count == loop.first_edge);
  front_forget(f, loop.first_edge - 1);
  send_exits(&loop);
  frame->pc = loop.end + 1;
  f->loop_depth--;
}
