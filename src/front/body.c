/* The body of a generic `for` as a function of its own: its parameters are the loop's variables,
** and the locals around it are upvalues. An instruction that reads such a local first loads its
** upvalue; one that sets it stores it afterwards. Rows that leave the loop, or reach an instruction
** that was refused, are left to Lua. */
#include "front/rounds.h"

/* The loop that begins at a line; NONE if there are none or several. */
static uint32_t body_find(const struct function_code *code, uint32_t line) {
  uint32_t found = NONE, count = 0;
  for (uint32_t pc = 0; code->lines && pc < code->count; pc++) {
    if (code->code[pc].kind != CODE_EACH) continue;
    if ((uint32_t)code->lines[code->code[pc].target] != line) continue;
    found = pc;
    count++;
  }
  return count == 1 ? found : NONE;
}

/* A loop body that is being cut out of its function. */
struct cut {
  struct front *f;
  const struct function_code *from;
  uint32_t first, end;         /* the instructions that are taken */
  uint32_t locals;             /* registers below are upvalues */
  uint32_t *places;            /* by instruction from `first` to `end`: its new number */
  struct code *to;
  int32_t *lines;
  uint32_t count;
};

static void body_add(struct cut *cut, struct code code, uint32_t pc) {
  if (cut->to) {
    cut->to[cut->count] = code;
    cut->to[cut->count].origin = pc;
    cut->lines[cut->count] = cut->from->lines[pc];
  }
  cut->count++;
}

static bool body_jumps(const struct code *code) {
  switch (code->kind) {
    case CODE_JUMP:
    case CODE_COMPARE:
    case CODE_TEST:
    case CODE_TEST_SET:
    case CODE_FOR:
    case CODE_FOR_END:
    case CODE_EACH:
    case CODE_EACH_END: return true;
    default: return false;
  }
}

/* Where a jump leads in the new function, whose last instruction leaves rows to Lua. */
static uint32_t body_target(const struct cut *cut, uint32_t target) {
  if (!cut->to) return 0;
  bool inside = target >= cut->first && target <= cut->end;
  return cut->places[(inside ? target : cut->end) - cut->first] + !inside;
}

static void body_add_local(struct cut *cut, uint32_t local, bool sets, uint32_t pc) {
  if (cut->from->captured[local / 64] >> local % 64 & 1) {
    cut->f->frame->pc = pc;
    front_refuse(cut->f, "its loop uses a local that a function created here uses, too: that is "
                         "done in Lua");
  }
  struct code code = {.kind = CODE_UPVALUE, .a = local, .b = BODY_LOCAL + local};
  if (sets)
    code = (struct code){.kind = CODE_SET_UPVALUE, .a = BODY_LOCAL + local,
                         .right = {false, local}};
  body_add(cut, code, pc);
}

/* CODE_TEST_SET of a local becomes a test, after which only the rows that jump set it. */
static void body_add_set(struct cut *cut, struct code code, uint32_t pc) {
  uint32_t target = body_target(cut, code.target), test = cut->count;
  struct code move = {.kind = CODE_MOVE, .a = code.a, .b = code.b};
  code.kind = CODE_TEST;
  code.target = test + 3;
  body_add(cut, code, pc);
  body_add(cut, (struct code){.kind = CODE_NOTHING}, pc);   /* what a test skips */
  body_add(cut, (struct code){.kind = CODE_JUMP, .target = body_target(cut, pc + 2)}, pc);
  body_add(cut, move, pc);
  body_add_local(cut, code.a, true, pc);
  body_add(cut, (struct code){.kind = CODE_JUMP, .target = target}, pc);
}

/* Notes which locals an instruction reads and sets, even if it is left to Lua, because the programs
** of one body share these notes. */
static void body_note_locals(struct cut *cut, const struct code *code) {
  struct front *f = cut->f;
  for (uint32_t i = 0; i < cut->locals; i++) {
    uint64_t bit = UINT64_C(1) << i % 64;
    bool sets = flow_sets(code, i) || (code->kind == CODE_TEST_SET && code->a == i);
    if (sets) f->body_sets[i / 64] |= bit;
    if (sets || flow_takes(code, i)) f->body_uses[i / 64] |= bit;
  }
}

/* Adds an instruction, with the loads and stores of locals that it needs. */
static void body_add_code(struct cut *cut, uint32_t pc) {
  struct code code = cut->from->code[pc];
  body_note_locals(cut, &code);
  if (front_leaves(cut->f, NULL, pc) || code.kind == CODE_RETURN) {
    body_add(cut, (struct code){.kind = CODE_LEAVE}, pc);
    return;
  }
  for (uint32_t i = 0; i < cut->locals; i++)
    if (flow_takes(&code, i)) body_add_local(cut, i, false, pc);
  if (code.kind == CODE_TEST_SET && code.a < cut->locals) {
    body_add_set(cut, code, pc);
    return;
  }
  if (body_jumps(&code)) code.target = body_target(cut, code.target);
  if (code.kind == CODE_LOAD_SKIP && code.a < cut->locals) code.kind = CODE_LOAD;
  body_add(cut, code, pc);
  for (uint32_t i = 0; i < cut->locals; i++)
    if (flow_sets(&code, i)) body_add_local(cut, i, true, pc);
  if (code.kind == cut->from->code[pc].kind) return;
  body_add(cut, (struct code){.kind = CODE_JUMP, .target = body_target(cut, pc + 2)}, pc);
}

static void body_add_all(struct cut *cut) {
  cut->count = 0;
  for (uint32_t pc = cut->first; pc < cut->end; pc++) {
    if (!cut->to) cut->places[pc - cut->first] = cut->count;
    body_add_code(cut, pc);
  }
  if (!cut->to) cut->places[cut->end - cut->first] = cut->count;
  body_add(cut, (struct code){.kind = CODE_RETURN}, cut->end);
  body_add(cut, (struct code){.kind = CODE_LEAVE}, cut->end);
}

static void body_copy(struct cut *cut) {
  struct memory *memory = cut->from->memory;
  body_add_all(cut);
  uint32_t count = cut->count;
  cut->to = memory_array(memory, count, sizeof *cut->to);
  cut->lines = memory_array(memory, count, sizeof *cut->lines);
  if (cut->to && cut->lines) {
    body_add_all(cut);
    return;
  }
  memory_free(memory, cut->to, count * sizeof *cut->to);
  memory_free(memory, cut->lines, count * sizeof *cut->lines);
  front_no_memory(cut->f);
}

void body_cut(struct front *f, struct frame *frame) {
  struct function_code *code = frame->code;
  uint32_t head = body_find(code, f->body_line);
  if (head == NONE) front_refuse(f, "several loops begin at its line: put each on its own");
  const struct code *each = &code->code[head];
  uint32_t length = each->target - head;
  struct cut cut = {.f = f, .from = code, .first = head + 1, .end = each->target,
                    .locals = each->a};
  f->body_first = each->a + EACH_VARIABLE;
  f->body_count = code->code[each->target].c;
  cut.places = lua_newuserdatauv(f->L, length * sizeof *cut.places, 0);
  body_copy(&cut);
  lua_pop(f->L, 1);
  memory_free(code->memory, code->code, code->count * sizeof *code->code);
  memory_free(code->memory, code->lines, code->count * sizeof *code->lines);
  code->code = cut.to;
  code->lines = cut.lines;
  code->count = cut.count;
  code->vararg = false;
  frame->pc = 0;
}
