/* LuaJIT 2.1's dumped functions and instructions (lj_bcdump.h, lj_bcwrite.c, lj_bc.h and
** lj_parse.c), as neutral instructions. A table template and a tail call become several of them, so
** `places` says where each instruction begins.
**
** Every number read is checked against what it counts or indexes. Integers and floats are one type:
** a constant without a fraction is an integer, except for -0.0. */
#include "front/bytecode.h"

#ifdef LUAJIT_VERSION

enum {
  JOP_ISLT, JOP_ISGE, JOP_ISLE, JOP_ISGT, JOP_ISEQV, JOP_ISNEV, JOP_ISEQS, JOP_ISNES, JOP_ISEQN,
  JOP_ISNEN, JOP_ISEQP, JOP_ISNEP, JOP_ISTC, JOP_ISFC, JOP_IST, JOP_ISF, JOP_ISTYPE, JOP_ISNUM,
  JOP_MOV, JOP_NOT, JOP_UNM, JOP_LEN, JOP_ADDVN, JOP_SUBVN, JOP_MULVN, JOP_DIVVN, JOP_MODVN,
  JOP_ADDNV, JOP_SUBNV, JOP_MULNV, JOP_DIVNV, JOP_MODNV, JOP_ADDVV, JOP_SUBVV, JOP_MULVV,
  JOP_DIVVV, JOP_MODVV, JOP_POW, JOP_CAT, JOP_KSTR, JOP_KCDATA, JOP_KSHORT, JOP_KNUM, JOP_KPRI,
  JOP_KNIL, JOP_UGET, JOP_USETV, JOP_USETS, JOP_USETN, JOP_USETP, JOP_UCLO, JOP_FNEW, JOP_TNEW,
  JOP_TDUP, JOP_GGET, JOP_GSET, JOP_TGETV, JOP_TGETS, JOP_TGETB, JOP_TGETR, JOP_TSETV, JOP_TSETS,
  JOP_TSETB, JOP_TSETM, JOP_TSETR, JOP_CALLM, JOP_CALL, JOP_CALLMT, JOP_CALLT, JOP_ITERC,
  JOP_ITERN, JOP_VARG, JOP_ISNEXT, JOP_RETM, JOP_RET, JOP_RET0, JOP_RET1, JOP_FORI, JOP_JFORI,
  JOP_FORL, JOP_IFORL, JOP_JFORL, JOP_ITERL, JOP_IITERL, JOP_JITERL, JOP_LOOP, JOP_ILOOP,
  JOP_JLOOP, JOP_JMP
};

/* What the header of a dump and of a function can say; types of dumped constants. */
enum { JIT_VERSION = 2, JIT_STRIPPED = 2, JIT_GAP = 8, JIT_VARARG = 2,
       JIT_LOCAL = 0x8000,
       JIT_FUNCTION = 0, JIT_TABLE = 1, JIT_CDATA = 4, JIT_STRING = 5,
       JIT_NIL = 0, JIT_FALSE = 1, JIT_TRUE = 2, JIT_INTEGER = 3, JIT_NUMBER = 4 };

#define FUNCTIONS_MOST 256   /* open at once: each inside a later one */

struct jit_dump {
  struct function_code *f;
  struct dump_cursor in;
  bool memory;               /* no allocation failed */
  uint32_t gap;              /* registers between a function that is called and its arguments */
  const unsigned char *words, *constants;   /* the function's constants: objects, then numbers */
  uint32_t word_count, object_count, number_count;
  uint32_t *places;          /* where each instruction begins in f->code, and where the last ends */
};

/* The header of a function, before its constants. */
struct jit_head {
  unsigned flags, parameters, registers;
  uint32_t upvalues;
  const unsigned char *shared;   /* where each upvalue is, in two bytes */
  bool has_lines;
  uint32_t first, span;          /* the first line, and how many more there are */
};

/* ---- reading bytes ---- */

/* Seven bits a byte, the lowest first; the first of them may have fewer. */
static uint32_t jit_take_bits(struct jit_dump *d, uint32_t number, int shift, unsigned byte) {
  for (; byte & 0x80 && d->in.ok && shift < 35; shift += 7) {
    byte = dump_take_byte(&d->in);
    number |= (uint32_t)((uint64_t)(byte & 0x7F) << shift);
  }
  if (byte & 0x80) d->in.ok = false;
  return number;
}

static uint32_t jit_take_number(struct jit_dump *d) {
  unsigned byte = dump_take_byte(&d->in);
  return jit_take_bits(d, byte & 0x7F, 7, byte);
}

static uint32_t jit_take_count(struct jit_dump *d) {
  uint32_t count = jit_take_number(d);
  if (count > (size_t)(d->in.end - d->in.at)) d->in.ok = false;
  return d->in.ok ? count : 0;
}

static double jit_take_double(struct jit_dump *d, uint32_t low) {
  uint64_t bits = (uint64_t)jit_take_number(d) << 32 | low;
  double number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

/* ---- constants ---- */

static struct constant jit_number(double number) {
  bool integer = double_is_integer(number);
  if (integer) return (struct constant){.type = CONST_INTEGER, .integer = (int64_t)number};
  return (struct constant){.type = CONST_FLOAT, .number = number};
}

/* A string, whose type is a number plus its length in bytes. */
static struct constant jit_string(struct jit_dump *d, uint32_t type) {
  const char *data = (const char *)dump_take(&d->in, type - JIT_STRING);
  return (struct constant){.type = CONST_STRING, .string = {data, type - JIT_STRING}};
}

/* A key or value in a template of a table. */
static struct constant jit_take_item(struct jit_dump *d) {
  uint32_t type = jit_take_number(d);
  if (type >= JIT_STRING) return jit_string(d, type);
  if (type == JIT_INTEGER) return jit_number((int32_t)jit_take_number(d));
  if (type == JIT_NUMBER) {
    uint32_t low = jit_take_number(d);
    return jit_number(jit_take_double(d, low));
  }
  return (struct constant){.type = type == JIT_TRUE    ? CONST_TRUE
                                   : type == JIT_FALSE ? CONST_FALSE
                                                       : CONST_NIL};
}

/* One of the objects among the constants; nil stands for any that is not a string. */
static struct constant jit_take_object(struct jit_dump *d) {
  uint32_t type = jit_take_number(d);
  if (type >= JIT_STRING) return jit_string(d, type);
  uint32_t numbers = type == JIT_FUNCTION ? 0 : type == JIT_CDATA ? 4 : 2;
  if (type == JIT_TABLE) {
    uint32_t values = jit_take_count(d);
    values += 2 * jit_take_count(d);
    for (uint32_t i = 0; i < values && d->in.ok; i++) jit_take_item(d);
    return (struct constant){.type = CONST_NIL};
  }
  for (uint32_t i = 0; i < numbers; i++) jit_take_number(d);
  return (struct constant){.type = CONST_NIL};
}

static struct constant jit_take_number_constant(struct jit_dump *d) {
  unsigned byte = dump_take_byte(&d->in);
  uint32_t low = jit_take_bits(d, byte >> 1 & 0x3F, 6, byte);
  return jit_number(byte & 1 ? jit_take_double(d, low) : (double)(int32_t)low);
}

static uint32_t jit_add(struct jit_dump *d, struct constant constant) {
  uint32_t at = dump_add_constant(d->f, constant);
  if (at == NONE) d->memory = false;
  return at == NONE ? 0 : at;
}

/* Reads the constants of a function, and keeps them if it is the dumped one. Returns how many
** functions are among them. */
static uint32_t jit_take_constants(struct jit_dump *d, bool kept) {
  uint32_t functions = 0;
  d->constants = d->in.at;
  for (uint32_t i = 0; i < d->object_count && d->in.ok; i++) {
    functions += d->in.at < d->in.end && *d->in.at == JIT_FUNCTION;
    struct constant object = jit_take_object(d);
    if (kept) jit_add(d, object);
  }
  for (uint32_t i = 0; i < d->number_count && d->in.ok; i++) {
    struct constant number = jit_take_number_constant(d);
    if (kept) jit_add(d, number);
  }
  return functions;
}

/* ---- the functions of a dump: each comes before the one that contains it ---- */

/* Lines by instruction, as offsets from the first line, in as few bytes as can hold them all. */
static void jit_take_lines(struct jit_dump *d, const struct jit_head *head) {
  uint32_t size = head->span < 256 ? 1 : head->span < 65536 ? 2 : 4;
  const unsigned char *list = dump_take(&d->in, (size_t)size * d->word_count);
  for (uint32_t i = 0; i < d->word_count && list; i++) {
    uint8_t byte = list[i];
    uint16_t half = byte;
    uint32_t line = byte;
    if (size == 2) memcpy(&half, list + 2 * i, 2), line = half;
    if (size == 4) memcpy(&line, list + 4 * i, 4);
    for (uint32_t pc = d->places[i]; pc < d->places[i + 1]; pc++)
      d->f->lines[pc] = (int32_t)(head->first + line);
  }
}

/* The registers of this function that an inner function shares. */
static void jit_capture(struct jit_dump *d, const struct jit_head *inside) {
  for (uint32_t i = 0; i < inside->upvalues; i++) {
    uint16_t upvalue;
    memcpy(&upvalue, inside->shared + 2 * i, 2);
    uint32_t at = upvalue & 0xFF;
    if (upvalue & JIT_LOCAL) d->f->captured[at / 64] |= 1ull << at % 64;
  }
}

static uint32_t jit_word(const struct jit_dump *d, uint32_t pc) {
  uint32_t word;
  assert(pc < d->word_count);
  memcpy(&word, d->words + 4 * (size_t)pc, 4);
  return word;
}

static uint32_t jit_op(const struct jit_dump *d, uint32_t pc) { return jit_word(d, pc) & 0xFF; }

/* The number of pairs in the template of a table; *at is where they begin. */
static uint32_t jit_find_template(struct jit_dump *d, uint32_t object, uint32_t *list) {
  d->in.at = d->constants;
  if (object >= d->object_count) d->in.ok = false;
  for (uint32_t i = object + 1; i < d->object_count && d->in.ok; i++) jit_take_object(d);
  if (jit_take_number(d) != JIT_TABLE) d->in.ok = false;
  *list = jit_take_count(d);
  uint32_t pairs = jit_take_count(d), count = pairs + (*list ? *list - 1 : 0);
  return d->in.ok ? count : 0;
}

/* How many neutral instructions an instruction becomes. */
static uint32_t jit_width(struct jit_dump *d, uint32_t pc) {
  const unsigned char *after = d->in.at;
  uint32_t op = jit_op(d, pc), list, width = op == JOP_CALLT || op == JOP_CALLMT ? 2 : 1;
  if (op == JOP_TDUP) width = 1 + jit_find_template(d, jit_word(d, pc) >> 16, &list);
  d->in.at = after;
  return width;
}

static ecs_status jit_find_places(struct jit_dump *d) {
  struct function_code *f = d->f;
  d->places = memory_array(f->memory, d->word_count + 1, sizeof *d->places);
  if (!d->places) return ECS_ENOMEM;
  for (uint32_t pc = 0; pc < d->word_count && d->in.ok; pc++) {
    d->places[pc] = f->count;
    f->count += jit_width(d, pc);
  }
  d->places[d->word_count] = f->count;
  if (!d->in.ok) return ECS_ECORRUPT;
  f->code = memory_array(f->memory, f->count, sizeof *f->code);
  f->lines = memory_array(f->memory, f->count, sizeof *f->lines);
  return f->code && f->lines ? ECS_OK : ECS_ENOMEM;
}

/* The counts, instructions and upvalues of a function; its constants come next. */
static struct jit_head jit_take_head(struct jit_dump *d, bool stripped) {
  struct jit_head head = {.flags = dump_take_byte(&d->in)};
  head.parameters = dump_take_byte(&d->in);
  head.registers = dump_take_byte(&d->in);
  head.upvalues = dump_take_byte(&d->in);
  d->object_count = jit_take_count(d);
  d->number_count = jit_take_count(d);
  d->word_count = jit_take_count(d);
  head.has_lines = !stripped && jit_take_number(d) != 0;
  if (head.has_lines) {
    head.first = jit_take_number(d);
    head.span = jit_take_number(d);
  }
  d->words = dump_take(&d->in, 4 * (size_t)d->word_count);
  head.shared = dump_take(&d->in, 2 * (size_t)head.upvalues);
  return head;
}

/* The last function, which is the dumped one. */
static ecs_status jit_take_function(struct jit_dump *d, const struct jit_head *head) {
  struct function_code *f = d->f;
  f->parameters = head->parameters;
  f->registers = head->registers;
  f->upvalues = head->upvalues + 1;
  f->vararg = (head->flags & JIT_VARARG) != 0;
  if (f->parameters > f->registers || d->word_count == 0) return ECS_ECORRUPT;
  ecs_status status = jit_find_places(d);
  if (status != ECS_OK) return status;
  if (head->has_lines) jit_take_lines(d, head);
  return d->in.ok ? ECS_OK : ECS_ECORRUPT;
}

/* Reads all functions, up to and including the last one. */
static ecs_status jit_take_functions(struct jit_dump *d, bool stripped) {
  struct jit_head open[FUNCTIONS_MOST];
  uint32_t depth = 0, size;
  while ((size = jit_take_count(d)) != 0) {
    const unsigned char *end = d->in.at + size;
    bool last = end < d->in.end && *end == 0;
    struct jit_head head = jit_take_head(d, stripped);
    uint32_t inside = jit_take_constants(d, last);
    if (!d->memory) return ECS_ENOMEM;
    if (!d->in.ok || end >= d->in.end || d->in.at > end || inside > depth) return ECS_ECORRUPT;
    depth -= inside;
    if (last) {
      for (uint32_t i = depth; i < depth + inside; i++) jit_capture(d, &open[i]);
      return jit_take_function(d, &head);
    }
    if (depth == FUNCTIONS_MOST) return ECS_ECORRUPT;
    open[depth++] = head;
    d->in.at = end;
  }
  return ECS_ECORRUPT;
}

/* ---- what instructions name ---- */

static uint32_t jit_reg(struct jit_dump *d, uint32_t at) {
  if (at >= d->f->registers) d->in.ok = false;
  return at;
}

static uint32_t jit_upvalue(struct jit_dump *d, uint32_t at) {
  if (at + 1 >= d->f->upvalues) d->in.ok = false;
  return at;
}

/* The table of globals is numbered as an upvalue, after the others. */
static uint32_t jit_globals(const struct jit_dump *d) { return d->f->upvalues - 1; }

/* Objects are numbered backwards from the last one. */
static uint32_t jit_object(struct jit_dump *d, uint32_t at) {
  uint32_t place = d->object_count - 1 - at;
  bool fits = at < d->object_count && d->f->constants[place].type == CONST_STRING;
  if (!fits) d->in.ok = false;
  return fits ? place : 0;
}

static uint32_t jit_numeral(struct jit_dump *d, uint32_t at) {
  if (at >= d->number_count) d->in.ok = false;
  return d->object_count + at;
}

static uint32_t jit_whole(struct jit_dump *d, int64_t integer) {
  return jit_add(d, (struct constant){.type = CONST_INTEGER, .integer = integer});
}

static uint32_t jit_primitive(struct jit_dump *d, uint32_t which) {
  return jit_add(d, (struct constant){.type = which == JIT_TRUE    ? CONST_TRUE
                                              : which == JIT_FALSE ? CONST_FALSE
                                                                   : CONST_NIL});
}

static struct operand jit_in_register(struct jit_dump *d, uint32_t at) {
  return (struct operand){false, jit_reg(d, at)};
}

/* An operand as the last letter of the opcode says: a variable, string, number or primitive. */
static struct operand jit_operand(struct jit_dump *d, uint32_t form, uint32_t at) {
  switch (form) {
    case 0: return jit_in_register(d, at);
    case 1: return (struct operand){true, jit_object(d, at)};
    case 2: return (struct operand){true, jit_numeral(d, at)};
    default: return (struct operand){true, jit_primitive(d, at)};
  }
}

/* Likewise for keys: a variable, string or byte. */
static uint32_t jit_key(struct jit_dump *d, uint32_t form, uint32_t at) {
  return form == 0 ? jit_reg(d, at) : form == 1 ? jit_object(d, at) : jit_whole(d, at);
}

/* The instruction that a jump at an instruction leads to. */
static uint32_t jit_jump(struct jit_dump *d, uint32_t pc) {
  int64_t to = (int64_t)pc + 1 + (int64_t)(jit_word(d, pc) >> 16) - 0x8000;
  if (to < 0 || to >= (int64_t)d->word_count) d->in.ok = false;
  return d->in.ok ? (uint32_t)to : 0;
}

/* The place to which the jump after a condition leads. */
static uint32_t jit_jump_behind(struct jit_dump *d, uint32_t pc) {
  if (pc + 1 >= d->word_count || jit_op(d, pc + 1) != JOP_JMP) d->in.ok = false;
  return d->in.ok ? d->places[jit_jump(d, pc + 1)] : 0;
}

/* ---- instructions ---- */

struct jit_fields {
  uint32_t op, a, b, c, d;
};

static void jit_condition(struct jit_dump *d, const struct jit_fields *i, uint32_t pc,
                        struct code *out) {
  bool orders = i->op <= JOP_ISGT;
  out->kind = CODE_COMPARE;
  out->op = !orders ? OPERATOR_EQ : i->op <= JOP_ISGE ? OPERATOR_LT : OPERATOR_LE;
  out->flag = i->op % 2 == 0;
  out->target = jit_jump_behind(d, pc);
  out->left = jit_in_register(d, i->a);
  out->right = jit_operand(d, orders ? 0 : (i->op - JOP_ISEQV) / 2, i->d);
}

static void jit_test(struct jit_dump *d, const struct jit_fields *i, uint32_t pc,
                     struct code *out) {
  bool sets = i->op <= JOP_ISFC;
  out->kind = sets ? CODE_TEST_SET : CODE_TEST;
  out->b = jit_reg(d, i->d);
  out->a = sets ? jit_reg(d, i->a) : out->b;
  out->flag = i->op % 2 == 0;
  out->target = jit_jump_behind(d, pc);
}

static void jit_unary(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  static const enum code_kind kinds[] = {CODE_MOVE, CODE_NOT, CODE_UNARY, CODE_LENGTH};
  out->kind = kinds[i->op - JOP_MOV];
  out->op = OPERATOR_NEG;
  out->a = jit_reg(d, i->a);
  out->b = jit_reg(d, i->d);
}

static void jit_concat(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  *out = (struct code){.kind = CODE_CONCAT, .a = jit_reg(d, i->a), .b = jit_reg(d, i->b),
                       .c = jit_reg(d, i->c) - i->b + 1};
  if (i->c < i->b) d->in.ok = false;
}

static void jit_arithmetic(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  static const enum code_operator operators[] = {OPERATOR_ADD, OPERATOR_SUB, OPERATOR_MUL,
                                                 OPERATOR_DIV, OPERATOR_MOD};
  bool constant = i->op <= JOP_MODNV, swapped = constant && i->op >= JOP_ADDNV;
  out->kind = CODE_ARITH;
  out->op = i->op == JOP_POW ? OPERATOR_POW : operators[(i->op - JOP_ADDVN) % 5];
  out->a = jit_reg(d, i->a);
  struct operand b = jit_in_register(d, i->b);
  struct operand c = constant ? (struct operand){true, jit_numeral(d, i->c)}
                              : jit_in_register(d, i->c);
  out->left = swapped ? c : b;
  out->right = swapped ? b : c;
}

static void jit_load(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  out->kind = CODE_LOAD;
  out->a = jit_reg(d, i->a);
  switch (i->op) {
    case JOP_KSTR: out->b = jit_object(d, i->d); break;
    case JOP_KSHORT: out->b = jit_whole(d, (int16_t)(uint16_t)i->d); break;
    case JOP_KNUM: out->b = jit_numeral(d, i->d); break;
    case JOP_KPRI: out->b = jit_primitive(d, i->d); break;
    default:
      assert(i->op == JOP_KNIL);
      out->kind = CODE_NIL;
      if (i->d < i->a) d->in.ok = false;
      out->b = jit_reg(d, i->d) - i->a;
      break;
  }
}

static void jit_of_upvalue(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  if (i->op == JOP_UGET) {
    *out = (struct code){.kind = CODE_UPVALUE, .a = jit_reg(d, i->a), .b = jit_upvalue(d, i->d)};
    return;
  }
  out->kind = CODE_SET_UPVALUE;
  out->a = jit_upvalue(d, i->a);
  out->right = jit_operand(d, i->op - JOP_USETV, i->d);
  d->f->assigned[i->a / 64] |= 1ull << i->a % 64;
}

static void jit_get(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  out->a = jit_reg(d, i->a);
  if (i->op == JOP_GGET) {
    out->kind = CODE_UPFIELD;
    out->b = jit_globals(d);
    out->c = jit_object(d, i->d);
    return;
  }
  out->b = jit_reg(d, i->b);
  out->kind = i->op == JOP_TGETV ? CODE_INDEX : CODE_FIELD;
  out->c = jit_key(d, i->op - JOP_TGETV, i->c);
}

static void jit_set(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  out->right = jit_in_register(d, i->a);
  if (i->op == JOP_GSET) {
    out->kind = CODE_SET_UPFIELD;
    out->a = jit_globals(d);
    out->b = jit_object(d, i->d);
    return;
  }
  out->a = jit_reg(d, i->b);
  out->kind = i->op == JOP_TSETV ? CODE_SET_INDEX : CODE_SET_FIELD;
  out->b = jit_key(d, i->op - JOP_TSETV, i->c);
}

/* Stores values up to the top, from an index that is the low half of a double's bits. */
static void jit_list(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  const struct constant *number = &d->f->constants[jit_numeral(d, i->d)];
  if (i->a == 0 || !d->in.ok) {
    d->in.ok = false;
    return;
  }
  uint64_t bits;
  double value = number->type == CONST_FLOAT ? number->number : (double)number->integer;
  memcpy(&bits, &value, sizeof bits);
  out->kind = CODE_LIST;
  out->a = jit_reg(d, i->a - 1);
  out->b = NONE;
  out->c = (uint32_t)bits - 1;
}

/* Creates a table with what its template has; nil stands for what is set afterwards. */
static void jit_table(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  const unsigned char *after = d->in.at;
  uint32_t list, count = i->op == JOP_TDUP ? jit_find_template(d, i->d, &list) : 0;
  uint32_t items = i->d & 0x7FF, names = i->d >> 11;   /* from 0 on; a logarithm */
  *out = (struct code){.kind = CODE_TABLE, .a = jit_reg(d, i->a), .b = ROOM_UNKNOWN};
  if (i->op == JOP_TNEW && items < 0x7FF) {
    out->b = names ? 1u << names : 0;
    out->c = items ? items - 1 : 0;
  }
  out++;
  if (count && list) jit_take_item(d);   /* the item at index 0 */
  for (uint32_t at = 1; count && d->in.ok; count--, at++) {
    struct constant key = {.type = CONST_INTEGER, .integer = at};
    if (at >= list) key = jit_take_item(d);
    struct constant value = jit_take_item(d);
    *out = (struct code){.kind = CODE_SET_FIELD, .a = i->a, .b = jit_add(d, key)};
    out->right = (struct operand){true, jit_add(d, value)};
    out->why = WHY_KEYS;
    if (key.type != CONST_STRING && key.type != CONST_INTEGER) out->kind = CODE_REFUSED;
    if (value.type == CONST_NIL) out->kind = CODE_NOTHING;
    out++;
  }
  d->in.at = after;
}

static void jit_call(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  bool tail = i->op == JOP_CALLT || i->op == JOP_CALLMT;
  bool open = i->op == JOP_CALLM || i->op == JOP_CALLMT;
  uint32_t given = tail ? i->d : i->c;
  if (!open && given == 0) d->in.ok = false;
  out->kind = CODE_CALL;
  out->a = jit_reg(d, i->a);
  out->left.at = i->a + 1 + d->gap;
  out->b = open ? NONE : given - 1;
  if (open || out->b) jit_reg(d, out->left.at + (open ? 0 : out->b - 1));
  out->c = tail || i->b == 0 ? NONE : i->b - 1;
  if (out->c != NONE && out->c) jit_reg(d, i->a + out->c - 1);
  if (tail) out[1] = (struct code){.kind = CODE_RETURN, .a = i->a, .b = NONE};
}

static void jit_return(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  out->kind = CODE_RETURN;
  out->a = i->a;
  out->b = i->op == JOP_RETM ? NONE : i->d - 1;
  if (i->op != JOP_RETM && i->d == 0) d->in.ok = false;
  if (out->b) jit_reg(d, out->b == NONE ? i->a : i->a + out->b - 1);
}

static bool jit_counts(uint32_t op) { return op >= JOP_FORL && op <= JOP_JFORL; }
static bool jit_repeats(uint32_t op) { return op >= JOP_ITERL && op <= JOP_JITERL; }

static void jit_for_loop(struct jit_dump *d, const struct jit_fields *i, uint32_t pc,
                         struct code *out) {
  uint32_t to = jit_jump(d, pc);
  bool ends = jit_counts(i->op);
  out->a = jit_reg(d, i->a);
  jit_reg(d, i->a + FOR_VARIABLE);
  out->kind = ends ? CODE_FOR_END : CODE_FOR;
  if (!ends && (to <= pc + 1 || !jit_counts(jit_op(d, to - 1)))) d->in.ok = false;
  if (d->in.ok) out->target = d->places[ends ? to : to - 1];
}

/* Whether the instruction at `next` continues a loop over an iterator whose body begins after
** `pc`. */
static bool jit_enters(struct jit_dump *d, uint32_t pc, uint32_t next) {
  uint32_t op = d->in.ok ? jit_op(d, next) : JOP_JMP;
  if ((op != JOP_ITERC && op != JOP_ITERN) || next <= pc || next + 1 >= d->word_count) return false;
  return jit_repeats(jit_op(d, next + 1)) && jit_jump(d, next + 1) == pc + 1;
}

static void jit_each_loop(struct jit_dump *d, const struct jit_fields *i, uint32_t pc,
                          struct code *out) {
  uint32_t a = i->a, to = 0;
  out->kind = CODE_EACH_END;
  if (i->op == JOP_ITERC || i->op == JOP_ITERN) {
    out->kind = CODE_EACH_NEXT;
    out->c = i->b - 1;
    if (i->b < 2) d->in.ok = false;
    if (d->in.ok) jit_reg(d, a + out->c - 1);
  } else {
    to = jit_jump(d, pc);
    if (!jit_repeats(i->op)) {
      out->kind = CODE_EACH;
      a = d->in.ok ? jit_word(d, to) >> 8 & 0xFF : 0;
    }
  }
  if (a < EACH_VARIABLE) d->in.ok = false;
  if (!d->in.ok) return;
  out->a = jit_reg(d, a - EACH_VARIABLE);
  if (out->kind != CODE_EACH_NEXT) out->target = d->places[to];
}

static void jit_go(struct jit_dump *d, const struct jit_fields *i, uint32_t pc, struct code *out) {
  uint32_t to = jit_jump(d, pc);
  if (i->op != JOP_UCLO && jit_enters(d, pc, to)) {
    jit_each_loop(d, i, pc, out);
  } else if (i->op == JOP_UCLO && to == pc + 1) {
    out->kind = CODE_NOTHING;
  } else {
    out->kind = CODE_JUMP;
    out->target = d->in.ok ? d->places[to] : 0;
  }
}

static void jit_refuse(const struct jit_fields *i, struct code *out) {
  out->kind = CODE_REFUSED;
  out->a = i->a;
  out->flag = true;
  out->why = i->op == JOP_FNEW     ? WHY_FUNCTION
             : i->op == JOP_VARG   ? WHY_VARARG
             : i->op == JOP_KCDATA ? "it has a number of the ffi library: do that in a system's run"
                                   : WHY_UNKNOWN;
}

/* Decodes instructions that only set registers, upvalues or fields; false for others. */
static bool jit_decode_value(struct jit_dump *d, const struct jit_fields *i, struct code *out) {
  if (i->op >= JOP_MOV && i->op <= JOP_LEN)
    jit_unary(d, i, out);
  else if (i->op >= JOP_ADDVN && i->op <= JOP_POW)
    jit_arithmetic(d, i, out);
  else if (i->op == JOP_CAT)
    jit_concat(d, i, out);
  else if (i->op >= JOP_KSTR && i->op <= JOP_KNIL && i->op != JOP_KCDATA)
    jit_load(d, i, out);
  else if (i->op >= JOP_UGET && i->op <= JOP_USETP)
    jit_of_upvalue(d, i, out);
  else if (i->op == JOP_TNEW || i->op == JOP_TDUP)
    jit_table(d, i, out);
  else if (i->op == JOP_GGET || (i->op >= JOP_TGETV && i->op <= JOP_TGETB))
    jit_get(d, i, out);
  else if (i->op == JOP_GSET || (i->op >= JOP_TSETV && i->op <= JOP_TSETB))
    jit_set(d, i, out);
  else if (i->op == JOP_TSETM)
    jit_list(d, i, out);
  else
    return false;
  return true;
}

static void jit_decode(struct jit_dump *d, uint32_t pc, struct code *out) {
  uint32_t word = jit_word(d, pc);
  struct jit_fields i = {word & 0xFF, word >> 8 & 0xFF, word >> 24, word >> 16 & 0xFF, word >> 16};
  if (jit_decode_value(d, &i, out)) return;
  if (i.op <= JOP_ISNEP)
    jit_condition(d, &i, pc, out);
  else if (i.op <= JOP_ISF)
    jit_test(d, &i, pc, out);
  else if (i.op >= JOP_CALLM && i.op <= JOP_CALLT)
    jit_call(d, &i, out);
  else if (i.op == JOP_ITERC || i.op == JOP_ITERN || jit_repeats(i.op))
    jit_each_loop(d, &i, pc, out);
  else if (i.op >= JOP_RETM && i.op <= JOP_RET1)
    jit_return(d, &i, out);
  else if (i.op >= JOP_FORI && i.op <= JOP_JFORL)
    jit_for_loop(d, &i, pc, out);
  else if (i.op == JOP_JMP || i.op == JOP_ISNEXT || i.op == JOP_UCLO)
    jit_go(d, &i, pc, out);
  else if (i.op >= JOP_LOOP && i.op <= JOP_JLOOP)
    out->kind = CODE_NOTHING;
  else
    jit_refuse(&i, out);
}

static ecs_status jit_read(struct jit_dump *d) {
  static const unsigned char head[] = {0x1b, 'L', 'J', JIT_VERSION};
  const unsigned char *magic = dump_take(&d->in, sizeof head);
  if (!magic || memcmp(magic, head, sizeof head) != 0) return ECS_ECORRUPT;
  uint32_t flags = jit_take_number(d);
  if (!(flags & JIT_STRIPPED)) dump_take(&d->in, jit_take_count(d));
  d->gap = (flags & JIT_GAP) != 0;
  ecs_status status = jit_take_functions(d, (flags & JIT_STRIPPED) != 0);
  for (uint32_t pc = 0; pc < d->word_count && status == ECS_OK; pc++) {
    jit_decode(d, pc, &d->f->code[d->places[pc]]);
    status = !d->memory ? ECS_ENOMEM : d->in.ok ? ECS_OK : ECS_ECORRUPT;
  }
  return status;
}

ecs_status bytecode_jit_read(lua_State *L, int index, struct function_code *out) {
  ecs_status status = dump_collect(L, index, out);
  const unsigned char *dump = (const unsigned char *)out->dump;
  struct jit_dump d = {.f = out, .in = {dump, dump, dump + out->dump_size, true},
                       .memory = true};
  if (status != ECS_OK) return status;
  status = jit_read(&d);
  if (d.places) memory_free(out->memory, d.places, (d.word_count + 1) * sizeof *d.places);
  return status;
}

#endif
