/* Loops over partners: what indexes find, tied entities, all rows of a query, events. Each row has
** its own partners, which are listed before its loop begins. In round k, all rows that have a k-th
** partner take it, and the other rows leave the loop. */
#include "front/rounds.h"

#include "core/base/text.h"
#include "core/index/edition.h"
#include "core/index/indexing.h"
#include "core/index/keyed.h"
#include "core/index/refresh.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/event.h"

/* ---- indexes and their methods ---- */

uint32_t partner_index(struct front *f, struct ecs_index *index) {
  f->looks = true;
  if (!index) front_refuse(f, "it uses an index that is no longer declared");
  for (uint32_t i = 0; i < f->index_count; i++)
    if (f->indexes[i] == index) return i;
  if (f->index_count == RUN_INDEXES)
    front_refuse(f, "it uses more than %d indexes: write it as two systems", RUN_INDEXES);
  f->indexes[f->index_count] = index;
  return f->index_count++;
}

static const ecs_index *partner_index_of(const struct front *f, struct val at) {
  assert(at.at < f->index_count);
  return f->indexes[at.at];
}

/* ---- queries and events ---- */

/* Refuses a query that a list of entities does not represent, or with views of other entities. */
static void partner_check_query(struct front *f, const ecs_query *query) {
  const struct query_terms *terms = &query->terms;
  const char *why = terms->changes   ? "has terms with ':changed' or ':added'"
                    : terms->values  ? "yields values of variables"
                    : terms->cascade ? "visits parents first"
                    : terms->event   ? "yields events: loop over world:events"
                                     : NULL;
  for (uint32_t i = 0; i < terms->count && !why; i++) {
    const struct term *term = &terms->terms[i];
    if (term->slot == NONE ? term_repeats(terms, term) : !term_is_own(term))
      why = "finds ties or other entities";
  }
  if (why)
    front_refuse(f, "it loops over the query '%s', which %s: do that in a system over it",
                 query->text, why);
}

struct val partner_query(struct front *f, const ecs_query *query) {
  f->fleeting = !query || query_usable(query) != ECS_OK;
  if (f->fleeting)
    front_refuse(f, "%s", query ? f->world->message : "it uses a query that does not exist yet");
  uint32_t i = 0;
  while (i < f->query_count && f->queries[i] != query) i++;
  if (i == RUN_LISTS)
    front_refuse(f, "it uses more than %d queries: write it as two systems", RUN_LISTS);
  if (i == f->query_count) f->queries[f->query_count++] = query;
  return (struct val){.kind = VAL_QUERY, .at = i};
}

static struct val partner_query_method(struct front *f, struct val query,
                                       const struct constant *key) {
  if (key->type == CONST_STRING && text_equal("each", key->string.data, key->string.size))
    return (struct val){.kind = VAL_FINDER, .at = query.at, .number = LIST_ROWS};
  if (key->type == CONST_STRING && text_equal("count", key->string.data, key->string.size))
    return call_method(f, query, key);
  front_refuse(f, "it uses the query '%s' other than in a loop over query:each(), or by "
                  "query:count(): do that in a system of its own",
               f->queries[query.at]->text);
  return query;
}

struct val partner_goes_over(struct front *f, struct run_list list, const k_value *arguments,
                             uint32_t count) {
  if (f->list_count == RUN_LISTS)
    front_refuse(f, "it has more than %d loops over queries, events, indexes and ties: write it "
                    "as two systems", RUN_LISTS);
  uint32_t number = build_list(f->b), slot = f->list_count;
  assert(number == slot || number == NONE);
  f->lists[f->list_count++] = list;
  return (struct val){.kind = VAL_PARTNERS, .at = NONE, .slot = slot,
                      .value = build_listed(f->b, number, arguments, count)};
}

bool partner_is_short(const ecs_world *world, const struct run_list *list) {
  if (list->kind == LIST_ROWS) return query_count_all(list->query) <= SHORT_ROWS;
  bool events = list->kind == LIST_EVENTS;
  return !events || event_of(component_of(world, list->relation))->table->count <= SHORT_ROWS;
}

/* What a loop over a list without arguments iterates over. */
static struct val partner_list_all(struct front *f, struct run_list list) {
  if (f->once && !partner_is_short(f->world, &list))
    front_refuse(f, "it loops over %s: such loops are compiled by themselves, from 24 rows on, and "
                    "with the rest if there are at most %d",
                 list.kind == LIST_ROWS ? "a query" : "events", SHORT_ROWS);
  k_value none = build_i64(f->b, 0);
  return partner_goes_over(f, list, &none, 1);
}

static struct val partner_rows(struct front *f, struct val method, const struct val *arguments,
                               uint32_t count) {
  if (!count || arguments[0].kind != VAL_QUERY || arguments[0].at != method.at)
    front_refuse(f, "it calls each with a dot: write query:each()");
  if (count > 1)
    front_refuse(f, "it passes a function to query:each: write for ... in query:each() do");
  partner_check_query(f, f->queries[method.at]);
  return partner_list_all(f, (struct run_list){.kind = LIST_ROWS, .query = f->queries[method.at]});
}

struct val partner_events(struct front *f, const struct val *arguments, uint32_t count) {
  const struct component *event = count == 2 && arguments[0].kind == VAL_WORLD
                                      ? call_event(f, arguments[1]) : NULL;
  if (!event)
    front_refuse(f, "it calls world:events with something other than the name or id of an event "
                    "from a constant, an upvalue or a field of a table");
  return partner_list_all(f, (struct run_list){.kind = LIST_EVENTS, .relation = event->id});
}

void partner_refuse_loop(struct front *f, const struct component *component, uint32_t leaf,
                         const char *does) {
  front_refuse(f, "it %s '%s.%s' in its loop over a query: only that loop is "
                  "compiled, by itself", does, component->name, component->leaves[leaf].name);
}

void partner_need_unshared(struct front *f, const struct component *component, uint32_t leaf) {
  if (!f->once && class_is_shared(f, component, leaf))
    partner_refuse_loop(f, component, leaf, "also writes");
}

bool partner_is_shown(const struct val *x) { return x->kind == VAL_ELEMENT && x->of == VAL_QUERY; }

/* A view of a component at a place, or of an event's row. */
static struct val partner_shown(const struct component *component, k_value place,
                                bool read_only) {
  return (struct val){.kind = VAL_ELEMENT, .of = VAL_QUERY, .value = place, .root = component,
                      .component = component, .slot = read_only};
}

/* What a term of a query shows of an entity that matches. */
static struct val partner_of_term(struct front *f, const struct term *term, k_value id) {
  const struct component *component = term->component;
  k_value place = reach_look(f, (struct run_lookup){LOOKUP_PLACE, component->id, 0}, KT_I64, id);
  k_value there = K_ALL, zero = build_i64(f->b, 0);
  if (term_may_lack(term)) there = build_binary(f->b, KO_LE, zero, place);
  if (term_may_lack(term) && component->toggle) {
    struct run_lookup on = {LOOKUP_ON, component->id, 0};
    k_value shows = build_binary(f->b, KO_LE, zero, reach_look(f, on, KT_I64, id));
    there = build_binary(f->b, KO_AND, there, shows);
  }
  if (!term_has_cells(term, component))
    return there == K_ALL ? val_known(f, true) : val_number(f, there, false);
  if (term->leaf != NONE) partner_need_unshared(f, component, term->leaf);
  struct val shown = term->leaf == NONE
                         ? partner_shown(component, place, term->read_only)
                         : reach_cell_at(f, component, term->leaf, place, there);
  shown.present = there;
  shown.lacks = LACKS_FALSE;
  return shown;
}

/* A variable of a loop over a list of entities or events. */
static struct val partner_of_list(struct front *f, const struct run_list *list, uint32_t number,
                                  k_value place) {
  const struct val nothing = {.kind = VAL_NIL};
  uint32_t slots = list->kind == LIST_ROWS ? list->query->terms.slots : 0;
  if (list->kind == LIST_KEYS)
    return number > 1 ? nothing : scratch_pair(f, list->axes, number == 0, place);
  if (number > slots) return nothing;
  if (list->kind == LIST_EVENTS) {
    if (component_of(f->world, list->relation)->leaf_count == 0) return val_known(f, true);
    k_value row = build_binary(f->b, KO_SUB, place, build_i64(f->b, 1));
    return partner_shown(component_of(f->world, list->relation), row, true);
  }
  struct val entity = reach_entity(f, place);
  if (number == slots) return entity;
  return partner_of_term(f, query_term_of(&list->query->terms, number), entity.value);
}

/* ---- methods of indexes ---- */

/* The kinds of indexes, and the number of coordinates or keys; for a grid, by its axes. */
static const struct finder {
  const char *name;
  unsigned by;
  uint32_t count;
} finders[] = {
  [LIST_WITHIN] = {"within", 1u << ECS_BY_GRID, 0},
  [LIST_NEAREST] = {"nearest", 1u << ECS_BY_GRID, 0},
  [LIST_EQUAL] = {"find", 1u << ECS_BY_HASH | 1u << ECS_BY_MAYBE, 1},
  [LIST_RANGE] = {"range", 1u << ECS_BY_ORDER, 2},
  [LIST_LOWEST] = {"lowest", 1u << ECS_BY_ORDER, 1},
  [LIST_HIGHEST] = {"highest", 1u << ECS_BY_ORDER, 1}};

struct val partner_method(struct front *f, struct val object, const struct constant *key) {
  if (object.kind == VAL_QUERY) return partner_query_method(f, object, key);
  const char *name = index_name(partner_index_of(f, object));
  for (uint32_t i = 0; key->type == CONST_STRING && i < sizeof finders / sizeof *finders; i++)
    if (text_equal(finders[i].name, key->string.data, key->string.size))
      return (struct val){.kind = VAL_FINDER, .at = object.at, .number = i};
  if (key->type != CONST_STRING)
    front_refuse(f, "it reads something from index '%s' that is not a method", name);
  front_refuse(f, "it calls '%.*s' of index '%s': the methods of an index are find, highest, "
               "lowest, nearest, range and within", SHOW(key->string), name);
}

/* ---- arguments ---- */

static k_value partner_number_argument(struct front *f, struct val value, const char *method) {
  value = maybe_need(f, value);
  if (!val_is_number(f, value))
    front_refuse(f, "it calls %s of an index with something that is not a number", method);
  return number_as(f, value, KT_F64);
}

/* The entity to leave out; none where the argument is nil. */
static k_value partner_except_argument(struct front *f, struct val value) {
  k_value nobody = build_i64(f->b, 0);
  if (value.kind == VAL_NIL) return nobody;
  bool is_id = val_is_number(f, value) && val_type(f, value) == KT_I64 && !value.mixed;
  if (!is_id)
    front_refuse(f, "it calls nearest of an index with something that is not an entity to skip");
  return build_select(f->b, value.present, value.value, nobody);
}

/* A key; its kind in *kind. */
static k_value partner_key_argument(struct front *f, struct val value, enum key_kind *kind) {
  value = mixed_settle(f, maybe_need(f, value));
  bool truth = val_is_boolean(f, value);
  *kind = KEY_TEXT;
  if (val_is_string(value)) return text_as_cell(f, value);
  *kind = KEY_TRUTH;
  if (truth)
    return build_select(f->b, value.value, build_i64(f->b, 1), build_i64(f->b, 0));
  if (!val_is_number(f, value))
    front_refuse(f, "it looks up a key in an index that is not a number, a boolean or a string");
  *kind = val_type(f, value) == KT_I64 ? KEY_INTEGER : KEY_FLOAT;
  return *kind == KEY_INTEGER ? value.value : number_as(f, value, KT_F64);
}

/* A number of entities; for any other value, or one below 0, Lua raises an error. */
static k_value partner_count_argument(struct front *f, struct val value) {
  value = maybe_need(f, value);
  if (!val_is_number(f, value))
    front_refuse(f, "it passes an index a number of entities that is not a number");
  value = mixed_settle(f, value);
  k_value count = number_as(f, value, KT_I64);
  build_need(f->b, build_binary(f->b, KO_LE, build_i64(f->b, 0), count));
  return count;
}

static void partner_place_arguments(struct front *f, struct run_list *list,
                                    const struct val *arguments, uint32_t count,
                                    k_value *given) {
  struct val nil = {.kind = VAL_NIL};
  const char *name = finders[list->kind].name;
  for (uint32_t axis = 0; axis < list->axes; axis++)
    given[PLACE_X + axis] = partner_number_argument(f, arguments[1 + axis], name);
  given[PLACE_REACH] = partner_number_argument(f, arguments[1 + list->axes], name);
  if (list->kind == LIST_NEAREST)
    given[PLACE_EXCEPT] =
        partner_except_argument(f, count > list->axes + 2 ? arguments[2 + list->axes] : nil);
}

static void partner_key_arguments(struct front *f, struct run_list *list,
                                  const struct val *arguments, k_value *given) {
  if (list->kind >= LIST_LOWEST) {
    given[0] = partner_count_argument(f, arguments[1]);
    return;
  }
  for (uint32_t i = 0; i < finders[list->kind].count; i++) {
    enum key_kind kind;
    given[i] = partner_key_argument(f, arguments[1 + i], &kind);
    list->keys[i] = (uint8_t)kind;
  }
  bool ordered = list->kind == LIST_RANGE;
  if (ordered && (list->keys[0] > KEY_FLOAT || list->keys[1] > KEY_FLOAT))
    front_refuse(f, "it asks an index for a range whose bounds are not numbers");
}

/* Lists what the method finds. Returns the count. */
static k_value partner_list(struct front *f, struct val method, const struct val *arguments,
                            uint32_t count) {
  const struct finder *finder = &finders[method.number];
  const ecs_index *index = partner_index_of(f, method);
  k_value given[] = {K_NONE, K_NONE, K_NONE, K_NONE, K_NONE};
  struct run_list list = {.kind = (enum list_kind)method.number, .index = method.at,
                          .axes = index_axes(index)};
  uint32_t least = 1 + (list.axes ? list.axes + 1 : finder->count);
  bool fits = finder->by >> index->desc.by & 1;
  if (!fits || count < least || count > least + (list.kind == LIST_NEAREST))
    front_refuse(f, "it calls %s of index '%s', which is of another kind, or passes wrong "
                    "arguments", finder->name, index_name(index));
  if (f->list_count == RUN_LISTS)
    front_refuse(f, "it uses indexes in too many places: write it as two systems");
  if (list.axes)
    partner_place_arguments(f, &list, arguments, count, given);
  else
    partner_key_arguments(f, &list, arguments, given);
  return partner_goes_over(f, list, given, sizeof given / sizeof *given).value;
}

/* ---- what is found ---- */

/* The copy of a cell at a place. */
static struct val partner_cell(struct front *f, struct front_copy copy,
                               const struct component *component, uint32_t leaf,
                               k_value place) {
  k_column type = access_cell_type(f, component, leaf);
  bool entity = type == KC_ENTITY;
  uint32_t array = element_copies(f, copy, entity ? KC_I64 : type);
  struct val value = val_of_field(f, &component->leaves[leaf],
                                  build_element(f->b, array, place), false);
  if (entity) value.value = reach_live(f, value.value);
  return value;
}

struct val partner_field(struct front *f, struct val copy) {
  assert(copy.kind == VAL_PARTNER && copy.leaf < copy.root->leaf_count && !val_is_maybe(copy));
  struct front_copy from = {copy.at + 1, copy.slot, copy.leaf};
  return partner_cell(f, from, copy.root, copy.leaf, copy.value);
}

/* The entity of an index's row: no entity dies while a function runs. */
static struct val partner_entity_at(struct front *f, uint32_t index, k_value place) {
  struct front_copy from = {index + 1, NONE, 0};
  struct val entity =
      val_number(f, build_element(f->b, element_copies(f, from, KC_I64), place), false);
  entity.entity = true;
  return entity;
}

NORETURN void partner_refuse_write(struct front *f, struct val copy, const struct constant *key) {
  const char *name = copy.root->name;
  if (key->type == CONST_STRING)
    front_refuse(f, "it writes to '%s' of an index, which is a read-only copy: write "
                 "world:set(entity, \"%s.%.*s\", value)", name, name, SHOW(key->string));
  front_refuse(f, "it writes to '%s' of an index, which is a read-only copy: use world:set", name);
}

uint32_t partner_call(struct front *f, struct val method, const struct val *arguments,
                      uint32_t count, struct val results[FRONT_RESULTS]) {
  if (method.number == LIST_ROWS) {
    results[0] = partner_rows(f, method, arguments, count);
    return 1;
  }
  if (!count || arguments[0].kind != VAL_INDEX || arguments[0].at != method.at)
    front_refuse(f, "it calls a method of an index without the index: write index:within(...)");
  k_value found = partner_list(f, method, arguments, count);
  if (method.number != LIST_NEAREST) {
    results[0] = (struct val){.kind = VAL_PARTNERS, .at = method.at, .value = found};
    return 1;
  }
  k_value none = build_i64(f->b, 0);
  results[0] = partner_entity_at(f, method.at, build_picked(f->b, found, none));
  results[1] = val_number(f, build_taken(f->b, found, PLACE_DISTANCE), false);
  results[0].present = results[1].present = build_binary(f->b, KO_LT, none, found);
  return 2;
}

/* ---- loops ---- */

/* A variable of the loop: the value of a slot of the index, then the entity. */
static struct val partner_variable(struct front *f, struct val partners, uint32_t number,
                                   k_value place) {
  const struct val nothing = {.kind = VAL_NIL};
  uint32_t at = partners.at;
  if (at == NONE) return partner_of_list(f, &f->lists[partners.slot], number, place);
  const ecs_index *index = f->indexes[at];
  uint32_t slots = index_query(index)->terms.slots;
  if (number > slots) return nothing;
  if (number == slots) return partner_entity_at(f, at, place);
  const struct term *term = query_term_of(&index_query(index)->terms, number);
  bool lacks = term_may_lack(term);
  if (lacks && term->leaf != NONE)
    front_refuse(f, "it loops over index '%s', some of whose rows lack the field in its query "
                    "'%s': write the whole '%s' there, and read the field in rows that have it",
                 index_name(index), index_query(index)->text, term->component->name);
  k_value there = K_ALL;
  if (lacks) {
    struct front_copy flags = {at + 1, number, NONE};
    there = build_element(f->b, element_copies(f, flags, KC_BOOL), place);
  }
  if (!term_has_cells(term, term->component)) return val_number(f, there, false);
  struct front_copy copy = {at + 1, number, 0};
  if (term->leaf != NONE) return partner_cell(f, copy, term->component, term->leaf, place);
  return (struct val){.kind = VAL_PARTNER, .at = at, .slot = number, .value = place,
                      .component = term->component, .root = term->component, .present = there};
}

/* One attempt at the loop's body. */
static void partner_compile_round(struct front *f, struct loop *loop, struct val partners) {
  const struct code *code = &loop->frame->code->code[loop->head];
  k_value round = rounds_begin(loop, build_i64(f->b, INT64_MAX));
  k_value place = build_picked(f->b, partners.value, round);
  for (uint32_t i = 0; i < loop->frame->code->code[code->target].c; i++) {
    struct val value = partner_variable(f, partners, i, place);
    *front_register(f, code->a + EACH_VARIABLE + i) = value;
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
  if (partners.kind == VAL_ITEMS) {
    items_for(f, frame);
    return;
  }
  assert(code->kind == CODE_EACH && frame->code->code[code->target].kind == CODE_EACH_NEXT);
  if (partners.kind != VAL_PARTNERS)
    front_refuse(f, "it loops over an iterator: do that in a system's run");
  loop.shows = partners.at == NONE;
  front_jump_unless(f, loop.end, build_binary(f->b, KO_LT, build_i64(f->b, 0), partners.value));
  rounds_open(&loop, f, frame);
  do partner_compile_round(f, &loop, partners);
  while (rounds_again(&loop));
  rounds_end(&loop);
  bool keys = partners.at == NONE && f->lists[partners.slot].kind == LIST_KEYS;
  if (keys) f->list_open[f->lists[partners.slot].axes] = false;
  assert(frame->pc == loop.end);
}
