/* Broods hold the spawns of a scope while nothing else is deferred in it. A brood is a run of
** entities of one kind with their cells in columns; a block is one brood, or several whose entities
** alternate, as when a kernel's rows spawn in several places. Ids are taken at once. The batch
** counts their commands, writes and chains as if they were written; that happens when something
** else is deferred (command_reserve), or when a spawn does more than add a row. Spawning one by one
** takes up to ten times as long. */
#include "core/base/column.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/table.h"

#define BROOD_KINDS 64u        /* kinds in one scope */
#define BROOD_ROOM 1024u       /* entities in a brood that grows one by one */

void broods_forget(struct broods *broods) {
  broods->kind_count = broods->count = broods->block_count = 0;
  broods->cell_count = broods->turn_count = 0;
}

/* ---- kinds ---- */

static bool brood_is_of(const struct brood_kind *kind, const struct part *parts, uint32_t count) {
  uint32_t next = 0;
  if (kind->part_count != count) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct part *part = &parts[i];
    if (kind->components[i] != part->component->id || kind->writes_of[i] != part->write_count)
      return false;
    for (uint32_t j = 0; j < part->write_count; j++)
      if (kind->leaves[next++] != part->writes[j].leaf) return false;
  }
  return true;
}

/* Describes a kind. False if such a spawn does more than write cells, or exceeds a limit. */
static bool brood_describe(const struct part *parts, uint32_t count, struct brood_kind *kind) {
  kind->part_count = count;
  kind->write_count = 0;
  if (count > BROOD_PARTS) return false;
  for (uint32_t i = 0; i < count; i++) {
    const struct component *component = parts[i].component;
    uint32_t writes = parts[i].write_count;
    if (component->relation || component->has_any || component->sparse ||
        writes > BROOD_PARTS - kind->write_count)
      return false;
    kind->components[i] = component->id;
    kind->writes_of[i] = (uint8_t)writes;
    for (uint32_t j = 0; j < writes; j++)
      kind->leaves[kind->write_count++] = parts[i].writes[j].leaf;
  }
  return true;
}

uint32_t brood_kind_of(ecs_world *world, const struct part *parts, uint32_t count) {
  struct staging *staging = &world->staging;
  struct broods *broods = &staging->broods;
  if (broods->epoch != staging->epoch) broods_forget(broods);
  broods->epoch = staging->epoch;
  uint32_t at = broods->kind_count;
  bool more = broods_are_kept(staging) && staging->batch.scope == staging->scope_count - 1;
  if ((staging->command_count && !more) || staging->watched || sparse_is_mixed(world)) return NONE;
  while (at-- > 0)
    if (brood_is_of(&broods->kinds[at], parts, count)) return at;
  at = broods->kind_count;
  if (at == BROOD_KINDS || !GROW(&world->memory, broods->kinds, broods->kind_capacity, at + 1ull) ||
      !brood_describe(parts, count, &broods->kinds[at]))
    return NONE;
  broods->kinds[at].count = 0;
  return broods->kind_count++;
}

/* ---- keeping ---- */

/* Reserves a block of `more` broods, and room for their entities. */
static bool brood_reserve(ecs_world *world, uint32_t more, uint64_t entities, uint64_t cells) {
  struct broods *broods = &world->staging.broods;
  struct batch *batch = &world->staging.batch;
  struct memory *memory = &world->memory;
  uint64_t turns = more > 1 ? entities : 0;
  return (batch->count + entities) * (BROOD_PARTS + 1) <= UINT32_MAX &&   /* commands; writes:
                                                                          ** at most this many */
         GROW(memory, broods->list, broods->capacity, broods->count + (uint64_t)more) &&
         GROW(memory, broods->blocks, broods->block_capacity, broods->block_count + 1ull) &&
         GROW(memory, broods->turns, broods->turn_capacity, broods->turn_count + turns) &&
         GROW(memory, broods->places, broods->place_capacity, turns) &&
         GROW(memory, broods->cells, broods->cell_capacity, broods->cell_count + cells + 1) &&
         GROW(memory, batch->entities, batch->capacity, batch->count + entities);
}

/* Adds a brood in reserved room. */
static void brood_add(struct broods *broods, uint32_t kind, uint32_t count, uint32_t room) {
  assert(broods->list && broods->kinds);
  broods->list[broods->count++] = (struct brood){kind, count, room, broods->cell_count};
  broods->cell_count += broods->kinds[kind].write_count * room;
}

static void brood_count(struct staging *staging, uint32_t kind, uint32_t more) {
  struct brood_kind *of = &staging->broods.kinds[kind];
  of->count += more;
  staging->command_count += more * (of->part_count + 1);
  staging->write_count += more * of->write_count;
  staging->chain_count += more;
}

/* Takes reserved ids for the last entities. */
static void brood_take(ecs_world *world, uint32_t count, ecs_id *ids) {
  struct batch *batch = &world->staging.batch;
  struct entity_index *index = &world->entities;
  batch->kind = COMMAND_SPAWN;
  batch->component = ECS_NULL;
  batch->scope = world->staging.scope_count - 1;
  batch->room = 0;
  for (uint32_t i = 0; i < count; i++) {
    ecs_id id;
    if (UNLIKELY(!entity_take_first(index, &id)))
      id = entity_id(index, entity_take(index, &index->entities));
    batch->entities[batch->count++] = id;
    if (ids) ids[i] = id;
  }
}

uint64_t *broods_put(ecs_world *world, const uint32_t *kinds, const uint32_t *counts,
                     uint32_t count, uint8_t **turns) {
  struct staging *staging = &world->staging;
  struct broods *broods = &staging->broods;
  uint64_t entities = 0, cells = 0, first = broods->cell_count;
  assert(count > 0 && count <= BROODS_BESIDE && !world->shared);
  for (uint32_t i = 0; i < count; i++) {
    entities += counts[i];
    cells += (uint64_t)counts[i] * broods->kinds[kinds[i]].write_count;
  }
  if (spawn_reserve_ids(world, entities) != ECS_OK ||
      !brood_reserve(world, count, entities, cells))
    return NULL;
  broods->blocks[broods->block_count++] =
      (struct brood_block){broods->count, count, broods->turn_count, (uint32_t)entities};
  for (uint32_t i = 0; i < count; i++) {
    brood_add(broods, kinds[i], counts[i], counts[i]);
    brood_count(staging, kinds[i], counts[i]);
  }
  *turns = count > 1 ? broods->turns + broods->turn_count : NULL;
  if (count > 1) broods->turn_count += (uint32_t)entities;
  brood_take(world, (uint32_t)entities, NULL);
  return broods->cells + first;
}

/* Returns the last brood, or a new one, with room for `more` entities; NULL when out of memory. */
static struct brood *brood_with_room(ecs_world *world, uint32_t kind, uint32_t more) {
  struct broods *broods = &world->staging.broods;
  struct brood *last = broods->count ? &broods->list[broods->count - 1] : NULL;
  if (last && (last->kind != kind || broods->blocks[broods->block_count - 1].broods > 1))
    last = NULL;
  if (last && more <= last->room - last->count)
    return brood_reserve(world, 0, more, 0) ? last : NULL;
  uint32_t room = !last ? 1 : last->count < BROOD_ROOM / 2 ? 2 * last->count : BROOD_ROOM;
  if (room < more) room = more;
  if (!brood_reserve(world, 1, more, (uint64_t)broods->kinds[kind].write_count * room))
    return NULL;
  broods->blocks[broods->block_count++] =
      (struct brood_block){broods->count, 1, broods->turn_count, 0};
  brood_add(broods, kind, 0, room);
  return &broods->list[broods->count - 1];
}

ecs_status broods_spawn(ecs_world *world, uint64_t many, uint32_t kind, const struct part *parts,
                        ecs_id *ids) {
  struct broods *broods = &world->staging.broods;
  ecs_status status = spawn_reserve_ids(world, many);
  if (status != ECS_OK) return status;
  uint32_t n = (uint32_t)many;
  struct brood *brood = brood_with_room(world, kind, n);
  if (!brood) return world_nomem(world);
  uint64_t *to = broods->cells + brood->first + brood->count;
  for (uint32_t i = 0; i < broods->kinds[kind].part_count; i++)
    for (uint32_t j = 0; j < parts[i].write_count; j++, to += brood->room)
      for (uint32_t nth = 0; nth < n; nth++)
        to[nth] = parts[i].writes[(uint64_t)nth * parts[i].stride + j].cell.u64;
  brood->count += n;
  broods->blocks[broods->block_count - 1].count += n;
  brood_count(&world->staging, kind, n);
  brood_take(world, n, ids);
  return ECS_OK;
}

/* ---- as commands ---- */

static void brood_write(ecs_world *world, const struct brood *brood, uint32_t nth, ecs_id id) {
  const struct broods *broods = &world->staging.broods;
  const struct brood_kind *kind = &broods->kinds[brood->kind];
  const uint64_t *cell = broods->cells + brood->first + nth;
  struct write writes[BROOD_PARTS];
  const uint32_t *leaf = kind->leaves;
  command_put(world, COMMAND_SPAWN, id, ECS_NULL, NULL, 0);
  for (uint32_t i = 0; i < kind->part_count; i++) {
    for (uint32_t j = 0; j < kind->writes_of[i]; j++, cell += brood->room)
      writes[j] = (struct write){*leaf++, {.u64 = *cell}};
    command_put(world, COMMAND_SET, id, kind->components[i], writes, kind->writes_of[i]);
  }
}

/* The brood of a block's nth entity. */
static uint32_t brood_turn(const struct broods *broods, const struct brood_block *block,
                           uint32_t nth) {
  return block->broods > 1 ? broods->turns[block->from + nth] : 0;
}

void broods_write(ecs_world *world) {
  struct staging *staging = &world->staging;
  struct broods *broods = &staging->broods;
  const ecs_id *id = staging->batch.entities;
  staging->command_count = staging->write_count = staging->chain_count = staging->batch.count = 0;
  for (uint32_t i = 0; i < broods->block_count; i++) {
    const struct brood_block *block = &broods->blocks[i];
    uint32_t next[BROODS_BESIDE] = {0};
    for (uint32_t j = 0; j < block->count; j++) {
      uint32_t turn = brood_turn(broods, block, j);
      brood_write(world, &broods->list[block->first + turn], next[turn]++, *id++);
    }
  }
  for (uint32_t i = 0; i < staging->command_count; i++)
    staging->commands[i].scope = staging->batch.scope;
  broods_forget(broods);
}

/* ---- at once ---- */

/* Whether the spawns only add rows. A component may have been undeclared since. */
static bool brood_are_plain(const ecs_world *world) {
  const struct broods *broods = &world->staging.broods;
  if (world->staging.watched || world->watching->note_count || sparse_is_mixed(world)) return false;
  for (uint32_t i = 0; i < broods->kind_count; i++)
    for (uint32_t j = 0; j < broods->kinds[i].part_count; j++)
      if (!component_of(world, broods->kinds[i].components[j])) return false;
  return true;
}

/* Finds the table of a kind and reserves room in it. */
static ecs_status brood_find_table(ecs_world *world, struct brood_kind *kind) {
  struct part parts[BROOD_PARTS];
  for (uint32_t i = 0; i < kind->part_count; i++)
    parts[i].component = component_of(world, kind->components[i]);
  ecs_status status = spawn_table_of(world, parts, kind->part_count, &kind->table);
  if (status != ECS_OK) return status;
  kind->table->incoming += (uint32_t)kind->count;
  return table_reserve(world, kind->table, kind->table->incoming);
}

/* Finds all tables, in the order in which entities enter them. */
static ecs_status brood_find_tables(ecs_world *world) {
  const struct broods *broods = &world->staging.broods;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < broods->kind_count; i++) broods->kinds[i].table = NULL;
  for (uint32_t i = 0, found = 0; i < broods->block_count && status == ECS_OK; i++) {
    const struct brood_block *block = &broods->blocks[i];
    uint32_t turns = block->broods > 1 ? block->count : 1;
    for (uint32_t j = 0; j < turns && found < broods->kind_count && status == ECS_OK; j++) {
      uint32_t turn = brood_turn(broods, block, j);
      struct brood_kind *kind = &broods->kinds[broods->list[block->first + turn].kind];
      if (kind->table) continue;
      status = brood_find_table(world, kind);
      found++;
    }
  }
  for (uint32_t i = 0; i < broods->kind_count; i++)
    if (broods->kinds[i].table) broods->kinds[i].table->incoming = 0;
  return status;
}

INLINE uint32_t brood_enter(ecs_world *world, struct table *table, ecs_id id) {
  uint32_t row = table->count++, at = ecs_id_index(id);
  assert(row < table->capacity);
  world_arrive(world, table, row);
  table->rows[row] = at;
  *entity_record(&world->entities, at) = (struct record){table->index, row};
  return row;
}

/* Gives a block's entities their rows, consecutive for each table. Records the places if the block
** has several broods. */
static void brood_take_rows(ecs_world *world, const struct brood_block *block, const ecs_id *ids) {
  const struct broods *broods = &world->staging.broods;
  const struct brood *list = &broods->list[block->first];
  struct table *tables[BROODS_BESIDE];
  uint32_t *next[BROODS_BESIDE], *place = broods->places;
  if (block->broods == 1) {
    struct table *table = broods->kinds[list->kind].table;
    for (uint32_t i = 0; i < block->count; i++) brood_enter(world, table, ids[i]);
    return;
  }
  assert(block->broods > 1 && block->broods <= BROODS_BESIDE);
  for (uint32_t i = 0; i < block->broods; i++) {
    tables[i] = broods->kinds[list[i].kind].table;
    next[i] = place;
    place += list[i].count;
  }
  for (uint32_t i = 0; i < block->count; i++) {
    uint32_t turn = brood_turn(broods, block, i);
    assert(turn < block->broods);
    *next[turn]++ = brood_enter(world, tables[turn], ids[i]);
  }
}

/* Fills defaults in the rows that a block added to a table, unless an earlier kind did so. */
static void brood_fill_defaults(const ecs_world *world, const struct brood_block *block,
                                uint32_t nth) {
  const struct broods *broods = &world->staging.broods;
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

/* Writes cells into a column: into its last rows, or at the given places. */
static void brood_write_column(const struct column *column, uint32_t row, const uint32_t *places,
                               const uint64_t *cells, uint32_t count) {
  uint64_t *wide = column->size == sizeof *wide ? column->data : NULL;
  assert(column->data || count == 0);
  if (wide && !places) memcpy(wide + row, cells, count * sizeof *wide);
  for (uint32_t i = 0; wide && places && i < count; i++) wide[places[i]] = cells[i];
  for (uint32_t i = 0; !wide && i < count; i++)
    cell_store(column->data, column->size, places ? places[i] : row + i,
               (ecs_cell){.u64 = cells[i]});
}

static void brood_write_cells(const ecs_world *world, const struct brood *brood,
                              const uint32_t *places) {
  const struct broods *broods = &world->staging.broods;
  const struct brood_kind *kind = &broods->kinds[brood->kind];
  const uint64_t *cells = broods->cells + brood->first;
  const uint32_t *leaf = kind->leaves;
  uint32_t row = kind->table->count - brood->count;
  for (uint32_t i = 0; i < kind->part_count; i++) {
    const struct layout *layout = table_find(kind->table, kind->components[i]);
    for (uint32_t j = 0; j < kind->writes_of[i]; j++, cells += brood->room)
      brood_write_column(&layout->columns[*leaf++], row, places, cells, brood->count);
    for (uint32_t j = 0; UNLIKELY(kind->table->mark_count) && j < brood->count; j++)
      marks_note(world, kind->table, kind->components[i], places ? places[j] : row + j);
  }
}

ecs_status broods_apply(ecs_world *world, bool *applied) {
  const struct broods *broods = &world->staging.broods;
  const ecs_id *ids = world->staging.batch.entities;
  *applied = brood_are_plain(world);
  ecs_status status = *applied ? brood_find_tables(world) : ECS_OK;
  for (uint32_t i = 0; *applied && status == ECS_OK && i < broods->kind_count; i++)
    *applied = !broods->kinds[i].table || !broods->kinds[i].table->has_ties;
  if (status != ECS_OK || !*applied) return status;
  for (uint32_t i = 0; i < broods->block_count; i++) {
    const struct brood_block *block = &broods->blocks[i];
    const uint32_t *places = block->broods > 1 ? broods->places : NULL;
    brood_take_rows(world, block, ids);
    for (uint32_t j = 0; j < block->broods; j++) {
      const struct brood *brood = &broods->list[block->first + j];
      brood_fill_defaults(world, block, j);
      brood_write_cells(world, brood, places);
      if (places) places += brood->count;
    }
    ids += block->count;
  }
  return ECS_OK;
}

bool broods_are_sound(const ecs_world *world) {
  const struct staging *staging = &world->staging;
  uint64_t count = 0, commands = 0, writes = 0;
  for (uint32_t i = 0; i < staging->broods.count; i++) {
    const struct brood *brood = &staging->broods.list[i];
    count += brood->count;
    commands += brood->count * (staging->broods.kinds[brood->kind].part_count + 1ull);
    writes += brood->count * (uint64_t)staging->broods.kinds[brood->kind].write_count;
  }
  return count == staging->batch.count && count == staging->chain_count &&
         commands == staging->command_count && writes == staging->write_count && !staging->ends;
}

void broods_free(struct memory *memory, struct broods *broods) {
  FREE_LIST(memory, broods->kinds, broods->kind_capacity);
  FREE_LIST(memory, broods->list, broods->capacity);
  FREE_LIST(memory, broods->blocks, broods->block_capacity);
  FREE_LIST(memory, broods->cells, broods->cell_capacity);
  FREE_LIST(memory, broods->turns, broods->turn_capacity);
  FREE_LIST(memory, broods->places, broods->place_capacity);
}
