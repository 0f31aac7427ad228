/* Elements of array fields, in views, resources and tables from world:read, at an index that may
** differ from row to row. Each element has its own column, or uniform: the bits of the index choose
** among them. If that takes too many, the array is long, or rows run one by one anyway, elements of
** the row's own entity and of resources are looked up; those of tables from world:read, and of
** arrays within elements, always are. */
#include "front/front.h"

#include "core/query/query.h"
#include "core/storage/component.h"

#define ARRAY_FIELD_SHORT 8
#define ARRAY_FIELD_LONG 32

/* ---- elements ---- */

/* The leaves of each element. */
static uint32_t field_stride(const struct field *array) {
  assert(array->count > 0);
  return array->leaf_count / array->count;
}

/* Whether elements or array fields in such a view have places at which they can be looked up. */
static bool field_has_places(const struct front *f, const struct val *of, uint8_t kind) {
  if (kind == VAL_TABLE || kind == VAL_QUERY || kind == VAL_PATH) return true;
  if (f->result == RESULT_KEY || kind == VAL_PARTNER) return false;
  if (kind == VAL_RESOURCE) return true;
  return !f->query->terms.event && term_is_own(front_term(f, of->slot));
}

k_value field_move(struct front *f, k_value place, k_value elements, uint32_t leaves) {
  k_value each = build_i64(f->b, (int64_t)leaves << PLACE_ELEMENT);
  return build_binary(f->b, KO_ADD, place, build_binary(f->b, KO_MUL, elements, each));
}

k_value field_place(struct front *f, struct val element) {
  const struct field *array = element.within;
  k_value value = element.value, here = f->env.mask;
  if (element.carried)
    value = build_select(f->b, here, value, build_i64(f->b, array ? 0 : PLACE_ABSENT));
  if (!array) return value;
  f->env.mask = K_ALL;         /* once, for all rows */
  k_value place = element.of == VAL_RESOURCE
                      ? build_i64(f->b, PLACE_RESOURCE)
                      : reach_place_of(f, access_row_entity(f), element.root, LOOKUP_PLACE);
  f->env.mask = here;
  return field_move(f, place, value, field_stride(array));
}

/* The element at an index from 0; in rows outside of `inside`, the first one. */
static struct val field_element(struct front *f, struct val view, k_value inside, k_value at) {
  const struct field *array = view.array;
  struct val element = view;
  if (inside != K_ALL) at = build_select(f->b, inside, at, build_i64(f->b, 0));
  element.kind = VAL_ELEMENT;
  element.component = array->nested;
  element.array = NULL;
  element.value = at;
  element.present = inside;
  if (view.kind != VAL_ELEMENT) {
    element.of = view.kind;
    element.within = array;
    element.copy = view.kind == VAL_PARTNER ? view.value : K_NONE;
  } else {
    if (!field_has_places(f, &view, view.of))
      front_refuse(f, "it indexes '%s', an array in an element of an array of another entity, by a "
                      "variable: write the index as a constant", array->name);
    element.within = NULL;
    element.value = field_move(f, field_place(f, view), at, field_stride(array));
    element.carried = false;
  }
  if (array->nested && array->leaf_count >= PLACE_ELEMENTS)
    front_refuse(f, "it indexes '%s', whose elements have more than %d values in all, by a "
                    "variable: make them entities, or write the index as a constant", array->name,
                 (int)PLACE_ELEMENTS - 1);
  return element;
}

/* Whether the element is looked up instead of chosen. */
static bool field_is_looked_up(struct front *f, const struct val *element) {
  const struct field *array = element->within;
  if (!array) return true;
  if (!field_has_places(f, element, element->of)) return false;
  bool text = element->root->leaves[element->leaf].type == ECS_STRING;
  if (element->of == VAL_RESOURCE && class_is_shared(f, element->root, element->leaf)) return true;
  bool possible = array->count > ARRAY_FIELD_SHORT && !text;
  f->chooses |= possible;
  return possible && (f->shared.looks_up || f->shared.count || array->count > ARRAY_FIELD_LONG);
}

/* How many elements there are to choose among. */
static uint32_t field_choices(struct front *f, const struct val *element) {
  uint32_t count = element->within->count;
  if (count > RUN_COLUMNS)
    front_refuse(f, "it uses more than %d fields: write it as two systems", RUN_COLUMNS);
  return count;
}

struct val field_choice(struct val element, uint32_t i) {
  element.kind = element.of;
  element.value = element.copy;
  element.present = K_ALL;
  element.leaf += i * field_stride(element.within);
  return element;
}

/* Selects one of the values by a number from 0; overwrites them. */
static k_value field_choose(struct front *f, k_value *values, uint32_t count, k_value at) {
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

bool array_field_join(struct front *f, struct val *x, struct val *y) {
  const struct val *some = x->kind == VAL_ELEMENT ? x : y;
  if (!val_is_view(*x) || !val_is_view(*y) || !x->component || x->array || y->array) return false;
  if (x->root != y->root || x->component != y->component || x->slot != y->slot) return false;
  const struct field *array = some->within;
  if (some->kind != VAL_ELEMENT) {
    array = &x->root->fields[x->root->leaves[x->leaf].field];
    if (x->leaf == y->leaf || !array->count || array->nested != x->component) return false;
  }
  for (int i = 0; i < 2; i++) {
    struct val *one = i ? y : x;
    if (one->kind == VAL_ELEMENT) continue;
    if (!array) return false;
    uint32_t first = component_first_leaf(one->root, one->leaf);
    uint32_t at = (one->leaf - first) / field_stride(array);
    struct val list = *one;
    list.array = array;
    list.leaf = first;
    *one = field_element(f, list, K_ALL, build_i64(f->b, at));
  }
  return val_same_but_for_place(*x, *y);
}

/* ---- reads and writes ---- */

struct val field_value(struct front *f, struct val element, k_value present) {
  const struct component *component = element.root;
  const char *name = component->leaves[element.leaf].name;
  if (!field_is_looked_up(f, &element)) {
    k_value values[RUN_COLUMNS] = {K_NONE};
    uint32_t count = field_choices(f, &element);
    struct val value = {.kind = VAL_NIL};
    for (uint32_t i = 0; i < count; i++) {
      value = access_leaf(f, field_choice(element, i));
      values[i] = value.value;
    }
    value.value = field_choose(f, values, count, element.value);
    value.present = present;
    value.chain = 0;
    value.soft = false;
    return value;
  }
  if (element.of == VAL_VIEW) access_looked_up(f, element);
  if (element.of == VAL_QUERY) partner_need_unshared(f, component, element.leaf);
  if (element.of == VAL_TABLE && class_is_written(f, component, element.leaf))
    front_refuse(f, "it reads '%s' of a table from world:read, and writes '%s.%s': write "
                    "world:get(e, \"%s.%s\")", name, component->name, name, component->name, name);
  return reach_cell_at(f, component, element.leaf, field_place(f, element), present);
}

/* Stores to each column that the element may be in. */
static void field_store_chosen(struct front *f, struct val element, struct val value) {
  struct builder *b = f->b;
  uint32_t count = field_choices(f, &element);
  k_value fits = K_NONE;
  for (uint32_t i = 0; i < count; i++) {
    struct val one = field_choice(element, i);
    uint32_t column = access_written(f, one, one.leaf);
    if (i == 0) {
      build_at(b, f->env.mask, front_tag(f));
      fits = access_fit(f, &one.root->leaves[one.leaf], f->columns[column].type, value);
    }
    k_value named = build_binary(b, KO_EQ, element.value, build_i64(b, i));
    f->env.fields[column] = build_select(b, named, fits, env_field(f, &f->env, column));
  }
}

void field_store(struct front *f, struct val element, struct val value) {
  value = maybe_need(f, value);
  if (element.of == VAL_RESOURCE || field_is_looked_up(f, &element))
    class_set_place(f, element, value);
  else if (class_is_shared(f, element.root, element.leaf))
    class_set_chosen(f, element, field_choices(f, &element), value);
  else
    field_store_chosen(f, element, value);
}

/* The index, from 0, and in *inside whether there is such an element. */
static k_value field_index(struct front *f, struct val view, struct val index, k_value *inside) {
  index = maybe_need(f, index);
  if (!val_is_number(f, index))
    front_refuse(f, "it indexes '%s' by something that is not a number", view.array->name);
  k_value whole, from_one = element_place(f, index, &whole);
  build_need(f->b, whole);   /* a view takes no other numbers */
  k_value at = build_binary(f->b, KO_SUB, from_one, build_i64(f->b, 1));
  uint32_t count = view.array->count;
  int64_t span[2];
  *inside = build_between(f->b, from_one, 1, count, span)
                ? K_ALL : build_binary(f->b, KO_ULT, at, build_i64(f->b, count));
  return at;
}

struct val array_field_at(struct front *f, struct val view, struct val index) {
  view = maybe_need(f, view);
  k_value inside, at = field_index(f, view, index, &inside);
  struct val element = field_element(f, view, inside, at);
  return element.component ? element : field_value(f, element, inside);
}

void array_field_store(struct front *f, struct val view, struct val index, struct val value) {
  view = maybe_need(f, view);
  k_value inside, at = field_index(f, view, index, &inside);
  if (view.array->nested) front_refuse(f, "it sets an array or nested component as a whole");
  value = maybe_need(f, value);
  build_need(f->b, inside);
  field_store(f, field_element(f, view, inside, at), value);
}
