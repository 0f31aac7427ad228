#include "runner/effects.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/command/emission.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/marks.h"

static const struct run_command *giving_order_of(const struct run *run, uint32_t order) {
  assert(order < run->plan->order_count && staging_is_open(&run->query->world->staging));
  return &run->plan->orders[order];
}

static uint32_t giving_parts_of(void *ud, uint32_t order) {
  return giving_order_of(((const struct giving *)ud)->run, order)->parts;
}

/* ---- room ---- */

/* Whether an array, or a resource, has an element of that number. */
static bool giving_is_element(const ecs_world *world, ecs_id id, int64_t number) {
  const struct component *component = component_of(world, id);
  assert(component && component->resource);
  return number >= 1 && number <= (component->length ? (int64_t)component->length : 1);
}

/* Whether an order names a target. */
static bool giving_names_target(const struct run_command *command) {
  return command->action == RUN_TIE || (command->action == RUN_UNTIE && command->leaf != NONE);
}

/* Whether a stand-in number belongs to an entity that was spawned before and is still known. */
static bool giving_is_spawned(const struct giving *giving, enum spawned may, int64_t number) {
  if (may == SPAWNED_NONE || number >= 0) return false;
  assert(number >= giving->last);
  return number - giving->last < RUN_SPAWNED;
}

static bool giving_is_there(const struct giving *giving, enum spawned may, int64_t number) {
  return giving_is_spawned(giving, may, number) ||
         entity_find(&giving->run->query->world->entities, (ecs_id)number);
}

/* The target whose index, or id, was noted. */
static int64_t giving_target_of(const struct giving *giving, const struct run_command *command,
                                int64_t number) {
  if (!command->by_index) return number;
  return (int64_t)entity_id_any(&giving->run->query->world->entities, (uint32_t)number);
}

/* Whether the value of an order is valid: an id in a field may be null. */
INLINE bool giving_can_give(const struct giving *giving, const struct run_command *command,
                            int64_t number) {
  if (command->as_field && !command->part && number == 0) return true;
  if (giving_names_target(command) && command->by_index)
    number = giving_target_of(giving, command, number);
  if (giving_names_target(command)) return giving_is_there(giving, command->gives, number);
  return !command->gives || number >= 0 || giving_is_spawned(giving, command->gives, number);
}

/* Whether the entity has the tie, or a staged one, that setting fields without a target needs. */
static bool giving_is_settable(const struct giving *giving, const struct run_command *command,
                               int64_t id) {
  ecs_world *world = giving->run->query->world;
  const struct component *component = component_of(world, command->component);
  if (command->action != RUN_SET || command->own || !component->relation) return true;
  return relate_has(world, (ecs_id)id, component, ECS_NULL) ||
         command_is_staged(world, (ecs_id)id, component->id);
}

static bool giving_can_order(void *ud, uint32_t order, const int64_t *ids, const k_scalar *values) {
  struct giving *giving = ud;
  const struct run_command *command = giving_order_of(giving->run, order);
  if (command->action == RUN_SPAWN) giving->last = values->i64;
  if (!giving_can_give(giving, command, values->i64)) return false;
  for (uint32_t i = 1; i <= command->parts; i++)
    if (!giving_can_give(giving, &command[i], values[i].i64)) return false;
  switch (command->action) {
    case RUN_SPAWN:
      giving->spawns++;
      return true;
    case RUN_EMIT:
      giving->emits[order]++;
      giving->at_once += 1 + command->parts;
      return true;
    case RUN_STORE:
      giving->at_once++;
      return giving_is_element(giving->run->query->world, command->component, *ids);
    default:
      giving->at_once += command->own;
      return giving_is_there(giving, command->whom, *ids) &&
             giving_is_settable(giving, command, *ids) &&
             (command->action != RUN_DESPAWN || giving_is_spawned(giving, command->whom, *ids) ||
              ecs_id_index((ecs_id)*ids) >= FIRST_ENTITY);
  }
}

/* Takes the number of emits of an event, by all orders. */
static uint32_t giving_take_emits(struct giving *giving, ecs_id event) {
  const struct run_plan *plan = giving->run->plan;
  uint32_t count = 0;
  for (uint32_t i = 0; i < plan->order_count; i++) {
    if (plan->orders[i].action != RUN_EMIT || plan->orders[i].component != event) continue;
    count += giving->emits[i];
    giving->emits[i] = 0;
  }
  return count;
}

/* Consecutive events of one type are one emission of their scope. */
static bool giving_reserve_events(struct giving *giving) {
  const struct run_plan *plan = giving->run->plan;
  ecs_world *world = giving->run->query->world;
  uint32_t types = 0, count = 0;
  for (uint32_t i = 0; i < plan->order_count; i++) {
    if (!giving->emits[i]) continue;
    struct component *component = component_of(world, plan->orders[i].component);
    assert(component && component->is_event);
    uint32_t more = giving_take_emits(giving, component->id);
    if (event_reserve(world, component->event, more) != ECS_OK) return false;
    count += more;
    types++;
  }
  return types == 0 || emissions_reserve(world, types == 1 ? 1 : count) == ECS_OK;
}

static bool giving_reserve_orders(void *ud, uint32_t count) {
  struct giving *giving = ud;
  ecs_world *world = giving->run->query->world;
  uint32_t spawns = giving->spawns, staged = count - giving->at_once;
  assert(giving->at_once <= count);
  giving->spawns = giving->at_once = 0;
  if (spawns && entity_reserve(&world->entities, &world->memory, &world->entities.entities,
                               spawns) != ECS_OK)
    return false;
  /* Parts of a spawn reserve two each. */
  if (staged && command_reserve(world, 2ull * staged, staged, staged) != ECS_OK) return false;
  /* A set of an existing component is noted for observers with on = "set". */
  if (world->watching->sets && watch_need_notes(world, staged) != ECS_OK) return false;
  return giving_reserve_events(giving);
}

/* ---- giving ---- */

/* The noted value as a cell of a leaf. */
static ecs_cell giving_cell(const struct leaf *leaf, k_scalar value) {
  ecs_cell cell = cell_of_bits(leaf->size, (uint64_t)value.i64);
  if (type_class(leaf->type) != CLASS_FLOAT) return cell;
  if (leaf->size == 4)
    cell.f32 = (float)value.f64;
  else
    cell.f64 = value.f64;
  return cell;
}

static struct write giving_write_of(const struct component *component, uint32_t leaf,
                                    k_scalar value) {
  assert(component && leaf < component->leaf_count);
  return (struct write){leaf, giving_cell(&component->leaves[leaf], value)};
}

/* Makes the write of an order: to a field, or none if it only adds. Returns how many fields. */
static uint32_t giving_take_write(const struct component *component,
                                  const struct run_command *command, k_scalar value,
                                  struct write *write) {
  *write = (struct write){0};
  if (command->leaf == NONE) return 0;
  *write = giving_write_of(component, command->leaf, value);
  return 1;
}

static ecs_status giving_order_set(ecs_world *world, const struct run_command *command, ecs_id id,
                                   k_scalar value) {
  struct component *component = component_of(world, command->component);
  struct cells_row cells;
  assert(component && !command->part);
  struct write write;
  uint32_t count = giving_take_write(component, command, value, &write);
  if (command->own) {
    bool has = cells_find(world, id, component->id, &cells);
    assert(has && component->leaves[command->leaf].type == ECS_ENTITY);
    if (has) marks_write_cells(world, &cells, component->id, &write, 1);
    return ECS_OK;
  }
  return entity_set(world, id, component, &write, count);
}

/* Stores an id in an element. */
static void giving_order_store(const ecs_world *world, const struct run_command *command,
                               int64_t number, int64_t id) {
  const struct component *component = component_of(world, command->component);
  assert(giving_is_element(world, command->component, number) &&
         command->leaf < component->leaf_count);
  assert(component->leaves[command->leaf].type == ECS_ENTITY && id >= 0);
  ((ecs_id *)component->resource[command->leaf].data)[number - 1] = (ecs_id)id;
}

ecs_status giving_stage(ecs_world *world, const struct run_command *command, ecs_id id) {
  switch (command->action) {
    case RUN_DESPAWN: return entity_despawn(world, id);
    case RUN_ADD: return entity_add(world, id, command->component);
    default:
      assert(command->action == RUN_REMOVE);
      return entity_remove(world, id, command->component);
  }
}

bool giving_defer_rows(const struct run *run, struct table *table, const uint64_t *marks) {
  static const enum command_kind kinds[] = {
      [RUN_DESPAWN] = COMMAND_DESPAWN, [RUN_ADD] = COMMAND_ADD, [RUN_REMOVE] = COMMAND_REMOVE};
  ecs_world *world = run->query->world;
  const struct run_command *command = &run->plan->commands[0];
  if (run->plan->command_count != 1 || !query_rows_are_whole(&run->query->terms)) return false;
  assert(command->action <= RUN_REMOVE);
  enum command_kind kind = kinds[command->action];
  return batch_takes_rows(world, kind, command->component, table) &&
         batch_put_rows(world, kind, command->component, table, marks) == ECS_OK;
}

/* The id that a number stands for. */
static int64_t giving_id_of(const struct giving *giving, enum spawned may, int64_t number) {
  if (may == SPAWNED_NONE || number >= 0) return number;
  return (int64_t)giving->spawned[(uint64_t)~number % RUN_SPAWNED];
}

/* The value of an order, with ids and targets resolved. */
static k_scalar giving_value_of(const struct giving *giving, const struct run_command *command,
                                k_scalar value) {
  if (command->gives) value.i64 = giving_id_of(giving, command->gives, value.i64);
  if (command->by_index) value.i64 = giving_target_of(giving, command, value.i64);
  return value;
}

/* ---- spawning and tying by recipes ---- */

static void giving_add_write(struct giving *giving, uint32_t order, uint32_t from,
                             const struct leaf *leaf, uint32_t number) {
  struct recipe *recipe = &giving->recipes[order];
  uint32_t at = order + recipe->write_count++;
  giving->leaves[at] = leaf;
  giving->from[at] = from;
  giving->writes[at].leaf = number;
  giving->parts[order + recipe->part_count - 1].write_count++;
}

/* Makes the recipe of an order that spawns or ties, from it and the parts after it. The target of a
** part of a spawn may be set as a field. */
static const struct recipe *giving_recipe_of(struct giving *giving, uint32_t order) {
  const struct run_command *first = giving_order_of(giving->run, order);
  struct recipe *recipe = &giving->recipes[order];
  if (giving->known >> order & 1) return recipe;
  *recipe = (struct recipe){0, 0};
  for (uint32_t i = first->action == RUN_SPAWN; i <= first->parts; i++) {
    const struct run_command *command = &first[i];
    struct component *component = component_of(giving->run->query->world, command->component);
    uint32_t part = order + recipe->part_count;
    if (command->action == RUN_SET) {
      assert(recipe->part_count && giving->parts[part - 1].component == component);
      giving_add_write(giving, order, i, &component->leaves[command->leaf], command->leaf);
      continue;
    }
    assert(command->action == RUN_ADD || command->action == RUN_TIE);
    bool ties = command->action == RUN_TIE, field = ties && i > 0 && command->as_field;
    giving->parts[part] = (struct part){
        component, ECS_NULL, 0, &giving->writes[order + recipe->write_count], 0};
    giving->targets[part] = ties && !field ? i : NONE;
    recipe->part_count++;
    if (field)
      giving_add_write(giving, order, i, &component->leaves[TARGET_LEAF], TARGET_LEAF);
  }
  giving->known |= UINT64_C(1) << order;
  return recipe;
}

/* Fills the parts of an order's recipe with these values. */
static const struct part *giving_fill_recipe(struct giving *giving, uint32_t order,
                                             const k_scalar *values) {
  const struct recipe *recipe = giving_recipe_of(giving, order);
  const struct run_command *commands = giving_order_of(giving->run, order);
  for (uint32_t i = order; i < order + recipe->write_count; i++) {
    uint32_t from = giving->from[i];
    giving->writes[i].cell =
        giving_cell(giving->leaves[i], giving_value_of(giving, &commands[from], values[from]));
  }
  for (uint32_t i = order; i < order + recipe->part_count; i++) {
    uint32_t from = giving->targets[i];
    if (from == NONE) continue;
    assert(giving->parts[i].component->relation);
    giving->parts[i].target = (ecs_id)giving_value_of(giving, &commands[from], values[from]).i64;
  }
  return giving->parts + order;
}

static void giving_order_spawn(struct giving *giving, uint32_t order, const k_scalar *values) {
  const struct part *parts = giving_fill_recipe(giving, order, values);
  assert(values->i64 < 0);
  giving->spawned[(uint64_t)~values->i64 % RUN_SPAWNED] = spawn_reserved(
      giving->run->query->world, parts, giving->recipes[order].part_count, 0);
}

static ecs_status giving_order_tie(struct giving *giving, uint32_t order, ecs_id id,
                                   const k_scalar *values) {
  const struct part *part = giving_fill_recipe(giving, order, values);
  ecs_world *world = giving->run->query->world;
  /* Most ties have no fields; this path saves a tenth. */
  if (part->write_count == 0 && part->target != ECS_NULL)
    return spawn_stage_part(world, id, part, NULL);
  /* The target of an exclusive relation is its first field. */
  struct write writes[RUN_ORDERS + 1];
  assert(part->component->relation && part->write_count <= RUN_ORDERS);
  if (!part->component->relation->exclusive)
    return relate_add(world, id, part->component, part->target, part->writes, part->write_count);
  writes[0] = (struct write){TARGET_LEAF, {.u64 = part->target}};
  memcpy(writes + 1, part->writes, part->write_count * sizeof *writes);
  return relate_set(world, id, part->component, writes, part->write_count + 1);
}

/* Emits an event; its parts set more fields of it. */
static void giving_order_event(const struct giving *giving, const struct run_command *command,
                               const int64_t *ids, const k_scalar *values) {
  ecs_world *world = giving->run->query->world;
  struct component *component = component_of(world, command->component);
  for (uint32_t i = 0, parts = command->parts; i <= parts; i++, command++) {
    k_scalar first = {.i64 = ids[i]}, value = giving_value_of(giving, command, values[i]);
    struct write writes[2];
    uint32_t count = 0;
    assert(component->is_event && component->id == command->component);
    if (command->first != NONE)
      writes[count++] = giving_write_of(component, command->first, first);
    if (command->leaf != NONE) writes[count++] = giving_write_of(component, command->leaf, value);
    (i == 0 ? emission_append : emission_put)(world, component->event, writes, count);
  }
}

static void giving_give_order(void *ud, uint32_t order, const int64_t *ids,
                              const k_scalar *values) {
  struct giving *giving = ud;
  const struct run_command *command = giving_order_of(giving->run, order);
  ecs_world *world = giving->run->query->world;
  ecs_id who = (ecs_id)giving_id_of(giving, command->whom, *ids);
  k_scalar value;
  ecs_status status = ECS_OK;
  switch (command->action) {
    case RUN_SPAWN: giving_order_spawn(giving, order, values); break;
    case RUN_EMIT: giving_order_event(giving, command, ids, values); break;
    case RUN_TIE: status = giving_order_tie(giving, order, who, values); break;
    case RUN_SET:
      value = giving_value_of(giving, command, *values);
      status = giving_order_set(world, command, who, value);
      break;
    case RUN_STORE:
      value = giving_value_of(giving, command, *values);
      giving_order_store(world, command, *ids, value.i64);
      break;
    case RUN_UNTIE:
      value = giving_value_of(giving, command, *values);
      if (command->leaf == NONE) value.i64 = (int64_t)ECS_NULL;   /* from all targets */
      status = relate_remove(world, who, component_of(world, command->component),
                             (ecs_id)value.i64);
      break;
    default: status = giving_stage(world, command, who); break;
  }
  assert(status == ECS_OK);
  (void)status;
}

/* ---- orders of many rows ---- */

/* Whether an order spawns with ids that must be checked: targets of ties and spawned entities. */
static bool giving_spawns_with_ids(const struct run_command *command) {
  for (uint32_t i = 1; i <= command->parts; i++)
    if (command[i].action == RUN_TIE || command[i].gives) return true;
  return false;
}

/* Whether a pending order of the row is about a component of an entity. */
static bool giving_waits_for(const struct giving *giving, int64_t id, ecs_id component,
                             const k_ordered *waiting, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (waiting[i].entity == id &&
        giving_order_of(giving->run, waiting[i].order)->component == component)
      return true;
  return false;
}

/* The component of a field that an order sets just as entity_set would; NULL for other orders. */
static const struct component *giving_set_by(const struct giving *giving, uint32_t order) {
  const struct run_command *command = giving_order_of(giving->run, order);
  if (command->action != RUN_SET || command->part || command->own || command->gives) return NULL;
  const struct component *component = component_of(giving->run->query->world, command->component);
  return component->relation ? NULL : component;
}

/* Notes whether such a set is reported to observers. Whether it is neither that nor marked. */
static bool giving_is_plain_set(struct giving *giving, uint32_t order) {
  const struct component *component = giving_set_by(giving, order);
  bool seen = component && watching_sets_of(giving->run->query->world, component->id);
  giving->seen |= (uint64_t)seen << order;
  return component && !component->watched && !seen;
}

static void giving_remember(k_stored **stored, void *at, uint32_t size) {
  k_stored *next = (*stored)++;
  *next = (k_stored){.at = at, .size = size};
  memcpy(&next->was, at, size);
}

/* What entity_set does at once: if the component is there and nothing is deferred on it. */
static k_now giving_order_now(void *ud, uint32_t order, int64_t id, k_scalar value,
                              const k_ordered *waiting, uint32_t count, k_stored **stored) {
  const struct giving *giving = ud;
  const struct run_command *command = giving_order_of(giving->run, order);
  ecs_world *world = giving->run->query->world;
  const struct component *component = giving_set_by(giving, order);
  struct cells_row cells;
  if (!component || id <= 0) return K_LATER;
  if (!cells_find(world, (ecs_id)id, component->id, &cells)) return K_LATER;
  if (command_is_staged(world, (ecs_id)id, component->id)) return K_LATER;
  if (giving_waits_for(giving, id, component->id, waiting, count)) return K_LATER;
  struct write write;
  uint32_t writes = giving_take_write(component, command, value, &write);
  bool watched = writes && giving->seen >> order & 1;
  /* Observers need the order of changes, and orders are deferred: such a row falls back to Lua. */
  if (watched && (count > 0 || watch_need_notes(world, 1) != ECS_OK)) return K_NO_ROOM;
  if (writes)
    giving_remember(stored, column_at(&cells.columns[command->leaf], cells.row),
                    component->leaves[command->leaf].size);
  const struct marks *marks = marks_of(cells.table, component->id);
  if (marks) giving_remember(stored, &marks->groups[cells.row / MARK_ROWS], sizeof *marks->groups);
  if (marks && marks->tracked)
    giving_remember(stored, &marks->rows[cells.row], sizeof *marks->rows);
  if (watched) {
    uint32_t *notes = &world->watching->note_count;
    giving_remember(stored, notes, sizeof *notes);
    watch_add_note(world, (ecs_id)id, component->id);
  }
  marks_write_cells(world, &cells, component->id, &write, writes);
  return K_DONE;
}

/* Writes cells of a field from a row on: one value for all, or one each. */
static void giving_put_cells(void *cells, uint32_t size, uint32_t row, const struct leaf *leaf,
                             uint32_t count, const k_scalar *values, bool one) {
  assert(leaf->type != ECS_ANY);
  if (one)
    cell_fill(cells, size, row, count, giving_cell(leaf, *values));
  else if (leaf->size == sizeof *values)   /* as giving_cell does */
    memcpy((k_scalar *)cells + row, values, count * sizeof *values);
  else
    for (uint32_t i = 0; i < count; i++)
      cell_store(cells, size, row + i, giving_cell(leaf, values[i]));
}

static void giving_put_column(const struct event *event, uint32_t leaf, uint32_t row,
                              uint32_t count, const k_scalar *values, bool one) {
  const struct column *column = &event->table->columns[leaf];
  assert(column->leaf == leaf);
  giving_put_cells(column->data, column->size, row, &event->component->leaves[leaf], count,
                   values, one);
}

/* Emits events of one type, column by column. Without spawns beside them, all ids are real. */
static uint32_t giving_emit_many(void *ud, const k_given *given) {
  struct giving *giving = ud;
  const struct run_command *command = giving_order_of(giving->run, given->order);
  ecs_world *world = giving->run->query->world;
  uint32_t parts = giving_parts_of(ud, given->order), count = given->count;
  giving->emits[given->order] += count;
  giving->at_once += count * (parts + 1);
  if (!giving_reserve_orders(ud, count * (parts + 1))) return 0;
  struct event *event = component_of(world, command->component)->event;
  uint32_t row = emission_append_many(world, event, count);
  for (uint32_t i = 0; i <= parts; i++, command++) {
    assert(command->component == event->component->id);
    if (command->first != NONE)
      giving_put_column(event, command->first, row, count,
                        (const k_scalar *)(const void *)given->entities[i],
                        given->one_entity >> i & 1);
    if (command->leaf != NONE)
      giving_put_column(event, command->leaf, row, count, given->values[i],
                        given->one_value >> i & 1);
  }
  return count;
}

/* ---- spawning many ---- */

/* Writes the turns row by row, inside a row in the order of the function. */
static void giving_take_turns(uint8_t *turns, const k_given *given, uint32_t count) {
  uint32_t next[K_SITES] = {0};
  bool same = true;            /* every row gives all orders */
  for (uint32_t i = 1; i < count; i++)
    same &= given[i].count == given->count && given[i].rows == given->rows;
  for (uint32_t i = 0; same && i < given->count; i++)
    for (uint32_t j = 0; j < count; j++) *turns++ = (uint8_t)j;
  if (same) return;
  for (;;) {
    uint32_t best = NONE, least = NONE;
    for (uint32_t j = 0; j < count; j++) {
      uint32_t at = next[j];
      uint32_t row = at == given[j].count ? NONE : given[j].rows ? given[j].rows[at] : at;
      if (row >= least) continue;
      best = j;
      least = row;
    }
    if (best == NONE) return;
    next[best]++;
    *turns++ = (uint8_t)best;
  }
}

/* Spawns by several orders, if only cells of tables are to be set. */
static uint32_t giving_spawn_many(struct giving *giving, const k_given *given, uint32_t count) {
  ecs_world *world = giving->run->query->world;
  uint32_t kinds[K_SITES] = {0}, counts[K_SITES] = {0};
  uint8_t *turns;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t order = given[i].order;
    const struct run_command *command = giving_order_of(giving->run, order);
    if (command->action != RUN_SPAWN || giving_spawns_with_ids(command)) return NONE;
    uint32_t part_count = giving_recipe_of(giving, order)->part_count;
    kinds[i] = brood_kind_of(world, giving->parts + order, part_count);
    if (kinds[i] == NONE) return NONE;
    counts[i] = given[i].count;
  }
  uint64_t *to = broods_put(world, kinds, counts, count, &turns);
  if (!to) return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = given[i].order, end = at + giving->recipes[at].write_count;
    for (; at < end; at++, to += counts[i])
      giving_put_cells(to, sizeof *to, 0, giving->leaves[at], counts[i],
                       given[i].values[giving->from[at]],
                       given[i].one_value >> giving->from[at] & 1);
  }
  if (count > 1) giving_take_turns(turns, given, count);
  return 1;
}

/* Gives events of one type, or spawns. */
static uint32_t giving_give_many(void *ud, const k_given *given, uint32_t count) {
  struct giving *giving = ud;
  enum run_action action = giving_order_of(giving->run, given->order)->action;
  if (action == RUN_EMIT && count == 1) return giving_emit_many(ud, given);
  return action == RUN_SPAWN ? giving_spawn_many(giving, given, count) : NONE;
}

k_orders giving_begin(struct giving *giving, const struct run *run) {
  memset(giving, 0, offsetof(struct giving, recipes));
  giving->run = run;
  uint64_t plain = 0;
  for (uint32_t i = 0; i < run->plan->order_count; i++)
    plain |= (uint64_t)giving_is_plain_set(giving, i) << i;
  return (k_orders){
      giving_can_order, giving_reserve_orders, giving_give_order, giving,
      giving_parts_of,  giving_give_many,      giving_order_now,  plain,
      &run->query->world->staging.command_count};
}
