/* What rows do to cells that are not their own: elements of the world's arrays, fields of
** resources. Such a cell is not read and written where the function says so: rows note down their
** steps on it, as in a[i] = a[i] + v, which are done in the order of rows. So a number remembers
** the steps that it is made by, until it is stored where they begin. */
#include "front/front.h"

#include "core/base/types.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"

/* The first of the chains that a number is made by, each from another place; NULL when there are
** none; the next. */
static const struct front_chain *steps_next_chain(const struct front *f, k_value value,
                                                  uint16_t at) {
  const struct front_chain *chain = at && at <= f->chain_count ? &f->chains[at - 1] : NULL;
  return chain && chain->value == value ? chain : NULL;
}

static const struct front_chain *steps_chain_of(const struct front *f, const struct val *number) {
  return number->kind == VAL_VALUE ? steps_next_chain(f, number->value, number->chain) : NULL;
}

/* The number with one more chain; without, where there are too many: then it cannot be stored. */
static struct val steps_with_chain(struct front *f, struct val number,
                                   const struct front_chain *chain) {
  if (f->chain_count == FRONT_CHAINS || f->shared.ordered) return number;
  struct front_chain *added = &f->chains[f->chain_count];
  *added = *chain;
  added->value = number.value;
  added->also = steps_chain_of(f, &number) ? number.chain : 0;
  number.chain = (uint16_t)++f->chain_count;
  return number;
}

/* A chain without steps that begins at a place, as it is read here. */
static struct front_chain steps_chain_at(const struct front *f, const struct component *component,
                                         uint32_t leaf) {
  bool floats = type_class(component->leaves[leaf].type) == CLASS_FLOAT;
  return (struct front_chain){.component = component, .leaf = leaf, .index = K_NONE,
                              .read = build_mark(f->b), .floats = floats};
}

struct val steps_element(struct front *f, struct val number, struct val array, k_value index) {
  struct front_chain chain = steps_chain_at(f, array.component, ARRAY_LEAF);
  chain.index = index;
  chain.present = number.present;
  return steps_with_chain(f, number, &chain);
}

/* Adds a step whose other operand is y; false where there are too many. An operand that is an
** integer to Lua in some rows is a float to the step: beside floats that is the same, as long as
** no step comes behind the least or greatest of them, which may be that integer. */
static bool step_add_step(struct front *f, struct front_chain *chain, struct build_step step,
                          struct val y) {
  bool picks = step.step == KS_MIN || step.step == KS_MAX;
  bool floats = val_type(f, y) != KT_I64 && !y.mixed;
  bool unsure = y.mixed && (!chain->floats || !mixed_is_exact(f, y));
  if (unsure || chain->ended) f->unsure = chain->component;
  if (unsure || chain->ended || chain->count == BUILD_STEPS) return false;
  step.operand = val_type(f, y) == KT_F32 ? number_as(f, y, KT_F64) : y.value;
  chain->steps[chain->count++] = step;
  chain->ended = picks && y.mixed;
  chain->floats = step.step == KS_DIV || (picks ? chain->floats && floats
                                                : chain->floats || floats);
  return true;
}

/* The chains of x go on by a step whose other operand is y. */
static struct val step_extend(struct front *f, struct val result, k_step step, bool turned,
                              const struct val *x, struct val y) {
  const struct front_chain *from = steps_chain_of(f, x);
  for (; from; from = steps_next_chain(f, x->value, from->also)) {
    struct front_chain chain = *from;
    if (step_add_step(f, &chain, (struct build_step){.step = step, .turned = turned}, y))
      result = steps_with_chain(f, result, &chain);
  }
  return result;
}

struct val steps_step(struct front *f, struct val result, k_step step, struct val x,
                      struct val y) {
  if (step == KS_COUNT) return result;
  assert(result.kind == VAL_VALUE && result.chain == 0);
  result = step_extend(f, result, step, false, &x, y);
  return step_extend(f, result, step, true, &y, x);
}

/* The step by which rows keep a truth that parted them from the others; KS_COUNT: none did. */
static k_step steps_forked_by(struct front *f, struct fork rows, k_value truth) {
  for (uint32_t i = 0; i < f->fork_count; i++) {
    const struct fork *fork = &f->forks[i];
    bool kept = fork->yes == rows.yes && fork->no == rows.no;
    bool left = fork->yes == rows.no && fork->no == rows.yes;
    if (!kept && !left) continue;
    if (build_binary(f->b, KO_AND, fork->whole, truth) != fork->yes) continue;
    return kept ? KS_OR : KS_AND;
  }
  return KS_COUNT;
}

/* Where a row has no such element, storing to it fails, whatever it is then said to be. */
struct val steps_choice(struct front *f, struct val result, struct fork rows, struct val x,
                        struct val y) {
  const struct front_chain *from = steps_chain_of(f, &x);
  if (!from || from->count || result.kind != VAL_VALUE || y.kind != VAL_VALUE) return result;
  bool truths = val_type(f, x) == KT_BOOL;
  k_value truth = truths ? build_binary(f->b, KO_AND, from->present, x.value) : from->present;
  k_step step = steps_forked_by(f, rows, truth);
  if (step == KS_COUNT || val_is_maybe(y)) return result;
  if (!truths) return step == KS_OR && truth != K_ALL ? steps_with_chain(f, result, from) : result;
  if (val_type(f, y) != KT_BOOL) return result;
  struct front_chain chain = *from;
  chain.steps[chain.count++] = (struct build_step){.step = step, .operand = y.value};
  return steps_with_chain(f, result, &chain);
}

/* ---- resources ---- */

/* A field that is written is the only element of an array: the uniform that it is read as must not
** be used by anything else than its steps. */
static void steps_note_alias(struct front *f, const struct component *component, uint32_t leaf) {
  uint32_t array = 0, i = 0;
  while (array < f->array_count &&
         (f->arrays[array].id != component->id || f->arrays[array].leaf != leaf))
    array++;
  while (i < f->resource_count && (f->resources[i].component != component->id ||
                                   f->resources[i].leaf != leaf))
    i++;
  if (array < f->array_count && i < f->resource_count)
    build_alias(f->b, array, (uint32_t)f->resources[i].uniform);
}

struct val steps_other(struct front *f, struct val value, uint32_t column) {
  if (value.names || value.entity) return value;
  const struct front_column *other = &f->columns[column];
  struct front_chain chain = steps_chain_at(f, other->component, other->component_leaf);
  chain.column = column + 1;
  return steps_with_chain(f, value, &chain);
}

struct val steps_field(struct front *f, struct val value, struct val field) {
  steps_note_alias(f, field.root, field.leaf);
  if (value.names || value.entity) return value;
  struct front_chain chain = steps_chain_at(f, field.root, field.leaf);
  return steps_with_chain(f, value, &chain);
}

/* ---- storing ---- */

/* The steps that a number is made by from a place; NULL when there are none, or when the row may
** have stored to the array since they began. */
static const struct front_chain *steps_from(const struct front *f, const struct val *value,
                                            const struct front_chain *place, uint32_t array) {
  const struct front_chain *at = steps_chain_of(f, value);
  for (; at; at = steps_next_chain(f, value->value, at->also))
    if (at->count && at->component == place->component && at->leaf == place->leaf &&
        at->index == place->index && at->column == place->column &&
        !build_noted(f->b, array, at->read))
      return at;
  return NULL;
}

/* Puts it there at once, where rows see it. */
static void steps_set(struct front *f, const struct front_chain *place, k_value index,
                      struct val value) {
  class_share(f, place->component, place->leaf);
  if (place->column)
    class_set_column(f, place->column - 1, value);
  else
    class_set_element(f, place->component, place->leaf, index, value);
}

static void step_write(struct front *f, const struct front_chain *place, struct val value) {
  if (f->result != RESULT_NONE)
    front_refuse(f, "it writes to '%s', and its result is used: do it in a system's each",
                 place->component->name);
  if (place->component->leaves[place->leaf].type == ECS_STRING)
    front_refuse(f, "it writes to the string field '%s.%s' of another entity: do it in a system's "
                    "run", place->component->name, place->component->leaves[place->leaf].name);
  k_value index = place->index == K_NONE ? build_i64(f->b, 1) : place->index;
  if (value.spawned) {
    assert(!place->column);
    order_store_element(f, place->component, place->leaf, index, value);
    return;
  }
  if (f->shared.ordered) {
    steps_set(f, place, index, value);
    return;
  }
  uint32_t array = place->column ? element_cells(f, place->column - 1)
                                 : element_array(f, place->component, place->leaf);
  if (!place->column) steps_note_alias(f, place->component, place->leaf);
  f->arrays[array].written = true;
  const struct front_chain *chain = steps_from(f, &value, place, array);
  struct build_step set = {.step = KS_SET};
  if (!chain)
    set.operand = access_noted(f, place->component, place->leaf, maybe_need(f, value));
  build_note(f->b, array, index, chain ? chain->steps : &set, chain ? chain->count : 1);
}

void steps_store(struct front *f, struct val array, struct val index, struct val value) {
  assert(array.kind == VAL_ARRAY && array.component->length);
  if (!val_is_number(f, index))
    front_refuse(f, "it writes to an element of the array '%s' that is not named by a number",
                 array.component->name);
  k_value whole, at = element_place(f, maybe_need(f, index), &whole);
  build_need(f->b, whole);
  struct front_chain place = {.component = array.component, .leaf = ARRAY_LEAF, .index = at};
  step_write(f, &place, value);
}

void steps_store_field(struct front *f, struct val field, struct val value) {
  assert(field.kind == VAL_RESOURCE && field.leaf < field.root->leaf_count);
  struct front_chain place = {.component = field.root, .leaf = field.leaf, .index = K_NONE};
  step_write(f, &place, value);
}

void steps_store_other(struct front *f, uint32_t column, struct val value) {
  struct front_column *other = &f->columns[column];
  assert(column < f->column_count && other->component);
  other->folded = true;
  struct front_chain place = {.component = other->component, .leaf = other->component_leaf,
                              .index = K_NONE, .column = column + 1};
  step_write(f, &place, value);
}

/* ---- one owner ---- */

/* Goes to the line that a tag tells of, if it is one of the function itself. */
static void steps_go_to_line(struct front *f, uint32_t tag) {
  const struct function_code *code = f->frame->code;
  int32_t line = (int32_t)(tag & ((1u << TAG_LINES) - 1));
  for (uint32_t pc = 0; code->lines && line && pc < code->count; pc++) {
    if (code->lines[pc] != line) continue;
    f->frame->pc = pc;
    return;
  }
}

int steps_refuse_shared(struct front *f) {
  bool looped;
  uint32_t tag, array = build_shared(f->b, &tag, &looped);
  assert(array < f->array_count);
  const struct front_array *found = &f->arrays[array];
  const struct component *component = found->column ? f->columns[found->column - 1].component
                                                    : component_of(f->world, found->id);
  class_share(f, component, found->column ? f->columns[found->column - 1].component_leaf
                                          : found->leaf);
  const struct leaf *leaf = &component->leaves[found->column
                                                   ? f->columns[found->column - 1].component_leaf
                                                   : found->leaf];
  steps_go_to_line(f, tag);
  const char *dot = component->length ? "" : ".", *field = component->length ? "" : leaf->name;
  if (looped)
    front_refuse(f, "it writes to '%s%s%s' in a loop and looks at it outside of the step that "
                    "writes: do that in a system's run, or go on with a local and write it once, "
                    "as in r.n = r.n + v", component->name, dot, field);
  if (f->unsure == component)
    front_refuse(f, "it changes '%s%s%s' by a number that is an integer in some rows and a float "
                    "in others, or by one behind such a step: write the integer as a float, as in "
                    "1.0, or add 0.0 to the number", component->name, dot, field);
  front_refuse(f, "it writes to %s'%s%s%s' and reads it otherwise than in steps that are stored "
                  "there, as in %s (up to four of +, -, *, /, math.min, math.max; or, and of "
                  "truths): write to a second %s, or read it in another system",
               component->length ? "the array " : "", component->name, dot, field,
               component->length ? "a[i] = a[i] + v" : "r.n = r.n + v",
               component->length ? "array" : "field");
}
