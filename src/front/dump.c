/* The format of dumped functions (ldump.c and lundump.c in Lua 5.4 and 5.5). Every number read is
** checked against what it counts. */
#include "front/bytecode.h"

uint32_t dump_add_constant(struct function_code *f, struct constant constant) {
  if (!GROW(f->memory, f->constants, f->constant_capacity, f->constant_count + 1ull)) return NONE;
  assert(f->constant_count < f->constant_capacity);
  f->constants[f->constant_count] = constant;
  return f->constant_count++;
}

/* A lua_Writer. */
static int dump_write(lua_State *L, const void *data, size_t size, void *ud) {
  struct function_code *f = ud;
  (void)L;
  if (size == 0) return 0;   /* Lua 5.5 ends with this call */
  if (!GROW(f->memory, f->dump, f->dump_capacity, (uint64_t)f->dump_size + size)) return 1;
  memcpy(f->dump + f->dump_size, data, size);
  f->dump_size += (uint32_t)size;
  assert(f->dump_size <= f->dump_capacity);
  return 0;
}

ecs_status dump_collect(lua_State *L, int index, struct function_code *out) {
  assert(lua_isfunction(L, index) && !lua_iscfunction(L, index));
  lua_pushvalue(L, index);
  int failed = lua_dump(L, dump_write, out, 0);
  lua_pop(L, 1);
  return failed ? ECS_ENOMEM : ECS_OK;
}

/* ---- reading bytes ---- */

const unsigned char *dump_take(struct dump_cursor *in, size_t size) {
  assert(in->at <= in->end);
  if (!in->ok || size > (size_t)(in->end - in->at)) {
    in->ok = false;
    return NULL;
  }
  in->at += size;
  return in->at - size;
}

unsigned dump_take_byte(struct dump_cursor *in) {
  const unsigned char *at = dump_take(in, 1);
  return at ? *at : 0;
}

/* Whether functions are dumped in Lua 5.5's format. */
#define DUMP_55 (LUA_VERSION_NUM >= 505)

#ifndef LUAJIT_VERSION

/* Types of dumped constants (lobject.h). */
enum { DUMP_NIL = 0, DUMP_FALSE = 1, DUMP_TRUE = 17, DUMP_INTEGER = 3, DUMP_FLOAT = 19,
       DUMP_SHORT = 4, DUMP_LONG = 20 };

#define NESTING 200    /* nested functions, as deep as Lua's compiler allows */

static void dump_take_into(struct dump_cursor *in, void *to, size_t size) {
  const unsigned char *at = dump_take(in, size);
  if (at) memcpy(to, at, size);
}

/* Consumes the next bytes; returns whether they are equal to these. */
static bool dump_take_same(struct dump_cursor *in, const void *bytes, size_t size) {
  const unsigned char *at = dump_take(in, size);
  return at && memcmp(at, bytes, size) == 0;
}

/* Lua 5.5 aligns lists of words to four bytes. */
static void dump_align(struct dump_cursor *in) {
  while (DUMP_55 && in->ok && (in->at - in->begin) % 4 != 0) dump_take(in, 1);
}

/* Seven bits a byte, the highest first. The eighth bit is set in the last byte by Lua 5.4, in all
** others by Lua 5.5. */
static uint64_t dump_take_number(struct dump_cursor *in) {
  uint64_t number = 0;
  for (int i = 0; i < 10 && in->ok; i++) {
    unsigned byte = dump_take_byte(in);
    number = number << 7 | (byte & 0x7F);
    if ((byte & 0x80) == (DUMP_55 ? 0 : 0x80)) return number;
  }
  in->ok = false;
  return 0;
}

static int64_t dump_take_integer(struct dump_cursor *in) {
  int64_t integer = 0;
  if (DUMP_55) {
    uint64_t number = dump_take_number(in);   /* the lowest bit is the sign */
    return (int64_t)(number >> 1 ^ (0 - (number & 1)));
  }
  dump_take_into(in, &integer, sizeof integer);
  return integer;
}

/* Records a string that the dump writes out. */
static void dump_keep_string(struct dump_cursor *in, ecs_string string) {
  struct function_code *f = in->keeps;
  if (!f) return;
  if (!GROW(f->memory, f->strings, f->string_capacity, f->string_count + 1ull)) in->ok = false;
  if (in->ok) f->strings[f->string_count++] = string;
}

/* Strings are preceded by their size plus one, and end with a zero in Lua 5.5. Size 0 is NULL: no
** string or, in Lua 5.5, the number of an earlier string follows, from 1. */
static ecs_string dump_take_string(struct dump_cursor *in) {
  uint64_t size = dump_take_number(in);
  ecs_string string = {NULL, 0};
  if (size > 0) {
    string.data = (const char *)dump_take(in, (size_t)size - 1 + DUMP_55);
    string.size = string.data ? (size_t)size - 1 : 0;
    if (string.data) dump_keep_string(in, string);
  } else if (DUMP_55) {
    uint64_t number = dump_take_number(in) - 1;
    if (in->keeps && number < in->keeps->string_count) string = in->keeps->strings[number];
  }
  return string;
}

/* A count of items that take at least one byte each. */
static uint32_t dump_take_count(struct dump_cursor *in) {
  uint64_t count = dump_take_number(in);
  if (count > (uint64_t)(in->end - in->at)) in->ok = false;
  return in->ok ? (uint32_t)count : 0;
}

/* Signature, version, format, check; sizes of instructions, integers and numbers, and samples of
** them. In Lua 5.5 each sample follows its size, and C's integers are among them. */
static bool dump_take_header(struct dump_cursor *in) {
  const int32_t word = -0x5678, instruction = 0x12345678;
  const int64_t integer = DUMP_55 ? -0x5678 : 0x5678;
  const double number = DUMP_55 ? -370.5 : 370.5;
  bool words = DUMP_55 ? dump_take_same(in, "\x1bLua\x55\0\x19\x93\r\n\x1a\n\4", 13) &&
                             dump_take_same(in, &word, sizeof word) &&
                             dump_take_same(in, "\4", 1) &&
                             dump_take_same(in, &instruction, sizeof instruction) &&
                             dump_take_same(in, "\x8", 1)
                       : dump_take_same(in, "\x1bLua\x54\0\x19\x93\r\n\x1a\n\4\x8\x8", 15);
  return words && dump_take_same(in, &integer, sizeof integer) &&
         (!DUMP_55 || dump_take_same(in, "\x8", 1)) && dump_take_same(in, &number, sizeof number);
}

/* ---- constants ---- */

/* False when out of memory, or for an invalid constant. A function's own constants come before all
** other strings and differ, so each is written out. Without a function it is skipped. */
static bool dump_take_constant(struct dump_cursor *in, struct function_code *f) {
  struct constant constant = {CONST_NIL, 0, 0, {"", 0}};
  switch (dump_take_byte(in)) {
    case DUMP_NIL: break;
    case DUMP_FALSE: constant.type = CONST_FALSE; break;
    case DUMP_TRUE: constant.type = CONST_TRUE; break;
    case DUMP_INTEGER:
      constant.type = CONST_INTEGER;
      constant.integer = dump_take_integer(in);
      break;
    case DUMP_FLOAT:
      constant.type = CONST_FLOAT;
      dump_take_into(in, &constant.number, sizeof constant.number);
      break;
    case DUMP_SHORT:
    case DUMP_LONG:
      constant.type = CONST_STRING;
      constant.string = dump_take_string(in);
      if (f && !constant.string.data) in->ok = false;
      break;
    default: in->ok = false;
  }
  return in->ok && (!f || dump_add_constant(f, constant) != NONE);
}

static ecs_status dump_take_constants(struct dump_cursor *in, struct function_code *f) {
  uint32_t count = dump_take_count(in);
  for (uint32_t i = 0; i < count && in->ok; i++)
    if (!dump_take_constant(in, f) && in->ok) return ECS_ENOMEM;
  return in->ok ? ECS_OK : ECS_ECORRUPT;
}

/* ---- lines ---- */

#define ABSOLUTE_LINE (-0x80)

/* A number in the list of lines, which has words in Lua 5.5. */
static uint64_t dump_take_line(struct dump_cursor *in) {
  uint32_t number = 0;
  if (!DUMP_55) return dump_take_number(in);
  dump_take_into(in, &number, sizeof number);
  return number;
}

static uint32_t dump_take_line_count(struct dump_cursor *in) {
  uint32_t count = dump_take_count(in);
  if (count > 0) dump_align(in);
  return count;
}

/* Lines by instruction: differences of one byte; where a byte does not suffice, the line is in a
** second list. */
static void dump_take_lines(struct dump_cursor *in, struct function_code *f, int32_t first) {
  uint32_t count = dump_take_count(in);
  const unsigned char *deltas = dump_take(in, count);
  uint32_t absolutes = dump_take_line_count(in);
  struct dump_cursor list = *in;
  uint64_t pc = absolutes ? dump_take_line(&list) : UINT64_MAX;
  int32_t line = first;
  assert(f->lines || f->count == 0);
  for (uint32_t i = 0; in->ok && i < count && i < f->count; i++) {
    int delta = deltas[i] < 128 ? deltas[i] : deltas[i] - 256;
    if (delta == ABSOLUTE_LINE && pc == i) {
      line = (int32_t)dump_take_line(&list);
      pc = --absolutes ? dump_take_line(&list) : UINT64_MAX;
    } else {
      line += delta;
    }
    f->lines[i] = line;
  }
}

/* ---- inner functions ---- */

static void dump_skip_function(struct dump_cursor *in, int depth, uint64_t *captured);

/* Skips the upvalues of a function and its inner functions. If `captured` is given, records there
** which registers of the enclosing function it shares. */
static void dump_skip_body(struct dump_cursor *in, int depth, uint64_t *captured) {
  uint32_t count = dump_take_count(in);
  const unsigned char *up = dump_take(in, 3 * (size_t)count);
  for (uint32_t i = 0; captured && i < count && in->ok; i++, up += 3)
    if (up[0]) captured[up[1] / 64] |= 1ull << up[1] % 64;
  count = dump_take_count(in);
  for (uint32_t i = 0; i < count && in->ok; i++) dump_skip_function(in, depth + 1, NULL);
}

/* Skips upvalues and inner functions of the function itself; notes what inner functions share. */
static void dump_take_body(struct dump_cursor *in, struct function_code *f) {
  f->upvalues = dump_take_count(in);
  f->shared = dump_take(in, 3 * (size_t)f->upvalues);
  uint32_t count = dump_take_count(in);
  for (uint32_t i = 0; i < count && in->ok; i++) {
    uint64_t shared[4] = {0};
    dump_skip_function(in, 1, shared);
    for (uint32_t at = 0; at < 256; at++) {
      if (!(shared[at / 64] >> at % 64 & 1)) continue;
      f->captured[at / 64] |= 1ull << at % 64;
      if (i < MOST_CLOSURES) f->highest[i] = (uint8_t)(at < 255 ? at + 1 : 255);
    }
  }
}

/* Skips lines, names of locals and names of upvalues. */
static void dump_skip_debug(struct dump_cursor *in) {
  dump_take(in, dump_take_count(in));
  uint32_t count = dump_take_line_count(in);
  for (uint32_t i = 0; i < count && in->ok; i++) {
    dump_take_line(in);
    dump_take_line(in);
  }
  count = dump_take_count(in);
  for (uint32_t i = 0; i < count && in->ok; i++) {
    dump_take_string(in);
    dump_take_number(in);
    dump_take_number(in);
  }
  for (count = dump_take_count(in); count && in->ok; count--) dump_take_string(in);
}

/* The name of the source is at the start of a function; in Lua 5.5 it precedes the lines. */
static void dump_skip_source(struct dump_cursor *in, bool begins) {
  if (begins != DUMP_55) dump_take_string(in);
}

static const unsigned char *dump_take_words(struct dump_cursor *in, uint32_t *count) {
  *count = dump_take_count(in);
  dump_align(in);
  return dump_take(in, 4 * (size_t)*count);
}

/* Skips everything before the upvalues. */
static void dump_skip_head(struct dump_cursor *in) {
  uint32_t count;
  dump_skip_source(in, true);
  dump_take_number(in);
  dump_take_number(in);
  dump_take(in, 3);
  dump_take_words(in, &count);
  (void)dump_take_constants(in, NULL);
}

static void dump_skip_function(struct dump_cursor *in, int depth, uint64_t *captured) {
  if (depth > NESTING) in->ok = false;
  dump_skip_head(in);
  dump_skip_body(in, depth, captured);
  dump_skip_source(in, false);
  dump_skip_debug(in);
}

/* ---- the function ---- */

/* Goes to the inner-th function of the one that begins here. */
static void dump_go_inside(struct dump_cursor *in, uint32_t inner) {
  uint32_t count;
  dump_skip_head(in);
  dump_take(in, 3 * (size_t)dump_take_count(in));
  count = dump_take_count(in);
  if (inner > count) in->ok = false;
  for (uint32_t i = 1; i < inner && in->ok; i++) dump_skip_function(in, 1, NULL);
}

static ecs_status dump_take_function(struct dump_cursor *in, struct function_code *f,
                                     const unsigned char **words) {
  dump_skip_source(in, true);
  int32_t first = (int32_t)dump_take_number(in);
  dump_take_number(in);
  f->parameters = dump_take_byte(in);
  f->vararg = (dump_take_byte(in) & 3) != 0;   /* Lua 5.5 has other flags, too */
  f->registers = dump_take_byte(in);
  *words = dump_take_words(in, &f->count);
  if (!in->ok || f->count == 0 || f->parameters > f->registers) return ECS_ECORRUPT;
  ecs_status status = dump_take_constants(in, f);
  if (status != ECS_OK) return status;
  f->lines = memory_array(f->memory, f->count, sizeof *f->lines);
  if (!f->lines) return ECS_ENOMEM;
  dump_take_body(in, f);
  dump_skip_source(in, false);
  dump_take_lines(in, f, first);
  return in->ok ? ECS_OK : ECS_ECORRUPT;
}

ecs_status dump_read(lua_State *L, int index, uint32_t inner, struct function_code *out,
                     const unsigned char **words) {
  ecs_status status = dump_collect(L, index, out);
  const unsigned char *dump = (const unsigned char *)out->dump;
  struct dump_cursor in = {dump, dump, dump + out->dump_size, true, DUMP_55 && inner ? out : NULL};
  if (status != ECS_OK) return status;
  if (!dump_take_header(&in)) return ECS_ECORRUPT;
  dump_take_byte(&in);   /* how many upvalues it has */
  if (inner) dump_go_inside(&in, inner);
  return dump_take_function(&in, out, words);
}

#endif

/* A short string has its length in a byte: plus one, with the highest bit set, in Lua 5.4; plus
** five in LuaJIT. */
#ifdef LUAJIT_VERSION
#define DUMP_LENGTH(length) ((length) + 5)
#else
#define DUMP_LENGTH(length) ((DUMP_55 ? 0 : 0x80) | ((length) + 1))
#endif

bool dump_mentions(const char *dump, size_t size, const char *text) {
  size_t length = strlen(text);
  assert(length > 0 && length < 64);
  const char *end = dump + size;
  for (const char *at = dump; (size_t)(end - at) > length; at++) {
    at = memchr(at, (int)DUMP_LENGTH(length), (size_t)(end - at) - length);
    if (!at) return false;
    if (memcmp(at + 1, text, length) == 0) return true;
  }
  return false;
}
