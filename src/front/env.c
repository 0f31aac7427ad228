/* Masks, environments, and how they are joined: what registers and fields hold for the rows at an
** instruction. */
#include "core/base/column.h"
#include "core/base/text.h"
#include "core/ids/world.h"
#include "front/front.h"

/* ---- masks ---- */

/* A fork that is not remembered only costs an instruction, so forgetting is safe. */
static void env_remember_fork(struct front *f, struct fork fork) {
  if (f->fork_count < FRONT_FORKS) f->forks[f->fork_count++] = fork;
}

k_value mask_and(struct front *f, k_value mask, k_value condition) {
  assert(mask != K_NONE);
  return build_binary(f->b, KO_AND, mask, condition);
}

k_value mask_and_not(struct front *f, k_value mask, k_value condition) {
  assert(mask != K_NONE);
  k_value no = build_binary(f->b, KO_ANDN, mask, condition);
  env_remember_fork(f, (struct fork){mask, build_binary(f->b, KO_AND, mask, condition), no, false});
  return no;
}

/* The mask of which two masks are the halves; K_NONE if they are not. */
static k_value env_whole_of(const struct front *f, k_value a, k_value b) {
  for (uint32_t i = f->fork_count; i-- > 0;) {
    const struct fork *fork = &f->forks[i];
    bool halves = (fork->yes == a && fork->no == b) || (fork->yes == b && fork->no == a);
    if (halves && !fork->joined) return fork->whole;
  }
  return K_NONE;
}

static k_value env_join_masks(struct front *f, k_value a, k_value b, uint32_t depth);

/* If b and one half of a make up a known mask, joins that mask with a's other half. This happens
** after `x and y and z`, which rows leave at several places. Otherwise K_NONE. */
static k_value env_whole_with_part(struct front *f, k_value a, k_value b, uint32_t depth) {
  for (uint32_t i = f->fork_count; depth && i-- > 0;) {
    const struct fork fork = f->forks[i];
    if (fork.whole != a) continue;
    k_value with_yes = env_whole_of(f, fork.yes, b), with_no = env_whole_of(f, fork.no, b);
    if (with_yes != K_NONE) return env_join_masks(f, fork.no, with_yes, depth - 1);
    if (with_no != K_NONE) return env_join_masks(f, fork.yes, with_no, depth - 1);
  }
  return K_NONE;
}

static k_value env_join_masks(struct front *f, k_value a, k_value b, uint32_t depth) {
  if (a == b) return a;
  k_value whole = env_whole_of(f, a, b);
  if (whole == K_NONE) whole = env_whole_with_part(f, a, b, depth);
  if (whole == K_NONE) whole = env_whole_with_part(f, b, a, depth);
  if (whole != K_NONE) return whole;
  whole = build_binary(f->b, KO_OR, a, b);
  env_remember_fork(f, (struct fork){whole, a, b, true});
  return whole;
}

k_value mask_select(struct front *f, k_value mask, k_value x, k_value y) {
  if (x == y) return x;
  k_value yes = build_binary(f->b, KO_AND, mask, x);
  k_value no = build_binary(f->b, KO_ANDN, y, mask);
  return build_binary(f->b, KO_OR, yes, no);
}

bool env_leave_some(struct front *f) {
  k_value here = f->env.mask, rest = K_NONE, whole = K_NONE;
  if (here == f->start) return false;
  for (uint32_t i = f->fork_count; rest == K_NONE && i-- > 0;) {
    const struct fork *fork = &f->forks[i];
    if (fork->joined || (fork->yes != here && fork->no != here)) continue;
    rest = fork->yes == here ? fork->no : fork->yes;
    whole = fork->whole;
  }
  build_at(f->b, rest == K_NONE ? here : whole, front_tag(f));
  front_need(f, rest == K_NONE ? build_bool(f->b, false) : rest, NEEDS_LUA);
  f->env.mask = K_NONE;
  f->leaves = true;
  for (uint32_t i = 0; rest != K_NONE && i < f->edge_count; i++) {
    struct env *env = &f->edges[i];
    if (env->mask != rest) continue;
    for (uint32_t at = 0; at < env->count; at++)
      env->registers[at] = maybe_narrow(f, rest, env->registers[at]);
    env->mask = whole;
  }
  return true;
}

/* ---- values ---- */

bool val_same(const struct val *x, const struct val *y) {
  if (x->kind != y->kind) return false;
  switch (x->kind) {
    case VAL_NOTHING:
    case VAL_UNKNOWN:
    case VAL_NIL:
    case VAL_WORLD: return true;
    case VAL_VALUE:
      return x->value == y->value && x->soft == y->soft && x->mixed == y->mixed &&
             x->wide == y->wide && x->names == y->names && x->present == y->present &&
             x->whole == y->whole && x->rounded == y->rounded && x->spawned == y->spawned &&
             x->lacks == y->lacks;
    case VAL_STRING: return text_same(x->string, y->string);
    case VAL_TABLE: return x->at == y->at && x->present == y->present;
    case VAL_ARRAYS:
    case VAL_FUNCTIONS:
    case VAL_ENTRY:
    case VAL_RECORD: return x->at == y->at && x->value == y->value && x->present == y->present;
    case VAL_CHOICE:
    case VAL_PREFIX:
      return x->value == y->value && x->number == y->number && x->present == y->present;
    case VAL_PARTNERS: return x->value == y->value;
    case VAL_CLOSURE:
    case VAL_LIST: return x->at == y->at && x->slot == y->slot;
    case VAL_PAIR: return x->value == y->value && x->component == y->component;
    case VAL_PARTNER:
    case VAL_ELEMENT:
    case VAL_VIEW:
      if (x->value != y->value || x->present != y->present || x->slot != y->slot ||
          x->copy != y->copy)
        return false;
    /* fall through */
    case VAL_RESOURCE:
      return x->at == y->at && x->leaf == y->leaf && x->array == y->array &&
             x->component == y->component && x->root == y->root && x->of == y->of &&
             x->within == y->within;
    default: return x->at == y->at;
  }
}

bool val_same_but_for_place(struct val x, struct val y) {
  y.value = x.value;
  y.present = x.present;
  return val_same(&x, &y);
}

static bool env_is_float(k_type type) { return type == KT_F32 || type == KT_F64; }

bool val_is_wide(struct val x) { return x.literal ? !number_fits_float(x.number) : x.wide; }

/* A script integer that a float can represent. */
static bool env_may_be_float(struct val x) { return x.soft && !val_is_wide(x); }

bool val_is_zero(struct val x) { return x.entity && (x.literal || x.zero); }

static bool env_is_id(struct val x) { return x.entity && !val_is_zero(x); }

int val_common_type(const struct front *f, struct val x, struct val y) {
  k_type a = val_type(f, x), b = val_type(f, y);
  if (a == b) return (int)a;
  if (env_is_float(a) && env_is_float(b)) {
    bool narrow = (a == KT_F32 && y.soft) || (b == KT_F32 && x.soft);
    return narrow ? KT_F32 : KT_F64;
  }
  if (env_is_id(x) || env_is_id(y)) return -1;
  if (a == KT_I64 && env_is_float(b)) return env_may_be_float(x) ? (int)b : KT_F64;
  if (b == KT_I64 && env_is_float(a)) return env_may_be_float(y) ? (int)a : KT_F64;
  return -1;
}

bool val_mixes(const struct front *f, struct val x, struct val y) {
  if (NUMBERS_ARE_DOUBLES) return false;
  return x.mixed || y.mixed || (val_type(f, x) == KT_I64) != (val_type(f, y) == KT_I64);
}

/* One of two equal values, without its steps if they began at different times. */
static struct val env_one_of(struct val x, struct val y) {
  if (x.chain != y.chain) x.chain = 0;
  return x;
}

struct val val_in_common(struct val x, struct val y) {
  struct val joined = x;
  joined.soft = x.soft && y.soft;
  joined.wide = val_is_wide(x) || val_is_wide(y);
  joined.literal = false;
  joined.at = 0;
  joined.chain = 0;
  joined.entity = x.entity && y.entity;
  joined.zero = val_is_zero(x) && val_is_zero(y);
  joined.row_entity = x.row_entity && y.row_entity;
  joined.spawned = spawned_either(x.spawned, y.spawned);
  return joined;
}

/* For values that are present in all rows. */
static struct val env_select_values(struct front *f, k_value mask, struct val x, struct val y) {
  struct val nothing = {.kind = VAL_NOTHING};
  if (val_same(&x, &y)) return env_one_of(x, y);
  bool named = val_is_string(x) && val_is_string(y) && x.names != y.names;
  if (val_is_text(x) || val_is_text(y) || named) return choice_select(f, mask, x, y);
  if (element_join(f, &x, &y)) {
    x.value = build_select(f->b, mask, x.value, y.value);
    x.carried |= y.carried;
    return x;
  }
  if (x.kind != VAL_VALUE || y.kind != VAL_VALUE || x.names != y.names) return nothing;
  /* An outside null id counts as an id beside an entity. */
  if (x.entity && !y.entity && env_is_id(x)) y.entity = outside_null(f, y);
  if (y.entity && !x.entity && env_is_id(y)) x.entity = outside_null(f, x);
  if ((x.spawned || y.spawned) && x.entity != y.entity) return nothing;
  int type = val_common_type(f, x, y);
  assert(mask != K_NONE);
  if (type < 0) return nothing;
  struct val joined = val_in_common(x, y);
  mixed_join(f, mask, x, y, &joined);
  joined.value = build_select(f->b, mask, number_as(f, x, (k_type)type),
                              number_as(f, y, (k_type)type));
  return joined;
}

struct val val_select(struct front *f, k_value mask, struct val x, struct val y) {
  bool nil = x.kind == VAL_NIL || y.kind == VAL_NIL;
  if (val_same(&x, &y)) return env_one_of(x, y);
  if (x.kind == VAL_UNKNOWN || y.kind == VAL_UNKNOWN) return (struct val){.kind = VAL_UNKNOWN};
  struct val *some = x.kind == VAL_NIL ? &y : &x;
  if (nil && some->kind == VAL_STRING) choice_of(f, some);
  if (nil && val_may_lack(*some) && some->kind != VAL_PARTNER)
    return maybe_or_nil(f, mask, x, y);
  struct val a = x, b = y;
  a.present = b.present = K_ALL;
  return maybe_select(f, mask, x, y, env_select_values(f, mask, a, b));
}

/* ---- environments ---- */

void env_copy(struct front *f, struct env *to, const struct env *from) {
  struct val *registers = NULL;
  struct memory *memory = &f->world->memory;
  assert(to != from && from->count <= FRONT_REGISTERS);
  if (from->count) {
    registers = memory_array(memory, from->count, sizeof *registers);
    if (!registers) front_no_memory(f);
    memcpy(registers, from->registers, from->count * sizeof *registers);
  }
  *to = *from;
  to->registers = registers;
}

void env_free(struct front *f, struct env *env) {
  assert(env->registers != f->registers);
  memory_free(&f->world->memory, env->registers,
              env->count * sizeof *env->registers);
  env->registers = NULL;
  env->count = 0;
}

k_value env_field(struct front *f, const struct env *env, uint32_t at) {
  if (env->fields[at] != K_NONE) return env->fields[at];
  return build_load(f->b, f->columns[at].number);
}

/* A value that is false or absent in all rows of the mask counts as absent when it is joined with a
** value of another type. */
static struct val env_lacking(struct front *f, k_value mask, struct val x, struct val other) {
  struct val absent = maybe_absent(f, mask, x);
  if (other.kind != VAL_VALUE && absent.kind == VAL_NIL) return absent;
  if (absent.kind == VAL_NOTHING || other.kind != VAL_VALUE) return x;
  if (!val_is_boolean(f, other)) return absent;
  if (absent.lacks == LACKS_FALSE) return val_bool(f, false);
  return val_is_boolean(f, x) ? x : absent;
}

/* The value that is x in the rows of one environment and y in those of another. */
static struct val env_join(struct front *f, const struct env *from, const struct env *into,
                           struct val x, struct val y) {
  struct val a = maybe_narrow(f, from->mask, x), b = maybe_narrow(f, into->mask, y);
  bool left = maybe_absent(f, from->mask, a).kind == VAL_NIL,
       right = maybe_absent(f, into->mask, b).kind == VAL_NIL;
  if (left && !right) a = env_lacking(f, from->mask, a, b);
  if (right && !left) b = env_lacking(f, into->mask, b, a);
  struct val joined = val_select(f, from->mask, a, b);
  if (val_same(&joined, &a)) return joined;
  return steps_choice(f, joined, (struct fork){K_NONE, from->mask, into->mask, false}, a, b);
}

static void env_merge_results(struct front *f, struct env *into, const struct env *from) {
  struct val nil = {.kind = VAL_NIL};
  uint32_t most = into->result_count > from->result_count ? into->result_count
                                                          : from->result_count;
  assert(most <= FRONT_RESULTS);
  for (uint32_t i = 0; i < most; i++) {
    struct val x = i < from->result_count ? from->results[i] : nil;
    struct val y = i < into->result_count ? into->results[i] : nil;
    into->results[i] = env_join(f, from, into, x, y);
  }
  into->result_count = most;
}

void env_merge(struct front *f, struct env *into, const struct env *from) {
  uint32_t count = into->count < from->count ? into->count : from->count;
  assert(into->mask != K_NONE && from->mask != K_NONE && into->registers != from->registers);
  for (uint32_t i = 0; i < count; i++)
    into->registers[i] = env_join(f, from, into, from->registers[i], into->registers[i]);
  for (uint32_t i = 0; i < f->column_count; i++) {
    if (into->fields[i] == from->fields[i]) continue;
    k_value x = env_field(f, from, i), y = env_field(f, into, i);
    into->fields[i] = x == y ? x : build_select(f->b, from->mask, x, y);
  }
  for (uint32_t i = 0; i < f->shared.cell_count; i++) {
    const struct env_cell *x = &from->cells[i], *y = &into->cells[i];
    into->cells[i].known &= x->known && x->value == y->value && x->present == y->present &&
                            x->whole == y->whole;
  }
  env_merge_results(f, into, from);
  for (uint32_t i = 0; i < ENV_COUNTS; i++)
    into->counts[i] = val_select(f, from->mask, from->counts[i], into->counts[i]);
  into->mask = env_join_masks(f, into->mask, from->mask, 8);
}
