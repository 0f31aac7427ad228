#include "core/change/migrate_cells.h"

#include "core/base/column_cells.h"
#include "core/base/text.h"
#include "core/base/types.h"
#include "core/change/convert.h"
#include "core/change/migrate.h"
#include "core/change/migration.h"
#include "core/storage/fields.h"
#include "core/storage/resource.h"
#include "core/storage/table.h"
#include "core/ids/world.h"

static const struct leaf *migrate_cells_leaf_of(const struct column *column) {
  return &column->component->leaves[column->leaf];
}

static ecs_status migrate_cells_refuse(struct migration *migration,
                                       const struct table *old, uint32_t row,
                                       const struct column *from, const struct column *to,
                                       ecs_cell cell) {
  const ecs_world *world = migration->world;
  char value[96], owner[48];
  convert_show(world, migrate_cells_leaf_of(from), cell, value, sizeof value);
  migration->refused = to->component->name;
  if (from->component->length)
    return world_fail(
        world, ECS_ERANGE, "cannot migrate '%s': element %u is %s, which is no %s",
        to->component->name, row + 1, value, type_name(migrate_cells_leaf_of(to)->type));
  if (old && from->component->is_event)
    text_format(owner, sizeof owner, "event %u", row + 1);
  else if (old)
    text_format(owner, sizeof owner, "entity " SHOW_ID,
                entity_id(&world->entities, old->rows[row]));
  else
    text_format(owner, sizeof owner, "the resource");
  return world_fail(world, ECS_ERANGE, "cannot migrate '%s': %s has %s = %s, which is no %s",
                    to->component->name, owner, migrate_cells_leaf_of(from)->name, value,
                    type_name(migrate_cells_leaf_of(to)->type));
}

ecs_status migration_fill_column(struct migration *migration, const struct table *old,
                                 const struct column *from, struct column *to,
                                 uint32_t capacity, uint32_t count) {
  ecs_world *world = migration->world;
  assert(count <= capacity);
  if (capacity == 0) return ECS_OK;
  if (!buffer_grow(&world->memory, &to->buffer, (size_t)capacity * to->size, 0))
    return world_nomem(world);
  to->data = to->buffer.data;
  if (!from) {
    cell_fill(to->data, to->size, 0, count, to->value);
    return ECS_OK;
  }
  for (uint32_t row = 0; row < count; row++) {
    ecs_cell cell = cell_load(from->data, from->size, row), converted;
    ecs_status status = convert_cell(world, migrate_cells_leaf_of(from),
                                     migrate_cells_leaf_of(to), cell, &converted);
    if (status == ECS_ENOMEM) return world_nomem(world);
    if (status != ECS_OK) return migrate_cells_refuse(migration, old, row, from, to, cell);
    cell_store(to->data, to->size, row, converted);
  }
  return ECS_OK;
}

/* The cells that a leaf of the world's own has had, of which the new one keeps what fits. */
static ecs_status fill_leaf(struct migration *migration, struct change *change, uint32_t at) {
  const struct component *old = change->component, *wanted = change->wanted;
  uint32_t source = change->source[at], count = component_cells(wanted), kept = count;
  const struct leaf *leaf = &wanted->leaves[at];
  struct column to = {.value = leaf->value, .size = leaf->size, .leaf = at, .component = wanted};
  struct column from = {.component = old, .leaf = source};
  if (source != NONE) {
    assert(old->resource);
    from.data = old->resource[source].data;
    from.size = old->leaves[source].size;
    if (component_cells(old) < kept) kept = component_cells(old);
  }
  ecs_status status = migration_fill_column(migration, NULL, source == NONE ? NULL : &from, &to,
                                            count, kept);
  change->resource[at] = to.buffer;
  if (status == ECS_OK) cell_fill(to.data, to.size, kept, count - kept, to.value);
  return status;
}

ecs_status migration_prepare_resource(struct migration *migration, struct change *change) {
  ecs_world *world = migration->world;
  const struct component *wanted = change->wanted;
  bool resource = change->component->resource || change->valued;
  if (!resource || !wanted || wanted->leaf_count == 0) return ECS_OK;
  change->resource = memory_array(&world->memory, wanted->leaf_count, sizeof *change->resource);
  if (!change->resource) return world_nomem(world);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < wanted->leaf_count && status == ECS_OK; i++)
    status = fill_leaf(migration, change, i);
  return status;
}

void migration_swap_resource(ecs_world *world, struct change *change) {
  struct component *component = change->component;
  for (uint32_t i = 0; change->resource && i < change->wanted->leaf_count; i++) {
    uint32_t source = change->source[i];
    if (source != NONE && component->leaves[source].type == ECS_ANY)
      *(uint32_t *)component->resource[source].data = 0;
  }
  resource_free(world, component);
  component->resource = change->resource;
  change->resource = NULL;
}
