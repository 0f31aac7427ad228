/* Elements of the world's arrays. */
#include "front/front.h"

#include "core/base/types.h"
#include "core/store/array.h"
#include "core/store/component.h"

static k_column element_type(struct front *f, const struct component *array) {
  const struct leaf *leaf = &array->leaves[ARRAY_LEAF];
  enum type_column column = type_column(leaf->type, leaf->size);
  if (column == COLUMN_NONE || column == COLUMN_ENTITY)
    front_refuse(f, "it reads the array '%s', which is %s", array->name, type_name(leaf->type));
  return access_column_type(f, array, leaf);
}

/* The number of an array in the program. */
static uint32_t find_array(struct front *f, const struct component *array) {
  uint32_t i = 0;
  while (i < f->array_count && f->arrays[i] != array->id) i++;
  if (i < f->array_count) return i;
  if (i == FRONT_ARRAYS) front_refuse(f, "it reads too many arrays: write it as two systems");
  uint32_t number = build_array(f->b, element_type(f, array));
  assert(number == i || number == NONE);
  (void)number;
  f->arrays[f->array_count++] = array->id;
  return i;
}

struct val element_at(struct front *f, struct val array, struct val index) {
  const struct component *component = array.component;
  if (f->result != RESULT_NONE)
    front_refuse(f, "it reads the array '%s', and its result is used", component->name);
  if (!val_is_number(f, index))
    front_refuse(f, "it takes an element of the array '%s' that is not named by a number",
                 component->name);
  uint32_t number = find_array(f, component);
  k_value at = number_as(f, index, KT_I64);
  return val_number(f, build_element(f->b, number, at), false);
}

struct val element_key(struct front *f, struct val array, const struct constant *key) {
  if (key->type == CONST_INTEGER)
    return element_at(f, array, val_number(f, build_i64(f->b, key->integer), true));
  if (key->type == CONST_FLOAT)
    return element_at(f, array, val_number(f, build_f64(f->b, key->number), true));
  front_refuse(f, "it calls a method of the array '%s', or takes an element that is not named by "
                  "a number", array.component->name);
}
