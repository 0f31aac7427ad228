#include <lua.h>

#include "core/base/column.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "front/front.h"

/* Changes of entities. Those of the row's own entity are marked in bitmaps, if it does not matter
** in which round of a loop they were made; otherwise all changes of the function are orders,
** carried out one by one. */

void order_want(struct front *f) {
  if (f->orders) return;
  f->wants_orders = true;
  front_refuse(f, "its changes are deferred in the order of its rows");
}

/* Bitmaps do not record rounds: all changes in one loop must be the same. */
static bool commands_rounds_differ(const struct front *f, const struct run_command *command) {
  for (uint32_t i = f->loop_commands; f->loop_depth && i < f->command_count; i++) {
    const struct run_command *other = &f->commands[i];
    if (other->action != command->action || other->component != command->component) return true;
  }
  return false;
}

static void need_command(struct front *f) {
  uint32_t most = f->orders ? RUN_ORDERS : RUN_BITMAPS;
  if (f->command_count == most)
    front_refuse(f, "it changes entities in more than %d places, where each value given counts as "
                    "one: write it as two systems", (int)most);
}

/* The cell of an entity's field, if the function has looked it up before. */
static k_value commands_cell(struct front *f, const struct run_command *command, k_value entity) {
  if (command->action != RUN_SET || command->part || command->whom || command->gives) return K_NONE;
  const struct component *component = component_of(f->world, command->component);
  if (component->relation || command->leaf == NONE ||
      !class_is_shared(f, component, command->leaf))
    return K_NONE;
  k_value place = reach_known_place(f, component, entity);
  return place == K_NONE ? K_NONE : class_cell_at(f, component, command->leaf, place);
}

uint32_t order_with(struct front *f, struct run_command command, k_value entity, k_value value) {
  need_command(f);
  k_value cell = commands_cell(f, &command, entity);
  f->commands[f->command_count] = command;
  build_order(f->b, f->command_count, entity, value, cell);
  return f->command_count++;
}

uint32_t order_add(struct front *f, struct run_command command, k_value value) {
  return order_with(f, command, build_i64(f->b, 0), value);
}

static const struct component *commands_component_argument(struct front *f,
                                                           const struct val *arguments,
                                                           uint32_t count) {
  const struct component *component = NULL;
  if (count > 2)
    component = arguments[2].kind == VAL_PAIR ? arguments[2].component
                                              : call_component(f, arguments[2]);
  if (!component || (count != 3 && !component->relation))
    front_refuse(f, "it adds or removes something other than the name or id of a component from a "
                    "constant, an upvalue or a field of a table");
  return component;
}

/* The component and field that world:set names. */
static struct component *commands_field_argument(struct front *f, const struct val *arguments,
                                                 uint32_t count, uint32_t *leaf) {
  bool named = count == 4 && arguments[2].kind == VAL_STRING;
  struct component *component = named ? reach_field(f, arguments[2], leaf) : NULL;
  if (!component || *leaf == NONE)
    front_refuse(f, "it calls world:set with something other than a field and its value, or a "
                    "component and its values: write world:set(id, \"Component.field\", value)");
  return component;
}

/* The value that an order sets, in the form in which it is noted. */
k_value order_value(struct front *f, const struct component *component,
                    struct run_command *command, struct val value) {
  const struct leaf *field = &component->leaves[command->leaf];
  if (field->type == ECS_STRING)
    front_refuse(f, "it sets the string field '%s.%s' with world:set or world:spawn: do that in a "
                    "system's run", component->name, field->name);
  command->gives = field->type == ECS_ENTITY ? value.spawned : SPAWNED_NONE;
  if (command->gives) return value.value;
  return access_noted(f, component, command->leaf, value);
}

/* The entity that an order is for. */
k_value order_entity(struct front *f, struct val entity) {
  if (entity.spawned) return entity.value;
  if (!val_is_number(f, entity))
    front_refuse(f, "it changes something that is not an entity id: pass an entity field, the "
                    "row's entity or an id held outside");
  return number_as(f, entity, KT_I64);
}

/* The leaf of the field at a position from 1 on; NONE if the field is not a single value. */
uint32_t order_leaf_at(const struct component *component, uint32_t position) {
  if (position > component->field_count) return NONE;
  const struct field *field = &component->fields[position - 1];
  return field->count == 0 && !field->nested ? field->first_leaf : NONE;
}

/* The leaf that an item of a new table sets; NONE if its field is not a single value. */
uint32_t order_leaf(const struct component *component, const struct front_item *item) {
  return item->position ? order_leaf_at(component, item->position)
                        : component_leaf(component, item->key.data, item->key.size);
}

void order_check_twice(struct front *f, const struct component *component, uint32_t first) {
  for (uint32_t i = first; i != NONE; i = f->items[i].next) {
    uint32_t position = f->items[i].position;
    if (position == 0 || position > component->field_count) continue;
    const struct field *field = &component->fields[position - 1];
    for (uint32_t j = first; j != NONE; j = f->items[j].next)
      if (!f->items[j].position && f->items[j].key.size == field->name_size &&
          memcmp(f->items[j].key.data, field->name, field->name_size) == 0)
        front_refuse(f, "it gives '%s.%s' two values, by its place and by its name",
                     component->name, field->name);
  }
}

/* Shares a field that is set by id: the entity may be the row's own, or one that others read. */
static void commands_share(struct front *f, const struct component *component, uint32_t leaf,
                           bool spawned) {
  if (!f->shared.ordered || component->relation) return;
  class_share(f, component, leaf);
  class_note_line(f, component, leaf, true);
  if (!spawned) order_check_read(f, component, leaf);
}

/* Notes that a field is set to the id of a spawned entity, which exists only at the row's end. */
static void commands_note_id(struct front *f, const struct component *component,
                             const struct run_command *command) {
  if (!command->gives) return;
  if (f->loop_depth && class_is_shared(f, component, command->leaf))
    front_refuse(f, "it uses '%s' and stores ids of spawned entities there, in a loop: do one of "
                    "the two in a second system", component->name);
  f->store_masks[f->command_count] = f->loop_depth ? K_NONE : f->env.mask;
}

/* Takes one value from a table with which a component is set or spawned. */
typedef void give_fn(struct front *f, const struct component *component, uint32_t leaf,
                     const struct front_item *item, const struct val *entity);

#define DEEPEST_TABLE 8

/* Gives an item of such a table or, if its value is a table for an array or nested component, the
** items of that table. `path` names what it is part of; NULL: the component. */
static void commands_give_item(struct front *f, const struct component *component,
                               const struct front_item *item, const char *path, uint32_t depth,
                               give_fn *give, const struct val *entity) {
  bool named = item->position == 0, part = path != NULL;
  bool table = item->value.kind == VAL_TABLE && !item->pair.kind && depth < DEEPEST_TABLE;
  lua_State *L = f->L;
  if (!part && named && component_field(component, item->key.data, item->key.size) == NONE) {
    component_no_field(f->world, component, item->key.data, item->key.size);
    front_refuse(f, "%s", f->world->message);
  }
  if (!part && !table) {
    give(f, component, order_leaf(component, item), item, entity);
    return;
  }
  lua_pushlstring(L, item->key.data, item->key.size);
  const char *name = lua_tostring(L, -1);
  if (!part && !named && item->position <= component->field_count)
    name = component->fields[item->position - 1].name;
  if (part && named) name = lua_pushfstring(L, "%s.%s", path, name);
  if (part && !named) name = lua_pushfstring(L, "%s[%d]", path, (int)item->position);
  if (part) lua_remove(L, -2);
  (void)front_anchor(f);
  if (!table) give(f, component, component_leaf(component, name, strlen(name)), item, entity);
  uint32_t at = table ? f->made[item->value.at].first : NONE;
  for (; at != NONE; at = f->items[at].next) {
    struct front_item inner = f->items[at];
    inner.there = mask_and(f, item->there, inner.there);
    if (inner.value.kind != VAL_NIL)
      commands_give_item(f, component, &inner, name, depth + 1, give, entity);
  }
}

/* Sets one field for a world:set of a whole component. */
static void command_call_set_field(struct front *f, const struct component *component,
                                   uint32_t leaf, struct val entity, struct val value) {
  struct run_command command = {.action = RUN_SET, .component = component->id, .leaf = leaf};
  if (leaf == NONE)
    front_refuse(f, "it sets '%s' with a value that has no single field to go to: name the field, "
                    "as in '%s.%s'", component->name, component->name,
                 component->leaf_count ? component->leaves[0].name : "field");
  command.whom = entity.spawned;
  commands_share(f, component, leaf, value.spawned);
  k_value id = order_entity(f, entity);
  k_value noted = order_value(f, component, &command, maybe_need(f, value));
  commands_note_id(f, component, &command);
  order_with(f, command, id, noted);
}

/* A give_fn for world:set. */
static void commands_set_item(struct front *f, const struct component *component, uint32_t leaf,
                              const struct front_item *item, const struct val *entity) {
  command_call_set_field(f, component, leaf, *entity, order_value_of(item));
}

/* world:set of a whole component, by values in the order of its fields or by a new table of them:
** one order for each. False if the call sets only one field. */
static bool commands_set_whole(struct front *f, const struct val *arguments, uint32_t count) {
  const struct val *named = &arguments[2];
  bool of_field = count > 2 && named->kind == VAL_STRING &&
                  memchr(named->string.data, '.', named->string.size);
  const struct component *component = count < 4 || of_field ? NULL : call_component(f, *named);
  if (!component) return false;
  bool made = arguments[3].kind == VAL_TABLE;
  uint32_t first = made ? f->made[arguments[3].at].first : NONE;
  if (made && (count > 4 || component->leaf_count == 0))
    front_refuse(f, "it sets '%s' with more than one table, or with an empty table though it is a "
                    "tag: pass only the table, or write world:add", component->name);
  order_check_twice(f, component, first);
  order_want(f);
  if (made && first == NONE) {
    struct run_command empty = {.action = RUN_SET, .component = component->id, .leaf = NONE,
                                .whom = arguments[1].spawned};
    order_with(f, empty, order_entity(f, arguments[1]), build_i64(f->b, 0));
  }
  for (uint32_t at = first; at != NONE; at = f->items[at].next) {
    const struct front_item item = f->items[at];
    commands_give_item(f, component, &item, NULL, 0, commands_set_item, &arguments[1]);
  }
  for (uint32_t i = 3; i < count && !made; i++)
    command_call_set_field(f, component, order_leaf_at(component, i - 2), arguments[1],
                           arguments[i]);
  return true;
}

void order_call(struct front *f, enum run_action action, const struct val *arguments,
                uint32_t count) {
  struct run_command command = {.action = action};
  if (count < 2 || arguments[0].kind != VAL_WORLD || (action == RUN_DESPAWN && count != 2))
    front_refuse(f, "it passes wrong arguments to a world method");
  bool others = action == RUN_SET || !arguments[1].row_entity;
  if (f->result == RESULT_KEY)
    front_refuse(f, "it changes entities and returns a key: do that in a system");
  if (f->result == RESULT_TRUTH || (f->result > RESULT_MAP && others))
    front_refuse(f, "it changes entities %s: do that in q:where(fn):each",
                 f->result == RESULT_TRUTH ? "in a predicate" : "and returns a result");
  need_command(f);
  if (action == RUN_SET && tie_set(f, arguments, count)) return;
  if (action == RUN_SET && commands_set_whole(f, arguments, count)) return;
  if (action == RUN_SET) {
    const struct component *component =
        commands_field_argument(f, arguments, count, &command.leaf);
    order_want(f);
    command_call_set_field(f, component, command.leaf, arguments[1], arguments[3]);
    return;
  }
  if (action == RUN_ADD || action == RUN_REMOVE) {
    const struct component *changed = commands_component_argument(f, arguments, count);
    command.component = changed->id;
    if (changed->relation) {
      tie_call(f, changed, action == RUN_ADD, arguments, count);
      return;
    }
  }
  bool marked = !others && !commands_rounds_differ(f, &command);
  if (!marked && f->result > RESULT_MAP)
    front_refuse(f, "it changes entities in several ways in one loop and returns a result");
  if (!marked) order_want(f);
  if (!f->orders) {
    f->commands[f->command_count] = command;
    build_emit(f->b, f->command_count++, f->env.mask);
    return;
  }
  command.whom = arguments[1].spawned;
  k_value entity = order_entity(f, arguments[1]);
  order_with(f, command, entity, entity);
}

/* ---- world:spawn ---- */

struct val order_table(struct front *f) {
  if (f->made_count == FRONT_MADE)
    front_refuse(f, "it creates more than %d tables: write it as two systems", FRONT_MADE);
  f->made[f->made_count] =
      (struct front_made){.mask = f->env.mask, .loop = build_mark(f->b).loop, .first = NONE};
  return (struct val){.kind = VAL_TABLE, .at = f->made_count++};
}

/* A table's item with a name or, if that is empty, at a position; NULL if there is none. */
static struct front_item *commands_item_of(struct front *f, const struct front_made *made,
                                           ecs_string key, uint32_t position) {
  for (uint32_t at = made->first; at != NONE; at = f->items[at].next) {
    struct front_item *item = &f->items[at];
    if (item->position == position && !item->pair.kind && text_same(item->key, key)) return item;
  }
  return NULL;
}

bool order_is_gone(const struct front *f, const struct front_item *item) {
  return item->value.kind == VAL_NIL || build_excludes(f->b, f->env.mask, item->there);
}

struct val order_value_of(const struct front_item *item) {
  struct val value = item->value;
  if (val_may_lack(value)) value.present = item->there;
  return value;
}

/* Puts a value into an item, which keeps its old value, or nil, in other rows. */
static void commands_fill(struct front *f, const struct front_made *made, struct front_item *item,
                          struct val value, struct val old) {
  if (value.lacks) value = maybe_need(f, value);   /* false is not nil */
  if (made->mask != f->env.mask) value = val_select(f, f->env.mask, value, old);
  if (value.kind == VAL_NOTHING)
    front_refuse(f, "it puts values of several types, or a string under a condition, into a field "
                    "of a table: choose the value in a local first");
  item->there = val_is_maybe(value) ? value.present : K_ALL;
  item->value = value;
  item->value.present = K_ALL;
}

#define COMMANDS_KEPT "it uses a table that it has put into a list: take it from the list"

/* Puts items with names after those with positions, so that they take precedence. */
static void commands_put_item(struct front *f, struct val table, struct front_item item) {
  assert(table.kind == VAL_TABLE && table.at < f->made_count);
  struct front_made *made = &f->made[table.at];
  if (made->kept) front_refuse(f, COMMANDS_KEPT);
  if (made->loop != build_mark(f->b).loop)
    front_refuse(f, "it fills a table in a loop that did not create it: create it there");
  struct front_item *old =
      item.pair.kind ? NULL : commands_item_of(f, made, item.key, item.position);
  made->varies |= old || made->mask != f->env.mask || item.position > made->items;
  if (old) {
    commands_fill(f, made, old, item.value, order_value_of(old));
    return;
  }
  if (f->item_count == FRONT_ITEMS)
    front_refuse(f, "it puts more than %d values into tables: write it as two systems",
                 FRONT_ITEMS);
  commands_fill(f, made, &item, item.value, (struct val){.kind = VAL_NIL});
  uint32_t at = f->item_count++;
  uint32_t *link = &made->first;
  while (*link != NONE && (item.position == 0 || (f->items[*link].position &&
                                                  f->items[*link].position < item.position)))
    link = &f->items[*link].next;
  item.next = *link;
  f->items[at] = item;
  *link = at;
}

void order_item(struct front *f, struct val table, const struct constant *key, struct val value) {
  if (key->type == CONST_INTEGER && key->integer > 0 && key->integer <= FRONT_ITEMS) {
    commands_put_item(f, table, (struct front_item){.key = {"", 0}, .value = value,
                                                    .position = (uint32_t)key->integer});
    return;
  }
  if (key->type != CONST_STRING || key->string.size == 0)
    front_refuse(f, WHY_KEYS);
  commands_put_item(f, table, (struct front_item){.key = key->string, .value = value});
}

void order_pair(struct front *f, struct val table, struct val pair, struct val value) {
  commands_put_item(f, table, (struct front_item){.key = {"", 0}, .pair = pair, .value = value});
}

void order_list(struct front *f, const struct code *code) {
  struct val table = *front_register(f, code->a);
  if (code->b == NONE)
    front_refuse(f, "it puts all results of a call into a table: put them into locals first");
  for (uint32_t i = 1; table.kind == VAL_LIST && i <= code->b; i++)
    scratch_set(f, table, val_integer(f, code->c + i), *front_register(f, code->a + i));
  for (uint32_t i = 1; table.kind == VAL_TABLE && i <= code->b; i++)
    commands_put_item(f, table, (struct front_item){.key = {"", 0}, .position = code->c + i,
                                           .value = *front_register(f, code->a + i)});
}

struct val order_read(struct front *f, struct val table, const struct constant *key) {
  assert(table.kind == VAL_TABLE && table.at < f->made_count);
  const struct front_item *item = NULL;
  if (f->made[table.at].kept) front_refuse(f, COMMANDS_KEPT);
  if (key->type == CONST_STRING && key->string.size > 0)
    item = commands_item_of(f, &f->made[table.at], key->string, 0);
  if (key->type == CONST_INTEGER && key->integer > 0 && key->integer <= FRONT_ITEMS)
    item = commands_item_of(f, &f->made[table.at], (ecs_string){"", 0}, (uint32_t)key->integer);
  return item ? order_value_of(item) : (struct val){.kind = VAL_NIL};
}

static struct run_command part_command(enum run_action action, const struct component *component) {
  return (struct run_command){.action = action, .component = component->id, .part = true,
                              .whom = SPAWNED_ALL};
}

/* The default of a field that is not given, as it is noted. */
static k_value commands_default(struct front *f, const struct leaf *leaf) {
  enum type_class class = type_class(leaf->type);
  if (class == CLASS_FLOAT) return build_f64(f->b, cell_float(leaf->size, leaf->value));
  if (class == CLASS_TRUTH) return build_bool(f->b, leaf->value.u8 != 0);
  return build_i64(f->b, cell_integer(leaf->type, leaf->size, leaf->value));
}

/* A give_fn for world:spawn. */
static void commands_spawn_value(struct front *f, const struct component *component, uint32_t leaf,
                                 const struct front_item *item, const struct val *none) {
  (void)none;
  struct run_command command = part_command(RUN_SET, component);
  command.leaf = leaf;
  if (command.leaf == NONE && item->position)
    front_refuse(f, "it spawns with value %d of '%s', which has no single field at that position",
                 (int)item->position, component->name);
  if (command.leaf == NONE)
    front_refuse(f, "it spawns with '%s.%.*s', which is not a single value: give its parts",
                 component->name, SHOW(item->key));
  build_at(f->b, mask_and(f, f->env.mask, item->there), front_tag(f));
  k_value value = order_value(f, component, &command, item->value);
  build_at(f->b, f->env.mask, front_tag(f));
  if (item->there != K_ALL)
    value = build_select(f->b, item->there, value,
                         commands_default(f, &component->leaves[command.leaf]));
  order_add(f, command, value);
}

static void commands_spawn_field(struct front *f, const struct component *component,
                                 struct front_item item) {
  if (item.value.kind != VAL_NIL)
    commands_give_item(f, component, &item, NULL, 0, commands_spawn_value, NULL);
}

/* A component of a spawned entity: true, or a table of its fields. */
static void commands_spawn_part(struct front *f, const struct front_item *item) {
  if (order_is_gone(f, item) || item->pair.kind) return;
  const struct component *component = call_named(f, item->key);
  if (component->relation) return;
  const struct val *value = &item->value;
  bool truth = val_is_boolean(f, *value);
  if (value->kind == VAL_LIST) front_refuse(f, WHY_LIST);
  if (value->kind != VAL_TABLE && !truth)
    front_refuse(f, "it spawns with '%s' set to neither true nor a table of its fields",
                 component->name);
  if (truth) build_need(f->b, value->value);
  order_add(f, part_command(RUN_ADD, component), build_i64(f->b, 0));
  if (value->kind != VAL_TABLE) return;
  order_check_twice(f, component, f->made[value->at].first);
  k_value any = K_NONE;
  for (uint32_t at = f->made[value->at].first; at != NONE; at = f->items[at].next) {
    const struct front_item field = f->items[at];
    commands_spawn_field(f, component, field);
    if (field.value.kind == VAL_NIL) continue;
    any = any == K_NONE ? field.there : build_binary(f->b, KO_OR, any, field.there);
  }
  if (any != K_NONE) build_need(f->b, any);   /* without fields nothing is set, only added */
}

/* Counts another spawn of the row. Returns the new entity's id. */
static struct val commands_count_spawn(struct front *f) {
  if (f->result > RESULT_MAP)
    front_refuse(f, "it spawns entities and returns a result: do that in a system's each");
  order_want(f);
  f->wants_spawns = f->asks_number && !f->shared.spawns;
  if (f->wants_spawns) front_refuse(f, "it spawns entities and looks up entities by number");
  f->shared.spawns = true;
  struct val *count = &f->env.counts[ENV_SPAWNS];
  count->value = build_binary(f->b, KO_SUB, count->value, build_i64(f->b, 1));
  struct val spawned = val_number(f, count->value, false);
  spawned.entity = true;
  spawned.spawned = SPAWNED_ALL;
  return spawned;
}

/* The orders after that one are its parts. */
static void commands_end_parts(struct front *f, uint32_t order) {
  assert(order < f->command_count);
  f->commands[order].parts = f->command_count - order - 1;
}

/* Spawns from a table, for the present rows. Items that only some rows have split these rows. */
static void commands_spawn_table(struct front *f, uint32_t first, struct val spawned,
                                 uint32_t depth) {
  uint32_t at = first;
  while (at != NONE && (order_is_gone(f, &f->items[at]) ||
                        build_implies(f->b, f->env.mask, f->items[at].there)))
    at = f->items[at].next;
  if (at == NONE) {
    uint32_t order = order_add(f, (struct run_command){.action = RUN_SPAWN}, spawned.value);
    for (at = first; at != NONE; at = f->items[at].next) commands_spawn_part(f, &f->items[at]);
    tie_spawned(f, first);
    commands_end_parts(f, order);
    return;
  }
  if (depth == SPAWN_CONDITIONS)
    front_refuse(f, "it spawns under more than %d conditions: write several spawns",
                 SPAWN_CONDITIONS);
  const k_value here = f->env.mask, there = f->items[at].there;
  for (int has = 1; has >= 0; has--) {
    f->env.mask = has ? mask_and(f, here, there) : mask_and_not(f, here, there);
    build_at(f->b, f->env.mask, front_tag(f));
    commands_spawn_table(f, first, spawned, depth + 1);
  }
  f->env.mask = here;
  build_at(f->b, here, front_tag(f));
}

struct val order_spawn(struct front *f, const struct val *arguments, uint32_t count) {
  bool made = count == 2 && arguments[1].kind == VAL_TABLE;
  if (count < 1 || arguments[0].kind != VAL_WORLD || (count != 1 && !made))
    front_refuse(f, "it spawns from something other than a table written in the call, as in "
                    "world:spawn { Position = { x = p.x } }");
  struct val spawned = commands_count_spawn(f);
  commands_spawn_table(f, made ? f->made[arguments[1].at].first : NONE, spawned, 0);
  return spawned;
}

/* ---- world:spawner ---- */

/* Gives the values of one name of a spawner, as many as it takes. */
static void command_call_give_values(struct front *f, const struct component *component,
                                     ecs_string field, const struct val *values,
                                     uint32_t count) {
  uint32_t most = field.size ? 1 : component->field_count;
  for (uint32_t i = 0; i < count && i < most; i++) {
    struct front_item item = {.key = field, .position = field.size ? 0 : i + 1,
                              .value = maybe_need(f, values[i]), .there = K_ALL};
    commands_spawn_field(f, component, item);
  }
}

/* Gives one part for each component, with the values of all its names. */
struct val order_by_spawner(struct front *f, struct val spawner, const struct val *values,
                            uint32_t count) {
  uint32_t first[SPAWNER_NAMES], behind = 0;
  lua_rawgeti(f->L, f->anchors, (lua_Integer)spawner.at);
  struct outside outside = f->outside(f->L, lua_gettop(f->L), f->owner);
  lua_pop(f->L, 1);
  assert(outside.kind == OUTSIDE_SPAWNER && outside.count <= SPAWNER_NAMES);
  for (uint32_t i = 0; i < outside.count; i++) {
    first[i] = behind;
    behind += outside.names[i].field.size
                  ? 1 : component_of(f->world, outside.names[i].component)->field_count;
  }
  if (count > behind)
    front_refuse(f, "it passes a spawner more values than its components have fields");
  struct val spawned = commands_count_spawn(f);
  uint32_t order = order_add(f, (struct run_command){.action = RUN_SPAWN}, spawned.value);
  for (uint32_t i = 0; i < outside.count; i++) {
    ecs_id id = outside.names[i].component;
    const struct component *component = component_of(f->world, id);
    uint32_t same = 0;
    while (outside.names[same].component != id) same++;
    if (same < i) continue;
    order_add(f, part_command(RUN_ADD, component), build_i64(f->b, 0));
    for (uint32_t j = i; j < outside.count; j++)
      if (outside.names[j].component == id && count > first[j])
        command_call_give_values(f, component, outside.names[j].field, values + first[j],
                                 count - first[j]);
  }
  commands_end_parts(f, order);
  return spawned;
}

/* ---- one owner ---- */

/* How the query's terms use a field; in an array field, any of its elements. */
enum { USES_IT = 1, READS_IT = 2, WRITES_IT = 4 };
static uint32_t commands_uses(const struct front *f, const struct component *component,
                              uint32_t leaf) {
  uint32_t uses = 0;
  for (uint32_t i = 0; i < f->column_count; i++) {
    const struct front_column *column = &f->columns[i];
    if (column->component != component ||
        !component_same_field(component, column->component_leaf, leaf))
      continue;
    uses |= USES_IT | (column->read ? READS_IT : 0);
    if (column->written || column->folded) uses |= WRITES_IT;
  }
  return uses;
}

static void commands_need_id_field(struct front *f, const struct component *component,
                                   uint32_t leaf) {
  if (component->leaves[leaf].type == ECS_ENTITY) return;
  front_refuse(f, "it sets '%s%s%s', which is not an entity field, to the id of a spawned entity: "
                  "declare it as an entity", component->name,
               component->length ? "" : ".", component->length ? "" : component->leaves[leaf].name);
}

/* If rows see each other's stores, these are done with a row's last notes: later rows see the new
** ids, and the row itself reads before that. In a loop, a later round comes after. */
static void commands_store_id(struct front *f, struct run_command command, k_value entity,
                              struct val value) {
  need_command(f);
  f->store_masks[f->command_count] = f->loop_depth ? K_NONE : f->env.mask;
  order_with(f, command, entity, maybe_need(f, value).value);
}

void order_store(struct front *f, const struct component *component, uint32_t leaf,
                 struct val entity, struct val value) {
  struct run_command command = {.action = RUN_SET, .component = component->id, .leaf = leaf,
                                .gives = value.spawned, .own = true};
  commands_need_id_field(f, component, leaf);
  if (f->loop_depth && commands_uses(f, component, leaf) & (READS_IT | WRITES_IT))
    front_refuse(f, "it reads or sets '%s.%s' and stores ids of spawned entities there, in a loop: "
                    "do one of the two in a second system", component->name,
                 component->leaves[leaf].name);
  commands_store_id(f, command, order_entity(f, entity), value);
}

/* Whether the function reads an element or a resource's field, or also writes it in another way. */
static bool commands_is_looked_at(const struct front *f, ecs_id id, uint32_t leaf) {
  for (uint32_t i = 0; i < f->array_count; i++)
    if (f->arrays[i].id == id && f->arrays[i].leaf == leaf) return true;
  for (uint32_t i = 0; i < f->resource_count; i++)
    if (f->resources[i].component == id && f->resources[i].leaf == leaf) return true;
  return reach_looks_up(f, component_of(f->world, id), leaf);
}

void order_store_element(struct front *f, const struct component *component, uint32_t leaf,
                         k_value number, struct val value) {
  struct run_command command = {.action = RUN_STORE, .component = component->id, .leaf = leaf,
                                .gives = value.spawned};
  commands_need_id_field(f, component, leaf);
  if (f->loop_depth && commands_is_looked_at(f, component->id, leaf))
    front_refuse(f, "it uses '%s' and stores ids of spawned entities there, in a loop: do one of "
                    "the two in a second system", component->name);
  commands_store_id(f, command, number, value);
}

void order_check_read(struct front *f, const struct component *component, uint32_t leaf) {
  for (uint32_t i = 0; i < f->command_count; i++) {
    const struct run_command *command = &f->commands[i];
    bool stores = command->own || command->action == RUN_STORE ||
                  (command->action == RUN_SET && command->gives && !command->part);
    if (!stores || command->component != component->id ||
        !component_same_field(component, command->leaf, leaf))
      continue;
    if (build_excludes(f->b, f->store_masks[i], f->env.mask)) continue;
    front_refuse(f, "it uses '%s%s%s' after storing the id of a spawned entity there: do that "
                    "before, or in a second system", component->name,
                 component->length ? "" : ".",
                 component->length ? "" : component->leaves[leaf].name);
  }
}

/* Whether the function also uses a field that an order sets, in a way that is not possible. */
static bool commands_is_shared(const struct front *f, const struct run_command *command,
                               const struct component *component) {
  uint32_t uses = commands_uses(f, component, command->leaf);
  if (access_leads(f, component, command->leaf)) return true;
  if (command->own && access_reads_others(f, component, command->leaf)) return true;
  bool again = f->query->terms.values > 0;   /* a row may match again */
  return uses & (!command->own ? USES_IT : again ? WRITES_IT | READS_IT : WRITES_IT);
}

/* Events are emitted after the rows, but loops over them have to see them at once. */
static void commands_check_heard(struct front *f, const struct run_command *command) {
  for (uint32_t i = 0; command->action == RUN_EMIT && i < f->list_count; i++)
    if (f->lists[i].kind == LIST_EVENTS && f->lists[i].relation == command->component)
      front_refuse(f, "it emits '%s' and loops over these events: do one of the two in a second "
                      "system", component_of(f->world, command->component)->name);
}

void order_finish(struct front *f) {
  for (uint32_t i = 0; i < f->command_count; i++) commands_check_heard(f, &f->commands[i]);
  for (uint32_t i = 0; f->orders && i < f->command_count; i++) {
    const struct run_command *command = &f->commands[i];
    bool stores = command->action == RUN_STORE;
    if (stores && commands_is_looked_at(f, command->component, command->leaf))
      class_share(f, component_of(f->world, command->component), command->leaf);
    if (command->action != RUN_SET || command->whom == SPAWNED_ALL || command->leaf == NONE)
      continue;
    const struct component *component = component_of(f->world, command->component);
    if (command->part && component->ties.exclusive) continue;   /* they wait for the target */
    assert(component && command->leaf < component->leaf_count);
    reach_check_written(f, component, command->leaf);
    bool leads = access_leads(f, component, command->leaf);
    if (!commands_is_shared(f, command, component)) continue;
    if (!leads && !component->relation) {
      class_share(f, component, command->leaf);
      continue;
    }
    front_refuse(f, "it writes to '%s.%s' with %s and also uses it in another way: set another "
                    "field, or do that in a second system", component->name,
                 component->leaves[command->leaf].name,
                 command->own ? "the id of a spawned entity" : "world:set");
  }
}

/* ---- emit event ---- */

/* The values of an event, field by field. */
struct given {
  const struct component *event;
  uint32_t count;
  struct {
    uint32_t leaf;
    k_value value;
    enum spawned gives;
  } fields[RUN_ORDERS];
};

static void commands_emit_event_give_field(struct front *f, struct given *given, uint32_t at,
                                           struct val value) {
  const struct component *event = given->event;
  const struct field *field = &event->fields[at];
  if (field->count || field->nested)
    front_refuse(f, "it emits '%s' with its field '%s', which is %s: do that in a system's run",
                 event->name, field->name, field->count ? "an array" : "a component");
  uint32_t leaf = field->first_leaf, i = 0;
  bool spawned = event->leaves[leaf].type == ECS_ENTITY && value.spawned;
  k_value noted = spawned ? value.value : access_noted(f, event, leaf, value);
  while (i < given->count && given->fields[i].leaf != leaf) i++;
  if (i == RUN_ORDERS)
    front_refuse(f, "it emits '%s' with more than %d values", event->name, RUN_ORDERS);
  given->count += i == given->count;
  given->fields[i].leaf = leaf;
  given->fields[i].value = noted;
  given->fields[i].gives = value.spawned;
}

static void give_table(struct front *f, struct given *given, struct val table) {
  const struct component *event = given->event;
  order_check_twice(f, event, f->made[table.at].first);
  for (uint32_t i = f->made[table.at].first; i != NONE; i = f->items[i].next) {
    const struct front_item *item = &f->items[i];
    uint32_t at = item->position ? item->position - 1
                                 : component_field(event, item->key.data, item->key.size);
    if (item->position > event->field_count)
      front_refuse(f, "it emits '%s' with value %u, but the event has %u fields", event->name,
                   item->position, event->field_count);
    if (at == NONE) {
      component_no_field(f->world, event, item->key.data, item->key.size);
      front_refuse(f, "%s", f->world->message);
    }
    commands_emit_event_give_field(f, given, at, maybe_need(f, order_value_of(item)));
  }
}

/* Takes a field: with `first`, one with a value that can be noted in the place of an entity;
** otherwise preferably one that cannot. `count` if none is left. */
static uint32_t commands_emit_event_take(const struct front *f, const struct given *given,
                                         bool *taken, bool first) {
  uint32_t found = given->count;
  for (uint32_t i = 0; i < given->count && found == given->count; i++) {
    bool fits = !given->fields[i].gives && build_type(f->b, given->fields[i].value) == KT_I64;
    if (!taken[i] && fits == first) found = i;
  }
  for (uint32_t i = 0; i < given->count && found == given->count && !first; i++)
    if (!taken[i]) found = i;
  if (found < given->count) taken[found] = true;
  return found;
}

/* Notes an event, two fields at a time. */
static void commands_note_event(struct front *f, const struct given *given) {
  bool taken[RUN_ORDERS] = {false};
  struct run_command command = {.action = RUN_EMIT, .component = given->event->id};
  uint32_t order = f->command_count;
  for (uint32_t left = given->count, none = given->count;; command.action = RUN_PUT) {
    uint32_t first = commands_emit_event_take(f, given, taken, true),
             other = commands_emit_event_take(f, given, taken, false);
    k_value zero = build_i64(f->b, 0);
    command.first = first == none ? NONE : given->fields[first].leaf;
    command.leaf = other == none ? NONE : given->fields[other].leaf;
    command.gives = other == none ? SPAWNED_NONE : given->fields[other].gives;
    order_with(f, command, first == none ? zero : given->fields[first].value,
               other == none ? zero : given->fields[other].value);
    left -= first != none;
    left -= other != none;
    if (left == 0) break;
  }
  commands_end_parts(f, order);
}

void order_emit(struct front *f, const struct val *arguments, uint32_t count) {
  bool named = count > 1 && arguments[0].kind == VAL_WORLD;
  const struct component *event = named ? call_event(f, arguments[1]) : NULL;
  if (!event)
    front_refuse(f, "it emits something other than the name or id of an event from a constant, an "
                    "upvalue or a field of a table");
  if (f->result > RESULT_MAP)
    front_refuse(f, "it emits an event and returns a result: do that in a system's each");
  bool table = count == 3 && arguments[2].kind == VAL_TABLE && event->field_count;
  if (!table && count - 2 > event->field_count)
    front_refuse(f, "it emits '%s' with %u values, but the event has %u fields", event->name,
                 count - 2, event->field_count);
  order_want(f);
  struct given given = {.event = event};
  if (table) give_table(f, &given, arguments[2]);
  for (uint32_t i = 0; !table && i < count - 2; i++)
    commands_emit_event_give_field(f, &given, i, arguments[i + 2]);
  commands_note_event(f, &given);
}
