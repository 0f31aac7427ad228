#include "core/change/migrate.h"

#include "core/base/column.h"
#include "core/change/declare.h"
#include "core/ids/world.h"
#include "core/query/query.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "core/storage/table.h"

/* The component as it will be, before and after the commit. */
static const struct component *migrate_ties_after(const struct migration *migration,
                                                  const struct change *change) {
  return migration->committed ? change->component : change->wanted;
}

/* Whether a relation changes between one target and several. */
static bool migration_turns(const struct change *change) {
  const struct component *now = change->component, *then = change->wanted;
  return then && now->ties.relation && then->ties.relation &&
         now->ties.exclusive != then->ties.exclusive;
}

bool migration_changes_ties(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (change->wanted &&
        (migration_turns(change) ||
         change->component->ties.relation != change->wanted->ties.relation))
      return true;
  }
  return false;
}

/* ---- what is possible ---- */

/* The first entity that has a component, or ECS_NULL. */
static ecs_id migrate_ties_find_holder(const ecs_world *world, const struct component *component) {
  const struct id_record *record = graph_uses(world, component);
  for (uint32_t i = 0; record && i < record->table_count; i++) {
    const struct table *table = world_table(world, record->tables[i]);
    if (table->count) return entity_id(&world->entities, table->rows[0]);
  }
  if (!component->sparse || component->sparse->table->count == 0) return ECS_NULL;
  return entity_id(&world->entities, component->sparse->table->rows[0]);
}

static const struct component *migrate_ties_find_requirer(const ecs_world *world,
                                                          const struct component *component) {
  for (uint32_t i = 0; i < world->registry.count; i++) {
    const struct component *other = world->registry.components[i];
    for (uint32_t j = 0; other && j < other->require_count; j++)
      if (other->requires[j] == component->id) return other;
  }
  return NULL;
}

/* Checks that a tag can become a relation: no entity has it. */
static ecs_status migrate_ties_check_tag(ecs_world *world, const struct component *component) {
  if (component->field_count || component->resource)
    return world_fail(world, ECS_EINVAL, "'%s' cannot become a relation while it is declared with "
                      "fields: undeclare it first", component->name);
  ecs_id holder = migrate_ties_find_holder(world, component);
  if (holder != ECS_NULL)
    return world_fail(world, ECS_EBUSY, "'%s' cannot become a relation while entity " SHOW_ID " "
                      "has it, since the tie would have no target: remove it there first",
                      component->name, holder);
  const struct component *other = migrate_ties_find_requirer(world, component);
  if (!other) return ECS_OK;
  return world_fail(world, ECS_EINVAL, "'%s' cannot become a relation while '%s' requires it",
                    component->name, other->name);
}

static ecs_status migrate_ties_check_kind(ecs_world *world, const struct change *change) {
  const struct component *now = change->component, *then = change->wanted;
  if (!now->length != !then->length || now->is_event != then->is_event)
    return world_fail(world, ECS_EINVAL, "'%s' cannot become %s while it is declared as something "
                      "else: undeclare it first", now->name,
                      then->length ? "an array" : then->is_event ? "an event"
                      : then->ties.relation ? "a relation"
                                                                      : "a plain component or tag");
  if (now->ties.relation == then->ties.relation) return ECS_OK;
  if (then->ties.relation) return migrate_ties_check_tag(world, now);
  return world_fail(world, ECS_EINVAL, "'%s' cannot become a plain component or tag while it is "
                    "declared as a relation: undeclare it first", now->name);
}

/* ---- ties that are made ---- */

static ecs_status migrate_ties_refuse_second(const ecs_world *world,
                                             const struct component *component,
                                             uint32_t source, uint32_t first,
                                             uint32_t second) {
  char ways[3][80];
  const uint32_t entities[3] = {source, first, second};
  for (int i = 0; i < 3; i++) relation_tell_step(world, entities[i], ways[i], sizeof ways[i]);
  return world_fail(world, ECS_EBUSY, "'%s' cannot become exclusive: entity %s is tied to %s and "
                    "to %s; remove all but one first", component->name, ways[0], ways[1], ways[2]);
}

/* The target of a table's first pair of a relation from an index on; 0 if there is none. */
static uint32_t migrate_ties_pair_from(const struct table *table, const struct component *component,
                                       uint32_t index) {
  for (uint32_t i = 0; i < table->id_count; i++)
    if (id_is_pair(table->ids[i]) && pair_relation(table->ids[i]) == ecs_id_index(component->id) &&
        pair_target(table->ids[i]) > index)
      return pair_target(table->ids[i]);
  return 0;
}

static ecs_status tie_rows(struct migration *migration, const struct component *component,
                           const struct table *table, struct relation *fresh) {
  uint32_t target = migrate_ties_pair_from(table, component, 0);
  uint32_t other = target ? migrate_ties_pair_from(table, component, target) : 0;
  ecs_world *world = migration->world;
  for (uint32_t row = 0; row < table->count; row++) {
    uint32_t source = table->rows[row];
    if (other) return migrate_ties_refuse_second(world, component, source, target, other);
    if (!ties_reserve(&fresh->ties, &world->memory, source, target)) return world_nomem(world);
    ties_link(&fresh->ties, source, target);
  }
  return ECS_OK;
}

/* Makes the ties of a relation that becomes exclusive, in query order. */
static ecs_status make_ties(struct migration *migration, const struct change *change) {
  const ecs_world *world = migration->world;
  const struct id_record *record = graph_uses(world, change->component);
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; record && i < record->table_count && status == ECS_OK; i++)
    status = tie_rows(migration, change->component, world_table(world, record->tables[i]),
                      change->wanted->relation);
  return status;
}

/* Checks that a relation that becomes acyclic has no cycle. */
static ecs_status migrate_ties_check_circles(ecs_world *world, const struct change *change) {
  const struct component *wanted = change->wanted;
  if (!wanted->ties.acyclic || change->component->ties.acyclic) return ECS_OK;
  struct relation *relation = wanted->relation ? wanted->relation : change->component->relation;
  uint32_t source = ties_find_circle(&relation->ties);
  if (!source) return ECS_OK;
  char way[MESSAGE_SIZE];
  relation_tell_circle(world, relation, source, ties_target(&relation->ties, source), way,
                       sizeof way);
  return world_fail(world, ECS_ECYCLE, "'%s' cannot become acyclic while its ties form a cycle: "
                    "%s", change->component->name, way);
}

static ecs_status migrate_ties_prepare(struct migration *migration, const struct change *change) {
  ecs_world *world = migration->world;
  bool becomes = !change->component->ties.relation && change->wanted->ties.relation;
  bool needed = becomes || (migration_turns(change) && change->wanted->ties.exclusive);
  ecs_status status = migrate_ties_check_kind(world, change);
  if (status == ECS_OK && needed && !change->wanted->relation)
    status = relation_new(world, change->wanted);
  if (status == ECS_OK && needed && !becomes) status = make_ties(migration, change);
  return status == ECS_OK && change->wanted->ties.relation
             ? migrate_ties_check_circles(world, change)
             : status;
}

ecs_status migration_prepare_ties(struct migration *migration) {
  ecs_world *world = migration->world;
  ecs_status status = OWNED_RESERVE(world, &world->relations, migration->count);
  for (uint32_t i = 0; i < migration->count && status == ECS_OK; i++) {
    const struct change *change = &migration->changes[i];
    if (change->wanted) status = migrate_ties_prepare(migration, change);
    if (status != ECS_OK) world_blame(world, status, change->component->name);
  }
  return status;
}

/* ---- rows ---- */

/* Room for the cells of a row, which may be tied by all relations that change. */
#define ROOM_OF_CELLS(migration) ((uint64_t)LEAF_LIMIT * (migration)->count)

ecs_id migration_id_after(const struct migration *migration, ecs_id id, uint32_t entity) {
  const ecs_world *world = migration->world;
  const struct component *component = component_of(world, id);
  const struct change *change = component ? migration_of(migration, component->id) : NULL;
  if (entity == NONE || !change || !change->wanted || !component->ties.relation) return id;
  const struct component *then = migrate_ties_after(migration, change);
  if (id_is_pair(id)) return then->ties.exclusive ? then->id : id;
  if (!component_has_pairs(then)) return id;
  uint32_t target = ties_target(&change->component->relation->ties, entity);
  assert(target);
  return pair_make(ecs_id_index(id), target);
}

/* Whether an id can no longer be in a table. */
static bool migrate_ties_is_outdated(const struct change *change, const struct component *then,
                                     ecs_id id) {
  bool pair = id_is_pair(id);
  uint32_t index = pair ? pair_relation(id) : ecs_id_index(id);
  return index == ecs_id_index(change->component->id) && pair != component_has_pairs(then);
}

bool migration_parts_rows(const struct migration *migration, const struct table *table) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    const struct component *then = change->wanted ? migrate_ties_after(migration, change) : NULL;
    for (uint32_t j = 0; then && then->ties.relation && j < table->id_count; j++)
      if (migrate_ties_is_outdated(change, then, table->ids[j])) return true;
  }
  return false;
}

ecs_status migration_plan_rows(const struct migration *migration, struct table *table) {
  ecs_world *world = migration->world;
  ecs_status status = ECS_OK;
  for (uint32_t row = 0; row < table->count && status == ECS_OK; row++) {
    struct whereto to;
    status = migration_target(migration, table, table->rows[row], true, &to);
    if (status == ECS_OK) status = table_reserve(world, to.table, ++to.table->incoming);
  }
  if (status != ECS_OK) return status;
  return world_scratch(world, ROOM_OF_CELLS(migration)) ? ECS_OK : world_nomem(world);
}

/* The id of a table that a change makes invalid, or ECS_NULL. A row has at most one. */
static ecs_id migrate_ties_outdated_id(const struct change *change, const struct table *table) {
  const struct component *then = change->wanted ? change->component : NULL;
  for (uint32_t i = 0; then && then->ties.relation && i < table->id_count; i++)
    if (migrate_ties_is_outdated(change, then, table->ids[i])) return table->ids[i];
  return ECS_NULL;
}

/* Takes the cells that will be stored under another id out of a row; the new place will own their
** any slots. */
static void migrate_ties_save_cells(const struct migration *migration,
                                    const struct table *table, uint32_t row,
                                    ecs_cell *cells) {
  for (uint32_t i = 0; i < migration->count; i++) {
    ecs_id id = migrate_ties_outdated_id(&migration->changes[i], table);
    const struct layout *layout = table_find(table, id);
    for (uint32_t j = 0; id != ECS_NULL && j < layout->count; j++) {
      const struct column *column = &layout->columns[j];
      *cells++ = cell_load(column->data, column->size, row);
      if (column->component->leaves[j].type == ECS_ANY) ((uint32_t *)column->data)[row] = 0;
    }
  }
}

/* Puts them into the row that the entity has moved to, with the target in its cell. */
static void migrate_ties_put_cells(const struct migration *migration, const struct table *from,
                                   uint32_t entity, const ecs_cell *cells) {
  const ecs_world *world = migration->world;
  const struct record *record = entity_record(&world->entities, entity);
  const struct table *to = world_table(world, record->table);
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct component *component = migration->changes[i].component;
    ecs_id id = migrate_ties_outdated_id(&migration->changes[i], from);
    if (id == ECS_NULL) continue;
    const struct layout *layout = table_find(to, migration_id_after(migration, id, entity));
    for (uint32_t j = 0; j < layout->count; j++)
      cell_store(layout->columns[j].data, layout->columns[j].size, record->row, *cells++);
    if (component->ties.exclusive)
      ((ecs_id *)layout->columns[TARGET_LEAF].data)[record->row] =
          relation_target(world, component->relation, entity);
  }
}

/* Starts with the last row, so that no row takes another's place. */
void migration_move_rows(const struct migration *migration, struct table *table) {
  ecs_world *world = migration->world;
  while (table->count) {
    uint32_t row = table->count - 1, entity = table->rows[row];
    struct whereto to;
    ecs_status status = migration_target(migration, table, entity, false, &to);
    ecs_cell *cells = (ecs_cell *)world_scratch(world, ROOM_OF_CELLS(migration));
    assert(status == ECS_OK && cells && to.table != table);
    (void)status;
    migrate_ties_save_cells(migration, table, row, cells);
    row_move(world, entity, to.table);
    migrate_ties_put_cells(migration, table, entity, cells);
  }
}

/* ---- the commit ---- */

void migration_swap_relation(ecs_world *world, struct change *change, struct relation *old) {
  struct component *component = change->component;
  struct relation *fresh = component->relation;
  change->wanted->relation = old ? fresh : NULL;
  component->relation = old ? old : fresh;
  if (fresh) fresh->component = old ? change->wanted : component;
  if (!component->relation) return;
  if (!old) {
    relation_enter(world, component);
    return;
  }
  if (fresh) {
    struct ties ties = old->ties;
    old->ties = fresh->ties;
    fresh->ties = ties;
    world->relations.tied += old->ties.count;
  }
  old->exclusive = component->ties.exclusive;
  old->acyclic = component->ties.acyclic;
  old->policy = component->ties.policy;
}

void migration_forget_ties(const struct migration *migration) {
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    struct relation *relation = change->component->relation;
    if (relation && (!change->wanted || component_has_pairs(change->component)))
      relation_clear(migration->world, relation);
  }
}

void migration_undo_ties(const struct migration *migration) {
  ecs_world *world = migration->world;
  const struct id_record *all = graph_all(world);
  for (uint32_t i = 0; i < migration->count; i++) {
    const struct change *change = &migration->changes[i];
    if (change->wanted && change->wanted->relation) ties_clear(&change->wanted->relation->ties);
    for (uint32_t j = 0; migration_turns(change) && j < all->table_count; j++) {
      struct table *table = world_table(world, all->tables[j]);
      for (uint32_t k = 0; k < table->id_count; k++)
        table->doomed |= migrate_ties_is_outdated(change, change->component, table->ids[k]);
      assert(!table->doomed || table->count == 0);
    }
  }
  graph_drop_doomed(world);
}

/* ---- queries ---- */

bool migration_defeats(const struct term *term, const struct component *wanted,
                       const struct component *through) {
  bool along = through && term->through_leaf == NONE;
  return (term_is_own(term) && component_has_pairs(wanted)) ||
         (along && !through->ties.exclusive);
}
