/* Elements of array fields, of views, resources and tables from world:read, at an index that may
** differ from row to row. Each element has its own column, or uniform: the bits of the index choose
** among them. If that takes too many, the array is long, or rows run one by one anyway, elements of
** the row's own entity and of resources are looked up; those of other entities always are. So are
** elements that have fields. */
#include "front/front.h"

#include "core/query/query.h"
#include "core/storage/component.h"

#define ARRAY_FIELD_SHORT 8
#define ARRAY_FIELD_LONG 32

/* ---- places ---- */

struct val field_element(struct front *f, struct val view, k_value inside, k_value at,
                         uint32_t leaves) {
  struct builder *b = f->b;
  struct val element = view;
  k_value here = f->env.mask;
  if (view.kind != VAL_ELEMENT) {
    f->env.mask = K_ALL;         /* once, for all rows */
    element.value = view.kind == VAL_RESOURCE
                        ? build_i64(b, PLACE_RESOURCE)
                        : reach_place_of(f, access_row_entity(f), view.root, LOOKUP_PLACE);
    f->env.mask = here;
    element.kind = VAL_ELEMENT;
    element.at = view.kind;
  }
  if (inside != K_ALL) at = build_select(b, inside, at, build_i64(b, 0));
  at = build_binary(b, KO_MUL, at, build_i64(b, (int64_t)leaves << PLACE_ELEMENT));
  element.value = build_binary(b, KO_ADD, element.value, at);
  element.present = inside;
  return element;
}

k_value field_place(struct front *f, struct val element) {
  if (!element.carried) return element.value;
  return build_select(f->b, f->env.mask, element.value, build_i64(f->b, PLACE_ABSENT));
}

struct val field_value(struct front *f, struct val element, k_value present) {
  const struct component *component = element.root;
  const char *name = component->leaves[element.leaf].name;
  if (element.at == VAL_VIEW) access_looked_up(f, element);
  if (element.at == VAL_TABLE && class_is_written(f, component, element.leaf))
    front_refuse(f, "it reads '%s' of a table from world:read, and writes '%s.%s': write "
                    "world:get(e, \"%s.%s\")", name, component->name, name, component->name, name);
  return reach_cell_at(f, component, element.leaf, field_place(f, element), present);
}

/* Whether elements of an array field can be looked up by their places. */
static bool field_has_places(const struct front *f, struct val view) {
  if (view.kind == VAL_ELEMENT) return true;
  if (f->result == RESULT_KEY || view.kind == VAL_PARTNER) return false;
  return view.kind == VAL_RESOURCE ||
         (!f->query->terms.event && term_is_own(front_term(f, view.slot)));
}

bool array_field_join(struct front *f, struct val *x, struct val *y) {
  bool places = x->kind == VAL_ELEMENT || y->kind == VAL_ELEMENT || x->leaf != y->leaf;
  bool alike = places && val_is_view(*x) && val_is_view(*y) && x->component &&
               x->root == y->root && x->component == y->component && x->slot == y->slot &&
               !x->array && !y->array && component_same_field(x->root, x->leaf, y->leaf);
  for (int i = 0; alike && i < 2; i++) {
    struct val *of = i ? y : x;
    uint32_t first = component_first_leaf(of->root, of->leaf), leaves = of->leaf - first;
    alike = of->kind == VAL_ELEMENT || (field_has_places(f, *of) && leaves < PLACE_ELEMENTS);
    if (!alike || of->kind == VAL_ELEMENT) continue;
    *of = field_element(f, *of, K_ALL, build_i64(f->b, 1), leaves);
    of->leaf = first;
  }
  return alike && val_same_but_for_place(*x, *y);
}

/* ---- reads and writes ---- */

static uint32_t field_count_of(struct val view) {
  assert(view.array && view.array->count > 0);
  return view.array->count;
}

/* The index, from 0, and in *inside whether there is such an element. */
static k_value field_index(struct front *f, struct val view, struct val index, k_value *inside) {
  index = maybe_need(f, index);
  if (!val_is_number(f, index))
    front_refuse(f, "it indexes '%s' by something that is not a number", view.array->name);
  k_value whole, from_one = element_place(f, index, &whole);
  build_need(f->b, whole);   /* a view takes no other numbers */
  k_value at = build_binary(f->b, KO_SUB, from_one, build_i64(f->b, 1));
  uint32_t count = field_count_of(view);
  int64_t span[2];
  *inside = build_between(f->b, from_one, 1, count, span)
                ? K_ALL : build_binary(f->b, KO_ULT, at, build_i64(f->b, count));
  return at;
}

/* Selects one of the values, which are overwritten, by a number from 0. */
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

static bool field_is_looked_up(struct front *f, struct val view) {
  uint32_t count = field_count_of(view);
  if (view.kind == VAL_ELEMENT) return true;
  if (view.kind == VAL_RESOURCE && class_is_shared(f, view.root, view.leaf)) return true;
  bool possible = count > ARRAY_FIELD_SHORT && view.array->type != ECS_STRING &&
                  field_has_places(f, view);
  f->chooses |= possible;
  return possible && (f->shared.looks_up || f->shared.count || count > ARRAY_FIELD_LONG);
}

/* An element that has fields. */
static struct val field_nested_at(struct front *f, struct val view, k_value inside, k_value at) {
  const struct field *array = view.array;
  if (!field_has_places(f, view) || array->leaf_count >= PLACE_ELEMENTS)
    front_refuse(f, "it indexes '%s', whose elements have fields, by a variable: write the index "
                    "as a constant", array->name);
  struct val element = field_element(f, view, inside, at, array->leaf_count / array->count);
  element.component = array->nested;
  element.array = NULL;
  return element;
}

struct val array_field_at(struct front *f, struct val view, struct val index) {
  view = maybe_need(f, view);
  k_value inside, at = field_index(f, view, index, &inside), values[RUN_COLUMNS];
  uint32_t count = field_count_of(view);
  struct val element = {.kind = VAL_NIL};
  if (view.array->nested) return field_nested_at(f, view, inside, at);
  if (field_is_looked_up(f, view))
    return field_value(f, field_element(f, view, inside, at, 1), inside);
  if (count > RUN_COLUMNS)
    front_refuse(f, "it uses more than %d fields: write it as two systems", RUN_COLUMNS);
  for (uint32_t i = 0; i < count; i++) {
    const struct constant key = {.type = CONST_INTEGER, .integer = (int64_t)i + 1};
    element = access_key(f, view, &key);
    values[i] = element.value;
  }
  element.value = field_choose(f, values, count, at);
  element.present = inside;
  element.chain = 0;
  element.soft = false;
  return element;
}

void array_field_store(struct front *f, struct val view, struct val index, struct val value) {
  struct builder *b = f->b;
  view = maybe_need(f, view);
  k_value inside, at = field_index(f, view, index, &inside), fits = K_NONE;
  uint32_t count = field_count_of(view);
  if (view.array->nested) front_refuse(f, "it sets an array or nested component as a whole");
  value = maybe_need(f, value);
  build_need(b, inside);
  if (view.kind == VAL_RESOURCE || field_is_looked_up(f, view)) {
    class_set_place(f, field_element(f, view, inside, at, 1), value);
    return;
  }
  if (class_is_shared(f, view.root, view.leaf)) {
    class_set_one(f, view, at, count, value);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t column = access_written(f, view, view.leaf + i);
    if (i == 0) {
      build_at(b, f->env.mask, front_tag(f) | (column + 1) << TAG_LINES);
      fits = access_fit(f, &view.root->leaves[view.leaf], f->columns[column].type, value);
    }
    k_value named = build_binary(b, KO_EQ, at, build_i64(b, i));
    f->env.fields[column] = build_select(b, named, fits, env_field(f, &f->env, column));
  }
}
