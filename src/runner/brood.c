#include "runner/effects.h"

#include "core/base/column.h"
#include "core/command/command.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/table.h"

/* ---- whether they are kept ---- */

static bool brood_is_open(const struct broods *broods, const ecs_world *world) {
  return world->staging.open == 1 && broods->epoch == world->staging.epoch;
}

static void brood_forget(struct broods *broods) {
  broods->round++;
  broods->kind_count = broods->count = broods->block_count = 0;
  broods->cell_count = broods->turn_count = 0;
}

void broods_begin(struct broods *broods, const ecs_world *world) {
  if (world->staging.open != 1) return;
  assert(broods->epoch != world->staging.epoch);
  broods->epoch = world->staging.epoch;
  brood_forget(broods);
}

/* Where somebody is told of changes, or notices when they come, they are staged. */
static bool brood_may_keep(const struct broods *broods, const struct run *run) {
  const ecs_world *world = run->query->world;
  return brood_is_open(broods, world) && !world->staging.watched &&
         world->staging.command_count == 0 && !run->query->terms.changes;
}

/* ---- kinds ---- */

/* Puts together what the orders behind one say that it spawns with; false where that is more than
** components and values that are known by now. */
static bool brood_describe(const ecs_world *world, const struct run_command *order,
                           struct brood_kind *kind) {
  memset(kind, 0, sizeof *kind);
  if (order->action != RUN_SPAWN) return false;
  for (uint32_t i = 1; i <= order->parts; i++) {
    const struct component *component = component_of(world, order[i].component);
    if (order[i].gives || !component || component->relation || component->has_any)
      return false;
    if (order[i].action == RUN_ADD) {
      kind->components[kind->part_count++] = component->id;
      continue;
    }
    if (order[i].action != RUN_SET) return false;
    assert(kind->part_count > 0 && kind->components[kind->part_count - 1] == component->id);
    kind->leaves[kind->write_count] = &component->leaves[order[i].leaf];
    kind->numbers[kind->write_count] = order[i].leaf;
    kind->parts[kind->write_count] = (uint8_t)(kind->part_count - 1);
    kind->orders[kind->write_count++] = (uint8_t)i;
  }
  return true;
}

/* The number of an order's kind, or NONE; *room is false when there is none for another. */
static uint32_t brood_kind_of(struct broods *broods, struct giving *giving,
                              uint32_t order, bool *room) {
  struct brood_kind kind;
  const struct run *run = giving->run;
  if (giving->kinds[order]) return giving->kinds[order] - 1u;
  if (!brood_describe(run->query->world, &run->plan->orders[order], &kind)) return NONE;
  uint32_t at = 0;
  while (at < broods->kind_count &&
         memcmp(&kind, &broods->kinds[at], offsetof(struct brood_kind, count)) != 0)
    at++;
  if (at >= UINT8_MAX) return NONE;
  if (at == broods->kind_count) {
    *room = GROW(broods->memory, broods->kinds, broods->kind_capacity, at + 1ull);
    if (!*room) return NONE;
    broods->kinds[broods->kind_count++] = kind;
  }
  giving->kinds[order] = (uint8_t)(at + 1);
  return at;
}

/* ---- keeping ---- */

static bool brood_reserve(struct broods *broods, uint32_t more, uint32_t entities, uint64_t cells) {
  struct memory *memory = broods->memory;
  uint64_t turns = broods->turn_count + (uint64_t)entities;
  return GROW(memory, broods->list, broods->capacity, broods->count + (uint64_t)more) &&
         GROW(memory, broods->blocks, broods->block_capacity, broods->block_count + 1ull) &&
         GROW(memory, broods->turns, broods->turn_capacity, turns) &&
         GROW(memory, broods->places, broods->place_capacity, entities) &&
         GROW(memory, broods->cells, broods->cell_capacity, broods->cell_count + cells + 1);
}

/* The cells of a write, as a column has them: of `one` value, or one each. */
static void brood_keep_cells(uint64_t *to, const struct leaf *leaf,
                             const k_scalar *values, bool one, uint32_t count) {
  if (one) {
    uint64_t cell = giving_cell(leaf, *values).u64;
    for (uint32_t i = 0; i < count; i++) to[i] = cell;
    return;
  }
  if (leaf->size == sizeof *values) {   /* as giving_cell has it */
    memcpy(to, values, count * sizeof *to);
    return;
  }
  for (uint32_t i = 0; i < count; i++) to[i] = giving_cell(leaf, values[i]).u64;
}

static void keep_brood(struct broods *broods, uint32_t number, const k_given *given) {
  struct brood_kind *kind = &broods->kinds[number];
  uint32_t count = given->count;
  broods->list[broods->count++] = (struct brood){number, count, broods->cell_count};
  for (uint32_t i = 0; i < kind->write_count; i++) {
    brood_keep_cells(broods->cells + broods->cell_count, kind->leaves[i],
                     given->values[kind->orders[i]],
                     given->one_value >> kind->orders[i] & 1, count);
    broods->cell_count += count;
  }
  kind->count += count;
}

/* Whether the same rows come to all orders. */
static bool brood_are_together(const k_given *given, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (given[i].count != given->count || given[i].rows != given->rows) return false;
  return true;
}

static uint32_t brood_row_of(const k_given *given, uint32_t at) {
  return given->rows ? given->rows[at] : at;
}

/* Row after row, in a row in the order of the function. */
static void brood_keep_turns(uint8_t *turns, const k_given *given, uint32_t count,
                             uint32_t entities) {
  uint32_t next[K_SITES] = {0}, done = 0;
  if (brood_are_together(given, count)) {
    for (uint32_t i = 0; i < given->count; i++)
      for (uint32_t j = 0; j < count; j++) turns[done++] = (uint8_t)j;
  }
  while (done < entities) {
    uint32_t best = NONE, least = NONE;
    for (uint32_t j = 0; j < count; j++) {
      if (next[j] == given[j].count || brood_row_of(&given[j], next[j]) >= least) continue;
      best = j;
      least = brood_row_of(&given[j], next[j]);
    }
    assert(best < count);
    next[best]++;
    turns[done++] = (uint8_t)best;
  }
}

uint32_t broods_take(struct broods *broods, struct giving *giving, const k_given *given,
                     uint32_t count) {
  const struct run *run = giving->run;
  uint32_t kinds[K_SITES], entities = 0;
  uint64_t cells = 0;
  bool room = true;
  ecs_world *world = run->query->world;
  assert(count > 0 && count <= K_SITES);
  if (!brood_may_keep(broods, run)) return NONE;
  if (giving->round != broods->round) memset(giving->kinds, 0, sizeof giving->kinds);
  giving->round = broods->round;
  for (uint32_t i = 0; i < count; i++) {
    kinds[i] = brood_kind_of(broods, giving, given[i].order, &room);
    if (kinds[i] == NONE) return room ? NONE : 0;
    entities += given[i].count;
    cells += (uint64_t)given[i].count * broods->kinds[kinds[i]].write_count;
  }
  /* Room for the ids of all that is kept and is to be: whose row has none left fails. */
  if (entity_reserve(&world->entities, &world->memory, &world->entities.entities,
                     broods->turn_count + (uint64_t)entities) != ECS_OK ||
      !brood_reserve(broods, count, entities, cells))
    return 0;
  broods->blocks[broods->block_count++] =
      (struct brood_block){broods->count, count, broods->turn_count, entities};
  for (uint32_t i = 0; i < count; i++) keep_brood(broods, kinds[i], &given[i]);
  brood_keep_turns(broods->turns + broods->turn_count, given, count, entities);
  broods->turn_count += entities;
  return 1;
}

/* ---- staging ---- */

/* The parts of a kind, with writes whose cells are to be set; how many they are. A component may
** have gone. */
static uint32_t brood_make_parts(const ecs_world *world, const struct brood_kind *kind,
                                 struct part *parts, struct write *writes) {
  uint32_t next = 0, count = 0;
  for (uint32_t i = 0; i < kind->part_count; i++) {
    struct component *component = component_of(world, kind->components[i]);
    struct part *part = &parts[count];
    *part = (struct part){component, ECS_NULL, 0, writes + next, 0};
    for (; next < kind->write_count && kind->parts[next] == i; next++, part->write_count++)
      writes[next].leaf = kind->numbers[next];
    count += component != NULL;
  }
  return count;
}

static void brood_stage_one(ecs_world *world, const struct broods *broods,
                            const struct brood *brood, uint32_t nth) {
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
  const struct brood_kind *kind = &broods->kinds[brood->kind];
  uint32_t count = brood_make_parts(world, kind, parts, writes);
  for (uint32_t i = 0; i < kind->write_count; i++)
    writes[i].cell.u64 = broods->cells[brood->first + (uint64_t)i * brood->count + nth];
  spawn_reserved(world, parts, count, 0);
}

static ecs_status brood_reserve_staged(const struct broods *broods, ecs_world *world) {
  uint64_t commands = 0;
  ecs_status status = spawn_reserve_ids(world, broods->turn_count);
  for (uint32_t i = 0; i < broods->kind_count; i++)
    commands += broods->kinds[i].count * (broods->kinds[i].part_count + 1ull);
  if (status != ECS_OK) return status;
  return command_reserve(world, commands, broods->cell_count, broods->turn_count);
}

ecs_status broods_stage(struct broods *broods, ecs_world *world) {
  if (broods->block_count == 0 || !brood_is_open(broods, world)) return ECS_OK;
  ecs_status status = brood_reserve_staged(broods, world);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < broods->block_count; i++) {
    const struct brood_block *block = &broods->blocks[i];
    uint32_t next[K_SITES] = {0};
    for (uint32_t j = 0; j < block->count; j++) {
      uint8_t turn = broods->turns[block->from + j];
      brood_stage_one(world, broods, &broods->list[block->first + turn], next[turn]++);
    }
  }
  brood_forget(broods);
  return ECS_OK;
}

/* ---- at once ---- */

/* Whether a spawn of a kind means nothing but a row. */
static bool brood_kind_is_plain(const ecs_world *world, const struct brood_kind *kind) {
  for (uint32_t i = 0; i < kind->part_count; i++) {
    const struct component *component = component_of(world, kind->components[i]);
    if (!component || component->sparse) return false;
  }
  return true;
}

static bool brood_is_plain(const struct broods *broods, const ecs_world *world) {
  if (world->staging.watched || world->staging.command_count || sparse_is_mixed(world))
    return false;
  for (uint32_t i = 0; i < broods->kind_count; i++)
    if (!brood_kind_is_plain(world, &broods->kinds[i])) return false;
  return true;
}

/* Finds the table of a kind, with room. */
static ecs_status brood_find_table(ecs_world *world, struct brood_kind *kind) {
  struct part parts[RUN_ORDERS];
  struct write writes[RUN_ORDERS];
  struct table *table = NULL;
  uint32_t count = brood_make_parts(world, kind, parts, writes);
  ecs_status status = spawn_table_of(world, parts, count, &table);
  if (status != ECS_OK) return status;
  kind->table = table;
  table->incoming += (uint32_t)kind->count;
  return table_reserve(world, table, table->incoming);
}

/* The tables that a block's entities come to, in the order in which they come. */
static ecs_status brood_find_tables_of(const struct broods *broods, ecs_world *world,
                                       const struct brood_block *block, uint32_t *found) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < block->count && *found < broods->kind_count && status == ECS_OK; i++) {
    uint8_t turn = broods->turns[block->from + i];
    struct brood_kind *kind = &broods->kinds[broods->list[block->first + turn].kind];
    if (kind->table) continue;
    status = brood_find_table(world, kind);
    ++*found;
  }
  return status;
}

static ecs_status brood_find_tables(const struct broods *broods, ecs_world *world) {
  ecs_status status = spawn_reserve_ids(world, broods->turn_count);
  uint32_t found = 0;
  for (uint32_t i = 0; i < broods->kind_count; i++) broods->kinds[i].table = NULL;
  for (uint32_t i = 0; i < broods->block_count && status == ECS_OK; i++)
    status = brood_find_tables_of(broods, world, &broods->blocks[i], &found);
  for (uint32_t i = 0; i < broods->kind_count; i++)
    if (broods->kinds[i].table) broods->kinds[i].table->incoming = 0;
  assert(status != ECS_OK || found <= broods->kind_count);
  return status;
}

/* Gives a block's entities their rows, those of a table one behind the other. */
static void brood_take_rows(const struct broods *broods, ecs_world *world,
                            const struct brood_block *block) {
  struct entity_index *index = &world->entities;
  struct table *tables[K_SITES] = {NULL};
  uint32_t *next[K_SITES] = {NULL}, *place = broods->places;
  for (uint32_t i = 0; i < block->broods; i++) {
    const struct brood *brood = &broods->list[block->first + i];
    tables[i] = broods->kinds[brood->kind].table;
    next[i] = place;
    place += brood->count;
  }
  const uint8_t *turns = broods->turns + block->from;
  for (uint32_t i = 0; i < block->count; i++) {
    struct table *table = tables[turns[i]];
    uint32_t at = entity_take(index, &index->entities), row = table->count++;
    assert(row < table->capacity);
    world_arrive(world, table, row);
    table->rows[row] = at;
    *entity_record(index, at) = (struct record){table->index, row};
    *next[turns[i]]++ = row;
  }
}

/* Defaults in what one block's entities have got of a table, which no kind before has seen to. */
static void brood_fill_defaults(const struct broods *broods, const ecs_world *world,
                                const struct brood_block *block, uint32_t nth) {
  const struct brood *list = broods->list + block->first;
  struct table *table = broods->kinds[list[nth].kind].table;
  uint32_t rows = 0;
  for (uint32_t i = 0; i < block->broods; i++) {
    if (broods->kinds[list[i].kind].table != table) continue;
    if (i < nth) return;
    rows += list[i].count;
  }
  table_fill_defaults(world, table, table->count - rows, rows);
}

/* The cells of the nth brood of a block, whose entities' places are in order. */
static void brood_write_cells(const struct broods *broods, const ecs_world *world,
                              const struct brood *brood, const uint32_t *places) {
  const struct brood_kind *kind = &broods->kinds[brood->kind];
  const uint64_t *cells = broods->cells + brood->first;
  for (uint32_t i = 0; i < kind->write_count; i++, cells += brood->count) {
    const struct layout *layout = table_find(kind->table, kind->components[kind->parts[i]]);
    const struct column *column = &layout->columns[kind->numbers[i]];
    if (column->size == 8)
      for (uint32_t j = 0; j < brood->count; j++) ((uint64_t *)column->data)[places[j]] = cells[j];
    else
      for (uint32_t j = 0; j < brood->count; j++)
        cell_store(column->data, column->size, places[j], (ecs_cell){.u64 = cells[j]});
  }
  for (uint32_t i = 0; UNLIKELY(kind->table->mark_count) && i < kind->part_count; i++)
    for (uint32_t j = 0; j < brood->count; j++)
      marks_note(world, kind->table, kind->components[i], places[j]);
}

static void brood_spawn_block(const struct broods *broods, ecs_world *world,
                              const struct brood_block *block) {
  const uint32_t *places = broods->places;
  brood_take_rows(broods, world, block);
  for (uint32_t i = 0; i < block->broods; i++) {
    const struct brood *brood = &broods->list[block->first + i];
    brood_fill_defaults(broods, world, block, i);
    brood_write_cells(broods, world, brood, places);
    places += brood->count;
  }
}

/* All that is kept, if a spawn means nothing but a row, and there is memory for that. */
static bool brood_spawn_at_once(const struct broods *broods, ecs_world *world) {
  if (!brood_is_plain(broods, world) || brood_find_tables(broods, world) != ECS_OK) return false;
  for (uint32_t i = 0; i < broods->kind_count; i++)
    if (broods->kinds[i].table && broods->kinds[i].table->has_ties) return false;
  for (uint32_t i = 0; i < broods->block_count; i++)
    brood_spawn_block(broods, world, &broods->blocks[i]);
  world_settle(world);
  return true;
}

ecs_status broods_end(struct broods *broods, ecs_world *world) {
  ecs_status status = ECS_OK;
  if (!brood_is_open(broods, world)) return ECS_OK;
  if (broods->block_count && !brood_spawn_at_once(broods, world))
    status = broods_stage(broods, world);
  brood_forget(broods);
  broods->epoch = 0;
  return status;
}

void broods_free(struct memory *memory, struct broods *broods) {
  memory_free(memory, broods->kinds, broods->kind_capacity * sizeof *broods->kinds);
  memory_free(memory, broods->list, broods->capacity * sizeof *broods->list);
  memory_free(memory, broods->blocks, broods->block_capacity * sizeof *broods->blocks);
  memory_free(memory, broods->cells, broods->cell_capacity * sizeof *broods->cells);
  memory_free(memory, broods->turns, broods->turn_capacity * sizeof *broods->turns);
  memory_free(memory, broods->places, broods->place_capacity * sizeof *broods->places);
  memset(broods, 0, sizeof *broods);
}
