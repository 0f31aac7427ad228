/* Classes: what an access may reach, which is a field of a component, an array or a field of a
** resource. A class is shared if the function writes it and also uses it other than as the row's
** own. Its cells are accessed in program order, row by row, so each row sees what earlier rows have
** written. Shared classes are found by compiling: when a class turns out to be shared, the function
** is compiled again with all accesses to it ordered from the start. */
#include "front/front.h"

#include "core/base/types.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"

/* The number of a shared class, or the count of classes if this one is not shared. The elements of
** an array field are one class. */
static uint32_t class_find(const struct front *f, const struct component *component,
                           uint32_t leaf) {
  const struct front_classes *shared = &f->shared;
  uint32_t i = 0;
  leaf = component_first_leaf(component, leaf);
  while (i < shared->count &&
         (shared->list[i].component != component->id || shared->list[i].leaf != leaf))
    i++;
  return i;
}

bool class_is_shared(const struct front *f, const struct component *component, uint32_t leaf) {
  const struct front_classes *shared = &f->shared;
  if (shared->all) return f->result <= RESULT_MAP;
  return shared->ordered && class_find(f, component, leaf) < shared->count;
}

bool class_is_written(const struct front *f, const struct component *component, uint32_t leaf) {
  return class_find(f, component, leaf) < f->shared.count;
}

void class_note_line(struct front *f, const struct component *component, uint32_t leaf,
                     bool writes) {
  uint32_t i = class_find(f, component, leaf);
  if (i == f->shared.count) return;
  struct front_class *found = &f->shared.list[i];
  uint32_t *line = writes ? &found->write_line : &found->read_line;
  if (*line == 0) *line = front_tag(f);
}

void class_share(struct front *f, const struct component *component, uint32_t leaf) {
  struct front_classes *shared = &f->shared;
  if (class_is_written(f, component, leaf) && class_is_shared(f, component, leaf)) return;
  if (shared->count == FRONT_CLASSES)
    front_refuse(f, "it writes to too many fields and arrays that it also reads from other rows: "
                    "write it as two systems");
  shared->list[shared->count++] =
      (struct front_class){component->id, component_first_leaf(component, leaf), 0, 0};
  f->wants_classes = true;
  if (!shared->ordered) front_refuse(f, "its rows see what earlier rows have written");
}

/* The addresses of a column's cells, as a value: a column of their own. */
k_value class_cells(struct front *f, uint32_t column) {
  struct run_column cells = f->cells[column];
  struct front_column places = f->columns[column];
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->columns[i].type >= KC_CELLS && f->cells[i].slot == cells.slot &&
        f->cells[i].leaf == cells.leaf)
      return build_load(f->b, f->columns[i].number);
  k_column type = places.type == KC_ENTITY ? KC_I64 : places.type;
  places = (struct front_column){.type = (k_column)(KC_CELLS | type)};
  return build_load(f->b, f->columns[access_new_column(f, cells, places)].number);
}

/* The cell of a leaf at the place of a component. */
k_value class_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                      k_value place) {
  k_column type = access_cell_type(f, component, leaf);
  struct run_lookup lookup = {LOOKUP_AT, component->id, leaf};
  return reach_look(f, lookup, KC_CELLS | (type == KC_ENTITY ? KC_I64 : (uint32_t)type), place);
}

struct val class_get(struct front *f, const struct component *component, uint32_t leaf,
                     k_value cell) {
  const struct leaf *field = &component->leaves[leaf];
  class_note_line(f, component, leaf, false);
  order_check_read(f, component, leaf);
  struct val value = val_of_field(f, field, build_get(f->b, cell), false);
  if (value.entity) value.value = reach_live(f, value.value);
  return value;
}

struct val class_get_column(struct front *f, uint32_t column) {
  const struct front_column *of = &f->columns[column];
  return class_get(f, of->component, of->component_leaf, class_cells(f, column));
}

/* Converts a value for the cells of a field. */
static k_value class_fit(struct front *f, const struct component *component, uint32_t leaf,
                         struct val value) {
  const struct leaf *field = &component->leaves[leaf];
  if (f->shared.all) class_share(f, component, leaf);   /* for a table from world:read */
  class_note_line(f, component, leaf, true);
  order_check_read(f, component, leaf);
  if (value.spawned)
    front_refuse(f, "it stores the id of a spawned entity in '%s', which it also reads or indexes "
                    "by a variable: do one of the two in a second system", component->name);
  k_column type = access_cell_type(f, component, leaf);
  if (type == KC_F32) type = KC_F64;   /* the type in which cells are set */
  k_value fits = access_fit(f, field, type, maybe_need(f, value));
  return build_type(f->b, fits) == KT_F32 ? build_convert(f->b, KT_F64, fits) : fits;
}

static void class_set(struct front *f, const struct component *component, uint32_t leaf,
                      k_value cell, struct val value) {
  build_set(f->b, cell, class_fit(f, component, leaf, value));
}

void class_set_column(struct front *f, uint32_t column, struct val value) {
  struct front_column *to = &f->columns[column];
  to->folded = true;
  class_set(f, to->component, to->component_leaf, class_cells(f, column), value);
}

void class_set_element(struct front *f, const struct component *array, uint32_t leaf,
                       k_value index, struct val value) {
  uint32_t number = element_array(f, array, leaf);
  f->arrays[number].written = true;
  if (array->length) build_need(f->b, element_inside(f, array, number, index));
  class_set(f, array, leaf, build_cell(f->b, number, index), value);
}

void class_copy(struct front *f, const struct component *to, const struct component *from) {
  uint32_t number = element_array(f, to, ARRAY_LEAF), other = element_array(f, from, ARRAY_LEAF);
  class_share(f, to, ARRAY_LEAF);
  class_note_line(f, to, ARRAY_LEAF, true);
  f->arrays[number].written = f->arrays[other].read = true;
  build_lay(f->b, number, other);
}

/* Checks that a view from outside may be written. */
static void class_check_outside(struct front *f, const struct component *component,
                                bool read_only) {
  if (read_only) front_refuse(f, "it writes to '%s', which is read-only (:in)", component->name);
  if (component->watched)
    front_refuse(f, "it writes to '%s' of a row of another loop, and ':changed' watches it: keep "
                    "the value in a local, and write it after the loop", component->name);
}

void class_set_place(struct front *f, struct val element, struct val value) {
  const struct component *component = element.root;
  if (element.of == VAL_TABLE)
    front_refuse(f, "it writes to '%s' of a table from world:read: use world:set",
                 component->leaves[element.leaf].name);
  bool shown = element.of == VAL_QUERY || element.of == VAL_PATH;
  if (element.of == VAL_QUERY && !f->once)
    partner_refuse_loop(f, component, element.leaf, "writes to");
  if (shown) class_check_outside(f, component, element.slot);
  if (element.of == VAL_RESOURCE) steps_check_write(f, component, element.leaf);
  class_share(f, component, element.leaf);
  if (element.of == VAL_RESOURCE)
    f->arrays[element_array(f, component, element.leaf)].written = true;
  else if (!shown)
    (void)access_written(f, element, element.leaf);
  build_at(f->b, f->env.mask, front_tag(f));
  class_set(f, component, element.leaf,
            class_cell_at(f, component, element.leaf, field_place(f, element)), value);
}

void class_set_chosen(struct front *f, struct val element, uint32_t count, struct val value) {
  k_value fits = class_fit(f, element.root, element.leaf, value);
  for (uint32_t i = 0; i < count; i++) {
    struct val one = field_choice(element, i);
    uint32_t column = access_written(f, one, one.leaf);
    k_value named = build_binary(f->b, KO_EQ, element.value, build_i64(f->b, i));
    build_at(f->b, mask_and(f, f->env.mask, named), front_tag(f));
    build_set(f->b, class_cells(f, column), fits);
  }
}
