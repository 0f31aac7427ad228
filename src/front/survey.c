/* Finds all reasons to refuse a function. A survey visits the function as the compiler does, but
** lists each refusal and continues: the result of that instruction is an unknown value, and every
** operation on an unknown value gives another one without a reason. So each listed reason can be
** fixed independently of the others. If a condition is unknown, both branches are taken; a loop
** body with unknown bounds or an unknown iterator is visited once. A survey ends early if the
** builder fails, or if the rounds of a loop do not fit together. */
#include "front/rounds.h"

#include "runner/run.h"

/* The state to restore when an instruction is refused. */
struct survey_state {
  struct env env;
  struct frame *frame;
  uint32_t pc, depth, loop_depth, edge_count;
  int anchors;
  uint32_t leaves;
};

/* ---- reasons ---- */

void survey_append(lua_State *L, int list) {
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  for (lua_Integer i = 1; i <= count; i++) {
    bool known = lua_rawgeti(L, list, i) == LUA_TSTRING && lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    if (!known) continue;
    lua_pop(L, 1);
    return;
  }
  if (count < SURVEY_MOST)
    lua_rawseti(L, list, count + 1);
  else
    lua_pop(L, 1);
}

bool survey_has_reasons(const struct front *f) {
  lua_rawgeti(f->L, f->anchors, SURVEY_REASONS);
  bool any = lua_rawlen(f->L, -1) > 0;
  lua_pop(f->L, 1);
  return any;
}

/* Lists the reason at the top of the stack, and leaves it there. */
static void survey_list(struct front *f) {
  lua_rawgeti(f->L, f->anchors, SURVEY_REASONS);
  lua_pushvalue(f->L, -2);
  survey_append(f->L, lua_gettop(f->L) - 1);
  lua_pop(f->L, 1);
}

/* ---- unknown values ---- */

static const struct val survey_unknown = {.kind = VAL_UNKNOWN};

static void survey_spoil(struct front *f, uint32_t from, uint32_t count) {
  const struct frame *frame = f->frame;
  for (uint32_t i = from; i < from + count && i < frame->code->registers; i++)
    *front_register(f, i) = survey_unknown;
}

/* Makes a table that the function created unknown, since an item that it should have is missing. */
static void survey_spoil_made(struct front *f, uint32_t at) {
  const struct val made = *front_register(f, at);
  for (uint32_t i = 0; made.kind == VAL_TABLE && i < f->env.count; i++)
    if (f->registers[i].kind == VAL_TABLE && f->registers[i].at == made.at)
      f->registers[i] = survey_unknown;
}

/* Makes the value of an upvalue of the frame's function, or of a field of one, unknown from here
** on. */
static void survey_spoil_place(struct front *f, uint32_t upvalue, uint32_t key) {
  if (f->unknown_count < SURVEY_MOST)
    f->unknown_places[f->unknown_count++] = (struct unknown_place){f->frame->code, upvalue, key};
}

static bool survey_is_spoilt(const struct front *f, uint32_t upvalue, uint32_t key) {
  bool found = false;
  for (uint32_t i = 0; i < f->unknown_count && !found; i++) {
    struct unknown_place known = f->unknown_places[i];
    found = known.code == f->frame->code && known.upvalue == upvalue && known.key == key;
  }
  return found;
}

/* Whether an instruction takes something unknown. Arguments of Lua functions may be unknown. */
static bool survey_is_unknown(struct front *f, const struct code *code) {
  const struct frame *frame = f->frame;
  bool call = code->kind == CODE_CALL, open = call || code->kind == CODE_LIST;
  if (code->kind == CODE_RETURN) return false;
  if (code->kind == CODE_UPVALUE) return survey_is_spoilt(f, code->b, NONE);
  if (code->kind == CODE_UPFIELD) return survey_is_spoilt(f, code->b, code->c);
  uint32_t count = frame->code->registers;
  uint8_t called = call ? front_register(f, code->a)->kind : VAL_NOTHING;
  if (called == VAL_FUNCTION || called == VAL_FUNCTIONS || called == VAL_CLOSURE) return false;
  if (open && code->b == NONE && frame->top != NONE) count = frame->top;
  for (uint32_t i = 0; i < count; i++)
    if (front_register(f, i)->kind == VAL_UNKNOWN && flow_takes(code, i)) return true;
  return false;
}

/* An unknown condition that no other condition implies. */
static k_value survey_doubt(struct front *f) {
  k_value tick = build_uniform(f->b, UNIFORM_TICK, KT_I64);
  return build_binary(f->b, KO_EQ, tick, build_i64(f->b, ++f->doubts));
}

/* Compiles one round, in some rows, of a loop with an unknown number of rounds. */
static void survey_loop(struct front *f, struct frame *frame, const struct code *code) {
  bool each = code->kind == CODE_EACH;
  uint32_t variables = each ? EACH_VARIABLE + frame->code->code[code->target].c : FOR_VARIABLE + 1;
  uint32_t end = code->target + (each ? 2 : 1);
  k_value enters = survey_doubt(f);
  survey_spoil(f, code->a, variables);
  front_jump_unless(f, end, enters);
  frame->pc++;
  front_range(f, frame, code->target);
  front_join(f, frame->first_edge, code->target);
  frame->pc = end;
}

/* Continues after an instruction whose effect is unknown. */
static void survey_pass(struct front *f, struct frame *frame, const struct code *code) {
  switch (code->kind) {
    case CODE_COMPARE:
    case CODE_TEST: front_branch(f, code, survey_doubt(f), -1, NULL); return;
    case CODE_TEST_SET: front_branch(f, code, survey_doubt(f), -1, &survey_unknown); return;
    case CODE_FOR:
    case CODE_EACH: survey_loop(f, frame, code); return;
    case CODE_RETURN:
      f->vague = true;
      front_jump(f, frame->code->count, f->env.mask);
      f->env.mask = K_NONE;
      break;
    case CODE_JUMP: f->env.mask = K_NONE; break;
    case CODE_SET_FIELD:
    case CODE_SET_INDEX:
    case CODE_LIST: survey_spoil_made(f, code->a); break;
    case CODE_SET_UPFIELD: survey_spoil_place(f, code->a, code->b); break;
    case CODE_SET_UPVALUE: survey_spoil_place(f, code->a, NONE); break;
    case CODE_REFUSED:
      if (code->flag) survey_spoil(f, code->a, frame->code->registers);
      frame->top = code->flag ? code->a + 1 : NONE;
      break;
    case CODE_CALL:
      survey_spoil(f, code->a, code->c == NONE ? 1 : code->c);
      frame->top = code->c == NONE ? code->a + 1 : NONE;
      break;
    default: survey_spoil(f, code->a, code->kind == CODE_METHOD ? 2 : 1); break;
  }
  frame->pc++;
}

/* ---- going on ---- */

/* (anchors, front) */
static int survey_advance_protected(lua_State *L) {
  struct front *f = lua_touserdata(L, 2);
  if (!lua_checkstack(L, 40)) front_no_memory(f);
  f->anchors = 1;
  front_advance(f, f->frame);
  return 0;
}

void survey_advance(struct front *f, struct frame *frame) {
  const struct code *code = &frame->code->code[frame->pc];
  bool loops = row_loop_begins(frame);
  struct survey_state was = {f->env, frame, frame->pc, f->depth, f->loop_depth, f->edge_count,
                             f->anchors, f->shared.leave_count};
  if (!loops && survey_is_unknown(f, code)) {
    survey_pass(f, frame, code);
    return;
  }
  lua_pushcfunction(f->L, survey_advance_protected);
  lua_pushvalue(f->L, f->anchors);
  lua_pushlightuserdata(f->L, f);
  int status = lua_pcall(f->L, 2, 0, 0);
  f->anchors = was.anchors;
  if (status == LUA_OK) return;
  bool leaves = f->wants_leave;   /* a refusal that leaves rows to Lua need not be fixed */
  f->wants_leave = false;
  /* Does the error concern only the instruction, and can the state be restored? */
  bool goes_on = !loops && status == LUA_ERRRUN && f->refused && !front_wants_more(f) &&
                 builder_status(f->b) == K_OK && f->loop_depth == was.loop_depth;
  if (!goes_on) {
    f->wants_leave = f->shared.leave_count > was.leaves;   /* once: it ends the survey */
    lua_error(f->L);
  }
  if (!leaves) survey_list(f);
  lua_pop(f->L, 1);
  f->refused = false;
  f->env = was.env;
  f->frame = frame;
  f->depth = was.depth;
  frame->pc = was.pc;
  if (f->edge_count > was.edge_count) front_forget(f, was.edge_count);
  if (leaves && !f->doubts) {
    f->env.mask = K_NONE;
    frame->pc++;
    return;
  }
  survey_pass(f, frame, code);
}
