#include "core/base/column.h"
#include "core/command/command.h"
#include "core/command/watch.h"
#include "core/entity/entity.h"
#include "core/entity/prefab.h"
#include "core/ids/entity_index.h"
#include "core/relation/relation.h"
#include "core/storage/component.h"
#include "core/storage/graph.h"
#include "core/storage/row.h"
#include "core/storage/sparse.h"
#include "ecs_entity.h"
#include "ecs_world.h"

/* Spawning: one or many entities, or one with an id chosen elsewhere; from parts with cells, and
** for hosts in C from ids of components. */

static APART ecs_status spawn_no_ids(const ecs_world *world, ecs_status status) {
  if (status == ECS_ELIMIT)
    return world_fail(world, status, "no entity ids are left between %u and %u",
                      world->entities.entities.first, world->entities.entities.last);
  return world_nomem(world);
}

INLINE ecs_status reserve_ids(ecs_world *world, uint64_t count) {
  ecs_status status = entity_reserve(&world->entities, &world->memory,
                                     &world->entities.entities, count);
  return LIKELY(status == ECS_OK) ? ECS_OK : spawn_no_ids(world, status);
}

ecs_status spawn_reserve_ids(ecs_world *world, uint64_t count) {
  return reserve_ids(world, count);
}

/* ---- which table ---- */

/* Finds the table with these ids, or NULL. The table of the last spawn is tried first, which takes
** 28 % off spawns of one kind. */
static inline struct table *spawn_known_table(ecs_world *world, const ecs_id *ids, size_t count) {
  struct table *table = world_table(world, world->last_table);
  if (LIKELY(table && table_is_of(table, ids, count))) return table;
  if (UNLIKELY(count > world->registry.count)) return NULL;
  table = graph_find(world, ids, (uint32_t)count);
  if (table) world->last_table = table->index;
  return table;
}

/* Finds the table of the first `count` ids in scratch memory, which may repeat, and their
** requirements. */
static ecs_status spawn_table_of_ids(ecs_world *world, uint32_t count, struct table **out) {
  uint64_t room = require_room(world, 0, count);
  ecs_id *ids = world_scratch(world, count + room);
  if (!ids) return world_nomem(world);
  uint32_t used = 0;
  for (uint32_t i = 0; i < count; i++)
    used = require_insert(world, ids + count, used, room, ids[i]);
  assert(used <= room);
  ecs_status status = graph_table(world, ids + count, used, out);
  if (status == ECS_OK) world->last_table = (*out)->index;
  return status;
}

ecs_status spawn_table_of(ecs_world *world, const struct part *parts, uint32_t count,
                          struct table **out) {
  ecs_id *ids = world_scratch(world, count);
  if (!ids) return world_nomem(world);
  for (uint32_t i = 0; i < count; i++) ids[i] = parts[i].component->id;
  *out = spawn_known_table(world, ids, count);
  return *out ? ECS_OK : spawn_table_of_ids(world, count, out);
}

/* ---- spawning ---- */

static void spawn_write_parts(ecs_world *world, struct table *table, uint32_t row,
                              const struct part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].write_count == 0) continue;
    const struct layout *layout = table_find(table, parts[i].component->id);
    assert(layout->count > 0);
    table_write(world, layout->columns, row, parts[i].writes, parts[i].write_count);
  }
}

/* The writes of a part for the nth spawned entity. */
static const struct write *spawn_writes_of(const struct part *part, uint64_t nth) {
  return part->stride ? part->writes + nth * part->stride : part->writes;
}

ecs_status spawn_stage_part(ecs_world *world, ecs_id entity, const struct part *part,
                            const struct write *writes) {
  ecs_id id = part->component->id, target = part->target;
  struct write tie = {TARGET_LEAF, {.u64 = target}};
  if (target == ECS_NULL)
    return command_stage(world, COMMAND_SET, entity, id, writes, part->write_count);
  if (part->component->relation->exclusive) {
    ecs_status status = command_stage(world, COMMAND_SET, entity, id, &tie, 1);
    if (status != ECS_OK || part->write_count == 0) return status;
    return command_stage(world, COMMAND_SET, entity, id, writes, part->write_count);
  }
  return command_stage_pair(world, COMMAND_SET, entity,
                            pair_make(ecs_id_index(id), ecs_id_index(target)), target, writes,
                            part->write_count);
}

/* Stages the commands of the nth spawned entity in reserved room. */
static ecs_status spawn_stage_parts(ecs_world *world, ecs_id id, const struct part *parts,
                                    uint32_t count, uint64_t nth) {
  ecs_status status = ECS_OK;
  command_put(world, COMMAND_SPAWN, id, ECS_NULL, NULL, 0);
  for (uint32_t i = 0; i < count && status == ECS_OK; i++) {
    const struct write *writes = spawn_writes_of(&parts[i], nth);
    if (UNLIKELY(parts[i].component->relation))
      status = spawn_stage_part(world, id, &parts[i], writes);
    else
      command_put(world, COMMAND_SET, id, parts[i].component->id, writes, parts[i].write_count);
  }
  return status;
}

uint64_t spawn_commands(const struct part *parts, uint32_t count) {
  uint64_t commands = count;
  for (uint32_t i = 0; i < count; i++) commands += parts[i].target != ECS_NULL;
  return commands;
}

uint64_t spawn_writes(const struct part *parts, uint32_t count) {
  uint64_t writes = 0;
  for (uint32_t i = 0; i < count; i++)
    writes += parts[i].write_count + (parts[i].target != ECS_NULL);
  return writes;
}

/* Reserves room for everything that spawn_stage_parts stages, so that it cannot fail halfway. */
static ecs_status spawn_reserve_parts(ecs_world *world, const struct part *parts, uint32_t count,
                                      uint64_t times) {
  return command_reserve(world, (spawn_commands(parts, count) + 1) * times,
                         spawn_writes(parts, count) * times, times);
}

ecs_id spawn_reserved(ecs_world *world, const struct part *parts, uint32_t count, uint64_t nth) {
  ecs_id id = entity_id(&world->entities,
                        entity_take(&world->entities, &world->entities.entities));
  ecs_status status = spawn_stage_parts(world, id, parts, count, nth);
  assert(status == ECS_OK);
  (void)status;
  return id;
}

/* Stages spawns, because of ties or observers; outside scopes, in a scope of their own. */
static APART ecs_status spawn_stage_many(ecs_world *world, uint64_t n, const struct part *parts,
                                         uint32_t count, ecs_id *ids) {
  uint32_t scope;
  uint32_t kind = staging_is_open(&world->staging) ? brood_kind_of(world, parts, count) : NONE;
  if (kind != NONE) return broods_spawn(world, n, kind, parts, ids);
  ecs_status status = reserve_ids(world, n);
  if (status == ECS_OK) status = scope_open_own(world, &scope);
  if (status != ECS_OK) return status;
  status = spawn_reserve_parts(world, parts, count, n);
  for (uint64_t i = 0; i < n && status == ECS_OK; i++) {
    ecs_id id = spawn_reserved(world, parts, count, i);
    if (ids) ids[i] = id;
  }
  return scope_end_own(world, scope, status);
}

/* Spawns one entity with defaults after making room, or with an index that is not low. */
static APART ecs_status spawn_row_with_room(ecs_world *world, struct table *table, ecs_id *id) {
  struct entity_index *index = &world->entities;
  ecs_status status = reserve_ids(world, 1);
  if (LIKELY(status == ECS_OK)) status = table_reserve(world, table, 1);
  if (UNLIKELY(status != ECS_OK)) return status;
  uint32_t at = entity_take(index, &index->entities);
  *id = entity_id(index, at);
  row_enter(world, table, at, entity_record(index, at));
  return ECS_OK;
}

/* Spawns one entity with defaults; usually without a call, which takes 20 % off. */
INLINE ecs_status spawn_row(ecs_world *world, struct table *table, ecs_id *id) {
  bool full = table->count == table->capacity;
  struct record *record = full ? NULL : entity_take_first(&world->entities, id);
  if (UNLIKELY(!record)) return spawn_row_with_room(world, table, id);
  row_enter(world, table, ecs_id_index(*id), record);
  return ECS_OK;
}

const struct table *spawn_table(const ecs_world *world, ecs_id id) {
  const struct record *record = entity_find_row(&world->entities, id);
  if (!record || sparse_is_mixed(world)) return NULL;
  const struct table *table = world_table(world, record->table);
  return table->has_ties || table->has_pairs ? NULL : table;
}

struct table *spawn_again(ecs_world *world, uint32_t index, uint32_t serial, ecs_id *out) {
  if (UNLIKELY(changes_wait(world) || sparse_is_mixed(world))) return NULL;
  struct table *table = index < world->graph.table_count ? world_table(world, index) : NULL;
  if (UNLIKELY(!table || table->serial != serial)) return NULL;
  assert(!table->has_ties && !table->has_pairs);
  return spawn_row(world, table, out) == ECS_OK ? table : NULL;
}

/* ---- storage outside tables ---- */

/* Whether the spawn has sparse components, directly or by requirements. */
static inline bool spawn_are_sparse(const ecs_world *world, const struct part *parts,
                                    uint32_t count) {
  if (LIKELY(world->sparses.count == 0)) return false;
  for (uint32_t i = 0; i < count; i++)
    if (parts[i].component->sparse) return true;
  return sparse_is_mixed(world);
}

/* The table and the sparse components of spawned entities, in scratch memory. */
struct kit {
  struct table *table;
  const ecs_id *sparse;
  uint32_t sparse_count;
};

/* The kit of some parts, with room for n more entities. */
static ecs_status kit_of_parts(ecs_world *world, const struct part *parts, uint32_t count,
                               uint64_t n, struct kit *kit) {
  uint64_t room = require_room(world, 0, count);
  ecs_id *ids = world_scratch(world, room);
  if (!ids) return world_nomem(world);
  uint32_t all = 0;
  for (uint32_t i = 0; i < count; i++)
    all = require_insert(world, ids, all, room, parts[i].component->id);
  uint32_t used = sparse_part_ids(world, ids, all);
  *kit = (struct kit){NULL, ids + used, all - used};
  ecs_status status = graph_table(world, ids, used, &kit->table);
  if (status == ECS_OK) status = table_reserve(world, kit->table, n);
  for (uint32_t i = 0; i < kit->sparse_count && status == ECS_OK; i++)
    status = table_reserve(world, sparse_of(world, kit->sparse[i])->table, n);
  return status;
}

/* Reserves room for an index in the maps of all sparse components. */
static ecs_status spawn_need_pages(ecs_world *world, const struct kit *kit, uint32_t at) {
  ecs_status status = ECS_OK;
  for (uint32_t i = 0; i < kit->sparse_count && status == ECS_OK; i++)
    status = sparse_need_page(world, sparse_of(world, kit->sparse[i]), at);
  return status;
}

static void spawn_put_kit(ecs_world *world, const struct kit *kit, uint32_t at) {
  assert(kit->table);
  row_enter(world, kit->table, at, entity_record(&world->entities, at));
  for (uint32_t i = 0; i < kit->sparse_count; i++)
    sparse_put(world, sparse_of(world, kit->sparse[i]), at);
}

static void spawn_write_kit(ecs_world *world, const struct kit *kit, uint32_t row, uint64_t nth,
                            const struct part *parts, uint32_t count) {
  uint32_t at = kit->table->rows[row];
  for (uint32_t i = 0; i < count; i++) {
    uint32_t to = row;
    const struct layout *layout =
        sparse_layout(world, kit->table, at, parts[i].component->id, &to);
    if (parts[i].write_count)
      table_write(world, layout->columns, to, spawn_writes_of(&parts[i], nth),
                  parts[i].write_count);
  }
}

/* Undoes the entities in the last rows of the kit's table. */
static void spawn_unspawn(ecs_world *world, const struct kit *kit, uint32_t first) {
  for (uint32_t row = kit->table->count; row-- > first;) {
    uint32_t at = kit->table->rows[row];
    sparse_leave(world, at);
    row_leave(world, kit->table, row);
    entity_untake(&world->entities, &world->entities.entities, at);
  }
}

static APART ecs_status spawn_sparse(ecs_world *world, uint64_t n, const struct part *parts,
                                     uint32_t count, ecs_id *ids) {
  struct entity_index *index = &world->entities;
  struct kit kit;
  ecs_status status = reserve_ids(world, n);
  if (status == ECS_OK) status = kit_of_parts(world, parts, count, n, &kit);
  if (status != ECS_OK) return status;
  uint32_t first = kit.table->count;
  for (uint64_t i = 0; i < n && status == ECS_OK; i++) {
    uint32_t at = entity_take(index, &index->entities);
    status = spawn_need_pages(world, &kit, at);
    if (status != ECS_OK)
      entity_untake(index, &index->entities, at);
    else
      spawn_put_kit(world, &kit, at);
    if (status == ECS_OK && ids) ids[i] = entity_id(index, at);
  }
  if (status != ECS_OK) spawn_unspawn(world, &kit, first);
  for (uint64_t i = 0; i < n && status == ECS_OK; i++)
    spawn_write_kit(world, &kit, first + (uint32_t)i, i, parts, count);
  if (status == ECS_OK) world_settle(world);
  return status;
}

static APART ecs_status spawn_sparse_at(ecs_world *world, ecs_id id, const struct part *parts,
                                        uint32_t count) {
  struct kit kit = {NULL, NULL, 0};
  ecs_status status = kit_of_parts(world, parts, count, 1, &kit);
  if (status == ECS_OK) status = spawn_need_pages(world, &kit, ecs_id_index(id));
  if (status != ECS_OK) return status;
  entity_adopt(&world->entities, id);
  spawn_put_kit(world, &kit, ecs_id_index(id));
  spawn_write_kit(world, &kit, kit.table->count - 1, 0, parts, count);
  world_settle(world);
  return ECS_OK;
}

/* Whether spawns must be staged: in scopes, for ties, or for observers. */
static inline bool spawn_are_staged(const ecs_world *world, const struct part *parts,
                                    uint32_t count) {
  if (UNLIKELY(changes_wait(world))) return true;
  for (uint32_t i = 0; i < count; i++)
    if (UNLIKELY(parts[i].component->relation)) return true;
  return false;
}

ecs_status entity_spawn(ecs_world *world, const struct part *parts, uint32_t count,
                        ecs_id *out) {
  if (spawn_are_staged(world, parts, count)) return spawn_stage_many(world, 1, parts, count, out);
  if (spawn_are_sparse(world, parts, count)) return spawn_sparse(world, 1, parts, count, out);
  struct table *table = NULL;
  ecs_status status = spawn_table_of(world, parts, count, &table);
  if (status != ECS_OK) return status;
  assert(table);
  uint32_t row = table->count;
  status = spawn_row(world, table, out);
  if (status != ECS_OK) return status;
  spawn_write_parts(world, table, row, parts, count);
  world_settle(world);
  return ECS_OK;
}

static ecs_status spawn_adopt_reserve(ecs_world *world, ecs_id id) {
  ecs_status status = entity_adopt_reserve(&world->entities, &world->memory, id);
  if (status == ECS_ENOMEM) return world_nomem(world);
  if (status == ECS_OK && ecs_id_index(id) < FIRST_ENTITY)
    return world_fail(world, ECS_EINVAL, "index %u is reserved for components", ecs_id_index(id));
  if (status == ECS_ETAKEN)
    return world_fail(world, status, "entity " SHOW_ID " cannot be adopted: " SHOW_ID " has its "
                      "index", id, entity_id(&world->entities, ecs_id_index(id)));
  return status == ECS_OK ? ECS_OK : entity_need(world, id);
}

static APART ecs_status spawn_stage_at(ecs_world *world, ecs_id id, const struct part *parts,
                                       uint32_t count) {
  uint32_t scope;
  struct unborn was;
  ecs_status status = scope_open_own(world, &scope);
  if (status != ECS_OK) return status;
  status = spawn_reserve_parts(world, parts, count, 1);
  if (status == ECS_OK) {
    was = entity_adopt(&world->entities, id);
    world->staging.adopted = &was;
    status = spawn_stage_parts(world, id, parts, count, 0);
  }
  status = scope_end_own(world, scope, status);
  world->staging.adopted = NULL;
  return status;
}

ecs_status entity_spawn_at(ecs_world *world, ecs_id id, const struct part *parts,
                           uint32_t count) {
  ecs_status status = spawn_adopt_reserve(world, id);
  if (status != ECS_OK) return status;
  if (spawn_are_staged(world, parts, count)) return spawn_stage_at(world, id, parts, count);
  if (spawn_are_sparse(world, parts, count)) return spawn_sparse_at(world, id, parts, count);
  struct table *table = NULL;
  status = spawn_table_of(world, parts, count, &table);
  if (status == ECS_OK) status = table_reserve(world, table, 1);
  if (status != ECS_OK) return status;
  assert(table);
  entity_adopt(&world->entities, id);
  uint32_t row = table->count;
  row_enter(world, table, ecs_id_index(id), entity_record(&world->entities, ecs_id_index(id)));
  spawn_write_parts(world, table, row, parts, count);
  world_settle(world);
  return ECS_OK;
}

/* Writes the rows' cells of one part, column by column. */
static void spawn_fill_parts(ecs_world *world, struct table *table, uint32_t row, uint32_t n,
                             const struct part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].write_count == 0) continue;
    uint32_t first = table_column(table, parts[i].component->id);
    assert(first != NONE);
    for (uint32_t j = 0; parts[i].stride && j < n; j++)
      table_write(world, &table->columns[first], row + j, spawn_writes_of(&parts[i], j),
                  parts[i].write_count);
    if (parts[i].stride) continue;
    for (uint32_t j = 0; j < parts[i].write_count; j++) {
      const struct write *write = &parts[i].writes[j];
      struct column *column = &table->columns[first + write->leaf];
      assert(column->leaf == write->leaf && column->component == parts[i].component);
      cell_fill(column->data, column->size, row, n, write->cell);
    }
  }
}

/* Gives n entities rows in the table, whose columns are filled later. */
static LOOPS void spawn_take_rows(ecs_world *world, struct table *table, uint32_t n, ecs_id *ids) {
  struct entity_index *index = &world->entities;
  assert(n <= table->capacity - table->count);
  world_arrive(world, table, table->count);
  for (uint32_t done = 0, first; done < n;) {
    struct record where = {table->index, table->count};
    uint32_t count = entity_take_run(index, &index->entities, n - done, where, &first);
    assert(count > 0 && count <= n - done);
    uint32_t *rows = table->rows + table->count;
    for (uint32_t i = 0; i < count; i++) rows[i] = first + i;
    if (ids) entity_ids(index, first, count, ids + done);
    table->count += count;
    done += count;
  }
}

ecs_status entity_spawn_many(ecs_world *world, uint64_t n, const struct part *parts,
                             uint32_t count, ecs_id *ids) {
  if (n == 0) return ECS_OK;
  if (spawn_are_staged(world, parts, count)) return spawn_stage_many(world, n, parts, count, ids);
  if (spawn_are_sparse(world, parts, count)) return spawn_sparse(world, n, parts, count, ids);
  struct table *table = NULL;
  ecs_status status = reserve_ids(world, n);
  if (status == ECS_OK) status = spawn_table_of(world, parts, count, &table);
  if (status == ECS_OK) status = table_reserve(world, table, n);
  if (status != ECS_OK) return status;
  uint32_t row = table->count;
  spawn_take_rows(world, table, (uint32_t)n, ids);
  table_fill_defaults(world, table, row, (uint32_t)n);
  spawn_fill_parts(world, table, row, (uint32_t)n, parts, count);
  world_settle(world);
  return ECS_OK;
}

/* ---- for hosts in C ---- */

ecs_id part_target(const struct part *part) {
  ecs_id target = part->target;
  relate_given_target(part->writes, part->write_count, &target);
  return target;
}

ecs_status spawn_part_of(ecs_world *world, ecs_id id, struct part *part) {
  *part = (struct part){NULL, ECS_NULL, 0, NULL, 0};
  ecs_status status = component_need_id(world, id, &part->component);
  if (status != ECS_OK || !part->component->relation) return status;
  if (id_is_pair(id)) part->target = entity_id_any(&world->entities, pair_target(id));
  return ecs_alive(world, part->target) ? ECS_OK : relate_no_target(world, part->component);
}

ecs_status spawn_parts_of(ecs_world *world, const ecs_id *ids, size_t n, struct part **parts) {
  if (n > INDEX_LIMIT)
    return world_fail(world, ECS_EINVAL, "%zu components given, more than are declared", n);
  if (n && !ids) return world_fail(world, ECS_EINVAL, "the list of components is missing");
  if (!GROW(&world->memory, world->parts, world->part_capacity, n + 1ull))
    return world_nomem(world);
  *parts = world->parts;
  for (size_t i = 0; i < n; i++) {
    ecs_status status = spawn_part_of(world, ids[i], &(*parts)[i]);
    if (status != ECS_OK) return status;
  }
  return ECS_OK;
}

static APART ecs_status spawn_with_parts(ecs_world *world, const ecs_id *components, size_t n,
                                         ecs_id *out) {
  struct part *parts = NULL;
  ecs_status status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  assert(parts);
  return world_tell_observers(world, entity_spawn(world, parts, (uint32_t)n, out));
}

/* Spawning without values into a known table takes 55 % off. With ties, ids alone do not suffice,
** or may name a dead target. */
ecs_status ecs_spawn(ecs_world *world, const ecs_id *components, size_t n, ecs_id *out) {
  if (UNLIKELY(changes_wait(world) || sparse_is_mixed(world) || (n && !components)))
    return spawn_with_parts(world, components, n, out);
  struct table *table = spawn_known_table(world, components, n);
  return LIKELY(table && !table->has_ties && !table->has_pairs)
             ? spawn_row(world, table, out) : spawn_with_parts(world, components, n, out);
}

ecs_status ecs_spawn_many(ecs_world *world, size_t count, const ecs_id *components, size_t n,
                          ecs_id *ids) {
  struct part *parts = NULL;
  ecs_status status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  assert(parts);
  return world_tell_observers(world, entity_spawn_many(world, count, parts, (uint32_t)n, ids));
}

ecs_status ecs_spawn_at(ecs_world *world, ecs_id id, const ecs_id *components, size_t n) {
  struct part *parts = NULL;
  ecs_status status = spawn_parts_of(world, components, n, &parts);
  if (status != ECS_OK) return status;
  assert(parts);
  return world_tell_observers(world, entity_spawn_at(world, id, parts, (uint32_t)n));
}
