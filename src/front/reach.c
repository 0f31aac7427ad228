/* What a function reads of any entity by its id: world:get, has, enabled, alive, target and parent.
** A null or dead id is an error in Lua, except for world:alive, so such a row fails. */
#include "front/front.h"

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "kernel/ops.h"

/* ---- lookups ---- */

k_value reach_look(struct front *f, struct run_lookup lookup, uint32_t type, k_value from) {
  uint32_t i = 0;
  while (i < f->lookup_count && (f->lookups[i].kind != lookup.kind ||
                                 f->lookups[i].component != lookup.component ||
                                 f->lookups[i].leaf != lookup.leaf))
    i++;
  if (i == RUN_LOOKUPS)
    front_refuse(f, "it reads other entities in more than %d places: write it as two systems",
                 RUN_LOOKUPS);
  if (i == f->lookup_count) {
    uint32_t number = build_lookup(f->b, type);
    assert(number == i || number == NONE);
    (void)number;
    f->lookups[f->lookup_count++] = lookup;
  }
  bool placed = lookup.kind == LOOKUP_CELL || lookup.kind == LOOKUP_AT;
  return build_look(f->b, i, from, placed ? K_ALL : f->env.mask);
}

k_value reach_known_place(struct front *f, const struct component *component, k_value id) {
  for (uint32_t i = 0; i < f->lookup_count; i++)
    if (f->lookups[i].kind == LOOKUP_PLACE && f->lookups[i].component == component->id)
      return build_looked_up(f->b, i, id, f->env.mask);
  return K_NONE;
}

k_value reach_live(struct front *f, k_value id) {
  return reach_look(f, (struct run_lookup){.kind = LOOKUP_LIVE}, KT_I64, id);
}

/* ---- arguments ---- */

/* If the function spawns, rows with a dead number fall back to Lua: it may be the id of an entity
** that an earlier row has spawned. */
static void reach_need_known(struct front *f, struct val id) {
  if (id.entity || id.row_entity) return;
  f->asks_number = true;
  if (!f->shared.spawns) return;
  k_value known = build_binary(f->b, KO_EQ, reach_live(f, id.value), id.value);
  front_need(f, build_binary(f->b, KO_AND, known, id.present), NEEDS_LIVE);
}

struct val reach_need_id(struct front *f, const struct val *arguments, uint32_t count,
                         const char *method) {
  bool given = count > 1 && arguments[0].kind == VAL_WORLD && val_is_number(f, arguments[1]) &&
               val_type(f, arguments[1]) == KT_I64 && !arguments[1].mixed;
  if (!given)
    front_refuse(f, "it calls world:%s with something that is not an entity id: pass an entity "
                    "field, the row's entity or an id held outside", method);
  reach_need_known(f, arguments[1]);
  return arguments[1];
}

void reach_need_alive(struct front *f, struct val id) {
  if (id.row_entity) return;
  k_value null = build_i64(f->b, 0);
  front_need(f, build_binary(f->b, KO_NE, reach_live(f, id.value), null), NEEDS_LIVE);
}

struct component *reach_field(struct front *f, struct val named, uint32_t *leaf) {
  struct component *component = NULL;
  *leaf = NONE;
  if (named.kind != VAL_STRING) return call_component(f, named);
  ecs_status status =
      component_path(f->world, named.string.data, named.string.size, &component, leaf);
  f->fleeting = status != ECS_OK;   /* until it is declared */
  if (f->fleeting) front_refuse(f, "%s", f->world->message);
  return component;
}

k_value reach_place_of(struct front *f, struct val id, const struct component *component,
                              enum lookup_kind kind) {
  struct run_lookup lookup = {kind, component->id, 0};
  k_value place = reach_look(f, lookup, KT_I64, id.value);
  if (!id.row_entity)
    front_need(f, build_binary(f->b, KO_NE, place, build_i64(f->b, PLACE_DEAD)), NEEDS_LIVE);
  return place;
}

static k_value reach_is_there(struct front *f, k_value place) {
  return build_binary(f->b, KO_GE, place, build_i64(f->b, 0));
}

/* ---- world:get ---- */

struct val reach_cell_at(struct front *f, const struct component *component, uint32_t leaf,
                         k_value place, k_value present) {
  const struct leaf *field = &component->leaves[leaf];
  if (class_is_shared(f, component, leaf)) {
    struct val got = class_get(f, component, leaf, class_cell_at(f, component, leaf, place));
    got.present = present;
    return got;
  }
  k_type type = column_value(access_cell_type(f, component, leaf));
  struct run_lookup lookup = {LOOKUP_CELL, component->id, leaf};
  struct val cell = val_of_field(f, field, reach_look(f, lookup, type, place), false);
  cell.present = present;
  return cell;
}

static void reach_refuse_whole(struct front *f, const struct component *component) {
  if (component->relation && !component->ties.exclusive)
    front_refuse(f, "it reads '%s', a relation that can have several targets: get them with "
                    "world:targets, and the fields with a term, as in (%s, *)", component->name,
                 component->name);
  if (component->leaf_count == 0)
    front_refuse(f, "it reads the tag '%s', which has no value: write world:has", component->name);
}

/* The target of a relation or, for NULL, of ChildOf. */
static struct val reach_target_of(struct front *f, struct val id,
                                  const struct component *relation) {
  struct run_lookup lookup = {LOOKUP_TARGET, relation ? relation->id : ECS_NULL, 0};
  reach_need_alive(f, id);
  struct val target = val_number(f, reach_look(f, lookup, KT_I64, id.value), false);
  target.entity = true;
  target.present = build_binary(f->b, KO_NE, target.value, build_i64(f->b, 0));
  return target;
}

/* The target in the arguments of a call: an id, or the name of a component or tag. */
static k_value reach_whom(struct front *f, const struct val *arguments, const char *method) {
  if (val_is_text(arguments[3])) return tie_named(f, arguments[3]);
  struct val of[] = {arguments[0], arguments[3]}, whom = reach_need_id(f, of, 2, method);
  reach_need_alive(f, whom);
  return whom.value;
}

uint32_t reach_get(struct front *f, const struct val *arguments, uint32_t count,
                   struct val results[FRONT_RESULTS], uint32_t wanted) {
  struct val id = reach_need_id(f, arguments, count, "get");
  struct val named = count > 2 ? arguments[2] : (struct val){.kind = VAL_NIL};
  uint32_t leaf;
  const struct component *component = reach_field(f, named, &leaf);
  if (!component)
    front_refuse(f, "it calls world:get with something other than the name or id of a component "
                    "from a constant, an upvalue or a field of a table");
  reach_refuse_whole(f, component);
  bool tie = count == 4 && component->relation;   /* asks about a given target */
  if (count > 3 && !tie)
    front_refuse(f, "it calls world:get with more than an id and '%s'", component->name);
  bool single = leaf != NONE;
  if (!single && (!component->flat || component->field_count > FRONT_RESULTS))
    front_refuse(f, "it reads all of '%s', which has arrays, nested components or many fields: "
                    "name a field, as in '%s.%s'", component->name, component->name,
                 component->leaves[0].name);
  k_value place = reach_place_of(f, id, component, LOOKUP_PLACE),
          present = reach_is_there(f, place);
  if (tie) {
    k_value whom = reach_whom(f, arguments, "get");
    k_value same = build_binary(f->b, KO_EQ, reach_target_of(f, id, component).value, whom);
    present = build_binary(f->b, KO_AND, present, same);
  }
  uint32_t all = single ? 1 : component->field_count, given = wanted < all ? wanted : all;
  for (uint32_t i = 0; i < given; i++)
    results[i] = reach_cell_at(f, component, single ? leaf : i, place, present);
  return given;
}

/* The next field that a value may name, and its component; NULL after the last one. */
static const struct component *reach_next_named(struct front *f, const struct val *name,
                                                uint32_t *at, uint32_t *leaf) {
  const ecs_string *one = choice_each(f, name, NULL, at);
  return one ? reach_field(f, (struct val){.kind = VAL_STRING, .string = *one}, leaf) : NULL;
}

/* Whether all fields that a value may name have one component and one type; then their first
** leaf. */
static const struct component *reach_all_named(struct front *f, const struct val *name,
                                               uint32_t *first) {
  uint32_t at = 0, leaf, last = 0;
  const struct component *component = NULL, *next;
  *first = NONE;
  while ((next = reach_next_named(f, name, &at, &leaf))) {
    if (!component) component = next;
    if (next != component || leaf == NONE || component->relation) return NULL;
    ecs_type type = component->leaves[leaf].type;
    if (type == ECS_ENUM || type != component->leaves[*first == NONE ? leaf : *first].type)
      return NULL;
    if (leaf < *first) *first = leaf;
    if (leaf > last) last = leaf;
  }
  return component && last - *first < PLACE_ELEMENTS ? component : NULL;
}

bool reach_get_named(struct front *f, const struct val *arguments, uint32_t count,
                     struct val *result) {
  uint32_t first = NONE, leaf, at = 0;
  struct val name = count == 3 ? maybe_need(f, arguments[2]) : (struct val){.kind = VAL_NIL};
  const struct component *component = count == 3 ? reach_all_named(f, &name, &first) : NULL;
  if (!component) return false;
  struct val given[] = {arguments[0], maybe_need(f, arguments[1])};
  struct val id = reach_need_id(f, given, 2, "get");
  k_value place = reach_place_of(f, id, component, LOOKUP_PLACE), element = build_i64(f->b, 0);
  k_value present = reach_is_there(f, place);
  bool shared = false;
  while (reach_next_named(f, &name, &at, &leaf)) {
    k_value here = choice_is(f, name, at);
    element = build_select(f->b, here, build_i64(f->b, leaf - first), element);
    shared |= class_is_shared(f, component, leaf);
  }
  place = field_move(f, place, element, 1);
  /* Each lookup only notes that the function reads the field. */
  for (at = 0; reach_next_named(f, &name, &at, &leaf);) {
    if (shared) class_share(f, component, leaf);
    (void)reach_cell_at(f, component, leaf, place, present);
  }
  *result = reach_cell_at(f, component, first, place, present);
  return true;
}

struct val reach_read(struct front *f, const struct val *arguments, uint32_t count) {
  struct val id = reach_need_id(f, arguments, count, "read");
  const struct component *component = count == 3 ? call_component(f, arguments[2]) : NULL;
  if (!component)
    front_refuse(f, "it calls world:read with something other than an id and the name or id of a "
                    "component");
  reach_refuse_whole(f, component);
  k_value place = reach_place_of(f, id, component, LOOKUP_PLACE);
  struct val table = order_table(f);
  for (uint32_t i = 0; i < component->field_count; i++) {
    const struct field *field = &component->fields[i];
    struct constant key = {.type = CONST_STRING, .string = {field->name, strlen(field->name)}};
    struct val value = {.kind = VAL_ELEMENT, .of = VAL_TABLE, .value = place, .root = component,
                        .leaf = field->first_leaf, .component = field->count ? NULL : field->nested,
                        .array = field->count ? field : NULL};
    if (order_leaf_at(component, i + 1) != NONE)
      value = reach_cell_at(f, component, field->first_leaf, place, K_ALL);
    order_item(f, table, &key, value);
  }
  table.present = reach_is_there(f, place);
  return table;
}

bool reach_looks_up(const struct front *f, const struct component *component, uint32_t leaf) {
  for (uint32_t i = 0; i < f->lookup_count; i++) {
    const struct run_lookup *lookup = &f->lookups[i];
    if (lookup->kind == LOOKUP_CELL && lookup->component == component->id &&
        component_same_field(component, lookup->leaf, leaf))
      return true;
  }
  return false;
}

void reach_check_written(struct front *f, const struct component *component, uint32_t leaf) {
  if (reach_looks_up(f, component, leaf)) class_share(f, component, leaf);
}

/* ---- world:has, enabled ---- */

/* What the query's terms say about the row having a component: 1 it has it, 0 it does not, -1
** nothing. */
static int reach_known_presence(const struct front *f, const struct component *component) {
  const struct query_terms *terms = &f->query->terms;
  for (uint32_t i = 0; i < terms->count; i++) {
    const struct term *term = &terms->terms[i];
    if (!term_is_own(term) || term->id != component->id) continue;
    if (term_may_lack(term) && f->maybe >> term->slot & 1) return -1;
    bool there = term_may_lack(term) && f->present >> term->slot & 1;
    bool decided = term_may_lack(term) || term->kind == TERM_WITHOUT;
    bool hides = term->news || (component->toggle && term->state != TERM_ANY);
    if (there || term->kind == TERM_WITH) return 1;
    if (decided && !hides) return 0;   /* otherwise it may be switched off */
  }
  return -1;
}

/* The uniform that says whether a table has a component. */
static uint32_t reach_asked_uniform(struct front *f, const struct component *component) {
  for (uint32_t i = 0; i < f->asked_count; i++)
    if (f->asked[i].component == component->id) return f->asked[i].uniform;
  if (f->asked_count == RUN_ASKED)
    front_refuse(f, "it asks for more than %d components: write it as two systems", RUN_ASKED);
  struct run_asked asked = {component->id, (uint32_t)outside_uniform(f)};
  f->asked[f->asked_count++] = asked;
  return asked.uniform;
}

/* The component that world:has or world:enabled asks for. */
static const struct component *reach_need_owned(struct front *f, const struct val *arguments,
                                                uint32_t count, const char *method) {
  const struct component *component = count > 2 ? call_component(f, arguments[2]) : NULL;
  if (!component || (count != 3 && !component->relation))
    front_refuse(f, "it calls world:%s with something other than the name or id of a component "
                    "from a constant, an upvalue or a field of a table", method);
  return component;
}

/* Whether an entity is among the targets of another, by a loop over them. */
static struct val reach_among_targets(struct front *f, const struct val *arguments, k_value whom) {
  struct builder *b = f->b;
  k_value count = reach_tied(f, arguments, 3, "targets").value, here = f->env.mask;
  k_value enters = mask_and(f, here, build_binary(b, KO_LT, build_i64(b, 0), count));
  k_value round = build_loop(b, build_i64(b, INT64_MAX), enters);
  k_value found = build_carry(b, build_bool(b, false), true);
  k_value live = build_carry(b, enters, true);
  k_value next = build_binary(b, KO_ADD, round, build_i64(b, 1));
  f->env.mask = live;
  k_value target = reach_entity(f, build_picked(b, count, round)).value;
  f->env.mask = here;
  k_value same = build_binary(b, KO_AND, live, build_binary(b, KO_EQ, target, whom));
  k_value more = build_binary(b, KO_AND, live, build_binary(b, KO_LT, next, count));
  more = build_binary(b, KO_ANDN, more, same);
  build_next(b, found, build_binary(b, KO_OR, found, same));
  build_next(b, live, more);
  build_endloop(b, more);
  build_at(b, here, front_tag(f));
  return val_number(f, found, false);
}

/* Whether an entity has any tie, or a tie to a target: an id, or the name of a component or tag. */
static struct val reach_has_tie(struct front *f, struct val id, const struct component *relation,
                                const struct val *arguments, uint32_t count) {
  if (call_pair(f, arguments[2]) != ECS_NULL)
    front_refuse(f, "it tests a tie by the id of a pair: write world:has(e, \"%s\", target)",
                 relation->name);
  struct val target = reach_target_of(f, id, relation);
  if (count == 3) return val_number(f, target.present, false);
  k_value whom = reach_whom(f, arguments, "has");
  if (!relation->ties.exclusive) return reach_among_targets(f, arguments, whom);
  return val_number(f, build_binary(f->b, KO_EQ, target.value, whom), false);
}

struct val reach_has(struct front *f, const struct val *arguments, uint32_t count) {
  struct val id = reach_need_id(f, arguments, count, "has");
  const struct component *component = reach_need_owned(f, arguments, count, "has");
  if (component->relation && count < 5) return reach_has_tie(f, id, component, arguments, count);
  int known = id.row_entity ? reach_known_presence(f, component) : -1;
  if (known >= 0) return val_known(f, known);
  bool by_table = !component->sparse && !f->query->terms.step_count;
  if (!id.row_entity || !by_table)
    return val_number(f, reach_is_there(f, reach_place_of(f, id, component, LOOKUP_PLACE)), false);
  uint32_t uniform = reach_asked_uniform(f, component);
  return val_number(f, build_uniform(f->b, uniform, KT_BOOL), false);
}

struct val reach_enabled(struct front *f, const struct val *arguments, uint32_t count) {
  struct val id = reach_need_id(f, arguments, count, "enabled");
  const struct component *component = reach_need_owned(f, arguments, count, "enabled");
  if (component->relation || count != 3)
    front_refuse(f, "it calls world:enabled with a relation, which cannot be switched off");
  return val_number(f, reach_is_there(f, reach_place_of(f, id, component, LOOKUP_ON)), false);
}

/* ---- world:alive, target, parent ---- */

struct val reach_alive(struct front *f, const struct val *arguments, uint32_t count) {
  bool nil = count > 1 && arguments[1].kind == VAL_NIL;
  if (nil && arguments[0].kind == VAL_WORLD) return val_known(f, false);
  struct val id = reach_need_id(f, arguments, count, "alive");
  k_value lives = build_binary(f->b, KO_NE, reach_live(f, id.value), build_i64(f->b, 0));
  return val_number(f, build_binary(f->b, KO_AND, lives, id.present), false);
}

struct val reach_target(struct front *f, const struct val *arguments, uint32_t count) {
  struct val id = reach_need_id(f, arguments, count, "target");
  const struct component *relation = count == 3 ? call_component(f, arguments[2]) : NULL;
  if (!relation || !relation->relation)
    front_refuse(f, "it calls world:target with something other than the name or id of a relation "
                    "from a constant, an upvalue or a field of a table");
  return reach_target_of(f, id, relation);
}

struct val reach_tied(struct front *f, const struct val *arguments, uint32_t count,
                      const char *method) {
  struct val id = reach_need_id(f, arguments, count, method);
  bool children = method[0] == 'c';
  const struct component *relation =
      count == 3 && !children ? call_component(f, arguments[2]) : NULL;
  if (children ? count != 2 : !relation || !relation->relation)
    front_refuse(f, "it calls world:%s with too many arguments, or with something other than the "
                    "name or id of a relation from a constant, an upvalue or a field of a table",
                 method);
  reach_need_alive(f, id);
  if (f->list_count == RUN_LISTS)
    front_refuse(f, "it has more than %d loops over indexes and ties: write it as two systems",
                 RUN_LISTS);
  struct run_list list = {.kind = method[0] == 't' ? LIST_TARGETS : LIST_SOURCES,
                          .relation = relation ? relation->id : ECS_NULL};
  return partner_goes_over(f, list, &id.value, 1);
}

struct val reach_entity(struct front *f, k_value place) {
  struct run_lookup lookup = {LOOKUP_ENTITY, ECS_NULL, 0};
  struct val entity = val_number(f, reach_look(f, lookup, KT_I64, place), false);
  entity.entity = true;
  return entity;
}

struct val reach_parent(struct front *f, const struct val *arguments, uint32_t count) {
  struct val id = reach_need_id(f, arguments, count, "parent");
  if (count != 2) front_refuse(f, "it calls world:parent with more than an entity");
  return reach_target_of(f, id, NULL);
}
