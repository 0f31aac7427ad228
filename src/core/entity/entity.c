#include "core/entity/entity.h"

#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "ecs_entity.h"

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component) {
  struct cells_row cells;
  return cells_find(world, id, component, &cells);
}

void entity_kill(ecs_world *world, uint32_t index) {
  const struct record *record = entity_record(&world->entities, index);
  struct table *table = record_table(world, record);
  if (table && table->has_ties) relation_leave_row(world, index);
  assert(!table || (record->row < table->count && table->rows[record->row] == index));
  if (world->sparses.rows) sparse_leave(world, index);
  if (table) row_remove(world, table, record->row);
  if (world->names.by_entity.count) name_forget(world, index);
  entity_release(&world->entities, index);
}

void entity_kill_all(ecs_world *world, struct table *table) {
  assert((!table->has_ties || table->count == 0) && world->sparses.rows == 0);
  for (uint32_t row = 0; world->names.by_entity.count && row < table->count; row++)
    name_forget(world, table->rows[row]);
  entity_release_all(&world->entities, table->rows, table->count);
  while (table->count && table_has_more(table)) row_remove(world, table, table->count - 1);
  if (table->count == 0) return;
  table->count = 0;
  graph_note_empty(&world->graph, table);
}

static APART ecs_status despawn_apart(ecs_world *world, ecs_id id) {
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  if (ecs_id_index(id) < FIRST_ENTITY)
    return world_fail(world, ECS_EINVAL, SHOW_ID " is a component: undeclare '%s' instead", id,
                      component_of(world, id)->name);
  if (UNLIKELY(prefab_is(world, ecs_id_index(id)))) return prefab_refuse(world, ecs_id_index(id));
  if (changes_wait(world) || relation_concerns(world, ecs_id_index(id)))
    return command_stage(world, COMMAND_DESPAWN, id, ECS_NULL, NULL, 0);
  entity_kill(world, ecs_id_index(id));
  return ECS_OK;
}

/* Whether a despawn may mean more than a row to cut: for others, or in other places. */
static inline bool despawn_is_more(const ecs_world *world) {
  return (world->names.by_entity.count | world->relations.tied |
          world->graph.pair_tables | world->sparses.rows | changes_waiting(world)) != 0;
}

/* Keeps it for the end of the scope where nobody can be a prefab. */
static ecs_status stage_despawn(ecs_world *world, ecs_id id) {
  if (world->graph.pair_tables || world->relations.tied ||
      !entity_find_near(&world->entities, id) ||
      !command_defer_alike(world, COMMAND_DESPAWN, id, ECS_NULL))
    return despawn_apart(world, id);
  return ECS_OK;
}

static APART ecs_status despawn_otherwise(ecs_world *world, ecs_id id) {
  return staging_is_open(&world->staging) ? stage_despawn(world, id) : despawn_apart(world, id);
}

/* Ends an entity whose death is about nothing but its row. */
static APART ecs_status end_row(ecs_world *world, ecs_id id) {
  if (!row_end(world, id)) return despawn_otherwise(world, id);
  return ECS_OK;
}

static APART ecs_status despawn_told(ecs_world *world, ecs_id id) {
  return world_told(world, despawn_otherwise(world, id));
}

typedef ecs_status (*despawn_fn)(ecs_world *world, ecs_id id);

/* A row of cells of 4 bytes is cut at once, as row_end does it: 13 % of a spawn with its despawn.
** `otherwise` does it in any case. */
INLINE ecs_status despawn(ecs_world *world, ecs_id id, despawn_fn otherwise) {
  if (UNLIKELY(despawn_is_more(world))) return otherwise(world, id);
  const struct record *record = entity_find_near(&world->entities, id);
  if (UNLIKELY(!record)) return otherwise(world, id);
  struct table *table = world_table(world, record->table);
  if (UNLIKELY(!table->plain)) return end_row(world, id);
  uint32_t row = record->row;
  assert(table->rows[row] == ecs_id_index(id) && !table->has_ties);
  entity_release(&world->entities, ecs_id_index(id));
  row_cut_from(world, table, row, true);
  return ECS_OK;
}

ecs_status entity_despawn(ecs_world *world, ecs_id id) {
  return despawn(world, id, despawn_otherwise);
}

ecs_status ecs_despawn(ecs_world *world, ecs_id entity) {
  return despawn(world, entity, despawn_told);
}

void entity_move(ecs_world *world, uint32_t index, struct table *to) {
  struct record *record = entity_record(&world->entities, index);
  struct table *from = record_table(world, record);
  bool bare = index < FIRST_ENTITY && to->id_count == 0 && !sparse_has_any(world, index);
  if (from == to && !bare) return;
  assert(bare || to->count < to->capacity);
  if (bare) {
    if (from) row_remove(world, from, record->row);
    *record = (struct record){RECORD_BARE, 0};
  } else if (from) {
    row_move(world, record, from, to);
  } else {
    row_append(world, to, index, record);
  }
}

static ecs_status entity_change_table(ecs_world *world, ecs_id id, struct table *to) {
  ecs_status status = table_reserve(world, to, 1);
  if (status == ECS_OK) entity_move(world, ecs_id_index(id), to);
  return status;
}

static struct table *entity_table_now(ecs_world *world, ecs_id id) {
  const struct record *record = entity_find(&world->entities, id);
  struct table *table = record_table(world, record);
  return table ? table : world->graph.empty;
}

/* ---- sparse components ---- */

/* A component that has nothing else is in no table until then. */
static ecs_status sparse_add(ecs_world *world, ecs_id id, struct sparse *sparse) {
  uint32_t index = ecs_id_index(id);
  if (sparse_row(sparse, index) != NONE) return ECS_OK;
  ecs_status status = sparse_reserve(world, sparse, index, 1);
  bool bare = entity_record(&world->entities, index)->table == RECORD_BARE;
  if (status == ECS_OK && bare) status = table_reserve(world, world->graph.empty, 1);
  if (status != ECS_OK) return status;
  sparse_put(world, sparse, index);
  if (bare) entity_move(world, index, world->graph.empty);
  return ECS_OK;
}

static void sparse_remove(ecs_world *world, ecs_id id, struct sparse *sparse) {
  uint32_t index = ecs_id_index(id);
  if (sparse_row(sparse, index) == NONE) return;
  sparse_cut(world, sparse, index);
  if (index < FIRST_ENTITY) entity_move(world, index, entity_table_now(world, id));
}

ecs_status entity_add_now(ecs_world *world, ecs_id id, struct component *component) {
  if (component->sparse) return sparse_add(world, id, component->sparse);
  struct table *to;
  ecs_status status = graph_with(world, entity_table_now(world, id), component->id, &to);
  return status == ECS_OK ? entity_change_table(world, id, to) : status;
}

ecs_status entity_remove_now(ecs_world *world, ecs_id id, struct component *component) {
  if (component->sparse) {
    sparse_remove(world, id, component->sparse);
    return ECS_OK;
  }
  struct table *to;
  ecs_status status = graph_without(world, entity_table_now(world, id), component->id, &to);
  return status == ECS_OK ? entity_change_table(world, id, to) : status;
}

/* Whether a scope keeps what is set of the component. */
static bool entity_is_kept(const ecs_world *world, ecs_id id, ecs_id component, bool has) {
  return staging_is_open(&world->staging) &&
         (!has || command_is_staged(world, id, component));
}

ecs_status entity_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count) {
  assert(!world->shared);
  if (UNLIKELY(component->relation)) return relate_set(world, id, component, writes, count);
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  struct cells_row cells;
  bool has = cells_find(world, id, component->id, &cells);
  if (entity_is_kept(world, id, component->id, has) ||
      (!has && UNLIKELY(changes_are_commands(world))))
    return command_stage(world, COMMAND_SET, id, component->id, writes, count);
  if (UNLIKELY(world->watching->sets) && has && count)
    return watch_write(world, id, component->id, &cells, writes, count);
  if (!has) {
    ecs_status status = entity_add_now(world, id, component);
    if (status != ECS_OK) return status;
    cells_find(world, id, component->id, &cells);
  }
  marks_write_cells(world, &cells, component->id, writes, count);
  if (UNLIKELY(component->has_string)) world_settle(world);
  return ECS_OK;
}

/* How many of the entities a set would be kept for. */
static size_t count_kept(const ecs_world *world, const ecs_id *ids, size_t n, ecs_id component) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    kept += entity_is_kept(world, ids[i], component, entity_has(world, ids[i], component));
  return kept;
}

ecs_status entity_set_many(ecs_world *world, const ecs_id *ids, size_t n,
                           struct component *component, const struct write *writes,
                           uint32_t count, uint32_t stride) {
  const struct staging *staging = &world->staging;
  assert(staging_is_open(staging));
  ecs_status status = world->watching->sets ? watch_need_notes(world, n) : ECS_OK;
  if (status != ECS_OK) return status;
  if (component->relation) status = relate_check_set(world, ids, n, component, writes, count);
  if (status != ECS_OK) return status;
  size_t kept = component->relation ? n : count_kept(world, ids, n, component->id);
  /* What the end of the last scope applies, or notes, may fail; then nothing may be written yet. */
  bool more = kept || staging->command_count || world->watching->sets;
  bool keep_all = staging->open == 1 && more;
  if (keep_all) kept = n;
  status = command_reserve(world, kept, (uint64_t)kept * count, kept);
  if (status != ECS_OK) return status;
  for (size_t i = 0; i < n; i++, writes += stride) {
    status = keep_all ? command_stage(world, COMMAND_SET, ids[i], component->id, writes, count)
                      : entity_set(world, ids[i], component, writes, count);
    assert(status == ECS_OK);
  }
  if (keep_all) world->staging.whole = true;
  return ECS_OK;
}
