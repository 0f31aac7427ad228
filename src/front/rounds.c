#include "front/rounds.h"

#define ATTEMPTS 64
#define NESTED_LOOPS 8

/* The parts of a carried value: itself, the mask where it is not nil, and the mask where it is an
** integer. */
enum loop_part { PART_VALUE, PART_PRESENT, PART_WHOLE, PART_COUNT };

/* Whether a register is needed at the target of rows. The variables of a numeric `for` are the
** topmost registers, and not set outside of it. */
static bool rounds_is_needed(const struct loop *loop, uint32_t index, uint32_t target) {
  const struct frame *frame = loop->frame;
  if (index < frame->base) return true;
  uint32_t at = index - frame->base;
  if (at >= loop->control || target == frame->code->count) return false;
  return !frame->code->flow || flow_needs(frame->code, target, at);
}

/* ---- carried values ---- */

static struct carry *rounds_find_carry(struct loop *loop, enum carry_kind kind, uint32_t index) {
  for (uint32_t i = 0; i < loop->count; i++)
    if (loop->carries[i].kind == kind && loop->carries[i].index == index)
      return &loop->carries[i];
  return NULL;
}

/* A value that is a place is carried as a place. */
static struct val rounds_as_place(struct val x) {
  return val_is_place(x)
             ? (struct val){.kind = VAL_VALUE, .value = x.value, .present = x.present} : x;
}

static void rounds_add_carry(struct loop *loop, enum carry_kind kind, uint32_t index,
                             struct val like) {
  if (loop->count == ROUNDS_CARRIES) front_refuse(loop->f, "its loop changes too many values");
  struct carry *carry = &loop->carries[loop->count++];
  *carry = (struct carry){.kind = kind, .index = index, .maybe = val_is_maybe(like),
                          .type = val_type(loop->f, rounds_as_place(like)), .held = like};
  carry->held.carried = true;
  if (val_is_place(like)) return;
  carry->held = (struct val){.kind = VAL_VALUE, .soft = like.soft, .entity = like.entity,
                             .mixed = like.mixed, .wide = val_is_wide(like),
                             .rounded = like.rounded, .zero = val_is_zero(like),
                             .spawned = like.spawned, .names = like.names,
                             .lacks = like.lacks ? LACKS_EITHER : LACKS_NIL};
}

static bool rounds_is_nil(const struct val *x) { return x->kind == VAL_NIL; }

static bool rounds_is_set(const struct val *x) {
  return x->kind == VAL_VALUE || val_is_place(*x);
}

/* A value as what it has in common with a carry's place, if it has anything. */
static struct val rounds_joined(struct front *f, struct val x, const struct carry *carry) {
  struct val place = carry->held;
  element_join(f, &x, &place);
  return x;
}

/* A value as a carry holds it: a string as its place among the names that the carry may have. */
static k_value rounds_held(struct front *f, const struct carry *carry, struct val x) {
  bool named = carry->held.names && val_is_string(x);
  return named ? choice_as_enum(f, x, carry->held.names, false) : number_as(f, x, carry->type);
}

/* The value of a carry before the first round. */
static k_value rounds_initial(struct loop *loop, const struct carry *carry) {
  struct front *f = loop->f;
  const struct val *start;
  k_scalar zero;
  memset(&zero, 0, sizeof zero);
  assert(carry->kind != CARRY_REGISTER || carry->index < loop->start.count);
  switch (carry->kind) {
    case CARRY_REGISTER:
      start = &loop->start.registers[carry->index];
      if (rounds_is_nil(start) || start->kind == VAL_NOTHING) break;
      return rounds_held(f, carry, rounds_as_place(rounds_joined(f, *start, carry)));
    case CARRY_COUNT: return loop->start.counts[carry->index].value;
    case CARRY_RESULT: break;
    case CARRY_FIELD: return env_field(f, &loop->start, carry->index);
  }
  return build_constant(f->b, carry->type, zero);
}

/* The value of a part of a carry before the first round. If the value is nil, or was never set, any
** mask will do. */
static k_value rounds_initial_part(struct loop *loop, const struct carry *carry,
                                   enum loop_part part) {
  if (part == PART_VALUE) return rounds_initial(loop, carry);
  if (carry->kind != CARRY_REGISTER) return K_ALL;
  const struct val *start = &loop->start.registers[carry->index];
  if (part == PART_PRESENT)
    return rounds_is_nil(start) ? build_bool(loop->f->b, false) : start->present;
  return start->kind == VAL_VALUE ? mixed_whole(loop->f, *start) : K_ALL;
}

/* Whether that part of a carry may differ by row or by round. */
static bool rounds_has_part(const struct carry *carry, enum loop_part part) {
  if (part == PART_PRESENT) return carry->maybe;
  return part == PART_VALUE || carry->held.mixed;
}

static k_value *rounds_part_of(struct carry *carry, enum loop_part part) {
  return part == PART_VALUE     ? &carry->held.value
         : part == PART_PRESENT ? &carry->held.present
                                : &carry->held.whole;
}

/* The value of a carry in an environment that ends a round, or leaves the loop. */
static struct val rounds_ending(const struct loop *loop, const struct carry *carry,
                                const struct env *env) {
  struct val unchanged = carry->held, nil = {.kind = VAL_NIL};
  bool returns = env->target == loop->frame->code->count;
  assert(carry->kind != CARRY_REGISTER || carry->index < env->count);
  switch (carry->kind) {
  case CARRY_REGISTER:
    if (!rounds_is_needed(loop, carry->index, env->target)) return unchanged;
    return rounds_joined(loop->f, env->registers[carry->index], carry);
  case CARRY_COUNT: return env->counts[carry->index];
  case CARRY_RESULT:
    if (carry->index < env->result_count)
      return rounds_joined(loop->f, env->results[carry->index], carry);
    return returns ? nil : unchanged;
  default: break;
  }
  if (env->fields[carry->index] != K_NONE) unchanged.value = env->fields[carry->index];
  return unchanged;
}

/* What is carried becomes what the present rows have. */
static void rounds_take(struct front *f, const struct carry *carry) {
  switch (carry->kind) {
    case CARRY_REGISTER: f->registers[carry->index] = carry->held; break;
    case CARRY_FIELD: f->env.fields[carry->index] = carry->held.value; break;
    case CARRY_COUNT: f->env.counts[carry->index] = carry->held; break;
    case CARRY_RESULT: f->env.results[carry->index] = carry->held; break;
  }
}

/* Rows without a round continue after the loop; the others do the first. */
static k_value rounds_begin_once(struct loop *loop, k_value count) {
  struct front *f = loop->f;
  assert(f->env.mask == loop->start.mask);
  front_jump_unless(f, loop->end, build_binary(f->b, KO_LT, build_i64(f->b, 0), count));
  return build_i64(f->b, 0);
}

k_value rounds_begin(struct loop *loop, k_value count) {
  struct front *f = loop->f;
  struct builder *b = f->b;
  if (loop->once) return rounds_begin_once(loop, count);
  k_value inits[ROUNDS_CARRIES][PART_COUNT];
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum loop_part part = PART_VALUE; part < PART_COUNT; part++)
      inits[i][part] = rounds_has_part(&loop->carries[i], part)
                           ? rounds_initial_part(loop, &loop->carries[i], part)
                           : K_ALL;
  k_value nobody = build_bool(b, false);
  k_value round = build_loop(b, count, loop->start.mask);
  for (uint32_t i = 0; i < loop->count; i++) {
    struct carry *carry = &loop->carries[i];
    for (enum loop_part part = PART_VALUE; part < PART_COUNT; part++)
      *rounds_part_of(carry, part) =
          rounds_has_part(carry, part) ? build_carry(b, inits[i][part], true) : K_ALL;
    if (carry->kind != CARRY_RESULT) rounds_take(f, carry);
  }
  bool shrinks = loop->shrinks || loop->exit_count;
  loop->live = shrinks ? build_carry(b, loop->start.mask, true) : loop->start.mask;
  for (uint32_t i = 0; i < loop->exit_count; i++)
    loop->exits[i].mask = build_carry(b, nobody, true);
  f->env.mask = loop->live;
  return round;
}

/* ---- what the body has changed: true if it must be built again ---- */

/* A variable that may have another type after the loop cannot be used there. */
static bool rounds_poison(struct loop *loop, uint32_t index, const struct val *now) {
  bool unknown = now->kind == VAL_UNKNOWN;
  assert(index < loop->start.count);
  loop->start.registers[index] = (struct val){.kind = unknown ? VAL_UNKNOWN : VAL_NOTHING};
  loop->poisoned[index / 64] |= UINT64_C(1) << index % 64;
  struct carry *carry = rounds_find_carry(loop, CARRY_REGISTER, index);
  if (carry) *carry = loop->carries[--loop->count];
  return true;
}

/* These functions find what a round has changed, and carry it from then on. */

/* Whether no part of the value is computed in a round. */
static bool rounds_is_known(const struct val *x) {
  return x->kind != VAL_NOTHING && x->kind != VAL_VALUE && x->kind != VAL_CHOICE &&
         x->kind != VAL_PREFIX && x->kind != VAL_TABLE && x->kind != VAL_LIST &&
         x->kind != VAL_CLOSURE && !val_is_place(*x) &&
         x->kind != VAL_PARTNERS && x->kind != VAL_PARTNER && x->kind != VAL_PAIR &&
         x->kind != VAL_ELEMENT &&
         !(x->kind == VAL_VIEW && x->present != K_ALL);
}

/* Whether a round leaves a value unchanged. The presence of an index's partner may differ. */
static bool rounds_is_still(const struct val *before, const struct val *now) {
  struct val then = *now;
  if (now->kind == VAL_PARTNER) then.present = before->present;
  return val_same(before, &then);
}

/* A value that the first round does not read may start as the value with which all rows leave. */
static bool rounds_set_register(struct loop *loop, const struct val *now, uint32_t index) {
  struct val *start = &loop->start.registers[index];
  if (loop->poisoned[index / 64] >> index % 64 & 1) return false;
  if (rounds_is_set(now) && (start->kind == VAL_NOTHING || rounds_is_nil(start))) {
    rounds_add_carry(loop, CARRY_REGISTER, index, *now);
    return true;
  }
  if (start->kind == VAL_NOTHING && rounds_is_known(now)) {
    *start = *now;
    return true;
  }
  return start->kind != VAL_NOTHING && !rounds_is_still(start, now) &&
         rounds_poison(loop, index, now);
}

/* Carries strings as places among all possible ones, if every value is a string or nil. */
static bool rounds_add_named(struct loop *loop, enum carry_kind kind, uint32_t index,
                             const struct val *before, const struct val *now) {
  static const struct enumeration none = {NULL, 0, NULL, 0};
  struct front *f = loop->f;
  const struct val *both[] = {before, now};
  struct val like = {.kind = VAL_VALUE, .value = build_i64(f->b, 0), .names = &none};
  bool same = before->names == now->names || rounds_is_nil(before) || rounds_is_nil(now);
  if (!val_is_text(*before) && !val_is_text(*now) && same) return false;
  for (int i = 0; i < 2 && like.names; i++) {
    if (rounds_is_nil(both[i])) continue;
    if (!val_is_string(*both[i])) return false;
    like.names = choice_extend(f, like.names, *both[i]);
  }
  if (!like.names) return false;
  rounds_add_carry(loop, kind, index, like);
  struct carry *carry = &loop->carries[loop->count - 1];
  for (int i = 0; i < 2; i++) {
    carry->maybe |= rounds_is_nil(both[i]) || val_is_maybe(*both[i]);
    if (both[i]->lacks) carry->held.lacks = LACKS_EITHER;
  }
  return true;
}

static bool rounds_changed_register(struct loop *loop, const struct env *env, uint32_t index) {
  const struct val *before = &loop->start.registers[index], *now = &env->registers[index];
  if (rounds_find_carry(loop, CARRY_REGISTER, index) ||
      !rounds_is_needed(loop, index, env->target))
    return false;
  if (loop->shows && partner_is_shown(now) && !rounds_is_still(before, now))
    return !(loop->poisoned[index / 64] >> index % 64 & 1) && rounds_poison(loop, index, now);
  if (!rounds_is_needed(loop, index, loop->head)) return rounds_set_register(loop, now, index);
  if (rounds_is_still(before, now)) return false;
  if (rounds_add_named(loop, CARRY_REGISTER, index, before, now)) return true;
  struct val x = *before, y = *now;
  element_join(loop->f, &x, &y);
  bool nil = rounds_is_nil(&x) || rounds_is_nil(&y);
  bool values = (rounds_is_nil(&x) || rounds_is_set(&x)) &&
                (rounds_is_nil(&y) || rounds_is_set(&y));
  if (!values) return !val_is_spoilt(x) && rounds_poison(loop, index, now);
  rounds_add_carry(loop, CARRY_REGISTER, index, rounds_is_nil(&x) ? y : x);
  loop->carries[loop->count - 1].maybe |= nil;
  return true;
}

static bool rounds_changed_field(struct loop *loop, const struct env *env, uint32_t index) {
  struct front *f = loop->f;
  k_value before = loop->start.fields[index], now = env->fields[index];
  if (now == K_NONE || now == before || rounds_find_carry(loop, CARRY_FIELD, index)) return false;
  k_value loaded = build_load(f->b, f->columns[index].number);
  if (before == K_NONE && now == loaded) return false;
  rounds_add_carry(loop, CARRY_FIELD, index, val_number(f, loaded, false));
  return true;
}

static bool rounds_changed_count(struct loop *loop, const struct env *env, uint32_t index) {
  const struct val *before = &loop->start.counts[index];
  if (rounds_find_carry(loop, CARRY_COUNT, index) ||
      val_same(&env->counts[index], before))
    return false;
  rounds_add_carry(loop, CARRY_COUNT, index, *before);
  return true;
}

static bool rounds_changed_result(struct loop *loop, const struct env *env, uint32_t index) {
  const struct val *now = &env->results[index];
  uint8_t kind = now->kind;
  if (rounds_find_carry(loop, CARRY_RESULT, index) || kind == VAL_NIL || kind == VAL_UNKNOWN)
    return false;
  if (rounds_add_named(loop, CARRY_RESULT, index, now, now)) return true;
  if (loop->shows && partner_is_shown(now))
    front_refuse(loop->f, "it returns a view from a loop over a query, after which it shows no "
                          "row: return the entity, or fields");
  if (!rounds_is_set(now))
    front_refuse(loop->f, "it returns something that is neither a number nor a string from inside "
                          "a loop: return a number, and take what it means from a table");
  rounds_add_carry(loop, CARRY_RESULT, index, env->results[index]);
  return true;
}

/* Whether a carry's integers may be rounded, as floats. */
static bool rounds_of_loop(const struct loop *loop, const struct carry *carry, struct val now) {
  bool begins = carry->kind == CARRY_REGISTER;
  const struct val *start = begins ? &loop->start.registers[carry->index] : NULL;
  bool early = start && start->kind == VAL_VALUE && mixed_rounds(loop->f, *start);
  return carry->held.rounded || early || mixed_rounds(loop->f, now);
}

/* Whether a carry had to be given another type, to be right for all rounds. */
static bool rounds_changed_type(struct loop *loop, struct carry *carry, const struct env *env) {
  struct front *f = loop->f;
  const struct val now = rounds_ending(loop, carry, env), before = carry->held;
  struct val *held = &carry->held;
  bool was_maybe = carry->maybe;
  carry->maybe |= rounds_is_nil(&now) || val_is_maybe(now);
  if (now.lacks && !val_is_place(before)) held->lacks = LACKS_EITHER;
  if (rounds_is_nil(&now)) return !was_maybe;
  if (val_is_place(before)) {
    if (val_same_but_for_place(now, before)) return carry->maybe != was_maybe;
    if (carry->kind == CARRY_REGISTER) return rounds_poison(loop, carry->index, &now);
    front_refuse(f, "it returns elements of several arrays or tables from inside a loop: return "
                    "their numbers");
  }
  if (before.names && val_is_string(now) && now.names != before.names) {
    held->names = choice_extend(f, before.names, now);
    if (!held->names) front_refuse(f, "its loop chooses between too many strings");
    return !val_same(held, &before) || carry->maybe != was_maybe;
  }
  bool values = now.kind == VAL_VALUE && now.names == before.names;
  bool apart = (before.spawned || now.spawned) && before.entity != now.entity;
  int type = values && !apart ? val_common_type(f, before, now) : -1;
  if (type < 0 && carry->kind == CARRY_REGISTER) return rounds_poison(loop, carry->index, &now);
  if (type < 0) front_refuse(f, "its loop changes the type of a value");
  *held = val_in_common(*held, now);
  held->mixed = val_mixes(f, before, now);
  held->rounded = held->mixed && rounds_of_loop(loop, carry, now);
  bool same = (k_type)type == carry->type && val_same(held, &before) &&
              held->entity == before.entity && held->zero == before.zero &&
              carry->maybe == was_maybe;
  carry->type = (k_type)type;
  return !same && carry->kind != CARRY_FIELD;
}

static bool rounds_find_changes(struct loop *loop, const struct env *env) {
  struct front *f = loop->f;
  bool again = false;
  uint32_t outer = loop->control != NONE ? loop->control : loop->frame->code->registers;
  for (uint32_t i = 0; i < loop->frame->base + outer; i++)
    again |= rounds_changed_register(loop, env, i);
  for (uint32_t i = 0; i < f->column_count; i++) again |= rounds_changed_field(loop, env, i);
  for (uint32_t i = 0; i < env->result_count; i++) again |= rounds_changed_result(loop, env, i);
  if (env->result_count > loop->result_count) loop->result_count = env->result_count;
  for (uint32_t i = 0; i < ENV_COUNTS; i++) again |= rounds_changed_count(loop, env, i);
  for (uint32_t i = 0; !again && i < loop->count; i++)
    again = rounds_changed_type(loop, &loop->carries[i], env);
  return again;
}

/* Whether rows leave to this target for the first time. */
static bool rounds_find_exit(struct loop *loop, uint32_t target) {
  for (uint32_t i = 0; i < loop->exit_count; i++)
    if (loop->exits[i].target == target) return false;
  if (loop->exit_count == ROUNDS_EXITS)
    front_refuse(loop->f, "its loop exits to more than %d places", ROUNDS_EXITS);
  loop->exits[loop->exit_count++] = (struct exit_mask){target, K_NONE};
  return true;
}

static bool rounds_must_repeat(struct loop *loop) {
  struct front *f = loop->f;
  f->env.target = loop->head;
  bool again = f->env.mask != K_NONE && rounds_find_changes(loop, &f->env);
  for (uint32_t i = loop->first_edge; i < f->edge_count; i++) {
    again |= rounds_find_exit(loop, f->edges[i].target);
    if (!again) again = rounds_find_changes(loop, &f->edges[i]);
  }
  return again;
}

/* ---- the end ---- */

/* The value of a carry, or one of its masks, in an environment that ends a round. */
static k_value rounds_ended(struct loop *loop, struct carry *carry, const struct env *env,
                            enum loop_part part) {
  struct val now = maybe_narrow(loop->f, env->mask, rounds_ending(loop, carry, env));
  if (part == PART_PRESENT)
    return rounds_is_nil(&now) ? build_bool(loop->f->b, false) : now.present;
  if (rounds_is_nil(&now)) return *rounds_part_of(carry, part);
  now = rounds_as_place(now);
  return part == PART_WHOLE ? mixed_whole(loop->f, now) : rounds_held(loop->f, carry, now);
}

/* The value after a round: rows that have left the loop keep theirs. */
static k_value rounds_next_value(struct loop *loop, struct carry *carry, enum loop_part part) {
  struct front *f = loop->f;
  k_value value = *rounds_part_of(carry, part);
  for (uint32_t i = loop->first_edge; i < f->edge_count; i++) {
    const struct env *end = &f->edges[i];
    value = build_select(f->b, end->mask, rounds_ended(loop, carry, end, part), value);
  }
  if (f->env.mask == K_NONE) return value;
  k_value last = rounds_ended(loop, carry, &f->env, part);
  return loop->shrinks || loop->exit_count ? build_select(f->b, f->env.mask, last, value) : last;
}

static void end_round(struct loop *loop) {
  struct front *f = loop->f;
  struct builder *b = f->b;
  k_value nexts[ROUNDS_CARRIES][PART_COUNT];
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum loop_part part = PART_VALUE; part < PART_COUNT; part++)
      if (rounds_has_part(&loop->carries[i], part))
        nexts[i][part] = rounds_next_value(loop, &loop->carries[i], part);
  k_value again = loop->counts ? loop->again : f->env.mask;
  if (f->env.mask == K_NONE) again = build_bool(b, false);
  for (uint32_t i = 0; i < loop->count; i++)
    for (enum loop_part part = PART_VALUE; part < PART_COUNT; part++)
      if (rounds_has_part(&loop->carries[i], part))
        build_next(b, *rounds_part_of(&loop->carries[i], part), nexts[i][part]);
  if (loop->shrinks || loop->exit_count) build_next(b, loop->live, again);
  for (uint32_t i = 0; i < loop->exit_count; i++) {
    k_value mask = loop->exits[i].mask;
    for (uint32_t j = loop->first_edge; j < f->edge_count; j++)
      if (f->edges[j].target == loop->exits[i].target)
        mask = build_binary(b, KO_OR, mask, f->edges[j].mask);
    build_next(b, loop->exits[i].mask, mask);
  }
  build_endloop(b, again);
}

/* Restores the state before the loop. */
static void rounds_restore(struct loop *loop) {
  struct front *f = loop->f;
  assert(loop->start.registers != f->registers && loop->start.count <= FRONT_REGISTERS);
  memcpy(f->registers, loop->start.registers,
         loop->start.count * sizeof *f->registers);
  f->env = loop->start;
  f->env.registers = f->registers;
  f->fork_count = loop->fork_count;
}

/* The rows that have done all rounds. */
static k_value rounds_rows_behind(struct loop *loop) {
  if (!loop->counts) return loop->live;
  k_value mask = loop->start.mask;
  for (uint32_t i = 0; i < loop->exit_count; i++)
    mask = mask_and_not(loop->f, mask, loop->exits[i].mask);
  return mask;
}

/* The state after the loop, for the rows that have done all rounds. */
static void rounds_leave(struct loop *loop) {
  struct front *f = loop->f;
  rounds_restore(loop);
  for (uint32_t i = 0; i < loop->result_count; i++)
    f->env.results[i] = (struct val){.kind = VAL_NIL};
  for (uint32_t i = 0; i < loop->count; i++) rounds_take(f, &loop->carries[i]);
  for (uint32_t i = 0; i <= FOR_VARIABLE && loop->control != NONE; i++)
    *front_register(f, loop->control + i) = (struct val){.kind = VAL_NOTHING};
  f->env.mask = rounds_rows_behind(loop);
}

/* Sends rows that have left to their targets. If there is only one, all rows go there. */
static void rounds_send_exits(struct loop *loop) {
  struct front *f = loop->f;
  bool all = loop->exit_count == 1 && loop->shrinks && !loop->counts;
  loop->frame->pc = loop->end - 1;
  for (uint32_t i = 0; i < loop->exit_count; i++) {
    bool returns = loop->exits[i].target == loop->frame->code->count;
    f->env.result_count = returns ? loop->result_count : 0;
    front_jump(f, loop->exits[i].target, all ? loop->start.mask : loop->exits[i].mask);
  }
  f->env.result_count = 0;
}

/* ---- a loop from its beginning to its end ---- */

/* Refuses a jump into the loop: such rows would never have been at its head. */
static void rounds_check_entered(struct loop *loop) {
  struct front *f = loop->f;
  const struct frame *frame = loop->frame;
  if (loop->end > frame->end) front_refuse(f, "its bytecode is not valid");
  for (uint32_t i = frame->first_edge; i < f->edge_count; i++)
    if (f->edges[i].target > loop->head && f->edges[i].target < loop->end)
      front_refuse(f, "it jumps into the middle of a loop: write while or repeat");
}

/* Forgets registers that nothing in the loop reads. */
static void rounds_forget_registers(struct loop *loop) {
  const struct frame *frame = loop->frame;
  for (uint32_t i = 0; i < frame->code->registers && i < loop->control; i++)
    if (!rounds_is_needed(loop, frame->base + i, loop->head))
      loop->f->registers[frame->base + i] = (struct val){.kind = VAL_NOTHING};
}

void rounds_open(struct loop *loop, struct front *f, struct frame *frame) {
  loop->f = f;
  loop->frame = frame;
  loop->outer = frame->loop;
  rounds_check_entered(loop);
  if (++f->loop_depth > NESTED_LOOPS)
    front_refuse(f, "its loops nest more than %d deep", NESTED_LOOPS);
  loop->commands = f->command_count;
  loop->chains = f->chain_count;
  loop->made = f->made_count;
  loop->items = f->item_count;
  loop->lists = f->list_count;
  if (f->loop_depth == 1) f->loop_commands = f->command_count;
  rounds_forget_registers(loop);
  memset(f->env.cells, 0, sizeof f->env.cells);   /* earlier rounds may have set them */
  front_keep(f);
  loop->start = f->edges[f->edge_count - 1];
  loop->first_edge = f->edge_count;
  loop->fork_count = f->fork_count;
  loop->mark = build_mark(f->b);
  frame->loop = loop;
}

void rounds_compile(struct loop *loop, uint32_t pc, uint32_t end) {
  struct front *f = loop->f;
  struct frame *frame = loop->frame;
  uint32_t outer = frame->first_edge;
  frame->first_edge = loop->first_edge;
  frame->pc = pc;
  front_range(f, frame, end);
  frame->first_edge = outer;
}

bool rounds_again(struct loop *loop) {
  struct front *f = loop->f;
  front_check(f);
  bool counted = loop->control != NONE && (!loop->shrinks || loop->counts);
  bool once = counted && !loop->shows && loop->attempts == 0 && f->env.mask == K_NONE;
  if (loop->once || !(once || rounds_must_repeat(loop))) return false;
  loop->once = once;
  loop->frame->pc = loop->head;
  if (++loop->attempts == ATTEMPTS)
    front_refuse(f, "the types of its loop's variables change in every round");
  front_forget(f, loop->first_edge);
  f->command_count = loop->commands;
  f->chain_count = loop->chains;
  f->made_count = loop->made;
  f->item_count = loop->items;
  f->list_count = loop->lists;
  build_rewind(f->b, loop->mark);
  rounds_restore(loop);
  return true;
}

/* Keeps the body's edges, and drops the one with the state before it. */
static void rounds_end_once(struct loop *loop) {
  struct front *f = loop->f;
  struct env kept = f->edges[loop->first_edge - 1];
  assert(f->env.mask == K_NONE && loop->first_edge <= f->edge_count);
  memmove(&f->edges[loop->first_edge - 1], &f->edges[loop->first_edge],
          (f->edge_count - loop->first_edge) * sizeof kept);
  f->edges[f->edge_count - 1] = kept;
  front_forget(f, f->edge_count - 1);
  loop->frame->loop = loop->outer;
  loop->frame->pc = loop->end;
  f->loop_depth--;
}

void rounds_end(struct loop *loop) {
  struct front *f = loop->f;
  if (loop->once) {
    rounds_end_once(loop);
    return;
  }
  end_round(loop);
  front_forget(f, loop->first_edge);
  rounds_leave(loop);
  assert(f->edge_count == loop->first_edge);
  front_forget(f, loop->first_edge - 1);
  loop->frame->loop = loop->outer;
  rounds_send_exits(loop);
  loop->frame->pc = loop->end;
  f->loop_depth--;
}
