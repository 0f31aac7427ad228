/* Changes that rows make to cells other than their own: elements of the world's arrays, fields of
** resources. A single step on such a cell, as in a[i] = a[i] + v, is a fold, done for a block of
** rows, so a number that one step makes from a cell's content remembers that step until it is
** stored back. Everything else is done row by row: class.c. */
#include "front/front.h"

#include "core/base/types.h"
#include "core/storage/component.h"
#include "core/storage/registry.h"

/* The first of a number's chains, each from another place, or NULL. The second: the next one. */
static const struct front_chain *steps_next_chain(const struct front *f, k_value value,
                                                  uint16_t at) {
  const struct front_chain *chain = at && at <= f->chain_count ? &f->chains[at - 1] : NULL;
  return chain && chain->value == value ? chain : NULL;
}

static const struct front_chain *steps_chain_of(const struct front *f, const struct val *number) {
  return number->kind == VAL_VALUE ? steps_next_chain(f, number->value, number->chain) : NULL;
}

/* The number with another chain; without any if there are too many, so that it cannot be stored. */
static struct val steps_with_chain(struct front *f, struct val number,
                                   const struct front_chain *chain) {
  if (f->chain_count == FRONT_CHAINS) return number;
  struct front_chain *added = &f->chains[f->chain_count];
  *added = *chain;
  added->value = number.value;
  added->also = steps_chain_of(f, &number) ? number.chain : 0;
  number.chain = (uint16_t)++f->chain_count;
  return number;
}

/* The content of a place, as a chain. */
static struct front_chain steps_chain_at(const struct component *component, uint32_t leaf) {
  bool floats = type_class(component->leaves[leaf].type) == CLASS_FLOAT;
  return (struct front_chain){.component = component, .leaf = leaf, .index = K_NONE,
                              .floats = floats};
}

struct val steps_cell(struct front *f, struct val value, uint32_t cell) {
  struct front_chain chain = {.leaf = cell, .index = K_NONE, .present = K_ALL,
                              .floats = val_type(f, value) == KT_F64};
  return steps_with_chain(f, value, &chain);
}

struct val steps_element(struct front *f, struct val number, struct val array, k_value index) {
  struct front_chain chain = steps_chain_at(array.component, ARRAY_LEAF);
  chain.index = index;
  chain.present = number.present;
  return steps_with_chain(f, number, &chain);
}

/* The fold with its operand, y, on the left; KF_COUNT: there is none. */
static k_fold steps_turned(k_fold step) {
  switch (step) {
    case KF_ADD: return KF_ADD;
    case KF_LESS: return KF_LEAST;
    case KF_MORE: return KF_MOST;
    default: return KF_COUNT;
  }
}

/* Continues the chains of x by a step with operand y. A mixed operand is a float to the step, which
** makes no difference if the other is a float. */
static struct val steps_extend(struct front *f, struct val result, k_fold step, const struct val *x,
                               struct val y) {
  const struct front_chain *from = steps_chain_of(f, x);
  for (; from; from = steps_next_chain(f, x->value, from->also)) {
    struct front_chain chain = *from;
    bool unsure = y.mixed && (!from->floats || !mixed_is_exact(f, y));
    chain.step = from->stepped || unsure ? KF_COUNT : step;
    chain.stepped = true;
    chain.operand = y.value;
    result = steps_with_chain(f, result, &chain);
  }
  return result;
}

struct val steps_step(struct front *f, struct val result, k_fold step, struct val x,
                      struct val y) {
  assert(result.kind == VAL_VALUE && result.chain == 0);
  result = steps_extend(f, result, step, &x, y);
  return steps_extend(f, result, steps_turned(step), &y, x);
}

/* The step, `or` or `and`, that keeps a boolean in the rows that it split; KF_COUNT: none. */
static k_fold steps_forked_by(struct front *f, struct fork rows, k_value truth) {
  for (uint32_t i = 0; i < f->fork_count; i++) {
    const struct fork *fork = &f->forks[i];
    bool kept = fork->yes == rows.yes && fork->no == rows.no;
    bool left = fork->yes == rows.no && fork->no == rows.yes;
    if (!kept && !left) continue;
    if (build_binary(f->b, KO_AND, fork->whole, truth) != fork->yes) continue;
    return kept ? KF_OR : KF_AND;
  }
  return KF_COUNT;
}

/* If a row does not have the element, storing to it fails, whatever the value. */
struct val steps_choice(struct front *f, struct val result, struct fork rows, struct val x,
                        struct val y) {
  const struct front_chain *from = steps_chain_of(f, &x);
  if (!from || from->stepped || result.kind != VAL_VALUE || y.kind != VAL_VALUE) return result;
  bool truths = val_type(f, x) == KT_BOOL;
  k_value truth = truths ? build_binary(f->b, KO_AND, from->present, x.value) : from->present;
  k_fold step = steps_forked_by(f, rows, truth);
  if (step == KF_COUNT || val_is_maybe(y)) return result;
  if (!truths) return step == KF_OR && truth != K_ALL ? steps_with_chain(f, result, from) : result;
  if (val_type(f, y) != KT_BOOL) return result;
  struct front_chain chain = *from;
  chain.step = step;
  chain.stepped = true;
  chain.operand = y.value;
  return steps_with_chain(f, result, &chain);
}

/* ---- resources ---- */

struct val steps_field(struct front *f, struct val value, const struct component *component,
                       uint32_t leaf, uint32_t column) {
  if (value.names || value.entity) return value;
  struct front_chain chain = steps_chain_at(component, leaf);
  chain.column = column;
  return steps_with_chain(f, value, &chain);
}

/* ---- storing ---- */

/* A number's chain from a place; NULL if none, or if the number is the content itself. */
static const struct front_chain *steps_from(const struct front *f, const struct val *value,
                                            const struct front_chain *place) {
  const struct front_chain *at = steps_chain_of(f, value);
  for (; at; at = steps_next_chain(f, value->value, at->also))
    if (at->stepped && at->component == place->component && at->leaf == place->leaf &&
        at->index == place->index && at->column == place->column)
      return at;
  return NULL;
}

/* Whether cells of a type can be folded by a step, whose operand is converted to what that
** takes. */
static bool steps_fits(struct front *f, struct front_chain *chain, k_column type) {
  k_type of = build_type(f->b, chain->operand);
  bool floats = type == KC_F32 || type == KC_F64;
  bool picks = chain->step >= KF_LESS && chain->step <= KF_MOST;
  if (chain->step == KF_COUNT || (type == KC_BOOL) != (of == KT_BOOL)) return false;
  if (type == KC_BOOL) return true;
  if (floats ? of == KT_I64 && picks : of != KT_I64) return false;
  if (NUMBERS_ARE_DOUBLES && type == KC_I64) return false;
  if (floats) chain->operand = build_convert(f->b, KT_F64, chain->operand);
  return true;
}

/* Folds a step into a cell of a place, if the place is one that is outside of loops. */
static bool steps_fold_at(struct front *f, const struct front_chain *place, k_column type,
                          k_value cell, struct front_chain step) {
  if (!steps_fits(f, &step, type == KC_ENTITY ? KC_I64 : type)) return false;
  uint32_t number = build_fold(f->b, cell, step.step, step.operand);
  if (number == NONE) return true;
  f->folds[number] = (struct front_fold){place->component, place->leaf, place->column};
  f->fold_count = number + 1;
  return true;
}

static bool steps_may_fold(const struct front *f) {
  return !f->loop_depth && !build_mark(f->b).loop && f->fold_count < FRONT_FOLDS;
}

static bool steps_fold(struct front *f, const struct front_chain *place, k_value index,
                       struct front_chain step) {
  uint32_t column = place->column ? place->column - 1 : NONE;
  uint32_t array = column == NONE ? element_array(f, place->component, place->leaf) : 0;
  const struct leaf *leaf = &place->component->leaves[place->leaf];
  k_column type = access_column_type(f, place->component, leaf);
  if (!steps_may_fold(f)) return false;
  if (column == NONE) f->arrays[array].written = true;
  if (place->component->length) build_need(f->b, element_inside(f, place->component, array, index));
  k_value cell = column == NONE ? build_cell(f->b, array, index) : class_cells(f, column);
  return steps_fold_at(f, place, type, cell, step);
}

bool steps_fold_cell(struct front *f, struct val value, uint32_t at, k_column type, k_value cell) {
  const struct front_chain place = {.leaf = at, .index = K_NONE};
  const struct front_chain *chain = steps_from(f, &value, &place);
  const struct front_chain set = {.step = KF_SET, .operand = value.value};
  return steps_may_fold(f) && steps_fold_at(f, &place, type, cell, chain ? *chain : set);
}

void steps_finish(struct front *f) {
  for (uint32_t i = 0; i < f->fold_count; i++) {
    const struct front_fold *fold = &f->folds[i];
    if (!fold->component)
      build_alias_fold(f->b, i, true, (uint32_t)f->cell_uniforms[fold->leaf]);
    if (fold->column) build_alias_fold(f->b, i, false, f->columns[fold->column - 1].number);
    for (uint32_t j = 0; fold->component && j < f->resource_count; j++)
      if (f->resources[j].component == fold->component->id && f->resources[j].leaf == fold->leaf)
        build_alias_fold(f->b, i, true, (uint32_t)f->resources[j].uniform);
    if (fold->component && !fold->column) reach_check_written(f, fold->component, fold->leaf);
  }
}

void steps_check_write(struct front *f, const struct component *component, uint32_t leaf) {
  if (f->result > RESULT_MAP)
    front_refuse(f, "it writes to '%s' and returns a result: do that in a system's each",
                 component->name);
  if (component->leaves[leaf].type == ECS_STRING)
    front_refuse(f, "it writes to the string field '%s.%s' of another entity: do that in a "
                    "system's run", component->name, component->leaves[leaf].name);
}

static void step_write(struct front *f, const struct front_chain *place, struct val value) {
  steps_check_write(f, place->component, place->leaf);
  k_value index = place->index == K_NONE ? build_i64(f->b, 1) : place->index;
  if (value.spawned) {
    assert(!place->column);
    order_store_element(f, place->component, place->leaf, index, value);
    return;
  }
  if (!class_is_shared(f, place->component, place->leaf)) {
    const struct front_chain *chain = steps_from(f, &value, place);
    struct front_chain set = {.step = KF_SET};
    if (!chain)
      set.operand = access_noted(f, place->component, place->leaf, maybe_need(f, value));
    if (steps_fold(f, place, index, chain ? *chain : set)) return;
  }
  class_share(f, place->component, place->leaf);   /* it is stored at once, visible to rows */
  if (place->column)
    class_set_column(f, place->column - 1, value);
  else
    class_set_element(f, place->component, place->leaf, index, value);
}

void steps_store(struct front *f, struct val array, struct val index, struct val value) {
  assert(array.kind == VAL_ARRAY && array.component->length);
  if (!val_is_number(f, index))
    front_refuse(f, "it indexes the array '%s' by something other than a number",
                 array.component->name);
  k_value whole, at = element_place(f, maybe_need(f, index), &whole);
  build_need(f->b, whole);
  if (element_is_own(f, array.component, at) && !value.spawned &&
      !class_is_shared(f, array.component, ARRAY_LEAF)) {
    access_set_own_element(f, array.component, value);
    return;
  }
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

int steps_refuse_shared(struct front *f) {
  uint32_t fold = build_shared_fold(f->b);
  assert(fold < f->fold_count);
  if (f->folds[fold].component)
    class_share(f, f->folds[fold].component, f->folds[fold].leaf);
  else
    cell_order(f, f->folds[fold].leaf);
  front_refuse(f, "its rows see more of what earlier rows have written");
}
