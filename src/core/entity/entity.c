#include "core/entity/entity.h"

#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "ecs_entity.h"

bool entity_has(const ecs_world *world, ecs_id id, ecs_id component) {
  struct cells_row cells;
  return cells_find(world, id, component, &cells);
}

/* ---- despawning ---- */

void entity_kill(ecs_world *world, uint32_t index) {
  const struct record *record = entity_record(&world->entities, index);
  struct table *table = record_table(world, record);
  if (table && table->has_ties) relation_leave_row(world, index);
  assert(!table || (record->row < table->count && table->rows[record->row] == index));
  if (world->sparses.rows) sparse_leave(world, index);
  if (table) row_leave(world, table, record->row);
  if (world->names.by_entity.count) name_forget(world, index);
  entity_release(&world->entities, index);
}

static ecs_status entity_despawn_any(ecs_world *world, ecs_id id) {
  uint32_t index = ecs_id_index(id);
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  if (index < FIRST_ENTITY)
    return world_fail(world, ECS_EINVAL, SHOW_ID " is a component: undeclare '%s' instead", id,
                      component_of(world, id)->name);
  if (UNLIKELY(prefab_is(world, index))) return prefab_refuse(world, index);
  if (staging_is_open(&world->staging) && command_defer_alike(world, COMMAND_DESPAWN, id, ECS_NULL))
    return ECS_OK;
  if (changes_wait(world) || relation_concerns(world, index))
    return command_stage(world, COMMAND_DESPAWN, id, ECS_NULL, NULL, 0);
  entity_kill(world, index);
  return ECS_OK;
}

/* Despawns in the general case. Observers are called before a host's call returns. */
static APART ecs_status despawn_entity(ecs_world *world, ecs_id id, bool tells) {
  ecs_status status = entity_despawn_any(world, id);
  return tells ? world_tell_observers(world, status) : status;
}

/* Whether a despawn may do more than remove a row: because of ties or other storage. */
static inline bool entity_despawn_is_more(const ecs_world *world) {
  return (world->names.by_entity.count | world->relations.tied |
          world->graph.pair_tables | world->sparses.rows | changes_wait(world)) != 0;
}

ecs_status entity_despawn(ecs_world *world, ecs_id id) {
  if (LIKELY(!entity_despawn_is_more(world)) && LIKELY(row_end(world, id))) return ECS_OK;
  return despawn_entity(world, id, false);
}

ecs_status ecs_despawn(ecs_world *world, ecs_id id) {
  if (LIKELY(!entity_despawn_is_more(world)) && LIKELY(row_end(world, id))) return ECS_OK;
  return despawn_entity(world, id, true);
}

/* ---- adding and removing ---- */

/* Adds or removes a component that is not a relation, at once, even inside a scope, without telling
** observers. */
static ecs_status entity_change_now(ecs_world *world, ecs_id id,
                                    struct component *component, bool adds) {
  uint32_t entity = ecs_id_index(id);
  if (component->sparse) return sparse_change(world, entity, component->sparse, adds);
  struct table *table = record_table(world, entity_record(&world->entities, entity));
  struct table *from = table ? table : world->graph.empty, *to;
  ecs_status status = adds ? graph_with(world, from, component->id, &to)
                           : graph_without(world, from, component->id, &to);
  if (status == ECS_OK) status = table_reserve(world, to, 1);
  if (status == ECS_OK) row_move(world, entity, to);
  return status;
}

static ecs_status entity_change_any(ecs_world *world, ecs_id id, ecs_id component, bool adds) {
  struct component *needed;
  enum command_kind kind = adds ? COMMAND_ADD : COMMAND_REMOVE;
  if (adds && id_is_pair(component)) return relate_add_pair(world, id, component);
  /* Defers the change if an edge shows that it concerns a component in tables, not a tie. */
  const struct record *record =
      staging_is_open(&world->staging) ? entity_find_row(&world->entities, id) : NULL;
  if (record && LIKELY(graph_edge(world_table(world, record->table), component)->table) &&
      command_defer_alike(world, kind, id, component))
    return ECS_OK;
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  ecs_status status = component_need_id(world, component, &needed);
  if (status != ECS_OK) return status;
  if (needed->relation) return relate_change(world, id, component, adds);
  if (staging_is_open(&world->staging) && command_defer_alike(world, kind, id, component))
    return ECS_OK;
  if (changes_wait(world) || sparse_is_mixed(world))
    return command_stage(world, kind, id, component, NULL, 0);
  return entity_change_now(world, id, needed, adds);
}

/* Adds or removes in the general case. Observers are called before a host's call returns. */
static APART ecs_status change_entity(ecs_world *world, ecs_id id, ecs_id component, bool adds,
                                      bool tells) {
  ecs_status status = entity_change_any(world, id, component, adds);
  return tells ? world_tell_observers(world, status) : status;
}

/* The set of a sparse component that is not a relation, or NULL. */
INLINE struct sparse *entity_sparse_set_of(const ecs_world *world, ecs_id id) {
  const struct registry *registry = &world->registry;
  uint32_t at = ecs_id_index(id);
  const struct component *known = at < registry->count ? registry->components[at] : NULL;
  return known && known->id == id && !known->relation ? known->sparse : NULL;
}

/* Moves a row along an edge of its table, unless something is pending. The edge shows that nothing
** else changes. */
INLINE ecs_status entity_change_row(ecs_world *world, ecs_id id, ecs_id component, bool adds,
                                    bool tells) {
  if (UNLIKELY(changes_wait(world))) return change_entity(world, id, component, adds, tells);
  struct record *record = entity_find_row(&world->entities, id);
  if (UNLIKELY(!record) && ecs_id_index(id) >= FIRST_ENTITY)   /* components may be bare */
    record = entity_find(&world->entities, id);
  if (UNLIKELY(!record || record->table == RECORD_BARE))
    return change_entity(world, id, component, adds, tells);
  if (UNLIKELY(world->sparses.count)) {
    struct sparse *set = entity_sparse_set_of(world, component);
    if (world->registry.requires) return change_entity(world, id, component, adds, tells);
    if (set) return sparse_change(world, ecs_id_index(id), set, adds);
  }
  struct table *from = world_table(world, record->table);
  const struct edge *edge = graph_edge(from, component);
  uint32_t kind = adds ? EDGE_ADDS : EDGE_TAKES;
  if (UNLIKELY(!(edge->kind & kind) || edge->table->count == edge->table->capacity))
    return change_entity(world, id, component, adds, tells);
  if (LIKELY(edge->kind == kind))
    row_follow(world, record, from, edge);
  else
    row_go_general(world, from, record->row, NULL, edge->table, record);
  return ECS_OK;
}

ecs_status entity_add(ecs_world *world, ecs_id id, ecs_id component) {
  return entity_change_row(world, id, component, true, false);
}

ecs_status entity_remove(ecs_world *world, ecs_id id, ecs_id component) {
  return entity_change_row(world, id, component, false, false);
}

ecs_status ecs_add(ecs_world *world, ecs_id id, ecs_id component) {
  return entity_change_row(world, id, component, true, true);
}

ecs_status ecs_remove(ecs_world *world, ecs_id id, ecs_id component) {
  return entity_change_row(world, id, component, false, true);
}

/* ---- setting ---- */

/* Whether setting the component must be deferred. */
static bool entity_is_kept(const ecs_world *world, ecs_id id, ecs_id component, bool has) {
  return staging_is_open(&world->staging) &&
         (!has || command_is_staged(world, id, component));
}

ecs_status entity_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count) {
  assert(!world->shared);
  if (UNLIKELY(component->relation)) return relate_set(world, id, component, writes, count);
  if (UNLIKELY(!entity_find(&world->entities, id))) return entity_need(world, id);
  struct cells_row cells;
  bool has = cells_find(world, id, component->id, &cells);
  if (entity_is_kept(world, id, component->id, has) ||
      (!has && UNLIKELY(changes_are_commands(world))))
    return command_stage(world, COMMAND_SET, id, component->id, writes, count);
  if (UNLIKELY(world->watching->sets) && has && count)
    return watch_write(world, id, component->id, &cells, writes, count);
  if (!has) {
    ecs_status status = entity_change_now(world, id, component, true);
    if (status != ECS_OK) return status;
    cells_find(world, id, component->id, &cells);
  }
  marks_write_cells(world, &cells, component->id, writes, count);
  if (UNLIKELY(component->has_string)) world_settle(world);
  return ECS_OK;
}

ecs_status entity_set_many(ecs_world *world, const ecs_id *ids, size_t n,
                           struct component *component, const struct write *writes,
                           uint32_t count, uint32_t stride) {
  const struct staging *staging = &world->staging;
  assert(staging_is_open(staging));
  ecs_status status = world->watching->sets ? watch_need_notes(world, n) : ECS_OK;
  if (status != ECS_OK) return status;
  if (component->relation) status = relate_check_set(world, ids, n, component, writes, count);
  if (status != ECS_OK) return status;
  /* The number of entities whose set is deferred. */
  size_t kept = component->relation ? n : 0;
  for (size_t i = 0; i < n && !component->relation; i++)
    kept += entity_is_kept(world, ids[i], component->id, entity_has(world, ids[i], component->id));
  /* If applying or noting at the end of the last scope may fail, nothing is written yet. */
  bool more = kept || staging->command_count || world->watching->sets;
  bool keep_all = staging->open == 1 && more;
  if (keep_all) kept = n;
  status = command_reserve(world, kept, (uint64_t)kept * count, kept);
  if (status != ECS_OK) return status;
  for (size_t i = 0; i < n; i++, writes += stride) {
    status = keep_all ? command_stage(world, COMMAND_SET, ids[i], component->id, writes, count)
                      : entity_set(world, ids[i], component, writes, count);
    assert(status == ECS_OK);
  }
  if (keep_all) world->staging.whole = true;
  return ECS_OK;
}
