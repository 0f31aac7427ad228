#include "core/change/declare.h"
#include "core/change/migrate.h"
#include "core/change/migration.h"
#include "core/storage/component.h"
#include "core/entity/entity.h"
#include "core/storage/graph.h"
#include "core/base/id_set.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/sparse.h"
#include "core/ids/world.h"
#include "core/storage/registry.h"

void declare_forget(ecs_world *world, struct component *component) {
  ecs_id id = component->id;
  query_break(world, id);
  if (component->relation) graph_forget(world, pair_make(ecs_id_index(id), 0));
  graph_forget(world, id);
  graph_forget_target(world, ecs_id_index(id));
  component_leave_name(world, component);
  world->registry.components[ecs_id_index(id)] = NULL;
  world->registry.version++;
  component_free(world, component);
  entity_kill(world, ecs_id_index(id));
}

/* Whether nothing has it: no table, no other component's field; and nothing requires it. */
static bool is_unused(const ecs_world *world, const struct component *component) {
  const struct id_record *record = graph_uses(world, component);
  if (record && record->table_count) return false;
  if (component->sparse && component->sparse->table->count) return false;
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *other = world->registry.components[i];
    if (other && id_set_has(other->requires, other->require_count, component->id)) return false;
    for (uint32_t j = 0; other && j < other->field_count; j++)
      if (other->fields[j].nested == component) return false;
  }
  return true;
}

/* What is unused goes without memory, so that a declaration can be taken back. */
ecs_status ecs_undeclare(ecs_world *world, ecs_id id) {
  struct component *component;
  ecs_status status = component_need_any(world, id, &component);
  if (status == ECS_OK) status = migration_check_removal(world, component);
  if (status == ECS_OK && is_unused(world, component)) {
    status = world_is_idle(world, "undeclare");
    if (status != ECS_OK) return status;
    declare_forget(world, component);
    world->registry.layouts++;
    return ECS_OK;
  }
  struct migration migration;
  migration_begin(&migration, world);
  if (status == ECS_OK) status = migration_add(&migration, component, NULL);
  if (status == ECS_OK) status = migration_run(&migration, "undeclare");
  migration_end(&migration);
  return status;
}
