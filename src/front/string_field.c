/* String fields. Their cells are numbers in the world's table of strings, where each text stands
** once: equal texts are equal numbers. A string of the function is looked up there, and entered if
** need be, before each table is run over: nothing sweeps the strings until that ends. */
#include "front/front.h"

#include "core/base/enumeration.h"

const struct enumeration front_texts = {NULL, 0, NULL, 0};

k_value text_guard(struct front *f, enum guard_type type, ecs_string text) {
  uint16_t same = outside_string(f, text.data, text.size);
  uint32_t i = 0;
  while (i < f->guard_count && (f->guards[i].type != type || f->guards[i].same != same)) i++;
  f->fleeting = i == FRONT_GUARDS;
  if (f->fleeting)
    front_refuse(f, "it uses too many values from outside: write it as two systems");
  if (i == f->guard_count)
    f->guards[f->guard_count++] =
        (struct guard){.type = type, .same = same, .uniform = outside_uniform(f)};
  assert(f->guards[i].uniform >= 0);
  return build_uniform(f->b, (uint32_t)f->guards[i].uniform, KT_I64);
}

k_value text_constant(struct front *f, ecs_string text) {
  return text.size ? text_guard(f, GUARD_TEXT, text) : build_i64(f->b, 0);
}

k_value text_as_cell(struct front *f, struct val value) {
  if (val_is_text(value)) return choice_as_enum(f, value, &front_texts, false);
  if (value.kind == VAL_VALUE && value.names == &front_texts) return value.value;
  front_refuse(f, "it sets a string field to something else than a string of its own or a string "
                  "field");
}
