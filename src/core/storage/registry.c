#include "core/storage/registry.h"

#include "core/base/column.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/sparse.h"
#include "core/world/lifetime.h"
#include "ecs_component.h"
#include "ecs_resource.h"

void component_enter_name(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  assert(index < registry->next_capacity);
  registry->next[index] = map_get(&registry->names, hash);
  map_put(&registry->names, hash, index);
}

void component_leave_name(ecs_world *world, const struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  uint32_t hash = text_hash(component->name, component->name_size);
  uint32_t first = map_get(&registry->names, hash);
  assert(first != NONE);
  if (first != index) {
    while (registry->next[first] != index) {
      first = registry->next[first];
      assert(first != NONE);
    }
    registry->next[first] = registry->next[index];
  } else if (registry->next[index] == NONE) {
    map_remove(&registry->names, hash);
  } else {
    map_put(&registry->names, hash, registry->next[index]);
  }
}

ecs_status registry_reserve(ecs_world *world, uint32_t index) {
  struct registry *registry = &world->registry;
  uint64_t count = index + 1ull;
  if (!GROW(&world->memory, registry->components, registry->capacity, count))
    return world_nomem(world);
  if (!GROW(&world->memory, registry->next, registry->next_capacity, count))
    return world_nomem(world);
  uint64_t names = 1ull + registry->renaming;
  return map_reserve(&world->memory, &registry->names, names) ? ECS_OK : world_nomem(world);
}

void registry_enter(ecs_world *world, struct component *component, uint32_t index) {
  struct registry *registry = &world->registry;
  assert(index < registry->capacity && index < FIRST_ENTITY);
  component->id = entity_id(&world->entities, index);
  while (registry->count <= index) registry->components[registry->count++] = NULL;
  assert(!registry->components[index]);
  registry->components[index] = component;
  component_enter_name(world, component);
  if (component->relation) relation_enter(world, component);
  if (component->sparse) sparse_enter(world, component->sparse);
  if (component->event) OWNED_ENTER(&world->events, component->event);
}

ecs_status registry_equip(ecs_world *world, struct component *component, ecs_id id) {
  if (component->ties.relation) return relation_new(world, component);
  if (component->is_event) return event_new(world, component, id);
  return component->is_sparse ? sparse_new(world, component, id) : ECS_OK;
}

ecs_status registry_add(ecs_world *world, struct component *component) {
  struct range *range = &world->entities.components;
  ecs_status status = entity_reserve(&world->entities, &world->memory, range, 1);
  if (status == ECS_ELIMIT)
    return world_fail(world, status, "all 65535 ids of components and tags are in use");
  if (status != ECS_OK) return world_nomem(world);
  uint32_t next = range->free_head ? range->free_head : range->next;
  status = registry_reserve(world, next);
  if (status == ECS_OK)
    status = registry_equip(world, component, entity_id(&world->entities, next));
  if (status != ECS_OK) return status;
  registry_enter(world, component, entity_take(&world->entities, range));
  return ECS_OK;
}

void registry_take_back(ecs_world *world, struct component *component) {
  struct registry *registry = &world->registry;
  uint32_t index = ecs_id_index(component->id);
  assert(registry->components[index] == component);
  component_leave_name(world, component);
  registry->components[index] = NULL;
  if (index + 1 == registry->count) registry->count--;
  component_free(world, component);
  entity_untake(&world->entities, &world->entities.components, index);
}

void registry_free(ecs_world *world) {
  struct registry *registry = &world->registry;
  for (uint32_t i = 0; i < registry->count; i++)
    if (registry->components[i]) component_free(world, registry->components[i]);
  FREE_LIST(&world->memory, registry->components, registry->capacity);
  FREE_LIST(&world->memory, registry->next, registry->next_capacity);
  map_free(&world->memory, &registry->names);
}

/* ---- resource ---- */

ecs_status resource_new(ecs_world *world, struct component *component) {
  if (component->resource) return ECS_OK;
  if (component->ties.relation)
    return world_fail(world, ECS_EINVAL, "'%s' is a relation, which ties entities, and cannot be "
                      "a resource", component->name);
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
  FREE_LIST(&world->memory, columns, component->leaf_count);
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

static ecs_status registry_resource_need_resource(const ecs_world *world, ecs_id id,
                                                  struct component **component) {
  ecs_status status = component_need_id(world, id, component);
  if (status != ECS_OK || (*component)->resource) return status;
  return world_fail(world, ECS_EABSENT, "'%s' is not a resource; declare it with world:resource",
                    (*component)->name);
}

ecs_status ecs_resource_set(ecs_world *world, ecs_id id, const void *value) {
  struct component *component;
  ecs_status status = registry_resource_need_resource(world, id, &component);
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
  ecs_status status = registry_resource_need_resource(world, id, &component);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < component->leaf_count; i++) {
    ecs_cell cell = cell_load(component->resource[i].data, component->leaves[i].size, 0);
    component_write_native(world, component, i, cell, value);
  }
  return ECS_OK;
}

/* ---- array ---- */

bool array_takes(ecs_type type) {
  return type_is_number(type) || type_class(type) == CLASS_TRUTH || type_class(type) == CLASS_ID;
}

ecs_status array_check_desc(const ecs_world *world, const ecs_component_desc *desc) {
  if (desc->length == 0) return ECS_OK;
  if (desc->length > ARRAY_LENGTH_LIMIT)
    return world_fail(world, ECS_ELIMIT, "array '%s': the length must be 1 to %u, got %u",
                      desc->name, ARRAY_LENGTH_LIMIT, desc->length);
  bool plain = desc->field_count == 1 && !desc->native_size && !desc->relation && !desc->toggle &&
               !desc->track && !desc->sparse && !desc->required_count && !desc->was_count &&
               !desc->old_name;
  if (!plain)
    return world_fail(world, ECS_EINVAL, "array '%s' takes only a type and a length", desc->name);
  const ecs_field *field = &desc->fields[0];
  bool single = field->count == 0 && field->value.kind == ECS_KIND_NONE;
  if (type_is_known(field->type) && array_takes(field->type) && single && field->name &&
      strcmp(field->name, ARRAY_FIELD) == 0)
    return ECS_OK;
  return world_fail(world, ECS_EINVAL, "array '%s': the type must be a number (f32 to u64), bool "
                    "or entity", desc->name);
}

ecs_status component_not_kind(const ecs_world *world, const struct component *component,
                              const char *kind) {
  return world_fail(world, ECS_EINVAL, "'%s' is %s, not an %s", component->name,
                    component->length ? "an array" : component->is_event ? "an event"
                    : component->ties.relation ? "a relation"
                    : component->leaf_count ? "a component" : "a tag", kind);
}

static const char *registry_kind_of(const struct component *component) {
  return component->length ? "array" : component->is_event ? "event" : "component";
}

ecs_status component_unknown_kind(const ecs_world *world, const char *name, size_t size,
                                  const char *kind) {
  ecs_string text = {name, size};
  const struct component *now = component_formerly(world, name, size);
  if (now)
    return world_fail(world, ECS_ENAME, "unknown %s '%.*s': its name is now '%s'", kind,
                      SHOW(text), now->name);
  struct nearest nearest;
  nearest_begin(&nearest, name, size);
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *known = world->registry.components[i];
    if (known && strcmp(registry_kind_of(known), kind) == 0)
      nearest_offer(&nearest, known->name, known->name_size);
  }
  return world_fail(world, ECS_ENAME, "unknown %s '%.*s'%s", kind, SHOW(text),
                    nearest_hint(&nearest));
}

ecs_status array_need_name(const ecs_world *world, const char *name, size_t size, ecs_id *out) {
  const struct component *found = component_find(world, name, size);
  *out = ECS_NULL;
  if (!found) return component_unknown_kind(world, name, size, "array");
  if (!found->length) return component_not_kind(world, found, "array");
  *out = found->id;
  return ECS_OK;
}

void *ecs_array_data(ecs_world *world, ecs_id id, size_t *length) {
  struct component *array;
  world_be_sure(world);
  *length = 0;
  if (component_need_any(world, id, &array) != ECS_OK) return NULL;
  if (!array->length) {
    component_not_kind(world, array, "array");
    return NULL;
  }
  *length = array->length;
  return array_data(array);
}

ecs_status array_check(const ecs_world *world, const struct component *array) {
  bool sound = array->leaf_count == 1 && array->resource && array->length <= ARRAY_LENGTH_LIMIT &&
               !array->ties.relation && !array->is_sparse && array->require_count == 0;
  if (!sound || !array_takes(array_type(array)))
    return world_fail(world, ECS_ECORRUPT, "array '%s' is invalid", array->name);
  const uint8_t *truths = array_data(array);
  for (uint32_t i = 0; array_type(array) == ECS_BOOL && i < array->length; i++)
    if (truths[i] > 1)
      return world_fail(world, ECS_ECORRUPT, "array '%s' has a bool that is neither 0 nor 1",
                        array->name);
  return ECS_OK;
}
