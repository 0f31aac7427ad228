#include "core/entity/entity.h"

#include "core/base/sets.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/prefab.h"
#include "core/ids/world.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/marks.h"
#include "core/storage/row.h"
#include "ecs_world.h"

/* ---- the row ---- */

static struct table *relate_table_now(ecs_world *world, ecs_id id) {
  const struct record *record = entity_find(&world->entities, id);
  struct table *table = record_table(world, record);
  return table ? table : world->graph.empty;
}

static ecs_status relate_write_cells(ecs_world *world, ecs_id id, ecs_id component,
                                     const struct write *writes, uint32_t count) {
  struct cells_row cells;
  bool has = cells_find(world, id, component, &cells);
  assert(has);
  (void)has;
  if (UNLIKELY(world->watching->sets) && count)
    return watch_write(world, id, component, &cells, writes, count);
  marks_write_cells(world, &cells, component, writes, count);
  return ECS_OK;
}

/* Reserves a row in the table that an entity will move to. */
static ecs_status relate_reserve_row(ecs_world *world, ecs_id id, struct table *to) {
  return to == relate_table_now(world, id) ? ECS_OK : table_reserve(world, to, 1);
}

/* ---- exclusive relations ---- */

ecs_status relate_no_target(const ecs_world *world, const struct component *component) {
  return world_fail(world, ECS_EINVAL, "'%s' is a relation and needs a target, as in add(entity, "
                    "\"%s\", target)", component->name, component->name);
}

bool relate_given_target(const struct write *writes, uint32_t count, ecs_id *target) {
  bool given = false;
  for (uint32_t i = 0; i < count; i++) {
    if (writes[i].leaf != TARGET_LEAF) continue;
    *target = writes[i].cell.u64;
    given = true;
  }
  return given;
}

/* Ties an entity that the relation does not tie yet: its row moves. */
static ecs_status relate_tie_first(ecs_world *world, ecs_id id, const struct component *component,
                                   uint32_t end) {
  struct relation *relation = component->relation;
  uint32_t source = ecs_id_index(id);
  struct table *to = relate_table_now(world, id);
  ecs_status status = relation_check_way(world, relation, source, end);
  if (status == ECS_OK) status = graph_with(world, to, component->id, &to);
  if (status == ECS_OK) status = relate_reserve_row(world, id, to);
  if (status != ECS_OK) return status;
  if (!ties_reserve(&relation->ties, &world->memory, source, end)) return world_nomem(world);
  relation_link(world, relation, source, end);
  row_move(world, source, to);
  return ECS_OK;
}

/* Ties an entity to a living target, outside scopes. */
static ecs_status relate_tie_now(ecs_world *world, ecs_id id, struct component *component,
                                 ecs_id target, const struct write *writes, uint32_t count) {
  struct relation *relation = component->relation;
  uint32_t source = ecs_id_index(id), end = ecs_id_index(target);
  uint32_t old = ties_target(&relation->ties, source);
  ecs_status status = ECS_OK;
  if (UNLIKELY(!old)) {
    status = relate_tie_first(world, id, component, end);
  } else if (old != end) {
    status = relation_check_way(world, relation, source, end);
    if (status != ECS_OK) return status;
    if (!ties_reserve(&relation->ties, &world->memory, source, end)) return world_nomem(world);
    relation_retie(world, relation, source, end);
  }
  if (status != ECS_OK) return status;
  const struct record *record = entity_record(&world->entities, source);
  struct column *columns = table_find(world_table(world, record->table), component->id)->columns;
  ((ecs_id *)columns[TARGET_LEAF].data)[record->row] = target;
  if (count) table_write(world, columns, record->row, writes, count);
  marks_note(world, world_table(world, record->table), component->id, record->row);
  if (UNLIKELY(component->has_string)) world_settle(world);
  return ECS_OK;
}

static ecs_status relate_set_fields(ecs_world *world, ecs_id id, struct component *component,
                                    const struct write *writes, uint32_t count) {
  if (!relate_has(world, id, component, ECS_NULL)) return relate_no_target(world, component);
  ecs_status status = relate_write_cells(world, id, component->id, writes, count);
  if (component->has_string) world_settle(world);
  return status;
}

ecs_status relate_check_set(const ecs_world *world, const ecs_id *ids, size_t n,
                            const struct component *component, const struct write *writes,
                            uint32_t count) {
  ecs_id target = ECS_NULL;
  if (!component->relation->exclusive) return relate_no_target(world, component);
  bool given = relate_given_target(writes, count, &target);
  if (target != ECS_NULL && !entity_find(&world->entities, target))
    return entity_need(world, target);
  for (size_t i = 0; i < n && !given; i++)
    if (!relate_has(world, ids[i], component, ECS_NULL) &&
        !command_is_staged(world, ids[i], component->id))
      return relate_no_target(world, component);
  return ECS_OK;
}

ecs_status relate_set(ecs_world *world, ecs_id id, struct component *component,
                      const struct write *writes, uint32_t count) {
  ecs_id target = ECS_NULL;
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  if (!component->relation->exclusive) return relate_no_target(world, component);
  bool given = relate_given_target(writes, count, &target);
  if (given && target != ECS_NULL && !entity_find(&world->entities, target))
    return entity_need(world, target);
  if (staging_is_open(&world->staging)) {
    bool staged = command_is_staged(world, id, component->id);
    if (!given && !staged) return relate_set_fields(world, id, component, writes, count);
    return command_stage(world, COMMAND_SET, id, component->id, writes, count);
  }
  if (!given && LIKELY(!world->staging.watched))
    return relate_set_fields(world, id, component, writes, count);
  if (!given && !relate_has(world, id, component, ECS_NULL))
    return relate_no_target(world, component);
  if (given && target == ECS_NULL) return relate_remove(world, id, component, ECS_NULL);
  if (UNLIKELY(changes_are_commands(world)))
    return command_stage(world, COMMAND_SET, id, component->id, writes, count);
  return relate_tie_now(world, id, component, target, writes, count);
}

/* ---- pairs ---- */

/* Adds a pair to a living entity and sets its cells, outside scopes. */
static ecs_status relate_pair_now(ecs_world *world, ecs_id id, ecs_id pair,
                                  const struct write *writes, uint32_t count) {
  graph_let_go(world);
  struct table *from = relate_table_now(world, id), *to;
  ecs_status status = graph_with(world, from, pair, &to);
  if (status == ECS_OK) status = relate_reserve_row(world, id, to);
  if (status != ECS_OK) return status;
  row_move(world, ecs_id_index(id), to);
  status = relate_write_cells(world, id, pair, writes, count);
  if (component_of(world, pair)->has_string) world_settle(world);
  return status;
}

static ecs_status relate_set_pair(ecs_world *world, ecs_id id, struct component *component,
                                  ecs_id target, const struct write *writes, uint32_t count) {
  ecs_id pair = pair_make(ecs_id_index(component->id), ecs_id_index(target));
  if (!staging_is_open(&world->staging) && UNLIKELY(changes_are_commands(world)))
    return command_stage_pair(world, COMMAND_SET, id, pair, target, writes, count);
  if (!staging_is_open(&world->staging)) return relate_pair_now(world, id, pair, writes, count);
  /* Adding an existing pair is a command, too: it gives observers the order of entities. */
  if (count == 0 || !entity_has(world, id, pair) || command_is_staged(world, id, pair) ||
      command_is_staged(world, id, component->id))
    return command_stage_pair(world, COMMAND_SET, id, pair, target, writes, count);
  return relate_write_cells(world, id, pair, writes, count);
}

ecs_status relate_add(ecs_world *world, ecs_id id, struct component *component, ecs_id target,
                      const struct write *writes, uint32_t count) {
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  if (!entity_find(&world->entities, target)) return entity_need(world, target);
  if (!component->relation->exclusive)
    return relate_set_pair(world, id, component, target, writes, count);
  if (!staging_is_open(&world->staging) && LIKELY(!changes_are_commands(world)))
    return relate_tie_now(world, id, component, target, writes, count);
  if (!GROW(&world->memory, world->tie_writes, world->tie_write_capacity, count + 1ull))
    return world_nomem(world);
  world->tie_writes[0] = (struct write){TARGET_LEAF, {.u64 = target}};
  if (count) memcpy(world->tie_writes + 1, writes, count * sizeof *writes);
  return relate_set(world, id, component, world->tie_writes, count + 1);
}

/* The exclusive relation of a pair's id; NULL for another relation, or none. */
static inline struct relation *relate_exclusive_of(const ecs_world *world, ecs_id pair) {
  uint32_t at = pair_relation(pair);
  if (UNLIKELY(at >= world->registry.count || pair >> 53)) return NULL;
  const struct component *component = world->registry.components[at];
  struct relation *relation = component ? component->relation : NULL;
  return relation && relation->exclusive ? relation : NULL;
}

/* The id of a target that is alive, as every entity with sources is. */
INLINE ecs_id relate_target_id(const struct entity_index *entities, uint32_t at) {
  uint32_t offset = at - FIRST_ENTITY;
  if (UNLIKELY(offset >= entities->near.count)) return entity_id(entities, at);
  return (ecs_id)(entities->near.generations[offset] | entities->high) << INDEX_BITS | at;
}

/* Reties an entity to a target that already has sources, if nothing else changes; otherwise returns
** false and does nothing. A tied entity has a row. */
INLINE bool relate_tie_again(ecs_world *world, ecs_id id, ecs_id pair) {
  const struct entity_index *entities = &world->entities;
  uint32_t source = ecs_id_index(id), end = pair_target(pair), offset = source - FIRST_ENTITY;
  struct relation *relation = relate_exclusive_of(world, pair);
  if (UNLIKELY(!relation || changes_wait(world) || offset >= entities->near.count)) return false;
  if (UNLIKELY(id >> INDEX_BITS != (entities->near.generations[offset] | entities->high)))
    return false;
  struct ties *ties = &relation->ties;
  if (UNLIKELY(!ties_has_room(ties, source, end))) return false;
  uint32_t old = ties_slot(ties, source)->target;
  if (!old || old == end || !ties_end_slot(ties, end)->last) return false;
  /* It may form a cycle, or move a name. */
  if (relation->acyclic && (source == end || ties_first(ties, source) || world->names.count))
    return false;
  ties_retie(ties, source, end);
  struct record record = entities->near.records[offset];
  assert(record.table < RECORD_BARE);
  const struct table *table = world_table(world, record.table);
  ecs_id component = relation->component->id;
  ecs_id *targets = table_find(table, component)->columns[TARGET_LEAF].data;
  targets[record.row] = relate_target_id(entities, end);
  if (UNLIKELY(table->mark_count)) marks_note(world, table, component, record.row);
  return true;
}

static APART ecs_status relate_add_new_pair(ecs_world *world, ecs_id id, ecs_id pair) {
  struct component *needed;
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  ecs_status status = component_need_id(world, pair, &needed);
  return status == ECS_OK ? relate_change(world, id, pair, true) : status;
}

ecs_status relate_add_pair(ecs_world *world, ecs_id id, ecs_id pair) {
  assert(id_is_pair(pair));
  return relate_tie_again(world, id, pair) ? ECS_OK : relate_add_new_pair(world, id, pair);
}

/* ---- removing ---- */

/* The table without the pairs of a relation. */
static ecs_status relate_table_without(ecs_world *world, struct table *from, uint32_t relation,
                                       struct table **to) {
  ecs_id *ids = world_scratch(world, from->id_count);
  if (!ids) return world_nomem(world);
  uint32_t count = 0;
  for (uint32_t i = 0; i < from->id_count; i++)
    if (!id_is_pair(from->ids[i]) || pair_relation(from->ids[i]) != relation)
      ids[count++] = from->ids[i];
  *to = from;
  return count == from->id_count ? ECS_OK : graph_table(world, ids, count, to);
}

static ecs_status relate_remove_now(ecs_world *world, ecs_id id, struct component *component,
                                    ecs_id target) {
  struct relation *relation = component->relation;
  uint32_t index = ecs_id_index(component->id), source = ecs_id_index(id);
  graph_let_go(world);
  struct table *from = relate_table_now(world, id), *to = NULL;
  ecs_status status = relation->exclusive ? relation_check_way(world, relation, source, 0) : ECS_OK;
  if (status != ECS_OK) return status;
  if (relation->exclusive)
    status = graph_without(world, from, component->id, &to);
  else if (target == ECS_NULL)
    status = relate_table_without(world, from, index, &to);
  else
    status = graph_without(world, from, pair_make(index, ecs_id_index(target)), &to);
  assert(to || status != ECS_OK);
  if (status == ECS_OK) status = relate_reserve_row(world, id, to);
  if (status != ECS_OK || to == from) return status;
  if (relation->exclusive) relation_unlink(world, relation, source);
  row_move(world, source, to);
  return ECS_OK;
}

ecs_status relate_remove(ecs_world *world, ecs_id id, struct component *component,
                         ecs_id target) {
  if (!entity_find(&world->entities, id)) return entity_need(world, id);
  ecs_id pair = pair_make(ecs_id_index(component->id), ecs_id_index(target));
  bool open = staging_is_open(&world->staging);
  if (!open && !relate_has(world, id, component, target)) return ECS_OK;
  if (changes_wait(world))
    return command_stage_pair(world, COMMAND_REMOVE, id, target ? pair : component->id, target,
                              NULL, 0);
  return relate_remove_now(world, id, component, target);
}

ecs_status relate_change(ecs_world *world, ecs_id id, ecs_id relation, bool adds) {
  struct component *component = component_of(world, relation);
  ecs_id target = ECS_NULL;
  if (id_is_pair(relation)) target = entity_id_any(&world->entities, pair_target(relation));
  if (!adds) return relate_remove(world, id, component, target);
  return target ? relate_add(world, id, component, target, NULL, 0)
                : relate_no_target(world, component);
}

/* ---- lookups ---- */

/* The position of the first id that is not less than the given one. */
static uint32_t relate_lower_bound(const struct table *table, ecs_id id) {
  uint32_t at;
  id_set_find(table->ids, table->id_count, id, &at);
  return at;
}

/* The first target of a pair whose index is not less than the given one. */
static ecs_id relate_target_from(const ecs_world *world, const struct table *table,
                                 uint32_t relation, uint32_t target) {
  uint32_t at = relate_lower_bound(table, pair_make(relation, target));
  if (at == table->id_count || !id_is_pair(table->ids[at]) ||
      pair_relation(table->ids[at]) != relation)
    return ECS_NULL;
  return entity_id(&world->entities, pair_target(table->ids[at]));
}

bool relate_table_has(const struct table *table, const struct component *component) {
  uint32_t relation = ecs_id_index(component->id);
  uint32_t at = table->has_pairs ? relate_lower_bound(table, pair_make(relation, 0))
                                 : table->id_count;
  return at < table->id_count && pair_relation(table->ids[at]) == relation;
}

ecs_id relate_only_pair(const struct table *table, const struct component *component) {
  uint32_t relation = ecs_id_index(component->id);
  if (LIKELY(table->has_pair_alone)) {
    ecs_id pair = table->ids[table->id_count - 1];
    return pair_relation(pair) == relation ? pair : ECS_NULL;
  }
  uint32_t at = table->has_pairs ? relate_lower_bound(table, pair_make(relation, 0))
                                 : table->id_count;
  if (at == table->id_count || pair_relation(table->ids[at]) != relation) return ECS_NULL;
  bool more = at + 1 < table->id_count && pair_relation(table->ids[at + 1]) == relation;
  return more ? ECS_NULL : table->ids[at];
}

ecs_id relate_target(const ecs_world *world, ecs_id id, const struct component *component) {
  const struct table *table = world_table_of(world, id);
  if (!table) return ECS_NULL;
  if (component->relation->exclusive)
    return relation_target(world, component->relation, ecs_id_index(id));
  return relate_target_from(world, table, ecs_id_index(component->id), 0);
}

ecs_id relate_next_target(const ecs_world *world, ecs_id id, const struct component *component,
                          ecs_id after) {
  const struct table *table = world_table_of(world, id);
  if (!table || component->relation->exclusive) return ECS_NULL;
  return relate_target_from(world, table, ecs_id_index(component->id), ecs_id_index(after) + 1);
}

bool relate_has(const ecs_world *world, ecs_id id, const struct component *component,
                ecs_id target) {
  if (target == ECS_NULL) return relate_target(world, id, component) != ECS_NULL;
  if (!ecs_alive(world, target)) return false;
  if (component->relation->exclusive) return relate_target(world, id, component) == target;
  return entity_has(world, id, pair_make(ecs_id_index(component->id), ecs_id_index(target)));
}

/* Does little for each source, since following the list waits for memory. Prefabs are listed only
** as children, which only prefabs have. */
static size_t relate_tied_sources(const ecs_world *world, const struct relation *relation,
                                  uint32_t target, ecs_id *ids, size_t room) {
  const struct tie_end *end = ties_end(&relation->ties, target);
  bool all = LIKELY(!world->relations.prefab) || relation == world->relations.child_of;
  size_t count = end ? end->count : 0, listed = 0;
  uint32_t at = end ? end->first : 0, step = 0;
  for (size_t i = 0; i < count && (listed < room || !all); i++) {
    assert(ties_target(&relation->ties, at) == target);
    bool shown = all || !prefab_is(world, at);
    if (shown && listed < room) ids[listed] = entity_id(&world->entities, at);
    listed += shown;
    at = ties_follow(&relation->ties, at, &step);
  }
  return all ? count : listed;
}

static size_t relate_paired_sources(const ecs_world *world, const struct relation *relation,
                                    uint32_t target, ecs_id *ids, size_t room) {
  ecs_id pair = pair_make(ecs_id_index(relation->component->id), target);
  const struct id_record *record = graph_tables(world, pair);
  size_t count = 0;
  for (uint32_t i = 0; record && i < record->table_count; i++) {
    const struct table *table = world_table(world, record->tables[i]);
    if (UNLIKELY(table->hidden) && world->relations.prefab != relation) continue;
    for (uint32_t row = 0; row < table->count && count + row < room; row++)
      ids[count + row] = entity_id(&world->entities, table->rows[row]);
    count += table->count;
  }
  return count;
}

size_t relate_sources(const ecs_world *world, ecs_id target, const struct component *component,
                      ecs_id *ids, size_t room) {
  const struct relation *relation = component->relation;
  uint32_t at = ecs_id_index(target);
  if (!ecs_alive(world, target)) return 0;
  return (relation->exclusive ? relate_tied_sources
                              : relate_paired_sources)(world, relation, at, ids, room);
}
