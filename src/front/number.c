#include "core/base/types.h"
#include "core/storage/component.h"
#include "front/front.h"

/* Types of numbers, and operators on them. A script number (a literal, a uniform, or made only of
** these: `soft`) becomes f32 when used with f32. */

k_type val_type(const struct front *f, struct val x) {
  assert(x.kind == VAL_VALUE);
  return build_type(f->b, x.value);
}

bool val_is_number(const struct front *f, struct val x) {
  return x.kind == VAL_VALUE && !x.names && !x.spawned && val_type(f, x) != KT_BOOL;
}

bool val_is_boolean(const struct front *f, struct val x) {
  return x.kind == VAL_VALUE && !x.names && val_type(f, x) == KT_BOOL;
}

/* Index keys are computed in f64, without rounding steps to f32. */
struct val val_number(struct front *f, k_value value, bool soft) {
  bool wide = f->result == RESULT_KEY && value != K_NONE && build_type(f->b, value) == KT_F32;
  if (wide) value = build_convert(f->b, KT_F64, value);
  return (struct val){.kind = VAL_VALUE, .value = value, .soft = soft};
}

struct val val_bool(struct front *f, bool value) {
  return val_number(f, build_bool(f->b, value), true);
}

struct val val_integer(struct front *f, int64_t number) {
  struct val literal = val_number(f, build_i64(f->b, number), true);
  literal.literal = true;
  literal.number = number;
  return literal;
}

struct val val_known(struct front *f, bool value) {
  struct val known = val_bool(f, value);
  known.literal = true;
  known.number = value;
  return known;
}

k_value number_as(struct front *f, struct val x, k_type type) {
  assert(x.kind == VAL_VALUE);
  return build_convert(f->b, type, x.value);
}

const char *number_describe(const struct front *f, struct val x) {
  switch (x.kind) {
    case VAL_NOTHING: return "a value whose type depends on the path taken";
    case VAL_NIL: return "nil";
    case VAL_VALUE:
      if (x.spawned) return "the id of a spawned entity";
      if (x.names) return x.names == &front_texts ? "a string field" : "an enum";
      if (x.mixed) return "a number that is an integer on one path and a float on another";
      return val_type(f, x) == KT_BOOL ? "a boolean" : "a number";
    case VAL_STRING:
    case VAL_CHOICE: return "a string";
    case VAL_PREFIX: return "a part of a string";
    case VAL_TABLE:
    case VAL_LIST:
    case VAL_ENTRY:
    case VAL_RECORD:
    case VAL_PATH: return "a table";
    case VAL_ELEMENT:
    case VAL_VIEW: return "a view";
    case VAL_PAIR: return "a pair's id";
    case VAL_WORLD:
    case VAL_ARRAY:
    case VAL_ARRAYS:
    case VAL_RESOURCE: return "an object";
    default: return "a function";
  }
}

static void need_number(struct front *f, struct val x) {
  if (!val_is_number(f, x)) front_refuse(f, "it calculates with %s", number_describe(f, x));
}

void number_decided(struct front *f, struct val x, struct val y, const char *does) {
  bool decided = !x.mixed || (!y.mixed && val_type(f, y) != KT_I64);
  if (!decided)
    front_refuse(f, "it %s %s: write the integer as a float, as in 0.0", does,
                 number_describe(f, x));
}

k_type number_float_type(const struct front *f, struct val x, struct val y) {
  k_type a = val_type(f, x), b = val_type(f, y);
  bool narrow = (a == KT_F32 && (b == KT_F32 || y.soft)) || (b == KT_F32 && x.soft);
  return narrow ? KT_F32 : KT_F64;
}

/* ---- mixed ---- */

/* Numbers that are integers to Lua in some rows and floats in others are computed as floats, with
** the mask of the rows in which they are integers. There, products and negations never give -0.0.
** An integer that no float can represent is rounded where it meets a float; if that matters, as in
** comparisons, the row falls back to Lua. */

#define BITS_WRAP 63u    /* at most 2^62: a sum of two does not wrap around */

uint8_t mixed_bits_of(ecs_type type) {
  uint32_t size = type_size(type, 0);
  if (type_class(type) != CLASS_INTEGER || size == 8) return 0;
  return (uint8_t)(size * 8 + !type_is_signed(type));
}

static uint8_t bits_of_number(int64_t number) {
  uint64_t most = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  uint8_t bits = 1;
  while (bits < 64 && most > (uint64_t)1 << (bits - 1)) bits++;
  return bits < 64 ? bits : 0;
}

bool mixed_is_small(int64_t integer) {
  uint8_t bits = bits_of_number(integer);
  return bits && bits <= MIXED_SMALL;
}

uint8_t mixed_bits(struct val x) { return x.literal ? bits_of_number(x.number) : x.bits; }

uint8_t mixed_bits_either(struct val x, struct val y) {
  uint8_t a = mixed_bits(x), b = mixed_bits(y);
  return !a || !b ? 0 : a > b ? a : b;
}

static bool number_is_exact(uint8_t bits) { return bits && bits <= MIXED_EXACT; }

static bool is_integer(const struct front *f, struct val x) { return val_type(f, x) == KT_I64; }

/* Whether it may be an integer in some rows. */
static bool number_may_be_integer(const struct front *f, struct val x) {
  return x.mixed || is_integer(f, x);
}

bool mixed_rounds(const struct front *f, struct val x) {
  return is_integer(f, x) ? !number_is_exact(mixed_bits(x)) : x.mixed && x.rounded;
}

bool mixed_is_exact(const struct front *f, struct val x) {
  uint8_t bits = mixed_bits(x);
  return x.mixed && !x.rounded && bits && bits <= (val_type(f, x) == KT_F32 ? 25 : MIXED_EXACT);
}

k_value mixed_whole(struct front *f, struct val x) {
  if (x.mixed) return x.whole;
  return is_integer(f, x) ? K_ALL : build_bool(f->b, false);
}

void mixed_join(struct front *f, k_value mask, struct val x, struct val y, struct val *joined) {
  bool integers = number_may_be_integer(f, x), others = number_may_be_integer(f, y);
  joined->bits = integers && others ? mixed_bits_either(x, y) : mixed_bits(integers ? x : y);
  joined->mixed = val_mixes(f, x, y);
  joined->whole = K_ALL;
  joined->rounded = joined->mixed && (mixed_rounds(f, x) || mixed_rounds(f, y));
  if (!joined->mixed) return;
  joined->whole = mask_select(f, mask, mixed_whole(f, x), mixed_whole(f, y));
}

/* Rows with an integer that floats cannot distinguish from others fail. */
static struct val number_need_exact(struct front *f, struct val x, k_value where) {
  struct builder *b = f->b;
  k_value fits;
  if (is_integer(f, x)) {
    k_value up = build_binary(b, KO_ADD, x.value, build_i64(b, (int64_t)1 << 53));
    fits = build_binary(b, KO_ULT, up, build_i64(b, ((int64_t)1 << 54) + 1));
  } else {
    k_value most = build_unary(b, KO_ABS, number_as(f, x, KT_F64));
    fits = build_binary(b, KO_LT, most, build_f64(b, 0x1p53));   /* where 2^53 + 1 is, too */
  }
  if (where != K_ALL && where != K_NONE)
    fits = build_binary(b, KO_OR, fits, build_unary(b, KO_NOT, where));
  build_need(b, fits);
  x.rounded = false;
  x.bits = MIXED_EXACT;
  x.literal = false;
  return x;
}

struct val number_exact(struct front *f, struct val x, bool is_unsigned) {
  if (is_unsigned) build_need(f->b, build_binary(f->b, KO_LE, build_i64(f->b, 0), x.value));
  return number_need_exact(f, x, K_ALL);
}

struct val mixed_settle(struct front *f, struct val x) {
  bool rounded = x.kind == VAL_VALUE && x.mixed && x.rounded;
  return rounded ? number_need_exact(f, x, x.whole) : x;
}

/* Whether an operation on them is on integers in some rows and on floats in others. */
static bool mixed_meets(const struct front *f, struct val x, struct val y) {
  return (x.mixed || y.mixed) && number_may_be_integer(f, x) && number_may_be_integer(f, y);
}

/* The bound of the integers that an operation gives. */
static uint8_t mixed_bits_result(k_op op, struct val x, struct val y) {
  unsigned a = mixed_bits(x), b = mixed_bits(y), most = a > b ? a : b;
  if (!a || !b) return 0;
  unsigned bits = op == KO_ADD || op == KO_SUB ? most + 1
                  : op == KO_MUL               ? a + b - 1
                  : op == KO_IDIV              ? a
                  : op == KO_MOD               ? b
                                               : BITS_WRAP + 1;
  return bits <= BITS_WRAP ? (uint8_t)bits : 0;
}

/* A zero product of integers has no sign. */
static k_value number_without_minus_zero(struct front *f, k_value product, k_value whole) {
  struct builder *b = f->b;
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), build_type(b, product));
  return build_select(b, whole, build_binary(b, KO_ADD, product, zero), product);
}

/* Integers must not be divided by zero. */
static void number_need_divisor(struct front *f, k_value y, k_value whole) {
  struct builder *b = f->b;
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), build_type(b, y));
  k_value fits = build_binary(b, KO_NE, y, zero);
  build_need(b, build_binary(b, KO_OR, fits, build_unary(b, KO_NOT, whole)));
}

/* x (op) y, of +, -, *, // and %, where integers meet floats. */
static struct val mixed_binary(struct front *f, k_op op, struct val x, struct val y) {
  struct builder *b = f->b;
  bool divides = op == KO_MOD || op == KO_IDIV;
  assert(mixed_meets(f, x, y) && (divides || op == KO_ADD || op == KO_SUB || op == KO_MUL));
  k_value whole = build_binary(b, KO_AND, mixed_whole(f, x), mixed_whole(f, y));
  if (x.rounded || !number_is_exact(mixed_bits(x))) x = number_need_exact(f, x, whole);
  if (y.rounded || !number_is_exact(mixed_bits(y))) y = number_need_exact(f, y, whole);
  k_type type = number_float_type(f, x, y);
  k_value left = number_as(f, x, type), right = number_as(f, y, type);
  if (divides && !(y.literal && y.number != 0)) number_need_divisor(f, right, whole);
  k_value value = build_binary(b, op, left, right);
  /* Where integers give 0, floats may give -0.0, except a product by a positive number. */
  bool above = (x.literal && x.number > 0) || (y.literal && y.number > 0);
  if (divides || (op == KO_MUL && !above))
    value = number_without_minus_zero(f, value, whole);
  struct val result = val_number(f, value, x.soft && y.soft);
  result.mixed = true;
  result.whole = whole;
  result.bits = mixed_bits_result(op, x, y);
  result.rounded = !number_is_exact(result.bits);
  return result.bits || op != KO_MUL ? result : number_need_exact(f, result, whole);
}

static struct val mixed_negate(struct front *f, struct val x) {
  struct builder *b = f->b;
  assert(x.mixed);
  if (x.rounded || !number_is_exact(x.bits)) x = number_need_exact(f, x, x.whole);
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), val_type(f, x));
  k_value integer = build_binary(b, KO_SUB, zero, x.value);
  x.value = build_select(b, x.whole, integer, build_unary(b, KO_NEG, x.value));
  x.chain = 0;
  x.at = 0;
  return x;
}

struct val mixed_absolute(struct front *f, struct val x) {
  assert(x.mixed);
  if (x.rounded || !number_is_exact(x.bits)) x = number_need_exact(f, x, x.whole);
  x.value = build_unary(f->b, KO_ABS, x.value);
  x.chain = 0;
  x.at = 0;
  return x;
}

/* ---- operators ---- */

/* An operation on integers in all rows, or on floats. */
static struct val number_of_two(struct front *f, enum code_operator op, k_op does, struct val x,
                                struct val y) {
  bool bitwise = op >= OPERATOR_BAND && op <= OPERATOR_SHR;
  bool divides = op == OPERATOR_DIV || op == OPERATOR_POW;
  assert(bitwise || divides || !mixed_meets(f, x, y));
  if (bitwise) {
    x = mixed_settle(f, x);
    y = mixed_settle(f, y);
  }
  bool integers = val_type(f, x) == KT_I64 && val_type(f, y) == KT_I64;
  k_type type = bitwise || (integers && !divides) ? KT_I64 : number_float_type(f, x, y);
  k_value a = number_as(f, x, type), b = number_as(f, y, type);
  struct val result = val_number(f, build_binary(f->b, does, a, b), x.soft && y.soft);
  if (type != KT_I64) return result;
  result.wide = val_is_wide(x) || val_is_wide(y);
  result.bits = mixed_bits_result(does, x, y);
  return result;
}

/* Where all numbers are doubles: x as the float that operations take. */
static struct val number_real(struct front *f, struct val x) {
  if (val_type(f, x) != KT_I64) return x;
  struct val real = val_number(f, number_as(f, x, KT_F64), x.soft);
  real.literal = x.literal;
  real.number = x.number;
  return real;
}

/* LuaJIT's x % y: x - floor(x / y) * y. */
static struct val number_rest(struct front *f, struct val x, struct val y) {
  struct val quotient = number_of_two(f, OPERATOR_IDIV, KO_IDIV, x, y);
  struct val whole = number_of_two(f, OPERATOR_MUL, KO_MUL, quotient, y);
  return number_of_two(f, OPERATOR_SUB, KO_SUB, x, whole);
}

static struct val number_of_doubles(struct front *f, enum code_operator op, k_op does,
                                    struct val x, struct val y) {
  x = number_real(f, x);
  y = number_real(f, y);
  return op == OPERATOR_MOD ? number_rest(f, x, y) : number_of_two(f, op, does, x, y);
}

struct val number_binary(struct front *f, enum code_operator op, struct val x, struct val y) {
  static const k_op ops[] = {KO_ADD, KO_SUB, KO_MUL, KO_MOD, KO_POW, KO_DIV,
                             KO_IDIV, KO_BAND, KO_BOR, KO_BXOR, KO_SHL, KO_SHR};
  assert(op < sizeof ops / sizeof *ops);
  x = maybe_need(f, x);
  y = maybe_need(f, y);
  need_number(f, x);
  need_number(f, y);
  if (op == OPERATOR_POW) library_note_power(f);
  bool counts = op == OPERATOR_ADD || op == OPERATOR_SUB || op == OPERATOR_MUL ||
                op == OPERATOR_MOD || op == OPERATOR_IDIV;
  struct val result = NUMBERS_ARE_DOUBLES ? number_of_doubles(f, op, ops[op], x, y)
                      : counts && mixed_meets(f, x, y) ? mixed_binary(f, ops[op], x, y)
                                                       : number_of_two(f, op, ops[op], x, y);
  k_fold step = op == OPERATOR_ADD ? KF_ADD : op == OPERATOR_SUB ? KF_SUB : KF_COUNT;
  return steps_step(f, result, step, x, y);
}

struct val number_unary(struct front *f, enum code_operator op, struct val x) {
  assert(op == OPERATOR_NEG || op == OPERATOR_BNOT);
  x = maybe_need(f, x);
  need_number(f, x);
  if (NUMBERS_ARE_DOUBLES) x = number_real(f, x);
  if (op != OPERATOR_BNOT && x.mixed) return mixed_negate(f, x);
  x = mixed_settle(f, x);
  k_value value = op == OPERATOR_BNOT ? number_as(f, x, KT_I64) : x.value;
  k_op negation = op == OPERATOR_BNOT ? KO_BNOT : KO_NEG;
  struct val result = val_number(f, build_unary(f->b, negation, value), x.soft);
  result.wide = val_is_wide(x);
  result.bits = op == OPERATOR_NEG ? mixed_bits(x) : 0;
  return result;
}

/* ---- comparisons ---- */

static k_value compare_numbers(struct front *f, enum code_operator op, struct val x,
                               struct val y) {
  x = mixed_settle(f, x);
  y = mixed_settle(f, y);
  assert(op == OPERATOR_EQ || op == OPERATOR_LT || op == OPERATOR_LE);
  k_op compares = op == OPERATOR_EQ ? KO_EQ : op == OPERATOR_LT ? KO_LT : KO_LE;
  return build_binary(f->b, compares, x.value, y.value);
}

/* x == y where x is of an enum. */
static k_value number_compare_enum(struct front *f, struct val x, struct val y, int *known) {
  assert(x.kind == VAL_VALUE && x.names);
  bool named = y.kind == VAL_VALUE && y.names;
  bool turned = named && y.names == &front_texts && x.names != &front_texts;
  if (turned) return number_compare_enum(f, y, x, known);
  k_value place = named || val_is_text(y)
                      ? choice_as_enum(f, y, x.names, y.kind != VAL_STRING) : K_NONE;
  if (place != K_NONE) return build_binary(f->b, KO_EQ, x.value, place);
  *known = 0;
  return K_NONE;
}

/* x == y where one is not a number, enum or boolean. */
static k_value number_compare_things(struct front *f, struct val x, struct val y, int *known) {
  bool left = x.kind == VAL_RECORD, right = y.kind == VAL_RECORD;
  if ((left && (right || y.kind == VAL_PATH)) || (right && x.kind == VAL_PATH))
    front_refuse(f, "it compares tables held in a table: compare their keys");
  bool entries = x.kind == VAL_ENTRY && y.kind == VAL_ENTRY;
  if (entries && x.at == y.at) return build_binary(f->b, KO_EQ, x.value, y.value);
  bool sets = x.kind == VAL_ARRAYS || x.kind == VAL_FUNCTIONS || y.kind == VAL_FUNCTIONS;
  if (sets || y.kind == VAL_ARRAYS)
    front_refuse(f, "it compares arrays or functions held in a table: compare their keys");
  bool element = x.kind == VAL_ELEMENT || y.kind == VAL_ELEMENT;
  if (element && val_is_view(x) && val_is_view(y))
    front_refuse(f, "it compares elements of an array field: compare their indexes");
  if (x.kind == VAL_PATH && y.kind == VAL_PATH) return outside_equal(f, x, y);
  bool texts = val_is_text(x) && val_is_text(y);
  if (x.kind == VAL_PAIR || y.kind == VAL_PAIR)
    front_refuse(f, "it compares a pair's id: compare the targets");
  if (texts && (x.kind == VAL_CHOICE || y.kind == VAL_CHOICE)) return choice_equal(f, x, y);
  if (x.kind == VAL_PATH) outside_table(f, x);
  if (y.kind == VAL_PATH) outside_table(f, y);
  bool refer = x.kind == VAL_FUNCTION || x.kind == VAL_SPAWNER || x.kind == VAL_RESOURCE ||
               x.kind == VAL_ARRAY;
  *known = refer && x.kind == y.kind ? outside_same(f, x, y) : val_same(&x, &y);
  return K_NONE;
}

static bool number_is_entity(struct front *f, struct val x) {
  return x.entity || outside_null(f, x);
}

/* x == y where both are present. */
static k_value number_compare_equal(struct front *f, struct val x, struct val y, int *known) {
  if (x.kind == VAL_PREFIX) return text_starts(f, x, y, known);
  if (y.kind == VAL_PREFIX) return text_starts(f, y, x, known);
  if (x.kind == VAL_VALUE && x.names) return number_compare_enum(f, x, y, known);
  if (y.kind == VAL_VALUE && y.names) return number_compare_enum(f, y, x, known);
  if (x.kind != VAL_VALUE || y.kind != VAL_VALUE) return number_compare_things(f, x, y, known);
  bool left = val_type(f, x) == KT_BOOL, right = val_type(f, y) == KT_BOOL;
  if (left != right) {
    *known = 0;
    return K_NONE;
  }
  if ((x.spawned || y.spawned) && !(number_is_entity(f, x) && number_is_entity(f, y)))
    front_refuse(f, "it compares the id of a spawned entity with something that may not be an "
                    "entity: compare it with an entity field, the row's entity or ecs.null");
  return compare_numbers(f, OPERATOR_EQ, x, y);
}

k_value number_compare(struct front *f, enum code_operator op, struct val x, struct val y,
                       int *known) {
  *known = -1;
  if (x.kind == VAL_NOTHING || y.kind == VAL_NOTHING)
    front_refuse(f, "it compares %s", number_describe(f, x.kind == VAL_NOTHING ? x : y));
  const struct val *lacking = x.kind == VAL_PARTNER ? &x : &y;
  if (lacking->kind == VAL_PARTNER && val_is_maybe(*lacking))
    front_refuse(f, "it compares '%s', which rows of an index may lack: test it first, as in 'if "
                    "x then'", lacking->root->name);
  if (op == OPERATOR_EQ && (val_is_maybe(x) || val_is_maybe(y)))
    return maybe_equal(f, x, y, known);
  if (op == OPERATOR_EQ) return number_compare_equal(f, x, y, known);
  x = maybe_need(f, x);
  y = maybe_need(f, y);
  if (val_is_string(x) && val_is_string(y)) return text_compare(f, op, x, y);
  if (!val_is_number(f, x) || !val_is_number(f, y))
    front_refuse(f, "it compares %s with %s", number_describe(f, x), number_describe(f, y));
  return compare_numbers(f, op, x, y);
}

k_value val_truth(struct front *f, struct val x, int *known) {
  *known = -1;
  if (x.kind == VAL_NOTHING) front_refuse(f, "it tests %s", number_describe(f, x));
  if (val_is_maybe(x)) return maybe_truth(f, x);
  bool boolean = val_is_boolean(f, x);
  if (boolean && !x.literal) return x.value;
  if (x.kind == VAL_PATH) outside_table(f, x);
  *known = boolean ? x.number != 0 : x.kind != VAL_NIL;
  return K_NONE;
}
