#include "core/storage/sparse.h"

#include "core/base/sets.h"
#include "core/ids/world.h"
#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "core/storage/table.h"
#include "core/storage/toggle.h"

struct sparse *sparse_of(const ecs_world *world, ecs_id id) {
  const struct component *component = component_of(world, id);
  return component ? component->sparse : NULL;
}

bool sparse_find(const ecs_world *world, uint32_t entity, ecs_id component,
                 struct cells_row *out) {
  const struct sparse *sparse = sparse_of(world, component);
  uint32_t row = sparse ? sparse_row(sparse, entity) : NONE;
  if (row == NONE) return false;
  struct table *table = sparse->table;
  assert(row < table->count && table->rows[row] == entity);
  *out = (struct cells_row){table, table->column_count ? table->columns : NULL, row};
  return true;
}

ecs_id sparse_next_id(const ecs_world *world, uint32_t entity, ecs_id last) {
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; sparses->rows && i < sparses->count; i++)
    if (sparses->list[i]->component->id > last && sparse_row(sparses->list[i], entity) != NONE)
      return sparses->list[i]->component->id;
  return ECS_NULL;
}

/* ---- sets of ids ---- */

uint32_t sparse_join_ids(const ecs_world *world, uint32_t entity, ecs_id *ids, uint32_t count) {
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; sparses->rows && i < sparses->count; i++)
    if (sparse_row(sparses->list[i], entity) != NONE)
      count = id_set_insert(ids, count, sparses->list[i]->component->id);
  return count;
}

/* Moves sparse ids to the end one by one: there are few. */
uint32_t sparse_part_ids(const ecs_world *world, ecs_id *ids, uint32_t count) {
  uint32_t kept = count;
  for (uint32_t i = count; i-- > 0;) {
    ecs_id id = ids[i];
    if (!component_of(world, id)->is_sparse) continue;
    memmove(ids + i, ids + i + 1, (kept - i - 1) * sizeof *ids);
    ids[--kept] = id;
  }
  return kept;
}

/* ---- rows ---- */

static APART ecs_status sparse_make_page(ecs_world *world, struct sparse *sparse, uint32_t page) {
  uint32_t old = sparse->page_capacity;
  if (page >= old) {
    if (!GROW(&world->memory, sparse->pages, sparse->page_capacity, page + 1ull))
      return world_nomem(world);
    memset(sparse->pages + old, 0, (sparse->page_capacity - old) * sizeof *sparse->pages);
  }
  sparse->pages[page] = memory_array(&world->memory, SPARSE_PAGE_SIZE, sizeof **sparse->pages);
  return sparse->pages[page] ? ECS_OK : world_nomem(world);
}

ecs_status sparse_need_page(ecs_world *world, struct sparse *sparse, uint32_t entity) {
  bool has = sparse_has_page(sparse, entity);
  return LIKELY(has) ? ECS_OK : sparse_make_page(world, sparse, entity >> SPARSE_PAGE_BITS);
}

INLINE ecs_status sparse_make_row_room(ecs_world *world, struct sparse *sparse, uint32_t entity,
                               uint64_t more) {
  ecs_status status = sparse_need_page(world, sparse, entity);
  return status == ECS_OK ? table_reserve(world, sparse->table, more) : status;
}

ecs_status sparse_reserve(ecs_world *world, struct sparse *sparse, uint32_t entity,
                          uint64_t more) {
  return sparse_make_row_room(world, sparse, entity, more);
}

void sparse_enter_row(ecs_world *world, const struct sparse *sparse, uint32_t row) {
  uint32_t *place = sparse_place(sparse, sparse->table->rows[row]);
  assert(*place == 0);
  *place = row + 1;
  world->sparses.rows++;
}

INLINE uint32_t sparse_put_row(ecs_world *world, const struct sparse *sparse, uint32_t entity) {
  uint32_t row = row_append(world, sparse->table, entity);
  sparse_enter_row(world, sparse, row);
  return row;
}

uint32_t sparse_put(ecs_world *world, struct sparse *sparse, uint32_t entity) {
  return sparse_put_row(world, sparse, entity);
}

INLINE void sparse_cut_row(ecs_world *world, const struct sparse *sparse, uint32_t row) {
  row_go(world, sparse->table, row, sparse, NULL, NULL);
  world->sparses.rows--;
}

void sparse_cut(ecs_world *world, struct sparse *sparse, uint32_t entity) {
  sparse_cut_row(world, sparse, sparse_row(sparse, entity));
}

/* Changes a component that has no other components and is therefore in no table. */
static APART ecs_status sparse_change_bare(ecs_world *world, uint32_t entity, struct sparse *sparse,
                                           bool adds) {
  const struct record *record = entity_record(&world->entities, entity);
  struct table *table = record_table(world, record);
  ecs_status status = adds ? sparse_reserve(world, sparse, entity, 1) : ECS_OK;
  if (status == ECS_OK && !table) status = table_reserve(world, world->graph.empty, 1);
  if (status != ECS_OK) return status;
  if (adds)
    sparse_put(world, sparse, entity);
  else
    sparse_cut(world, sparse, entity);
  row_move(world, entity, table ? table : world->graph.empty);
  return ECS_OK;
}

ecs_status sparse_change(ecs_world *world, uint32_t entity, struct sparse *sparse, bool adds) {
  uint32_t row = sparse_row(sparse, entity);
  if ((row != NONE) == adds) return ECS_OK;
  if (UNLIKELY(entity < FIRST_ENTITY)) return sparse_change_bare(world, entity, sparse, adds);
  if (!adds) {
    sparse_cut_row(world, sparse, row);
    return ECS_OK;
  }
  ecs_status status = sparse_make_row_room(world, sparse, entity, 1);
  if (LIKELY(status == ECS_OK)) sparse_put_row(world, sparse, entity);
  return status;
}

ecs_status sparse_plan(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    struct sparse *sparse = sparse_of(world, ids[i]);
    if (sparse_row(sparse, entity) != NONE) continue;
    status = sparse_reserve(world, sparse, entity, ++sparse->table->incoming);
  }
  return status;
}

void sparse_forget_plan(ecs_world *world) {
  for (uint32_t i = 0; i < world->sparses.count; i++)
    world->sparses.list[i]->table->incoming = 0;
}

void sparse_become(ecs_world *world, uint32_t entity, const ecs_id *ids, uint32_t count) {
  for (uint32_t i = 0; i < world->sparses.count; i++) {
    struct sparse *sparse = world->sparses.list[i];
    bool has = sparse_row(sparse, entity) != NONE;
    bool wants = id_set_has(ids, count, sparse->component->id);
    if (has && !wants) sparse_cut(world, sparse, entity);
    if (!has && wants) sparse_put(world, sparse, entity);
  }
}

const struct layout *sparse_layout(const ecs_world *world, const struct table *table,
                                   uint32_t entity, ecs_id id, uint32_t *row) {
  static const struct layout none = {.id = ECS_NULL};
  const struct sparse *sparse = world->sparses.count ? sparse_of(world, id) : NULL;
  if (LIKELY(!sparse)) return table_find(table, id);
  *row = sparse_row(sparse, entity);
  return *row == NONE ? &none : table_find(sparse->table, id);
}

void sparse_leave(ecs_world *world, uint32_t entity) {
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; sparses->rows && i < sparses->count; i++)
    if (sparse_row(sparses->list[i], entity) != NONE) sparse_cut(world, sparses->list[i], entity);
}

void sparse_clear(ecs_world *world, struct sparse *sparse) {
  struct table *table = sparse->table;
  for (uint32_t row = 0; row < table->count; row++) *sparse_place(sparse, table->rows[row]) = 0;
  world->sparses.rows -= table->count;
  toggles_clear(table);
  marks_clear(table);
  table->count = 0;
}

void sparse_enter_rows(ecs_world *world, struct sparse *sparse) {
  for (uint32_t row = 0; row < sparse->table->count; row++) sparse_enter_row(world, sparse, row);
}

/* ---- the world's list ---- */

ecs_status sparse_new(ecs_world *world, struct component *component, ecs_id id) {
  ecs_status status = OWNED_RESERVE(world, &world->sparses, 1);
  if (status != ECS_OK) return status;
  struct sparse *sparse = memory_array(&world->memory, 1, sizeof *sparse);
  if (!sparse) return world_nomem(world);
  status = table_new_of_one(world, id, component, &sparse->table);
  if (status != ECS_OK) {
    memory_free(&world->memory, sparse, sizeof *sparse);
    return status;
  }
  sparse->table->index = NONE;
  sparse->component = component;
  component->sparse = sparse;
  return ECS_OK;
}

void sparse_enter(ecs_world *world, struct sparse *sparse) {
  assert(sparse->component->sparse == sparse);
  assert(sparse->table->ids[0] == sparse->component->id);
  OWNED_ENTER(&world->sparses, sparse);
  world->sparses.rows += sparse->table->count;
}

void sparse_leave_list(ecs_world *world, const struct sparse *sparse) {
  struct sparses *sparses = &world->sparses;
  uint32_t before = sparses->count;
  OWNED_LEAVE(sparses, sparse);
  if (sparses->count < before) sparses->rows -= sparse->table->count;
}

void sparse_free(ecs_world *world, struct component *component) {
  struct sparse *sparse = component->sparse;
  struct memory *memory = &world->memory;
  sparse_leave_list(world, sparse);
  for (uint32_t i = 0; i < sparse->page_capacity; i++)
    if (sparse->pages[i])
      memory_free(memory, sparse->pages[i], SPARSE_PAGE_SIZE * sizeof **sparse->pages);
  FREE_LIST(memory, sparse->pages, sparse->page_capacity);
  table_free(world, sparse->table);
  memory_free(memory, sparse, sizeof *sparse);
  component->sparse = NULL;
}

void sparses_free(ecs_world *world) {
  struct sparses *sparses = &world->sparses;
  assert(sparses->count == 0 && sparses->rows == 0);
  FREE_LIST(&world->memory, sparses->list, sparses->capacity);
  *sparses = (struct sparses){NULL, 0, 0, 0};
}
