#include "core/image/resource_copy.h"

#include "core/base/buffer.h"
#include "core/base/column_cells.h"
#include "core/store/component.h"
#include "core/store/fields.h"
#include "core/store/world.h"

static size_t padded(const struct component *component, uint32_t leaf) {
  size_t size = (size_t)component_cells(component) * component->leaves[leaf].size;
  return (size + 7) / 8 * 8;
}

static ecs_status take(ecs_world *world, struct arena *arena, const struct component *component,
                       struct resource_copy *copy) {
  size_t size = 0;
  for (uint32_t i = 0; i < component->leaf_count; i++) size += padded(component, i);
  copy->component = component->id;
  copy->data = arena_take(&world->memory, arena, size);
  if (!copy->data) return world_nomem(world);
  char *data = copy->data;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    memcpy(data, component->resource[i].data,
           (size_t)component_cells(component) * component->leaves[i].size);
    data += padded(component, i);
  }
  return ECS_OK;
}

ecs_status resource_copy_take(ecs_world *world, struct arena *arena,
                              struct resource_copy **copies, uint32_t *count) {
  const struct registry *registry = &world->registry;
  *copies = arena_take(&world->memory, arena, (registry->count + (size_t)1) * sizeof **copies);
  if (!*copies) return world_nomem(world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < registry->count && status == ECS_OK; i++) {
    const struct component *component = registry->components[i];
    if (!component || !component->resource) continue;
    status = take(world, arena, component, &(*copies)[*count]);
    *count += status == ECS_OK;
  }
  return status;
}

bool resource_copy_each(const ecs_world *world, const struct resource_copy *copy, ecs_type type,
                        cells_fn visit, void *ud) {
  const struct component *component = component_of(world, copy->component);
  char *data = copy->data;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    struct cells cells = {data, component_cells(component), component, &component->leaves[i]};
    if (cells.leaf->type == type && !visit(&cells, ud)) return false;
    data += padded(component, i);
  }
  return true;
}

static void restore(const struct component *component, const char *data) {
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    uint32_t count = component_cells(component);
    if (!data) {
      cell_fill(component->resource[i].data, leaf->size, 0, count, leaf->value);
    } else {
      memcpy(component->resource[i].data, data, (size_t)count * leaf->size);
      data += padded(component, i);
    }
  }
}

void resource_copy_restore(ecs_world *world, const struct resource_copy *copies, uint32_t count) {
  const struct registry *registry = &world->registry;
  for (uint32_t i = 0; i < registry->count; i++) {
    const struct component *component = registry->components[i];
    const char *data = NULL;
    if (!component || !component->resource) continue;
    for (uint32_t j = 0; j < count && !data; j++)
      if (copies[j].component == component->id) data = copies[j].data;
    restore(component, data);
  }
}
