#include "core/storage/resource.h"

#include "core/base/buffer.h"
#include "core/base/column_cells.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/entity/native.h"
#include "core/entity/sweeping.h"
#include "core/ids/world.h"
#include "ecs_resource.h"

ecs_status resource_new(ecs_world *world, struct component *component) {
  if (component->resource) return ECS_OK;
  if (component->ties.relation)
    return world_fail(world, ECS_EINVAL, "'%s' is a relation: it ties entities, and cannot be a "
                      "resource", component->name);
  if (component->leaf_count == 0)
    return world_fail(world, ECS_EINVAL, "'%s' is a tag: a resource needs fields",
                      component->name);
  struct memory *memory = &world->memory;
  struct column_buffer *columns =
      memory_array(memory, component->leaf_count, sizeof *columns);
  if (!columns) return world_nomem(world);
  component->resource = columns;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    const struct leaf *leaf = &component->leaves[i];
    uint32_t count = component_cells(component);
    if (!buffer_grow(memory, &columns[i], (size_t)count * leaf->size, 0)) {
      resource_free(world, component);
      return world_nomem(world);
    }
    cell_fill(columns[i].data, leaf->size, 0, count, leaf->value);
  }
  return ECS_OK;
}

void resource_free(ecs_world *world, struct component *component) {
  struct column_buffer *columns = component->resource;
  if (!columns) return;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    if (component->leaves[i].type == ECS_ANY && columns[i].data)
      any_release(&world->any, *(uint32_t *)columns[i].data);
    buffer_free(&world->memory, &columns[i]);
  }
  memory_free(&world->memory, columns, component->leaf_count * sizeof *columns);
  component->resource = NULL;
}

void resource_write(ecs_world *world, struct component *component,
                    const struct write *writes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    assert(component->resource && writes[i].leaf < component->leaf_count);
    const struct leaf *leaf = &component->leaves[writes[i].leaf];
    void *data = component->resource[writes[i].leaf].data;
    if (leaf->type == ECS_ANY) any_release(&world->any, *(uint32_t *)data);
    cell_store(data, leaf->size, 0, writes[i].cell);
  }
}

ecs_status ecs_resource(ecs_world *world, ecs_id id) {
  struct component *component;
  ecs_status status = component_need_id(world, id, &component);
  return status == ECS_OK ? resource_new(world, component) : status;
}

static ecs_status resource_need_resource(const ecs_world *world, ecs_id id,
                                         struct component **component) {
  ecs_status status = component_need_id(world, id, component);
  if (status != ECS_OK || (*component)->resource) return status;
  return world_fail(world, ECS_EABSENT, "'%s' is not a resource", (*component)->name);
}

ecs_status ecs_resource_set(ecs_world *world, ecs_id id, const void *value) {
  struct component *component;
  ecs_status status = resource_need_resource(world, id, &component);
  if (status != ECS_OK) return status;
  const struct write *writes = NULL;
  status = component_read_native(world, component, value, &writes);
  if (status != ECS_OK) return status;
  resource_write(world, component, writes, component->leaf_count);
  world_settle(world);
  return ECS_OK;
}

ecs_status ecs_resource_get(const ecs_world *world, ecs_id id, void *value) {
  struct component *component;
  ecs_status status = resource_need_resource(world, id, &component);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    ecs_cell cell = cell_load(component->resource[i].data, component->leaves[i].size, 0);
    component_write_native(world, component, i, cell, value);
  }
  return ECS_OK;
}
