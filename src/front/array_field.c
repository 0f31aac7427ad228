/* Each element of an array field has a column of its own: which of them a row has named is chosen
** by the bits of its index. */
#include "front/array_field.h"

#include "core/storage/fields.h"

static uint32_t count_of(struct val view) {
  assert(is_array_field(view) && view.array->count > 0);
  return view.array->count;
}

/* The index, from 0, and in *inside where there is such an element. */
static k_value array_field_place(struct front *f, struct val view, struct val index,
                                 k_value *inside) {
  if (view.array->nested)
    front_refuse(f, "it takes an element of '%s', which has fields, by a variable: write the index "
                    "itself", view.array->name);
  index = maybe_need(f, index);
  if (!val_is_number(f, index))
    front_refuse(f, "it takes an element of '%s' that is not named by a number", view.array->name);
  k_value whole, from_one = element_place(f, index, &whole);
  build_need(f->b, whole);   /* a view takes no other numbers */
  k_value at = build_binary(f->b, KO_SUB, from_one, build_i64(f->b, 1));
  *inside = build_binary(f->b, KO_ULT, at, build_i64(f->b, count_of(view)));
  return at;
}

/* Chooses one of so many values, which are lost, by a number from 0. */
static k_value array_field_choose(struct front *f, k_value *values, uint32_t count, k_value at) {
  struct builder *b = f->b;
  for (int64_t bit = 1; count > 1; bit *= 2) {
    k_value set = build_binary(b, KO_BAND, at, build_i64(b, bit));
    k_value odd = build_binary(b, KO_NE, set, build_i64(b, 0));
    for (uint32_t i = 0; i < count; i += 2)
      values[i / 2] = i + 1 < count ? build_select(b, odd, values[i + 1], values[i]) : values[i];
    count = (count + 1) / 2;
  }
  return values[0];
}

struct val array_field_at(struct front *f, struct val view, struct val index) {
  k_value inside, at = array_field_place(f, view, index, &inside), values[RUN_COLUMNS];
  uint32_t count = count_of(view);
  struct val element = {.kind = VAL_NIL};
  for (uint32_t i = 0; i < count; i++) {
    const struct constant key = {.type = CONST_INTEGER, .integer = (int64_t)i + 1};
    element = access_key(f, view, &key);   /* refuses more than there are columns */
    assert(i < RUN_COLUMNS);
    values[i] = element.value;
  }
  element.value = array_field_choose(f, values, count, at);
  element.present = inside;
  element.chain = 0;
  return element;
}

/* What an element has now. */
static k_value array_field_now(struct front *f, uint32_t column) {
  if (f->env.fields[column] != K_NONE) return f->env.fields[column];
  return build_load(f->b, f->columns[column].number);
}

void array_field_store(struct front *f, struct val view, struct val index, struct val value) {
  struct builder *b = f->b;
  k_value inside, at = array_field_place(f, view, index, &inside), fits = K_NONE;
  uint32_t count = count_of(view);
  value = maybe_need(f, value);
  build_need(b, inside);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t column = access_written(f, view, view.leaf + i);
    if (i == 0) {
      build_at(b, f->env.mask, front_tag(f) | (column + 1) << TAG_LINES);
      fits = access_fit(f, &view.root->leaves[view.leaf], f->columns[column].type, value);
    }
    k_value named = build_binary(b, KO_EQ, at, build_i64(b, i));
    f->env.fields[column] = build_select(b, named, fits, array_field_now(f, column));
  }
}
