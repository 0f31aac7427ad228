/* Walking a query's tables, and changing all its rows at once. */
#include "core/store/bulk.h"
#include "core/store/entity.h"
#include "core/store/query.h"
#include "core/store/relate.h"
#include "core/store/world.h"

ecs_status query_usable(const ecs_query *query) {
  if (!query->broken) return ECS_OK;
  return world_fail(query->world, ECS_ENAME,
                    "query '%s' names a component or field that is no longer declared",
                    query->text);
}

ecs_status ecs_iter_open(ecs_query *query, ecs_iter *it) {
  *it = (ecs_iter){.query = query, .table = NONE};
  ecs_status status = query_usable(query);
  if (status == ECS_OK) status = scope_open(query->world, SCOPE_LOOP, &it->scope);
  it->open = status == ECS_OK;
  return status;
}

bool ecs_iter_next(ecs_iter *it) {
  const ecs_query *query = it->query;
  while (it->open && it->match < query->count) {
    it->table = it->match++;
    const struct table *table = world_table(query->world, query->tables[it->table]);
    if (table->count == 0) continue;
    it->count = table->count;
    it->rows = table->rows;
    return true;
  }
  it->count = 0;
  it->rows = NULL;
  return false;
}

ecs_status ecs_iter_close(ecs_iter *it) {
  if (!it->open) return ECS_OK;
  ecs_status status = scope_commit(it->query->world, it->scope);
  it->open = scope_stays_open(status);
  return status;
}

ecs_id ecs_iter_entity(const ecs_iter *it, size_t row) {
  return entity_id(&it->query->world->entities, it->rows[row]);
}

bool ecs_iter_has(const ecs_iter *it, uint32_t term) {
  const ecs_query *query = it->query;
  if (!query || term >= query->terms.count || it->table == NONE) return false;
  const struct table *table = world_table(query->world, query->tables[it->table]);
  return table_has(table, query->terms.terms[term].id);
}

void *ecs_iter_column(const ecs_iter *it, uint32_t term, uint32_t leaf) {
  const ecs_query *query = it->query;
  if (term >= query->terms.count || it->table == NONE) return NULL;
  const struct term *asked = &query->terms.terms[term];
  if (asked->slot == NONE) return NULL;
  if (leaf >= (asked->leaf == NONE ? asked->component->leaf_count : 1)) return NULL;
  uint32_t first = query_columns(query, it->table)[asked->slot];
  if (first == NONE) return NULL;
  return world_table(query->world, query->tables[it->table])->columns[first + leaf].data;
}

/* Ends the scope of a change that has this status. */
static ecs_status end_change(ecs_world *world, uint32_t scope, ecs_status status) {
  bool staged = status == ECS_OK;
  if (staged) status = scope_commit(world, scope);
  if (!staged || scope_stays_open(status)) scope_cancel(world, scope);
  return status;
}

/* Entity by entity, as one scope: a relation's pair added to, or all pairs taken from every row. */
static ecs_status change_each(ecs_query *query, struct component *component, ecs_id id,
                              bool add) {
  ecs_world *world = query->world;
  if (staging_is_open(&world->staging))
    return world_fail(world, ECS_EBUSY, "cannot change whole tables inside a scope");
  if (add && !id_is_pair(id)) return relate_no_target(world, component);
  uint32_t scope;
  ecs_status status = scope_open(world, SCOPE_DEFER, &scope);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < query->count && status == ECS_OK; i++) {
    const struct table *table = world_table(world, query->tables[i]);
    for (uint32_t row = 0; row < table->count && status == ECS_OK; row++)
      status = relate_change(world, entity_id(&world->entities, table->rows[row]), id, add);
  }
  return end_change(world, scope, status);
}

static ecs_status change_all(ecs_query *query, ecs_id id, bool add) {
  ecs_world *world = query->world;
  struct component *component;
  ecs_status status = query_usable(query);
  if (status == ECS_OK) status = component_need_id(world, id, &component);
  if (status == ECS_OK && component->relation && (add || !component->relation->exclusive))
    return change_each(query, component, id, add);
  if (status == ECS_OK && staging_is_open(&world->staging))
    status = world_fail(world, ECS_EBUSY, "cannot change whole tables inside a scope");
  return status == ECS_OK ? bulk_change(world, &query->tables, query->count, id, add)
                          : status;
}

ecs_status ecs_query_add(ecs_query *query, ecs_id component) {
  return change_all(query, component, true);
}

ecs_status ecs_query_remove(ecs_query *query, ecs_id component) {
  return change_all(query, component, false);
}

/* The rows of a table are entities that may be despawned. */
static ecs_status check_entities(const ecs_world *world, const struct table *table) {
  for (uint32_t row = 0; row < table->count; row++)
    if (table->rows[row] < FIRST_ENTITY) {
      ecs_id id = entity_id(&world->entities, table->rows[row]);
      return world_fail(world, ECS_EINVAL, "%e is a component: undeclare '%s' instead", id,
                        component_of(world, id)->name);
    }
  return ECS_OK;
}

/* Where others may be tied to what goes. */
static ecs_status despawn_each(ecs_query *query) {
  ecs_world *world = query->world;
  uint32_t scope;
  ecs_status status = scope_open(world, SCOPE_DEFER, &scope);
  if (status != ECS_OK) return status;
  for (uint32_t i = 0; i < query->count && status == ECS_OK; i++) {
    const struct table *table = world_table(world, query->tables[i]);
    for (uint32_t row = 0; row < table->count && status == ECS_OK; row++)
      status = entity_despawn(world, entity_id(&world->entities, table->rows[row]));
  }
  return end_change(world, scope, status);
}

ecs_status ecs_query_despawn(ecs_query *query) {
  ecs_world *world = query->world;
  ecs_status status = query_usable(query);
  if (status == ECS_OK && staging_is_open(&world->staging))
    status = world_fail(world, ECS_EBUSY, "cannot change whole tables inside a scope");
  for (uint32_t i = 0; i < query->count && status == ECS_OK; i++)
    status = check_entities(world, world_table(world, query->tables[i]));
  if (status != ECS_OK) return status;
  if (world->relations.tied || world->graph.pair_tables) return despawn_each(query);
  for (uint32_t i = 0; i < query->count; i++) {
    struct table *table = world_table(world, query->tables[i]);
    while (table->count) entity_kill(world, table->rows[table->count - 1]);
  }
  return ECS_OK;
}
