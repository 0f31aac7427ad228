/* Lua functions as neutral instructions. Only bytecode.c and dump.c know how Lua 5.4 and 5.5 encode
** them, and bytecode_jit.c how LuaJIT does. */
#ifndef ECS_FRONT_BYTECODE_H
#define ECS_FRONT_BYTECODE_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "core/base/memory.h"

/* Whether every number is a double: an integer is then just a known value without a fraction, which
** operations take as a float. */
#ifndef NUMBERS_ARE_DOUBLES
#define NUMBERS_ARE_DOUBLES false
#endif

/* Whether a double is an integer to kernels: without a fraction, exact, and not -0.0. */
static inline bool double_is_integer(double number) {
  bool small = number >= -0x1p53 && number <= 0x1p53;
  return small && (double)(int64_t)number == number && (number != 0 || 1 / number > 0);
}

/* Reasons for refusing instructions, in every version of Lua. */
#define WHY_STRING "it builds a string: write it out as a constant, use a list of constants or " \
                   "the names of an enum, or do that in a system's run"
#define WHY_FUNCTION "it creates a function: create it outside this one"
#define WHY_VARARG "it has the parameter '...', or calls a function that has it: name them"
#define WHY_KEYS "it creates a table with keys that are not names: create it outside"
#define WHY_LIST "it fills a table that it creates by a variable: fill it by names or constant " \
                 "numbers, or use a world:array"
#define WHY_UNKNOWN "it has an unknown instruction"

/* Where a loop's variables are, counted from the loop's first register. */
#ifdef LUAJIT_VERSION
enum { FOR_VARIABLE = 3, EACH_VARIABLE = 3 };
#elif LUA_VERSION_NUM >= 505
enum { FOR_VARIABLE = 2, EACH_VARIABLE = 3 };
#else
enum { FOR_VARIABLE = 3, EACH_VARIABLE = 4 };
#endif

/* What an instruction does. a, b and c are registers unless noted. */
enum code_kind {
  CODE_NOTHING,     /* for metamethods */
  CODE_CLOSE,       /* the variables from a on end, also for functions that have captured them */
  CODE_MOVE,        /* a = b */
  CODE_LOAD,        /* a = constant b */
  CODE_LOAD_SKIP,   /* a = constant b, then skips one */
  CODE_NIL,         /* a to a + b = nil */
  CODE_UPVALUE,     /* a = upvalue b */
  CODE_UPFIELD,     /* a = upvalue b [constant c] */
  CODE_FIELD,       /* a = b [constant c] */
  CODE_INDEX,       /* a = b [c] */
  CODE_SET_FIELD,   /* a [constant b] = right */
  CODE_SET_INDEX,   /* a [b] = right */
  CODE_SET_UPFIELD, /* upvalue a [constant b] = right */
  CODE_SET_UPVALUE, /* upvalue a = right */
  CODE_TABLE,       /* a = {}, with room as in the instruction: b for names, c for a list */
  CODE_CLOSURE,     /* a = the b-th function inside this one */
  CODE_LIST,        /* a [c + 1], a [c + 2] ... = b registers after a; NONE: up to the top */
  CODE_METHOD,      /* a + 1 = b; a = b [constant c] */
  CODE_ARITH,       /* a = left (op) right */
  CODE_UNARY,       /* a = (op) b */
  CODE_NOT,         /* a = not b */
  CODE_LENGTH,      /* a = #b */
  CODE_CONCAT,      /* a = b .. b + 1 ..., c of them */
  CODE_JUMP,        /* to target */
  CODE_COMPARE,     /* if (left (op) right) == flag then goto target else skip one */
  CODE_TEST,        /* if truth of b == flag then goto target else skip one */
  CODE_TEST_SET,    /* as CODE_TEST, and a = b where it jumps */
  CODE_CALL,        /* a ... = a (b arguments from left.at), c results; NONE of either: up to the
                    ** top */
  CODE_RETURN,      /* b values from a; NONE: up to the top */
  CODE_FOR,         /* a + FOR_VARIABLE = numbers by a, a + 1, a + 2; body up to target: FOR_END */
  CODE_FOR_END,
  CODE_EACH,        /* loops over the iterator at a; body up to target, where EACH_NEXT is */
  CODE_EACH_NEXT,   /* a + EACH_VARIABLE ... = the iterator's c results; EACH_END comes next */
  CODE_EACH_END,    /* to target unless the first result is nil */
  CODE_LEAVE,       /* rows that get here are left to Lua: in the body of a loop */
  CODE_REFUSED      /* not possible in a kernel: `why`; if flag, it may set registers from a on */
};

/* Arithmetic operators are in the order of Lua's opcodes. */
enum code_operator {
  OPERATOR_ADD, OPERATOR_SUB, OPERATOR_MUL, OPERATOR_MOD, OPERATOR_POW, OPERATOR_DIV,
  OPERATOR_IDIV, OPERATOR_BAND, OPERATOR_BOR, OPERATOR_BXOR, OPERATOR_SHL, OPERATOR_SHR,
  OPERATOR_NEG, OPERATOR_BNOT, OPERATOR_EQ, OPERATOR_LT, OPERATOR_LE
};

enum code_type { CONST_NIL, CONST_FALSE, CONST_TRUE, CONST_INTEGER, CONST_FLOAT, CONST_STRING };

struct constant {
  enum code_type type;
  int64_t integer;
  double number;
  ecs_string string;    /* within the dump */
};

#define ROOM_UNKNOWN (1u << 30)   /* CODE_TABLE's b: it is a copy of another table */
#define MOST_CLOSURES 16u   /* in a function; fewer than a function object has bytes */

/* A register or, if `constant`, a constant. */
struct operand {
  bool constant;
  uint32_t at;
};

struct code {
  enum code_kind kind;
  enum code_operator op;
  uint32_t a, b, c;
  struct operand left, right;
  bool flag;
  uint32_t target;
  uint32_t origin;      /* in the body of a loop: its number in the whole function */
  const char *why;
};

/* Where an instruction is: function and pc. */
struct code_place {
  const void *function;        /* the function's identity; NULL: the body of a loop */
  uint32_t pc;
  int32_t line;
};

struct function_code {
  struct memory *memory;
  char *dump;
  uint32_t dump_size, dump_capacity;
  struct code *code;
  int32_t *lines;              /* by instruction; 0 if stripped */
  uint32_t count;
  struct constant *constants;  /* the function's own, then those added by instructions */
  uint32_t constant_count, constant_capacity;
  uint32_t parameters, registers, upvalues;
  uint64_t captured[4];        /* registers shared with functions created here, as bits; */
  uint8_t highest[MOST_CLOSURES];   /* by inner function: 1 + its highest shared register, or 0 */
  uint64_t assigned[4];        /* upvalues that the function sets */
  bool vararg;
  bool surveyed;               /* goes on after refused instructions; set by the caller */
  struct flow *flow;           /* by instruction, or NULL: see flow_find */
  const void *identity;        /* identity of the function, set by the caller */
  const unsigned char *shared; /* three bytes for each upvalue: whether it is a register of the
                               ** enclosing function, and its number there or among that function's
                               ** upvalues; within the dump */
  ecs_string *strings;         /* all strings of the dump in order, only in Lua 5.5, */
  uint32_t string_count, string_capacity;   /* to read functions inside others */
};

/* Reads the Lua function at an index or, if `inner` is not 0, the inner-th function inside it.
** ECS_ENOMEM, ECS_ECORRUPT (unknown encoding). Must be freed in any case. */
ecs_status bytecode_read(lua_State *L, int index, uint32_t inner, struct memory *memory,
                         struct function_code *out);
void bytecode_free(struct function_code *function);
/* Likewise under LuaJIT, into *out, whose `memory` is set. */
ecs_status bytecode_jit_read(lua_State *L, int index, struct function_code *out);

/* The dump of a Lua function: constants, lines and instructions. */

/* Dumps the Lua function at an index into *out, whose `memory` is set, and reads everything of it,
** or of the inner-th function inside it, except the instructions: they are at *words, four bytes
** each, out->count of them. ECS_ENOMEM, ECS_ECORRUPT (unknown encoding). */
ecs_status dump_read(lua_State *L, int index, uint32_t inner, struct function_code *out,
                     const unsigned char **words);

/* A position in a dump. Each take function returns NULL, or 0, where data are missing. */
struct dump_cursor {
  const unsigned char *begin, *at, *end;
  bool ok;                     /* nothing was missing or wrong so far */
  struct function_code *keeps; /* if given, it gets the strings */
};
const unsigned char *dump_take(struct dump_cursor *in, size_t size);
unsigned dump_take_byte(struct dump_cursor *in);

/* Dumps the Lua function at an index into *out, whose `memory` is set. ECS_ENOMEM. */
ecs_status dump_collect(lua_State *L, int index, struct function_code *out);

/* Whether a dump seems to have a string of less than 64 bytes among the constants of a function or
** the functions inside it; false positives are possible. */
bool dump_mentions(const char *dump, size_t size, const char *text);

/* Adds a constant after those of the function. Returns its number, or NONE when out of memory. */
uint32_t dump_add_constant(struct function_code *f, struct constant constant);

#endif
