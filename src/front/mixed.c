/* Integers that meet floats: a number that is an integer to Lua in some rows and a float in others
** is computed as a float, with the mask of the rows in which it is an integer: there products and
** negations give no -0.0. Integers that no float can stand for are rounded where they meet one;
** where it would matter, as in comparisons, such rows fail, so that Lua does it. */
#include "front/mixed.h"

#define BITS_WRAP 63u    /* at most 2^62: a sum of two such does not wrap around */

uint8_t mixed_bits_of(ecs_type type) {
  switch (type) {
    case ECS_I8: return 8;
    case ECS_U8: return 9;
    case ECS_I16: return 16;
    case ECS_U16: return 17;
    case ECS_I32: return 32;
    case ECS_U32: return 33;
    default: return 0;
  }
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

static bool is_exact(uint8_t bits) { return bits && bits <= MIXED_EXACT; }

static bool is_integer(const struct front *f, struct val x) { return val_type(f, x) == KT_I64; }

/* Whether it is an integer in some rows, at least. */
static bool may_be_integer(const struct front *f, struct val x) {
  return x.mixed || is_integer(f, x);
}

bool mixed_rounds(const struct front *f, struct val x) {
  return is_integer(f, x) ? !is_exact(mixed_bits(x)) : x.mixed && x.rounded;
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
  bool integers = may_be_integer(f, x), others = may_be_integer(f, y);
  joined->bits = integers && others ? mixed_bits_either(x, y) : mixed_bits(integers ? x : y);
  joined->mixed = val_mixes(f, x, y);
  joined->whole = K_ALL;
  joined->rounded = joined->mixed && (mixed_rounds(f, x) || mixed_rounds(f, y));
  if (!joined->mixed) return;
  k_value a = mixed_whole(f, x), b = mixed_whole(f, y);
  joined->whole = a == K_NONE || b == K_NONE ? K_NONE : mask_select(f, mask, a, b);
}

/* Rows in which it is an integer beyond what floats can tell apart fail. */
static struct val need_exact(struct front *f, struct val x, k_value where) {
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

struct val mixed_settle(struct front *f, struct val x) {
  bool rounded = x.kind == VAL_VALUE && x.mixed && x.rounded;
  return rounded ? need_exact(f, x, x.whole) : x;
}

bool mixed_meets(const struct front *f, struct val x, struct val y) {
  return (x.mixed || y.mixed) && may_be_integer(f, x) && may_be_integer(f, y);
}

bool mixed_known(struct val x) { return x.mixed && x.whole != K_NONE; }

uint8_t mixed_bits_result(k_op op, struct val x, struct val y) {
  unsigned a = mixed_bits(x), b = mixed_bits(y), most = a > b ? a : b;
  if (!a || !b) return 0;
  unsigned bits = op == KO_ADD || op == KO_SUB ? most + 1
                  : op == KO_MUL               ? a + b - 1
                  : op == KO_IDIV              ? a
                  : op == KO_MOD               ? b
                                               : BITS_WRAP + 1;
  return bits <= BITS_WRAP ? (uint8_t)bits : 0;
}

/* Whether a product of integers that are 0 may be one of floats that is -0.0. */
static bool may_be_minus_zero(struct val x, struct val y) {
  return !(x.literal && x.number > 0) && !(y.literal && y.number > 0);
}

/* The product of integers that is 0 has no sign. Where it is not known whether they are integers,
** rows in which it would have one fail. */
static k_value without_minus_zero(struct front *f, k_value x, k_value y, k_value product,
                                  k_value whole) {
  struct builder *b = f->b;
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), build_type(b, product));
  if (whole != K_NONE)
    return build_select(b, whole, build_binary(b, KO_ADD, product, zero), product);
  k_value below = build_binary(b, KO_OR, build_binary(b, KO_LT, x, zero),
                               build_binary(b, KO_LT, y, zero));
  k_value minus = build_binary(b, KO_AND, build_binary(b, KO_EQ, product, zero), below);
  build_need(b, build_unary(b, KO_NOT, minus));
  return product;
}

/* Whether an operation of integers that gives 0 may give -0.0 of floats. */
static bool may_lose_zero(k_op op, struct val x, struct val y) {
  bool divides = op == KO_MOD || op == KO_IDIV;
  return divides || (op == KO_MUL && may_be_minus_zero(x, y));
}

/* Integers are not divided by zero. */
static void need_divisor(struct front *f, k_value y, k_value whole) {
  struct builder *b = f->b;
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), build_type(b, y));
  k_value fits = build_binary(b, KO_NE, y, zero);
  build_need(b, build_binary(b, KO_OR, fits, build_unary(b, KO_NOT, whole)));
}

/* The mask where both are integers, as far as it is known. */
static k_value both_whole(struct front *f, struct val x, struct val y) {
  k_value a = mixed_whole(f, x), b = mixed_whole(f, y);
  return a == K_NONE || b == K_NONE ? K_NONE : build_binary(f->b, KO_AND, a, b);
}

struct val mixed_binary(struct front *f, k_op op, struct val x, struct val y) {
  struct builder *b = f->b;
  bool divides = op == KO_MOD || op == KO_IDIV;
  assert(mixed_meets(f, x, y) && (divides || op == KO_ADD || op == KO_SUB || op == KO_MUL));
  k_value whole = both_whole(f, x, y);
  if (x.rounded || !is_exact(mixed_bits(x))) x = need_exact(f, x, whole);
  if (y.rounded || !is_exact(mixed_bits(y))) y = need_exact(f, y, whole);
  k_type type = number_float_type(f, x, y);
  k_value left = number_as(f, x, type), right = number_as(f, y, type);
  assert(!divides || whole != K_NONE);
  if (divides && !(y.literal && y.number != 0)) need_divisor(f, right, whole);
  k_value value = build_binary(b, op, left, right);
  if (may_lose_zero(op, x, y))
    value = without_minus_zero(f, left, right, value, whole);
  struct val result = val_number(f, value, x.soft && y.soft);
  result.mixed = true;
  result.whole = whole;
  result.bits = mixed_bits_result(op, x, y);
  result.rounded = !is_exact(result.bits);
  return result.bits || op != KO_MUL ? result : need_exact(f, result, whole);
}

struct val mixed_negate(struct front *f, struct val x) {
  struct builder *b = f->b;
  assert(mixed_known(x));
  if (x.rounded || !is_exact(x.bits)) x = need_exact(f, x, x.whole);
  k_value zero = number_as(f, val_number(f, build_f64(b, 0.0), true), val_type(f, x));
  k_value integer = build_binary(b, KO_SUB, zero, x.value);
  x.value = build_select(b, x.whole, integer, build_unary(b, KO_NEG, x.value));
  x.chain = 0;
  x.at = 0;
  return x;
}

struct val mixed_absolute(struct front *f, struct val x) {
  assert(x.mixed);
  if (x.rounded || !is_exact(x.bits)) x = need_exact(f, x, x.whole);
  x.value = build_unary(f->b, KO_ABS, x.value);
  x.chain = 0;
  x.at = 0;
  return x;
}
