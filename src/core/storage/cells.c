#include "core/storage/cells.h"

#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/ids/world.h"
#include "core/storage/component.h"
#include "core/storage/event.h"
#include "core/storage/graph.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"
#include "core/world/lifetime.h"

bool cells_find(const ecs_world *world, ecs_id entity, ecs_id component,
                struct cells_row *out) {
  const struct record *record = entity_find(&world->entities, entity);
  struct table *table = record ? record_table(world, record) : NULL;
  if (UNLIKELY(!table)) return false;
  const struct layout *layout = table_find(table, component);
  if (!layout->taken)
    return world->sparses.rows && sparse_find(world, ecs_id_index(entity), component, out);
  struct column *columns = layout->count ? layout->columns : NULL;
  assert(record->row < table->count && table->rows[record->row] == ecs_id_index(entity));
  *out = (struct cells_row){table, columns, record->row};
  return true;
}

struct cells_walk {
  ecs_type type;
  cells_fn visit;
  void *ud;
};

/* A table that is still being loaded may lack columns. */
static bool cells_visit(const struct cells_walk *walk, const struct component *component,
                        uint32_t leaf, void *data, uint32_t count) {
  assert(leaf < component->leaf_count);
  struct cells cells = {data, count, component, &component->leaves[leaf]};
  bool wanted = cells.leaf->type == walk->type && data && count;
  return !wanted || walk->visit(&cells, walk->ud);
}

static bool cells_walk_columns(const struct cells_walk *walk, const struct column *columns,
                               uint32_t count, uint32_t rows) {
  for (const struct column *column = columns; rows && column < columns + count; column++)
    if (!cells_visit(walk, column->component, column->leaf, column->data, rows)) return false;
  return true;
}

static bool cells_walk_table(const struct cells_walk *walk, const struct table *table) {
  return cells_walk_columns(walk, table->columns, table->column_count, table->count);
}

static bool cells_walk_copy(const struct cells_walk *walk, const struct copy *copy) {
  return cells_walk_columns(walk, copy->columns, copy->width, copy->rows);
}

/* Walks the copies that observers are shown. They hold strings and ids of the dead, but own no any
** slots. */
static bool cells_walk_copies(const ecs_world *world, const struct cells_walk *walk) {
  const struct watching *watching = world->watching;
  for (uint32_t n = 0; n < watching->concerned_count; n++) {
    const struct watch *watch = watching->concerned[n];
    for (uint32_t i = 0; watch && i < watch->copy_count; i++)
      if (!cells_walk_copy(walk, &watch->copies[i])) return false;
  }
  for (uint32_t i = 0; watching->shown && i < watching->shown->copy_count; i++)
    if (!cells_walk_copy(walk, &watching->shown->copies[i])) return false;
  return true;
}

static bool cells_walk_stored(const ecs_world *world, const struct cells_walk *walk) {
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    bool may_have = walk->type != ECS_ANY || table->has_any;
    if (may_have && !cells_walk_table(walk, table)) return false;
  }
  for (uint32_t i = 0; i < world->sparses.count; i++)
    if (!cells_walk_table(walk, world->sparses.list[i]->table)) return false;
  for (uint32_t i = 0; i < world->events.count; i++)
    if (!cells_walk_table(walk, world->events.list[i]->table) ||
        !cells_walk_table(walk, world->events.list[i]->later.table))
      return false;
  if (walk->type != ECS_ANY && !cells_walk_copies(world, walk)) return false;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *component = world->registry.components[i];
    for (uint32_t j = 0; component && component->resource && j < component->leaf_count; j++)
      if (!cells_visit(walk, component, j, component->resource[j].data, component_cells(component)))
        return false;
  }
  return true;
}

static bool cells_walk_staged(const ecs_world *world, const struct cells_walk *walk) {
  const struct staging *staging = &world->staging;
  for (uint32_t i = staging_first_written(staging); i < staging->command_count; i++) {
    const struct command *command = &staging->commands[i];
    const struct component *component = component_of(world, command->component);
    if (!component) continue;
    for (uint32_t j = 0; j < command->write_count; j++) {
      struct write *write = &staging->writes[command->first_write + j];
      if (!cells_visit(walk, component, write->leaf, &write->cell, 1)) return false;
    }
  }
  return true;
}

static bool cells_walk_kept(const ecs_world *world, const struct cells_walk *walk) {
  for (const struct attachment *at = world->attachments; at; at = at->next)
    if (at->cells && !at->cells(world, at, walk->type, walk->visit, walk->ud)) return false;
  return true;
}

bool cells_each(const ecs_world *world, ecs_type type, unsigned where, cells_fn visit_cells,
                void *ud) {
  struct cells_walk walk = {type, visit_cells, ud};
  return (!(where & CELLS_STORED) || cells_walk_stored(world, &walk)) &&
         (!(where & CELLS_STAGED) || cells_walk_staged(world, &walk)) &&
         (!(where & CELLS_KEPT) || cells_walk_kept(world, &walk));
}
