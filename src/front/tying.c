/* Compiles ties. The order that ties has the target as its value; the orders after it, its parts,
** set the relation's fields, and all take effect together. */
#include "front/front.h"

#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"

/* An order that ties, and those that set fields. */
struct tying {
  const struct component *relation;
  struct run_command command;
  k_value entity, target;
  uint32_t count;
  struct {
    struct run_command command;
    k_value value;
  } fields[RUN_ORDERS];
};

/* ---- targets ---- */

k_value tie_named(struct front *f, struct val text) {
  assert(val_is_text(text));
  if (text.kind == VAL_STRING) return build_i64(f->b, (int64_t)call_named(f, text.string)->id);
  k_value id = K_NONE;
  uint32_t at = 0;
  for (const ecs_string *name; (name = choice_each(f, &text, NULL, &at));) {
    k_value named = build_i64(f->b, (int64_t)call_named(f, *name)->id);
    id = id == K_NONE ? named : build_select(f->b, choice_is(f, text, at), named, id);
  }
  return id;
}

/* A target argument: an id, or the name of a component or tag. */
static k_value tying_target_argument(struct front *f, const struct component *relation,
                                     struct run_command *command, struct val value) {
  value = maybe_need(f, value);
  command->gives = value.spawned;
  if (value.spawned) return value.value;
  if (val_is_text(value)) return tie_named(f, value);
  if (!val_is_number(f, value) || tie_is_pair(f, value))
    front_refuse(f, "it ties with '%s' to something that is not an entity id: pass an entity "
                    "field, the row's entity, an id held outside or the name of a component or "
                    "tag", relation->name);
  return number_as(f, value, KT_I64);
}

struct val tie_pair(struct front *f, const struct val *arguments, uint32_t count) {
  if (count != 3 || arguments[0].kind != VAL_WORLD)
    front_refuse(f, "it passes wrong arguments to world:pair: write world:pair(\"Likes\", "
                    "target)");
  const struct component *relation = call_component(f, arguments[1]);
  if (!relation || !relation->relation)
    front_refuse(f, "it calls world:pair with something other than the name or id of a relation "
                    "from a constant, an upvalue or a field of a table");
  struct run_command command = {.action = RUN_TIE};
  struct val pair = {.kind = VAL_PAIR, .component = relation};
  pair.value = tying_target_argument(f, relation, &command, arguments[2]);
  pair.spawned = command.gives;
  if (!val_is_text(arguments[2]) && !pair.spawned)   /* if dead, Lua's error */
    front_need(f, build_binary(f->b, KO_NE, reach_live(f, pair.value), build_i64(f->b, 0)),
               NEEDS_LIVE);
  return pair;
}

bool tie_is_pair(struct front *f, struct val value) {
  return value.kind == VAL_PAIR || call_pair(f, value) != ECS_NULL;
}

/* Takes the target in a pair's id; false if the value is not such an id. */
static bool tying_take_pair(struct front *f, struct tying *tying, struct val named) {
  ecs_id pair = named.kind == VAL_PAIR ? ECS_NULL : call_pair(f, named);
  if (named.kind == VAL_PAIR) {
    tying->relation = named.component;
    tying->target = named.value;
    tying->command.gives = named.spawned;
    return true;
  }
  if (pair == ECS_NULL) return false;
  tying->relation = call_component(f, named);
  tying->target = build_i64(f->b, (int64_t)pair_target(pair));
  tying->command.by_index = true;
  return true;
}

/* ---- noting orders ---- */

static void tying_begin(struct front *f, struct tying *tying, struct val entity) {
  if (f->result > RESULT_MAP)
    front_refuse(f, "it ties entities and returns a result: do that in a system's each");
  order_want(f);
  tying->command.component = tying->relation->id;
  tying->command.whom = entity.spawned;
  tying->entity = order_entity(f, entity);
}

static void tying_note(struct front *f, const struct tying *tying) {
  struct run_command command = tying->command;
  command.parts = tying->count;
  order_with(f, command, tying->entity, tying->target);
  for (uint32_t i = 0; i < tying->count; i++)
    order_add(f, tying->fields[i].command, tying->fields[i].value);
}

static void tying_give_field(struct front *f, struct tying *tying, uint32_t leaf,
                             struct val value) {
  const struct component *relation = tying->relation;
  if (leaf == NONE)
    front_refuse(f, "it gives '%s' a value that has no single field to go to: name the field, as "
                    "in { %s = v }", relation->name, relation->leaf_count ?
                    relation->leaves[relation->leaf_count - 1].name : "field");
  if (leaf_is_target(relation, leaf))
    front_refuse(f, "it gives '%s' a target twice: leave it out of the table", relation->name);
  if (tying->count == RUN_ORDERS)
    front_refuse(f, "it gives '%s' more than %d values", relation->name, RUN_ORDERS);
  struct run_command command = {.action = RUN_SET, .component = relation->id, .leaf = leaf,
                                .part = true, .whom = tying->command.whom};
  tying->fields[tying->count].value = order_value(f, relation, &command, maybe_need(f, value));
  tying->fields[tying->count++].command = command;
}

/* Gives the items of a table that the function creates; the target in it may be used already. */
static void tying_give_items(struct front *f, struct tying *tying, struct val table,
                             bool target_used) {
  order_check_twice(f, tying->relation, f->made[table.at].first);
  for (uint32_t at = f->made[table.at].first; at != NONE; at = f->items[at].next) {
    const struct front_item *item = &f->items[at];
    uint32_t leaf = order_leaf(tying->relation, item);
    bool used = target_used && leaf != NONE && leaf_is_target(tying->relation, leaf);
    if (!used && item->value.kind != VAL_NIL)
      tying_give_field(f, tying, leaf, order_value_of(item));
  }
}

/* What follows the target: values in the order of the fields, or a table of them. */
static void tying_give_values(struct front *f, struct tying *tying, const struct val *values,
                              uint32_t count) {
  uint32_t first = tying->relation->ties.exclusive ? 2 : 1;
  if (count == 1 && values->kind == VAL_TABLE) {
    tying_give_items(f, tying, *values, false);
    return;
  }
  for (uint32_t i = 0; i < count; i++)
    tying_give_field(f, tying, order_leaf_at(tying->relation, first + i), values[i]);
}

/* The target among the fields of an exclusive relation; NULL if it is absent. */
static const struct front_item *tying_target_item(const struct front *f,
                                                  const struct component *relation,
                                                  struct val table) {
  const struct front_item *target = NULL;
  for (uint32_t at = f->made[table.at].first; at != NONE; at = f->items[at].next) {
    uint32_t leaf = order_leaf(relation, &f->items[at]);
    bool is_target = leaf != NONE && leaf_is_target(relation, leaf);
    if (is_target && f->items[at].value.kind != VAL_NIL) target = &f->items[at];
  }
  return target;
}

/* The target of an exclusive relation, given as a field: null unties. */
static void tying_take_field(struct front *f, struct tying *tying, struct val value) {
  const struct component *relation = tying->relation;
  value = maybe_need(f, value);
  tying->command.as_field = true;
  tying->command.gives = value.spawned;
  tying->target = value.spawned ? value.value : access_noted(f, relation, TARGET_LEAF, value);
}

/* ---- world:add, world:remove ---- */

void tie_call(struct front *f, const struct component *relation, bool adds,
              const struct val *arguments, uint32_t count) {
  struct tying tying = {.relation = relation, .command.action = adds ? RUN_TIE : RUN_UNTIE};
  const char *name = relation->name, *method = adds ? "add" : "remove";
  bool pair = tying_take_pair(f, &tying, arguments[2]), all = !adds && !pair && count == 3;
  if (!all && count != (pair ? 3 : 4))
    front_refuse(f, "it calls world:%s of '%s' without its one target: write world:%s(id, \"%s\", "
                    "target)", method, name, method, name);
  tying_begin(f, &tying, arguments[1]);
  tying.command.leaf = all ? NONE : TARGET_LEAF;
  if (all) tying.target = tying.entity;
  if (!all && !pair)
    tying.target = tying_target_argument(f, relation, &tying.command, arguments[3]);
  tying_note(f, &tying);
}

/* ---- world:set ---- */

/* Sets fields of an existing tie. */
static void tying_set_fields_of_tie(struct front *f, const struct tying *tying, struct val entity) {
  const struct component *relation = tying->relation;
  if (entity.spawned)
    front_refuse(f, "it sets fields of '%s' of a spawned entity without a target: spawn it with "
                    "them, as in { %s = { target = id, ... } }", relation->name, relation->name);
  if (tying->count == 0)
    front_refuse(f, "it sets '%s' without a value: write world:add", relation->name);
  for (uint32_t i = 0; i < tying->count; i++) {
    struct run_command command = tying->fields[i].command;
    command.part = false;
    order_with(f, command, tying->entity, tying->fields[i].value);
  }
}

static void tying_set_exclusive(struct front *f, struct tying *tying, uint32_t leaf, bool pair,
                                const struct val *arguments, uint32_t count) {
  const struct component *relation = tying->relation;
  const struct val *value = &arguments[3];
  if (pair) {
    tying_give_values(f, tying, value, count - 3);
  } else if (leaf != NONE && leaf != TARGET_LEAF) {
    tying_give_field(f, tying, leaf, *value);
    tying_set_fields_of_tie(f, tying, arguments[1]);
    return;
  } else if (leaf == NONE && value->kind == VAL_TABLE) {
    const struct front_item *target = tying_target_item(f, relation, *value);
    if (target) tying_take_field(f, tying, order_value_of(target));
    tying_give_items(f, tying, *value, true);
    if (!target) {
      tying_set_fields_of_tie(f, tying, arguments[1]);
      return;
    }
  } else if (leaf == NONE && val_is_text(*value)) {
    tying->target = tying_target_argument(f, relation, &tying->command, *value);
    tying_give_values(f, tying, value + 1, count - 4);
  } else {
    tying_take_field(f, tying, *value);
    for (uint32_t i = 4; i < count; i++)
      tying_give_field(f, tying, order_leaf_at(relation, i - 2), arguments[i]);
  }
  tying->command.as_field = true;
  tying_note(f, tying);
}

static void tying_set_pair(struct front *f, struct tying *tying, uint32_t leaf, bool pair,
                           const struct val *arguments, uint32_t count) {
  const struct component *relation = tying->relation;
  uint32_t next = pair ? 3 : 4;
  if (!pair) tying->target = tying_target_argument(f, relation, &tying->command, arguments[3]);
  if (leaf != NONE)
    tying_give_field(f, tying, leaf, arguments[next]);
  else
    tying_give_values(f, tying, &arguments[next], count - next);
  if (tying->count == 0 && relation->field_count)
    front_refuse(f, "it sets '%s' without a value: write world:add(id, \"%s\", target)",
                 relation->name, relation->name);
  tying_note(f, tying);
}

bool tie_set(struct front *f, const struct val *arguments, uint32_t count) {
  struct tying tying = {.command = {.action = RUN_TIE, .leaf = TARGET_LEAF}};
  uint32_t leaf = NONE;
  if (count < 3) return false;
  bool pair = tying_take_pair(f, &tying, arguments[2]);
  if (!pair) tying.relation = reach_field(f, arguments[2], &leaf);
  if (!tying.relation || !tying.relation->relation) return false;
  const char *name = tying.relation->name;
  bool exclusive = tying.relation->ties.exclusive, one = exclusive || pair;
  uint32_t least = pair ? 3 : leaf != NONE && !exclusive ? 5 : 4;
  if (count < least || (leaf != NONE && count != least))
    front_refuse(f, "it sets '%s' without %s: write world:set(id, \"%s\", target, ...)", name,
                 one ? "a value" : "a target and a value", name);
  tying_begin(f, &tying, arguments[1]);
  (exclusive ? tying_set_exclusive : tying_set_pair)(f, &tying, leaf, pair, arguments, count);
  return true;
}

/* ---- world:spawn ---- */

static void tying_part_of_spawn(struct front *f, struct tying *tying) {
  tying->command.component = tying->relation->id;
  tying->entity = build_i64(f->b, 0);
  tying_note(f, tying);
}

static struct tying tying_part(const struct component *relation) {
  return (struct tying){.relation = relation,
                        .command = {.action = RUN_TIE, .leaf = TARGET_LEAF, .part = true,
                                    .whom = SPAWNED_ALL}};
}

static void tying_spawn_exclusive(struct front *f, const struct component *relation,
                                  struct val value) {
  struct tying tying = tying_part(relation);
  const struct front_item *target =
      value.kind == VAL_TABLE ? tying_target_item(f, relation, value) : NULL;
  if (value.kind == VAL_TABLE && !target)
    front_refuse(f, "it spawns with '%s' without its target: write { %s = { target = id } }",
                 relation->name, relation->name);
  if (target) {
    tying_take_field(f, &tying, order_value_of(target));
    tying_give_items(f, &tying, value, true);
  } else {
    tying.target = tying_target_argument(f, relation, &tying.command, value);
  }
  tying_part_of_spawn(f, &tying);
}

/* One target, or a list of them. */
static void tying_spawn_targets(struct front *f, const struct component *relation,
                                struct val value) {
  bool list = value.kind == VAL_TABLE;
  uint32_t at = list ? f->made[value.at].first : NONE;
  for (uint32_t n = 1; !list || at != NONE; n++) {
    struct tying tying = tying_part(relation);
    const struct front_item *item = list ? &f->items[at] : NULL;
    if (item && (item->position != n || item->value.kind == VAL_NIL))
      front_refuse(f, "it spawns with '%s' set to a table that is not a list of targets: give "
                      "values for each target, as in [world:pair(\"%s\", id)] = { ... }",
                   relation->name, relation->name);
    tying.target = tying_target_argument(f, relation, &tying.command,
                                         item ? order_value_of(item) : value);
    tying_part_of_spawn(f, &tying);
    if (!list) return;
    at = item->next;
  }
}

/* A pair with true, or a table of the relation's fields. */
static void tying_spawn_pair(struct front *f, const struct front_item *item) {
  const struct val *value = &item->value;
  struct tying tying = tying_part(NULL);
  bool found = tying_take_pair(f, &tying, item->pair);
  assert(found && tying.relation);
  (void)found;
  bool is_true = value->kind == VAL_VALUE && value->value == build_bool(f->b, true);
  if (!is_true && value->kind != VAL_TABLE)
    front_refuse(f, "it spawns with a pair of '%s' set to something other than true or a table of "
                    "its fields", tying.relation->name);
  if (!is_true) tying_give_items(f, &tying, *value, false);
  tying_part_of_spawn(f, &tying);
}

static const struct component *tying_item_relation(struct front *f, const struct front_item *item) {
  if (order_is_gone(f, item)) return NULL;
  const struct component *component =
      item->pair.kind == VAL_PAIR ? item->pair.component
                                  : item->pair.kind ? call_component(f, item->pair)
                                                    : call_named(f, item->key);
  return component->relation ? component : NULL;
}

/* If two items may name one target, Lua takes them in any order. */
static void tying_check_once(struct front *f, const struct component *relation,
                             const struct front_item *before) {
  if (before && (relation->ties.exclusive || (relation->field_count && before->pair.kind)))
    front_refuse(f, "it spawns with '%s' in several ways: keep one, and add the others with "
                    "world:set afterwards", relation->name);
}

static void tying_spawn_by(struct front *f, const struct component *relation, uint32_t first) {
  const struct front_item *before = NULL;
  for (uint32_t at = first; at != NONE; at = f->items[at].next) {
    const struct front_item *item = &f->items[at];
    if (tying_item_relation(f, item) != relation) continue;
    tying_check_once(f, relation, before);
    before = item;
    if (item->pair.kind)
      tying_spawn_pair(f, item);
    else if (relation->ties.exclusive)
      tying_spawn_exclusive(f, relation, item->value);
    else
      tying_spawn_targets(f, relation, item->value);
  }
}

void tie_spawned(struct front *f, uint32_t first) {
  const struct component *last = NULL;
  for (;;) {
    const struct component *next = NULL;
    for (uint32_t at = first; at != NONE; at = f->items[at].next) {
      const struct component *relation = tying_item_relation(f, &f->items[at]);
      if (!relation || (last && relation->id <= last->id)) continue;
      if (!next || relation->id < next->id) next = relation;
    }
    if (!next) return;
    tying_spawn_by(f, next, first);
    last = next;
  }
}
