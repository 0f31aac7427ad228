/* The instructions of Lua 5.4 and 5.5 (lopcodes.h). Every number in them is checked against what it
** indexes. */
#include "front/bytecode.h"

void bytecode_free(struct function_code *f) {
  if (!f->memory) return;
  memory_free(f->memory, f->dump, f->dump_capacity);
  memory_free(f->memory, f->code, f->count * sizeof *f->code);
  memory_free(f->memory, f->lines, f->count * sizeof *f->lines);
  memory_free(f->memory, f->constants, f->constant_capacity * sizeof *f->constants);
  memory_free(f->memory, f->strings, f->string_capacity * sizeof *f->strings);
  memset(f, 0, sizeof *f);
}

#ifndef LUAJIT_VERSION

/* Opcodes that the decoder or a refusal has to distinguish. */
enum {
  LOP_MOVE = 0, LOP_LOADI = 1, LOP_LOADF = 2, LOP_LOADK = 3, LOP_LOADKX = 4,
  LOP_LOADFALSE = 5, LOP_LFALSESKIP = 6, LOP_LOADTRUE = 7, LOP_LOADNIL = 8,
  LOP_GETUPVAL = 9, LOP_SETUPVAL = 10, LOP_GETTABUP = 11, LOP_GETTABLE = 12, LOP_GETI = 13,
  LOP_GETFIELD = 14, LOP_SETTABUP = 15, LOP_SETTABLE = 16, LOP_SETI = 17,
  LOP_SETFIELD = 18, LOP_NEWTABLE = 19, LOP_SELF = 20, LOP_ADDI = 21, LOP_ADDK = 22,
  LOP_BXORK = 31, LOP_ADD = 34, LOP_SHR = 45, LOP_MMBIN = 46,
  LOP_MMBINK = 48, LOP_UNM = 49, LOP_BNOT = 50, LOP_NOT = 51, LOP_LEN = 52,
  LOP_CONCAT = 53, LOP_CLOSE = 54, LOP_TBC = 55, LOP_JMP = 56, LOP_EQ = 57, LOP_LT = 58,
  LOP_LE = 59, LOP_EQK = 60, LOP_EQI = 61, LOP_LTI = 62, LOP_LEI = 63, LOP_GTI = 64,
  LOP_GEI = 65, LOP_TEST = 66, LOP_TESTSET = 67, LOP_CALL = 68, LOP_TAILCALL = 69,
  LOP_RETURN = 70, LOP_RETURN0 = 71, LOP_RETURN1 = 72, LOP_FORLOOP = 73, LOP_FORPREP = 74,
  LOP_TFORPREP = 75, LOP_TFORCALL = 76, LOP_TFORLOOP = 77, LOP_SETLIST = 78, LOP_CLOSURE = 79,
  LOP_VARARG = 80
};

/* Opcodes that have different numbers in different versions; the bits of a list's length in B, and
** of its start in C. */
#if LUA_VERSION_NUM >= 505
enum { LOP_SHLI = 32, LOP_SHRI = 33, LOP_VARARGPREP = 83, LOP_EXTRAARG = 84,
       LIST_LENGTH = 6, LIST_BEGIN = 10, METHODS_ARE_NAMED = 1 };
#else
enum { LOP_SHRI = 32, LOP_SHLI = 33, LOP_VARARGPREP = 81, LOP_EXTRAARG = 82,
       LIST_LENGTH = 8, LIST_BEGIN = 8, METHODS_ARE_NAMED = 0 };
#endif

/* ---- operands ---- */

struct decoder {
  struct function_code *f;
  const unsigned char *words;
  uint32_t own_constants;      /* the function's own; instructions add more */
  bool ok;                     /* every number so far was valid */
  bool memory;                 /* no allocation failed */
};

static uint32_t bytecode_word(const struct decoder *d, uint32_t pc) {
  uint32_t i;
  assert(pc < d->f->count);
  memcpy(&i, d->words + 4 * (size_t)pc, 4);
  return i;
}

/* Each of these returns the number, and records whether it was invalid. */

static uint32_t bytecode_reg(struct decoder *d, uint32_t at) {
  if (at >= d->f->registers) d->ok = false;
  return at;
}

static uint32_t bytecode_own_constant(struct decoder *d, uint32_t at) {
  if (at >= d->own_constants) d->ok = false;
  return at;
}

/* A constant that is a string. */
static uint32_t bytecode_key_constant(struct decoder *d, uint32_t at) {
  bytecode_own_constant(d, at);
  if (d->ok && d->f->constants[at].type != CONST_STRING) d->ok = false;
  return at;
}

static uint32_t bytecode_upvalue(struct decoder *d, uint32_t at) {
  if (at >= d->f->upvalues) d->ok = false;
  return at;
}

/* The target of a jump. */
static uint32_t bytecode_target(struct decoder *d, int64_t at) {
  if (at < 0 || at >= (int64_t)d->f->count) d->ok = false;
  return (uint32_t)at;
}

static uint32_t bytecode_new_constant(struct decoder *d, struct constant constant) {
  uint32_t at = dump_add_constant(d->f, constant);
  if (at == NONE) d->memory = false;
  return at == NONE ? 0 : at;
}

static struct constant bytecode_integer_constant(int64_t value) {
  return (struct constant){.type = CONST_INTEGER, .integer = value};
}

static struct operand bytecode_in_register(struct decoder *d, uint32_t at) {
  return (struct operand){false, bytecode_reg(d, at)};
}

static struct operand bytecode_in_constant(struct decoder *d, uint32_t at) {
  return (struct operand){true, bytecode_own_constant(d, at)};
}

static struct operand bytecode_immediate(struct decoder *d, int64_t value) {
  return (struct operand){true, bytecode_new_constant(d, bytecode_integer_constant(value))};
}

/* ---- instructions ---- */

/* The parts of an instruction's word. */
struct fields {
  uint32_t op, a, b, c, k, bx;
};
static int64_t bytecode_signed_c(uint32_t c) { return (int64_t)c - 127; }

/* What a number of an instruction is. */
enum role { ROLE_NONE, ROLE_REGISTER, ROLE_UPVALUE, ROLE_KEY, ROLE_INTEGER };

/* Instructions whose numbers are read one by one. */
static const struct bytecode_form {
  enum code_kind kind;
  enum role a, b, c;
  bool sets;                   /* c is a register or, with k, a constant, to be stored */
} bytecode_forms[] = {
  [LOP_MOVE] = {CODE_MOVE, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, false},
  [LOP_GETUPVAL] = {CODE_UPVALUE, ROLE_REGISTER, ROLE_UPVALUE, ROLE_NONE, false},
  [LOP_GETTABUP] = {CODE_UPFIELD, ROLE_REGISTER, ROLE_UPVALUE, ROLE_KEY, false},
  [LOP_GETTABLE] = {CODE_INDEX, ROLE_REGISTER, ROLE_REGISTER, ROLE_REGISTER, false},
  [LOP_GETI] = {CODE_FIELD, ROLE_REGISTER, ROLE_REGISTER, ROLE_INTEGER, false},
  [LOP_GETFIELD] = {CODE_FIELD, ROLE_REGISTER, ROLE_REGISTER, ROLE_KEY, false},
  [LOP_SETTABUP] = {CODE_SET_UPFIELD, ROLE_UPVALUE, ROLE_KEY, ROLE_NONE, true},
  [LOP_SETTABLE] = {CODE_SET_INDEX, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, true},
  [LOP_SETI] = {CODE_SET_FIELD, ROLE_REGISTER, ROLE_INTEGER, ROLE_NONE, true},
  [LOP_SETFIELD] = {CODE_SET_FIELD, ROLE_REGISTER, ROLE_KEY, ROLE_NONE, true},
  [LOP_UNM] = {CODE_UNARY, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, false},
  [LOP_BNOT] = {CODE_UNARY, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, false},
  [LOP_NOT] = {CODE_NOT, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, false},
  [LOP_LEN] = {CODE_LENGTH, ROLE_REGISTER, ROLE_REGISTER, ROLE_NONE, false}};

static uint32_t bytecode_number(struct decoder *d, enum role role, uint32_t at) {
  switch (role) {
    case ROLE_REGISTER: return bytecode_reg(d, at);
    case ROLE_UPVALUE: return bytecode_upvalue(d, at);
    case ROLE_KEY: return bytecode_key_constant(d, at);
    case ROLE_INTEGER: return bytecode_new_constant(d, bytecode_integer_constant(at));
    default: return 0;
  }
}

/* False if the instruction has no form. */
static bool bytecode_by_form(struct decoder *d, const struct fields *i, struct code *out) {
  if (i->op >= sizeof bytecode_forms / sizeof *bytecode_forms) return false;
  const struct bytecode_form *form = &bytecode_forms[i->op];
  if (!form->a) return false;
  out->kind = form->kind;
  out->op = i->op == LOP_BNOT ? OPERATOR_BNOT : OPERATOR_NEG;
  out->a = bytecode_number(d, form->a, i->a);
  out->b = bytecode_number(d, form->b, i->b);
  out->c = bytecode_number(d, form->c, i->c);
  if (form->sets)
    out->right = i->k ? bytecode_in_constant(d, i->c) : bytecode_in_register(d, i->c);
  return true;
}

/* The target of the jump that follows a condition. */
static uint32_t bytecode_jump_behind(struct decoder *d, uint32_t pc) {
  if (pc + 1 >= d->f->count || (bytecode_word(d, pc + 1) & 0x7F) != LOP_JMP) {
    d->ok = false;
    return 0;
  }
  int64_t offset = (int64_t)(bytecode_word(d, pc + 1) >> 7) - 16777215;
  return bytecode_target(d, (int64_t)pc + 2 + offset);
}

static void bytecode_compare(struct decoder *d, const struct fields *i, uint32_t pc,
                             struct code *out) {
  static const enum code_operator operators[] = {
      OPERATOR_EQ, OPERATOR_LT, OPERATOR_LE, OPERATOR_EQ, OPERATOR_EQ,
      OPERATOR_LT, OPERATOR_LE, OPERATOR_LT, OPERATOR_LE};
  assert(i->op >= LOP_EQ && i->op - LOP_EQ < sizeof operators / sizeof *operators);
  out->kind = CODE_COMPARE;
  out->op = operators[i->op - LOP_EQ];
  out->flag = i->k;
  out->target = bytecode_jump_behind(d, pc);
  struct operand a = bytecode_in_register(d, i->a), b;
  if (i->op <= LOP_LE)
    b = bytecode_in_register(d, i->b);
  else if (i->op == LOP_EQK)
    b = bytecode_in_constant(d, i->b);
  else
    b = bytecode_immediate(d, bytecode_signed_c(i->b));
  bool swapped = i->op == LOP_GTI || i->op == LOP_GEI;
  out->left = swapped ? b : a;
  out->right = swapped ? a : b;
}

/* Operators are in the order of Lua's opcodes. */
static void bytecode_arithmetic(struct decoder *d, const struct fields *i, struct code *out) {
  out->kind = CODE_ARITH;
  out->a = bytecode_reg(d, i->a);
  out->left = bytecode_in_register(d, i->b);
  if (i->op == LOP_ADDI || i->op == LOP_SHRI) {
    out->op = i->op == LOP_ADDI ? OPERATOR_ADD : OPERATOR_SHR;
    out->right = bytecode_immediate(d, bytecode_signed_c(i->c));
  } else if (i->op == LOP_SHLI) {
    out->op = OPERATOR_SHL;
    out->right = out->left;
    out->left = bytecode_immediate(d, bytecode_signed_c(i->c));
  } else if (i->op <= LOP_BXORK) {
    out->op = (enum code_operator)(i->op - LOP_ADDK);
    out->right = bytecode_in_constant(d, i->c);
  } else {
    out->op = (enum code_operator)(i->op - LOP_ADD);
    out->right = bytecode_in_register(d, i->c);
  }
  assert(out->op <= OPERATOR_SHR);
}

static void bytecode_call(struct decoder *d, const struct fields *i, struct code *out) {
  out->kind = CODE_CALL;
  out->a = bytecode_reg(d, i->a);
  out->left.at = i->a + 1;
  out->b = i->b ? i->b - 1 : NONE;
  out->c = i->op == LOP_TAILCALL ? NONE : i->c ? i->c - 1 : NONE;
  if (i->b) bytecode_reg(d, i->a + i->b - 1);
  if (out->c != NONE && out->c) bytecode_reg(d, i->a + out->c - 1);
}

static void bytecode_do_return(struct decoder *d, const struct fields *i, struct code *out) {
  out->kind = CODE_RETURN;
  out->a = i->a;
  out->b = i->op == LOP_RETURN0 ? 0 : i->op == LOP_RETURN1 ? 1 : i->b ? i->b - 1 : NONE;
  if (out->b && out->b != NONE) bytecode_reg(d, i->a + out->b - 1);
  if (out->b == NONE) bytecode_reg(d, i->a);
}

static void bytecode_method(struct decoder *d, const struct fields *i, struct code *out) {
  out->kind = CODE_METHOD;
  out->a = bytecode_reg(d, i->a);
  bytecode_reg(d, i->a + 1);
  out->b = bytecode_reg(d, i->b);
  if (i->k || METHODS_ARE_NAMED) {
    out->c = bytecode_key_constant(d, i->c);
  } else {
    out->kind = CODE_REFUSED;
    out->flag = true;
    out->why = "it calls a method by a name that is not a constant";
  }
}

static void bytecode_for_loop(struct decoder *d, const struct fields *i, uint32_t pc,
                              struct code *out) {
  out->a = bytecode_reg(d, i->a);
  bytecode_reg(d, i->a + FOR_VARIABLE);
  if (i->op == LOP_FORLOOP) {
    out->kind = CODE_FOR_END;
    out->target = bytecode_target(d, (int64_t)pc + 1 - i->bx);
  } else {
    out->kind = CODE_FOR;
    out->target = bytecode_target(d, (int64_t)pc + 1 + i->bx);
    uint32_t end = d->ok ? bytecode_word(d, out->target) : 0;
    if ((end & 0x7F) != LOP_FORLOOP || out->target <= pc) d->ok = false;
  }
}

/* The instructions of a loop over an iterator, as Lua's compiler places them. */
static void bytecode_each_loop(struct decoder *d, const struct fields *i, uint32_t pc,
                               struct code *out) {
  out->a = bytecode_reg(d, i->a);
  bytecode_reg(d, i->a + EACH_VARIABLE);
  if (i->op == LOP_TFORCALL) {
    out->kind = CODE_EACH_NEXT;
    out->c = i->c;
    bytecode_reg(d, i->a + EACH_VARIABLE - 1 + i->c);
    uint32_t end = pc + 1 < d->f->count ? bytecode_word(d, pc + 1) : 0;
    if ((end & 0x7F) != LOP_TFORLOOP || i->c == 0) d->ok = false;
  } else if (i->op == LOP_TFORLOOP) {
    out->kind = CODE_EACH_END;
    out->target = bytecode_target(d, (int64_t)pc + 1 - i->bx);
  } else {
    out->kind = CODE_EACH;
    out->target = bytecode_target(d, (int64_t)pc + 1 + i->bx);
    uint32_t next = d->ok ? bytecode_word(d, out->target) : 0;
    if ((next & 0x7F) != LOP_TFORCALL || (next >> 7 & 0xFF) != i->a || out->target <= pc)
      d->ok = false;
  }
}

static void bytecode_test(struct decoder *d, const struct fields *i, uint32_t pc,
                          struct code *out) {
  bool sets = i->op == LOP_TESTSET;
  out->kind = sets ? CODE_TEST_SET : CODE_TEST;
  out->a = bytecode_reg(d, i->a);
  out->b = bytecode_reg(d, sets ? i->b : i->a);
  out->flag = i->k;
  out->target = bytecode_jump_behind(d, pc);
}

static void bytecode_load_long(struct decoder *d, const struct fields *i, uint32_t pc,
                               struct code *out) {
  out->kind = CODE_LOAD_SKIP;
  out->a = bytecode_reg(d, i->a);
  if (pc + 1 >= d->f->count || (bytecode_word(d, pc + 1) & 0x7F) != LOP_EXTRAARG) d->ok = false;
  if (d->ok) out->b = bytecode_own_constant(d, bytecode_word(d, pc + 1) >> 7);
}

static void bytecode_load(struct decoder *d, const struct fields *i, struct code *out) {
  struct constant constant = bytecode_integer_constant((int64_t)i->bx - 65535);
  out->kind = i->op == LOP_LFALSESKIP ? CODE_LOAD_SKIP : CODE_LOAD;
  out->a = bytecode_reg(d, i->a);
  if (i->op == LOP_LOADK) {
    out->b = bytecode_own_constant(d, i->bx);
    return;
  }
  if (i->op == LOP_LOADF)
    constant = (struct constant){.type = CONST_FLOAT, .number = (double)constant.integer};
  else if (i->op != LOP_LOADI)
    constant = (struct constant){.type = i->op == LOP_LOADTRUE ? CONST_TRUE : CONST_FALSE};
  out->b = bytecode_new_constant(d, constant);
}

static void bytecode_jump(struct decoder *d, uint32_t pc, struct code *out) {
  out->kind = CODE_JUMP;
  out->target = bytecode_target(d, (int64_t)pc + 1 +
                                       (int64_t)(bytecode_word(d, pc) >> 7) - 16777215);
}

/* The second number of an instruction that fills a list; the first has LIST_LENGTH bits. */
static uint32_t bytecode_list_number(struct decoder *d, const struct fields *i, uint32_t pc) {
  uint32_t number = i->bx >> 1 >> LIST_LENGTH;
  if (!i->k) return number;
  if (pc + 1 >= d->f->count || (bytecode_word(d, pc + 1) & 0x7F) != LOP_EXTRAARG) d->ok = false;
  return d->ok ? number + ((bytecode_word(d, pc + 1) >> 7) << LIST_BEGIN) : 0;
}

static void bytecode_list(struct decoder *d, const struct fields *i, uint32_t pc,
                          struct code *out) {
  uint32_t length = i->bx >> 1 & ((1u << LIST_LENGTH) - 1);
  out->kind = CODE_LIST;
  out->a = bytecode_reg(d, i->a);
  out->b = length ? length : NONE;
  bytecode_reg(d, i->a + length);
  out->c = bytecode_list_number(d, i, pc);
}

static void bytecode_table(struct decoder *d, const struct fields *i, uint32_t pc,
                           struct code *out) {
  uint32_t names = i->bx >> 1 & ((1u << LIST_LENGTH) - 1);   /* 1 + a logarithm */
  if (names > 24) d->ok = false;
  *out = (struct code){.kind = CODE_TABLE, .a = bytecode_reg(d, i->a),
                       .b = names && d->ok ? 1u << (names - 1) : 0,
                       .c = bytecode_list_number(d, i, pc)};
}

static void bytecode_concat(struct decoder *d, const struct fields *i, struct code *out) {
  *out = (struct code){.kind = CODE_CONCAT, .a = i->a, .b = i->a, .c = i->b};
  if (i->b == 0) d->ok = false;
  bytecode_reg(d, i->a + i->b - 1);
}

static void bytecode_refuse(const struct fields *i, struct code *out) {
  out->kind = CODE_REFUSED;
  out->why = i->op == LOP_TBC ? "it has a to-be-closed variable: do that in a system's run"
             : i->op == LOP_VARARG || i->op == LOP_VARARGPREP ? WHY_VARARG
                                                               : WHY_UNKNOWN;
  out->a = i->a;
  out->flag = i->op > LOP_SETFIELD && i->op != LOP_TBC;
}

static void bytecode_load_nil(struct decoder *d, const struct fields *i, struct code *out) {
  *out = (struct code){.kind = CODE_NIL, .a = bytecode_reg(d, i->a), .b = i->b};
  bytecode_reg(d, i->a + i->b);
}

static void bytecode_set_upvalue(struct decoder *d, const struct fields *i, struct code *out) {
  out->kind = CODE_SET_UPVALUE;
  out->a = bytecode_upvalue(d, i->b);
  out->right = bytecode_in_register(d, i->a);
  d->f->assigned[i->b / 64] |= 1ull << i->b % 64;
}

/* Decodes instructions that only set registers, upvalues or fields; false for others. */
static bool decode_value(struct decoder *d, const struct fields *i, uint32_t pc,
                         struct code *out) {
  if (bytecode_by_form(d, i, out)) return true;
  if (i->op == LOP_LOADKX)
    bytecode_load_long(d, i, pc, out);
  else if (i->op == LOP_LOADNIL)
    bytecode_load_nil(d, i, out);
  else if (i->op >= LOP_LOADI && i->op <= LOP_LOADTRUE)
    bytecode_load(d, i, out);
  else if (i->op == LOP_SETUPVAL)
    bytecode_set_upvalue(d, i, out);
  else if (i->op == LOP_SETLIST)
    bytecode_list(d, i, pc, out);
  else if (i->op == LOP_CONCAT)
    bytecode_concat(d, i, out);
  else if (i->op == LOP_NEWTABLE)
    bytecode_table(d, i, pc, out);
  else if (i->op == LOP_CLOSURE)
    *out = (struct code){.kind = CODE_CLOSURE, .a = bytecode_reg(d, i->a), .b = i->bx};
  else if (i->op == LOP_SELF)
    bytecode_method(d, i, out);
  else if (i->op >= LOP_ADDI && i->op <= LOP_SHR)
    bytecode_arithmetic(d, i, out);
  else
    return false;
  return true;
}

static void bytecode_decode(struct decoder *d, uint32_t pc, struct code *out) {
  uint32_t word = bytecode_word(d, pc);
  struct fields i = {word & 0x7F, word >> 7 & 0xFF, word >> 16 & 0xFF, word >> 24, word >> 15 & 1,
                     word >> 15};
  memset(out, 0, sizeof *out);
  if (decode_value(d, &i, pc, out)) return;
  if ((i.op >= LOP_MMBIN && i.op <= LOP_MMBINK) || i.op == LOP_EXTRAARG)
    out->kind = CODE_NOTHING;
  else if (i.op == LOP_CLOSE)
    *out = (struct code){.kind = CODE_CLOSE, .a = i.a};
  else if (i.op == LOP_JMP)
    bytecode_jump(d, pc, out);
  else if (i.op >= LOP_EQ && i.op <= LOP_GEI)
    bytecode_compare(d, &i, pc, out);
  else if (i.op == LOP_TEST || i.op == LOP_TESTSET)
    bytecode_test(d, &i, pc, out);
  else if (i.op == LOP_CALL || i.op == LOP_TAILCALL)
    bytecode_call(d, &i, out);
  else if (i.op >= LOP_RETURN && i.op <= LOP_RETURN1)
    bytecode_do_return(d, &i, out);
  else if (i.op == LOP_FORLOOP || i.op == LOP_FORPREP)
    bytecode_for_loop(d, &i, pc, out);
  else if (i.op >= LOP_TFORPREP && i.op <= LOP_TFORLOOP)
    bytecode_each_loop(d, &i, pc, out);
  else
    bytecode_refuse(&i, out);
}

static ecs_status decode_all(struct function_code *f, const unsigned char *words) {
  struct decoder d = {f, words, f->constant_count, true, true};
  f->code = memory_array(f->memory, f->count, sizeof *f->code);
  if (!f->code) return ECS_ENOMEM;
  for (uint32_t pc = 0; pc < f->count; pc++) {
    bytecode_decode(&d, pc, &f->code[pc]);
    if (!d.memory) return ECS_ENOMEM;
    if (!d.ok) return ECS_ECORRUPT;
  }
  return ECS_OK;
}

#endif

ecs_status bytecode_read(lua_State *L, int index, uint32_t inner, struct memory *memory,
                         struct function_code *out) {
  memset(out, 0, sizeof *out);
  out->memory = memory;
#ifdef LUAJIT_VERSION
  (void)inner;
  return bytecode_jit_read(L, index, out);
#else
  const unsigned char *words;
  ecs_status status = dump_read(L, index, inner, out, &words);
  return status == ECS_OK ? decode_all(out, words) : status;
#endif
}
