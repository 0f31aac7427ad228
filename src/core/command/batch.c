/* A batch is one change made to many entities: add a component, remove it, set its cells, or
** despawn. Commands form a batch while they are alike and each is for another entity; a query or
** kernel adds rows by table. A lane is the rows of one table, which all move to the same table.
**
** A batch has one of two forms. A list of entities in order: `chain_of` gives the place of each, as
** it does for chains; lanes are found on applying. Or rows: lanes with a bit for each row, or
** without bits for all; rows do not move while a scope is open. Rows become a list
** (command_reserve) when a single entity joins. A list becomes commands with a chain for each
** entity (commands_write) when an unlike command or a second one on an entity comes.
**
** `count` is the number of entities. Commands and chains are counted though none is written; the
** list has room for both, so writing them cannot fail. The result and its order equal those of
** single commands, in a sixth of the memory and half the time.
**
** First comes all that can fail: target tables, room in them, notes for observers. */
#include "core/command/command.h"

#include "core/base/column.h"
#include "core/base/sets.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"

bool batch_is_plain(const ecs_world *world, enum command_kind kind, ecs_id id) {
  const struct watching *watching = world->watching;
  if (watching->note_count || (world->staging.watched && watching->due)) return false;
  if (kind == COMMAND_DESPAWN)
    return !world->relations.tied && !world->graph.pair_tables && !world->sparses.rows;
  const struct component *component = component_of(world, id);
  return component && component->id == id && !component->relation && !component->sparse &&
         !world->registry.requires;
}

/* ---- making a batch ---- */

bool batch_takes_rows(const ecs_world *world, enum command_kind kind, ecs_id id,
                      const struct table *table) {
  const struct staging *staging = &world->staging;
  const struct batch *batch = &staging->batch;
  bool more = batch->by_rows && batch->kind == kind && batch->component == id &&
              batch->scope == staging->scope_count - 1 && !table->lane;
  if (staging->command_count && !more) return false;
  if (kind == COMMAND_DESPAWN && rows_have_component(table->rows, table->count)) return false;
  return batch_is_plain(world, kind, id);
}

/* Adds a lane for a table that has none. Returns NULL when out of memory. */
static struct lane *batch_add_lane(ecs_world *world, struct table *from) {
  struct batch *batch = &world->staging.batch;
  assert(!from->lane && from->count > 0);
  if (!GROW(&world->memory, batch->lanes, batch->lane_capacity, batch->lane_count + 1ull))
    return NULL;
  from->lane = ++batch->lane_count;
  batch->lanes[from->lane - 1] = (struct lane){from, NULL, NONE, 0};
  return &batch->lanes[from->lane - 1];
}

static void batch_forget_lanes(struct batch *batch) {
  while (batch->lane_count) batch->lanes[--batch->lane_count].from->lane = 0;
  batch->word_count = 0;
  batch->by_rows = false;
}

ecs_status batch_put_rows(ecs_world *world, enum command_kind kind, ecs_id id,
                          struct table *table, const uint64_t *bits) {
  struct staging *staging = &world->staging;
  struct batch *batch = &staging->batch;
  uint32_t words = bits ? (table->count + 63) / 64 : 0, count = table->count;
  assert(batch->count == staging->command_count && !world->shared);
  if (count == 0) return ECS_OK;
  if (!GROW(&world->memory, batch->words, batch->word_capacity,
            (uint64_t)batch->word_count + words))
    return world_nomem(world);
  if (bits) {
    uint64_t *to = batch->words + batch->word_count;
    bits_move(to, bits, 0, count);
    count = 0;
    for (uint32_t i = 0; i < words; i++) count += bits_count(to[i]);
  }
  if (count == 0) return ECS_OK;
  struct lane *lane = batch_add_lane(world, table);
  if (!lane) return world_nomem(world);
  lane->count = count;
  if (bits) lane->first_word = batch->word_count;
  batch->word_count += words;
  batch->kind = kind;
  batch->component = id;
  batch->scope = staging->scope_count - 1;
  batch->room = 0;
  batch->by_rows = true;
  batch->count += count;
  staging->command_count = staging->chain_count = batch->count;
  if (kind == COMMAND_DESPAWN) staging->ends += count;
  return ECS_OK;
}

/* The bits of a lane's rows, or NULL for all rows. */
static const uint64_t *batch_bits_of(const struct batch *batch, const struct lane *lane) {
  return lane->first_word == NONE ? NULL : batch->words + lane->first_word;
}

/* Whether a row's bit is set, or there are no bits and all rows count. */
INLINE bool batch_has_row(const uint64_t *bits, uint32_t row) {
  return !bits || (bits[row / 64] >> row % 64 & 1);
}

void batch_list_rows(ecs_world *world, ecs_id *ids) {
  struct batch *batch = &world->staging.batch;
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch->lane_count; i++) {
    const struct table *table = batch->lanes[i].from;
    const uint64_t *bits = batch_bits_of(batch, &batch->lanes[i]);
    for (uint32_t row = 0; row < table->count; row++) {
      if (!batch_has_row(bits, row)) continue;
      chain_map_put(&world->staging.chain_of, table->rows[row], count);
      ids[count++] = entity_id(&world->entities, table->rows[row]);
    }
  }
  assert(count == batch->count);
  batch_forget_lanes(batch);
}

bool batch_has(const ecs_world *world, ecs_id entity, ecs_id component) {
  const struct staging *staging = &world->staging;
  const struct batch *batch = &staging->batch;
  if (batch->component != component) return false;
  uint32_t at = chain_map_get(&staging->chain_of, ecs_id_index(entity));
  if (!batch->by_rows) return at != NONE && batch->entities[at] == entity;
  const struct record *record = entity_find(&world->entities, entity);
  const struct table *table = record ? record_table(world, record) : NULL;
  return table && table->lane &&
         batch_has_row(batch_bits_of(batch, &batch->lanes[table->lane - 1]), record->row);
}

void batch_forget(ecs_world *world) {
  struct staging *staging = &world->staging;
  struct batch *batch = &staging->batch;
  if (batch->kind == COMMAND_SPAWN)
    broods_forget(&staging->broods);
  else if (!batch->by_rows)
    chain_map_clear(&staging->chain_of, batch->entities, sizeof *batch->entities, batch->count);
  batch_forget_lanes(batch);
  batch->count = 0;
}

static bool batch_lanes_are_sound(const ecs_world *world) {
  const struct batch *batch = &world->staging.batch;
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch->lane_count; i++) {
    const struct table *table = batch->lanes[i].from;
    const uint64_t *bits = batch_bits_of(batch, &batch->lanes[i]);
    uint32_t set = 0;
    for (uint32_t row = 0; row < table->count; row++) set += batch_has_row(bits, row);
    if (table->lane != i + 1 || set != batch->lanes[i].count) return false;
    count += set;
  }
  return count == batch->count;
}

bool batch_is_sound(const ecs_world *world) {
  const struct staging *staging = &world->staging;
  const struct batch *batch = &staging->batch;
  uint32_t ends = batch->kind == COMMAND_DESPAWN ? batch->count : 0;
  if (batch->count == 0 || !batch->by_rows) {
    if (batch->by_rows || batch->lane_count) return false;
    if (batch->count == 0) return true;
  }
  if (broods_are_kept(staging))
    return broods_are_sound(world) && chain_map_is_sound(&staging->chain_of, NULL, 0, 0);
  if (batch->count != staging->command_count || batch->count != staging->chain_count ||
      ends != staging->ends)
    return false;
  if (batch->by_rows)
    return batch_lanes_are_sound(world) && chain_map_is_sound(&staging->chain_of, NULL, 0, 0);
  return chain_map_is_sound(&staging->chain_of, batch->entities, sizeof *batch->entities,
                            batch->count);
}

/* ---- applying a batch ---- */

/* The table index of an entry in the list; RECORD_BARE if it has no row. */
INLINE uint32_t batch_table_at(const ecs_world *world, uint32_t at) {
  const struct record *record =
      entity_find(&world->entities, world->staging.batch.entities[at]);
  return LIKELY(record) ? record->table : RECORD_BARE;
}

/* Finds the lanes of a list; clears *plain if an entity has no row. */
static ecs_status batch_find_lanes(ecs_world *world, bool *plain) {
  struct batch *batch = &world->staging.batch;
  struct lane *lane = NULL;
  uint32_t last = RECORD_BARE;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint32_t index = batch_table_at(world, i);
    if (UNLIKELY(index == RECORD_BARE)) *plain = false;
    if (UNLIKELY(!*plain)) return ECS_OK;
    if (UNLIKELY(index != last)) {
      struct table *table = world_table(world, index);
      lane = table->lane ? &batch->lanes[table->lane - 1] : batch_add_lane(world, table);
      if (!lane) return world_nomem(world);
      last = index;
    }
    lane->count++;
  }
  return ECS_OK;
}

/* Reserves room in the target tables, and to list the rows of one lane. */
static ecs_status batch_reserve_lanes(ecs_world *world) {
  struct batch *batch = &world->staging.batch;
  uint32_t done = 0, most = 0;
  ecs_status status = ECS_OK;
  while (done < batch->lane_count && status == ECS_OK) {
    struct lane *lane = &batch->lanes[done++];
    if (lane->first_word != NONE && lane->count > most) most = lane->count;
    if (batch->kind != COMMAND_DESPAWN)
      status = (batch->kind == COMMAND_REMOVE ? graph_without : graph_with)(
          world, lane->from, batch->component, &lane->to);
    if (status != ECS_OK || !lane->to || lane->to == lane->from) continue;
    lane->to->incoming += lane->count;
    status = table_reserve(world, lane->to, lane->to->incoming);
  }
  while (done-- > 0)
    if (batch->lanes[done].to) batch->lanes[done].to->incoming = 0;
  if (status == ECS_OK && most && !world_scratch(world, most)) status = world_nomem(world);
  return status;
}

/* Notes what observers will be told about the rows that move. */
static APART ecs_status batch_note_lanes(ecs_world *world) {
  const struct batch *batch = &world->staging.batch;
  ecs_status status = watch_rows_begin(world);
  for (uint32_t i = 0; i < batch->lane_count && status == ECS_OK; i++) {
    const struct lane *lane = &batch->lanes[i];
    if (lane->to != lane->from)
      status = watch_rows(world, lane->from, lane->to, batch_bits_of(batch, lane));
  }
  return watch_rows_end(world, status);
}

/* Moves all rows of a table; if they lose an exclusive relation, they also lose its ties. */
static void batch_move_whole(ecs_world *world, struct table *from, struct table *to) {
  const struct batch *batch = &world->staging.batch;
  bool removes = batch->kind == COMMAND_REMOVE;
  struct relation *relation = removes ? relation_of(world, batch->component) : NULL;
  for (uint32_t row = 0; relation && relation->exclusive && row < from->count; row++)
    if (ties_target(&relation->ties, from->rows[row]))
      relation_unlink(world, relation, from->rows[row]);
  if (to)
    rows_move_all(world, from, to);
  else
    rows_end(world, from, from->rows, from->count);
}

/* Moves some of a table's rows, in the given order. */
static void batch_move_some(ecs_world *world, struct table *from, struct table *to,
                            const uint32_t *entities, uint32_t count) {
  if (to)
    rows_move(world, from, to, entities, count);
  else
    rows_end(world, from, entities, count);
}

/* Moves the rows of a lane whose bits are set. */
static void batch_move_marked(ecs_world *world, const struct lane *lane) {
  uint32_t *entities = (uint32_t *)(void *)world_scratch(world, lane->count), count = 0;
  const uint64_t *bits = batch_bits_of(&world->staging.batch, lane);
  assert(entities && bits && lane->count < lane->from->count);
  for (uint32_t word = 0; count < lane->count; word++)
    for (uint64_t left = bits[word]; left; left &= left - 1)
      entities[count++] = lane->from->rows[word * 64 + bits_first(left)];
  batch_move_some(world, lane->from, lane->to, entities, count);
}

/* Writes the batch's cells to a table's rows from `first` to the last. */
static void batch_fill_rows(const ecs_world *world, const struct table *table, uint32_t row) {
  const struct batch *batch = &world->staging.batch;
  const struct layout *layout = table_find(table, batch->component);
  assert(layout->taken && row < table->count);
  for (uint32_t i = 0; i < batch->write_count; i++) {
    const struct column *column = &layout->columns[batch->writes[i].leaf];
    assert(column->leaf == batch->writes[i].leaf);
    cell_fill(column->data, column->size, row, table->count - row, batch->writes[i].cell);
  }
  marks_note_rows(world, table, batch->component, row, table->count - row);
}

static void batch_change_rows(ecs_world *world) {
  const struct batch *batch = &world->staging.batch;
  for (uint32_t i = 0; i < batch->lane_count; i++) {
    const struct lane *lane = &batch->lanes[i];
    bool stays = lane->to == lane->from, fills = batch->kind == COMMAND_SET;
    assert(lane->to ? lane->to->incoming == 0 : !fills);
    uint32_t row = lane->to && !stays ? lane->to->count : 0;
    if (!stays && lane->count == lane->from->count)
      batch_move_whole(world, lane->from, lane->to);
    else if (!stays)
      batch_move_marked(world, lane);
    if (fills) batch_fill_rows(world, lane->to, row);
  }
}

/* Applies a list: consecutive entities of one table move together. */
static void batch_change_list(ecs_world *world) {
  const struct batch *batch = &world->staging.batch;
  uint32_t entities[ROWS_TOGETHER];
  for (uint32_t at = 0; at < batch->count;) {
    uint32_t index = batch_table_at(world, at), count = 0;
    do
      entities[count++] = ecs_id_index(batch->entities[at++]);
    while (at < batch->count && count < ROWS_TOGETHER && batch_table_at(world, at) == index &&
           index != RECORD_BARE);
    struct table *from = index == RECORD_BARE ? NULL : world_table(world, index);
    assert(!from || from->lane || batch->kind == COMMAND_DESPAWN);
    struct table *to = from && from->lane ? batch->lanes[from->lane - 1].to : NULL;
    if (UNLIKELY(!from) && entity_find(&world->entities, batch->entities[at - 1]))
      entity_kill(world, entities[0]);
    if (from && from != to) batch_move_some(world, from, to, entities, count);
  }
}

/* Applies the batch. Despawns from a list need no lanes and cannot fail. */
static ecs_status change_batch(ecs_world *world, bool *plain) {
  struct batch *batch = &world->staging.batch;
  bool lanes = batch->by_rows || batch->kind != COMMAND_DESPAWN;
  ecs_status status = lanes && !batch->by_rows ? batch_find_lanes(world, plain) : ECS_OK;
  if (status == ECS_OK && lanes && *plain) status = batch_reserve_lanes(world);
  bool told = world->staging.watched && batch->kind != COMMAND_SET;
  if (status == ECS_OK && *plain && UNLIKELY(told)) status = batch_note_lanes(world);
  if (status == ECS_OK && *plain) (batch->by_rows ? batch_change_rows : batch_change_list)(world);
  if (batch->lane_count && !batch->by_rows) batch_forget_lanes(batch);
  return status;
}

ecs_status batch_apply(ecs_world *world, bool *applied) {
  const struct batch *batch = &world->staging.batch;
  if (broods_are_kept(&world->staging)) return broods_apply(world, applied);
  assert(batch->count == 0 || batch->count == world->staging.command_count);
  *applied = batch->count && (batch->by_rows || !world->staging.watched) &&
             batch_is_plain(world, (enum command_kind)batch->kind, batch->component);
  return *applied ? change_batch(world, applied) : ECS_OK;
}

/* ---- now ---- */

ecs_status batch_change_tables(const ecs_query *query, enum command_kind kind, ecs_id id) {
  ecs_world *world = query->world;
  struct batch *batch = &world->staging.batch;
  bool plain = true;
  assert(!staging_is_open(&world->staging) && batch->count == 0 && batch->lane_count == 0);
  if (kind == COMMAND_DESPAWN && !world->staging.watched) {
    for (uint32_t i = 0; i < query_reach(query); i++) {
      struct table *table = query_table(query, i);
      rows_end(world, table, table->rows, table->count);
    }
    return ECS_OK;
  }
  batch->kind = kind;
  batch->component = id;
  batch->by_rows = true;
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < query_reach(query) && status == ECS_OK; i++) {
    struct table *table = query_table(query, i);
    struct lane *lane = table->count ? batch_add_lane(world, table) : NULL;
    if (lane) lane->count = table->count;
    if (table->count && !lane) status = world_nomem(world);
  }
  if (status == ECS_OK) status = change_batch(world, &plain);
  batch_forget_lanes(batch);
  return status;
}

/* Whether a component's cells can be written column by column to all rows of a query's tables. */
static bool batch_may_give(const ecs_query *query, const struct component *component) {
  const ecs_world *world = query->world;
  bool moves = false;
  if (staging_is_open(&world->staging) || component->has_any || component->relation ||
      component->sparse || !query_rows_are_whole(&query->terms))
    return false;
  for (uint32_t i = 0; i < query_reach(query) && !moves; i++)
    moves = query_table(query, i)->count && !table_has(query_table(query, i), component->id);
  if (!moves) return !world->watching->sets;
  return !world->staging.watched && batch_is_plain(world, COMMAND_ADD, component->id);
}

bool batch_give(ecs_query *query, const struct component *component, const struct write *writes,
                uint32_t count) {
  struct batch *batch = &query->world->staging.batch;
  if (query_usable(query) != ECS_OK || !batch_may_give(query, component)) return false;
  batch->writes = writes;
  batch->write_count = count;
  return batch_change_tables(query, COMMAND_SET, component->id) == ECS_OK;
}
