/* Loops are natural ones: from an instruction to which others jump back, to the last of these,
** extended by loops that begin inside. Live registers are found backwards from their readers (as in
** A. Aho, M. Lam, R. Sethi and J. Ullman, "Compilers", 9.2.5). */
#include "front/rounds.h"

#define REGISTERS 256

struct registers {
  uint64_t bits[REGISTERS / 64];
};

/* What is known of an instruction. */
struct flow {
  uint32_t end;                /* end of the loop that it begins, or 0 */
  struct registers needed;
};

static void flow_add(struct registers *set, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < first + count && i < REGISTERS; i++)
    set->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static void flow_add_operand(struct registers *set, struct operand operand) {
  if (!operand.constant) flow_add(set, operand.at, 1);
}

/* ---- loops ---- */

static bool flow_jumps_back(const struct code *code, uint32_t pc) {
  bool jumps = code->kind == CODE_JUMP || code->kind == CODE_COMPARE || code->kind == CODE_TEST ||
               code->kind == CODE_TEST_SET;
  return jumps && code->target <= pc;
}

static void flow_find_loops(struct function_code *f) {
  for (uint32_t pc = 0; pc < f->count; pc++) {
    const struct code *code = &f->code[pc];
    if (!flow_jumps_back(code, pc)) continue;
    struct flow *begin = &f->flow[code->target];
    if (begin->end < pc + 1) begin->end = pc + 1;
  }
  for (uint32_t begin = f->count; begin-- > 0;) {
    struct flow *loop = &f->flow[begin];
    for (uint32_t pc = begin + 1; pc < loop->end; pc++) {
      const struct code *code = &f->code[pc];
      uint32_t end = code->kind == CODE_FOR    ? code->target + 1
                     : code->kind == CODE_EACH ? code->target + 2
                                               : f->flow[pc].end;
      if (end > loop->end) loop->end = end;
    }
  }
}

/* ---- live registers ---- */

/* The operands that an instruction reads, and whether it sets register a in any case. */
enum { TAKES_A = 1, TAKES_B = 2, TAKES_C = 4, TAKES_LEFT = 8, TAKES_RIGHT = 16, SETS_A = 32 };

static const uint8_t flow_operands[] = {
  [CODE_MOVE] = TAKES_B | SETS_A, [CODE_LOAD] = SETS_A, [CODE_LOAD_SKIP] = SETS_A,
  [CODE_UPVALUE] = SETS_A, [CODE_UPFIELD] = SETS_A, [CODE_FIELD] = TAKES_B | SETS_A,
  [CODE_INDEX] = TAKES_B | TAKES_C | SETS_A, [CODE_SET_FIELD] = TAKES_A | TAKES_RIGHT,
  [CODE_SET_INDEX] = TAKES_A | TAKES_B | TAKES_RIGHT, [CODE_SET_UPFIELD] = TAKES_RIGHT,
  [CODE_SET_UPVALUE] = TAKES_RIGHT, [CODE_TABLE] = SETS_A, [CODE_CLOSURE] = SETS_A,
  [CODE_METHOD] = TAKES_B, [CODE_ARITH] = TAKES_LEFT | TAKES_RIGHT | SETS_A,
  [CODE_UNARY] = TAKES_B | SETS_A, [CODE_NOT] = TAKES_B | SETS_A,
  [CODE_LENGTH] = TAKES_B | SETS_A, [CODE_CONCAT] = SETS_A,
  [CODE_COMPARE] = TAKES_LEFT | TAKES_RIGHT, [CODE_TEST] = TAKES_B, [CODE_TEST_SET] = TAKES_B,
  [CODE_CALL] = TAKES_A, [CODE_REFUSED] = 0};

/* What an instruction reads, and what it sets in any case. */
static void flow_uses(const struct code *code, struct registers *takes, struct registers *sets) {
  uint8_t operands = flow_operands[code->kind];
  if (operands & TAKES_A) flow_add(takes, code->a, 1);
  if (operands & TAKES_B) flow_add(takes, code->b, 1);
  if (operands & TAKES_C) flow_add(takes, code->c, 1);
  if (operands & TAKES_LEFT) flow_add_operand(takes, code->left);
  if (operands & TAKES_RIGHT) flow_add_operand(takes, code->right);
  if (operands & SETS_A) flow_add(sets, code->a, 1);
  switch (code->kind) {
    case CODE_CONCAT: flow_add(takes, code->b, code->c); break;
    case CODE_LIST: flow_add(takes, code->a, code->b == NONE ? REGISTERS : code->b + 1); break;
    case CODE_METHOD: flow_add(sets, code->a, 2); break;
    case CODE_NIL: flow_add(sets, code->a, code->b + 1); break;
    case CODE_CALL:
      flow_add(takes, code->left.at, code->b == NONE ? REGISTERS : code->b);
      flow_add(sets, code->a, REGISTERS);
      break;
    case CODE_RETURN: flow_add(takes, code->a, code->b == NONE ? REGISTERS : code->b); break;
    case CODE_FOR:
    case CODE_FOR_END:
      flow_add(takes, code->a, 3);
      flow_add(sets, code->a + FOR_VARIABLE, 1);
      break;
    case CODE_EACH: flow_add(takes, code->a, 3); break;
    case CODE_EACH_NEXT:
      flow_add(takes, code->a, 3);
      flow_add(sets, code->a + EACH_VARIABLE, code->c);
      break;
    case CODE_EACH_END: flow_add(takes, code->a, EACH_VARIABLE + 1); break;
    default: break;
  }
}

bool flow_takes(const struct code *code, uint32_t at) {
  struct registers takes = {{0}}, sets = {{0}};
  flow_uses(code, &takes, &sets);
  assert(at < REGISTERS);
  return takes.bits[at / 64] >> at % 64 & 1;
}

bool flow_sets(const struct code *code, uint32_t at) {
  struct registers takes = {{0}}, sets = {{0}};
  flow_uses(code, &takes, &sets);
  assert(at < REGISTERS);
  return sets.bits[at / 64] >> at % 64 & 1;
}

/* Adds an instruction's live registers to a set, except the one that is set on the way. */
static void flow_join(const struct function_code *f, struct registers *set, uint32_t pc,
                      uint32_t without) {
  for (uint32_t i = 0; pc < f->count && i < REGISTERS / 64; i++) {
    uint64_t bits = f->flow[pc].needed.bits[i];
    if (without / 64 == i) bits &= ~(UINT64_C(1) << without % 64);
    set->bits[i] |= bits;
  }
}

/* The registers that are live after an instruction, on any path. */
static struct registers flow_behind(const struct function_code *f, uint32_t pc) {
  const struct code *code = &f->code[pc];
  struct registers set = {{0}};
  switch (code->kind) {
    case CODE_LEAVE:
    case CODE_RETURN: break;
    case CODE_REFUSED: flow_join(f, &set, f->surveyed ? pc + 1 : f->count, NONE); break;
    case CODE_JUMP:
    case CODE_EACH: flow_join(f, &set, code->target, NONE); break;
    case CODE_EACH_END:
      flow_join(f, &set, code->target, NONE);
      flow_join(f, &set, pc + 1, NONE);
      break;
    case CODE_COMPARE:
    case CODE_TEST:
    case CODE_TEST_SET:
      flow_join(f, &set, code->target, code->kind == CODE_TEST_SET ? code->a : NONE);
      flow_join(f, &set, pc + 2, NONE);
      break;
    case CODE_LOAD_SKIP: flow_join(f, &set, pc + 2, NONE); break;
    case CODE_FOR:
      flow_join(f, &set, code->target + 1, NONE);
      flow_join(f, &set, pc + 1, NONE);
      break;
    case CODE_FOR_END:
      flow_join(f, &set, code->target, NONE);
      flow_join(f, &set, pc + 1, NONE);
      break;
    default: flow_join(f, &set, pc + 1, NONE); break;
  }
  return set;
}

/* One pass through the function. Returns whether more registers are live than was known. */
static bool flow_find_needed(struct function_code *f) {
  bool more = false;
  for (uint32_t pc = f->count; pc-- > 0;) {
    const struct code *code = &f->code[pc];
    struct registers set = flow_behind(f, pc), takes = {{0}}, sets = {{0}};
    flow_uses(code, &takes, &sets);
    for (uint32_t i = 0; i < REGISTERS / 64; i++)
      set.bits[i] = (set.bits[i] & ~sets.bits[i]) | takes.bits[i];
    more |= memcmp(&set, &f->flow[pc].needed, sizeof set) != 0;
    f->flow[pc].needed = set;
  }
  return more;
}

bool flow_find(struct function_code *f) {
  assert(!f->flow && f->registers <= REGISTERS);
  uint32_t pc = 0;
  while (pc < f->count && !flow_jumps_back(&f->code[pc], pc)) pc++;
  if (pc == f->count) return true;
  f->flow = memory_array(f->memory, f->count, sizeof *f->flow);
  if (!f->flow) return false;
  flow_find_loops(f);
  while (flow_find_needed(f)) continue;
  return true;
}

void flow_free(struct function_code *f) {
  if (f->flow) memory_free(f->memory, f->flow, f->count * sizeof *f->flow);
  f->flow = NULL;
}

uint32_t flow_loop(const struct function_code *f, uint32_t pc) {
  assert(pc < f->count);
  return f->flow ? f->flow[pc].end : 0;
}

bool flow_needs(const struct function_code *f, uint32_t pc, uint32_t at) {
  assert(f->flow && at < REGISTERS);
  bool captured = f->captured[at / 64] >> at % 64 & 1;   /* read by functions that may be called */
  return captured || (pc < f->count && (f->flow[pc].needed.bits[at / 64] >> at % 64 & 1));
}
