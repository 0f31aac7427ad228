#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"
#include "front/front.h"

/* Reads and writes of the row's values: fields of views and resources. What a view's key leads to
** becomes a column of the program or a uniform; a store is kept in the environment until the
** function ends. */

/* ---- columns ---- */

const struct term *front_term(const struct front *f, uint32_t slot) {
  return query_term_of(&f->query->terms, slot);
}

k_column access_column_type(struct front *f, const struct component *component,
                            const struct leaf *leaf) {
  static const k_column columns[COLUMN_COUNT] = {
      [COLUMN_F32] = KC_F32, [COLUMN_F64] = KC_F64, [COLUMN_I8] = KC_I8,
      [COLUMN_I16] = KC_I16, [COLUMN_I32] = KC_I32, [COLUMN_I64] = KC_I64,
      [COLUMN_U8] = KC_U8, [COLUMN_U16] = KC_U16, [COLUMN_U32] = KC_U32,
      [COLUMN_BOOL] = KC_BOOL, [COLUMN_ENTITY] = KC_ENTITY};
  enum type_column column = type_column(leaf->type, leaf->size);
  if (column == COLUMN_NONE)
    front_refuse(f, "it uses field '%s.%s', which is %s: kernels take only numbers, booleans, "
                    "enums and entities", component->name, leaf->name, type_name(leaf->type));
  return columns[column];
}

k_column access_cell_type(struct front *f, const struct component *component, uint32_t leaf) {
  const struct leaf *field = &component->leaves[leaf];
  return field->type == ECS_STRING ? KC_U32 : access_column_type(f, component, field);
}

uint32_t access_new_column(struct front *f, struct run_column cells,
                           struct front_column column) {
  if (f->column_count == RUN_COLUMNS)
    front_refuse(f, "it uses more than %d fields: write it as two systems", RUN_COLUMNS);
  column.number = build_column(f->b, column.type);
  assert(column.number == f->column_count || column.number == NONE);
  f->columns[f->column_count] = column;
  f->cells[f->column_count] = cells;
  return f->column_count++;
}

/* The number of a term's field in the list of the kernel's columns. */
static uint32_t access_find_column(struct front *f, uint32_t slot, uint32_t leaf,
                                   const struct component *component, uint32_t component_leaf) {
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->cells[i].slot == slot && f->cells[i].leaf == leaf && f->columns[i].type < KC_CELLS)
      return i;
  k_column type = access_cell_type(f, component, component_leaf);
  return access_new_column(f, (struct run_column){slot, leaf},
                           (struct front_column){.component = component,
                                                 .component_leaf = component_leaf, .type = type});
}

/* Terms may name the same component, or a field of one: then they share one column, that of the
** first term. Returns its slot. */
static uint32_t access_first_slot(const struct front *f, uint32_t slot, uint32_t leaf) {
  const struct term *term = front_term(f, slot);
  assert(term);
  for (uint32_t i = 0; i < slot; i++) {
    const struct term *other = front_term(f, i);
    bool covers = other->leaf == NONE || other->leaf == leaf;
    if (term_is_by_row(other) && term_may_lack(other) && !(f->present >> i & 1)) continue;
    bool same = (term_is_own(other) && term_is_own(term)) ||
                (term_is_known(other) && term_is_known(term));
    if (other->id == term->id && same && covers) return i;
  }
  return slot;
}

/* The number of the column of a leaf of a term's component. */
static uint32_t access_column_of(struct front *f, uint32_t slot, uint32_t leaf) {
  slot = access_first_slot(f, slot, leaf);
  const struct term *term = front_term(f, slot);
  uint32_t start = term->leaf == NONE ? 0 : term->leaf;
  return access_find_column(f, slot, leaf - start, term->component, leaf);
}

/* Whether a term's cells belong to another entity: along a path, or a variable's. */
static bool access_is_of_other(const struct front *f, uint32_t slot) {
  const struct term *term = front_term(f, slot);
  return term->form == TERM_PATH || term->form == TERM_OF;
}

/* Until the body of a `for` is compiled, Lua computes it in doubles: its program does, too. */
struct val val_of_field(struct front *f, const struct leaf *field, k_value cell, bool soft) {
  bool widens = f->body_line && field->type == ECS_F32 && build_type(f->b, cell) == KT_F32;
  if (widens) cell = build_convert(f->b, KT_F64, cell);
  struct val value = val_number(f, cell, soft);
  value.names = field->type == ECS_ENUM ? choice_names(f, field->names) : NULL;
  if (field->type == ECS_STRING) value.names = &front_texts;
  value.entity = field->type == ECS_ENTITY;
  value.bits = mixed_bits_of(field->type);
  bool wide = field->type == ECS_I64 || field->type == ECS_U64;
  return NUMBERS_ARE_DOUBLES && wide ? number_exact(f, value, field->type == ECS_U64) : value;
}

/* The current value of a column's field. */
static struct val access_now(struct front *f, uint32_t at) {
  const struct front_column *column = &f->columns[at];
  const struct leaf *field = &column->component->leaves[column->component_leaf];
  f->env.fields[at] = env_field(f, &f->env, at);
  return val_of_field(f, field, f->env.fields[at], false);
}

/* The value of a field of one of the query's terms. */
static struct val access_column(struct front *f, uint32_t slot, uint32_t leaf) {
  const struct component *component = front_term(f, slot)->component;
  assert(leaf < component->leaf_count);
  uint32_t at = access_column_of(f, slot, leaf);
  f->columns[at].read = true;
  order_check_read(f, component, leaf);
  if (class_is_shared(f, component, leaf)) return class_get_column(f, at);
  struct val value = access_now(f, at);
  if (!access_is_of_other(f, f->cells[at].slot)) return value;
  return steps_field(f, value, component, leaf, at + 1);
}

static uint32_t access_element_column(struct front *f, const struct component *array) {
  return access_find_column(f, RUN_ELEMENT, element_array(f, array, ARRAY_LEAF), array, ARRAY_LEAF);
}

struct val access_own_element(struct front *f, const struct component *array) {
  uint32_t at = access_element_column(f, array);
  f->columns[at].read = true;
  return access_now(f, at);
}

void access_set_own_element(struct front *f, const struct component *array, struct val value) {
  uint32_t at = access_element_column(f, array);
  f->columns[at].written = true;
  value = maybe_need(f, value);
  build_at(f->b, f->env.mask, front_tag(f));
  f->env.fields[at] = access_fit(f, &array->leaves[ARRAY_LEAF], f->columns[at].type, value);
}

/* The program's column for a fact about rows instead of a field. */
static uint32_t access_told_column(struct front *f, uint32_t slot, uint32_t leaf, k_column type) {
  uint32_t at = 0;
  while (at < f->column_count && (f->cells[at].slot != slot || f->cells[at].leaf != leaf)) at++;
  if (at == f->column_count)
    access_new_column(f, (struct run_column){slot, leaf},
                      (struct front_column){.type = type, .read = true});
  return f->columns[at].number;
}

struct val access_row_entity(struct front *f) {
  uint32_t column = access_told_column(f, NONE, 0, KC_ENTITY);
  struct val value = val_number(f, build_rows_entity(f->b, column), false);
  value.entity = value.row_entity = true;
  return value;
}

/* Whether a variable has a value in all matches that the program is for: 1, in none: 0, or in some:
** -1. */
static int access_known_bound(const struct front *f, uint32_t variable) {
  const struct query_terms *terms = &f->query->terms;
  int known = 1;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term->binds || term->variable != variable) continue;
    if (term->kind == TERM_WITH && term->group == NONE) continue;
    if (term->group != NONE || !term_may_lack(term)) return -1;
    if (!(f->present >> term->slot & 1)) known = 0;
  }
  return known;
}

/* The n-th variable of the query; nil where the term that binds it is absent. */
static struct val access_query_value(struct front *f, uint32_t n) {
  const struct query_terms *terms = &f->query->terms;
  uint32_t variable = 0;
  while (terms->variables[variable].output != n) variable++;
  assert(variable < terms->variable_count);
  int bound = access_known_bound(f, variable);
  if (bound == 0) return (struct val){.kind = VAL_NIL};
  uint32_t column = access_told_column(f, RUN_VALUE, n, KC_ENTITY);
  struct val value = val_number(f, build_rows_entity(f->b, column), false);
  value.entity = true;
  if (bound < 0)
    value.present = build_binary(f->b, KO_NE, value.value, build_i64(f->b, 0));
  return value;
}

void access_give(struct front *f, k_value number, bool integer) {
  uint32_t at = access_new_column(f, (struct run_column){.slot = RUN_RESULT},
                                  (struct front_column){.type = integer ? KC_I64 : KC_F64});
  build_store(f->b, f->columns[at].number, number);
}

/* ---- views ---- */

/* A field or element of a view, and its first leaf. */
static const struct field *access_view_field(struct front *f, struct val view,
                                             const struct constant *key, uint32_t *leaf) {
  const struct component *component = view.component;
  if (key->type != CONST_STRING) front_refuse(f, "it indexes a view by a value, not a name");
  uint32_t at = component_field(component, key->string.data, key->string.size);
  if (at == NONE) {
    component_no_field(f->world, component, key->string.data, key->string.size);
    front_refuse(f, "%s", f->world->message);
  }
  *leaf = view.leaf + component->fields[at].first_leaf;
  return &component->fields[at];
}

/* Whether a constant is a valid index of an array. */
static bool access_has_element(struct val view, const struct constant *key, int64_t *at) {
  assert(view.array && view.array->count > 0);
  *at = key->type == CONST_INTEGER ? key->integer : 0;
  if (key->type == CONST_FLOAT && !number_is_integer(key->number, at)) *at = 0;
  return *at >= 1 && *at <= view.array->count;
}

/* The first leaf of an array's element, counted from the array's first leaf. */
static uint32_t access_element(struct front *f, struct val view, const struct constant *key) {
  int64_t at;
  if (!access_has_element(view, key, &at))
    front_refuse(f, "it reads an element of '%s' that does not exist", view.array->name);
  return (uint32_t)(at - 1) * (view.array->leaf_count / view.array->count);
}

/* What a key of a view leads to: another view, or a leaf, which has neither elements nor fields. */
static struct val access_inside(struct front *f, struct val view, const struct constant *key) {
  struct val to = view;
  if (view.array) {
    to.leaf = view.leaf + access_element(f, view, key);
    to.component = view.array->nested;
    to.array = NULL;
    return to;
  }
  const struct field *field = access_view_field(f, view, key, &to.leaf);
  to.array = field->count ? field : NULL;
  to.component = field->count ? NULL : field->nested;
  return to;
}

static bool access_is_leaf(struct val view) { return !view.array && !view.component; }

/* A field of a resource: a uniform. */
static struct val access_resource_field(struct front *f, struct val at) {
  assert(at.leaf < at.root->leaf_count);
  const struct leaf *leaf = &at.root->leaves[at.leaf];
  (void)access_column_type(f, at.root, leaf);   /* refuses types without kernel columns */
  if (class_is_shared(f, at.root, at.leaf)) {
    uint32_t array = element_array(f, at.root, at.leaf);
    return class_get(f, at.root, at.leaf, build_cell(f->b, array, build_i64(f->b, 1)));
  }
  enum type_class class = type_class(leaf->type);
  k_type type = class == CLASS_FLOAT ? KT_F64 : class == CLASS_TRUTH ? KT_BOOL : KT_I64;
  uint32_t i = 0;
  while (i < f->resource_count && (f->resources[i].component != at.root->id ||
                                   f->resources[i].leaf != at.leaf))
    i++;
  if (i == f->resource_count)
    f->resources[f->resource_count++] =
        (struct resource_uniform){at.root->id, at.leaf, outside_uniform(f)};
  k_value number = build_uniform(f->b, (uint32_t)f->resources[i].uniform, type);
  return steps_field(f, val_of_field(f, leaf, number, true), at.root, at.leaf, 0);
}

/* Whether a key names an element of a table that the function also writes at a variable index. */
static bool access_is_element(struct front *f, struct val of, const struct constant *key) {
  return of.kind == VAL_PATH && key->type == CONST_INTEGER && cell_is_stored(f, of);
}

struct val access_leaf(struct front *f, struct val of) {
  if (of.kind == VAL_RESOURCE) return access_resource_field(f, of);
  if (of.kind == VAL_PARTNER) return partner_field(f, of);
  if (of.kind == VAL_ELEMENT) return field_value(f, of, K_ALL);
  return access_column(f, of.slot, of.leaf);
}

struct val access_key(struct front *f, struct val from, const struct constant *key) {
  if (access_is_element(f, from, key))
    return cell_get_element(f, from, val_number(f, build_i64(f->b, key->integer), true));
  if (from.kind == VAL_PATH) return outside_key(f, from.at, key);
  if (from.kind == VAL_WORLD) return call_method(f, from, key);
  if (from.kind == VAL_ARRAY) return call_of_array(f, from, key);
  if (from.kind == VAL_ARRAYS)
    return object_set_get(f, from, element_index(f, from, key));
  if (from.kind == VAL_RECORD) return element_of_record(f, from, key);
  if (from.kind == VAL_TABLE) return order_read(f, maybe_need(f, from), key);
  if (from.kind == VAL_LIST) return scratch_get(f, from, scratch_index(f, from, key));
  if (from.kind == VAL_ENTRY) return scratch_field(f, from, key);
  if (from.kind == VAL_INDEX || from.kind == VAL_QUERY) return partner_method(f, from, key);
  if (val_is_string(from)) {
    maybe_need(f, from);
    return outside_string_key(f, key);
  }
  if (!val_is_view(from))
    front_refuse(f, from.kind == VAL_NIL
                        ? "it takes a field of nil: is a name misspelled?"
                    : f->once && from.kind == VAL_NOTHING
                        ? "it uses its query (whose loops are compiled by themselves, from 24 rows "
                          "on), or a value that depends on the path taken"
                        : "it takes a field of something that is neither a view nor a table");
  int64_t at;
  if (from.array && key->type == CONST_INTEGER && !access_has_element(from, key, &at))
    return (struct val){.kind = VAL_NIL};
  struct val to = access_inside(f, maybe_need(f, from), key);
  return access_is_leaf(to) ? access_leaf(f, to) : to;
}

/* The number of the row's element. */
static struct val access_number(struct front *f) {
  uint32_t at = access_new_column(f, (struct run_column){.slot = RUN_NUMBER},
                                  (struct front_column){.type = KC_U32, .read = true});
  f->element = build_load(f->b, f->columns[at].number);
  struct val number = val_number(f, f->element, false);
  number.bits = MIXED_SMALL;
  return number;
}

/* The parameters of a system's run. It cannot use its query. */
static struct val access_of_run(struct front *f, uint32_t index) {
  if (index == 0) return (struct val){.kind = VAL_WORLD};
  if (index == 1) return val_number(f, build_uniform(f->b, UNIFORM_DT, KT_F64), true);
  return (struct val){.kind = VAL_NOTHING};
}

/* The mask of rows that have an optional term. */
static k_value access_there(struct front *f, uint32_t slot) {
  return build_load(f->b, access_told_column(f, RUN_THERE, slot, KC_BOOL));
}

/* The function's parameters: views, values and booleans of the terms; then dt, except for
** predicates; then the entity, except for events; then the values of the query's variables. For
** elements of an array: their number, and dt. */
struct val access_parameter(struct front *f, uint32_t index) {
  uint32_t slots = f->elements ? 1 : f->query->terms.slots;
  uint32_t entity = slots + (!RESULT_IS_ASKED(f->result) && !f->body_line);
  struct val nil = {.kind = VAL_NIL};
  if (f->once) return access_of_run(f, index);
  if (f->elements && index != 1) return index ? nil : access_number(f);
  bool event = f->query->terms.event != NULL;
  if (event && f->body_line && slots == 0 && index == 0) return val_known(f, true);
  if (index >= entity && event) return nil;
  if (index == entity) return access_row_entity(f);
  if (index == slots) return val_number(f, build_uniform(f->b, UNIFORM_DT, KT_F64), true);
  if (index > entity + f->query->terms.values) return nil;
  if (index > entity) return access_query_value(f, index - entity - 1);
  const struct term *term = front_term(f, index);
  bool maybe = f->maybe >> index & 1;
  if (term_may_lack(term) && !(f->present >> index & 1) && !maybe)
    return f->body_line ? val_known(f, false) : nil;
  struct val given = {.kind = VAL_VIEW, .slot = index, .component = term->component,
                      .root = term->component};
  if (term->leaf != NONE)
    given = access_column(f, index, term->leaf);
  else if (!term_has_cells(term, term->component))
    given = val_known(f, true);
  if (maybe) given.present = access_there(f, index);
  return given;
}

/* ---- stores ---- */

/* The value of an entity field that is set to an outside id, or to a number that may be an id: rows
** in which it is not alive fail. */
static k_value access_living_id(struct front *f, struct val id) {
  k_value live = reach_live(f, id.value);
  front_need(f, build_binary(f->b, KO_EQ, live, id.value), NEEDS_LIVE);
  return live;
}

/* Describes a value that a field does not take and, for nil, what to do about it. */
static const char *access_kind_of(const struct front *f, const struct leaf *leaf,
                                  struct val value) {
  if (value.kind == VAL_NIL && leaf->type == ECS_ENTITY) return "nil: write ecs.null";
  if (value.kind == VAL_NIL) return "nil: is a name misspelled?";
  if (val_is_text(value)) return "a string";
  if (value.kind != VAL_VALUE) return "another type";
  if (value.entity) return "an entity";
  if (val_type(f, value) == KT_BOOL) return "a boolean";
  return val_is_number(f, value) ? "a number" : "another type";
}

k_value access_fit(struct front *f, const struct leaf *leaf, k_column type, struct val value) {
  if (leaf->type == ECS_STRING) return text_as_cell(f, value);
  if (leaf->type == ECS_ENUM) {
    bool other = value.kind == VAL_VALUE && value.names && value.names != &front_texts;
    if (other && value.names == choice_names(f, leaf->names)) return value.value;
    k_value named = other || val_is_text(value) ? choice_as_enum(f, value, leaf->names, false)
                                                : K_NONE;
    if (named != K_NONE) return named;
    if (other)
      front_refuse(f, "it sets the enum field '%s' (names: '%.*s', ...) to a value of an enum that "
                      "shares no name with it (names: '%.*s', ...)", leaf->name,
                   SHOW(leaf->names->names[0]), SHOW(value.names->names[0]));
    if (value.kind != VAL_NOTHING)
      front_refuse(f, "it sets an enum field to something other than one of its names");
  }
  bool boolean = value.kind == VAL_VALUE && val_type(f, value) == KT_BOOL;
  if (leaf->type == ECS_BOOL && boolean) return value.value;
  bool entity = value.kind == VAL_VALUE && value.entity && !value.spawned;
  if (leaf->type == ECS_ENTITY && entity) return value.value;
  if (leaf->type == ECS_ENTITY && outside_null(f, value)) return build_i64(f->b, 0);
  bool integer = val_is_number(f, value) && val_type(f, value) == KT_I64 && !value.mixed;
  if (leaf->type == ECS_ENTITY && integer && !value.entity) return access_living_id(f, value);
  if (value.kind == VAL_NOTHING)
    front_refuse(f, "it sets a field of type %s to a value whose type depends on the path taken: "
                    "give it the same type on every path", type_name(leaf->type));
  if (!type_is_number(leaf->type) || !val_is_number(f, value))
    front_refuse(f, "it sets a field of type %s to %s", type_name(leaf->type),
                 access_kind_of(f, leaf, value));
  if (type_class(leaf->type) != CLASS_FLOAT) value = mixed_settle(f, value);
  return build_fit(f->b, type, value.value);
}

k_value access_noted(struct front *f, const struct component *component, uint32_t leaf,
                     struct val value) {
  k_column type = access_cell_type(f, component, leaf);
  k_value fits = access_fit(f, &component->leaves[leaf], type, value);
  return build_type(f->b, fits) == KT_F32 ? build_convert(f->b, KT_F64, fits) : fits;
}

static void access_check_writable(struct front *f, const struct term *term) {
  f->breaks_promise = term->read_only;
  if (f->breaks_promise)
    front_refuse(f, "it writes to '%s', which is read-only (:in)", term->component->name);
}

/* The column of a field that is written. */
static uint32_t access_written_column(struct front *f, uint32_t slot, uint32_t leaf) {
  uint32_t at = access_column_of(f, slot, leaf);
  assert(at < f->column_count);
  access_check_writable(f, front_term(f, slot));
  return at;
}

/* Whether all rows of the run write to a term: then no bitmap has to say which. */
static bool access_is_whole(struct front *f, uint32_t slot, k_value mask) {
  uint32_t i = 0;
  while (i < f->whole_count && f->whole[i] != slot) i++;
  if (i < f->whole_count) return true;
  if (mask != f->start || build_mark(f->b).loop != 0 || i == RUN_MARKS) return false;
  f->whole[f->whole_count++] = slot;
  return true;
}

/* Rows of the mask write to cells of a term: marks them if the term is watched. */
static void access_mark_written(struct front *f, uint32_t slot, k_value mask) {
  uint32_t i = 0;
  if (!front_term(f, slot)->component->watched || access_is_whole(f, slot, mask)) return;
  while (i < f->mark_count && f->marks[i] != slot) i++;
  if (i == RUN_MARKS)
    front_refuse(f, "it writes to too many components that ':changed' watches: write it as two "
                    "systems");
  if (i == f->mark_count) f->marks[f->mark_count++] = slot;
  build_emit_once(f->b, RUN_BITMAPS + i, mask);
}

uint32_t access_written(struct front *f, struct val view, uint32_t leaf) {
  assert((view.kind == VAL_VIEW || view.of == VAL_VIEW) && leaf < view.root->leaf_count);
  if (access_is_of_other(f, view.slot)) class_share(f, view.root, leaf);
  uint32_t at = access_written_column(f, view.slot, leaf);
  bool shared = class_is_shared(f, view.root, leaf);
  f->columns[at].written |= !shared;
  f->columns[at].folded |= shared;
  access_mark_written(f, f->cells[at].slot, f->env.mask);
  return at;
}

void access_looked_up(struct front *f, struct val view) {
  f->columns[access_column_of(f, view.slot, view.leaf)].read = true;
  order_check_read(f, view.root, view.leaf);
}

/* Stores the id of a spawned entity, which exists only once the row's orders are given. */
static void access_store_spawned(struct front *f, const struct term *term, uint32_t leaf,
                                 struct val value) {
  const char *component = term->component->name, *field = term->component->leaves[leaf].name;
  access_check_writable(f, term);
  if (!term_is_own(term))
    front_refuse(f, "it stores the id of a spawned entity in '%s.%s' of another entity: write "
                    "world:set(id, \"%s.%s\", spawned)", component, field, component, field);
  order_store(f, term->component, leaf, access_row_entity(f), value);
}

/* Sets a leaf of a term's component. */
static void access_write(struct front *f, uint32_t slot, uint32_t leaf, struct val value,
                         k_value mask) {
  const struct component *component = front_term(f, slot)->component;
  if (value.spawned) {
    access_store_spawned(f, front_term(f, slot), leaf, value);
    return;
  }
  uint32_t at = access_written_column(f, slot, leaf);
  struct front_column *column = &f->columns[at];
  access_mark_written(f, f->cells[at].slot, mask);
  if (access_is_of_other(f, f->cells[at].slot)) {
    steps_store_other(f, at, value);
    return;
  }
  if (class_is_shared(f, component, leaf)) {
    build_at(f->b, f->env.mask, front_tag(f));
    class_set_column(f, at, value);
    return;
  }
  column->written = true;
  value = maybe_need(f, value);
  build_at(f->b, f->env.mask, front_tag(f));
  f->env.fields[at] = access_fit(f, &component->leaves[leaf], column->type, value);
}

NORETURN static void access_refuse_target(struct front *f, const struct component *relation) {
  front_refuse(f, "it writes to '%s.target', which only world:add and world:set can change",
               relation->name);
}

void access_store(struct front *f, struct val view, const struct constant *key,
                  struct val value) {
  if (access_is_element(f, view, key)) {
    cell_set_element(f, view, val_number(f, build_i64(f->b, key->integer), true), value);
    return;
  }
  if (view.kind == VAL_PATH) {
    struct path path = outside_key_path(f, view.at, key);
    cell_set(f, &path, value);
    return;
  }
  if (view.kind == VAL_RECORD)
    front_refuse(f, "it writes to a table that it finds with a variable: write to a field of a "
                    "view or to an array of the world");
  if (view.kind == VAL_TABLE) {
    order_item(f, maybe_need(f, view), key, value);
    return;
  }
  if (view.kind == VAL_LIST) {
    scratch_set(f, view, scratch_index(f, view, key), value);
    return;
  }
  if (view.kind == VAL_ENTRY) {
    scratch_set_field(f, view, key, value);
    return;
  }
  if (view.kind == VAL_ARRAY || view.kind == VAL_ARRAYS) {
    struct val index = element_index(f, view, key);
    (view.kind == VAL_ARRAY ? steps_store : object_set_store)(f, view, index, value);
    return;
  }
  if (view.kind == VAL_PARTNER) partner_refuse_write(f, view, key);
  if (!val_is_view(view)) front_refuse(f, "it writes to something that is not a view");
  struct val to = access_inside(f, maybe_need(f, view), key);
  if (!access_is_leaf(to)) front_refuse(f, "it sets an array or nested component as a whole");
  if (view.kind == VAL_RESOURCE || view.kind == VAL_ELEMENT) {
    (view.kind == VAL_RESOURCE ? steps_store_field : field_store)(f, to, value);
    return;
  }
  if (leaf_is_target(to.root, to.leaf)) access_refuse_target(f, to.root);
  access_write(f, to.slot, to.leaf, value, f->env.mask);
}

/* The result for a field, or the field's old value where the result is nil. */
static struct val access_or_own(struct front *f, uint32_t slot, const struct term *term,
                                struct val value) {
  k_value there = value.present;
  if (value.kind != VAL_VALUE || !val_is_maybe(value)) return value;
  struct val own = access_column(f, slot, term->leaf);
  value.present = K_ALL;
  return val_select(f, there, value, own);
}

void access_result(struct front *f, uint32_t slot, struct val value) {
  if (slot >= f->query->terms.slots)
    front_refuse(f, "it returns more values than its query has fields");
  if (value.kind == VAL_NIL || value.kind == VAL_UNKNOWN) return;
  if (value.lacks) value = maybe_need(f, value);   /* false is not nil */
  const struct term *term = front_term(f, slot);
  const char *name = term->component->name;
  if (!term_has_cells(term, term->component))
    front_refuse(f, "it returns a value for the tag '%s': return nil in its place", name);
  if (term_may_lack(term) && !((f->present | f->maybe) >> slot & 1))
    front_refuse(f, "it returns a value for '%s' in a row that lacks it: return nil there", name);
  assert(term->leaf != NONE);
  if (leaf_is_target(term->component, term->leaf)) access_refuse_target(f, term->component);
  k_value mask = f->env.mask;
  if (value.kind == VAL_VALUE && val_is_maybe(value))
    mask = build_binary(f->b, KO_AND, mask, value.present);
  if (f->maybe >> slot & 1) {
    build_at(f->b, mask, front_tag(f));
    build_need(f->b, access_there(f, slot));
  }
  value = access_or_own(f, slot, term, value);
  if (value.kind == VAL_NOTHING)
    front_refuse(f, "the type of what it returns for '%s' depends on the path taken: return the "
                    "field's own value where it should stay", name);
  access_write(f, slot, term->leaf, value, mask);
}

/* Whether what the term reads is final before the row's turn, because parents come first. */
static bool access_is_of_parent(const struct front *f, const struct term *term) {
  const struct query_terms *terms = &f->query->terms;
  return term->form == TERM_PATH && term->through == terms->cascade && !term->nearest &&
         !terms->sources;
}

/* Whether a path of the query follows the written field and rows may match again: then the write
** redirects the next match. */
static bool access_leads_again(const struct front *f, const struct front_column *written) {
  const struct query_terms *terms = &f->query->terms;
  bool again = false, leads = false;
  for (uint32_t i = 0; i < terms->step_count; i++) {
    const struct term *term = &terms->terms[terms->steps[i]];
    again |= term_repeats(terms, term);
    leads |= term->form == TERM_PATH && term->through == written->component &&
             term->through_leaf == written->component_leaf;
  }
  return again && leads;
}

/* Shares a written field that other columns reach, too, so that no row reads it too early. */
static void access_check_owner(struct front *f, uint32_t at) {
  const struct front_column *written = &f->columns[at];
  const char *component = written->component->name;
  assert(!access_is_of_other(f, f->cells[at].slot));
  if (access_leads_again(f, written))
    front_refuse(f, "it writes to '%s.%s', which a path of its query follows, and a row may match "
                    "more than once: do that in a system without '*' and variables", component,
                 written->component->leaves[written->component_leaf].name);
  for (uint32_t i = 0; i < f->column_count; i++) {
    const struct front_column *other = &f->columns[i];
    bool shared = other->component == written->component &&
                  other->component_leaf == written->component_leaf;
    if (i == at || !shared || access_is_of_parent(f, front_term(f, f->cells[i].slot))) continue;
    class_share(f, written->component, written->component_leaf);
  }
}

bool access_leads(const struct front *f, const struct component *component, uint32_t leaf) {
  const struct query_terms *terms = &f->query->terms;
  for (uint32_t i = 0; i < terms->count; i++)
    if (terms->terms[i].form == TERM_PATH && terms->terms[i].through == component &&
        terms->terms[i].through_leaf == leaf)
      return true;
  return false;
}

bool access_reads_others(const struct front *f, const struct component *component, uint32_t leaf) {
  for (uint32_t i = 0; i < f->column_count; i++) {
    if (f->columns[i].component != component || f->columns[i].component_leaf != leaf) continue;
    const struct term *term = front_term(f, f->cells[i].slot);
    if (!term_is_own(term) && !access_is_of_parent(f, term)) return true;
  }
  return false;
}

/* Shares a field that rows write in other entities and read; no path may follow it. */
static void access_check_folded(struct front *f, uint32_t at) {
  const struct front_column *written = &f->columns[at];
  const char *field = written->component->leaves[written->component_leaf].name;
  for (uint32_t i = 0; i < f->column_count; i++)
    if (i != at && f->columns[i].component == written->component &&
        f->columns[i].component_leaf == written->component_leaf)
      class_share(f, written->component, written->component_leaf);
  if (access_leads(f, written->component, written->component_leaf))
    front_refuse(f, "it writes to '%s.%s' of another entity, which a path of its query follows: "
                    "do that in a second system", written->component->name, field);
}

/* Shares an array whose elements rows other than their own write or read. */
static void access_check_element(struct front *f, uint32_t at) {
  const struct front_column *own = &f->columns[at];
  const struct front_array *array = &f->arrays[f->cells[at].leaf];
  if (array->written || (own->written && array->read)) class_share(f, own->component, ARRAY_LEAF);
}

void access_finish(struct front *f) {
  f->first_mark = (f->orders ? 0 : f->command_count) + (f->result == RESULT_TRUTH);
  if (f->mark_count) build_renumber(f->b, RUN_BITMAPS, f->first_mark, f->mark_count);
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->columns[i].folded) access_check_folded(f, i);
  order_finish(f);
  steps_finish(f);
  for (uint32_t i = 0; i < f->column_count; i++) {
    const struct front_column *column = &f->columns[i];
    if (f->cells[i].slot == RUN_ELEMENT)
      access_check_element(f, i);
    else if (column->written)
      access_check_owner(f, i);
    if (column->written || column->folded)
      reach_check_written(f, column->component, column->component_leaf);
  }
  for (uint32_t i = 0; i < f->column_count; i++)
    if (f->columns[i].written && f->env.fields[i] != K_NONE)
      (f->starts ? build_put : build_store)(f->b, f->columns[i].number, f->env.fields[i]);
}

/* ---- maybe ---- */

/* Values that are nil or false in some rows: a number, boolean or id, with the mask of the rows in
** which it is present. Truth, `not`, `and`, `or`, ==, assignment and joins handle an absent one;
** any other use of it is left to Lua. */

/* The mask of rows in which a value of any kind is not nil. */
static k_value access_maybe_presence(struct front *f, struct val x) {
  if (x.kind == VAL_NIL) return build_bool(f->b, false);
  return val_may_lack(x) ? x.present : K_ALL;
}

struct val maybe_need(struct front *f, struct val x) {
  if (!val_is_maybe(x)) return x;
  build_need(f->b, x.present);
  x.present = K_ALL;
  x.lacks = LACKS_NIL;
  return x;
}

struct val maybe_absent(struct front *f, k_value mask, struct val x) {
  struct val absent = {.kind = VAL_NIL, .lacks = LACKS_FALSE};
  bool lacks = x.kind != VAL_VALUE && x.kind != VAL_PARTNER && val_is_maybe(x);
  if (lacks && build_excludes(f->b, mask, x.present))
    return (struct val){.kind = VAL_NIL, .lacks = x.lacks};
  if (x.kind != VAL_VALUE) return (struct val){.kind = x.kind == VAL_NIL ? VAL_NIL : VAL_NOTHING};
  bool boolean = val_is_boolean(f, x);
  if (boolean && !val_is_maybe(x) && build_excludes(f->b, mask, x.value)) return absent;
  absent.lacks = x.lacks;
  if (val_is_maybe(x) && build_excludes(f->b, mask, x.present)) return absent;
  absent.lacks = LACKS_EITHER;
  if (boolean && val_is_maybe(x) && build_excludes(f->b, mask, maybe_truth(f, x))) return absent;
  return (struct val){.kind = VAL_NOTHING};
}

struct val maybe_narrow(struct front *f, k_value mask, struct val x) {
  if (!val_is_maybe(x) || !build_implies(f->b, mask, x.present)) return x;
  x.present = K_ALL;
  x.lacks = LACKS_NIL;
  return x;
}

struct val maybe_select(struct front *f, k_value mask, struct val x, struct val y,
                        struct val joined) {
  if (!val_may_lack(joined)) return joined;
  assert(joined.present == K_ALL);
  k_value left = access_maybe_presence(f, x), right = access_maybe_presence(f, y);
  joined.present = mask_select(f, mask, left, right);
  joined.lacks = left == K_ALL ? y.lacks : x.lacks;
  if (left != K_ALL && right != K_ALL && x.lacks != y.lacks) joined.lacks = LACKS_EITHER;
  return joined;
}

struct val maybe_or_nil(struct front *f, k_value mask, struct val x, struct val y) {
  struct val some = x.kind == VAL_NIL ? y : x;
  assert((x.kind == VAL_NIL) != (y.kind == VAL_NIL));
  assert(val_may_lack(some));
  some.present = K_ALL;
  if (some.kind != VAL_VALUE) return maybe_select(f, mask, x, y, some);
  some.wide = val_is_wide(some);
  some.bits = mixed_bits(some);
  some.literal = false;
  some.at = 0;
  some.chain = 0;   /* rows in which it is nil make no step */
  return maybe_select(f, mask, x, y, some);
}

/* Whether a value can be nil or false. */
static bool access_may_be_false(struct front *f, struct val x) {
  return x.kind == VAL_NIL || val_is_maybe(x) || val_is_boolean(f, x);
}

k_value maybe_equal(struct front *f, struct val x, struct val y, int *known) {
  struct builder *b = f->b;
  if ((x.lacks || y.lacks) && access_may_be_false(f, x) && access_may_be_false(f, y)) {
    x = maybe_need(f, x);
    y = maybe_need(f, y);
    return number_compare(f, OPERATOR_EQ, x, y, known);
  }
  k_value left = access_maybe_presence(f, x), right = access_maybe_presence(f, y),
          equal = build_bool(b, false);
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
  return val_is_boolean(f, x) ? build_binary(f->b, KO_AND, x.present, x.value) : x.present;
}
