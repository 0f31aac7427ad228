#include "core/storage/sparse.h"

#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/storage/table.h"
#include "core/ids/world.h"

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

bool sparse_has_any(const ecs_world *world, uint32_t entity) {
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; sparses->rows && i < sparses->count; i++)
    if (sparse_row(sparses->list[i], entity) != NONE) return true;
  return false;
}

ecs_id sparse_next_id(const ecs_world *world, uint32_t entity, ecs_id last) {
  const struct sparses *sparses = &world->sparses;
  for (uint32_t i = 0; sparses->rows && i < sparses->count; i++)
    if (sparses->list[i]->component->id > last && sparse_row(sparses->list[i], entity) != NONE)
      return sparses->list[i]->component->id;
  return ECS_NULL;
}
