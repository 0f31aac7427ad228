#include "core/relation/relation_check.h"

#include "core/storage/cells.h"
#include "core/storage/component.h"
#include "core/storage/fields.h"
#include "core/storage/graph.h"
#include "core/relation/relation.h"
#include "core/storage/table.h"
#include "core/ids/world.h"
#include "ecs_world.h"

static ecs_status relation_corrupt(const ecs_world *world, const char *what) {
  return world_fail(world, ECS_ECORRUPT, "%s", what);
}

static bool is_alive(const ecs_world *world, uint32_t index) {
  return entity_slots(&world->entities, index).count &&
         ecs_alive(world, entity_id(&world->entities, index));
}

/* A source is alive, has the relation, and its cell says the target. */
static ecs_status relation_check_source(const ecs_world *world, const struct relation *relation,
                                        uint32_t source, uint32_t target) {
  struct cells_row cells;
  if (!is_alive(world, source)) return relation_corrupt(world, "a dead entity is tied");
  ecs_id id = entity_id(&world->entities, source);
  if (!cells_find(world, id, relation->component->id, &cells))
    return relation_corrupt(world, "an entity is tied without the relation");
  ecs_id cell = ((const ecs_id *)cells.columns[TARGET_LEAF].data)[cells.row];
  return cell == entity_id(&world->entities, target)
             ? ECS_OK : relation_corrupt(world, "a tie's target is not what its cell says");
}

static ecs_status relation_check_end(const ecs_world *world, const struct relation *relation,
                                     uint32_t target, uint32_t *tied) {
  const struct ties *ties = &relation->ties;
  const struct tie_end *end = ties_end(ties, target);
  uint32_t count = 0, previous = 0;
  if (end->count && !is_alive(world, target))
    return relation_corrupt(world, "a tie's target is dead");
  for (uint32_t at = end->first; at; previous = at, at = ties_next(ties, at)) {
    if (ties_target(ties, at) != target || ties_previous(ties, at) != previous)
      return relation_corrupt(world, "a tie does not lead back");
    ecs_status status = relation_check_source(world, relation, at, target);
    if (status != ECS_OK) return status;
    if (++count > end->count) return relation_corrupt(world, "a target's sources go in a circle");
  }
  *tied += count;
  return count == end->count && previous == end->last
             ? ECS_OK : relation_corrupt(world, "a target's sources are miscounted");
}

static ecs_status check_ties(const ecs_world *world, const struct relation *relation) {
  const struct ties *ties = &relation->ties;
  uint32_t tied = 0;
  for (uint32_t page = 0; page < ties->end_page_capacity; page++) {
    if (!ties->end_pages[page]) continue;
    for (uint32_t i = 0; i < TIE_PAGE_SIZE; i++) {
      ecs_status status = relation_check_end(world, relation, page * TIE_PAGE_SIZE + i, &tied);
      if (status != ECS_OK) return status;
    }
  }
  return tied == ties->count ? ECS_OK : relation_corrupt(world, "ties are miscounted");
}

/* All rows of tables with an exclusive relation are tied. */
static ecs_status relation_check_rows(const ecs_world *world, const struct relation *relation) {
  const struct id_record *record = graph_record(world, relation->component->id);
  size_t rows = 0;
  for (uint32_t i = 0; record && i < record->table_count; i++)
    rows += world_table(world, record->tables[i])->count;
  return rows == relation->ties.count ? ECS_OK : relation_corrupt(world, "a row is not tied");
}

/* The source behind one on a walk through all that is tied to a root, directly or not; 0 at the
** end. */
static uint32_t walk_on(const struct ties *ties, uint32_t root, uint32_t at) {
  if (ties_first(ties, at)) return ties_first(ties, at);
  while (at != root && !ties_next(ties, at)) at = ties_target(ties, at);
  return at == root ? 0 : ties_next(ties, at);
}

/* Every source of an acyclic relation is reached from a target that is no source itself. */
bool relation_is_acyclic(const struct relation *relation) {
  const struct ties *ties = &relation->ties;
  uint32_t reached = 0;
  for (uint32_t page = 0; page < ties->end_page_capacity; page++)
    for (uint32_t i = 0; ties->end_pages[page] && i < TIE_PAGE_SIZE; i++) {
      uint32_t root = page * TIE_PAGE_SIZE + i;
      if (ties_target(ties, root)) continue;
      for (uint32_t at = ties_first(ties, root); at; at = walk_on(ties, root, at)) reached++;
    }
  return reached == ties->count;
}

static ecs_status check_pairs(const ecs_world *world) {
  const struct id_record *all = graph_all(world);
  uint32_t pair_tables = 0;
  for (uint32_t i = 0; i < all->table_count; i++) {
    const struct table *table = world_table(world, all->tables[i]);
    pair_tables += table->has_pairs;
    for (uint32_t j = 0; j < table->id_count && table->count; j++)
      if (id_is_pair(table->ids[j]) && !is_alive(world, pair_target(table->ids[j])))
        return relation_corrupt(world, "a pair's target is dead");
  }
  return pair_tables == world->graph.pair_tables
             ? ECS_OK
             : relation_corrupt(world, "tables of pairs are miscounted");
}

ecs_status relations_check(const ecs_world *world) {
  const struct relations *relations = &world->relations;
  uint64_t tied = 0;
  ecs_status status = check_pairs(world);
  for (uint32_t i = 0; i < relations->count && status == ECS_OK; i++) {
    const struct relation *relation = relations->list[i];
    if (component_of(world, relation->component->id) != relation->component ||
        relation->component->relation != relation)
      return relation_corrupt(world, "a relation is not its component's");
    tied += relation->ties.count;
    if (!relation->exclusive) continue;
    status = check_ties(world, relation);
    if (status == ECS_OK) status = relation_check_rows(world, relation);
    if (status == ECS_OK && relation->acyclic && !relation_is_acyclic(relation))
      status = relation_corrupt(world, "an acyclic relation has a circle");
  }
  if (status == ECS_OK && tied != relations->tied)
    return relation_corrupt(world, "ties are miscounted");
  return status;
}
