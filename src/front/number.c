/* Types of numbers and what the operators do with them. A script number (literal, uniform, or
** made of these alone: `soft`) becomes f32 beside f32. */
#include "front/front.h"
#include "front/mixed.h"
#include "core/base/enumeration.h"
#include "core/storage/fields.h"
#include "front/steps.h"

k_type val_type(const struct front *f, struct val x) {
  assert(x.kind == VAL_VALUE);
  return build_type(f->b, x.value);
}

bool val_is_number(const struct front *f, struct val x) {
  return x.kind == VAL_VALUE && !x.names && !x.spawned && val_type(f, x) != KT_BOOL;
}

/* What is compared with keys, as those of an index, has no steps that are rounded to f32. */
struct val val_number(struct front *f, k_value value, bool soft) {
  bool wide = f->result == RESULT_KEY && value != K_NONE && build_type(f->b, value) == KT_F32;
  if (wide) value = build_convert(f->b, KT_F64, value);
  return (struct val){.kind = VAL_VALUE, .value = value, .soft = soft};
}

struct val val_bool(struct front *f, bool value) {
  return val_number(f, build_bool(f->b, value), true);
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

static const char *number_describe(const struct front *f, struct val x) {
  switch (x.kind) {
    case VAL_NOTHING: return "a value that is not the same type on every way here";
    case VAL_NIL: return "nil";
    case VAL_VALUE:
      if (x.spawned) return "the id of an entity that it spawns";
      if (x.names) return x.names == &front_texts ? "a string field" : "an enum";
      if (x.mixed) return "a number that is an integer on one way and a float on another";
      return val_type(f, x) == KT_BOOL ? "a boolean" : "a number";
    case VAL_STRING:
    case VAL_CHOICE: return "a string";
    case VAL_TABLE:
    case VAL_RECORD:
    case VAL_PATH: return "a table";
    case VAL_VIEW: return "a view";
    case VAL_PAIR: return "a pair's id";
    case VAL_WORLD:
    case VAL_ARRAY:
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

static bool is_bitwise(enum code_operator op) { return op >= OPERATOR_BAND && op <= OPERATOR_SHR; }

/* An operation on integers may wrap around, fail or give a 0 without a sign, where one on floats
** does not. So it has to be decided which it is, but for what is always done with floats, or
** always with integers. */
static void need_decided(struct front *f, enum code_operator op, struct val x, struct val y) {
  if (is_bitwise(op) || op == OPERATOR_DIV || op == OPERATOR_POW) return;
  number_decided(f, x, y, "calculates with");
  number_decided(f, y, x, "calculates with");
}

static k_type number_operand_type(const struct front *f, enum code_operator op, struct val x,
                                  struct val y) {
  if (is_bitwise(op)) return KT_I64;
  bool integers = val_type(f, x) == KT_I64 && val_type(f, y) == KT_I64;
  bool divides = op == OPERATOR_DIV || op == OPERATOR_POW;
  return integers && !divides ? KT_I64 : number_float_type(f, x, y);
}

/* An operation that is one on integers in all rows, or one on floats. */
static struct val number_of_two(struct front *f, enum code_operator op, k_op does, struct val x,
                                struct val y) {
  need_decided(f, op, x, y);
  if (is_bitwise(op)) {
    x = mixed_settle(f, x);
    y = mixed_settle(f, y);
  }
  k_type type = number_operand_type(f, op, x, y);
  k_value a = number_as(f, x, type), b = number_as(f, y, type);
  struct val result = val_number(f, build_binary(f->b, does, a, b), x.soft && y.soft);
  if (type != KT_I64) return result;
  result.wide = val_is_wide(x) || val_is_wide(y);
  result.bits = mixed_bits_result(does, x, y);
  return result;
}

struct val number_binary(struct front *f, enum code_operator op, struct val x, struct val y) {
  static const k_op ops[] = {KO_ADD, KO_SUB, KO_MUL, KO_MOD, KO_POW, KO_DIV,
                             KO_IDIV, KO_BAND, KO_BOR, KO_BXOR, KO_SHL, KO_SHR};
  assert(op < sizeof ops / sizeof *ops);
  x = maybe_need(f, x);
  y = maybe_need(f, y);
  need_number(f, x);
  need_number(f, y);
  bool known = (!x.mixed || mixed_known(x)) && (!y.mixed || mixed_known(y));
  bool divides = op == OPERATOR_MOD || op == OPERATOR_IDIV;
  bool counts = op == OPERATOR_ADD || op == OPERATOR_SUB || op == OPERATOR_MUL ||
                (divides && known);
  struct val result = counts && mixed_meets(f, x, y) ? mixed_binary(f, ops[op], x, y)
                                                     : number_of_two(f, op, ops[op], x, y);
  static const uint8_t steps[] = {KS_ADD, KS_SUB, KS_MUL, KS_COUNT, KS_COUNT, KS_DIV};
  if (op <= OPERATOR_DIV) result = steps_step(f, result, (k_step)steps[op], x, y);
  return result;
}

struct val number_unary(struct front *f, enum code_operator op, struct val x) {
  assert(op == OPERATOR_NEG || op == OPERATOR_BNOT);
  x = maybe_need(f, x);
  need_number(f, x);
  if (op != OPERATOR_BNOT && mixed_known(x)) return mixed_negate(f, x);
  if (op != OPERATOR_BNOT) number_decided(f, x, x, "negates");
  x = mixed_settle(f, x);
  k_value value = op == OPERATOR_BNOT ? number_as(f, x, KT_I64) : x.value;
  k_op negation = op == OPERATOR_BNOT ? KO_BNOT : KO_NEG;
  struct val result = val_number(f, build_unary(f->b, negation, value), x.soft);
  result.wide = val_is_wide(x);
  result.bits = op == OPERATOR_NEG ? mixed_bits(x) : 0;
  return result;
}

/* ---- comparisons ---- */

static k_op compare_op(enum code_operator op) {
  assert(op == OPERATOR_EQ || op == OPERATOR_LT || op == OPERATOR_LE);
  return op == OPERATOR_EQ ? KO_EQ : op == OPERATOR_LT ? KO_LT : KO_LE;
}

static k_value compare_numbers(struct front *f, enum code_operator op, struct val x,
                               struct val y) {
  x = mixed_settle(f, x);
  y = mixed_settle(f, y);
  return build_binary(f->b, compare_op(op), x.value, y.value);
}

/* x == y, of an enumeration x. */
static k_value compare_enum(struct front *f, struct val x, struct val y, int *known) {
  assert(x.kind == VAL_VALUE && x.names);
  if (val_is_text(y)) {
    k_value place = choice_as_enum(f, y, x.names, y.kind == VAL_CHOICE);
    if (place != K_NONE) return build_binary(f->b, KO_EQ, x.value, place);
  }
  if (y.kind == VAL_VALUE && y.names == x.names)
    return build_binary(f->b, KO_EQ, x.value, y.value);
  if (y.kind == VAL_VALUE && y.names)
    front_refuse(f, "it compares different enums, or an enum with a string field: compare each "
                    "with a name, as in x == 'name'");
  *known = 0;
  return K_NONE;
}

static bool is_nothing(struct val x) { return x.kind == VAL_NOTHING; }

/* x == y, where one of them is no number, enum or boolean. */
static k_value compare_things(struct front *f, struct val x, struct val y, int *known) {
  bool left = x.kind == VAL_RECORD, right = y.kind == VAL_RECORD;
  if ((left && (right || y.kind == VAL_PATH)) || (right && x.kind == VAL_PATH))
    front_refuse(f, "it compares tables that are in a table: compare where they are");
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

static bool is_entity(struct front *f, struct val x) { return x.entity || outside_null(f, x); }

/* x == y, where both are something. */
static k_value compare_equal(struct front *f, struct val x, struct val y, int *known) {
  if (x.kind == VAL_VALUE && x.names) return compare_enum(f, x, y, known);
  if (y.kind == VAL_VALUE && y.names) return compare_enum(f, y, x, known);
  if (x.kind != VAL_VALUE || y.kind != VAL_VALUE) return compare_things(f, x, y, known);
  bool left = val_type(f, x) == KT_BOOL, right = val_type(f, y) == KT_BOOL;
  if (left != right) {
    *known = 0;
    return K_NONE;
  }
  if ((x.spawned || y.spawned) && !(is_entity(f, x) && is_entity(f, y)))
    front_refuse(f, "it compares the id of an entity that it spawns with what may be no entity: "
                    "compare it with an entity field, the row's entity or ecs.null");
  return compare_numbers(f, OPERATOR_EQ, x, y);
}

k_value number_compare(struct front *f, enum code_operator op, struct val x, struct val y,
                       int *known) {
  *known = -1;
  if (is_nothing(x) || is_nothing(y))
    front_refuse(f, "it compares %s", number_describe(f, is_nothing(x) ? x : y));
  const struct val *lacking = x.kind == VAL_PARTNER ? &x : &y;
  if (lacking->kind == VAL_PARTNER && val_is_maybe(*lacking))
    front_refuse(f, "it compares '%s', which rows of an index may lack: test it, as in "
                    "'if x then'", lacking->root->name);
  if (op == OPERATOR_EQ && (val_is_maybe(x) || val_is_maybe(y)))
    return maybe_equal(f, x, y, known);
  if (op == OPERATOR_EQ) return compare_equal(f, x, y, known);
  x = maybe_need(f, x);
  y = maybe_need(f, y);
  if (!val_is_number(f, x) || !val_is_number(f, y))
    front_refuse(f, "it compares %s with %s", number_describe(f, x), number_describe(f, y));
  return compare_numbers(f, op, x, y);
}

k_value val_truth(struct front *f, struct val x, int *known) {
  *known = -1;
  if (is_nothing(x)) front_refuse(f, "it tests %s", number_describe(f, x));
  if (val_is_maybe(x)) return maybe_truth(f, x);
  bool boolean = x.kind == VAL_VALUE && !x.names && val_type(f, x) == KT_BOOL;
  if (boolean && !x.literal) return x.value;
  if (x.kind == VAL_PATH) outside_table(f, x);
  *known = boolean ? x.number != 0 : x.kind != VAL_NIL;
  return K_NONE;
}
