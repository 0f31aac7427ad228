/* Values that are nil in some rows: a number, boolean or id with the mask of the rows in which it
** is there. Truth, `not`, `and`, `or`, ==, assignment and joins take them as they are; what else is
** done with one that is not there, Lua does itself. */
#include "front/front.h"
#include "front/mixed.h"

/* Of any value: where it is not nil. */
static k_value maybe_presence(struct front *f, struct val x) {
  if (x.kind == VAL_NIL) return build_bool(f->b, false);
  bool may = x.kind == VAL_VALUE || x.kind == VAL_RECORD || x.kind == VAL_PARTNER;
  return may ? x.present : K_ALL;
}

struct val maybe_need(struct front *f, struct val x) {
  if (!val_is_maybe(x)) return x;
  build_need(f->b, x.present);
  x.present = K_ALL;
  return x;
}

struct val maybe_narrow(struct front *f, k_value mask, struct val x) {
  if (val_is_maybe(x) && build_implies(f->b, mask, x.present)) x.present = K_ALL;
  return x;
}

struct val maybe_select(struct front *f, k_value mask, struct val x, struct val y,
                        struct val joined) {
  if (joined.kind != VAL_VALUE && joined.kind != VAL_RECORD && joined.kind != VAL_PARTNER)
    return joined;
  assert(joined.present == K_ALL);
  joined.present = mask_select(f, mask, maybe_presence(f, x), maybe_presence(f, y));
  return joined;
}

struct val maybe_or_nil(struct front *f, k_value mask, struct val x, struct val y) {
  struct val some = x.kind == VAL_NIL ? y : x;
  assert((x.kind == VAL_NIL) != (y.kind == VAL_NIL) && some.kind == VAL_VALUE);
  some.wide = val_is_wide(some);
  some.bits = mixed_bits(some);
  some.literal = false;
  some.at = 0;
  some.present = K_ALL;
  some.chain = 0;   /* rows in which it is nil take no steps */
  return maybe_select(f, mask, x, y, some);
}

k_value maybe_equal(struct front *f, struct val x, struct val y, int *known) {
  struct builder *b = f->b;
  k_value left = maybe_presence(f, x), right = maybe_presence(f, y), equal = build_bool(b, false);
  x.present = y.present = K_ALL;
  if (x.kind != VAL_NIL && y.kind != VAL_NIL) {
    equal = number_compare(f, OPERATOR_EQ, x, y, known);
    if (*known >= 0) equal = build_bool(b, *known);
  }
  *known = -1;
  equal = build_binary(b, KO_AND, build_binary(b, KO_AND, left, right), equal);
  if (left == K_ALL || right == K_ALL) return equal;
  k_value neither = build_unary(b, KO_NOT, build_binary(b, KO_OR, left, right));
  return build_binary(b, KO_OR, equal, neither);
}

k_value maybe_truth(struct front *f, struct val x) {
  assert(val_is_maybe(x));
  bool boolean = x.kind == VAL_VALUE && !x.names && val_type(f, x) == KT_BOOL;
  return boolean ? build_binary(f->b, KO_AND, x.present, x.value) : x.present;
}
