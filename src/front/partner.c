/* Each row has partners of its own, which are listed before its loop begins. In round k all rows
** that have so many take their partner k, and rows that have no more are behind the loop. */
#include "front/partner.h"

#include "front/mixed.h"
#include "front/rounds.h"

#include "core/base/text.h"
#include "core/find/edition.h"
#include "core/find/indexing.h"
#include "core/find/refresh.h"
#include "core/store/component.h"
#include "core/store/query.h"
#include "core/store/term.h"
#include "kernel/build_list.h"

/* ---- indexes and their methods ---- */

uint32_t partner_index(struct front *f, struct ecs_index *index) {
  f->looks = true;
  if (!index) front_refuse(f, "it looks into an index that is no longer declared");
  for (uint32_t i = 0; i < f->index_count; i++)
    if (f->indexes[i] == index) return i;
  if (f->index_count == RUN_INDEXES)
    front_refuse(f, "it looks into too many indexes: write it as two systems");
  f->indexes[f->index_count] = index;
  return f->index_count++;
}

static const ecs_index *index_of(const struct front *f, struct val at) {
  assert(at.at < f->index_count);
  return f->indexes[at.at];
}

struct val partner_method(struct front *f, struct val index, const struct constant *key) {
  static const char *const names[] = {[LIST_WITHIN] = "within", [LIST_NEAREST] = "nearest"};
  for (uint32_t i = 0; key->type == CONST_STRING && i < sizeof names / sizeof *names; i++)
    if (text_equal(names[i], key->string.data, key->string.size))
      return (struct val){.kind = VAL_FINDER, .at = index.at, .number = i};
  if (key->type != CONST_STRING)
    front_refuse(f, "it takes from index '%s' what is no method of it",
                 index_name(index_of(f, index)));
  front_refuse(f, "it calls '%S' of index '%s': of an index kernels know within and nearest; leave "
                  "the others in a system's run", &key->string, index_name(index_of(f, index)));
}

/* ---- arguments ---- */

static k_value number_argument(struct front *f, struct val value, const char *method) {
  value = maybe_need(f, value);
  if (!val_is_number(f, value))
    front_refuse(f, "it calls %s of an index with what is no number", method);
  return number_as(f, value, KT_F64);
}

/* Whom to pass over: nobody where that is nil. */
static k_value except_argument(struct front *f, struct val value) {
  k_value nobody = build_i64(f->b, 0);
  if (value.kind == VAL_NIL) return nobody;
  bool is_id = val_is_number(f, value) && val_type(f, value) == KT_I64 && !value.mixed;
  if (!is_id)
    front_refuse(f, "it calls nearest of an index with something else than an entity to pass over");
  return build_select(f->b, value.present, value.value, nobody);
}

/* Lists what is found, by a place, a reach and, of the nearest, whom to pass over; how many. */
static k_value list(struct front *f, struct val method, const struct val *arguments,
                    uint32_t count) {
  bool nearest = method.number == LIST_NEAREST;
  const char *name = nearest ? "nearest" : "within";
  const ecs_index *index = index_of(f, method);
  k_value given[] = {K_NONE, K_NONE, K_NONE, K_NONE, K_NONE};
  uint32_t axes = index_axes(index);
  if (index->desc.by != ECS_BY_GRID || count < axes + 2 || count > axes + 2 + nearest)
    front_refuse(f, "it calls %s of index '%s' with other arguments than that takes: x, y, z of "
                    "one by such fields, and a reach", name, index_name(index));
  for (uint32_t axis = 0; axis < axes; axis++)
    given[PLACE_X + axis] = number_argument(f, arguments[1 + axis], name);
  given[PLACE_REACH] = number_argument(f, arguments[1 + axes], name);
  struct val nil = {.kind = VAL_NIL};
  if (nearest)
    given[PLACE_EXCEPT] = except_argument(f, count > axes + 2 ? arguments[2 + axes] : nil);
  if (f->list_count == RUN_LISTS)
    front_refuse(f, "it looks into indexes too often: write it as two systems");
  uint32_t number = build_list(f->b);
  assert(number == f->list_count || number == NONE);
  f->lists[f->list_count++] = (struct run_list){(enum list_kind)method.number, method.at, axes};
  return build_listed(f->b, number, given, sizeof given / sizeof *given);
}

/* ---- what is found ---- */

/* The copy of a cell at a place. */
static struct val cell(struct front *f, struct front_copy copy, const struct component *component,
                       uint32_t leaf, k_value place) {
  const struct leaf *field = &component->leaves[leaf];
  bool text = field->type == ECS_STRING;
  k_column type = text ? KC_U32 : access_column_type(f, component, field);
  bool entity = type == KC_ENTITY;
  uint32_t array = element_copies(f, copy, entity ? KC_I64 : type);
  struct val value = val_number(f, build_element(f->b, array, place), false);
  value.names = field->type == ECS_ENUM ? choice_names(f, field->names) : NULL;
  if (text) value.names = &front_texts;
  value.entity = entity;
  value.bits = mixed_bits_of(field->type);
  if (entity) value.value = reach_live(f, value.value);
  return value;
}

struct val partner_field(struct front *f, struct val copy) {
  assert(copy.kind == VAL_PARTNER && copy.leaf < copy.root->leaf_count);
  struct front_copy from = {copy.at + 1, copy.slot, copy.leaf};
  return cell(f, from, copy.root, copy.leaf, copy.value);
}

/* Who a row of an index is: nobody dies while a function runs. */
static struct val entity_at(struct front *f, uint32_t index, k_value place) {
  struct front_copy from = {index + 1, NONE, 0};
  struct val entity =
      val_number(f, build_element(f->b, element_copies(f, from, KC_I64), place), false);
  entity.entity = true;
  return entity;
}

NORETURN void partner_refuse_write(struct front *f, struct val copy, const struct constant *key) {
  const char *name = copy.root->name;
  if (key->type == CONST_STRING)
    front_refuse(f, "it writes to what an index gives, a copy of '%s', which is read only: write "
                    "world:set(entity, \"%s.%S\", value)", name, name, &key->string);
  front_refuse(f, "it writes to what an index gives, a copy of '%s', which is read only", name);
}

uint32_t partner_call(struct front *f, struct val method, const struct val *arguments,
                      uint32_t count, struct val results[FRONT_RESULTS]) {
  if (!count || arguments[0].kind != VAL_INDEX || arguments[0].at != method.at)
    front_refuse(f, "it calls a method of an index without the index: write index:within(...)");
  k_value found = list(f, method, arguments, count);
  if (method.number == LIST_WITHIN) {
    results[0] = (struct val){.kind = VAL_PARTNERS, .at = method.at, .value = found};
    return 1;
  }
  k_value none = build_i64(f->b, 0);
  results[0] = entity_at(f, method.at, build_picked(f->b, found, none));
  results[1] = val_number(f, build_taken(f->b, found, PLACE_DISTANCE), false);
  results[0].present = results[1].present = build_binary(f->b, KO_LT, none, found);
  return 2;
}

/* ---- loops ---- */

static const struct term *term_of(const ecs_index *index, uint32_t slot) {
  const struct query_terms *terms = &index_query(index)->terms;
  uint32_t i = 0;
  while (terms->terms[i].slot != slot) i++;
  assert(i < terms->count);
  return &terms->terms[i];
}

/* A variable of the loop: what a slot of the index gives, then the entity. */
static struct val variable(struct front *f, uint32_t at, uint32_t number, k_value place) {
  const ecs_index *index = f->indexes[at];
  uint32_t slots = index_query(index)->terms.slots;
  if (number > slots) return (struct val){.kind = VAL_NIL};
  if (number == slots) return entity_at(f, at, place);
  const struct term *term = term_of(index, number);
  if (term_may_lack(term))
    front_refuse(f, "it goes through index '%s', some of whose rows lack what its query '%s' asks "
                    "for: declare one for those that have it", index_name(index),
                 index_query(index)->text);
  struct front_copy copy = {at + 1, number, 0};
  if (term->leaf != NONE) return cell(f, copy, term->component, term->leaf, place);
  return (struct val){.kind = VAL_PARTNER, .at = at, .slot = number, .value = place,
                      .component = term->component, .root = term->component};
}

/* One attempt at the loop's body. */
static void compile_round(struct front *f, struct loop *loop, struct val partners) {
  const struct code *code = &loop->frame->code->code[loop->head];
  k_value round = rounds_begin(loop, build_i64(f->b, INT64_MAX));
  k_value place = build_picked(f->b, partners.value, round);
  for (uint32_t i = 0; i < loop->frame->code->code[code->target].c; i++) {
    struct val value = variable(f, partners.at, i, place);
    *front_register(f, code->a + 4 + i) = value;
  }
  rounds_compile(loop, loop->head + 1, code->target);
  front_join(f, loop->first_edge, code->target);
  loop->frame->pc = code->target;
  if (f->env.mask == K_NONE) return;
  k_value next = build_binary(f->b, KO_ADD, round, build_i64(f->b, 1));
  loop->again = mask_and(f, f->env.mask, build_binary(f->b, KO_LT, next, partners.value));
}

void partner_for(struct front *f, struct frame *frame) {
  const struct code *code = &frame->code->code[frame->pc];
  struct loop loop = {.head = frame->pc, .end = code->target + 2, .control = code->a,
                      .shrinks = true, .counts = true};
  const struct val partners = *front_register(f, code->a);
  assert(code->kind == CODE_EACH && frame->code->code[code->target].kind == CODE_EACH_NEXT);
  if (partners.kind != VAL_PARTNERS)
    front_refuse(f, "it has a loop over an iterator: do that in a system's run");
  k_value enters = build_binary(f->b, KO_LT, build_i64(f->b, 0), partners.value);
  front_jump(f, loop.end, mask_and_not(f, f->env.mask, enters));
  f->env.mask = mask_and(f, f->env.mask, enters);
  rounds_open(&loop, f, frame);
  do compile_round(f, &loop, partners);
  while (rounds_again(&loop));
  rounds_end(&loop);
  assert(frame->pc == loop.end);
}
