/* Lua functions as neutral instructions. bytecode.c is the only file that knows how Lua 5.4
** encodes them. */
#ifndef ECS_FRONT_BYTECODE_H
#define ECS_FRONT_BYTECODE_H

#include "lua/bind/binding.h"

enum code_kind {
  CODE_NOTHING,     /* what follows an arithmetic instruction for metamethods */
  CODE_MOVE,        /* a = b */
  CODE_LOAD,        /* a = constant b */
  CODE_LOAD_SKIP,   /* a = constant b, then skips one */
  CODE_NIL,         /* a to a + b = nil */
  CODE_UPVALUE,     /* a = upvalue b */
  CODE_UPFIELD,     /* a = upvalue b [constant c] */
  CODE_FIELD,       /* a = b [operand c, a constant] */
  CODE_INDEX,       /* a = b [operand c, a register] */
  CODE_SET_FIELD,   /* a [constant b] = operand c */
  CODE_METHOD,      /* a + 1 = b; a = b [constant c] */
  CODE_ARITH,       /* a = operand b (op) operand c */
  CODE_UNARY,       /* a = (op) b */
  CODE_NOT,         /* a = not b */
  CODE_JUMP,        /* to target */
  CODE_COMPARE,     /* if (operand b (op) operand c) == flag then goto target else skip */
  CODE_TEST,        /* if truth of b == flag then goto target else skip */
  CODE_TEST_SET,    /* the same, and a = b where it jumps */
  CODE_CALL,        /* a ... = a (b arguments), c results; NONE: up to the top */
  CODE_RETURN,      /* b values from a; NONE: up to the top */
  CODE_FOR,         /* loop over a, a + 1, a + 2; body up to target, where FOR_END is */
  CODE_FOR_END,
  CODE_REFUSED      /* what a kernel cannot do: `why`; if flag, it may set registers from a on;
                    ** if b, it sets the field constant b - 1 of upvalue a */
};

enum code_op {
  OP_ADD, OP_SUB, OP_MUL, OP_MOD, OP_POW, OP_DIV, OP_IDIV, OP_BAND, OP_BOR, OP_BXOR, OP_SHL,
  OP_SHR, OP_NEG, OP_BNOT, OP_EQ, OP_LT, OP_LE
};

enum code_type { CONST_NIL, CONST_FALSE, CONST_TRUE, CONST_INTEGER, CONST_FLOAT, CONST_STRING };

struct constant {
  enum code_type type;
  int64_t integer;
  double number;
  ecs_string string;    /* within the dump */
};

/* A register, or a constant when `constant` is set. */
struct operand {
  bool constant;
  uint32_t at;
};

struct code {
  enum code_kind kind;
  enum code_op op;
  uint32_t a, b, c;
  struct operand left, right;
  bool flag;
  uint32_t target;
  const char *why;
};

struct function_code {
  struct memory *memory;
  char *dump;
  uint32_t dump_size, dump_capacity;
  struct code *code;
  int32_t *lines;              /* by instruction; 0 when stripped */
  uint32_t count;
  struct constant *constants;  /* those of the function, then those of instructions */
  uint32_t constant_count, constant_capacity;
  uint32_t parameters, registers, upvalues;
  uint64_t captured[4];        /* registers that functions made here share, as bits */
  uint64_t assigned[4];        /* upvalues that it sets */
  bool vararg;
};

/* Reads the Lua function at an index. ECS_ENOMEM, ECS_ECORRUPT (not what this reader knows).
** Free it either way. */
ecs_status bytecode_read(lua_State *L, int index, struct memory *memory,
                         struct function_code *out);
void bytecode_free(struct function_code *function);

#endif
