#include "core/change/migrate.h"

#include "core/base/column.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/toggle.h"

bool migration_changes_storage(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (change->wanted && change->component->is_sparse != change->wanted->is_sparse) return true;
  }
  return false;
}

/* ---- room ---- */

/* The set that will hold an id that some entities get: an existing one, or a `fresh` one. NULL if
** it is the other kind. */
static struct sparse *migrate_sparse_set_of(const struct migration *migration, ecs_id id,
                                            bool fresh) {
  const struct change *change = migration_of(migration, id);
  const struct component *component =
      change ? change->component : component_of(migration->world, id);
  if (!fresh || component->sparse) return fresh ? NULL : component->sparse;
  assert(change && change->wanted);
  return change->wanted->sparse;
}

static ecs_status migrate_sparse_reserve(const struct migration *migration,
                                         uint32_t entity, bool fresh,
                                         const struct whereto *to) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < to->sparse_count && status == ECS_OK; i++) {
    struct sparse *set = migrate_sparse_set_of(migration, to->sparse[i], fresh);
    if (set && sparse_row(set, entity) == NONE)
      status = sparse_reserve(migration->world, set, entity, ++set->table->incoming);
  }
  return status;
}

/* Plans what else an entity gets because it has sparse components. */
static ecs_status migrate_sparse_plan_entity(const struct migration *migration, uint32_t entity,
                                             bool fresh) {
  ecs_world *world = migration->world;
  struct table *table = record_table(world, entity_record(&world->entities, entity));
  struct whereto before = {.table = table}, to = before;
  ecs_status status = migration_target(migration, table, NONE, !fresh, &before);
  if (status == ECS_OK) status = migration_target(migration, table, entity, !fresh, &to);
  if (status == ECS_OK) status = migrate_sparse_reserve(migration, entity, fresh, &to);
  if (status != ECS_OK || fresh || to.table == before.table) return status;
  return table_reserve(world, to.table, ++to.table->incoming);
}

static ecs_status migrate_sparse_plan_all(const struct migration *migration, bool fresh) {
  const ecs_world *world = migration->world;
  const struct sparses *sparses = &world->sparses;
  const struct id_record *all = graph_all(world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < all->table_count && status == ECS_OK; i++) {
    struct table *table = world_table(world, all->tables[i]);
    struct whereto to;
    status = migration_target(migration, table, NONE, !fresh, &to);
    for (uint32_t row = 0; row < table->count && status == ECS_OK && to.sparse_count; row++)
      status = migrate_sparse_reserve(migration, table->rows[row], fresh, &to);
  }
  for (uint32_t i = 0; i < sparses->count && status == ECS_OK; i++) {
    const struct table *packed = sparses->list[i]->table;
    for (uint32_t row = 0; row < packed->count && status == ECS_OK; row++)
      status = migrate_sparse_plan_entity(migration, packed->rows[row], fresh);
  }
  return status;
}

ecs_status migration_plan_sparse(const struct migration *migration) {
  bool concerned = migration->world->sparses.count || migration_changes_storage(migration) ||
                   migration_changes_ties(migration);
  ecs_status status = concerned ? migrate_sparse_plan_all(migration, false) : ECS_OK;
  sparse_forget_plan(migration->world);
  return status;
}

/* Makes a set with the wanted fields, and converts those cells that need it. */
static ecs_status migrate_sparse_make_set(struct migration *migration,
                                          const struct change *change) {
  struct component *wanted = change->wanted;
  const struct sparse *old = change->component->sparse;
  if (!wanted || (!old && !wanted->is_sparse)) return ECS_OK;
  if (wanted->sparse) sparse_free(migration->world, wanted);
  ecs_status status = sparse_new(migration->world, wanted, change->component->id);
  if (status != ECS_OK || !old) return status;
  struct memory *memory = &migration->world->memory;
  if (!toggles_grow(memory, wanted->sparse->table, old->table->capacity) ||
      !marks_grow(memory, wanted->sparse->table, old->table->capacity))
    return world_nomem(migration->world);
  return migration_fill(migration, old->table, wanted->sparse->table);
}

ecs_status migration_prepare_sparse(struct migration *migration) {
  ecs_world *world = migration->world;
  ecs_status status = OWNED_RESERVE(world, &world->sparses, migration->count);
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++)
    status = migrate_sparse_make_set(migration, &migration->changes[i]);
  if (status == ECS_OK && migration_changes_storage(migration))
    status = migrate_sparse_plan_all(migration, true);
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct component *wanted = migration->changes[i].wanted;
    if (wanted && wanted->sparse) wanted->sparse->table->incoming = 0;
  }
  return status;
}

/* ---- the commit ---- */

void migration_swap_sparse(const struct migration *migration, struct change *change) {
  ecs_world *world = migration->world;
  struct sparse *set = change->wanted->sparse, *old = change->component->sparse;
  if (!set) return;
  if (old) {
    sparse_leave_list(world, old);
    migration_take(migration, old->table, set->table);
    toggles_take(set->table, old->table);
    set->pages = old->pages;
    set->page_capacity = old->page_capacity;
    old->pages = NULL;
    old->page_capacity = 0;
    old->component = change->wanted;
  }
  set->component = change->component;
  for (uint32_t i = 0; i < set->table->column_count; i++)
    set->table->columns[i].component = change->component;
  change->wanted->sparse = old;
  change->component->sparse = set;
  sparse_enter(world, set);
}

/* Brings a component's cells to another row, which holds defaults and then owns the any slots. */
static void migrate_sparse_carry(const struct layout *from, uint32_t row, const struct layout *to,
                                 uint32_t to_row) {
  assert(from->count == to->count);
  for (uint32_t i = 0; i < from->count; i++) {
    const struct column *column = &from->columns[i];
    cell_copy(to->columns[i].data, to_row, column->data, row, column->size);
    if (column->component->leaves[i].type == ECS_ANY) ((uint32_t *)column->data)[row] = 0;
  }
}

static void migrate_sparse_put_rows(ecs_world *world, struct sparse *set,
                                    const struct table *table) {
  ecs_id id = set->component->id;
  const struct layout *from = table_find(table, id), *to = table_find(set->table, id);
  for (uint32_t row = 0; row < table->count; row++) {
    if (sparse_row(set, table->rows[row]) != NONE) continue;
    uint32_t put = sparse_put(world, set, table->rows[row]);
    if (from->taken) migrate_sparse_carry(from, row, to, put);
    if (toggle_is_off(table, id, row)) toggle_set(set->table, id, put, true);
  }
}

void migration_put_sparse(const struct migration *migration, struct table *table,
                          const struct whereto *to) {
  ecs_world *world = migration->world;
  for (uint32_t i = 0; i < to->sparse_count; i++)
    migrate_sparse_put_rows(world, sparse_of(world, to->sparse[i]), table);
}

/* Moves an entity with sparse components to its table; cells of a component that is now in tables
** come along. */
static void migrate_sparse_commit_entity(const struct migration *migration,
                                         const struct sparse *set, uint32_t row) {
  ecs_world *world = migration->world;
  uint32_t entity = set->table->rows[row];
  const struct record *record = entity_record(&world->entities, entity);
  struct whereto to;
  ecs_status status =
      migration_target(migration, record_table(world, record), entity, false, &to);
  assert(status == ECS_OK);
  if (status != ECS_OK) return;
  for (uint32_t i = 0; i < to.sparse_count; i++) {
    struct sparse *other = sparse_of(world, to.sparse[i]);
    if (sparse_row(other, entity) == NONE) sparse_put(world, other, entity);
  }
  row_move(world, entity, to.table);
  if (set->component->is_sparse) return;
  ecs_id id = set->component->id;
  migrate_sparse_carry(table_find(set->table, id), row, table_find(to.table, id), record->row);
  if (toggle_is_off(set->table, id, row)) toggle_set(to.table, id, record->row, true);
}

/* Removes a component from all entities that have it; entities that are left without components
** become bare. */
static void migrate_sparse_empty_set(ecs_world *world, struct sparse *set) {
  const struct table *table = set->table;
  for (uint32_t row = table->count; row-- > 0;) {
    uint32_t entity = table->rows[row];
    sparse_cut(world, set, entity);
    if (entity < FIRST_ENTITY)
      row_move(world, entity, record_table(world, entity_record(&world->entities, entity)));
  }
}

void migration_commit_sparse(const struct migration *migration) {
  ecs_world *world = migration->world;
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; i < sparses->count; i++) {
    const struct change *change = migration_of(migration, sparses->list[i]->component->id);
    bool goes = change && !change->wanted;
    for (uint32_t row = 0; !goes && row < sparses->list[i]->table->count; row++)
      migrate_sparse_commit_entity(migration, sparses->list[i], row);
  }
  for (uint32_t i = 0; i < migration->count; i++) {
    struct change *change = &migration->changes[i];
    struct sparse *set = change->component->sparse;
    if (!set) continue;
    if (!change->wanted) {
      migrate_sparse_empty_set(world, set);
    } else if (!change->component->is_sparse) {
      sparse_clear(world, set);
      sparse_free(world, change->component);
    }
  }
}

/* Whether a table can never have rows: it contains something sparse, or lacks a requirement because
** that was to be sparse. */
static bool migrate_sparse_is_unsound(const ecs_world *world, const struct table *table) {
  struct gap gap;
  for (uint32_t i = 0; i < table->id_count; i++)
    if (sparse_of(world, table->ids[i])) return true;
  return require_gap(world, table->ids, table->id_count, true, &gap);
}

void migration_undo_tables(const struct migration *migration) {
  ecs_world *world = migration->world;
  const struct id_record *all = graph_all(world);
  if (!migration_moves(migration)) return;
  for (uint32_t i = 0; i < all->table_count; i++) {
    struct table *table = world_table(world, all->tables[i]);
    table->doomed = migrate_sparse_is_unsound(world, table);
    assert(!table->doomed || table->count == 0);
  }
  graph_drop_doomed(world);
}
